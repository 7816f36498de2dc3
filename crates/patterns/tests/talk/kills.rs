//! Kills a discussion after every single write, for every pattern and method, including newly
//! registered ones.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        settings::Settings,
        spec::{Manner, Recursion, Spec, TimeoutStrategy, Timing, WindowSpec},
    },
    seams::Store,
    vocabulary::option::Named,
};
use quorum_patterns::{
    CONSENSUS, PATTERNS,
    debate::{DebateSpec, Diversity, Format, JudgeFailure, Mode},
    registry,
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::{deciding_by, spec},
};

use crate::{results::ordered, table};

async fn survives(panel: &Panel, spec: Spec) -> u64 {
    resume_anywhere(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>, panel, registry(), spec).await
}

/// Voters that no method finds in agreement, so that every round takes place.
fn undecided() -> Panel {
    panel().votes("ann", "tabs", 0.9).votes("bob", "spaces", 0.9).writes("cyd", "ballot", "Hm.")
}

fn recursive(spec: Spec) -> Spec {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Cascade });
    let timing = Timing { total_ms: 180_000, ..spec.timing };
    Spec { recursion, timing, ..spec }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_every_method_survives_every_crash() {
    let mut all = 0;
    for pattern in PATTERNS {
        for method in CONSENSUS {
            let panel = if pattern.votes { undecided() } else { panel() };
            let deaths = survives(&panel, deciding_by(spec(pattern.name), method.name)).await;
            assert!(deaths >= 7, "{} by {} died {deaths} times only", pattern.name, method.name);
            all += deaths;
        }
    }
    // The expected number of crash points, so that a lost one is noticed.
    assert!(all >= 358, "together they died {all} times only");
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_a_sub_discussion_survives_every_crash() {
    let convening = panel().convenes("ann", "and at what price?");
    for pattern in PATTERNS {
        survives(&convening, recursive(spec(pattern.name))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_a_failing_member_survives_every_crash() {
    let failing = panel().fails("bob", ErrorClass::Authentication).fails_first("cyd", ErrorClass::Network, 1);
    for pattern in PATTERNS {
        survives(&failing, spec(pattern.name)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f1_early_exit_survives_every_crash() {
    let panel = panel().votes("*", "tabs", 0.95).says("*", "Sure.\n\nConfidence: 0.95").takes("cyd", 900);
    for pattern in ["voting", "synthesis"] {
        survives(&panel, Spec { early_exit: Some(0.9), ..spec(pattern) }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_answers_that_were_all_thinking_survives_every_crash() {
    let room = |pattern: &str| spec(pattern).manner.max_tokens;
    for pattern in PATTERNS {
        // Bob needs more room for everything he is asked, and cyd never comes to an end.
        let undecided = if pattern.votes { undecided() } else { panel() };
        let thoughtful = undecided.thinks("bob", 4_096, room(pattern.name) + 5_000);
        survives(&thoughtful, spec(pattern.name)).await;
        survives(&thoughtful.thinks("cyd", 4_096, u32::MAX), spec(pattern.name)).await;
    }
}

/// Debates of every format and mode.
fn debates() -> impl Iterator<Item = DebateSpec> {
    Format::ALL.iter().flat_map(|&(format, _)| {
        Mode::ALL.iter().map(move |&(mode, _)| {
            let round_limit = (format != Format::StructuredRounds).then_some(3);
            DebateSpec { format, mode, round_limit, ..DebateSpec::default() }
        })
    })
}

#[tokio::test(start_paused = true)]
async fn d03_every_format_and_mode_survives_every_crash() {
    let ending = crate::formats::says(false, &["convergenceReached"]);
    let panel =
        panel().writes_in("cyd", 2, "assessment", &ending).says("*", "The same words each and every time.");
    for debate in debates() {
        let least = if debate.format == Format::RoundLimited { 12 } else { 9 };
        let deaths = survives(&panel, ordered(&debate)).await;
        assert!(deaths >= least, "{debate:?} died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn d06_swap_checks_castings_and_detectors_survive_every_crash() {
    for debate in debates() {
        let casting = Some(Diversity::Spectrum);
        let end_on = vec!["repetition".to_owned(), "drift".to_owned()];
        let debate = DebateSpec { swap_check: true, casting, end_on, ..debate };
        survives(&panel(), ordered(&debate)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_failing_or_unreadable_judge_survives_every_crash() {
    let mumbling = panel().writes("cyd", "assessment", "Hm.").writes("cyd", "casting", "Hm.");
    let failing = panel().fails("cyd", ErrorClass::Authentication);
    for (judge_failure, _) in JudgeFailure::ALL.iter().copied() {
        for panel in [&mumbling, &failing] {
            let debate =
                DebateSpec { judge_failure, casting: Some(Diversity::Binary), ..DebateSpec::default() };
            survives(panel, ordered(&debate)).await;
        }
    }
}

/// A talk that soon exceeds everyone's context window.
fn cramped(pattern: &str, strategy: &str) -> (Panel, Spec) {
    let speech = "the case for it is strong and ".repeat(600 / 7);
    let panel = if ["voting", "settle"].contains(&pattern) { undecided() } else { panel() };
    let panel = panel.window("*", 8_000).says("*", &speech).sums_up("*");
    // No participant agrees, so that every dialogue runs through all its rounds.
    let disagrees = "[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n80\n[REASONING]\nnot yet";
    let panel = panel.writes("*", "consensus-check", disagrees);
    let window = WindowSpec { strategy: strategy.to_owned(), ..spec(pattern).window };
    let summaries = |settings: Settings| settings.with("windowSummaries", true);
    let settings = Settings::default();
    let settings = if strategy == "hybrid" { summaries(settings) } else { settings };
    let spec = spec(pattern);
    // Room for the whole speech.
    let manner = Manner { max_tokens: 1_024, ..spec.manner };
    (panel, Spec { rounds: 4, window, settings, manner, ..spec })
}

#[tokio::test(start_paused = true)]
async fn d09_every_pattern_with_summaries_survives_every_crash_and_none_is_asked_twice() {
    let mut all = 0;
    for strategy in ["summarise", "hybrid"] {
        for pattern in PATTERNS {
            let (panel, order) = cramped(pattern.name, strategy);
            let table = table(&panel.anew());
            let (outcome, _) = table.hold(order.clone()).await;
            let asked: Vec<String> =
                table.panel.steps().into_iter().filter(|it| it.starts_with("summary/")).collect();
            // A vote has no speeches.
            assert_eq!(asked.is_empty(), pattern.votes, "{} by {strategy}: {asked:?}", pattern.name);
            assert_eq!(asked.len(), asked.iter().collect::<BTreeSet<_>>().len(), "{asked:?}");
            assert_eq!(outcome.integrity.summaries as usize, asked.len(), "{} by {strategy}", pattern.name);
            let deaths = survives(&panel, order).await;
            // An outcome that nobody can change any more takes few calls.
            let least = if pattern.name == "settle" { 4 } else { 14 };
            assert!(deaths >= least, "{} by {strategy} died {deaths} times only", pattern.name);
            all += deaths;
        }
    }
    assert!(all >= 250, "together they died {all} times only");
}
