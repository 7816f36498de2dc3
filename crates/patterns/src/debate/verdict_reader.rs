//! Reads a judge's verdict (D07), and replaces the mask's labels with names.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    model::{mask::Mask, participant::Participant},
    vocabulary::{
        form::Form,
        view::{Cell, Column, Section, View},
    },
};
use serde_json::{Value, json};

use crate::{
    debate::{KeyPoints, Verdict, Winner, labels, line_form},
    readers::json::{Object, last_object_with, may_hold, number, objects, text, texts, texts_of, value},
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
        // Only in results: what concerns several judges, and the judge's own marks.
        Section::new(
            "Winners by judge",
            "/winners",
            &View::Table { columns: &[Column::text("judge", "/judge"), Column::text("winner", "/winner")] },
        ),
        Section::new(
            "Verdicts against the judge's own marks",
            "/againstMarks",
            &View::Table {
                columns: &[
                    Column::text("judge", "/judge"),
                    Column::text("winner", "/winner"),
                    Column::of("its mean mark", "/marks", Cell::Number),
                    Column::text("best marked", "/best"),
                    Column::of("its mean mark", "/bestMarks", Cell::Number),
                ],
            },
        ),
    ],
};

/// A judge's verdict.
pub(crate) static FORM: Form = Form::new(VERDICT)
    .effort(Effort::High)
    .tell(|value| {
        let winner = value.pointer("/winner/participant").and_then(Value::as_str);
        let ahead = winner.map(|winner| format!(", with {winner} ahead")).unwrap_or_default();
        Some(format!("gave a verdict{ahead}"))
    })
    .reason_at("/summary")
    .view(VIEW)
    .sample(crate::samples::verdict::sample)
    .recognises(|text| may_hold(text, "summary") || line_form::may_hold_verdict(text));

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Send it again as one JSON object and nothing else, with the keys summary, keyPoints, areasOfAgreement, \
            areasOfDisagreement, insights, qualityScore and winner, in this order.",
}];

/// What judges write if nobody won.
const NOBODY: &[&str] = &["", "none", "nobody", "no winner", "tie", "draw", "n/a"];

/// Reads verdicts on these debaters.
pub(crate) struct Verdicts {
    debaters: Vec<String>,
    mask: Arc<Mask>,
}

impl Verdicts {
    pub(crate) fn on(debaters: &[Participant], mask: &Arc<Mask>) -> Self {
        Verdicts { debaters: debaters.iter().map(|it| it.name.clone()).collect(), mask: mask.clone() }
    }

    /// The debater meant by a label.
    fn meant(&self, label: &str) -> Option<String> {
        let named = labels::meant(&self.mask, label)?;
        self.debaters.iter().find(|it| *it == named).cloned()
    }

