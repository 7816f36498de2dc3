//! Hours of load in virtual time: discussions of every kind follow one another, are watched, left,
//! paused and deleted, and neither memory nor descriptors nor tasks grow (F15). 20 minutes; 12
//! hours with `QUORUM_LONG=1`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::time::{Duration, Instant as RealInstant};

use futures::{StreamExt, future::join_all};
use quorum::{Finished, Quorum, Request, Scope, Signal, model::command::Command, model::id::Tenant};
use serde_json::{Value, json};
use tokio::time::Instant;

/// The most that memory may grow, in KiB per virtual hour.
const MOST_GROWTH: f64 = 1_024.0;

const HOUR: Duration = Duration::from_secs(3_600);

/// Discussions at once.
const LANES: usize = 2;

/// How often the figures are taken.
const SAMPLES: u32 = 12;

/// The figures of a moment.
#[derive(Debug, Clone, Copy)]
struct Sample {
    hours: f64,
    kib: f64,
    files: usize,
    tasks: usize,
}

fn is_long() -> bool {
    std::env::var_os("QUORUM_LONG").is_some()
}

#[tokio::test(start_paused = true)]
async fn f15_hours_of_load_leave_nothing_behind() {
    let (began, real) = (Instant::now(), RealInstant::now());
    let quorum = Quorum::builder().simulated().assigning_roles().build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let all = if is_long() { 12 * HOUR } else { HOUR / 3 };
    let (mut samples, mut held) = (Vec::new(), 0);
    for part in 1..=SAMPLES {
        let until = began + all * part / SAMPLES;
        held += join_all((0..LANES).map(|lane| soaked(&scope, lane, until))).await.into_iter().sum::<usize>();
        samples.push(sample(began));
    }
    let growth = growth(&samples[1..]);
    println!(
        "{held} discussions in {:.1} virtual hours ({:.0?}): {growth:.0} KiB per hour; {samples:?}",
        samples.last().unwrap().hours,
        real.elapsed()
    );
    let (first, last) = (samples[1], *samples.last().unwrap());
    assert!(last.files <= first.files, "{first:?} {last:?}");
    assert!(last.tasks <= first.tasks, "{first:?} {last:?}");
    // In minutes, the allocator's habits outweigh everything else.
    assert!(!is_long() || growth < MOST_GROWTH, "{growth} KiB per hour: {samples:?}");
}

/// Holds one discussion after the other until this moment. Returns how many.
async fn soaked(scope: &Scope, lane: usize, until: Instant) -> usize {
    let (mut held, mut signals) = (0, 0);
    while Instant::now() < until {
        let order = order(lane + held);
        let (discussion, handle) = scope.start(scope.check(&order).unwrap()).await.unwrap();
        // One subscriber stays to the end, another leaves at the first news.
        let mut leaving = Box::pin(handle.signals());
        let watching = handle.signals().fold(0_u64, |seen, _: Signal| async move { seen + 1 });
        if held % 5 == 0 {
            leaving.next().await;
            discussion.send(Command::Pause).await.unwrap();
            drop(leaving);
            // It may have ended before the pause.
            if let Finished::Waiting(_) = handle.finished().await.unwrap() {
                discussion.resume_here().await.unwrap().finished().await.unwrap();
            }
        } else {
            drop(leaving);
            let (seen, finished) = futures::join!(watching, handle.finished());
            assert!(matches!(finished.unwrap(), Finished::Over(_)), "{order:?} waits");
            signals += seen;
        }
        drop(handle);
        discussion.delete().await.unwrap();
        held += 1;
    }
    assert!(held as u64 * 5 < signals, "{signals} signals of {held} discussions");
    held
}

/// Patterns and methods in turn; now and then a voice is dead.
fn order(number: usize) -> Request {
    let kinds: [Value; 5] = [
        json!({ "pattern": "synthesis", "rounds": 2 }),
        json!({ "pattern": "round-robin", "consensus": "majority" }),
        json!({ "pattern": "debate", "rounds": 1 }),
        json!({ "pattern": "voting", "votingOptions": ["tabs", "spaces"] }),
        json!({ "pattern": "settle", "votingOptions": ["tabs", "spaces"] }),
    ];
    let mut fields =
        json!({ "topic": "Tabs or spaces?", "rounds": 1, "providers": ["claude", "gemini", "qwen"] });
    let dead: &[&str] = if number % 7 == 6 { &["qwen"] } else { &[] };
    fields["simulate"] = json!({ "latencyMs": 1_000, "dead": dead });
    let kind = kinds[number % kinds.len()].as_object().unwrap().clone();
    fields.as_object_mut().unwrap().extend(kind);
    serde_json::from_value(fields).unwrap()
}

fn sample(began: Instant) -> Sample {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    Sample {
        hours: began.elapsed().as_secs_f64() / HOUR.as_secs_f64(),
        kib: pages * 4.0,
        files: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
    }
}

/// The slope of memory over time, by least squares.
fn growth(samples: &[Sample]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (hours, kib) = (mean(|it| it.hours), mean(|it| it.kib));
    let together: f64 = samples.iter().map(|it| (it.hours - hours) * (it.kib - kib)).sum();
    together / samples.iter().map(|it| (it.hours - hours).powi(2)).sum::<f64>()
}
