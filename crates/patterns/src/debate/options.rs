//! The options of a debate (D03): its format, who speaks when, and how it is judged. They are
//! declared here, once.

use quorum_core::{
    choices,
    model::{settings::Settings, spec::Spec},
    registry::Options,
    vocabulary::option::{Named, Opt, Picked, RowCell, RowCellKind, Rows},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::debate::Part;

/// The maximum round limit.
pub(crate) const HIGHEST_LIMIT: u32 = 1_000;

/// The maximum number of debaters.
pub(crate) const MOST_DEBATERS: usize = 4;

/// The most criteria that a user may give a judge.
const MOST_CRITERIA: usize = 10;

/// The longest criterion, in characters.
const LONGEST_CRITERION: usize = 100;

/// The format of the debate.
pub(crate) const FORMAT: Opt<Picked<Format>> =
    Opt::choice("debateFormat", "How the debate proceeds and when it ends");

/// Whether debaters speak in turn or at once.
pub(crate) const MODE: Opt<Picked<Mode>> = Opt::choice("mode", "Whether debaters speak in turn or at once");

/// The round limit of formats other than structured-rounds.
pub(crate) const ROUND_LIMIT: Opt<Option<u32>> = Opt::whole_or_none(
    "roundLimit",
    "The maximum number of rounds for formats other than structured-rounds; by default 10",
    1..=HIGHEST_LIMIT as u64,
)
.of_rounds();

/// The participant that judges.
pub(crate) const JUDGE: Opt<Option<String>> = Opt::seat_in_role(
    "judge",
    "The participant that judges; by default the strongest after the writer; if only two take part, one of \
     them gets a second seat as judge",
    "judge",
);

/// The participants that judge together.
pub(crate) const JUDGES: Opt<Vec<String>> = Opt::seats_in_role(
    "judges",
    "Several participants that judge together; the median of their marks counts",
    "judge",
);

/// How often the judge assesses the debate.
pub(crate) const JUDGING: Opt<Picked<Judging>> = Opt::choice("judging", "When the judge is asked");

/// What happens when the judge fails (D13).
pub(crate) const JUDGE_FAILURE: Opt<Picked<JudgeFailure>> =
    Opt::choice("judgeFailure", "What happens when the judge fails");

/// Whether every judgement is made in both orders.
pub(crate) const SWAP_CHECK: Opt<bool> =
    Opt::flag("swapCheck", "Judge everything in both orders, and count only what both agree on", false);

/// The judge's own criteria, in place of the usual six.
pub(crate) const EVALUATION_CRITERIA: Opt<Vec<String>> = Opt::texts(
    "evaluationCriteria",
    "What debaters are marked by, in place of the usual six criteria",
    MOST_CRITERIA,
    LONGEST_CRITERION,
);

/// The debaters' parts.
pub(crate) const POSITIONS: Opt<Rows<Part>> = Opt::rows(
    "positions",
    "What each debater argues, and in which persona",
    &[
        RowCell { name: "participant", kind: RowCellKind::Seat, required: true },
        RowCell { name: "position", kind: RowCellKind::Text, required: true },
        RowCell { name: "persona", kind: RowCellKind::Text, required: false },
        RowCell { name: "keyArguments", kind: RowCellKind::Texts, required: false },
    ],
    6,
);

/// How the positions that a model assigns are spread (D05).
pub(crate) const CASTING: Opt<Option<Picked<Diversity>>> = Opt::choice_or_none(
    "casting",
    "How a model spreads the positions that it assigns if none are given; by default binary",
);

/// Whether no model assigns positions.
pub(crate) const NO_CASTING: Opt<bool> =
    Opt::flag("noCasting", "Assign no positions: the sides argue for and against the question", false);

/// The detectors that may end the debate.
pub(crate) const END_ON: Opt<Vec<String>> = Opt::detectors("endOn", "Detectors that may end the debate");

/// The embedding model that measures similarity of meaning.
pub(crate) const EMBEDDINGS: Opt<Option<String>> = Opt::embedder(
    "embeddings",
    "The embedding model that measures repetition by meaning; by default words are compared",
);

/// All options of a debate.
pub(crate) const OPTIONS: Options = &[
    &FORMAT,
    &MODE,
    &ROUND_LIMIT,
    &JUDGE,
    &JUDGES,
    &JUDGING,
    &JUDGE_FAILURE,
    &SWAP_CHECK,
    &EVALUATION_CRITERIA,
    &POSITIONS,
    &CASTING,
    &NO_CASTING,
    &END_ON,
    &EMBEDDINGS,
];

/// The options of a debate as typed values. The default is a structured debate with a judge that
/// assesses every round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebateSpec {
    /// The format.
    pub format: Format,
    /// Whether debaters speak in turn or in parallel.
    pub mode: Mode,
    /// The maximum number of rounds, 1 to 1,000. A structured debate uses the spec's rounds
    /// instead.
    pub round_limit: Option<u32>,
    /// When the judge is asked.
    pub judging: Judging,
    /// What happens when the judge fails (D13).
    pub judge_failure: JudgeFailure,
    /// Whether every judgement is made in both orders, and counts only if both agree.
    pub swap_check: bool,
    /// The judge's criteria, in place of the usual six.
    pub evaluation_criteria: Vec<String>,
    /// The names of the detectors that may end the debate.
    pub end_on: Vec<String>,
    /// The embedding model that measures similarity of meaning, as `provider/model`.
    pub embeddings: Option<String>,
    /// The debaters' parts, if the user gave them.
    pub positions: Vec<Part>,
    /// How positions are spread if a model assigns them (D05), if not as usual.
    pub casting: Option<Diversity>,
    /// Whether no model assigns positions.
    pub no_casting: bool,
}

