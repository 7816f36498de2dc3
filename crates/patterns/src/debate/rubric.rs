//! The rubric of a judge: its criteria with their weights and anchors (D06).

use std::collections::BTreeSet;

use quorum_core::model::flips::rounded;
use serde_json::{Map, Value, json};

use crate::{
    debate::Criteria,
    readers::json::{Object, folded, number, value},
};

/// The range of every mark.
pub(crate) const TEN: std::ops::RangeInclusive<f64> = 0.0..=10.0;

/// The criteria by which debaters are marked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rubric(Vec<Criterion>);

/// One criterion.
#[derive(Debug, Clone, PartialEq)]
struct Criterion {
    name: String,
    /// Its share of the score, in per cent.
    weight: f64,
    /// What earns 2, 5 and 8 of 10.
    anchors: [&'static str; 3],
    /// The same in few words, for a small model.
    short: [&'static str; 3],
}

/// The criteria of requirement D06.
const USUAL: [(&str, f64, [&str; 3], [&str; 3]); 6] = [
    (
        "logic",
        20.0,
        [
            "contradicts itself, or the conclusion does not follow",
            "follows, with gaps",
            "each step follows, limits are stated",
        ],
        ["contradicts itself", "has gaps", "each step follows"],
    ),
    (
        "evidence",
        20.0,
        [
            "bare claims",
            "some claims have examples or data",
            "every claim that matters has evidence that can be checked",
        ],
        ["bare claims", "some examples", "can be checked"],
    ),
    (
        "engagement",
        20.0,
        ["speaks past the others", "answers easy points", "answers their best points as they were meant"],
        ["speaks past others", "answers easy points", "answers the best points"],
    ),
    (
        "novelty",
        15.0,
        ["repeats", "one new point", "new arguments or evidence that move the debate"],
        ["repeats", "one new point", "moves the debate"],
    ),
    (
        "clarity",
        15.0,
        ["hard to follow", "clear with effort", "clear at first reading"],
        ["hard to follow", "takes effort", "clear at once"],
    ),
    (
        "relevance",
        10.0,
        ["mostly beside the question", "partly", "all of it bears on the question"],
        ["beside the question", "partly on it", "all on it"],
    ),
];

/// The anchors of a criterion that the user named.
const PLAIN: [&str; 3] = ["poor", "adequate", "strong"];

impl Rubric {
    /// The six usual criteria, or else those that the user named, with equal weights.
    pub(crate) fn of(own: &[String]) -> Self {
        if own.is_empty() {
            let usual = USUAL.iter().map(|(name, weight, anchors, short)| Criterion {
                name: (*name).to_owned(),
                weight: *weight,
                anchors: *anchors,
                short: *short,
            });
            return Rubric(usual.collect());
        }
        let weight = 100.0 / own.len() as f64;
        // A line break would end the criterion's line in the prompt.
        let plain = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let criterion = |it| Criterion { name: plain(it), weight, anchors: PLAIN, short: PLAIN };
        Rubric(own.iter().map(criterion).collect())
    }

    /// A criterion that a reader could not tell from another: they differ at most in case, spaces
    /// and hyphens.
    pub(crate) fn ambiguous(&self) -> Option<&str> {
        let mut seen = BTreeSet::new();
        self.0.iter().map(|it| it.name.as_str()).find(|name| !seen.insert(folded(name)))
    }

    /// The criteria, one per line, as a judge is told them.
    pub(crate) fn told(&self) -> String {
        let lines = self.0.iter().map(|Criterion { name, weight, anchors: [poor, fair, good], .. }| {
            let name = without_backticks(name);
            format!("- `{name}` ({weight:.0} %). 2: {poor}. 5: {fair}. 8: {good}.")
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The criteria as a small model that judges is told them.
    pub(crate) fn told_in_short(&self) -> String {
        let line = |it: &Criterion| {
            let [poor, fair, good] = it.short;
            format!("- {} ({:.0} %). 2: {poor}. 5: {fair}. 8: {good}.", it.plain_name(), it.weight)
        };
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The criteria as lines to be filled in, `logic: 0 to 10`.
    pub(crate) fn as_lines(&self) -> String {
        let line = |it: &Criterion| format!("`{}: 0 to 10`", it.plain_name());
        self.0.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The criterion that this line marks, and its mark: `logic: 5`.
    pub(crate) fn marked_in<'l>(&self, line: &'l str) -> Option<(&str, &'l str)> {
        let (name, mark) = line.rsplit_once([':', '=', '：'])?;
        let named = self.0.iter().find(|it| folded(&it.plain_name()) == folded(name))?;
        Some((&named.name, mark.trim()))
    }

    /// The schema of the marks of one debater.
    pub(crate) fn schema(&self) -> Value {
        let mark = |it: &Criterion| {
            let [poor, fair, good] = it.anchors;
            let description = format!("2: {poor}. 5: {fair}. 8: {good}");
            (
                it.name.clone(),
                json!({ "type": "number", "minimum": 0, "maximum": 10, "description": description }),
            )
        };
        let properties: Map<String, Value> = self.0.iter().map(mark).collect();
        let required: Vec<&str> = self.0.iter().map(|it| it.name.as_str()).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }

    /// The marks for all criteria, or what is wrong with them.
    pub(crate) fn read(&self, written: &Object) -> Result<Criteria, String> {
        let mark = |it: &Criterion| {
            let missing = || format!("there is no number for `{}`", it.name);
            let mark = value(written, &it.name).and_then(|it| number(it, 10.0)).ok_or_else(missing)?;
            let out_of_range = || "every number must be from 0 to 10".to_owned();
            TEN.contains(&mark).then(|| (it.name.clone(), mark)).ok_or_else(out_of_range)
        };
        self.0.iter().map(mark).collect::<Result<_, _>>().map(Criteria)
    }

    /// The weighted sum of these marks, 0 to 10.
    pub(crate) fn score(&self, marks: &Criteria) -> f64 {
        let weighted = self.0.iter().filter_map(|it| Some(it.weight * marks.get(&it.name)?));
        rounded(weighted.sum::<f64>() / 100.0)
    }
}

impl Criterion {
    fn plain_name(&self) -> String {
        without_backticks(&self.name)
    }
}

/// A user's criterion may hold backticks; they would end the name.
fn without_backticks(name: &str) -> String {
    name.replace('`', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(all: &[(&str, f64)]) -> Criteria {
        Criteria(all.iter().map(|(name, mark)| ((*name).to_owned(), *mark)).collect())
    }

    #[test]
    fn d06_the_score_is_our_weighted_sum_of_six_criteria() {
        let rubric = Rubric::of(&[]);
        assert_eq!(rubric.0.iter().map(|it| it.weight).sum::<f64>(), 100.0);
        let mixed = marks(&[
            ("logic", 8.0),
            ("evidence", 6.0),
            ("engagement", 7.0),
            ("novelty", 4.0),
            ("clarity", 9.0),
            ("relevance", 10.0),
        ]);
        assert_eq!(rubric.score(&mixed), 7.15);
    }

    #[test]
    fn d06_criteria_of_ones_own_replace_the_rubric_and_weigh_the_same() {
        let rubric = Rubric::of(&["Cost, honestly stated".to_owned(), " Risk\n".to_owned()]);
        assert_eq!(
            rubric.told(),
            "- `Cost, honestly stated` (50 %). 2: poor. 5: adequate. 8: strong.\n\
             - `Risk` (50 %). 2: poor. 5: adequate. 8: strong."
        );
        let written = json!({"cost, honestly stated": "8/10", "RISK": 5});
        let read = rubric.read(written.as_object().unwrap());
        let expected = marks(&[("Cost, honestly stated", 8.0), ("Risk", 5.0)]);
        assert_eq!(read, Ok(expected.clone()));
        assert_eq!(rubric.score(&expected), 6.5);
        let unmarked = rubric.read(json!({"risk": 5}).as_object().unwrap());
        assert_eq!(unmarked, Err("there is no number for `Cost, honestly stated`".to_owned()));
    }
}
