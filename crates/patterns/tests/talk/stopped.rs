//! A debate stopped at any moment and killed at any later one ends with the same verdict.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    memory::MemoryStore,
    model::{
        command::Command,
        event::{Event, Fact},
        outcome::{Outcome, StoppingReason},
        spec::{Limits, Spec},
    },
    seams::Store,
};
use quorum_patterns::{
    debate::{DebateSpec, Verdict},
    registry,
};
use quorum_testkit::{faulty::Faulty, panel::panel, table::Table};

use crate::results::{Results, ordered};

/// Crashes after `writes` writes, is stopped, crashes again after `later` more writes, and
/// continues. Returns how it ends and whether it crashed the second time; `None` if it ended before
/// it could be stopped.
async fn stopped_and_died(order: &Spec, writes: u64, later: u64) -> Option<(Outcome, bool)> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mortal =
        |writes| Table::over(Arc::new(Faulty::dying_after(store.clone(), writes)), &panel(), registry());
    let first = mortal(writes);
    let id = first.open(order.clone()).await.unwrap();
    first.run(id).await.err()?;
    first.engine.send(id, Command::Stop).await.unwrap();
    let died = mortal(later).run(id).await.is_err();
    let last = Table::over(store.clone(), &panel(), registry());
    let known: BTreeSet<String> = last.facts(id).await.iter().filter_map(answered).collect();
    let outcome = last.run(id).await.unwrap().outcome();
    let again: Vec<String> = last.panel.steps().into_iter().filter(|it| known.contains(it)).collect();
    assert_eq!(again, [""; 0], "asked again after {writes} and {later} writes");
    Some((outcome, died))
}

fn answered(fact: &Fact) -> Option<String> {
    match &fact.event {
        Event::TurnCompleted { turn } => Some(turn.step.to_string()),
        _ => None,
    }
}

fn told(outcome: &Outcome) -> (Option<Verdict>, String, Option<StoppingReason>) {
    (outcome.verdict(), outcome.synthesis.clone(), outcome.stopping_reason.clone())
}

#[tokio::test(start_paused = true)]
async fn f1_a_debate_stopped_at_any_moment_has_the_same_verdict_after_a_crash_at_any_other() {
    for calls in [None, Some(4), Some(5), Some(6)] {
        let debate = DebateSpec { swap_check: true, ..DebateSpec::default() };
        let limits = Limits { calls, ..Limits::default() };
        let order = Spec { limits, ..ordered(&debate) };
        for writes in 1.. {
            let Some((whole, _)) = stopped_and_died(&order, writes, u64::MAX).await else { break };
            for later in 0.. {
                let (outcome, died) = stopped_and_died(&order, writes, later).await.unwrap();
                let name = format!("{calls:?} calls, {writes} and {later} writes");
                match calls {
                    None => assert_eq!(told(&outcome), told(&whole), "{name}"),
                    // A call that the crash cut off counts as spent, so the budget may not allow a
                    // verdict; but there are never too many calls.
                    Some(most) => assert!(outcome.metadata.cost_summary.total_calls <= most, "{name}"),
                }
                if !died {
                    break;
                }
            }
        }
    }
}