    /// The winner by name, if there is one; it must be a debater.
    fn winner(&self, written: Option<&Value>) -> Result<Option<Winner>, Misread> {
        let (label, reasoning) = match written {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(winner)) => (
                text(winner, "participant").unwrap_or_default(),
                self.mask.reveal(&text(winner, "reasoning").unwrap_or_default()),
            ),
            Some(other) => (other.as_str().unwrap_or_default().to_owned(), String::new()),
        };
        if NOBODY.contains(&label.trim().to_lowercase().as_str()) {
            return Ok(None);
        }
        let stranger = || Misread::new(format!("none of the debaters is the winner {label:?}"));
        let participant = self.meant(&label).ok_or_else(stranger)?;
        Ok(Some(Winner { participant, reasoning }))
    }

    /// The texts under this key, with names in place of labels.
    fn texts(&self, object: &Object, key: &str) -> Result<Vec<String>, Misread> {
        let listed = value(object, key).and_then(texts_of);
        let listed = listed.ok_or_else(|| Misread::new(format!("{key} must be a list of texts")))?;
        Ok(listed.iter().map(|it| self.mask.reveal(it)).collect())
    }

    /// The main arguments of each debater. Those of unknown participants are dropped.
    fn key_points(&self, object: &Object) -> Result<Vec<KeyPoints>, Misread> {
        if !value(object, "keyPoints").is_some_and(Value::is_array) {
            return Err(Misread::new("keyPoints must be a list"));
        }
        let points = objects(object, "keyPoints").filter_map(|it| {
            let participant = self.meant(&text(it, "participant")?)?;
            let main_arguments = texts(it, "mainArguments");
            let main_arguments = main_arguments.iter().map(|it| self.mask.reveal(it)).collect();
            Some(KeyPoints { participant, main_arguments })
        });
        Ok(points.collect())
    }

    /// A person's words: the summary, and the winner if a line says only who won.
    fn of_words(&self, reply: &str) -> Option<Verdict> {
        let called = |name: &str| {
            let by_name = self.debaters.iter().find(|it| it.eq_ignore_ascii_case(name)).cloned();
            by_name.or_else(|| self.meant(name))
        };
        let (mut winners, mut words) = (BTreeSet::new(), Vec::new());
        for line in reply.lines() {
            match named_winner(line).and_then(called) {
                Some(name) => drop(winners.insert(name)),
                None => words.push(line),
            }
        }
        let left = words.join("\n");
        // Two winners count as no winner, and a verdict without other words still has a summary.
        let winner = if winners.len() == 1 { winners.pop_first() } else { None };
        let summary = if winner.is_none() || left.trim().is_empty() { reply.trim() } else { left.trim() };
        let winner = winner.map(|participant| Winner { participant, reasoning: String::new() });
        let verdict = Verdict { summary: self.mask.reveal(summary), winner, ..Verdict::default() };
        (!verdict.summary.is_empty()).then_some(verdict)
    }
}

