//! Our time against a floor: a minimal client that makes the same calls and records nothing.
//!
//! What is measured is a process on the first core; the vendor and the clients of a server are on
//! the second. Floor and ours take turns, and each figure is the best of several, so that a busy
//! machine affects both sides of a ratio alike.

mod floor;
mod relay;
mod served;
pub(crate) mod subject;

use anyhow::Result;

use crate::{
    database::Database,
    stamper::{DENSE_PIECES, STAMPER},
    table::Table,
    vendor::{Pace, Vendor},
};
use subject::{Figures, Kind, Plan, measure};

pub(crate) use served::{latency, processor_time};

/// A whole answer at once.
const DENSE: Pace = Pace { first: 100, next: 0, pieces: DENSE_PIECES };

/// Fifty pieces a second.
const SPACED: Pace = Pace { first: 50, next: 20, pieces: 100 };

/// Calls per discussion: three voices in two rounds, and a synthesis.
const CALLS: f64 = 7.0;

/// The writes that a discussion waits for: its beginning, the questions of two rounds and of the
/// synthesis, each together with the answers before, and its end.
const COMMITS: f64 = 5.0;

/// How often each side is measured.
const TIMES: usize = 3;

/// One discussion with calls of 100 ms.
pub(crate) async fn one(_: &Database, table: &mut Table) -> Result<()> {
    let [floor, ours] = both(DENSE, Plan::at_once(1, 100))?;
    let goal = floor.p50 + (COMMITS * ours.commit + 0.001) / 0.3;
    let shown = [floor.p50, ours.p50].map(|it| format!("{it:.4}"));
    let goal = (format!("<= {goal:.4} (a commit takes {:.0} us)", ours.commit * 1e6), ours.p50 <= goal);
    table.against_floor("one synthesis of 7 calls at 100 ms: time / path", shown, ours.p50 / floor.p50, goal);
    Ok(())
}

/// A hundred discussions at the same moment.
pub(crate) async fn hundred(_: &Database, table: &mut Table) -> Result<()> {
    let [floor, ours] = both(DENSE, Plan::at_once(100, 200))?;
    percentiles("100 at once", [floor, ours], (1.15, 1.25), table);
    Ok(())
}

/// A thousand discussions that arrive one after another.
pub(crate) async fn arriving(_: &Database, table: &mut Table) -> Result<()> {
    let plan = Plan { over_ms: 3_500, longest_ms: 1_500, ..Plan::at_once(1_000, 500) };
    percentiles("1,000 arriving over 3.5 s", both(DENSE, plan)?, (1.01, 1.05), table);
    Ok(())
}

/// A thousand discussions at the same moment: time, processor and memory.
pub(crate) async fn thousand(_: &Database, table: &mut Table) -> Result<()> {
    let [floor, ours] = both(DENSE, Plan::at_once(1_000, 100))?;
    let what = "1,000 at the same moment: wall";
    ratio(what, [floor.wall, ours.wall].map(|it| (it, format!("{it:.2} s"))), 1.6, table);
    let per_call = |it: Figures| it.cpu / CALLS / 1_000.0 * 1e6;
    let what = "processor time a call, dense streams";
    ratio(what, [floor, ours].map(per_call).map(|it| (it, format!("{it:.0} us"))), 1.8, table);
    let each = |it: Figures| it.memory / 1_000.0 / 1e3;
    let shown = [floor, ours].map(each).map(|it| (it, format!("{it:.0} KB")));
    ratio("memory a discussion", shown, 1.3, table);
    Ok(())
}

/// The processor time of a piece that comes alone.
pub(crate) async fn pieces(_: &Database, table: &mut Table) -> Result<()> {
    let streaming_ms = SPACED.next * SPACED.pieces as u64;
    let plan = Plan { streaming_ms, ..Plan::at_once(50, SPACED.first) };
    let per_piece = |it: Figures| it.cpu / (50.0 * CALLS * SPACED.pieces as f64) * 1e6;
    let shown = both(SPACED, plan)?.map(per_piece).map(|it| (it, format!("{it:.1} us")));
    ratio("processor time a piece, 20 ms apart", shown, 1.3, table);
    Ok(())
}

/// The floor and ours with a vendor of this pace: the best of several runs that take turns.
fn both(pace: Pace, plan: Plan) -> Result<[Figures; 2]> {
    let vendor = Vendor::on_second_core(STAMPER, pace)?;
    let mut runs = [Vec::new(), Vec::new()];
    for _ in 0..TIMES {
        for (kind, runs) in [Kind::Floor, Kind::Ours].into_iter().zip(&mut runs) {
            runs.push(measure(kind, &vendor.url, plan)?);
        }
    }
    Ok(runs.map(|runs| best(&runs)))
}

fn best(runs: &[Figures]) -> Figures {
    let least = |figure: fn(&Figures) -> f64| runs.iter().map(figure).fold(f64::MAX, f64::min);
    Figures {
        wall: least(|it| it.wall),
        cpu: least(|it| it.cpu),
        memory: least(|it| it.memory),
        p50: least(|it| it.p50),
        p99: least(|it| it.p99),
        commit: least(|it| it.commit),
    }
}

/// Adds a row whose goal is a multiple of the floor.
fn ratio(what: &str, [floor, ours]: [(f64, String); 2], most: f64, table: &mut Table) {
    let ratio = ours.0 / floor.0;
    table.against_floor(what, [floor.1, ours.1], ratio, (format!("<= {most} x floor"), ratio <= most));
}

fn percentiles(what: &str, [floor, ours]: [Figures; 2], goals: (f64, f64), table: &mut Table) {
    let rows = [("p50", floor.p50, ours.p50, goals.0), ("p99", floor.p99, ours.p99, goals.1)];
    for (name, floor, ours, goal) in rows {
        let shown = [floor, ours].map(|it| format!("{it:.3}"));
        let goal = (format!("<= {goal}"), ours <= goal);
        table.against_floor(&format!("{what}: {name} of time / path"), shown, ours / floor, goal);
    }
}