impl DebateSpec {
    /// The options of this debate.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        DebateSpec {
            format: spec.option(&FORMAT).0,
            mode: spec.option(&MODE).0,
            round_limit: spec.option(&ROUND_LIMIT),
            judging: spec.option(&JUDGING).0,
            judge_failure: spec.option(&JUDGE_FAILURE).0,
            swap_check: spec.option(&SWAP_CHECK),
            evaluation_criteria: spec.option(&EVALUATION_CRITERIA),
            end_on: spec.option(&END_ON),
            embeddings: spec.option(&EMBEDDINGS),
            positions: spec.option(&POSITIONS).0,
            casting: spec.option(&CASTING).map(|it| it.0),
            no_casting: spec.option(&NO_CASTING),
        }
    }

    /// How a model spreads the positions it assigns; `None` if none does, because the user gave
    /// them or wants none.
    #[must_use]
    pub fn spread(&self) -> Option<Diversity> {
        let assigns = self.positions.is_empty() && !self.no_casting;
        assigns.then(|| self.casting.unwrap_or(Diversity::Binary))
    }

    /// The settings with these options; defaults are left out.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let usual = DebateSpec::default();
        let given = [
            (FORMAT.name(), (self.format != usual.format).then(|| json!(self.format.name()))),
            (MODE.name(), (self.mode != usual.mode).then(|| json!(self.mode.name()))),
            (ROUND_LIMIT.name(), self.round_limit.map(Value::from)),
            (JUDGING.name(), (self.judging != usual.judging).then(|| json!(self.judging.name()))),
            (
                JUDGE_FAILURE.name(),
                (self.judge_failure != usual.judge_failure).then(|| json!(self.judge_failure.name())),
            ),
            (SWAP_CHECK.name(), self.swap_check.then_some(Value::Bool(true))),
            (
                EVALUATION_CRITERIA.name(),
                (!self.evaluation_criteria.is_empty()).then(|| json!(self.evaluation_criteria)),
            ),
            (END_ON.name(), (!self.end_on.is_empty()).then(|| json!(self.end_on))),
            (EMBEDDINGS.name(), self.embeddings.as_ref().map(|it| json!(it))),
            (POSITIONS.name(), (!self.positions.is_empty()).then(|| json!(self.positions))),
            (CASTING.name(), self.casting.map(|it| json!(it.name()))),
            (NO_CASTING.name(), self.no_casting.then_some(Value::Bool(true))),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.fold(Settings::default(), |settings, (name, value)| settings.with(name, value))
    }
}

