//! The cost that the calls of the demo would have with real models.

use quorum::{
    model::{
        event::{Event, Fact},
        money::Usd,
    },
    setup::Provider,
    text::count,
};

/// The line about the cost, unless a model that would be asked has no price.
pub(super) fn line(facts: &[Fact], providers: &[Provider]) -> Option<String> {
    let turns = facts.iter().filter_map(|fact| match &fact.event {
        Event::TurnCompleted { turn } => Some(turn),
        _ => None,
    });
    let (mut calls, mut sum) = (0, Usd::ZERO);
    for turn in turns {
        let provider = providers.iter().find(|it| it.name == turn.participant)?;
        let price = provider.model_info(&provider.model).price?;
        calls += 1;
        sum += price.of(turn.bill.usage);
    }
    let calls = count(calls, "call");
    Some(format!(
        "The demo costs nothing. With real models its {calls} would cost about ${:.2}.",
        sum.dollars()
    ))
}
