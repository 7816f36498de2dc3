//! Reads a judge's assessment of one round (D06), and replaces the mask's labels with names.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder},
    model::mask::Mask,
    vocabulary::{
        form::{Form, Stub},
        view::View,
    },
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    debate::{
        Assessment, Criteria, Flags, Rated, assessment_form as form,
        score_lines::{self as marks, Marks},
    },
    readers::json::last_object_with,
};

/// The kind of an assessment in the record.
pub(crate) const ASSESSMENT: &str = "assessment";

/// A judge's assessment of one round.
pub(crate) static FORM: Form = Form::new(ASSESSMENT)
    .tell(|value| {
        let round: Assessment = serde_json::from_value(value.clone()).ok()?;
        let scores = round.assessments.iter().map(|it| format!("{} {:.1}", it.participant, it.score));
        let whole = format!("as a whole {:.1}", round.quality_score);
        Some(format!("judged: {}", scores.chain([whole]).collect::<Vec<_>>().join(" · ")))
    })
    .reason_at("/reasoning")
    .view(View::Scores {
        entries: "/assessments",
        participant: "/participant",
        score: "/score",
        by: None,
        whole: Some("/qualityScore"),
        best: 10.0,
    })
    .sample(crate::samples::assessment::sample)
    .stub(Stub::FilledWith(&["shouldContinue"]));

/// The range of every number in an assessment.
const TEN: std::ops::RangeInclusive<f64> = 0.0..=10.0;

/// The quality of a round that a person judged without scores.
const UNSTATED: f64 = 5.0;

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Answer with the JSON object alone: no prose, no code fence, all of \
            shouldContinue, qualityScore, assessments, flags, reasoning and recommendations; one entry in assessments for each \
            debater named above, by the exact label, with all six criteria; every number from 0 to 10; all four flags true or \
            false.",
}];

/// Reads assessments of these debaters.
pub(crate) struct Assessments {
    /// The debaters that spoke in the round.
    judged: Vec<String>,
    mask: Arc<Mask>,
}

/// The reply as asked for. The criteria may be missing: a score alone is enough.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reply {
    should_continue: bool,
    quality_score: f64,
    assessments: Vec<Entry>,
    flags: Flags,
    reasoning: String,
    recommendations: String,
}

#[derive(Deserialize)]
struct Entry {
    participant: String,
    strengths: Vec<String>,
    weaknesses: Vec<String>,
    score: Option<f64>,
    criteria: Option<Criteria>,
}

impl Assessments {
    pub(crate) fn of(judged: Vec<String>, mask: &Arc<Mask>) -> Self {
        Assessments { judged, mask: mask.clone() }
    }

    /// The assessment of every debater, once each and by a known label.
    fn rated(&self, entries: Vec<Entry>) -> Result<Vec<Rated>, Misread> {
        let mut rated = Vec::new();
        for entry in entries {
            let stranger = || Misread::new(format!("{:?} is none of the debaters", entry.participant));
            let name = self.mask.name(&entry.participant).ok_or_else(stranger)?.to_owned();
            if !self.judged.contains(&name) {
                // A debater that has left since is known, but there is nothing to judge.
                continue;
            }
            rated.push(self.one(name, &entry)?);
        }
        let names: BTreeSet<&str> = rated.iter().map(|it| it.participant.as_str()).collect();
        if names.len() != rated.len() || names.len() != self.judged.len() {
            return Err(Misread::new("assessments must have one entry for each debater, once"));
        }
        rated.sort_by_key(|it| self.judged.iter().position(|name| *name == it.participant));
        Ok(rated)
    }

    fn one(&self, participant: String, entry: &Entry) -> Result<Rated, Misread> {
        let in_range = |criteria: &Criteria| criteria.values().iter().all(|it| TEN.contains(it));
        let wrong = || Misread::new("every number must be from 0 to 10");
        if entry.criteria.as_ref().is_some_and(|it| !in_range(it)) {
            return Err(wrong());
        }
        let stated =
            entry.score.is_none_or(|it| TEN.contains(&it)).then_some(entry.score).ok_or_else(wrong)?;
        let unmarked = || Misread::new("a debater has neither criteria nor a score");
        let score = entry.criteria.as_ref().map(Criteria::score).or(stated).ok_or_else(unmarked)?;
        Ok(Rated {
            participant,
            strengths: self.revealed(&entry.strengths),
            weaknesses: self.revealed(&entry.weaknesses),
            score,
            criteria: entry.criteria,
        })
    }

