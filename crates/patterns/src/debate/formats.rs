//! The debate's formats (D03): how many rounds there are, what each is for, when it is over, and what may be ordered.

use std::collections::BTreeSet;

use quorum_core::model::{
    debate::{EndedBy, Format, Judging, Mode, Part, TalkEnd},
    error::{Code, Refusal},
    spec::Spec,
};

use crate::{DETECTORS, detect::Course, prompts::listed};

/// Rounds at most where a format needs a limit and none was given.
const LIMIT: u32 = 10;

/// The highest limit there may be.
const HIGHEST_LIMIT: u32 = 1_000;

/// A position or persona is a sentence or two, not an essay.
const LONGEST_PART: usize = 1_000;

/// A debater finds further arguments itself.
const MOST_ARGUMENTS: usize = 10;

/// What a round is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Positions and main arguments.
    Opening,
    /// Answers to the others.
    Rebuttal,
    /// The last word.
    Closing,
    /// Whatever comes next.
    Next,
}

/// How many rounds there are at most.
pub(crate) fn limit(spec: &Spec) -> u32 {
    match spec.debate.format {
        Format::StructuredRounds => spec.rounds,
        Format::FreeForm | Format::RoundLimited | Format::ConvergenceSeeking => {
            spec.debate.round_limit.unwrap_or(LIMIT)
        }
    }
}

/// What this round is for. Only a structured debate closes, and it does so whenever there is a round to close with.
pub(crate) fn stage(spec: &Spec, round: u32) -> Stage {
    match spec.debate.format {
        _ if round == 1 => Stage::Opening,
        Format::StructuredRounds if round == limit(spec) => Stage::Closing,
        Format::StructuredRounds => Stage::Rebuttal,
        Format::FreeForm | Format::RoundLimited | Format::ConvergenceSeeking => Stage::Next,
    }
}

/// Whether all speak at once in this round.
pub(crate) fn at_once(spec: &Spec, round: u32) -> bool {
    let opening = spec.debate.format == Format::StructuredRounds && round == 1;
    opening || spec.debate.mode == Mode::Simultaneous
}

/// Why it is over after this round, if it is and not for want of rounds.
pub(crate) fn end(spec: &Spec, course: &Course, round: u32) -> Option<TalkEnd> {
    let assessment = course.assessment(round);
    let flagged = assessment.and_then(|it| match spec.debate.format {
        Format::FreeForm => (!it.should_continue).then_some(EndedBy::Judge),
        Format::ConvergenceSeeking if it.flags.convergence_reached => Some(EndedBy::Convergence),
        Format::ConvergenceSeeking if it.flags.diminishing_returns => Some(EndedBy::DiminishingReturns),
        Format::ConvergenceSeeking | Format::StructuredRounds | Format::RoundLimited => None,
    });
    let judged = flagged.map(|why| TalkEnd { round, why, detector: None });
    judged.or_else(|| {
        let detector = course.ended_by(&spec.debate.end_on, round)?;
        Some(TalkEnd { round, why: EndedBy::Detector, detector: Some(detector.name.to_owned()) })
    })
}

/// Everything wrong with how the debate was ordered.
pub(crate) fn check(spec: &Spec) -> Vec<Refusal> {
    [limits(spec), judging(spec), detectors(spec), positions(spec)].concat()
}

fn refuse(field: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(field, Code::InvalidRequest, message)
}

fn limits(spec: &Spec) -> Vec<Refusal> {
    let format = spec.debate.format.name();
    let message = match (spec.debate.format, spec.debate.round_limit) {
        (Format::StructuredRounds, Some(_)) => {
            format!("a {format} debate has as many rounds as `rounds` says; leave the round limit out")
        }
        (Format::RoundLimited, None) => {
            format!("a {format} debate needs a round limit: say how many rounds, 1 to {HIGHEST_LIMIT}")
        }
        (_, Some(limit)) if !(1..=HIGHEST_LIMIT).contains(&limit) => {
            format!("a round limit is between 1 and {HIGHEST_LIMIT}, not {limit}")
        }
        (_, Some(_) | None) => return Vec::new(),
    };
    vec![refuse("roundLimit", message)]
}

fn judging(spec: &Spec) -> Vec<Refusal> {
    let debate = &spec.debate;
    match (debate.format, debate.judging) {
        (Format::FreeForm | Format::ConvergenceSeeking, Judging::VerdictOnly) => {
            let format = debate.format.name();
            let message = format!(
                "a {format} debate is ended by what the judge says of each round; let it judge every round"
            );
            vec![refuse("judging", message)]
        }
        (_, Judging::EveryRound | Judging::VerdictOnly) => Vec::new(),
    }
}

