//! Reads a judge's verdict (D07), and replaces the mask's labels with names.

use std::sync::Arc;

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder},
    model::{mask::Mask, participant::Participant},
    vocabulary::{
        form::Form,
        view::{Cell, Column, Section, View},
    },
};
use serde_json::{Value, json};

use crate::{
    debate::{KeyPoints, Verdict, Winner},
    readers::json::last_object_with,
};

/// The kind of a verdict in the record.
pub(crate) const VERDICT: &str = "verdict";

/// How a verdict is displayed, in the record and in results.
pub(crate) const VIEW: View = View::Sections {
    sections: &[
        Section::new("", "/summary", &View::Text),
        Section::new("", "/winner/participant", &View::Line { label: "Winner", cell: Cell::Text }),
        Section::new("", "/winner/reasoning", &View::Text),
        Section::new(
            "",
            "/qualityScore",
            &View::Line { label: "The debate as a whole, of 100", cell: Cell::Number },
        ),
        Section::new(
            "Main arguments",
            "/keyPoints",
            &View::Table {
                columns: &[
                    Column::text("participant", "/participant"),
                    Column::text("arguments", "/mainArguments"),
                ],
            },
        ),
        Section::new("Agreement", "/areasOfAgreement", &View::List),
        Section::new("Disagreement", "/areasOfDisagreement", &View::List),
        Section::new("Insights", "/insights", &View::List),
    ],
};

/// A judge's verdict.
pub(crate) static FORM: Form = Form::new(VERDICT)
    .tell(|value| {
        let winner = value.pointer("/winner/participant").and_then(Value::as_str);
        let ahead = winner.map(|winner| format!(", with {winner} ahead")).unwrap_or_default();
        Some(format!("gave a verdict{ahead}"))
    })
    .reason_at("/summary")
    .view(VIEW)
    .sample(crate::samples::verdict::sample);

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Answer with the JSON object alone: no prose, no code fence, all of summary, \
            keyPoints, areasOfAgreement, areasOfDisagreement, qualityScore and insights, the score a number from 0 to 100. \
            A winner must be one of the debaters, by the exact label; leave it out if nobody won.",
}];

/// What judges write if nobody won.
const NOBODY: &[&str] = &["", "none", "nobody", "no winner", "tie", "draw", "n/a"];

/// The quality of a debate that a person judged in plain text without a score.
const UNSTATED: f64 = 50.0;

/// Reads verdicts on these debaters.
pub(crate) struct Verdicts {
    debaters: Vec<String>,
    mask: Arc<Mask>,
}

impl Verdicts {
    pub(crate) fn on(debaters: &[Participant], mask: &Arc<Mask>) -> Self {
        Verdicts { debaters: debaters.iter().map(|it| it.name.clone()).collect(), mask: mask.clone() }
    }

    /// The winner by name, if there is one; it must be a debater.
    fn winner(&self, winner: Option<Winner>) -> Result<Option<Winner>, Misread> {
        let Some(winner) = winner else { return Ok(None) };
        if NOBODY.contains(&winner.participant.trim().to_lowercase().as_str()) {
            return Ok(None);
        }
        let named = self.mask.name(&winner.participant);
        let stranger =
            || Misread::new(format!("the winner {:?} is none of the debaters", winner.participant));
        let participant =
            named.filter(|name| self.debaters.iter().any(|it| it == name)).ok_or_else(stranger)?;
        let reasoning = self.mask.reveal(&winner.reasoning);
        Ok(Some(Winner { participant: participant.to_owned(), reasoning }))
    }

    /// The debater meant by a label, possibly followed by an explanation; `None` if unknown.
    fn meant(&self, label: &str) -> Option<String> {
        let exactly = self.mask.name(label).map(str::to_owned);
        exactly.or_else(|| {
            let revealed = self.mask.reveal(label.trim());
            self.debaters.iter().find(|name| revealed.starts_with(&format!("{name} "))).cloned()
        })
    }

