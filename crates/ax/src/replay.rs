//! `ax replay`: a recorded discussion as it went, line by line, then its result.

use std::{sync::Arc, time::Duration};

use quorum::{
    Quorum, Signal,
    model::{
        event::Fact,
        id::{DiscussionId, Seq},
        state::State,
        time::Timestamp,
    },
};

use crate::{
    args::Replay,
    exit::Exit,
    past::show_state,
    render::{note, progress},
};

/// At normal speed nobody waits longer for the next line, however long it took then.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A line, and when it was to be seen.
struct Line {
    at: Timestamp,
    text: String,
}

/// `ax replay`
pub(crate) async fn replay(quorum: &Quorum, args: &Replay) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.shown.which.id).await?;
    let state = quorum.state(id).await?;
    let mut last = None;
    for line in lines(quorum, id).await? {
        if let Some(earlier) = last.replace(line.at).filter(|_| !args.fast) {
            tokio::time::sleep(pause(earlier, line.at, args.speed)).await;
        }
        note(&line.text);
    }
    show_state(quorum, &state, args.shown.output).await?;
    Ok(Exit::Done)
}

fn pause(from: Timestamp, to: Timestamp, speed: f64) -> Duration {
    let gap = Duration::from_micros(u64::try_from(to.0.saturating_sub(from.0)).unwrap_or_default());
    gap.min(LONGEST_PAUSE).div_f64(speed)
}

/// The lines of a discussion and of all below it, as they would have been seen.
async fn lines(quorum: &Quorum, root: DiscussionId) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut waiting = vec![root];
    while let Some(id) = waiting.pop() {
        let facts = quorum.facts(id, Seq::START).await?;
        waiting.extend(State::of(id, &facts).iter().flat_map(children));
        lines.extend(lines_of(root, id, facts));
    }
    // Stable, so that what has the same time stays as it was recorded.
    lines.sort_by_key(|line| line.at);
    Ok(lines)
}

fn children(state: &State) -> Vec<DiscussionId> {
    state.subs.values().filter_map(|sub| sub.end.as_ref()?.child).collect()
}

/// A clock that was set back must not change the order: no line is earlier than the one before it.
fn lines_of(root: DiscussionId, id: DiscussionId, facts: Vec<Fact>) -> Vec<Line> {
    let mut latest = Timestamp(i64::MIN);
    let mut lines = Vec::new();
    for fact in facts {
        latest = latest.max(fact.at);
        let signal = Signal::Fact { discussion: id, fact: Arc::new(fact) };
        lines.extend(progress::of_signal(root, &signal).map(|text| Line { at: latest, text }));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_of_a_day_is_not_waited_for() {
        let seconds = |from: i64, to: i64, speed: f64| {
            pause(Timestamp(from * 1_000_000), Timestamp(to * 1_000_000), speed).as_secs_f64()
        };
        assert_eq!([seconds(0, 1, 1.0), seconds(0, 86_400, 1.0), seconds(5, 0, 1.0)], [1.0, 2.0, 0.0]);
        assert_eq!([seconds(0, 1, 4.0), seconds(0, 86_400, 4.0), seconds(0, 1, 0.5)], [0.25, 0.5, 2.0]);
    }
}
