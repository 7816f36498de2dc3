//! How a debate is ordered (D03): its format, who speaks when, how it is judged. The options are
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

/// The highest limit of rounds there may be.
pub(crate) const HIGHEST_LIMIT: u32 = 1_000;

/// How many may argue.
pub(crate) const MOST_DEBATERS: usize = 4;

/// How it goes and when it ends.
pub(crate) const FORMAT: Opt<Picked<Format>> = Opt::choice("debateFormat", "How it goes and when it ends");

/// Whether debaters speak in turn or at once.
pub(crate) const MODE: Opt<Picked<Mode>> = Opt::choice("mode", "Whether debaters speak in turn or at once");

/// Rounds at most where the format is not structured.
pub(crate) const ROUND_LIMIT: Opt<Option<u32>> = Opt::whole_or_none(
    "roundLimit",
    "Rounds at most where the format is not structured-rounds; 10 unless given",
    1..=HIGHEST_LIMIT as u64,
)
.of_rounds();

/// Who judges.
pub(crate) const JUDGE: Opt<Option<String>> = Opt::seat_in_role(
    "judge",
    "The participant that judges; the third, or a second seat of the first, unless given",
    "judge",
);

/// How often the judge is heard.
pub(crate) const JUDGING: Opt<Picked<Judging>> = Opt::choice("judging", "How often the judge is heard");

/// What happens when the judge fails (D13).
pub(crate) const JUDGE_FAILURE: Opt<Picked<JudgeFailure>> =
    Opt::choice("judgeFailure", "What happens when the judge fails");

/// Whether every judgement is made in both orders.
pub(crate) const SWAP_CHECK: Opt<bool> =
    Opt::flag("swapCheck", "Make every judgement in both orders, and count only what holds in both", false);

/// What each debater argues.
pub(crate) const POSITIONS: Opt<Rows<Part>> = Opt::rows(
    "positions",
    "What each debater argues, and as whom",
    &[
        RowCell { name: "participant", kind: RowCellKind::Seat, required: true },
        RowCell { name: "position", kind: RowCellKind::Text, required: true },
        RowCell { name: "persona", kind: RowCellKind::Text, required: false },
        RowCell { name: "keyArguments", kind: RowCellKind::Texts, required: false },
    ],
    6,
);

/// Whether a model gives out positions, and how they are spread (D05).
pub(crate) const CASTING: Opt<Option<Picked<Diversity>>> =
    Opt::choice_or_none("casting", "Let a model give out positions and personas, spread like this");

/// The detectors that may end it.
pub(crate) const END_ON: Opt<Vec<String>> = Opt::detectors("endOn", "What may end it once it is noticed");

/// The model that measures whether speeches mean the same.
pub(crate) const EMBEDDINGS: Opt<Option<String>> = Opt::embedder(
    "embeddings",
    "The embedding model that measures repetition by meaning; words are compared unless given",
);

/// Everything a debate reads.
pub(crate) const OPTIONS: Options = &[
    &FORMAT,
    &MODE,
    &ROUND_LIMIT,
    &JUDGE,
    &JUDGING,
    &JUDGE_FAILURE,
    &SWAP_CHECK,
    &POSITIONS,
    &CASTING,
    &END_ON,
    &EMBEDDINGS,
];

/// How a debate was ordered, as typed values. The default is a structured debate before a judge who
/// looks at every round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebateSpec {
    /// How it goes and when it ends.
    pub format: Format,
    /// Whether they speak in turn or at once.
    pub mode: Mode,
    /// Rounds at most, 1 to 1,000. A structured debate takes the spec's rounds instead.
    pub round_limit: Option<u32>,
    /// How often the judge is heard.
    pub judging: Judging,
    /// What happens when the judge fails (D13).
    pub judge_failure: JudgeFailure,
    /// Whether every judgement is made in both orders, and counts only where both say the same.
    pub swap_check: bool,
    /// The detectors that may end it, by name.
    pub end_on: Vec<String>,
    /// The embedding model that measures whether speeches mean the same, as `provider/model`.
    pub embeddings: Option<String>,
    /// What each debater argues, where the user says so.
    pub positions: Vec<Part>,
    /// Let a model give out positions and personas, spread like this (D05).
    pub casting: Option<Diversity>,
}

