//! Refuses an order before it starts if its limit of calls leaves no room for a single speech.

use quorum_core::model::{error::Code, event::Fact, spec::Spec};

use super::{course::course, dry_run::usual_facts};
use crate::{Complaint, Error, Quorum};

/// The round of preparations, such as the assignment of positions. Nobody speaks in it.
const PREPARATION: Option<u32> = Some(0);

impl Quorum {
    /// Runs the order dry and refuses it if everyone would be silent: a group is asked as a whole
    /// or not at all, and the calls of the decision are kept back for it. A usual limit needs no
    /// such run, and a run of steps goes on without those that have no room.
    pub(crate) async fn check_calls(&self, order: &Spec) -> Result<(), Error> {
        let Some(limit) = order.limits.calls else { return Ok(()) };
        let (kept, seats) = (self.kept_for_the_decision(order), order.participants.len() as u32);
        // Before the first speeches, everyone is asked at most once.
        if order.plan.is_some() || kept.saturating_add(2 * seats) <= limit {
            return Ok(());
        }
        let first = first_calls(order, &usual_facts(self.0.engine.services(), order).await?);
        let least = first.saturating_add(kept);
        if least <= limit {
            return Ok(());
        }
        let message = match kept {
            0 => format!("must be at least {least}, which the first answers take"),
            _ => format!("must be at least {least}: {first} for the first answers, {kept} for the decision"),
        };
        Err(Error::refused(Complaint::new("maxCalls", Code::InvalidRequest, message)))
    }

    fn kept_for_the_decision(&self, order: &Spec) -> u32 {
        let registry = &self.0.engine.services().registry;
        let decides = registry.pattern(&order.pattern).is_some_and(|it| it.decides);
        let method = registry.method(&order.consensus.method).filter(|_| !decides);
        method.map_or(0, |it| (it.calls)(order))
    }
}

/// The calls up to the first speeches, theirs included; people take none.
fn first_calls(order: &Spec, facts: &[Fact]) -> u32 {
    let is_model = |name: &&String| order.seat(name).is_some_and(|it| !it.is_person());
    let mut calls = 0;
    for phase in course(facts) {
        for group in &phase.asked {
            calls += group.iter().filter(is_model).count() as u32;
            if phase.round != PREPARATION {
                return calls;
            }
        }
    }
    calls
}
