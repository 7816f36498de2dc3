//! The ten invariants of many nodes, checked on a history. The tests below show that each check can
//! fail.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::model::{
    event::{Event, Fact},
    id::DiscussionId,
};

use super::history::{Deed, History};

/// Says how a history breaks an invariant.
type Check = fn(&History) -> Option<String>;

/// The invariants that a history breaks, by number.
pub(crate) fn broken(history: &History) -> Vec<(u8, String)> {
    let checks: [(u8, Check); 10] = [
        (1, acknowledged_facts_are_there),
        (2, numbers_have_no_gap),
        (3, a_fence_is_given_once),
        (4, fences_never_go_back),
        (5, nothing_is_written_under_an_older_fence),
        (6, a_number_is_acknowledged_once),
        (7, what_is_over_never_changes),
        (8, commands_are_taken_once_in_order),
        (9, answers_are_repeated_only_for_what_was_in_flight),
        (10, no_ghost_holds_anything),
    ];
    checks.into_iter().filter_map(|(number, check)| Some((number, check(history)?))).collect()
}

fn acknowledged_facts_are_there(history: &History) -> Option<String> {
    let is_there = |id: &DiscussionId, fact: &Fact| {
        let record = history.records.get(id);
        record.is_some_and(|it| it.get(fact.seq.0 as usize - 1) == Some(fact))
    };
    let all = history.acknowledged.iter().flat_map(|(id, facts)| facts.iter().map(move |it| (id, it)));
    let lost = all.filter(|(id, fact)| !is_there(id, fact)).map(|(id, fact)| format!("{id} {}", fact.seq));
    lost.reduce(|all, it| format!("{all}, {it}"))
}

fn numbers_have_no_gap(history: &History) -> Option<String> {
    let has_gap = |facts: &Vec<Fact>| facts.iter().zip(1..).any(|(fact, number)| fact.seq.0 != number);
    history.records.iter().find(|(_, facts)| has_gap(facts)).map(|(id, _)| id.to_string())
}

fn a_fence_is_given_once(history: &History) -> Option<String> {
    let mut given = BTreeSet::new();
    history.deeds.iter().find_map(|deed| match deed {
        Deed::Claimed { claim, .. } if !given.insert((claim.id, claim.fence)) => Some(format!("{claim:?}")),
        Deed::Claimed { .. } | Deed::Appended { .. } => None,
    })
}

fn fences_never_go_back(history: &History) -> Option<String> {
    let mut newest: BTreeMap<DiscussionId, u64> = BTreeMap::new();
    history.deeds.iter().find_map(|deed| {
        let Deed::Appended { id, fence, .. } = deed else { return None };
        let before = newest.insert(*id, *fence).unwrap_or_default();
        (*fence < before).then(|| format!("{id}: {fence} after {before}"))
    })
}

fn nothing_is_written_under_an_older_fence(history: &History) -> Option<String> {
    let mut claimed: BTreeMap<DiscussionId, u64> = BTreeMap::new();
    history.deeds.iter().find_map(|deed| match deed {
        Deed::Claimed { claim, .. } => {
            let newest = claimed.entry(claim.id).or_default();
            *newest = claim.fence.max(*newest);
            None
        }
        Deed::Appended { root, fence, .. } => {
            let newest = claimed.get(root).copied().unwrap_or_default();
            (*fence < newest).then(|| format!("{root}: written under {fence}, claimed under {newest}"))
        }
    })
}

fn a_number_is_acknowledged_once(history: &History) -> Option<String> {
    let mut seen = BTreeSet::new();
    let all = history.acknowledged.iter().flat_map(|(id, facts)| facts.iter().map(move |it| (*id, it.seq)));
    all.into_iter().find(|it| !seen.insert(*it)).map(|(id, seq)| format!("{id} {seq}"))
}

fn what_is_over_never_changes(history: &History) -> Option<String> {
    let mut over = BTreeSet::new();
    history.deeds.iter().find_map(|deed| {
        let Deed::Appended { id, is_done, facts, .. } = deed else { return None };
        let changed = over.contains(id) && !facts.is_empty();
        if *is_done {
            over.insert(*id);
        }
        changed.then(|| id.to_string())
    })
}

