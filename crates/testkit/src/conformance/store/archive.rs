//! Past discussions: found again, and forgotten when their time has come.

use quorum_core::{
    model::{
        error::{Code, Problem},
        event::Event,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        spec::{Simulation, Spec},
    },
    seams::{Session, StoreError, Summary, Then, Wanted},
};
use uuid::Uuid;

use super::{
    Subject, Whole,
    fixture::{
        LEASE_MS, Writer, about, below, ending, finish, moved, open, open_as_ordered, opening, said, second,
    },
};

fn ids(found: Result<Vec<Summary>, StoreError>) -> Vec<DiscussionId> {
    found.expect("the store is there").iter().map(|summary| summary.id).collect()
}

/// Only those that people started, and no more than wanted.
pub async fn the_list_is_newest_first<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let middle = open(store, "second", second(2)).await;
    let newest = open(store, "third", second(3)).await;
    let oldest = open(store, "first", second(1)).await;
    let child = opening(about("below"), second(4), below(oldest));
    store.create(oldest.derived("sub1"), child).await.expect("its root is there");
    assert_eq!(ids(store.list(Wanted::default()).await), [newest, middle, oldest]);
    let two = Wanted { limit: 2, ..Wanted::default() };
    assert_eq!(ids(store.list(two).await), [newest, middle]);
}

/// Both narrow the list down.
pub async fn the_list_by_prefix_and_session<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let session = Session { id: Uuid::now_v7(), name: "editors".to_owned(), created_at: second(1) };
    store.create_session(session.clone()).await.expect("the store is there");
    let alone = open(store, "tabs or spaces?", second(1)).await;
    let spec = Spec { session: Some(session.id), ..about("vi or emacs?") };
    let together = open_as_ordered(store, spec, second(2)).await;

    let of_session = Wanted { session: Some(session.id), ..Wanted::default() };
    assert_eq!(ids(store.list(of_session).await), [together]);
    let of_another = Wanted { session: Some(Uuid::now_v7()), ..Wanted::default() };
    assert_eq!(ids(store.list(of_another).await), []);
    let by_prefix = |prefix: &str| Wanted { prefix: Some(prefix.to_owned()), ..Wanted::default() };
    assert_eq!(ids(store.list(by_prefix(&alone.to_string())).await), [alone]);
    assert_eq!(ids(store.list(by_prefix(&alone.to_string()[..30])).await), [alone]);
    for nothing in ["%", "_", "'", "zz"] {
        assert_eq!(ids(store.list(by_prefix(nothing)).await), []);
    }
}

/// Everything a list shows, before and after.
pub async fn a_summary_says_how_it_ended<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let simulation = Simulation { seed: 1, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new() };
    let spec = Spec { simulation: Some(simulation), ..about("tabs or spaces?") };
    let id = open_as_ordered(store, spec, second(1)).await;
    let opened = Summary {
        id,
        topic: "tabs or spaces?".to_owned(),
        pattern: "round-robin".to_owned(),
        status: Lifecycle::Ready,
        opened_at: second(1),
        ended_at: None,
        success: None,
        synthesis: None,
        simulated: true,
        session: None,
    };
    assert_eq!(store.list(Wanted::default()).await, Ok(vec![opened.clone()]));
    let mut writer = Writer::claiming(store, id, "one").await;
    writer.write(second(5), ending("tabs"), Then::Done).await.expect("the claim is ours");
    let ended = Summary {
        status: Lifecycle::Completed,
        ended_at: Some(second(5)),
        success: Some(true),
        synthesis: Some("tabs".to_owned()),
        ..opened
    };
    assert_eq!(store.list(Wanted::default()).await, Ok(vec![ended]));
}

/// A new run over the same record takes the end back.
pub async fn an_error_has_ended_until_it_is_tried_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    let problem = Problem::new(Code::ProviderError, "no answer");
    let failed = vec![Event::Failed { problem }, moved(Lifecycle::Running, Lifecycle::Error)];
    let park = Then::Park { seen: Default::default() };
    writer.write(second(2), failed, park).await.expect("the claim is ours");
    let listed = store.list(Wanted::default()).await.expect("the store is there");
    let shown = |it: &Summary| (it.status, it.ended_at, it.success);
    assert_eq!(shown(&listed[0]), (Lifecycle::Error, Some(second(2)), Some(false)));

    let claim = store.claim(id, "one", LEASE_MS).await.expect("an error may be tried again");
    let mut writer = Writer { claim, ..writer };
    let retried = vec![Event::Retried, moved(Lifecycle::Error, Lifecycle::Ready)];
    writer.write(second(3), retried, Then::Continue).await.expect("the claim is ours");
    let listed = store.list(Wanted::default()).await.expect("the store is there");
    assert_eq!(shown(&listed[0]), (Lifecycle::Ready, None, None));
}

