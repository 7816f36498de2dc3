//! Kills a discussion at every write; it must survive.

use std::{collections::BTreeSet, sync::Arc};

use quorum_core::{
    engine::{RunError, handle::Finished},
    memory::MemoryStore,
    model::{
        command::Command,
        event::Event,
        id::{DiscussionId, Seq},
        outcome::Outcome,
        spec::Spec,
        state::State,
    },
    registry::Registry,
    seams::Store,
};

use crate::{
    faulty::Faulty,
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};

/// Runs the discussion undisturbed, then again with a kill after every single write. Each time the
/// next process must reach the same result without repeating a recorded call. Returns the number of
/// kills.
pub async fn resume_anywhere(
    make_store: impl Fn() -> Arc<dyn Store>,
    panel: &Panel,
    registry: Registry,
    spec: Spec,
) -> u64 {
    resume_anywhere_answering(make_store, panel, registry, spec, &|_| None).await
}

/// The same for a registered pattern: with ann, bob and cyd as participants, replies in the forms
/// it declares, and an in-memory store.
pub async fn survives(registry: Registry, pattern: &str) -> u64 {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    // Sequential calls, so that every answer is a separate write.
    let panel = panel().takes("ann", 1).takes("bob", 2).takes("cyd", 3);
    resume_anywhere(store, &panel, registry, spec(pattern)).await
}

/// The same for discussions with people: whenever it waits, they give their answer, if they have
/// one.
pub async fn resume_anywhere_answering(
    make_store: impl Fn() -> Arc<dyn Store>,
    panel: &Panel,
    registry: Registry,
    spec: Spec,
    answer: &dyn Fn(&State) -> Option<Command>,
) -> u64 {
    let whole = Table::over(make_store(), &panel.anew(), registry);
    resume_table_anywhere(make_store, &whole, spec, answer).await
}

/// The same at a table of its own, with its tools.
pub async fn resume_table_anywhere(
    make_store: impl Fn() -> Arc<dyn Store>,
    whole: &Table,
    spec: Spec,
    answer: &dyn Fn(&State) -> Option<Command>,
) -> u64 {
    let id = whole.open(spec.clone()).await.expect("the order is acceptable");
    let expected = attended(whole, id, answer).await.expect("a living store").outcome();
    let mut deaths = 0;
    loop {
        // The first write creates the discussion.
        let writes = deaths + 1;
        let store = make_store();
        let first = whole.restarted(Arc::new(Faulty::dying_after(store.clone(), writes)));
        let id = first.open(spec.clone()).await.expect("opening is the first write");
        let died = attended(&first, id, answer).await.is_err();
        let recorded = settled_everywhere(&store, id).await;
        let second = whole.restarted(store);
        let finished = attended(&second, id, answer).await.expect("a living store");
        let name = format!("{} / {} killed after write {writes}", spec.pattern, spec.consensus.method);
        assert_eq!(comparable(&finished.outcome()), comparable(&expected), "{name}");
        let asked: BTreeSet<String> = second.panel.asked().iter().map(full_name).collect();
        let again: Vec<&String> = recorded.intersection(&asked).collect();
        assert!(again.is_empty(), "{name}: asked again for {again:?}");
        if !died {
            return deaths;
        }
        deaths += 1;
    }
}

/// Runs it until it ends, or waits for a person without an answer.
async fn attended(
    table: &Table,
    id: DiscussionId,
    answer: &dyn Fn(&State) -> Option<Command>,
) -> Result<Finished, RunError> {
    loop {
        let finished = table.run(id).await?;
        let Finished::Waiting(state) = &finished else { return Ok(finished) };
        let Some(command) = answer(state) else { return Ok(finished) };
        table.engine.send(id, command).await.expect("it is waited for");
    }
}

fn full_name(asked: &crate::panel::AskedCall) -> String {
    format!("{} {}", asked.call.discussion, asked.step)
}

/// Every answered step of a discussion and its sub-discussions.
async fn settled_everywhere(store: &Arc<dyn Store>, root: DiscussionId) -> BTreeSet<String> {
    let mut settled = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        let facts = store.read(id, Seq::START, usize::MAX).await.unwrap_or_default();
        for fact in facts {
            match fact.event {
                Event::TurnCompleted { turn } => drop(settled.insert(format!("{id} {}", turn.step))),
                Event::Summarised(summary) => {
                    settled.extend(summary.turn.map(|turn| format!("{id} {}", turn.step)));
                }
                Event::SubRequested { turn, .. } => {
                    settled.insert(format!("{id} {}", turn.step));
                    open.extend(fact.step.map(|step| id.derived(step.as_str())));
                }
                Event::ChildConvened(_) => {
                    open.extend(fact.step.map(|step| id.derived(step.as_str())));
                }
                _ => {}
            }
        }
    }
    settled
}

/// The parts that must be equal: everything except ids, times and the traces of a kill.
pub fn comparable(outcome: &Outcome) -> serde_json::Value {
    let mut outcome = outcome.clone();
    outcome.total_duration_ms = 0;
    (outcome.integrity.repeated_calls, outcome.integrity.retries) = (0, 0);
    outcome.integrity.missing.iter_mut().for_each(|it| it.reason.clear());
    // Other labels and another nonce may count as another number of tokens.
    outcome.integrity.tight_windows.iter_mut().for_each(|it| it.percent = 0);
    for round in &mut outcome.rounds {
        round.duration_ms = 0;
        for response in &mut round.responses {
            (response.timestamp, response.duration_ms) = (String::new(), 0);
            // A repeated request has another nonce, which may count as another number of tokens.
            (response.token_count, response.completion_tokens) = (None, None);
            response.cost_usd = None;
        }
    }
    let mut comparable = serde_json::to_value(outcome).expect("an outcome is JSON");
    if let Some(fields) = comparable.as_object_mut() {
        fields.remove("discussionId");
        fields.remove("metadata");
        for sub in fields.get_mut("subDiscussions").and_then(|it| it.as_array_mut()).into_iter().flatten() {
            sub.as_object_mut().map(|it| it.remove("discussionId"));
        }
        for name in ["stepResults", "steps", "workflow"] {
            fields.get_mut(name).into_iter().for_each(without_chance);
        }
    }
    comparable
}

/// Removes what differs between two runs of the same steps: ids, times, and what a repeated request
/// counts as.
fn without_chance(value: &mut serde_json::Value) {
    const CHANCE: [&str; 12] = [
        "discussionId",
        "metadata",
        "timestamp",
        "durationMs",
        "totalDurationMs",
        "fromMs",
        "tokenCount",
        "costUsd",
        "usage",
        "repeatedCalls",
        "retries",
        "retryCount",
    ];
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| !CHANCE.contains(&name.as_str()));
            fields.values_mut().for_each(without_chance);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_chance),
        _ => {}
    }
}