fn commands_are_taken_once_in_order(history: &History) -> Option<String> {
    let taken = |facts: &[Fact]| -> Vec<u64> {
        let ids = facts.iter().filter_map(|fact| match &fact.event {
            Event::CommandTaken { id, .. } => Some(id.0),
            _ => None,
        });
        ids.collect()
    };
    history.records.iter().find_map(|(id, facts)| {
        let taken = taken(facts);
        let sent = history.sent.get(id).map_or(0, |it| it.iter().map(|it| it.0).max().unwrap_or_default());
        let in_order = taken.iter().zip(1..).all(|(id, number)| *id == number);
        // A discussion that is over takes no more commands.
        let complete = sent <= taken.len() as u64 || history.over.contains(id);
        (!in_order || !complete).then(|| format!("{id}: taken {taken:?} of {sent}"))
    })
}

fn answers_are_repeated_only_for_what_was_in_flight(history: &History) -> Option<String> {
    let repeated: u64 = history.answered.values().map(|count| count.saturating_sub(1)).sum();
    (history.allowed < repeated).then(|| format!("{repeated} repeated, {} in flight", history.allowed))
}

fn no_ghost_holds_anything(history: &History) -> Option<String> {
    (0 < history.ghosts).then(|| format!("{} claims", history.ghosts))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quorum_core::{
        model::{
            command::{Command, CommandId},
            id::{NodeId, Seq},
            time::Timestamp,
        },
        seams::Claim,
    };

    use tokio::time::Instant;

    use super::*;

    fn fact(seq: u64, event: Event) -> Fact {
        Fact { seq: Seq(seq), at: Timestamp(0), active_ms: 0, step: None, event }
    }

    fn opened(round: u32) -> Event {
        Event::RoundOpened { round }
    }

    fn claimed(id: DiscussionId, fence: u64) -> Deed {
        Deed::Claimed { claim: Claim { id, node: NodeId::named("one"), fence }, at: Instant::now() }
    }

    fn appended(id: DiscussionId, fence: u64, facts: Vec<Fact>, is_done: bool) -> Deed {
        Deed::Appended { root: id, id, fence, facts: facts.into(), is_done }
    }

    /// Two facts, a command and its taking, all in order.
    fn sound(id: DiscussionId) -> History {
        let taken = Event::CommandTaken { id: CommandId(1), command: Command::Stop };
        let facts = vec![fact(1, opened(1)), fact(2, taken)];
        History {
            deeds: vec![
                claimed(id, 1),
                appended(id, 1, facts[..1].to_vec(), false),
                claimed(id, 2),
                appended(id, 2, facts[1..].to_vec(), true),
            ],
            acknowledged: vec![(id, Arc::from(&facts[..1])), (id, Arc::from(&facts[1..]))],
            sent: BTreeMap::from([(id, vec![CommandId(1)])]),
            answered: BTreeMap::from([((id, "1/talking/ann".to_owned()), 2)]),
            allowed: 1,
            records: BTreeMap::from([(id, facts)]),
            over: BTreeSet::new(),
            ghosts: 0,
        }
    }

    /// Breaks a sound history in this way, and checks that exactly these invariants notice.
    fn check(expected: &[u8], breaking: impl FnOnce(&mut History, DiscussionId)) {
        let id = DiscussionId::fresh();
        let mut history = sound(id);
        assert_eq!(broken(&history), []);
        breaking(&mut history, id);
        let numbers: Vec<u8> = broken(&history).into_iter().map(|it| it.0).collect();
        assert_eq!(numbers, expected);
    }

    #[test]
    fn every_check_fails_when_its_invariant_is_broken() {
        check(&[1, 8], |history, id| drop(history.records.get_mut(&id).unwrap().pop()));
        check(&[1], |history, id| history.records.get_mut(&id).unwrap()[0].active_ms = 7);
        check(&[1, 2], |history, id| history.records.get_mut(&id).unwrap()[1].seq = Seq(3));
        check(&[3], |history, id| history.deeds.push(claimed(id, 2)));
        check(&[4, 5, 7], |history, id| history.deeds.push(appended(id, 1, vec![fact(3, opened(2))], false)));
        check(&[5], |history, id| {
            history.deeds.remove(2);
            history.deeds.insert(1, claimed(id, 2));
        });
        check(&[6], |history, _| history.acknowledged.push(history.acknowledged[0].clone()));
        check(&[7], |history, id| history.deeds.push(appended(id, 2, vec![fact(3, opened(2))], false)));
        check(&[8], |history, id| history.sent.get_mut(&id).unwrap().push(CommandId(2)));
        check(&[9], |history, _| history.allowed = 0);
        check(&[10], |history, _| history.ghosts = 1);
    }
}
