//! The record: facts are written once, read back, and never changed.

use std::sync::Arc;

use quorum_core::{
    model::{
        event::Event,
        id::{DiscussionId, Seq, Step},
    },
    seams::{Append, Created, StoreError, Then},
};

use super::{
    Subject, Whole,
    fixture::{Writer, about, below, claim, ending, finish, numbered, open, opening, said, second},
};

/// Creating the same id again changes nothing.
pub async fn create_is_idempotent<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = DiscussionId::fresh();
    let first = opening(about("tabs or spaces?"), second(1), None);
    assert_eq!(store.create(id, first.clone()).await, Ok(Created::New));
    let second_try = opening(about("vi or emacs?"), second(2), None);
    assert_eq!(store.create(id, second_try).await, Ok(Created::Existed));
    assert_eq!(store.read(id, Seq::START, usize::MAX).await, Ok(first));
}

/// Every field survives.
pub async fn facts_come_back_as_they_were<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let claim = claim(store, id, "one").await.expect("nobody has it");
    let mut facts = numbered(Seq(3), second(2), vec![said("ann", 1, "tabs – “obviously” \u{1f642}\n\0")]);
    facts[0].step = Some(Step::new(1, "speaking", "ann"));
    facts.extend(numbered(Seq(4), second(3), ending("tabs")));
    let append = Append {
        claim,
        id,
        expected: Seq(3),
        facts: facts.clone().into(),
        then: Then::Continue,
        digest: None,
    };
    assert_eq!(store.append(append).await, Ok(Seq(7)));
    assert_eq!(store.read(id, Seq(3), usize::MAX).await, Ok(facts));
}

/// In order, a page at a time, until the end.
pub async fn facts_are_read_in_pages<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    let rounds = (1..=4).map(|round| Event::RoundOpened { round }).collect();
    writer.write(second(2), rounds, Then::Continue).await.expect("the claim is ours");
    let mut pages = Vec::new();
    for after in [0, 3, 6, 7, 8] {
        let page = store.read(id, Seq(after), 3).await.expect("it is there");
        pages.push(page.iter().map(|fact| fact.seq.0).collect::<Vec<_>>());
    }
    assert_eq!(pages, [vec![1, 2, 3], vec![4, 5, 6], vec![7], vec![], vec![]]);
    assert_eq!(store.read(id, Seq::START, 0).await, Ok(Vec::new()));
}

/// Every operation on an unknown discussion fails.
pub async fn an_unknown_discussion_is_unknown<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = DiscussionId::fresh();
    let unknown = StoreError::Unknown(id);
    assert_eq!(store.read(id, Seq::START, 1).await, Err(unknown.clone()));
    assert_eq!(claim(store, id, "one").await, Err(unknown.clone()));
    let known = open(store, "tabs or spaces?", second(1)).await;
    let claim = claim(store, known, "one").await.expect("nobody has it");
    let append =
        Append { claim, id, expected: Seq(0), facts: Vec::new().into(), then: Then::Continue, digest: None };
    assert_eq!(store.append(append).await, Err(unknown));
}

/// Another writer was first, or a write was repeated: the record stays as it is.
pub async fn a_wrong_expected_number_is_fenced<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let claim = claim(store, id, "one").await.expect("nobody has it");
    let facts = numbered(Seq(3), second(2), vec![said("ann", 1, "tabs")]);
    let append =
        Append { claim, id, expected: Seq(3), facts: facts.into(), then: Then::Continue, digest: None };
    assert_eq!(store.append(append.clone()).await, Ok(Seq(4)));
    assert_eq!(store.append(append.clone()).await, Err(StoreError::Fenced(id)));
    let ahead =
        Append { expected: Seq(5), facts: numbered(Seq(5), second(3), ending("tabs")).into(), ..append };
    assert_eq!(store.append(ahead).await, Err(StoreError::Fenced(id)));
    assert_eq!(store.read(id, Seq(3), usize::MAX).await.map(|facts| facts.len()), Ok(1));
}

/// Otherwise the record would have a permanent gap.
pub async fn facts_out_of_order_are_refused<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let claim = claim(store, id, "one").await.expect("nobody has it");
    let facts = numbered(Seq(4), second(2), vec![said("ann", 1, "tabs")]);
    let append =
        Append { claim, id, expected: Seq(3), facts: facts.into(), then: Then::Continue, digest: None };
    assert!(matches!(store.append(append).await, Err(StoreError::Unusable(_))));
    assert_eq!(store.read(id, Seq(3), usize::MAX).await, Ok(Vec::new()));
}

