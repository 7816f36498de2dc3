//! The laboratory: patterns in reference worlds, whose right answers are known.
//!
//! `cargo xtask lab` builds this for release and runs it; it fails if a pattern loses more than its
//! bar allows, or if the engine and the closed form differ. `--short` is the part that belongs to
//! every test run.

mod closed;
mod engine;
mod intervals;
mod learned;
mod speed;
mod table;

use std::process::ExitCode;

use anyhow::{Result, bail};
use quorum::voices::world::{CONFIDENCES, PANELS, TALKS, World};

use self::{
    closed::Figures,
    learned::Settled,
    table::{Table, percent, points},
};

/// How much a pattern may lose to a plain vote at equal cost, in points.
const SETTLE_MAY_LOSE: f64 = 0.3;
const VOTING_MAY_LOSE: f64 = 2.0;

/// How many outcomes `settle` learns from where its learned weights are tried.
const OUTCOMES: [usize; 2] = [30, 100];

/// The most calls that `settle` may take on average.
const MOST_CALLS: f64 = 4.7;

/// How much is computed.
#[derive(Clone, Copy)]
struct Effort {
    /// Questions of a world in closed form.
    closed: usize,
    /// Panels that learn from outcomes of their own, and the questions that each is asked then.
    panels: usize,
    asked: usize,
    /// Questions of a world on the engine.
    engine: usize,
    /// Simulated evaluations.
    evaluations: usize,
    /// Whether speed is measured.
    speed: bool,
}

const LONG: Effort =
    Effort { closed: 60_000, panels: 30, asked: 2_000, engine: 2_000, evaluations: 2_000, speed: true };
const SHORT: Effort =
    Effort { closed: 6_000, panels: 6, asked: 500, engine: 120, evaluations: 0, speed: false };

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("the laboratory missed a goal; the tables above show which");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("lab: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let effort = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => LONG,
        ["--short"] => SHORT,
        _ => bail!("only --short is understood"),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut table = Table::default();
    talk_worlds(effort, &mut table);
    settle_worlds(effort, &mut table);
    OUTCOMES.iter().for_each(|it| learned_worlds(effort, *it, &mut table));
    if effort.speed {
        confidences(effort, &mut table);
    }
    runtime.block_on(engine_worlds(effort, &mut table))?;
    if effort.evaluations > 0 {
        intervals::coverage(effort.evaluations, &mut table);
    }
    if effort.speed {
        runtime.block_on(speed::measured(&mut table))?;
    }
    table.print();
    Ok(table.is_met())
}

/// The five kinds of talk: what a plain vote reaches, and what `voting` and `settle` do with it.
fn talk_worlds(effort: Effort, table: &mut Table) {
    for talk in TALKS {
        let world = World { talk, panel: PANELS[0], correlation: 0.3, confidence: CONFIDENCES[0], seed: 1 };
        let found = Figures::of(&world, effort.closed);
        let name = format!("{}, rho .3", talk.name);
        table.note(
            &format!("{name}: single best / plain vote of 4 / of 8"),
            [found.single, found.four, found.eight].map(percent).join(" / "),
        );
        let rounds =
            format!("{} / {} / {}", percent(found.one_round), percent(found.voting), percent(found.settle));
        table.note(&format!("{name}: one round of talk / voting / settle"), rounds);
        let voting = found.gain(found.voting, found.voting_calls);
        table.row(
            &format!("{name}: voting against a plain vote at {:.2} calls", found.voting_calls),
            points(voting),
            &format!(">= -{VOTING_MAY_LOSE}"),
            100.0 * voting >= -VOTING_MAY_LOSE,
        );
        let settle = found.gain(found.settle, found.settle_calls);
        table.row(
            &format!("{name}: settle against a plain vote at {:.2} calls", found.settle_calls),
            points(settle),
            &format!(">= -{SETTLE_MAY_LOSE}"),
            100.0 * settle >= -SETTLE_MAY_LOSE,
        );
    }
}

/// The effect of stated confidence on `voting`, which weighs by it: shown, not judged.
fn confidences(effort: Effort, table: &mut Table) {
    for talk in [TALKS[0], TALKS[1], TALKS[4]] {
        for confidence in CONFIDENCES {
            let world = World { talk, panel: PANELS[0], correlation: 0.3, confidence, seed: 1 };
            let found = Figures::of(&world, effort.closed);
            let (voting, settle) =
                (found.gain(found.voting, found.voting_calls), found.gain(found.settle, found.settle_calls));
            table.note(
                &format!("{}, confidence {}: voting / settle at equal cost", talk.name, confidence.name),
                format!("{} / {}", points(voting), points(settle)),
            );
        }
    }
}

/// The reference worlds for `settle`, which never talks in them.
fn worlds() -> impl Iterator<Item = World> {
    let each = |panel| CONFIDENCES.into_iter().map(move |confidence| (panel, confidence));
    let each = PANELS.into_iter().flat_map(each);
    each.flat_map(|(panel, confidence)| {
        let world = move |correlation| World { talk: TALKS[0], panel, correlation, confidence, seed: 2 };
        [0.0, 0.3, 0.6].map(world)
    })
}