choices! {
    /// How a debate proceeds and when it ends.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Format {
        #[default]
        StructuredRounds = "structured-rounds": "openings, rebuttals, closings",
        FreeForm = "free-form": "without fixed stages, until the judge ends it",
        RoundLimited = "round-limited": "a fixed number of rounds",
        ConvergenceSeeking = "convergence-seeking": "until the debaters converge or further rounds add little",
    }
}

choices! {
    /// Whether debaters speak in turn or in parallel.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Mode {
        #[default]
        Sequential = "sequential": "in turn; only the openings of a structured debate are parallel",
        Simultaneous = "simultaneous": "in parallel; a round's speeches are shown after it",
    }
}

choices! {
    /// When the judge is asked.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum Judging {
        #[default]
        EveryRound = "every-round": "after every round, and at the end",
        VerdictOnly = "verdict-only": "only at the end",
    }
}

choices! {
    /// What happens when the judge fails (D13).
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum JudgeFailure {
        #[default]
        Swap = "swap": "the next candidate judges",
        GoWithout = "go-without": "the debate continues without a judge",
        End = "end": "the debate is concluded",
        Ask = "ask": "the debate waits until people choose one of these",
    }
}

choices! {
    /// How positions are spread among the debaters (D05).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Diversity {
        Binary = "binary": "for and against",
        Spectrum = "spectrum": "from one end of the range of opinions to the other",
        MultiPerspective = "multi-perspective": "different angles that need not be opposed",
    }
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[test]
    fn names_are_the_ones_on_disk() {
        fn names<T: Named>() -> Vec<&'static str> {
            T::ALL.iter().map(|(it, _)| it.name()).collect()
        }
        let formats = ["structured-rounds", "free-form", "round-limited", "convergence-seeking"];
        assert_eq!(names::<Format>(), formats);
        assert_eq!(names::<Mode>(), ["sequential", "simultaneous"]);
        assert_eq!(names::<Judging>(), ["every-round", "verdict-only"]);
        assert_eq!(names::<Diversity>(), ["binary", "spectrum", "multi-perspective"]);
        let failures: Vec<Value> = JudgeFailure::ALL.iter().map(|(it, _)| json!(it)).collect();
        assert_eq!(names::<JudgeFailure>(), failures, "a change of judges is recorded with it");
        assert_eq!(names::<JudgeFailure>(), ["swap", "go-without", "end", "ask"]);
    }

    #[test]
    fn d03_a_debate_without_options_is_structured() {
        let order = DebateSpec::of(&spec("debate"));
        assert_eq!(order, DebateSpec::default());
        assert_eq!((order.format, order.mode), (Format::StructuredRounds, Mode::Sequential));
    }

    #[test]
    fn d05_positions_are_cast_unless_they_are_given_or_unwanted() {
        let part = Part { participant: "ann".into(), position: "Yes.".into(), ..Part::default() };
        let usual = DebateSpec::default();
        let check = |debate: &DebateSpec, expected| assert_eq!(debate.spread(), expected, "{debate:?}");
        check(&usual, Some(Diversity::Binary));
        let casting = Some(Diversity::Spectrum);
        check(&DebateSpec { casting, ..usual.clone() }, casting);
        check(&DebateSpec { no_casting: true, ..usual.clone() }, None);
        check(&DebateSpec { positions: vec![part], ..usual }, None);
    }

    #[test]
    fn a_spec_is_read_from_the_settings_it_writes() {
        let part = Part { participant: "ann".into(), position: "Yes.".into(), ..Part::default() };
        let order = DebateSpec {
            format: Format::FreeForm,
            mode: Mode::Simultaneous,
            round_limit: Some(7),
            judging: Judging::VerdictOnly,
            judge_failure: JudgeFailure::Ask,
            swap_check: true,
            evaluation_criteria: vec!["Risk".into()],
            end_on: vec!["drift".into()],
            embeddings: Some("openai/small".into()),
            positions: vec![part],
            casting: Some(Diversity::Spectrum),
            no_casting: true,
        };
        let spec = Spec { settings: order.settings(), ..spec("debate") };
        assert_eq!(DebateSpec::of(&spec), order);
    }
}
