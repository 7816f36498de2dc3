//! Killed after every single write, whatever the pattern and the method; a new one is in it as soon as it is registered.

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
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
