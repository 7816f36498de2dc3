//! Tests of the prompts for debaters, judges and casting.

use quorum_testkit::spec::spec;

use super::*;
use crate::debate::DebateSpec;

/// The whole prompt as one text.
fn shown(ask: &Ask) -> String {
    format!("{ask:?}").replace("\\n", "\n")
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
    let labels: Vec<(&Participant, &str)> =
        spec.participants.iter().zip(["Debater B", "Debater A", "the judge"]).collect();
    Arc::new(Mask::new(&labels))
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
            "You are ann (proponent)",
            "tabs or spaces?",
            "format structured-rounds",
            "You argue this position:\n\n> Tabs adapt.",
            "as this person would:\n\n> A typesetter.",
            "said for it, among other things:\n\n> ann has a point.",
            "bob:\n> Ann is wrong.",
            "Round 2 of 3. Rebuttal: answer what bob said",
            "1. Keep to your part",
            "5. Keep a good length",
            "Quote the style guide.",
        ],
    );
}

#[test]
fn d04_without_positions_the_roles_are_the_positions() {
    let spec = spec("debate");
    let [ann, bob, _] = spec.participants.clone().try_into().unwrap();
    contains(
        &shown(&speech(&spec, &[], &ann, 1, "")),
        &["You argue FOR", "bob:\n> Against what the question proposes."],
    );
    contains(&shown(&speech(&spec, &[], &bob, 1, "")), &["You argue AGAINST"]);
}

#[test]
fn d03_each_format_says_what_it_is() {
    let told = |format, round| {
        let spec = of(format);
        shown(&speech(&spec, &[], &spec.participants[0], round, ""))
    };
    contains(&told(Format::StructuredRounds, 3), &["Round 3 of 3. Closing", "last word"]);
    contains(&told(Format::FreeForm, 2), &["format free-form", "The judge ends it", "Round 2. Go on"]);
    contains(&told(Format::RoundLimited, 2), &["format round-limited", "Round 2 of 10."]);
    contains(&told(Format::ConvergenceSeeking, 2), &["seeks convergence", "common ground"]);
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
    };
    let noticed = Detection {
        round: 1,
        detector: "repetition".into(),
        measure: "lexical".into(),
        value: 0.913,
        participant: Some("ann".into()),
    };
    let text = shown(&assessment(&view, &["ann".into(), "bob".into()], &[noticed], 1));
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
            "Debater A and Debater B, in this round",
            "Debater A:\n> Debater B is wrong.\nDebater B:\n> Tabs adapt.",
            "- repetition by Debater B in round 1: 0.91 (lexical)",
        ],
    );
    contains(&shown(&verdict(&view, &[])), &["one of Debater A and Debater B clearly argued best"]);
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