/// The name in a line that only says who won: `winner: ann`, `ann wins`.
fn named_winner(line: &str) -> Option<&str> {
    let line = line.trim().trim_end_matches(['.', '!']);
    let lower = line.to_ascii_lowercase();
    let after = |words: &str| lower.starts_with(words).then(|| &line[words.len()..]);
    let before = |words: &str| lower.ends_with(words).then(|| &line[..line.len() - words.len()]);
    let named = ["winner:", "the winner is ", "winner "].iter().find_map(|it| after(it));
    let named = named.or_else(|| [" wins", " has won", " won"].iter().find_map(|it| before(it)));
    named.map(str::trim).filter(|it| !it.is_empty())
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
            .or_else(|| line_form::verdict(reply))
            .ok_or_else(|| Misread::new("there is no JSON object with a summary in it"))?;
        let summary = text(&object, "summary").ok_or_else(|| Misread::new("the summary is empty"))?;
        let quality = value(&object, "qualityScore").and_then(|it| number(it, 100.0));
        let quality =
            quality.ok_or_else(|| Misread::new("the quality score must be a number from 0 to 100"))?;
        Ok(Verdict {
            summary: self.mask.reveal(&summary),
            key_points: self.key_points(&object)?,
            areas_of_agreement: self.texts(&object, "areasOfAgreement")?,
            areas_of_disagreement: self.texts(&object, "areasOfDisagreement")?,
            winner: self.winner(value(&object, "winner"))?,
            quality_score: Some(quality.clamp(0.0, 100.0)),
            insights: self.texts(&object, "insights")?,
        })
    }

    /// The form, or plain text: the summary, with the winner on a line of its own. A winner is
    /// never guessed, and no score is invented.
    fn read_from_person(&self, reply: &str) -> Result<Verdict, Misread> {
        self.read(reply).or_else(|wrong| self.of_words(reply).ok_or(wrong))
    }

    fn wrong_in_lines(&self, reply: &str, wrong: Misread) -> Misread {
        line_form::wrong_with_verdict(reply).unwrap_or(wrong)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

/// The schema; its order is the order in which a model writes: reasons before marks, the winner
/// last.
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
        "properties": {
            "reasoning": { "type": "string", "description": "The clash that decided it" },
            "participant": { "type": "string", "enum": debaters, "description": "The winner's label" },
        },
        "required": ["reasoning", "participant"],
        "additionalProperties": false,
        "description": "Who argued best; null if it was close",
    });
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "The whole debate in a few sentences" },
            "keyPoints": { "type": "array", "items": points, "description": "The main arguments of each debater" },
            "areasOfAgreement": texts("Where they met"),
            "areasOfDisagreement": texts("Where they did not"),
            "insights": texts("What was new or surprising"),
            "qualityScore": { "type": "number", "minimum": 0, "maximum": 100, "description": "The debate as a whole" },
            "winner": winner,
        },
        "required": ["summary", "keyPoints", "areasOfAgreement", "areasOfDisagreement", "insights", "qualityScore", "winner"],
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
        let expected = expected.map(|(winner, quality)| (winner.map(str::to_owned), Some(quality)));
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
        assert_eq!(read.quality_score, None, "no score is invented");
        assert_eq!(reader().read_from_person("  "), Err(no_object()));
        let form = reader().read_from_person(&reply(&won_by("Debater B"))).unwrap();
        assert_eq!(form.winner.map(|it| it.participant), Some("Ann".to_owned()));
    }

    #[test]
    fn d07_a_person_names_the_winner_on_a_line_of_its_own() {
        let check = |reply: &str, summary: &str, winner: Option<&str>| {
            let read = reader().read_from_person(reply).unwrap();
            let named = read.winner.map(|it| it.participant);
            assert_eq!((read.summary.as_str(), named.as_deref()), (summary, winner), "{reply}");
        };
        check("Both were good.\nWinner: ann", "Both were good.", Some("Ann"));
        check("Bob wins!\n\nHe met every point.", "He met every point.", Some("Bob"));
        check("the winner is Debater B.", "the winner is Ann.", Some("Ann"));
        check("Ann won", "Ann won", Some("Ann"));
        check("Nobody wins.", "Nobody wins.", None);
        check("Ann wins.\nBob wins.", "Ann wins.\nBob wins.", None);
        check("I think that Ann wins.", "I think that Ann wins.", None);
        check("If style counted, Ann won", "If style counted, Ann won", None);
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
        let word = "the quality score must be a number from 0 to 100";
        check(&json!({"qualityScore": "good"}), Err(word));
    }

    #[test]
    fn d07_the_winner_is_one_of_the_debaters() {
        check(&won_by("Debater C"), Err("none of the debaters is the winner \"Debater C\""));
        check(&won_by("Eve"), Err("none of the debaters is the winner \"Eve\""));
        let both = "none of the debaters is the winner \"Debater A and Debater B\"";
        check(&won_by("Debater A and Debater B"), Err(both));
    }

    #[test]
    fn d07_key_points_of_unknown_participants_are_dropped() {
        let point = |label: &str| json!({"participant": label, "mainArguments": ["So it is."]});
        let labels = ["Debater Z", "debater a", "Debater B (for it)", "Eve", ""];
        let read = reader().read(&reply(&json!({"keyPoints": labels.map(point)}))).unwrap();
        let names: Vec<&str> = read.key_points.iter().map(|it| it.participant.as_str()).collect();
        assert_eq!(names, ["Bob", "Ann"]);
    }

    #[test]
    fn d07_an_incomplete_verdict_is_asked_for_once_more_strictly() {
        check(&json!({"summary": " "}), Err("the summary is empty"));
        let null = "insights must be a list of texts";
        check(&json!({"insights": null}), Err(null));
        assert_eq!(reader().read("Ann won."), Err(no_object()));
        assert_eq!(reader().reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["strict"]);
        assert_eq!(reader().give_up(), None);
    }
}
