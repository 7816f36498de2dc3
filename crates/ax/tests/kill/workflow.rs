//! Runs of a workflow, killed with -9 at random moments: the same outputs, and no answered call and
//! no finished tool again. 8 runs, 200 with `QUORUM_LONG=1`.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use serde_json::Value;

use crate::{AT_ONCE, LONG, Place, case::moment, difference, words};

const USUAL: usize = 8;

const WORKFLOW: &str = "workflowId: killed
version: 1.0.0
steps:
  - { stepId: gather, type: prompt, config: { prompt: 'Gather {{input.topic}}' } }
  - stepId: both
    type: parallel
    config:
      steps:
        - { stepId: one, type: prompt, config: { prompt: 'One of {{steps.gather.output}}' } }
        - { stepId: keep, type: tool, tool: memory_store, config: { key: k, value: '{{steps.gather.output}}' } }
  - stepId: talk
    type: discuss
    config: { providers: [claude, gemini], rounds: 1, prompt: 'Discuss {{steps.one.output}}' }
  - stepId: each
    type: loop
    config:
      items: [a, b, c]
      concurrency: 2
      steps: [{ stepId: turn, type: prompt, config: { prompt: '{{item}} {{steps.talk.output}}' } }]
  - stepId: branch
    type: conditional
    config:
      condition: \"{{steps.keep.output.version}} == 1\"
      then: [{ stepId: yes, type: prompt, config: { prompt: 'Yes {{steps.keep.output.version}}' } }]
      else: [{ stepId: no, type: prompt, config: { prompt: 'No' } }]
";

#[test]
fn f1_a_run_killed_at_any_moment_comes_to_the_same_outputs() {
    let wanted = if std::env::var("QUORUM_LONG").is_ok() { LONG } else { USUAL };
    let (next, in_the_middle) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|it| *it < wanted) {
            in_the_middle.fetch_add(usize::from(survives(number)), Ordering::SeqCst);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let hit = in_the_middle.into_inner();
    println!("{hit} of {wanted} runs were killed in the middle; all came to the same outputs");
    assert!(hit * 3 >= wanted, "only {hit} of {wanted} runs were killed in the middle");
}

/// Whether the run was killed after its first fact and before its last.
fn survives(number: usize) -> bool {
    let (whole, began) = (Place::new(), Instant::now());
    let undisturbed = whole.ax(&command(&whole, number));
    assert_eq!(undisturbed["success"], true, "{undisturbed:#}");
    let usual = began.elapsed();
    let place = Place::new();
    let killed = place.ax_killed(&command(&place, number), usual.mul_f64(moment(number, 0)));
    let death = place.record();
    let again = if death.facts == 0 { command(&place, number) } else { words("resume last --json") };
    // A run that was over already is shown.
    let is_over = death.is_over;
    let result = place.ax(&if is_over { words("show last --json") } else { again });
    let end = place.record();
    let twice: Vec<_> = end.placed_after(&death).intersection(&death.answered).cloned().collect();
    assert!(twice.is_empty(), "run {number}: asked again for {twice:?}");
    assert!(death.answered.is_subset(&end.answered) && end.is_over, "run {number}: an answer is lost");
    assert_eq!(difference("result", &essence(&result), &essence(&undisturbed)), None, "run {number}");
    killed && !is_over && death.facts > 0
}

fn command(place: &Place, number: usize) -> Vec<String> {
    let file = place.home.path().join("killed.yaml");
    fs::write(&file, WORKFLOW).unwrap();
    let line = format!("--set topic=tabs --json --offline --seed {number} --simulate latency=150ms");
    ["run".to_owned(), file.display().to_string()].into_iter().chain(words(&line)).collect()
}

/// The parts that must be equal: everything but ids, times, costs and the traces of a kill.
fn essence(result: &Value) -> Value {
    const OTHERWISE: [&str; 11] = [
        "runId",
        "discussionId",
        "metadata",
        "totalDurationMs",
        "durationMs",
        "fromMs",
        "timestamp",
        "repeatedCalls",
        "retries",
        "retryCount",
        "costSummary",
    ];
    match result {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !OTHERWISE.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), essence(value)))
            .collect(),
        Value::Array(values) => values.iter().map(essence).collect(),
        other => other.clone(),
    }
}
