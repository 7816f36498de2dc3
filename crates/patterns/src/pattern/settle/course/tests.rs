//! Who is asked next, and the goals of settling by blind answers in the reference worlds.

use quorum_core::model::known_voices::{Independence, KnownVoices, ResultCorrection};
use quorum_testkit::spec::spec;

use super::*;
use crate::evidence::{
    calibration::Calibration,
    independence::effective_voices,
    worlds::{CORRELATIONS, Drawn, Lots, MANNERS, OPTIONS, PANELS, Question, VOICES, World, success, voices},
};

/// A question with four options for ann, bob, cyd and dan.
fn panel(known: Option<KnownVoices>) -> Spec {
    let seat = |name: &str| Participant { name: name.to_owned(), ..Participant::of("scripted") };
    let options = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    Spec { participants: VOICES.map(seat).to_vec(), options, known_voices: known, ..spec("settle") }
}

/// What follows these votes, given by the first voices in order.
#[track_caller]
fn check(spec: &Spec, votes: &[(usize, f64)], expected: &str) {
    let cast = votes.iter().zip(VOICES).map(|((option, sure), voice)| (voice, *option, *sure));
    let asked: Vec<String> = VOICES.iter().take(votes.len()).map(|it| (*it).to_owned()).collect();
    let next = Course::of(spec, cast).next(&spec.participants[votes.len()..], &asked);
    let told = match next {
        Next::Ask(count) => format!("ask {count}"),
        Next::Stop(None) => "all asked".to_owned(),
        Next::Stop(Some(stop)) => stop.told,
    };
    assert_eq!(told, expected, "{votes:?}");
}

#[test]
fn two_are_asked_at_first_and_then_one_by_one_while_the_outcome_can_change() {
    let spec = panel(None);
    check(&spec, &[], "ask 2");
    check(&spec, &[(0, 0.9), (0, 0.9)], "ask 1");
    check(&spec, &[(0, 0.9), (1, 0.9)], "ask 1");
    check(&spec, &[(0, 0.9), (0, 0.9), (0, 0.9)], "3 ahead, 1 left: dan not asked");
    check(&spec, &[(0, 0.9), (0, 0.9), (1, 0.9)], "ask 1");
    check(&spec, &[(0, 0.9), (0, 0.9), (1, 0.9), (1, 0.9)], "all asked");
    let strict = Spec {
        tolerance: quorum_core::model::spec::Tolerance { min_providers: 4, ..spec.tolerance },
        ..spec
    };
    check(&strict, &[], "ask 4");
}

#[test]
fn learned_weights_stop_when_the_answer_is_probable_enough() {
    let offsets =
        VOICES.iter().zip([3.0, 1.0, 0.5, 0.5]).map(|(voice, it)| ((*voice).to_owned(), it)).collect();
    let known = KnownVoices {
        outcomes: 40,
        slope: 1.0,
        offsets,
        correction: ResultCorrection::default(),
        independence: None,
    };
    let spec = panel(Some(known.clone()));
    check(&spec, &[(0, 0.9), (0, 0.9)], "100 % sure; 9.99 ahead, at most 11.39 left: cyd and dan not asked");
    check(&spec, &[(0, 0.2), (1, 0.9)], "ask 1");
    let few = panel(Some(KnownVoices { outcomes: 29, ..known }));
    check(&few, &[(0, 0.9), (0, 0.9)], "ask 1");
}

/// One question settled: whether it was right, and in how many calls. Ties that are left are split.
fn settled(spec: &Spec, question: &Question) -> (f64, usize) {
    let vote = |(place, draw): &(usize, usize)| {
        let Drawn { option, confidence, .. } = question[*place][*draw];
        (VOICES[*place], option, confidence)
    };
    let order = order(spec);
    let mut asked: Vec<(usize, usize)> = Vec::new();
    for draw in 0..2 {
        let mut names: Vec<String> = Vec::new();
        loop {
            let left: Vec<Participant> =
                order[names.len()..].iter().map(|it| spec.participants[*it].clone()).collect();
            match Course::of(spec, asked.iter().map(vote)).next(&left, &names) {
                Next::Ask(count) => {
                    for place in &order[names.len()..names.len() + count] {
                        asked.push((*place, draw));
                    }
                    names.extend(left[..count].iter().map(|it| it.name.clone()));
                }
                Next::Stop(_) => break,
            }
        }
        if !Course::of(spec, asked.iter().map(vote)).is_open() {
            break;
        }
    }
    let course = Course::of(spec, asked.iter().map(vote));
    let mut weights = course.weights.clone();
    if matches!(course.weighing, Weighing::HeadsThenStated) && course.lead().leader.is_none() {
        // Stated confidence breaks a tie.
        let most = weights.iter().copied().fold(0.0, f64::max);
        let mut stated = vec![0.0; OPTIONS];
        asked.iter().map(vote).for_each(|(_, option, sure)| stated[option] += sure);
        weights =
            weights.iter().zip(&stated).map(|(it, sure)| if *it < most { 0.0 } else { *sure }).collect();
    }
    (success(&weights), asked.len())
}

/// The places of the voices in the order in which they are asked.
fn order(spec: &Spec) -> Vec<usize> {
    let weighing = Weighing::of(spec);
    let mut order: Vec<usize> = (0..VOICES.len()).collect();
    if let Weighing::Learned(_) = weighing {
        order.sort_by(|a, b| weighing.most(spec, VOICES[*b]).total_cmp(&weighing.most(spec, VOICES[*a])));
    }
    order
}

