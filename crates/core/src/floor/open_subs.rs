//! Open sub-discussions: finds them, and ends them together with the discussion above them.

use futures::future::BoxFuture;

use crate::{
    floor::Floor,
    model::{
        error::{Code, Problem},
        event::{Event, SubConcluded},
        id::Step,
        lifecycle::Lifecycle,
        state::State,
    },
    record::{Backing, Record, failure::Failure},
    seams::StoreError,
};

/// The recorded reason for ending a sub-discussion that is no longer waited for. The text is the
/// same whether or not there was a crash in between.
pub(crate) const WENT_ON: &str = "the parent discussion went on without it";

impl Floor {
    /// Ends the open sub-discussions and charges what they spent. No call may be under way here.
    pub(crate) async fn end_open_subs(&mut self, why: &str) -> Result<(), Failure> {
        if open_subs(&self.record.state).is_empty() {
            return Ok(());
        }
        // Reading the other records takes time.
        self.record.pay_up().await?;
        end_subs_of(&self.services.backing(), &mut self.record, why).await?;
        // Releases what they had reserved and not spent: the record now has their actual cost.
        self.ledger.reset(self.record.state.spent);
        Ok(())
    }
}

fn end_subs_of<'r>(
    backing: &'r Backing,
    record: &'r mut Record,
    why: &'r str,
) -> BoxFuture<'r, Result<(), Failure>> {
    Box::pin(async move {
        for step in open_subs(&record.state) {
            let child = record.state.id.derived(step.as_str());
            let (claim, feed) = (record.claim().clone(), record.feed().clone());
            let mut below = match Record::load(backing.clone(), child, claim, feed).await {
                Ok(below) => below,
                Err(StoreError::Unknown(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            if !below.state.lifecycle.is_terminal() {
                end_subs_of(backing, &mut below, why).await?;
                let aborted = below.change(Lifecycle::Aborted)?;
                below.append(vec![aborted]).await?;
            }
            let participant = record.state.subs.get(&step).map(|sub| sub.participant.clone());
            let (participant, problem) =
                (participant.unwrap_or_default(), Some(Problem::new(Code::Aborted, why)));
            let end = SubConcluded { participant, child: Some(child), problem, ..reported(&below.state) };
            record.append(vec![(Some(step), Event::SubConcluded(end))]).await?;
        }
        Ok(())
    })
}

/// The steps of the sub-discussions that have not ended.
pub(crate) fn open_subs(state: &State) -> Vec<Step> {
    state.subs.iter().filter(|(_, sub)| sub.end.is_none()).map(|(step, _)| step.clone()).collect()
}

/// The report of a sub-discussion that has ended. The discussion above it fills in the participant
/// that asked for it.
pub(crate) fn reported(state: &State) -> SubConcluded {
    let synthesis = state.decision.as_ref().map(|it| it.synthesis.clone()).filter(|text| !text.is_empty());
    let problem =
        state.conclusion.as_ref().and_then(|it| it.problem.clone()).or_else(|| state.failed.clone());
    let (spent, ran_ms) = (state.spent, state.active_ms);
    SubConcluded { participant: String::new(), child: None, synthesis, problem, spent, ran_ms }
}
