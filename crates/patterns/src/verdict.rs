//! A judge's final verdict (D07): its form, and how it is read.

use quorum_core::{
    call::Shape,
    floor::reading::{Reader, Reminder},
    model::{event::Reading, judgement::Verdict, participant::Participant},
};
use serde_json::{Value, json};

use crate::json::last_object_with;

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Your verdict could not be read. Answer with the JSON object alone: no prose, no code fence, all of summary, \
            keyPoints, areasOfAgreement, areasOfDisagreement, qualityScore and insights, the score a number from 0 to 100. \
            A winner must be one of the debaters, by the exact name; leave it out if nobody won.",
}];

/// What judges write when nobody won.
const NOBODY: &[&str] = &["", "none", "nobody", "no winner", "tie", "draw", "n/a"];

/// Reads verdicts on these debaters.
pub(crate) struct Verdicts {
    debaters: Vec<String>,
}

impl Verdicts {
    pub(crate) fn on(debaters: &[Participant]) -> Self {
        Verdicts { debaters: debaters.iter().map(|it| it.name.clone()).collect() }
    }

    /// The verdict with its winner's name as it is at the table; `None` when a stranger has won.
    fn with_known_winner(&self, verdict: Verdict) -> Option<Verdict> {
        let Some(mut winner) = verdict.winner.clone() else { return Some(verdict) };
        let named = winner.participant.trim().to_lowercase();
        if NOBODY.contains(&named.as_str()) {
            return Some(Verdict { winner: None, ..verdict });
        }
        winner.participant = self.debaters.iter().find(|it| it.to_lowercase() == named)?.clone();
        Some(Verdict { winner: Some(winner), ..verdict })
    }
}

impl Reader for Verdicts {
    type Value = Verdict;

    fn shape(&self) -> Shape {
        Shape { name: "verdict", schema: Some(schema(&self.debaters)) }
    }

    fn read(&self, reply: &str) -> Option<Verdict> {
        let object = last_object_with(reply, "summary")?;
        let verdict: Verdict = serde_json::from_value(Value::Object(object)).ok()?;
        if verdict.summary.trim().is_empty() {
            return None;
        }
        let quality_score = verdict.quality_score.clamp(0.0, 100.0);
        self.with_known_winner(Verdict { quality_score, ..verdict })
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }

    fn fact(&self, verdict: &Verdict) -> Reading {
        Reading::Verdict(verdict.clone())
    }
}

fn schema(debaters: &[String]) -> Value {
    let texts = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let points = json!({
        "type": "object",
        "properties": { "participant": { "type": "string" }, "mainArguments": texts("What they argued") },
        "required": ["participant", "mainArguments"],
        "additionalProperties": false,
    });
    let winner = json!({
        "type": ["object", "null"],
        "properties": { "participant": { "type": "string", "enum": debaters }, "reasoning": { "type": "string" } },
        "required": ["participant", "reasoning"],
        "additionalProperties": false,
        "description": "Who argued best; left out if nobody did",
    });
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "The whole debate in a few sentences" },
            "keyPoints": { "type": "array", "items": points, "description": "The main arguments of each debater" },
            "areasOfAgreement": texts("Where they met"),
            "areasOfDisagreement": texts("Where they did not"),
            "winner": winner,
            "qualityScore": { "type": "number", "minimum": 0, "maximum": 100, "description": "The debate as a whole" },
            "insights": texts("What was new or surprising"),
        },
        "required": ["summary", "keyPoints", "areasOfAgreement", "areasOfDisagreement", "qualityScore", "insights"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader() -> Verdicts {
        Verdicts::on(&["Ann", "Bob"].map(Participant::of))
    }

    fn reply(changes: &Value) -> String {
        let mut verdict = json!({
            "summary": "They argued.", "keyPoints": [{"participant": "Ann", "mainArguments": ["It is so."]}],
            "areasOfAgreement": [], "areasOfDisagreement": ["all"], "qualityScore": 70, "insights": []
        });
        let fields = verdict.as_object_mut().unwrap();
        for (key, value) in changes.as_object().unwrap() {
            fields.insert(key.clone(), value.clone());
        }
        verdict.to_string()
    }

    #[track_caller]
    fn check(changes: &Value, expected: Option<(Option<&str>, f64)>) {
        let read = reader().read(&reply(changes));
        let read = read
            .as_ref()
            .map(|it| (it.winner.as_ref().map(|winner| winner.participant.as_str()), it.quality_score));
        assert_eq!(read, expected, "{changes}");
    }

    fn won_by(name: &str) -> Value {
        json!({"winner": {"participant": name, "reasoning": "clearer"}})
    }

    #[test]
    fn d07_a_verdict_is_read_by_its_schema() {
        check(&json!({}), Some((None, 70.0)));
        check(&json!({"winner": null}), Some((None, 70.0)));
        check(&won_by("Ann"), Some((Some("Ann"), 70.0)));
        check(&won_by(" bob "), Some((Some("Bob"), 70.0)));
        check(&won_by("None"), Some((None, 70.0)));
        let fenced = format!("Here it is:\n```json\n{}\n```", reply(&json!({})));
        assert!(reader().read(&fenced).is_some());
    }

    #[test]
    fn d07_quality_stays_within_0_and_100() {
        check(&json!({"qualityScore": 140}), Some((None, 100.0)));
        check(&json!({"qualityScore": -1}), Some((None, 0.0)));
        check(&json!({"qualityScore": "good"}), None);
    }

    #[test]
    fn d07_the_winner_is_one_of_the_debaters() {
        check(&won_by("Cyd"), None);
        check(&won_by("Ann and Bob"), None);
    }

    #[test]
    fn d07_what_lacks_a_part_is_asked_for_once_more_strictly() {
        check(&json!({"summary": " "}), None);
        check(&json!({"insights": null}), None);
        assert_eq!(reader().read("Ann won."), None);
        assert_eq!(reader().reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["strict"]);
        assert_eq!(reader().give_up(), None);
    }
}
