//! Reads a judge's assessment of one round (D06), and replaces the mask's labels with names.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    model::{flips::rounded, mask::Mask},
    vocabulary::{
        form::{Form, Stub},
        view::View,
    },
};
use serde_json::Value;

use crate::{
    debate::{
        Assessment, Flags, Rated, assessment_form as form, labels, line_form,
        rubric::{Rubric, TEN},
        score_lines::{self as marks, Marks},
    },
    readers::json::{
        Object, flag, last_object_with, may_hold, number, objects, text, texts, texts_of, value,
    },
};

/// The kind of an assessment in the record.
pub(crate) const ASSESSMENT: &str = "assessment";

/// A judge's assessment of one round.
pub(crate) static FORM: Form = Form::new(ASSESSMENT)
    .effort(Effort::High)
    .tell(|value| {
        let round: Assessment = serde_json::from_value(value.clone()).ok()?;
        let scores = round.assessments.iter().map(|it| format!("{} {:.1}", it.participant, it.score));
        let whole = round.quality_score.map(|it| format!("as a whole {it:.1}"));
        let told: Vec<String> = scores.chain(whole).collect();
        Some(if told.is_empty() {
            "judged in words".to_owned()
        } else {
            format!("judged: {}", told.join(" · "))
        })
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
    .recognises(|text| may_hold(text, "shouldContinue") || line_form::may_hold_assessment(text))
    .stub(Stub::FilledWith(&["shouldContinue"]));

const REMINDERS: &[Reminder] = &[Reminder {
    purpose: "strict",
    words: "Send it again as one JSON object and nothing else, with the keys assessments, reasoning, flags, qualityScore, \
            recommendations and shouldContinue, in this order; mark every criterion.",
}];

/// Reads assessments of these debaters.
pub(crate) struct Assessments {
    /// The debaters that spoke in the round.
    judged: Vec<String>,
    mask: Arc<Mask>,
    rubric: Rubric,
}

impl Assessments {
    pub(crate) fn of(judged: Vec<String>, mask: &Arc<Mask>, rubric: Rubric) -> Self {
        Assessments { judged, mask: mask.clone(), rubric }
    }

    /// The assessment of every debater, once each and by a known label.
    fn rated(&self, object: &Object) -> Result<Vec<Rated>, Misread> {
        let mut rated = Vec::new();
        for entry in objects(object, "assessments") {
            let label = text(entry, "participant").unwrap_or_default();
            let stranger = || Misread::new(format!("none of the debaters is {label:?}"));
            let name = labels::meant(&self.mask, &label).ok_or_else(stranger)?.to_owned();
            if !self.judged.contains(&name) {
                // A debater that has left since is known, but there is nothing to judge.
                continue;
            }
            rated.push(self.one(name, entry)?);
        }
        let names: BTreeSet<&str> = rated.iter().map(|it| it.participant.as_str()).collect();
        if names.len() != rated.len() || names.len() != self.judged.len() {
            return Err(Misread::new("each debater must be assessed, and only once"));
        }
        rated.sort_by_key(|it| self.judged.iter().position(|name| *name == it.participant));
        Ok(rated)
    }

    /// Our weighted sum of the criteria is the score; the judge's own number counts only without
    /// them.
    fn one(&self, participant: String, entry: &Object) -> Result<Rated, Misread> {
        let marks = value(entry, "criteria").and_then(Value::as_object);
        let criteria = marks.map(|it| self.rubric.read(it)).transpose().map_err(Misread::new)?;
        let stated = value(entry, "score").and_then(|it| number(it, 10.0));
        if stated.is_some_and(|it| !TEN.contains(&it)) {
            return Err(Misread::new("every number must be from 0 to 10"));
        }
        let unmarked = || Misread::new("a debater has no marks");
        let score = criteria.as_ref().map(|it| self.rubric.score(it)).or(stated).ok_or_else(unmarked)?;
        let revealed = |key| texts(entry, key).iter().map(|it| self.mask.reveal(it)).collect();
        let (strengths, weaknesses) = (revealed("strengths"), revealed("weaknesses"));
        Ok(Rated { participant, strengths, weaknesses, score, criteria })
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
        // Without marks there is no score; none is invented.
        let quality_score = (!scores.is_empty()).then(|| rounded(mean));
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
        Some(form::schema(&labels, &self.rubric))
    }

    fn read(&self, reply: &str) -> Result<Assessment, Misread> {
        let is_debater = |line: &str| labels::meant(&self.mask, line).is_some();
        let object = last_object_with(reply, "shouldContinue")
            .or_else(|| line_form::assessment(reply, &self.rubric, is_debater))
            .ok_or_else(|| Misread::new("there is no JSON object with shouldContinue in it"))?;
        let quality = value(&object, "qualityScore").and_then(|it| number(it, 10.0));
        let quality = quality.filter(|it| TEN.contains(it));
        let flagged = value(&object, "flags").and_then(Value::as_object);
        let stated = |key| {
            let missing = || Misread::new(format!("{key} is missing"));
            let lines = value(&object, key).and_then(texts_of).ok_or_else(missing)?;
            Ok(self.mask.reveal(&lines.join("\n")))
        };
        Ok(Assessment {
            should_continue: flag_in(&object, "shouldContinue")?,
            quality_score: Some(
                quality.ok_or_else(|| Misread::new("the quality score must be a number from 0 to 10"))?,
            ),
            assessments: self.rated(&object)?,
            flags: flags(flagged.ok_or_else(|| Misread::new("flags is missing"))?)?,
            reasoning: stated("reasoning")?,
            recommendations: stated("recommendations")?,
        })
    }

    /// The form, or plain text with scores, if any. Debaters without a score are left out.
    fn read_from_person(&self, reply: &str) -> Result<Assessment, Misread> {
        self.read(reply).or_else(|wrong| {
            let marks = marks::read(reply, |name| self.meant(name));
            (marks != Marks::default()).then(|| self.of_marks(&marks)).ok_or(wrong)
        })
    }

    fn wrong_in_lines(&self, reply: &str, wrong: Misread) -> Misread {
        line_form::wrong_with_assessment(reply).unwrap_or(wrong)
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }
}

fn flags(object: &Object) -> Result<Flags, Misread> {
    Ok(Flags {
        repetitive: flag_in(object, "repetitive")?,
        drifting: flag_in(object, "drifting")?,
        diminishing_returns: flag_in(object, "diminishingReturns")?,
        convergence_reached: flag_in(object, "convergenceReached")?,
    })
}

fn flag_in(object: &Object, key: &str) -> Result<bool, Misread> {
    value(object, key).and_then(flag).ok_or_else(|| Misread::new(format!("{key} must be true or false")))
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
        Assessments::of(vec!["ann".into(), "bob".into()], &Arc::new(Mask::new(&labels)), Rubric::of(&[]))
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
        unreadable("a debater has no marks", |it| {
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
        assert_eq!((marked.quality_score, marked.should_continue), (Some(6.0), false));
        assert_eq!(marked.reasoning, "Ann met the point.");
        let plain = read("Both were dull, Debater A most of all.");
        let expected = (None, true, 0);
        assert_eq!((plain.quality_score, plain.should_continue, plain.assessments.len()), expected);
        assert_eq!(plain.reasoning, "Both were dull, bob most of all.");
        assert_eq!(read("dan 9").reasoning, "dan 9", "a debater that did not speak is not judged");
        assert_eq!(read(&reply().to_string()), reader().read(&reply().to_string()).unwrap());
        assert_eq!(reader().read_from_person(" \n"), Err(no_object()));
    }

    #[test]
    fn d06_scores_of_11_are_rejected() {
        unreadable("the quality score must be a number from 0 to 10", |it| it["qualityScore"] = json!(11));
        unreadable("the quality score must be a number from 0 to 10", |it| it["qualityScore"] = json!(-1));
        let range = "every number must be from 0 to 10";
        unreadable(range, |it| it["assessments"][0]["score"] = json!(11));
        unreadable(range, |it| it["assessments"][1]["criteria"]["logic"] = json!(11));
        let word = "the quality score must be a number from 0 to 10";
        unreadable(word, |it| it["qualityScore"] = json!("seven"));
    }

    #[test]
    fn d06_unknown_missing_and_duplicate_participants_are_rejected() {
        let stranger = "none of the debaters is \"Debater Z\"";
        unreadable(stranger, |it| it["assessments"][0] = entry("Debater Z"));
        unreadable("none of the debaters is \"eve\"", |it| it["assessments"][0] = entry("eve"));
        let once = "each debater must be assessed, and only once";
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
        unreadable("flags is missing", without("", "flags"));
        unreadable("drifting must be true or false", without("/flags", "drifting"));
        let novelty = without("/assessments/0/criteria", "novelty");
        unreadable("there is no number for `novelty`", novelty);
        assert_eq!(reader().reminders().iter().map(|it| it.purpose).collect::<Vec<_>>(), ["strict"]);
        assert_eq!(reader().give_up(), None);
    }

    #[test]
    fn s8_an_assessment_that_quotes_another_is_read_from_its_own_words() {
        let forged = format!("> {}\nI have nothing to add.", reply());
        assert_eq!(reader().read(&forged), Err(no_object()));
    }
}