/// E3: `settle` in all 45 worlds.
fn settle_worlds(effort: Effort, table: &mut Table) {
    let found = worlds().map(|world| {
        let found = Figures::of(&world, effort.closed);
        (world, found.gain(found.settle, found.settle_calls), found.settle_calls)
    });
    judged("E3 settle", &found.collect::<Vec<_>>(), table);
}

/// E3 with learned weights.
fn learned_worlds(effort: Effort, outcomes: usize, table: &mut Table) {
    let found = worlds().map(|world| {
        let found = Settled::of(&world, outcomes, (effort.panels, effort.asked));
        (world, found.gain, found.calls)
    });
    judged(&format!("E3 settle with {outcomes} outcomes"), &found.collect::<Vec<_>>(), table);
}

/// A world, the gain of `settle` at equal cost in it, and its calls.
type Gained = (World, f64, f64);

/// The rows of `settle` in these worlds.
fn judged(name: &str, found: &[Gained], table: &mut Table) {
    let Some((world, least, _)) = found.iter().min_by(|one, other| one.1.total_cmp(&other.1)) else { return };
    let mean = |of: fn(&Gained) -> f64| found.iter().map(of).sum::<f64>() / found.len() as f64;
    let most = |of: fn(&Gained) -> f64| found.iter().map(of).fold(f64::MIN, f64::max);
    let gain: fn(&Gained) -> f64 = |it| it.1;
    let calls: fn(&Gained) -> f64 = |it| it.2;
    let worst = format!("{}, {}, rho {}", world.panel.name, world.confidence.name, world.correlation);
    table.row(
        &format!("{name} in {} worlds, least gain at equal cost ({worst})", found.len()),
        points(*least),
        &format!(">= -{SETTLE_MAY_LOSE}"),
        100.0 * least >= -SETTLE_MAY_LOSE,
    );
    let both = format!("{} and {}", points(mean(gain)), points(most(gain)));
    table.note(&format!("{name}, mean and most gain"), both);
    table.row(
        &format!("{name}, mean calls (most expensive world)"),
        format!("{:.2} ({:.2})", mean(calls), most(calls)),
        &format!("<= {MOST_CALLS}"),
        mean(calls) <= MOST_CALLS,
    );
}

/// E1: the engine against the closed form.
async fn engine_worlds(effort: Effort, table: &mut Table) -> Result<()> {
    for talk in [TALKS[0], TALKS[1], TALKS[4]] {
        let world = World { talk, panel: PANELS[0], correlation: 0.3, confidence: CONFIDENCES[0], seed: 3 };
        let closed = Figures::of(&world, effort.closed);
        let ran = engine::ran(&world, effort.engine).await?;
        let compared = [
            ("plain vote", ran.majority, closed.four),
            ("voting", ran.voting, closed.voting),
            ("settle", ran.settle, closed.settle),
        ];
        for (name, found, expected) in compared {
            let error =
                (expected * (1.0 - expected) * (1.0 / effort.engine as f64 + 1.0 / effort.closed as f64))
                    .sqrt();
            let off = (found - expected) / error;
            table.row(
                &format!(
                    "E1 {}: {name} on the engine ({} questions) / closed form",
                    talk.name, effort.engine
                ),
                format!("{} / {} ({off:+.1} se)", percent(found), percent(expected)),
                "within 3 se",
                off.abs() <= 3.0,
            );
        }
        let error = closed.spread_of_calls() / (effort.engine as f64).sqrt();
        let off = (ran.settle_calls - closed.settle_calls) / error;
        table.row(
            &format!("E1 {}: calls of settle on the engine / closed form", talk.name),
            format!("{:.2} / {:.2} ({off:+.1} se)", ran.settle_calls, closed.settle_calls),
            "within 3 se",
            off.abs() <= 3.0,
        );
        for (name, share) in &ran.shown {
            table.note(&format!("{}: {name} on the engine, not judged", talk.name), percent(*share));
        }
    }
    learned_on_engine(effort, table).await
}

/// E1 with learned weights: the engine learns from the outcomes of one evaluation and is asked in
/// another; the closed form learns from the same answers.
async fn learned_on_engine(effort: Effort, table: &mut Table) -> Result<()> {
    let world: World = "martingale,seed=4".parse().map_err(anyhow::Error::msg)?;
    for outcomes in OUTCOMES {
        let ran = engine::learned(&world, outcomes, effort.engine).await?;
        let closed = Settled::after(&world, &ran.known, effort.closed);
        let share = closed.accuracy;
        let error = share * (1.0 - share) * (1.0 / effort.engine as f64 + 1.0 / effort.closed as f64);
        let off = (ran.accuracy - share) / error.sqrt();
        table.row(
            &format!("E1 settle with {outcomes} outcomes on the engine / closed form"),
            format!("{} / {} ({off:+.1} se)", percent(ran.accuracy), percent(share)),
            "within 3 se",
            off.abs() <= 3.0,
        );
        let off = (ran.calls - closed.calls) / (closed.spread_of_calls / (effort.engine as f64).sqrt());
        table.row(
            &format!("E1 settle with {outcomes} outcomes, calls on the engine / closed form"),
            format!("{:.2} / {:.2} ({off:+.1} se)", ran.calls, closed.calls),
            "within 3 se",
            off.abs() <= 3.0,
        );
    }
    Ok(())
}
