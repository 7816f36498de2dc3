//! Tests of the prompts for debaters, judges and casting.

use quorum_core::model::mention::resolve;
use quorum_testkit::spec::spec;

use super::*;
use crate::{debate::DebateSpec, roles::NEUTRAL};

/// The whole prompt as one text.
fn shown(ask: &Ask) -> String {
    resolve(&format!("{}\n\n{}", ask.system(), ask.prompt()), str::to_owned)
}

/// The same as the judge is shown it.
fn masked(ask: &Ask, mask: &Mask) -> String {
    mask.shown(&format!("{}\n\n{}", ask.system(), ask.prompt()))
}

fn parts() -> Vec<Part> {
    let part = |name: &str, position: &str, persona: &str| Part {
        participant: name.into(),
        position: position.into(),
        persona: persona.into(),
        key_arguments: vec![format!("{name} has a point.")],
    };
    vec![part("ann", "Tabs adapt.", "A typesetter."), part("bob", "Ann is wrong.", "A sceptic.")]
}

fn of(format: Format) -> Spec {
    let order = DebateSpec { format, ..DebateSpec::default() };
    Spec { settings: order.settings(), rounds: 3, ..spec("debate") }
}

fn mask(spec: &Spec) -> Arc<Mask> {
    let [ann, bob, judge] = [0, 1, 2].map(|place| &spec.participants[place]);
    Arc::new(Mask::new(&[(bob, "@KX"), (ann, "@QV"), (judge, "@ZJ")]))
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn d04_a_debater_is_told_everything_it_needs() {
    let mut spec = of(Format::StructuredRounds);
    spec.participants[0].brief = Some("Quote the style guide.".into());
    let text = shown(&speech(&spec, &parts(), &spec.participants[0], 2, ""));
    contains(
        &text,
        &[
            "You are ann in a discussion with bob.",
            "This is a debate before a judge: openings, then rebuttals, then closings. Positions were assigned;",
            "believe is false. Grant what is right, and say why your position still stands.\n",
            "# The question\n\ntabs or spaces?\n",
            "# Your position\n\n> Tabs adapt.\n\nYour outlook:\n\n> A typesetter.\n",
            "\nThis can be said for it, among other things:\n\n> ann has a point.\n",
            "\nThe others argue:\n\nbob:\n> Ann is wrong.\n",
            "# Your own brief\n\nQuote the style guide.",
            "Round 2 of 3. Rebuttal. Take the strongest argument",
            "\nWrite 50 to 100 words in English.",
        ],
    );
}

#[test]
fn d04_without_positions_the_roles_are_the_positions() {
    let spec = spec("debate");
    let [ann, bob, _] = spec.participants.clone().try_into().unwrap();
    contains(
        &shown(&speech(&spec, &[], &ann, 1, "")),
        &[
            "# Your position\n\n> For what the question proposes, or the first choice it suggests.\n\nThe others argue:",
            "bob:\n> Against what the question proposes, or for another choice than the first.",
        ],
    );
    contains(
        &shown(&speech(&spec, &[], &bob, 1, "")),
        &["# Your position\n\n> Against what the question proposes, or for another choice than the first."],
    );
}

#[test]
fn d03_each_format_says_what_it_is() {
    let told = |format, round| {
        let spec = of(format);
        shown(&speech(&spec, &[], &spec.participants[0], round, ""))
    };
    contains(&told(Format::StructuredRounds, 3), &["Round 3 of 3. Closing", "last word"]);
    contains(&told(Format::FreeForm, 2), &["the judge ends it when nothing new comes.", "Round 2. Go on"]);
    contains(&told(Format::RoundLimited, 2), &["10 rounds, no fixed stages.", "Round 2 of 10."]);
    let converging = told(Format::ConvergenceSeeking, 2);
    contains(&converging, &["common ground", "write \"I concede\" and the argument that did it"]);
    assert!(!converging.contains("say why your position stands"), "{converging}");
}

#[test]
fn a_moderator_of_a_debate_takes_no_side() {
    let mut spec = of(Format::StructuredRounds);
    spec.participants.push(Participant::of("dan").playing(MODERATOR));
    let text = shown(&speech(&spec, &parts(), &spec.participants[3], 2, ""));
    contains(
        &text,
        &[
            "You chair it and take no side.",
            "# The debaters and their positions\n\nann:\n> Tabs adapt.\nbob:\n> Ann is wrong.\n\n\
             Round 2 of 3. You take no side. Name the claim that is disputed but unsupported",
            "\nWrite at most 100 words in English.",
        ],
    );
    assert!(!text.contains("# Your position") && !text.contains("Rebuttal"), "{text}");
}

#[test]
fn a_neutral_debater_is_told_to_take_no_side() {
    for (format, _) in Format::ALL {
        let mut spec = of(*format);
        let neutral = Participant { name: "dan".to_owned(), ..Participant::of("dan").playing(NEUTRAL) };
        let chair = Participant { name: "eve".to_owned(), ..Participant::of("eve").playing(MODERATOR) };
        spec.participants.extend([neutral.clone(), chair]);
        for round in 1..=3 {
            let text = shown(&speech(&spec, &parts(), &neutral, round, ""));
            let task =
                if round == 1 { " Opening. Say what the question turns on" } else { " Weigh what was said" };
            contains(
                &text,
                &[
                    " You take no side: weigh both.\n",
                    "# The debaters and their positions\n\nann:\n> Tabs adapt.\nbob:\n> Ann is wrong.\n\n\
                     Without a side: eve.\n",
                    task,
                    "\nWrite 50 to 100 words in English.",
                ],
            );
            // The standing rules are the same for everyone.
            let text = text.replace(include_str!("frame_rules.md").trim_end(), "");
            for wrong in ["your side", "your case", "against you", "our position", "No side;"] {
                assert!(!text.contains(wrong), "{wrong:?} in:\n{text}");
            }
        }
        let debater = shown(&speech(&spec, &parts(), &spec.participants[0], 1, ""));
        contains(
            &debater,
            &["\nThe others argue:\n\nbob:\n> Ann is wrong.\n\nWithout a side: dan and eve.\n"],
        );
    }
}

#[test]
fn a_short_debate_announced_stages_that_never_come() {
    let told = |rounds: u32, round: u32| {
        let spec = Spec { rounds, ..of(Format::StructuredRounds) };
        shown(&speech(&spec, &parts(), &spec.participants[0], round, ""))
    };
    contains(
        &told(1, 1),
        &[
            "before a judge: one speech each. Positions",
            "Round 1 of 1. Opening.",
            "you expect most. This is also your last word.\n",
        ],
    );
    contains(&told(2, 1), &["before a judge: openings, then closings. Positions", "you expect most.\n"]);
    contains(&told(2, 2), &["before a judge: openings, then closings. Positions", "Round 2 of 2. Closing."]);
    contains(&told(3, 1), &["openings, then rebuttals, then closings.", "you expect most.\n"]);
}

#[test]
fn a_speaker_has_one_system_text_for_the_whole_debate() {
    let spec = of(Format::StructuredRounds);
    let texts = (1..=3).map(|round| {
        let hints = if round == 1 { "" } else { "Address the costs." };
        speech(&spec, &parts(), &spec.participants[0], round, hints).system().to_owned()
    });
    let texts: Vec<String> = texts.collect();
    assert!(texts.iter().all(|it| *it == texts[0]), "{texts:#?}");
}

#[test]
fn d06_the_judge_is_given_the_rubric_the_form_and_what_was_measured() {
    let spec = spec("debate");
    let (mask, parts) = (mask(&spec), parts());
    let view = JudgeView {
        spec: &spec,
        parts: &parts,
        judge: &spec.participants[2],
        mask: &mask,
        rubric: &Rubric::of(&[]),
        heard: "In round 1 nobody could answer anyone.",
    };
    let noticed = Detection {
        round: 1,
        detector: "repetition".into(),
        measure: "lexical".into(),
        value: 0.913,
        participant: Some("ann".into()),
    };
    let text = masked(&assessment(&view, &["ann".into(), "bob".into()], &[noticed], 1), &mask);
    contains(
        &text,
        &[
            "JSON",
            "shouldContinue",
            "qualityScore",
            "assessments",
            "flags",
            "- `logic` (20 %). 2: contradicts itself, or the conclusion does not follow. 5: follows, with gaps. 8: each step",
            "- `novelty` (15 %). 2: repeats. 5: one new point. 8: new arguments or evidence that move the debate.",
            "- `relevance` (10 %). 2: mostly beside the question. 5: partly. 8: all of it bears on the question.",
            "their order means nothing.\n",
            "\n\nIn round 1 nobody could answer anyone.",
            "Judge @KX and @QV in this round",
            "@KX:\n> @QV is wrong.\n@QV:\n> Tabs adapt.",
            "- repetition by @QV in round 1: 0.91 (lexical)",
        ],
    );
    contains(&masked(&verdict(&view, &[]), &mask), &["one of @KX and @QV clearly argued best"]);
}

#[test]
fn d05_casting_is_told_the_spread_and_the_table() {
    let spec = spec("debate");
    for (spread, told) in [
        (Diversity::Binary, "two opposing sides"),
        (Diversity::Spectrum, "whole range"),
        (Diversity::MultiPerspective, "different angles"),
    ] {
        contains(
            &shown(&casting(&spec, spread)),
            &[told, "ann (proponent) and bob (opponent)", "tabs or spaces?", "keyArguments", "reasoning"],
        );
    }
}

#[test]
fn d11_each_part_has_its_temperature() {
    let temperature = |ask: &Ask| {
        let text = format!("{ask:?}");
        let rest = text.split("temperature: Some(").nth(1).unwrap();
        rest.split(')').next().unwrap().parse::<f64>().unwrap()
    };
    for (ordered, expected) in [(0.0, 0.7), (0.8, 0.8), (2.0, 0.9)] {
        let mut spec = spec("debate");
        spec.manner.temperature = ordered;
        assert_eq!(temperature(&speech(&spec, &[], &spec.participants[0], 1, "")), expected);
        let mask = mask(&spec);
        let view = JudgeView {
            spec: &spec,
            parts: &[],
            judge: &spec.participants[2],
            mask: &mask,
            rubric: &Rubric::of(&[]),
            heard: "",
        };
        assert!(
            temperature(&assessment(&view, &[], &[], 1)) <= 0.3 && temperature(&verdict(&view, &[])) <= 0.3
        );
        assert!((0.8..=1.0).contains(&temperature(&casting(&spec, Diversity::Binary))));
    }
}

#[test]
fn every_prompt_is_complete() {
    let spec = spec("debate");
    let mask = mask(&spec);
    let view = JudgeView {
        spec: &spec,
        parts: &[],
        judge: &spec.participants[2],
        mask: &mask,
        rubric: &Rubric::of(&[]),
        heard: "",
    };
    let asks = [
        speech(&spec, &parts(), &spec.participants[1], 2, ""),
        assessment(&view, &["ann".into()], &[], 1),
        verdict(&view, &[]),
        casting(&spec, Diversity::Spectrum),
    ];
    for ask in asks.iter().map(shown) {
        assert!(!ask.contains("{{") && !ask.contains("}}"), "a place was left open in {ask}");
        assert!(ask.contains("tabs or spaces?"), "the question is missing in {ask}");
    }
}