fn detectors(spec: &Spec) -> Vec<Refusal> {
    let known: Vec<&str> = DETECTORS.iter().map(|it| it.name).collect();
    let unknown = spec.debate.end_on.iter().filter(|name| !known.contains(&name.as_str()));
    unknown
        .map(|name| refuse("endOn", format!("there is no detector `{name}`; there are {}", listed(&known))))
        .collect()
}

/// Positions are for every debater and nobody else, and no two are the same.
fn positions(spec: &Spec) -> Vec<Refusal> {
    let given = &spec.debate.positions;
    if given.is_empty() {
        return Vec::new();
    }
    let debaters: Vec<String> = spec.debaters().into_iter().map(|it| it.name).collect();
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
            messages.push(format!("`{who}` is no debater here; the debaters are {}", listed(&debaters)));
        }
        if !named.insert(who) {
            messages.push(format!("`{who}` has two positions; give one to each"));
        }
        if part.position.trim().is_empty() {
            messages.push(format!("the position of `{who}` is empty; say what is to be argued"));
        } else if !held.insert(part.position.trim().to_lowercase()) {
            messages.push(format!("the position of `{who}` is another's as well; give each its own"));
        }
        messages.extend(too_much(part));
    }
    if spec.debate.casting.is_some() {
        messages
            .push("positions are given, so there is nothing to cast; leave one of the two out".to_owned());
    }
    messages.into_iter().map(|it| refuse("positions", it)).collect()
}

/// What nobody could read to the end is no part.
fn too_much(part: &Part) -> Vec<String> {
    let who = &part.participant;
    let texts = [&part.position, &part.persona].into_iter().chain(&part.key_arguments);
    let longest = texts.map(|it| it.chars().count()).max().unwrap_or_default();
    let arguments = part.key_arguments.len();
    let mut messages = Vec::new();
    if LONGEST_PART < longest {
        messages
            .push(format!("the part of `{who}` is {longest} characters long; {LONGEST_PART} are the most"));
    }
    if MOST_ARGUMENTS < arguments {
        messages.push(format!("`{who}` has {arguments} arguments; {MOST_ARGUMENTS} are the most"));
    }
    messages
}

#[cfg(test)]
mod tests {
    use quorum_core::model::debate::{DebateSpec, Diversity};
    use quorum_testkit::spec::spec;

    use super::*;

    fn order(debate: DebateSpec) -> Spec {
        Spec { debate, ..spec("debate") }
    }

    fn of(format: Format, round_limit: Option<u32>) -> Spec {
        order(DebateSpec { format, round_limit, ..DebateSpec::default() })
    }

    #[track_caller]
    fn refuses(spec: &Spec, expected: &[&str]) {
        let refusals: Vec<String> = check(spec).iter().map(ToString::to_string).collect();
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
            let message = format!("roundLimit: a round limit is between 1 and 1000, not {wrong}");
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
    fn d03_a_structured_debate_really_closes() {
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
    fn d03_only_openings_of_a_structured_debate_are_always_at_once() {
        let of = |format, mode| order(DebateSpec { format, mode, ..DebateSpec::default() });
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
            &order(debate),
            &[
                "roundLimit: a round limit is between 1 and 1000, not 0",
                "judging: a free-form debate is ended by what the judge says of each round; let it judge every round",
                "endOn: there is no detector `boredom`; there are repetition, diminishing-returns and drift",
                "positions: there are 2 debaters and 3 positions; give one to each",
                "positions: the position of `ann` is empty; say what is to be argued",
                "positions: `ann` has two positions; give one to each",
                "positions: `cyd` is no debater here; the debaters are ann and bob",
                "positions: the position of `cyd` is another's as well; give each its own",
                "positions: positions are given, so there is nothing to cast; leave one of the two out",
            ],
        );
    }

    #[test]
    fn d02_a_position_is_no_essay() {
        let part =
            |name: &str, position: String| Part { participant: name.into(), position, ..Part::default() };
        let refuse = |parts: [Part; 2], expected: &str| {
            let debate = DebateSpec { positions: parts.to_vec(), ..DebateSpec::default() };
            refuses(&order(debate), &[expected]);
        };
        let short = || Part { persona: "é".repeat(1_000), ..part("bob", "No.".into()) };
        let too_long = "positions: the part of `ann` is 1001 characters long; 1000 are the most";
        refuse([part("ann", "x".repeat(1_001)), short()], too_long);
        let argued = Part { key_arguments: vec!["x".repeat(1_001)], ..part("ann", "Yes.".into()) };
        refuse([argued, short()], too_long);
        let many = Part { key_arguments: vec!["so".into(); 11], ..part("ann", "Yes.".into()) };
        refuse([many, short()], "positions: `ann` has 11 arguments; 10 are the most");
    }
}