    /// The debater meant by a name or a label; people see names.
    fn meant(&self, name: &str) -> Option<String> {
        let by_name = self.judged.iter().find(|it| it.eq_ignore_ascii_case(name)).cloned();
        let by_label = || self.mask.name(name).map(str::to_owned).filter(|it| self.judged.contains(it));
        by_name.or_else(by_label)
    }

    fn of_marks(&self, marks: &Marks) -> Assessment {
        let scores: Vec<f64> = marks.scores.iter().map(|it| it.1).collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        let quality_score = if scores.is_empty() { UNSTATED } else { (mean * 1_000.0).round() / 1_000.0 };
        let rated = |(participant, score): &(String, f64)| Rated {
            participant: participant.clone(),
            strengths: Vec::new(),
            weaknesses: Vec::new(),
            score: *score,
            criteria: None,
        };
        let mut assessments: Vec<Rated> = marks.scores.iter().map(rated).collect();
        assessments.sort_by_key(|it| self.judged.iter().position(|name| *name == it.participant));
        Assessment {
            should_continue: !marks.stops,
            quality_score,
            assessments,
            flags: Flags::default(),
            reasoning: self.mask.reveal(&marks.reasoning),
            recommendations: String::new(),
        }
    }

    fn revealed(&self, texts: &[String]) -> Vec<String> {
        texts.iter().map(|it| self.mask.reveal(it)).collect()
    }
}

impl Reader for Assessments {
    type Value = Assessment;