impl DebateSpec {
    /// How this debate was ordered.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        DebateSpec {
            format: spec.option(&FORMAT).0,
            mode: spec.option(&MODE).0,
            round_limit: spec.option(&ROUND_LIMIT),
            judging: spec.option(&JUDGING).0,
            judge_failure: spec.option(&JUDGE_FAILURE).0,
            swap_check: spec.option(&SWAP_CHECK),
            end_on: spec.option(&END_ON),
            embeddings: spec.option(&EMBEDDINGS),
            positions: spec.option(&POSITIONS).0,
            casting: spec.option(&CASTING).map(|it| it.0),
        }
    }

    /// The settings that order it; what is usual is left out.
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
            (END_ON.name(), (!self.end_on.is_empty()).then(|| json!(self.end_on))),
            (EMBEDDINGS.name(), self.embeddings.as_ref().map(|it| json!(it))),
            (POSITIONS.name(), (!self.positions.is_empty()).then(|| json!(self.positions))),
            (CASTING.name(), self.casting.map(|it| json!(it.name()))),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
        given.fold(Settings::default(), |settings, (name, value)| settings.with(name, value))
    }
}

/// How a debate goes and when it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// Openings, rebuttals, closings.
    #[default]
    StructuredRounds,
    /// As it comes, until the judge has heard enough.
    FreeForm,
    /// A number of rounds, no more and no fewer.
    RoundLimited,
    /// Until they meet, or nothing new comes.
    ConvergenceSeeking,
}

choices!(Format {
    StructuredRounds = "structured-rounds": "openings, rebuttals, closings",
    FreeForm = "free-form": "as it comes, until the judge has heard enough",
    RoundLimited = "round-limited": "exactly as many rounds as ordered",
    ConvergenceSeeking = "convergence-seeking": "until they meet, or nothing new comes",
});

/// Whether debaters speak in turn or at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// In turn, each having heard those before; only the openings of a structured debate are made at once.
    #[default]
    Sequential,
    /// At once; nobody hears the others before the round is over.
    Simultaneous,
}

choices!(Mode {
    Sequential = "sequential": "in turn; only the openings of a structured debate are made at once",
    Simultaneous = "simultaneous": "at once; nobody hears the others before the round is over",
});

/// How often the judge is heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Judging {
    /// After every round, and at the end.
    #[default]
    EveryRound,
    /// At the end alone.
    VerdictOnly,
}

choices!(Judging {
    EveryRound = "every-round": "after every round, and at the end",
    VerdictOnly = "verdict-only": "at the end alone",
});

/// What happens when the judge fails (D13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JudgeFailure {
    /// The next one able to judge takes the seat.
    Swap,
    /// The debate goes on without a judge.
    #[default]
    GoWithout,
    /// The debate is concluded.
    End,
    /// The debate waits until people say which of these it shall be.
    Ask,
}

choices!(JudgeFailure {
    GoWithout = "go-without": "the debate goes on without a judge",
    Swap = "swap": "the next one able to judge takes the seat",
    End = "end": "the debate is concluded",
    Ask = "ask": "the debate waits until people decide which of these it shall be",
});

/// How positions are spread over the debaters (D05).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diversity {
    /// For and against.
    Binary,
    /// From one end of opinion to the other.
    Spectrum,
    /// Different angles that need not be opposed.
    MultiPerspective,
}

choices!(Diversity {
    Binary = "binary": "for and against",
    Spectrum = "spectrum": "from one end of opinion to the other",
    MultiPerspective = "multi-perspective": "different angles that need not be opposed",
});

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
        assert_eq!(names::<JudgeFailure>(), ["go-without", "swap", "end", "ask"]);
    }

    #[test]
    fn d03_an_order_that_says_nothing_is_a_structured_debate() {
        let order = DebateSpec::of(&spec("debate"));
        assert_eq!(order, DebateSpec::default());
        assert_eq!((order.format, order.mode), (Format::StructuredRounds, Mode::Sequential));
    }

    #[test]
    fn an_order_is_read_from_the_settings_it_writes() {
        let part = Part { participant: "ann".into(), position: "Yes.".into(), ..Part::default() };
        let order = DebateSpec {
            format: Format::FreeForm,
            mode: Mode::Simultaneous,
            round_limit: Some(7),
            judging: Judging::VerdictOnly,
            judge_failure: JudgeFailure::Ask,
            swap_check: true,
            end_on: vec!["drift".into()],
            embeddings: Some("openai/small".into()),
            positions: vec![part],
            casting: Some(Diversity::Spectrum),
        };
        let spec = Spec { settings: order.settings(), ..spec("debate") };
        assert_eq!(DebateSpec::of(&spec), order);
    }
}