/// What `outcomes` outcomes of this world say about its voices.
fn learned(world: &mut World, outcomes: usize) -> Option<KnownVoices> {
    let questions = world.known(outcomes);
    let calibration = Calibration::learned(&questions)?;
    let found = effective_voices(&questions, &voices());
    Some(KnownVoices {
        outcomes: outcomes as u32,
        slope: calibration.slope,
        offsets: calibration.offsets,
        correction: ResultCorrection::default(),
        independence: found.map(|it| Independence {
            voices: 4,
            effective: it.effective,
            low: it.interval.0,
            high: it.interval.1,
            outcomes: it.outcomes as u32,
        }),
    })
}

/// How often the majority of each voice's first answer is right, and that of both.
fn majorities(question: &Question) -> [f64; 2] {
    let mut sums = [0.0; OPTIONS];
    [0, 1].map(|draw| {
        question.iter().for_each(|draws| sums[draws[draw].option] += 1.0);
        success(&sums)
    })
}

/// How much settling was ahead of a majority at the same cost, in points, and its calls. On the
/// same questions, so that luck counts for both.
fn compared(world: &mut World, outcomes: usize, panels: usize, questions: usize) -> (f64, f64) {
    let (mut right, mut calls, mut heads) = (0.0, 0, [0.0; 2]);
    for _ in 0..panels {
        let spec = panel(if outcomes == 0 { None } else { learned(world, outcomes) });
        for _ in 0..questions {
            let question = world.question();
            let (settled, asked) = settled(&spec, &question);
            let majorities = majorities(&question);
            (right, calls) = (right + settled, calls + asked);
            heads = [heads[0] + majorities[0], heads[1] + majorities[1]];
        }
    }
    let all = (panels * questions) as f64;
    let (calls, [four, eight]) = (calls as f64 / all, heads);
    let majority = four + (eight - four) * ((calls - 4.0) / 4.0).clamp(0.0, 1.0);
    (100.0 * (right - majority) / all, calls)
}

/// The worst and the mean lead over all reference worlds, and the mean calls.
fn in_all_worlds(outcomes: usize, panels: usize, questions: usize) -> (f64, f64, f64) {
    let worlds = PANELS.into_iter().flat_map(|it| CORRELATIONS.map(|rho| (it, rho)));
    let worlds = worlds.flat_map(|(panel, rho)| MANNERS.map(|manner| (panel, rho, manner)));
    let found: Vec<(f64, f64)> = worlds
        .map(|(panel, rho, manner)| {
            let (ahead, calls) =
                compared(&mut World::new(panel, rho, manner, 31), outcomes, panels, questions);
            println!("{outcomes:3} {panel:?} {rho} {:14} {ahead:+.2} in {calls:.2} calls", manner.name);
            (ahead, calls)
        })
        .collect();
    let worst = found.iter().map(|it| it.0).fold(f64::MAX, f64::min);
    let mean = found.iter().map(|it| it.0).sum::<f64>() / found.len() as f64;
    let calls = found.iter().map(|it| it.1).sum::<f64>() / found.len() as f64;
    println!("{outcomes} outcomes: worst {worst:+.2}, mean {mean:+.2}, {calls:.2} calls");
    (worst, mean, calls)
}

/// Settling is ahead of a majority at equal cost in every reference world (the bar is -0.3 points).
fn is_ahead(outcomes: usize, panels: usize, questions: usize) {
    let (worst, _, calls) = in_all_worlds(outcomes, panels, questions);
    assert!(worst >= -0.3, "{worst}");
    assert!(calls <= 4.7, "{calls}");
}

#[test]
fn e3_settling_never_loses_to_a_majority_at_equal_cost_without_outcomes() {
    is_ahead(0, 1, 8_000);
}

#[test]
fn e3_settling_never_loses_to_a_majority_at_equal_cost_with_outcomes() {
    is_ahead(30, 6, 500);
    is_ahead(100, 6, 500);
}

#[test]
fn e4_the_safe_stop_has_the_winner_of_asking_all() {
    let spec = panel(None);
    let mut lots = Lots(5);
    let mut calls = 0;
    let ballots = 100_000;
    for _ in 0..ballots {
        // Random ballots of voices that are right more often than not.
        let votes: Vec<(&str, usize, f64)> = VOICES
            .iter()
            .map(|voice| {
                let option = if lots.share() < 0.68 { 0 } else { lots.below(OPTIONS) };
                (*voice, option, lots.share())
            })
            .collect();
        let mut asked = 0;
        loop {
            let names: Vec<String> = VOICES[..asked].iter().map(|it| (*it).to_owned()).collect();
            let course = Course::of(&spec, votes[..asked].iter().copied());
            match course.next(&spec.participants[asked..], &names) {
                Next::Ask(count) => asked += count,
                Next::Stop(_) => break,
            }
        }
        calls += asked;
        let of = |count: usize| Course::of(&spec, votes[..count].iter().copied()).lead().leader;
        assert_eq!(of(asked), of(4), "{votes:?}");
    }
    let mean = f64::from(calls as u32) / f64::from(ballots);
    println!("{mean:.2} calls");
    assert!(mean <= 3.7, "{mean}");
}