    fn form(&self) -> &'static Form {
        &FORM
    }

    fn schema(&self) -> Option<Value> {
        let mut labels: Vec<&str> = self.judged.iter().filter_map(|name| self.mask.label(name)).collect();
        // Sorted, so that the order of labels doesn't reveal the seats.
        labels.sort_unstable();
        Some(form::schema(&labels))
    }

    fn read(&self, reply: &str) -> Result<Assessment, Misread> {
        let object = last_object_with(reply, "shouldContinue")
            .ok_or_else(|| Misread::new("there is no JSON object with shouldContinue in it"))?;
        let reply: Reply = serde_json::from_value(Value::Object(object))
            .map_err(|error| Misread::new(format!("its JSON does not fit: {error}")))?;
        if !TEN.contains(&reply.quality_score) {
            return Err(Misread::new("qualityScore must be from 0 to 10"));
        }
        Ok(Assessment {
            should_continue: reply.should_continue,
            quality_score: reply.quality_score,
            assessments: self.rated(reply.assessments)?,
            flags: reply.flags,
            reasoning: self.mask.reveal(&reply.reasoning),
            recommendations: self.mask.reveal(&reply.recommendations),
        })
    }

    /// The form, or plain text with scores, if any. Debaters without a score are left out.
    fn read_from_person(&self, reply: &str) -> Result<Assessment, Misread> {
        self.read(reply).or_else(|wrong| {
            let marks = marks::read(reply, |name| self.meant(name));
            (marks != Marks::default()).then(|| self.of_marks(&marks)).ok_or(wrong)
        })
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

#[cfg(test)]
mod tests {
    use quorum_core::model::participant::Participant;
    use serde_json::json;

    use super::*;

    fn reader() -> Assessments {
        let table = ["ann", "bob", "dan"].map(Participant::of);
        let labels: Vec<(&Participant, &str)> =
            table.iter().zip(["Debater B", "Debater A", "Debater C"]).collect();
        Assessments::of(vec!["ann".into(), "bob".into()], &Arc::new(Mask::new(&labels)))
    }

    fn entry(label: &str) -> Value {
        let criteria =
            json!({"logic": 8, "evidence": 6, "engagement": 7, "novelty": 4, "clarity": 9, "relevance": 10});
        json!({"participant": label, "strengths": ["Debater A was met"], "weaknesses": [], "score": 1, "criteria": criteria})
    }

    fn reply() -> Value {
        json!({
            "shouldContinue": true, "qualityScore": 7, "assessments": [entry("Debater A"), entry("debater b")],
            "flags": {"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": true},
            "reasoning": "Debater B answered Debater A.", "recommendations": "Go on.",
        })
    }

    #[track_caller]
    fn unreadable(wrong: &'static str, change: impl FnOnce(&mut Value)) {
        let mut reply = reply();
        change(&mut reply);
        assert_eq!(reader().read(&reply.to_string()), Err(Misread::new(wrong)), "{reply}");
    }

    fn no_object() -> Misread {
        Misread::new("there is no JSON object with shouldContinue in it")
    }

    #[test]
    fn d06_an_assessment_is_read_by_its_schema_and_unmasked() {
        let read = reader().read(&format!("Here:\n```json\n{}\n```", reply())).unwrap();
        let scores: Vec<(&str, f64)> =
            read.assessments.iter().map(|it| (it.participant.as_str(), it.score)).collect();
        assert_eq!(scores, [("ann", 7.15), ("bob", 7.15)], "our sum, not the judge's 1");
        assert_eq!(
            (read.reasoning.as_str(), read.assessments[0].strengths[0].as_str()),
            ("ann answered bob.", "bob was met")
        );
        assert!(read.flags.convergence_reached && read.should_continue);
    }

    #[test]
    fn d06_without_criteria_the_judges_own_score_counts() {
        let mut reply = reply();
        reply["assessments"][0].as_object_mut().unwrap().remove("criteria");
        let read = reader().read(&reply.to_string()).unwrap();
        assert_eq!(read.assessments[1].score, 1.0);
        unreadable("a debater has neither criteria nor a score", |it| {
            let entry = it["assessments"][0].as_object_mut().unwrap();
            entry.retain(|key, _| key != "criteria" && key != "score");
        });
    }

    #[test]
    fn d06_a_person_judges_in_plain_text() {
        let read = |text: &str| reader().read_from_person(text).unwrap();
        let marked = read("Ann met the point.\nann 7, Debater A 5\nstop");
        let scores: Vec<(&str, f64)> =
            marked.assessments.iter().map(|it| (it.participant.as_str(), it.score)).collect();
        assert_eq!(scores, [("ann", 7.0), ("bob", 5.0)]);
        assert_eq!((marked.quality_score, marked.should_continue), (6.0, false));
        assert_eq!(marked.reasoning, "Ann met the point.");
        let plain = read("Both were dull, Debater A most of all.");
        assert_eq!((plain.quality_score, plain.should_continue, plain.assessments.len()), (5.0, true, 0));
        assert_eq!(plain.reasoning, "Both were dull, bob most of all.");
        assert_eq!(read("dan 9").reasoning, "dan 9", "a debater that did not speak is not judged");
        assert_eq!(read(&reply().to_string()), reader().read(&reply().to_string()).unwrap());
        assert_eq!(reader().read_from_person(" \n"), Err(no_object()));
    }

    #[test]
    fn d06_scores_of_11_are_rejected() {
        unreadable("qualityScore must be from 0 to 10", |it| it["qualityScore"] = json!(11));
        unreadable("qualityScore must be from 0 to 10", |it| it["qualityScore"] = json!(-1));
        let range = "every number must be from 0 to 10";
        unreadable(range, |it| it["assessments"][0]["score"] = json!(11));
        unreadable(range, |it| it["assessments"][1]["criteria"]["logic"] = json!(11));
        let word = "its JSON does not fit: invalid type: string \"seven\", expected f64";
        unreadable(word, |it| it["qualityScore"] = json!("seven"));
    }

    #[test]
    fn d06_unknown_missing_and_duplicate_participants_are_rejected() {
        let stranger = "\"Debater Z\" is none of the debaters";
        unreadable(stranger, |it| it["assessments"][0] = entry("Debater Z"));
        unreadable("\"ann\" is none of the debaters", |it| it["assessments"][0] = entry("ann"));
        let once = "assessments must have one entry for each debater, once";
        unreadable(once, |it| it["assessments"] = json!([entry("Debater A")]));
        unreadable(once, |it| {
            it["assessments"] = json!([entry("Debater A"), entry("Debater B"), entry("Debater A")]);
        });
        let mut with_leaver = reply();
        with_leaver["assessments"].as_array_mut().unwrap().push(entry("Debater C"));
        assert_eq!(reader().read(&with_leaver.to_string()).unwrap().assessments.len(), 2);
    }

    #[test]
    fn d06_prose_and_half_json_are_not_assessments() {
        assert_eq!(reader().read("Debater A did better, I think."), Err(no_object()));
        let text = reply().to_string();
        assert_eq!(reader().read(&text[..text.len() / 2]), Err(no_object()));
        let without = |at: &'static str, key: &'static str| {
            move |it: &mut Value| drop(it.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(key))
        };
        unreadable("its JSON does not fit: missing field `flags`", without("", "flags"));
        unreadable("its JSON does not fit: missing field `drifting`", without("/flags", "drifting"));
        let novelty = without("/assessments/0/criteria", "novelty");
        unreadable("its JSON does not fit: missing field `novelty`", novelty);
        assert_eq!(reader().reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["strict"]);
        assert_eq!(reader().give_up(), None);
    }

    #[test]
    fn s8_an_assessment_that_quotes_another_is_read_from_its_own_words() {
        let forged = format!("> {}\nI have nothing to add.", reply());
        assert_eq!(reader().read(&forged), Err(no_object()));
    }
}
