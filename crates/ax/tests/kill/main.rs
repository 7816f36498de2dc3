//! Kills the command with -9 at random moments, once or twice in a discussion, then resumes it
//! until it is over: the result equals that of an undisturbed run, and no answered call is made
//! again. The same with SIGTERM, where no call at all may be made twice. With early exit, real time
//! decides which answers count, so only the record is checked; in virtual time the results are
//! compared, too. 20 discussions, 200 with `QUORUM_LONG=1`, and as many as `QUORUM_KILLS` says.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod case;
mod eval;
mod power;
mod record;
mod workflow;

use std::{
    fs,
    io::Read,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use quorum_testkit::coverage;
use serde_json::Value;
use tempfile::TempDir;

use crate::{case::Case, record::Record};

const USUAL: usize = 20;
const LONG: usize = 200;

/// Most of the time is spent waiting, so several run in parallel.
const AT_ONCE: usize = 4;

#[test]
fn f1_a_command_killed_at_any_moment_comes_to_the_same_result() {
    let (wanted, began) = (wanted(), Instant::now());
    let (next, in_the_middle, kills) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|it| *it < wanted) {
            let deaths = survives(&Case::number(number));
            in_the_middle.fetch_add(usize::from(deaths > 0), Ordering::SeqCst);
            kills.fetch_add(deaths, Ordering::SeqCst);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let (hit, took) = (in_the_middle.into_inner(), began.elapsed());
    println!(
        "{} kills in the middle of {wanted} discussions in {took:.0?}, nothing lost or paid twice",
        kills.into_inner()
    );
    assert!(hit * 2 >= wanted, "only {hit} of {wanted} discussions were killed in the middle");
}

/// The number of discussions to kill.
fn wanted() -> usize {
    let said = std::env::var("QUORUM_KILLS").map(|it| it.parse().unwrap());
    said.unwrap_or(if std::env::var("QUORUM_LONG").is_ok() { LONG } else { USUAL })
}

/// The number of cases without early exit, which may rightly drop a call.
const TOLD_TO_END: usize = 12;

#[test]
fn f13_a_command_told_to_end_at_any_moment_records_the_calls_under_way_and_pays_none_twice() {
    let (next, in_the_middle) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(number) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|it| *it < TOLD_TO_END) {
            in_the_middle.fetch_add(ends_when_told(&Case::number(number)), Ordering::SeqCst);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let hit = in_the_middle.into_inner();
    assert!(hit * 2 >= TOLD_TO_END, "only {hit} of {TOLD_TO_END} were told to end in the middle");
}

/// Runs the discussion and ends it with SIGTERM. Returns how often that came in its middle.
fn ends_when_told(case: &Case) -> usize {
    let (whole, began) = (Place::new(), Instant::now());
    let undisturbed = whole.ax(&case.discuss());
    let usual = began.elapsed();
    let (place, mut hits) = (Place::new(), 0);
    for kill in 0..case.kills {
        let began = Instant::now();
        let moment = usual.mul_f64(case.moment(kill));
        place.ax_told_to_end(&place.next(case), moment);
        let took = began.elapsed().saturating_sub(moment);
        assert!(took < Duration::from_secs(6), "{case}: it took {took:?} to leave");
        let record = place.record();
        assert_eq!(record.lost(), (Vec::new(), Vec::new()), "{case}: unanswered, asked for twice");
        hits += usize::from(!record.is_over && record.facts > 0);
    }
    let result = place.ax(&place.next(case));
    assert_eq!(place.record().lost(), (Vec::new(), Vec::new()), "{case}: unanswered, asked for twice");
    assert_eq!(result["integrity"]["repeatedCalls"], 0, "{case}");
    assert_eq!(difference("result", &essence(&result), &essence(&undisturbed)), None, "{case}");
    hits.min(1)
}

/// Runs the discussion undisturbed and disturbed. Returns how often it was killed after its first
/// fact and before its last.
fn survives(case: &Case) -> usize {
    let (whole, began) = (Place::new(), Instant::now());
    let undisturbed = whole.ax(&case.discuss());
    let usual = began.elapsed();
    let place = Place::new();
    let mut deaths = Vec::new();
    for kill in 0..case.kills {
        let before = place.record();
        let killed = place.ax_killed(&place.next(case), usual.mul_f64(case.moment(kill)));
        let after = place.record();
        // A discussion that ended before the kill doesn't count.
        if killed && !after.is_over && after.facts > 0 {
            assert!(before.answered.is_subset(&after.answered), "{case}: an answer is lost");
            deaths.push(after);
        }
    }
    let result = place.ax(&place.next(case));
    assert_eq!(result, place.ax(&words("show last --json")), "{case}: shown otherwise than printed");
    let record = place.record();
    deaths.iter().for_each(|death| goes_on_from(case, death, &record));
    if case.exits_early() {
        assert!(result["synthesis"] != "", "{case}: {result}");
    } else {
        let difference = difference("result", &essence(&result), &essence(&undisturbed));
        assert_eq!(difference, None, "{case}");
    }
    deaths.len()
}

/// Checks that everything that was recorded at the kill is unchanged, and was not asked for again.
fn goes_on_from(case: &Case, death: &Record, end: &Record) {
    let again: Vec<_> = end.placed_after(death).intersection(&death.answered).cloned().collect();
    assert!(again.is_empty(), "{case}: asked again for {again:?}");
    assert!(death.answered.is_subset(&end.answered), "{case}: an answer is lost");
    assert!(death.closed.is_subset(&end.closed), "{case}: a group closed otherwise");
    assert!(end.is_over, "{case}: is not over");
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// A home folder of its own, with only one discussion.
struct Place {
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Place { home: TempDir::new().unwrap() };
        fs::write(place.home.path().join("config.toml"), "").unwrap();
        place
    }

    fn database(&self) -> PathBuf {
        self.home.path().join("data/quorum.db")
    }

    fn record(&self) -> Record {
        Record::read(&self.database())
    }

    /// The command to resume, or to start if the last one died before it had begun.
    fn next(&self, case: &Case) -> Vec<String> {
        if self.record().facts == 0 { case.discuss() } else { words("resume last --json") }
    }

    fn spawn(&self, args: &[String]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ax"));
        command.args(args).env_clear().env("HOME", self.home.path());
        command.env("AX_CONFIG", self.home.path().join("config.toml"));
        command.env("AX_DATA_DIR", self.home.path().join("data")).env("OLLAMA_HOST", "");
        command.envs(coverage::profile()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a command to its end.
    fn ax(&self, args: &[String]) -> Value {
        let output = self.spawn(args).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}: {said}"))
    }

    /// Runs a command and kills it at this moment. `false` if it had already ended.
    fn ax_killed(&self, args: &[String], after: Duration) -> bool {
        let mut child = self.spawn_for(args, after);
        child.kill().unwrap();
        child.wait().unwrap().code().is_none()
    }

    /// Runs a command, sends it SIGTERM at this moment, and waits until it has exited.
    fn ax_told_to_end(&self, args: &[String], after: Duration) {
        let mut child = self.spawn_for(args, after);
        // A process that has ended can't be signalled.
        let told =
            Command::new("kill").args(["-TERM", &child.id().to_string()]).stderr(Stdio::null()).status();
        told.unwrap();
        child.wait().unwrap();
    }

    /// Starts a command and lets it run for this long.
    fn spawn_for(&self, args: &[String], time: Duration) -> Child {
        let mut child = self.spawn(args);
        let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        // The output is not used, but a full pipe would block the command.
        thread::spawn(move || err.read_to_end(&mut Vec::new()));
        thread::spawn(move || out.read_to_end(&mut Vec::new()));
        // It sleeps because the test is about ending at a random moment; no outcome depends on
        // which.
        thread::sleep(time);
        child
    }
}

/// The parts that must be equal: everything but ids, times, costs and the traces of a kill.
fn essence(result: &Value) -> Value {
    const OTHERWISE: [&str; 7] = [
        "discussionId",
        "metadata",
        "totalDurationMs",
        "durationMs",
        "timestamp",
        "repeatedCalls",
        "retries",
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

/// The first place where two documents differ, and both values there.
fn difference(place: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(name, value)| difference(&format!("{place}.{name}"), value, &b[name]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(at, (a, b))| difference(&format!("{place}[{at}]"), a, b))
        }
        _ => (one != other).then(|| format!("{place} is {one}\nand not {other}")),
    }
}
