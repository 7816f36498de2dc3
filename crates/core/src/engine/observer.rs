//! Decides from their beats which nodes are dead.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;

use crate::{model::id::NodeId, seams::Beat};

/// One node's observations of the others. Only its monotonic clock counts: an outage of the
/// store, or a wall clock that jumps, makes no node dead.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    seen: HashMap<NodeId, Seen>,
    /// When it last read the beats.
    looked: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    beat: u64,
    /// When it was first seen with this beat.
    since: Instant,
    lease: Duration,
}

impl Seen {
    /// When it is dead, unless its beat changes.
    fn dies(&self) -> Instant {
        self.since + self.lease
    }
}

/// A read of the beats: when it was begun, and when its answer came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) begun: Instant,
    pub(crate) done: Instant,
}

impl Observer {
    /// The nodes whose beats have not changed for the length of their leases. If this node could
    /// not read beats for more than half of its own lease, it starts over: the other nodes may have
    /// been unable to beat as well.
    pub(crate) fn dead(&mut self, own: &Beat, beats: &[Beat], look: Look) -> Vec<Beat> {
        let gap = self.looked.map(|looked| look.done.duration_since(looked));
        if gap.is_none_or(|gap| Duration::from_millis(own.lease_ms / 2) < gap) {
            self.seen.clear();
        }
        self.looked = Some(look.done);
        self.seen.retain(|id, _| beats.iter().any(|it| it.node == *id));
        let others = beats.iter().filter(|it| it.node != own.node);
        others.filter(|it| self.is_silent(it, look)).copied().collect()
    }

    fn is_silent(&mut self, it: &Beat, look: Look) -> bool {
        let lease = Duration::from_millis(it.lease_ms);
        let fresh = Seen { beat: it.beat, since: look.done, lease };
        let seen = self.seen.entry(it.node).or_insert(fresh);
        if seen.beat != it.beat {
            *seen = fresh;
        }
        // From the end of one look to the beginning of another: at least this much time has passed.
        seen.dies() <= look.begun
    }

    /// The next moment at which a node may turn out to be dead.
    pub(crate) fn next_death(&self) -> Option<Instant> {
        let now = Instant::now();
        self.seen.values().map(Seen::dies).filter(|it| now < *it).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE_MS: u64 = 3_000;

    /// Looks at the given moments (in ms), each with the beat of the other node, and returns when
    /// it was considered dead.
    fn died(looks: &[(u64, u64)]) -> Option<u64> {
        let (me, other) = (NodeId::named("me"), NodeId::named("other"));
        let (mut observer, began) = (Observer::default(), Instant::now());
        let own = Beat { node: me, beat: 1, lease_ms: LEASE_MS };
        looks.iter().find_map(|(at, beat)| {
            let moment = began + Duration::from_millis(*at);
            let beats = [own, Beat { node: other, beat: *beat, lease_ms: LEASE_MS }];
            let dead = observer.dead(&own, &beats, Look { begun: moment, done: moment });
            (!dead.is_empty()).then_some(*at)
        })
    }

    #[tokio::test(start_paused = true)]
    async fn f17_a_node_whose_beat_is_unchanged_for_a_lease_is_dead() {
        assert_eq!(died(&[(0, 7), (1_000, 7), (2_000, 7), (2_999, 7)]), None);
        assert_eq!(died(&[(0, 7), (1_000, 7), (2_000, 7), (3_000, 7)]), Some(3_000));
        assert_eq!(died(&[(0, 7), (1_000, 8), (2_000, 8), (3_000, 8), (4_000, 8)]), Some(4_000));
        assert_eq!(died(&[(0, 7), (1_000, 8), (2_000, 9), (3_000, 10), (4_000, 11)]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_look_is_when_the_first_node_may_be_dead() {
        let [me, one, two] = ["me", "one", "two"].map(NodeId::named);
        let beat = |node, lease_ms| Beat { node, beat: 1, lease_ms };
        let (mut observer, began) = (Observer::default(), Instant::now());
        assert_eq!(observer.next_death(), None);
        let look = Look { begun: began, done: began };
        observer.dead(&beat(me, 3_000), &[beat(me, 3_000), beat(one, 6_000), beat(two, 3_000)], look);
        assert_eq!(observer.next_death(), Some(began + Duration::from_secs(3)));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(observer.next_death(), Some(began + Duration::from_secs(6)));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!(observer.next_death(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn f17_an_outage_of_the_store_makes_no_node_dead() {
        assert_eq!(died(&[(0, 7), (1_000, 7), (11_000, 7), (12_000, 8)]), None);
        assert_eq!(died(&[(0, 7), (11_000, 7), (12_000, 7), (13_000, 7), (14_000, 7)]), Some(14_000));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_read_of_beats_counts_only_the_time_that_surely_passed() {
        let (me, other) = (NodeId::named("me"), NodeId::named("other"));
        let own = Beat { node: me, beat: 1, lease_ms: 15_000 };
        let beats = [own, Beat { node: other, beat: 7, lease_ms: LEASE_MS }];
        let (mut observer, began) = (Observer::default(), Instant::now());
        let at = |ms| began + Duration::from_millis(ms);
        let first = Look { begun: at(0), done: at(1_000) };
        let second = Look { begun: at(3_500), done: at(4_500) };
        let third = Look { begun: at(4_000), done: at(5_000) };
        assert!(observer.dead(&own, &beats, first).is_empty());
        assert!(observer.dead(&own, &beats, second).is_empty());
        assert_eq!(observer.dead(&own, &beats, third), [beats[1]]);
    }
}
