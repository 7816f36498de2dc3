//! Evaluations, killed with -9 twice each and continued: the same report, as many calls as
//! undisturbed, and no answered call again. They are killed after chosen numbers of facts, at 4
//! pairs of places all over a short run; with `QUORUM_LONG=1` at 50 pairs of a longer one.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Place, case::moment, difference, record::Record, words};

/// How many evaluations are killed, and how many questions each has.
#[derive(Clone, Copy)]
struct Effort {
    evaluations: usize,
    questions: usize,
}

const USUAL: Effort = Effort { evaluations: 4, questions: 6 };
const LONG: Effort = Effort { evaluations: 50, questions: 12 };
const AT_ONCE: usize = 4;

fn effort() -> Effort {
    if std::env::var("QUORUM_LONG").is_ok() { LONG } else { USUAL }
}

#[test]
fn e8_an_evaluation_killed_anywhere_comes_to_the_same_report_with_the_same_calls() {
    let Effort { evaluations: wanted, questions } = effort();
    let whole = Place::new();
    let undisturbed = whole.ax(&command(&whole, 0));
    let all = whole.record().facts;
    assert_eq!(undisturbed["complete"], questions, "{undisturbed:#}");
    let (next, in_the_middle) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|it| *it < wanted) {
            let hits = survives(number, all, &undisturbed);
            in_the_middle.fetch_add(usize::from(hits > 0), Ordering::SeqCst);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let hit = in_the_middle.into_inner();
    assert!(hit * 2 >= wanted, "only {hit} of {wanted} evaluations were killed in the middle");
}

/// How often it was killed between its first fact and its last.
fn survives(number: usize, all: usize, undisturbed: &Value) -> usize {
    let place = Place::new();
    let mut deaths = Vec::new();
    // The first kill comes in the first half, the second one in the second.
    for kill in 0..2 {
        let facts = all as f64 * (moment(number, kill) + kill as f64) / 2.0;
        if killed_at(&place, facts as usize) {
            deaths.push(place.record());
        }
    }
    let report = place.ax(&command(&place, 0));
    let end = place.record();
    for death in &deaths {
        let twice: Vec<_> = end.placed_after(death).intersection(&death.answered).cloned().collect();
        assert!(twice.is_empty(), "evaluation {number}: asked again for {twice:?}");
        assert!(death.answered.is_subset(&end.answered), "evaluation {number}: an answer is lost");
    }
    assert_eq!(report["calls"], undisturbed["calls"], "evaluation {number}: calls");
    let difference = difference("report", &essence(&report), &essence(undisturbed));
    assert_eq!(difference, None, "evaluation {number}");
    deaths.len()
}

/// Runs the evaluation and kills it once this many facts are recorded. `false` if it had ended.
fn killed_at(place: &Place, facts: usize) -> bool {
    let mut child = place.spawn_for(&command(place, 0), Duration::ZERO);
    while Record::count(&place.database()) < facts.max(1) {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        // It sleeps because the test waits for what another process records.
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

/// The command that starts the evaluation, or continues it if it had been started.
fn command(place: &Place, seed: u64) -> Vec<String> {
    let (file, out) = (place.home.path().join("questions.jsonl"), place.home.path().join("out"));
    let lines: Vec<String> = (0..effort().questions).map(question).collect();
    fs::write(&file, lines.join("\n")).unwrap();
    let resume = if out.join("eval.json").exists() { " --resume" } else { "" };
    let line = format!(
        "--json --world truth-wins,seed={seed} --simulate latency=20ms --protocols majority,voting:2,settle{resume}"
    );
    let files = ["eval", &file.display().to_string(), "--out", &out.display().to_string()].map(str::to_owned);
    files.into_iter().chain(words(&line)).collect()
}

fn question(number: usize) -> String {
    let options = ["first", "second", "third", "fourth"];
    let answer = options[number % 4];
    json!({ "id": number.to_string(), "question": format!("Which, in case {number}?"), "options": options, "answer": answer })
        .to_string()
}

/// The parts that must be equal: everything but ids, times, and what a repeated request counts as.
fn essence(report: &Value) -> Value {
    const OTHERWISE: [&str; 5] = ["run", "session", "seconds", "tokens", "discussion"];
    match report {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !OTHERWISE.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), essence(value)))
            .collect(),
        Value::Array(values) => values.iter().map(essence).collect(),
        other => other.clone(),
    }
}
