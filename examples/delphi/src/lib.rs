//! Delphi: everyone estimates a number alone and without names, sees the spread and the reasons,
//! and estimates again, until the spread is stable.
//!
//! Everything the pattern needs is in this crate: an option, a form with its reader and sample
//! reply, an ending, a result field and the prompts. Flag, help, configuration key, schemas, page,
//! exports and simulated replies follow from these declarations.

mod estimate;
mod prompts;
mod spread;

use quorum::{
    floor::{Floor, halt::Halt, reading::Understood},
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        phase::{Phase, PhaseTable},
        spec::Spec,
        state::State,
    },
    registry::{Defaults, Pattern},
    vocabulary::{ending::Ending, option::Opt, result::ResultField, view::View},
};
use serde_json::{Value, json};

use estimate::{ESTIMATES, Estimate, FORM};
use spread::Spread;

const ESTIMATING: Phase = Phase("estimating");
const STABLE: &str = "stable";

/// When the spread counts as stable.
const STABILITY: Opt<f64> =
    Opt::number("stability", "Stop when the spread changes by less than this share", 0.0..=1.0, 0.1);

/// The pattern, to be registered with `Quorum::builder().pattern(&delphi::PATTERN)`.
pub static PATTERN: Pattern = Pattern {
    name: "delphi",
    summary: "Anonymous estimates, revised until they are stable",
    suits: "Estimates and forecasts, where nobody should follow the loudest voice",
    sketch: &["123", "123", "123", "*"],
    defaults: Defaults { rounds: 4, ..Defaults::PLAIN },
    options: &[&STABILITY],
    forms: &[&FORM],
    ends: &[Ending::new(STABLE, "The estimates are stable")],
    results: &[ResultField {
        name: "estimates",
        title: "Estimates",
        view: View::Numbers { number: "/estimate", unit: Some("/unit") },
        of: estimates,
    }],
    phases: PhaseTable { first: &[ESTIMATING], next: &[(ESTIMATING, &[ESTIMATING])] },
    check: at_least_two,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

fn at_least_two(spec: &Spec) -> Vec<Refusal> {
    let speakers = spec.speakers().len();
    let message = format!("an estimate of a panel takes at least 2 participants, not {speakers}");
    let refusal = Refusal::new("providers", Code::InsufficientProviders, message);
    if speakers < 2 { vec![refusal] } else { Vec::new() }
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let mut last: Option<Spread> = None;
    for round in 1..=spec.rounds {
        floor.enter(ESTIMATING, round).await?;
        let ask = |_: &_| prompts::estimate(&spec, round, last.as_ref());
        let estimates = floor.ask_all_for(&floor.speakers(), ask, &ESTIMATES).await?;
        let Some(spread) = Spread::of(estimates.into_iter().map(|it: Understood<Estimate>| it.value)) else {
            break;
        };
        let moved = last.as_ref().map(|last| spread.moved_from(last));
        last = Some(spread);
        if moved.is_some_and(|moved| moved < floor.option(&STABILITY)) {
            floor.end(STABLE, round, None)?;
            break;
        }
    }
    Ok(last.map(|spread| Decision { synthesis: prompts::answer(&spread), ..Decision::default() }))
}

/// Every estimate, round by round.
fn estimates(state: &State) -> Option<Value> {
    let read = state.readings.iter().filter_map(|it| {
        let estimate: Estimate = it.reading.read(FORM.kind)?;
        Some(json!({
            "round": it.round, "participant": it.participant,
            "estimate": estimate.estimate, "unit": estimate.unit, "reasoning": estimate.reasoning,
        }))
    });
    let read: Vec<Value> = read.collect();
    (!read.is_empty()).then(|| json!(read))
}
