//! The formats of a debate (D03): the number of rounds, the stage of each, when it ends, and which
//! specs are valid.

use std::collections::BTreeSet;

use quorum_core::{
    model::{
        error::{Code, Refusal},
        participant::Participant,
        settings::Settings,
        spec::Spec,
    },
    registry::Detector,
    vocabulary::{ending::Ending, option::Named},
};

use crate::{
    debate::{
        DebateSpec, Format, HIGHEST_LIMIT, Judging, Mode, course::DebateCourse, options::FORMAT,
        rubric::Rubric,
    },
    prompts::listed,
    roles,
};

/// The default round limit of formats that need one.
const LIMIT: u32 = 10;

/// The stage of a debate that a round belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Positions and main arguments.
    Opening,
    /// Answers to the others.
    Rebuttal,
    /// Closing statements.
    Closing,
    /// The next turn, without a particular stage.
    Next,
}

/// The maximum number of rounds.
pub(crate) fn limit(spec: &Spec) -> u32 {
    match order(spec).format {
        Format::StructuredRounds => spec.rounds,
        Format::FreeForm | Format::RoundLimited | Format::ConvergenceSeeking => {
            order(spec).round_limit.unwrap_or(LIMIT)
        }
    }
}

/// The stage of this round. Only a structured debate has closings, whenever it has a second round.
pub(crate) fn stage(spec: &Spec, round: u32) -> Stage {
    match order(spec).format {
        _ if round == 1 => Stage::Opening,
        Format::StructuredRounds if round == limit(spec) => Stage::Closing,
        Format::StructuredRounds => Stage::Rebuttal,
        Format::FreeForm | Format::RoundLimited | Format::ConvergenceSeeking => Stage::Next,
    }
}

/// Whether everyone speaks in parallel in this round.
pub(crate) fn at_once(spec: &Spec, round: u32) -> bool {
    let opening = order(spec).format == Format::StructuredRounds && round == 1;
    opening || order(spec).mode == Mode::Simultaneous
}

/// The speakers in the order of this round. Where they speak in turn, the first moves to the end
/// from round to round, so that nobody always has the last word.
pub(crate) fn in_turn(spec: &Spec, round: u32) -> Vec<Participant> {
    let mut speakers = spec.speakers();
    if at_once(spec, round) {
        return speakers;
    }
    let moved = round.saturating_sub(1) as usize % speakers.len().max(1);
    speakers.rotate_left(moved);
    speakers
}

/// Whether a debater may give its position up.
pub(crate) fn may_concede(spec: &Spec) -> bool {
    order(spec).format == Format::ConvergenceSeeking
}

fn order(spec: &Spec) -> DebateSpec {
    DebateSpec::of(spec)
}

/// The ways in which a debate may end before its last round.
pub(crate) const ENDS: &[Ending] = &[
    Ending::new(JUDGE, "The judge has heard enough"),
    Ending::new(CONVERGENCE, "The judge finds that the debaters have converged"),
    Ending::new(DIMINISHING_RETURNS, "The judge finds that further rounds add little"),
    Ending::new(DETECTOR, "A detector ended it"),
    Ending::new(JUDGE_LOST, "The judge failed, and the debate was set to end then"),
    Ending::new(SIDE_EMPTY, "One side has no debater left").stopping("model_unavailable"),
    Ending::new(CONCEDED, "One side has conceded"),
];

const JUDGE: &str = "judge";
const CONVERGENCE: &str = "convergence";
const DIMINISHING_RETURNS: &str = "diminishing-returns";
const DETECTOR: &str = "detector";
pub(crate) const JUDGE_LOST: &str = "judge-lost";
pub(crate) const SIDE_EMPTY: &str = "side-empty";
pub(crate) const CONCEDED: &str = "conceded";