/// INV-DISC-631: the topic before the synthesis before what was said; what has nothing to do with it is not there.
pub async fn the_most_relevant_comes_first<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let talked = open(store, "which bread for breakfast?", second(1)).await;
    let mut writer = Writer::claiming(store, talked, "one").await;
    let mut facts = vec![said("ann", 1, "A sourdough needs patience, as migrations do.")];
    facts.extend(ending("Rye."));
    writer.write(second(1), facts, Then::Done).await.expect("the claim is ours");
    let concluded = finish(store, "how do we ship?", "With migrations in small steps.", second(2)).await;
    let topical = finish(store, "are database migrations worth it?", "Yes.", second(3)).await;
    finish(store, "tabs or spaces?", "Tabs.", second(4)).await;

    assert_eq!(ids(store.search("migrations", 10).await), [topical, concluded, talked]);
    assert_eq!(ids(store.search("MIGRAT", 2).await), [topical, concluded]);
    assert_eq!(ids(store.search("database sourdough", 10).await).len(), 2);
    assert_eq!(ids(store.search("quantum", 10).await), []);
}

/// Whatever people type is words, never an order to the search.
pub async fn any_signs_may_be_searched<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = finish(store, "is C++ or \"Rust\" (2024) safer?", "Rust, or not?", second(1)).await;
    for words in ["\"Rust", "rust OR", "NOT rust", "rust*", "(rust", "topic:rust", "c++ rust", "2024)"] {
        assert_eq!(ids(store.search(words, 10).await), [id], "{words}");
    }
    for nothing in ["", "   ", "\"", "*", "()", "\0", "zebra AND", "'; drop table facts"] {
        assert_eq!(ids(store.search(nothing, 10).await), [], "{nothing}");
    }
}

/// INV-DISC-632: what ended before that moment, with everything below it, and nothing else.
pub async fn forgetting_takes_everything_below<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let old = open(store, "old", second(1)).await;
    let child = old.derived("sub1");
    store.create(child, opening(about("below"), second(1), below(old))).await.expect("its root is there");
    let mut writer = Writer::claiming(store, old, "one").await;
    writer.write(second(2), ending("old news"), Then::Done).await.expect("the claim is ours");
    let young = finish(store, "young", "new", second(10)).await;
    let running = open(store, "running", second(1)).await;

    assert_eq!(store.forget(second(2)).await, Ok(0));
    assert_eq!(store.forget(second(10)).await, Ok(1));
    for gone in [old, child] {
        assert_eq!(store.read(gone, Seq::START, 1).await, Err(StoreError::Unknown(gone)));
    }
    assert_eq!(ids(store.search("old", 10).await), []);
    assert_eq!(ids(store.list(Wanted::default()).await), [young, running]);
    assert_eq!(store.forget(second(10)).await, Ok(0));
}

/// INV-DISC-300.
pub async fn a_session_must_exist<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let nowhere = Uuid::now_v7();
    let id = DiscussionId::fresh();
    let spec = Spec { session: Some(nowhere), ..about("tabs or spaces?") };
    let refused = store.create(id, opening(spec, second(1), None)).await;
    assert_eq!(refused, Err(StoreError::UnknownSession(nowhere)));
    assert_eq!(store.read(id, Seq::START, 1).await, Err(StoreError::Unknown(id)));
}

/// Making one twice changes nothing.
pub async fn sessions_are_newest_first<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let session =
        |name: &str, at| Session { id: Uuid::now_v7(), name: name.to_owned(), created_at: second(at) };
    let (older, newer) = (session("older", 1), session("newer", 2));
    for session in [&newer, &older, &newer] {
        store.create_session(session.clone()).await.expect("the store is there");
    }
    assert_eq!(store.sessions().await, Ok(vec![newer, older]));
}
