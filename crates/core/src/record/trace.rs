//! Facts as trace events, under the names of INV-DISC-301 and one per response (INV-DISC-015). They
//! contain no content and no keys.

use tracing::{debug, info, warn};

use crate::model::{
    event::{Event, Fact},
    id::DiscussionId,
};

pub(crate) fn fact(id: DiscussionId, fact: &Fact) {
    // Formatted only if a subscriber is active.
    let (discussion, seq) = (tracing::field::display(id), fact.seq.0);
    match &fact.event {
        Event::PanelSeated { seated, .. } => {
            info!(discussion, seq, seated = seated.len(), "discussion.start");
        }
        Event::RoundOpened { round } => info!(discussion, seq, round, "discussion.round.start"),
        Event::RoundClosed { round } => info!(discussion, seq, round, "discussion.round.end"),
        Event::Concluded(end) => info!(discussion, seq, success = end.success, "discussion.end"),
        Event::TurnCompleted { turn } => {
            let tokens = turn.bill.usage.total();
            let (participant, step, ms) = (&turn.participant, turn.step.as_str(), turn.duration_ms);
            info!(discussion, seq, participant, step, ms, tokens, "discussion.response");
        }
        Event::TurnFailed(failed) => {
            let (participant, class) = (&failed.participant, failed.class.name());
            warn!(discussion, seq, participant, class, "discussion.response");
        }
        Event::CallFailed { participant, class, attempt, .. } => {
            warn!(discussion, seq, participant, attempt, class = class.name(), "discussion.call.failed");
        }
        Event::Failed { problem, .. } => warn!(discussion, seq, code = %problem.code, "discussion.failed"),
        _ => debug!(discussion, seq, "discussion.fact"),
    }
}