    /// The verdict with names in place of labels.
    fn revealed(&self, verdict: Verdict) -> Result<Verdict, Misread> {
        let reveal = |texts: Vec<String>| texts.iter().map(|it| self.mask.reveal(it)).collect();
        // Key points of unknown participants are dropped.
        let points = verdict.key_points.into_iter().filter_map(|it| {
            let participant = self.meant(&it.participant)?;
            Some(KeyPoints { participant, main_arguments: reveal(it.main_arguments) })
        });
        Ok(Verdict {
            summary: self.mask.reveal(&verdict.summary),
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

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        let mut labels: Vec<&str> = self.debaters.iter().filter_map(|name| self.mask.label(name)).collect();
        // Sorted, so that the order of labels doesn't reveal the seats.
        labels.sort_unstable();
        Some(schema(&labels))
    }

    fn read(&self, reply: &str) -> Result<Verdict, Misread> {
        let object = last_object_with(reply, "summary")
            .ok_or_else(|| Misread::new("there is no JSON object with a summary in it"))?;
        let verdict: Verdict = serde_json::from_value(Value::Object(object))
            .map_err(|error| Misread::new(format!("its JSON does not fit: {error}")))?;
        if verdict.summary.trim().is_empty() {
            return Err(Misread::new("the summary is empty"));
        }
        self.revealed(verdict)
    }

    /// The form, or plain text, which is the summary. A winner is never guessed.
    fn read_from_person(&self, reply: &str) -> Result<Verdict, Misread> {
        self.read(reply).or_else(|wrong| {
            let summary = self.mask.reveal(reply.trim());
            let verdict = Verdict { summary, quality_score: UNSTATED, ..Verdict::default() };
            (!verdict.summary.is_empty()).then_some(verdict).ok_or(wrong)
        })
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
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
        Verdicts::on(&table, &Arc::new(Mask::new(&labels)))
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
    fn check(changes: &Value, expected: Result<(Option<&str>, f64), &'static str>) {
        let read = reader().read(&reply(changes));
        let read = read.map(|it| (it.winner.map(|winner| winner.participant), it.quality_score));
        let expected = expected.map(|(winner, quality)| (winner.map(str::to_owned), quality));
        assert_eq!(read, expected.map_err(Misread::new), "{changes}");
    }

    fn no_object() -> Misread {
        Misread::new("there is no JSON object with a summary in it")
    }

    fn won_by(name: &str) -> Value {
        json!({"winner": {"participant": name, "reasoning": "clearer"}})
    }

    #[test]
    fn d07_a_verdict_is_read_by_its_schema() {
        check(&json!({}), Ok((None, 70.0)));
        check(&json!({"winner": null}), Ok((None, 70.0)));
        check(&won_by("Debater B"), Ok((Some("Ann"), 70.0)));
        check(&won_by(" debater a "), Ok((Some("Bob"), 70.0)));
        check(&won_by("None"), Ok((None, 70.0)));
        let fenced = format!("Here it is:\n```json\n{}\n```", reply(&json!({})));
        assert_eq!(reader().read(&fenced), reader().read(&reply(&json!({}))));
    }

    #[test]
    fn d07_a_persons_plain_text_is_the_summary() {
        let read = reader().read_from_person(" Debater A was clearer. ").unwrap();
        assert_eq!((read.summary.as_str(), read.winner), ("Bob was clearer.", None));
        assert_eq!(reader().read_from_person("  "), Err(no_object()));
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
        check(&json!({"qualityScore": 140}), Ok((None, 100.0)));
        check(&json!({"qualityScore": -1}), Ok((None, 0.0)));
        let word = "its JSON does not fit: invalid type: string \"good\", expected f64";
        check(&json!({"qualityScore": "good"}), Err(word));
    }

    #[test]
    fn d07_the_winner_is_one_of_the_debaters() {
        check(&won_by("Debater C"), Err("the winner \"Debater C\" is none of the debaters"));
        check(&won_by("Ann"), Err("the winner \"Ann\" is none of the debaters"));
        let both = "the winner \"Debater A and Debater B\" is none of the debaters";
        check(&won_by("Debater A and Debater B"), Err(both));
    }

    #[test]
    fn d07_key_points_of_unknown_participants_are_dropped() {
        let point = |label: &str| json!({"participant": label, "mainArguments": ["So it is."]});
        let labels = ["Debater Z", "debater a", "Debater B (for it)", "Ann", ""];
        let read = reader().read(&reply(&json!({"keyPoints": labels.map(point)}))).unwrap();
        let names: Vec<&str> = read.key_points.iter().map(|it| it.participant.as_str()).collect();
        assert_eq!(names, ["Bob", "Ann"]);
    }

    #[test]
    fn d07_an_incomplete_verdict_is_asked_for_once_more_strictly() {
        check(&json!({"summary": " "}), Err("the summary is empty"));
        let null = "its JSON does not fit: invalid type: null, expected a sequence";
        check(&json!({"insights": null}), Err(null));
        assert_eq!(reader().read("Ann won."), Err(no_object()));
        assert_eq!(reader().reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["strict"]);
        assert_eq!(reader().give_up(), None);
    }
}
