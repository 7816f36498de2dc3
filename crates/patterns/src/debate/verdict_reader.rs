//! A judge's final verdict (D07): its form, and how it is read from behind the veil.

use std::sync::Arc;

use quorum_core::{
    call::Shape,
    floor::{
        reading::{Reader, Reminder},
        veil::Veil,
    },
    model::{
        event::Reading,
        judgement::{KeyPoints, Verdict, Winner},
        participant::Participant,
    },
};
use serde_json::{Value, json};

use crate::json::last_object_with;

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Your verdict could not be read. Answer with the JSON object alone: no prose, no code fence, all of summary, \
            keyPoints, areasOfAgreement, areasOfDisagreement, qualityScore and insights, the score a number from 0 to 100. \
            A winner must be one of the debaters, by the exact label; leave it out if nobody won.",
}];

/// What judges write when nobody won.
const NOBODY: &[&str] = &["", "none", "nobody", "no winner", "tie", "draw", "n/a"];

/// The quality of a debate that a person judged in plain words, without a mark.
const UNSTATED: f64 = 50.0;

/// Reads verdicts on these debaters.
pub(crate) struct Verdicts {
    debaters: Vec<String>,
    veil: Arc<Veil>,
}

impl Verdicts {
    pub(crate) fn on(debaters: &[Participant], veil: &Arc<Veil>) -> Self {
        Verdicts { debaters: debaters.iter().map(|it| it.name.clone()).collect(), veil: veil.clone() }
    }

    /// The winner by name, if there is one; `None` when a stranger has won.
    fn winner(&self, winner: Option<Winner>) -> Option<Option<Winner>> {
        let Some(winner) = winner else { return Some(None) };
        if NOBODY.contains(&winner.participant.trim().to_lowercase().as_str()) {
            return Some(None);
        }
        let participant =
            self.veil.name(&winner.participant).filter(|name| self.debaters.iter().any(|it| it == name))?;
        let reasoning = self.veil.reveal(&winner.reasoning);
        Some(Some(Winner { participant: participant.to_owned(), reasoning }))
    }

    /// Who is meant by a label, be it with a word of explanation after it; `None` for a stranger.
    fn meant(&self, label: &str) -> Option<String> {
        let exactly = self.veil.name(label).map(str::to_owned);
        exactly.or_else(|| {
            let revealed = self.veil.reveal(label.trim());
            self.debaters.iter().find(|name| revealed.starts_with(&format!("{name} "))).cloned()
        })
    }

    /// The verdict with names in the place of labels.
    fn revealed(&self, verdict: Verdict) -> Option<Verdict> {
        let reveal = |texts: Vec<String>| texts.iter().map(|it| self.veil.reveal(it)).collect();
        // Nobody argued who was not there.
        let points = verdict.key_points.into_iter().filter_map(|it| {
            let participant = self.meant(&it.participant)?;
            Some(KeyPoints { participant, main_arguments: reveal(it.main_arguments) })
        });
        Some(Verdict {
            summary: self.veil.reveal(&verdict.summary),
            key_points: points.collect(),
            areas_of_agreement: reveal(verdict.areas_of_agreement),
            areas_of_disagreement: reveal(verdict.areas_of_disagreement),
            winner: self.winner(verdict.winner)?,
            quality_score: verdict.quality_score.clamp(0.0, 100.0),
            insights: reveal(verdict.insights),
        })
    }
}

impl Reader for Verdicts {
    type Value = Verdict;

    fn shape(&self) -> Shape {
        let mut labels: Vec<&str> = self.debaters.iter().filter_map(|name| self.veil.label(name)).collect();
        // The seats must not show in the order of the labels.
        labels.sort_unstable();
        Shape { name: "verdict", schema: Some(schema(&labels).into()) }
    }

    fn read(&self, reply: &str) -> Option<Verdict> {
        let object = last_object_with(reply, "summary")?;
        let verdict: Verdict = serde_json::from_value(Value::Object(object)).ok()?;
        if verdict.summary.trim().is_empty() {
            return None;
        }
        self.revealed(verdict)
    }

    /// The form, or plain words, which are the summary. A winner is nobody's guess to make.
    fn read_from_person(&self, reply: &str) -> Option<Verdict> {
        self.read(reply).or_else(|| {
            let summary = self.veil.reveal(reply.trim());
            (!summary.is_empty()).then(|| Verdict {
                summary,
                key_points: Vec::new(),
                areas_of_agreement: Vec::new(),
                areas_of_disagreement: Vec::new(),
                winner: None,
                quality_score: UNSTATED,
                insights: Vec::new(),
            })
        })
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }

    fn fact(&self, verdict: &Verdict) -> Reading {
        Reading::Verdict(verdict.clone())
    }
}

fn schema(debaters: &[&str]) -> Value {
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
        let table = ["Ann", "Bob"].map(Participant::of);
        let labels: Vec<(&Participant, &str)> = table.iter().zip(["Debater B", "Debater A"]).collect();
        Verdicts::on(&table, &Arc::new(Veil::new(&labels)))
    }

    fn reply(changes: &Value) -> String {
        let mut verdict = json!({
            "summary": "They argued.", "keyPoints": [{"participant": "Debater B", "mainArguments": ["It is so."]}],
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
        check(&won_by("Debater B"), Some((Some("Ann"), 70.0)));
        check(&won_by(" debater a "), Some((Some("Bob"), 70.0)));
        check(&won_by("None"), Some((None, 70.0)));
        let fenced = format!("Here it is:\n```json\n{}\n```", reply(&json!({})));
        assert!(reader().read(&fenced).is_some());
    }

    #[test]
    fn d07_a_persons_plain_words_are_the_summary() {
        let read = reader().read_from_person(" Debater A was clearer. ").unwrap();
        assert_eq!((read.summary.as_str(), read.winner), ("Bob was clearer.", None));
        assert_eq!(reader().read_from_person("  "), None);
        let form = reader().read_from_person(&reply(&won_by("Debater B"))).unwrap();
        assert_eq!(form.winner.map(|it| it.participant), Some("Ann".to_owned()));
    }

    #[test]
    fn d07_labels_become_names_again() {
        let read = reader().read(&reply(&json!({"summary": "Debater A met Debater B."}))).unwrap();
        assert_eq!((read.summary.as_str(), read.key_points[0].participant.as_str()), ("Bob met Ann.", "Ann"));
    }

    #[test]
    fn d07_quality_stays_within_0_and_100() {
        check(&json!({"qualityScore": 140}), Some((None, 100.0)));
        check(&json!({"qualityScore": -1}), Some((None, 0.0)));
        check(&json!({"qualityScore": "good"}), None);
    }

    #[test]
    fn d07_the_winner_is_one_of_the_debaters() {
        check(&won_by("Debater C"), None);
        check(&won_by("Ann"), None);
        check(&won_by("Debater A and Debater B"), None);
    }

    #[test]
    fn d07_a_stranger_had_key_points() {
        let point = |label: &str| json!({"participant": label, "mainArguments": ["So it is."]});
        let labels = ["Debater Z", "debater a", "Debater B (for it)", "Ann", ""];
        let read = reader().read(&reply(&json!({"keyPoints": labels.map(point)}))).unwrap();
        let names: Vec<&str> = read.key_points.iter().map(|it| it.participant.as_str()).collect();
        assert_eq!(names, ["Bob", "Ann"]);
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
