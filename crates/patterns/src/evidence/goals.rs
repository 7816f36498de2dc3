//! The goals that known outcomes must reach in the reference worlds.

use std::collections::BTreeMap;

use super::{
    KnownQuestion,
    calibration::{Calibration, Correction},
    independence::effective_voices,
    odds::{posterior, weight},
    score::{Stated, calibration_error},
    worlds::{
        CORRELATIONS, Drawn, MANNERS, Manner, OPTIONS, PANELS, Question, VOICES, World, bayes, known,
        success, sums, voices,
    },
};

/// The weights of the options by what was learned.
fn learned(question: &Question, calibration: &Calibration) -> [f64; OPTIONS] {
    sums(question, |voice, it| weight(calibration.chance(VOICES[voice], it.confidence), OPTIONS))
}

/// Accuracy by learned weights, by heads, and of Bayes' rule: several panels learn from this many
/// outcomes each, and are then asked other questions.
fn accuracies(world: &mut World, outcomes: usize, panels: usize, questions: usize) -> [f64; 3] {
    let mut right = [0.0; 3];
    for _ in 0..panels {
        let calibration = Calibration::learned(&world.known(outcomes)).unwrap();
        for _ in 0..questions {
            let question = world.question();
            right[0] += success(&learned(&question, &calibration));
            right[1] += success(&sums(&question, |_, _| 1.0));
            right[2] += bayes(&question);
        }
    }
    right.map(|it| 100.0 * it / (panels * questions) as f64)
}

#[test]
fn e2_a_hundred_outcomes_reach_bayes_within_a_point_and_beat_the_majority_that_misleads() {
    for manner in MANNERS {
        let [learned, heads, bayes] = accuracies(&mut World::new(PANELS[0], 0.0, manner, 7), 100, 40, 1_000);
        println!("{:14} learned {learned:.1} majority {heads:.1} bayes {bayes:.1}", manner.name);
        // Confidences that are all high and rounded leave out most of what the voices know: there,
        // Bayes' rule can know no more than what was stated.
        let bound = if manner.name == "always high" { stated_bound(manner) } else { bayes };
        assert!(bound - learned <= 1.0, "{}: {learned} of {bound}", manner.name);
        if manner.name == "misleading" {
            assert!(learned >= heads + 2.0, "{learned} against {heads}");
        }
    }
}

/// The accuracy of Bayes' rule that knows how often each voice is right at each stated confidence.
fn stated_bound(manner: Manner) -> f64 {
    let mut world = World::new(PANELS[0], 0.0, manner, 8);
    let class = |voice: usize, it: &Drawn| (voice, (100.0 * it.confidence).round() as u32);
    let mut known: BTreeMap<(usize, u32), (f64, f64)> = BTreeMap::new();
    for _ in 0..40_000 {
        for (voice, draws) in world.question().iter().enumerate() {
            let found = known.entry(class(voice, &draws[0])).or_default();
            *found = (found.0 + f64::from(u8::from(draws[0].option == 0)), found.1 + 1.0);
        }
    }
    let chance = |voice: usize, it: &Drawn| known.get(&class(voice, it)).map_or(0.5, |it| it.0 / it.1);
    let right: f64 = (0..20_000)
        .map(|_| success(&sums(&world.question(), |voice, it| weight(chance(voice, it), OPTIONS))))
        .sum();
    println!("{:14} the best that can be had from what is stated: {:.1}", manner.name, right / 200.0);
    right / 200.0
}

#[test]
fn e5_the_number_of_independent_voices_is_known_within_six_tenths_at_a_hundred_outcomes() {
    for correlation in CORRELATIONS {
        let mut world = World::new(PANELS[0], correlation, MANNERS[1], 11);
        let truth = effective_voices(&world.known(40_000), &voices()).unwrap().effective;
        let trials = 300;
        let (mut near, mut inside) = (0, 0);
        for _ in 0..trials {
            let found = effective_voices(&world.known(100), &voices()).unwrap();
            near += usize::from((found.effective - truth).abs() <= 0.6);
            inside += usize::from((found.interval.0..=found.interval.1).contains(&truth));
        }
        println!(
            "rho {correlation}: {truth:.2}, within 0.6 in {near}, in its interval in {inside} of {trials}"
        );
        assert!(near >= trials * 9 / 10, "{correlation}: {near} of {trials}");
        assert!(inside >= trials * 8 / 10, "{correlation}: {inside} of {trials}");
    }
}

/// The calibration error of the result's probability, after learning from this many outcomes.
fn error_of_result(world: &mut World, outcomes: usize, questions: usize) -> f64 {
    let past: Vec<Question> = (0..outcomes).map(|_| world.question()).collect();
    let known: Vec<KnownQuestion> = past.iter().map(known).collect();
    let calibration = Calibration::learned(&known).unwrap();
    let factor = effective_voices(&known, &voices()).unwrap().effective / 4.0;
    let stated = |question: &Question| {
        let sums = learned(question, &calibration).map(|it| it * factor);
        let best = (0..OPTIONS).max_by(|a, b| sums[*a].total_cmp(&sums[*b])).unwrap();
        Stated::new(posterior(&sums)[best], best == 0)
    };
    let correction = Correction::learned(&past.iter().map(stated).collect::<Vec<_>>());
    let corrected = |it: Stated| Stated { chance: correction.of(it.chance), ..it };
    let stated: Vec<Stated> = (0..questions).map(|_| corrected(stated(&world.question()))).collect();
    calibration_error(&stated).unwrap()
}

#[test]
fn e12_the_probability_of_the_result_is_calibrated_at_three_hundred_outcomes() {
    let panels = 2;
    let mut errors = Vec::new();
    for (panel, correlation) in PANELS.into_iter().flat_map(|it| CORRELATIONS.map(|rho| (it, rho))) {
        for manner in MANNERS {
            let mut world = World::new(panel, correlation, manner, 13);
            let sum: f64 = (0..panels).map(|_| error_of_result(&mut world, 300, 5_000)).sum();
            let error = sum / f64::from(panels);
            println!("{panel:?} rho {correlation} {:14} ECE {error:.3}", manner.name);
            errors.push(error);
        }
    }
    // Where no confidence says anything and weak voices err together, the surer result is not
    // always the better one, and no curve over one number can mend that.
    let above: Vec<&f64> = errors.iter().filter(|it| **it > 0.05).collect();
    assert!(above.len() <= 2 && errors.iter().all(|it| *it <= 0.07), "{above:?}");
}