/// A record begins with the spec.
pub async fn what_is_no_beginning_is_refused<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = DiscussionId::fresh();
    for facts in [Vec::new(), numbered(Seq::START, second(1), vec![said("ann", 1, "tabs")])] {
        assert!(matches!(store.create(id, facts).await, Err(StoreError::Unusable(_))));
    }
    assert_eq!(store.read(id, Seq::START, 1).await, Err(StoreError::Unknown(id)));
}

/// Only the root's claim may write to a sub-discussion.
pub async fn children_are_written_under_the_roots_claim<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let root = open(store, "tabs or spaces?", second(1)).await;
    let stranger = open(store, "vi or emacs?", second(1)).await;
    let child = root.derived("1/speaking/ann/sub1");
    let first = opening(about("how wide is a tab?"), second(2), below(root));
    assert_eq!(store.create(child, first).await, Ok(Created::New));

    let mut writer = Writer { id: child, ..Writer::claiming(store, root, "one").await };
    assert_eq!(writer.write(second(3), vec![said("bob", 1, "four")], Then::Continue).await, Ok(Seq(4)));

    let mut other = Writer { id: child, last: Seq(4), ..Writer::claiming(store, stranger, "one").await };
    let refused = other.write(second(3), vec![said("bob", 1, "eight")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Fenced(child)));

    let orphan = DiscussionId::fresh();
    let nobody = DiscussionId::fresh();
    let first = opening(about("how wide is a tab?"), second(2), below(nobody));
    assert_eq!(store.create(orphan, first).await, Err(StoreError::Unknown(nobody)));
}

/// INV-DISC-630: neither the claim that finished it nor a new one can write.
pub async fn a_finished_record_never_changes<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    writer.write(second(2), ending("tabs"), Then::Done).await.expect("the claim is ours");
    let before = store.read(id, Seq::START, usize::MAX).await;

    let more = || vec![said("ann", 2, "one more thing")];
    assert_eq!(writer.write(second(3), more(), Then::Continue).await, Err(StoreError::Fenced(id)));
    if let Ok(claim) = claim(store, id, "two").await {
        let mut writer = Writer { claim, ..writer };
        assert_eq!(writer.write(second(3), more(), Then::Continue).await, Err(StoreError::Over(id)));
    }
    assert_eq!(store.read(id, Seq::START, usize::MAX).await, before);
}

/// The root's claim goes on, but the finished sub-discussion's record is closed.
pub async fn a_finished_child_never_changes<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let root = open(store, "tabs or spaces?", second(1)).await;
    let child = root.derived("1/speaking/ann/sub1");
    let first = opening(about("how wide is a tab?"), second(2), below(root));
    store.create(child, first).await.expect("its root is there");
    let mut writer = Writer { id: child, ..Writer::claiming(store, root, "one").await };
    writer.write(second(3), ending("four"), Then::Continue).await.expect("the claim is ours");
    let refused = writer.write(second(4), vec![said("bob", 1, "eight")], Then::Continue).await;
    assert_eq!(refused, Err(StoreError::Over(child)));
    let mut above = Writer { id: root, last: Seq(3), ..writer };
    let onward = above.write(second(4), vec![said("ann", 1, "tabs")], Then::Continue).await;
    assert_eq!(onward, Ok(Seq(4)));
}

/// Sixteen concurrent writers, each to its own discussion.
pub async fn concurrent_appends_are_all_stored<S: Whole>(subject: Subject<S>) {
    let write = async |store: Arc<S>, number: usize| {
        let id = open(&*store, &format!("question {number}"), second(1)).await;
        let mut writer = Writer::claiming(&*store, id, "one").await;
        for round in 1..=10 {
            let turn = vec![said("ann", round, &format!("{number}.{round}"))];
            writer.write(second(2), turn, Then::Continue).await.expect("the claim is ours");
        }
        id
    };
    let written = futures::future::join_all((0..16).map(|number| write(subject.store.clone(), number))).await;
    for (number, id) in written.into_iter().enumerate() {
        let expected: Vec<Event> =
            (1..=10).map(|round| said("ann", round, &format!("{number}.{round}"))).collect();
        let facts = subject.store.read(id, Seq(3), usize::MAX).await.expect("it is there");
        assert_eq!(facts.into_iter().map(|fact| fact.event).collect::<Vec<_>>(), expected);
    }
    let done = finish(&*subject.store, "still open?", "yes", second(3)).await;
    assert_eq!(subject.store.read(done, Seq(3), usize::MAX).await.map(|facts| facts.len()), Ok(3));
}
