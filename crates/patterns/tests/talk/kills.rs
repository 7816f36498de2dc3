//! Killed after every single write, whatever the pattern and the method; a new one is in it as soon as it is registered.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        debate::{DebateSpec, Diversity, Format, JudgeFailure, Mode},
        error::ErrorClass,
        spec::{Recursion, Spec, TimeoutStrategy, Timing},
    },
    seams::Store,
};
use quorum_patterns::{CONSENSUS, PATTERNS};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    spec::{deciding_by, spec},
};

use crate::CRAFTS;

async fn survives(panel: &Panel, spec: Spec) -> u64 {
    resume_anywhere(|| Arc::new(MemoryStore::new()) as Arc<dyn Store>, panel, CRAFTS, spec).await
}

fn recursive(spec: Spec) -> Spec {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Cascade });
    let timing = Timing { total_ms: 180_000, ..spec.timing };
    Spec { recursion, timing, ..spec }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_every_method_survives_every_death() {
    for pattern in PATTERNS {
        for method in CONSENSUS {
            let deaths = survives(&panel(), deciding_by(spec(pattern.name), method.name)).await;
            assert!(deaths >= 8, "{} by {} died {deaths} times only", pattern.name, method.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_a_sub_discussion_survives_every_death() {
    let convening = panel().convenes("ann", "and at what price?");
    for pattern in PATTERNS {
        survives(&convening, recursive(spec(pattern.name))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f1_every_pattern_with_a_failing_member_survives_every_death() {
    let failing = panel().fails("bob", ErrorClass::Authentication).fails_first("cyd", ErrorClass::Network, 1);
    for pattern in PATTERNS {
        survives(&failing, spec(pattern.name)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn f1_early_exit_survives_every_death() {
    let panel = panel().votes("*", "tabs", 0.95).says("*", "Sure.\n\nConfidence: 0.95").takes("cyd", 900);
    for pattern in ["voting", "synthesis"] {
        survives(&panel, Spec { early_exit: Some(0.9), ..spec(pattern) }).await;
    }
}

/// Debates of every format and mode.
fn debates() -> impl Iterator<Item = DebateSpec> {
    Format::ALL.into_iter().flat_map(|format| {
        Mode::ALL.map(|mode| {
            let round_limit = (format != Format::StructuredRounds).then_some(3);
            DebateSpec { format, mode, round_limit, ..DebateSpec::default() }
        })
    })
}

#[tokio::test(start_paused = true)]
async fn d03_every_format_and_mode_survives_every_death() {
    let ending = crate::formats::says(false, &["convergenceReached"]);
    let panel =
        panel().writes_in("cyd", 2, "assessment", &ending).says("*", "The same words each and every time.");
    for debate in debates() {
        let deaths = survives(&panel, Spec { debate: debate.clone(), ..spec("debate") }).await;
        assert!(deaths >= 10, "{debate:?} died {deaths} times only");
    }
}

#[tokio::test(start_paused = true)]
async fn d06_swap_checks_castings_and_detectors_survive_every_death() {
    for debate in debates() {
        let casting = Some(Diversity::Spectrum);
        let end_on = vec!["repetition".to_owned(), "drift".to_owned()];
        let debate = DebateSpec { swap_check: true, casting, end_on, ..debate };
        survives(&panel(), Spec { debate, ..spec("debate") }).await;
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_failing_or_mumbling_judge_survives_every_death() {
    let mumbling = panel().writes("cyd", "assessment", "Hm.").writes("cyd", "casting", "Hm.");
    let failing = panel().fails("cyd", ErrorClass::Authentication);
    for judge_failure in JudgeFailure::ALL {
        for panel in [&mumbling, &failing] {
            let debate =
                DebateSpec { judge_failure, casting: Some(Diversity::Binary), ..DebateSpec::default() };
            survives(panel, Spec { debate, ..spec("debate") }).await;
        }
    }
}