/// Why the debate ends after this round, and the detector if one ended it.
pub(crate) fn end(
    spec: &Spec,
    course: &DebateCourse,
    detectors: &[&'static Detector],
    round: u32,
) -> Option<(&'static str, Option<String>)> {
    let order = order(spec);
    let flagged = course.assessment(round).and_then(|it| match order.format {
        Format::FreeForm => (!it.should_continue).then_some(JUDGE),
        Format::ConvergenceSeeking if it.flags.convergence_reached => Some(CONVERGENCE),
        Format::ConvergenceSeeking if it.flags.diminishing_returns => Some(DIMINISHING_RETURNS),
        Format::ConvergenceSeeking | Format::StructuredRounds | Format::RoundLimited => None,
    });
    let judged = flagged.map(|why| (why, None));
    judged.or_else(|| {
        let detector = course.ended_by(detectors, &order.end_on, round)?;
        Some((DETECTOR, Some(detector.name.to_owned())))
    })
}

/// Everything wrong with the options of a debate.
pub(crate) fn check(spec: &Spec) -> Vec<Refusal> {
    [limits(spec), judging(spec), criteria(spec), casting(spec), positions(spec)].concat()
}

fn refuse(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(field, Code::InvalidRequest, message)
}

fn limits(spec: &Spec) -> Vec<Refusal> {
    let format = order(spec).format.name();
    let message = match (order(spec).format, order(spec).round_limit) {
        (Format::StructuredRounds, Some(_)) => {
            format!("a {format} debate has as many rounds as `rounds` says; leave the round limit out")
        }
        (Format::RoundLimited, None) => {
            format!("a {format} debate needs a round limit: say how many rounds, 1 to {HIGHEST_LIMIT}")
        }
        (_, Some(_) | None) => return Vec::new(),
    };
    vec![refuse("roundLimit", message)]
}

/// Why these options take no number of rounds: only a structured debate has one.
pub(crate) fn refuses_rounds(settings: &Settings) -> Option<String> {
    let format = FORMAT.of(settings).0;
    let is_limited = format != Format::StructuredRounds;
    is_limited.then(|| {
        format!("a {} debate takes no number of rounds; give the round limit instead", format.name())
    })
}

fn judging(spec: &Spec) -> Vec<Refusal> {
    let debate = order(spec);
    match (debate.format, debate.judging) {
        (Format::FreeForm | Format::ConvergenceSeeking, Judging::VerdictOnly) => {
            let format = debate.format.name();
            let message = format!(
                "a {format} debate ends when the judge's assessments say so; let the judge assess every round"
            );
            vec![refuse("judging", message)]
        }
        (_, Judging::EveryRound | Judging::VerdictOnly) => Vec::new(),
    }
}

/// A judge's reply must tell the criteria apart.
fn criteria(spec: &Spec) -> Vec<Refusal> {
    let rubric = Rubric::of(&order(spec).evaluation_criteria);
    let twice = rubric.ambiguous().map(|name| {
        refuse(
            "evaluationCriteria",
            format!("`{name}` is too similar to another criterion; give each a distinct name"),
        )
    });
    twice.into_iter().collect()
}

/// It is a mistake to choose how positions are spread if none are assigned.
fn casting(spec: &Spec) -> Vec<Refusal> {
    let order = order(spec);
    let message = "contradicts casting; leave one of them out";
    (order.no_casting && order.casting.is_some()).then(|| refuse("noCasting", message)).into_iter().collect()
}

/// Positions must be given for every debater and nobody else, and must differ.
fn positions(spec: &Spec) -> Vec<Refusal> {
    let order = order(spec);
    let given = &order.positions;
    if given.is_empty() {
        return Vec::new();
    }
    let debaters: Vec<String> = roles::debaters(spec).into_iter().map(|it| it.name).collect();
    let mut messages = Vec::new();
    if given.len() != debaters.len() {
        messages.push(format!(
            "there are {} debaters and {} positions; give one to each",
            debaters.len(),
            given.len()
        ));
    }
    let (mut named, mut held) = (BTreeSet::new(), BTreeSet::new());
    for part in given {
        let who = &part.participant;
        if !debaters.contains(who) {
            messages.push(format!("`{who}` is not a debater; the debaters are {}", listed(&debaters)));
        }
        if !named.insert(who) {
            messages.push(format!("`{who}` has two positions; give one to each"));
        }
        if part.position.trim().is_empty() {
            messages.push(format!("the position of `{who}` is empty; say what is to be argued"));
        } else if !held.insert(part.position.trim().to_lowercase()) {
            messages.push(format!("the position of `{who}` is the same as another's; give each its own"));
        }
    }
    if order.casting.is_some() {
        messages
            .push("positions are given, so none can be assigned; leave out positions or casting".to_owned());
    }
    messages.into_iter().map(|it| refuse("positions", it)).collect()
}

#[cfg(test)]
mod tests {
    use crate::debate::{Diversity, Part};
    use quorum_testkit::spec::spec;
    use serde_json::json;

    use super::*;

    fn order(debate: &DebateSpec) -> Spec {
        Spec { settings: debate.settings(), ..spec("debate") }
    }

    fn of(format: Format, round_limit: Option<u32>) -> Spec {
        order(&DebateSpec { format, round_limit, ..DebateSpec::default() })
    }

    #[track_caller]
    fn refuses(spec: &Spec, expected: &[&str]) {
        let refusals = crate::registry().refusals(spec);
        let refusals: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        assert_eq!(refusals, expected);
    }

    #[test]
    fn d03_a_format_has_the_limit_it_needs() {
        for format in [Format::FreeForm, Format::ConvergenceSeeking] {
            assert_eq!((limit(&of(format, None)), limit(&of(format, Some(3)))), (10, 3));
            refuses(&of(format, None), &[]);
        }
        assert_eq!(limit(&of(Format::StructuredRounds, None)), 2);
        refuses(&of(Format::RoundLimited, Some(1)), &[]);
        refuses(&of(Format::RoundLimited, Some(1_000)), &[]);
        refuses(
            &of(Format::RoundLimited, None),
            &["roundLimit: a round-limited debate needs a round limit: say how many rounds, 1 to 1000"],
        );
        for wrong in [0, 1_001] {
            let message = format!("roundLimit: must be from 1 to 1000, not {wrong}");
            refuses(&of(Format::FreeForm, Some(wrong)), &[&message]);
        }
        refuses(
            &of(Format::StructuredRounds, Some(3)),
            &[
                "roundLimit: a structured-rounds debate has as many rounds as `rounds` says; leave the round limit out",
            ],
        );
    }

    #[test]
    fn d03_only_a_structured_debate_takes_a_number_of_rounds() {
        let refuses = |format| refuses_rounds(&of(format, None).settings);
        assert_eq!(refuses(Format::StructuredRounds), None);
        for format in [Format::FreeForm, Format::RoundLimited, Format::ConvergenceSeeking] {
            let name = format.name();
            let expected = format!("a {name} debate takes no number of rounds; give the round limit instead");
            assert_eq!(refuses(format), Some(expected));
        }
    }

    #[test]
    fn d03_a_structured_debate_has_a_closing_round() {
        use Stage::{Closing, Next, Opening, Rebuttal};
        let stages = |rounds: u32| -> Vec<Stage> {
            let spec = Spec { rounds, ..spec("debate") };
            (1..=rounds).map(|round| stage(&spec, round)).collect()
        };
        assert_eq!(stages(1), [Opening]);
        assert_eq!(stages(2), [Opening, Closing]);
        assert_eq!(stages(4), [Opening, Rebuttal, Rebuttal, Closing]);
        let free = of(Format::FreeForm, Some(3));
        assert_eq!([1, 2, 3].map(|round| stage(&free, round)), [Opening, Next, Next]);
    }

    #[test]
    fn d03_only_openings_of_a_structured_debate_are_always_parallel() {
        let of = |format, mode| order(&DebateSpec { format, mode, ..DebateSpec::default() });
        let rounds = |spec: &Spec| [1, 2].map(|round| at_once(spec, round));
        assert_eq!(rounds(&of(Format::StructuredRounds, Mode::Sequential)), [true, false]);
        assert_eq!(rounds(&of(Format::FreeForm, Mode::Sequential)), [false, false]);
        assert_eq!(rounds(&of(Format::RoundLimited, Mode::Simultaneous)), [true, true]);
    }

    #[test]
    fn d02_everything_wrong_comes_back_at_once() {
        let part = |name: &str, position: &str| Part {
            participant: name.into(),
            position: position.into(),
            ..Part::default()
        };
        let debate = DebateSpec {
            format: Format::FreeForm,
            round_limit: Some(0),
            judging: Judging::VerdictOnly,
            end_on: vec!["boredom".into(), "drift".into()],
            positions: vec![part("ann", " "), part("ann", "Yes."), part("cyd", "yes.")],
            casting: Some(Diversity::Binary),
            ..DebateSpec::default()
        };
        refuses(
            &order(&debate),
            &[
                "judging: a free-form debate ends when the judge's assessments say so; let the judge assess every round",
                "positions: there are 2 debaters and 3 positions; give one to each",
                "positions: the position of `ann` is empty; say what is to be argued",
                "positions: `ann` has two positions; give one to each",
                "positions: `cyd` is not a debater; the debaters are ann and bob",
                "positions: the position of `cyd` is the same as another's; give each its own",
                "positions: positions are given, so none can be assigned; leave out positions or casting",
                "endOn: there is no \"boredom\"; there are repetition, diminishing-returns, drift",
                "roundLimit: must be from 1 to 1000, not 0",
            ],
        );
    }

    #[test]
    fn d06_judges_and_their_criteria_are_checked() {
        let with = |name: &str, value: serde_json::Value| {
            let spec = spec("debate");
            Spec { settings: spec.settings.clone().with(name, value), ..spec }
        };
        refuses(&with("judges", json!(["cyd"])), &[]);
        refuses(&with("evaluationCriteria", json!(["Cost, honestly stated", "Risk"])), &[]);
        let many: Vec<String> = (0..11).map(|it| it.to_string()).collect();
        for (name, value, wrong) in [
            ("judges", json!("cyd"), "must be a list of participants' names, not \"cyd\""),
            ("judges", json!(["cyd", "cyd"]), "names \"cyd\" twice"),
            ("judges", json!(["zoe"]), "zoe does not take part; the participants are ann, bob, cyd"),
            ("evaluationCriteria", json!("Risk"), "must be a list of texts, not \"Risk\""),
            (
                "evaluationCriteria",
                json!(["Life cycle", "life-cycle"]),
                "`life-cycle` is too similar to another criterion; give each a distinct name",
            ),
            ("evaluationCriteria", json!([" "]), "has an empty entry"),
            ("evaluationCriteria", json!(many), "takes up to 10 entries; there are 11"),
            ("evaluationCriteria", json!(["x".repeat(101)]), "may have at most 100 characters; this has 101"),
        ] {
            refuses(&with(name, value), &[&format!("{name}: {wrong}")]);
        }
    }

    #[test]
    fn d02_a_position_has_a_maximum_length() {
        let part =
            |name: &str, position: String| Part { participant: name.into(), position, ..Part::default() };
        let refuse = |parts: [Part; 2], expected: &str| {
            let debate = DebateSpec { positions: parts.to_vec(), ..DebateSpec::default() };
            refuses(&order(&debate), &[expected]);
        };
        let short = || Part { persona: "é".repeat(1_000), ..part("bob", "No.".into()) };
        let too_long = "positions: has 1001 characters as position of ann; at most 1000 are allowed";
        refuse([part("ann", "x".repeat(1_001)), short()], too_long);
        let argued = Part { key_arguments: vec!["x".repeat(1_001)], ..part("ann", "Yes.".into()) };
        let too_long = "positions: has 1001 characters as keyArguments of ann; at most 1000 are allowed";
        refuse([argued, short()], too_long);
        let many = Part { key_arguments: vec!["so".into(); 11], ..part("ann", "Yes.".into()) };
        refuse([many, short()], "positions: has 11 entries as keyArguments of ann; at most 10 are allowed");
    }
}
