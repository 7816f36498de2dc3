//! The archive: past discussions, sessions, idempotency keys and the audit log.

use quorum_core::{
    model::{
        digest::{AwaitedTurn, Digest},
        error::{Code, Problem},
        event::{Event, Retried},
        id::{DiscussionId, Seq, Tenant},
        lifecycle::Lifecycle,
        outcome::{ResultKind, Standing, StandingReport},
        recall::{Recalled, Why},
        relevance::{content_words, key},
        spec::{Simulation, Spec},
    },
    seams::{
        Append, AuditEntry, AuditWanted, Cursor, Query, Recalling, Release, Reservation, Retention,
        RunStatus, Session, SessionsWanted, StoreError, Summary, Then, Wanted,
    },
};
use uuid::Uuid;

use super::{
    Subject, Whole,
    fixture::{
        Writer, about, below, claim, ending, finish, moved, numbered, open, open_as_ordered, opening, said,
        second,
    },
};

const DAY: i64 = 86_400;
const DAY_MS: u64 = 86_400_000;

fn first(limit: usize) -> Wanted {
    Wanted { limit, ..Wanted::default() }
}

fn ids(found: Result<Vec<Summary>, StoreError>) -> Vec<DiscussionId> {
    found.expect("the store is there").iter().map(|summary| summary.id).collect()
}

/// The list contains only top-level discussions, up to the limit.
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

/// Page by page, each discussion comes once, also while others are added and removed, and also if
/// several were created at the same time.
pub async fn the_list_is_read_in_pages<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut all = Vec::new();
    for (number, at) in [1, 2, 2, 2, 3].into_iter().enumerate() {
        all.push((second(at), open(store, &format!("{number}"), second(at)).await));
    }
    all.sort_unstable();
    let mut expected: Vec<DiscussionId> = all.iter().rev().map(|it| it.1).collect();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.list(Wanted { limit: 2, after, ..Wanted::default() }).await.expect("it is there");
        let Some(last) = page.last() else { break };
        after = Some(Cursor { opened_at: last.opened_at, id: last.id });
        seen.extend(page.iter().map(|it| it.id));
        // The place stays although its discussion goes, and what is newer does not move it.
        store.remove(last.id).await.expect("nobody runs it");
        open(store, "newer", second(9)).await;
    }
    assert_eq!(seen, std::mem::take(&mut expected));
}

/// What lists show besides the status is what the last append with a digest said.
pub async fn the_list_shows_the_digest<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let held = claim(store, id, "one").await.expect("nobody has it");
    let digest = Digest {
        awaiting: vec![AwaitedTurn { participant: "ann".to_owned(), round: 2, phase: "speaking".to_owned() }],
        ruling: None,
        tokens: 812,
        cost: None,
        result: Some(StandingReport {
            standing: Standing::voted(ResultKind::Adopted, 2, 3),
            degraded: true,
            simulated: false,
        }),
    };
    let facts = numbered(Seq(3), second(2), vec![said("ann", 1, "tabs")]).into();
    let expected = Seq(3);
    let append = Append {
        claim: held,
        id,
        expected,
        facts,
        then: Then::Continue,
        digest: Some(digest.clone().into()),
    };
    store.append(append.clone()).await.expect("the claim is ours");
    let facts = numbered(Seq(4), second(2), vec![said("bob", 1, "spaces")]).into();
    let further = Append { expected: Seq(4), facts, digest: None, ..append };
    store.append(further).await.expect("the claim is ours");
    let listed = store.list(Wanted::default()).await.expect("the store is there");
    assert_eq!(listed[0].digest, Some(digest));
}

/// Both filters narrow the list.
pub async fn the_list_by_prefix_and_session<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let session = Session {
        id: Uuid::now_v7(),
        name: "editors".to_owned(),
        created_at: second(1),
        tenant: Tenant::default(),
    };
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

/// Those that are over or failed are left out before the limit applies.
pub async fn the_list_of_what_runs_or_waits<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let waiting = open(store, "tabs or spaces?", second(1)).await;
    let running = open(store, "vi or emacs?", second(2)).await;
    claim(store, running, "one").await.expect("nobody has it");
    finish(store, "merge or rebase?", "Both.", second(3)).await;
    let failed = open(store, "camel or snake?", second(4)).await;
    let mut writer = Writer::claiming(store, failed, "one").await;
    let park = Then::Park { seen: Default::default() };
    let error = vec![moved(Lifecycle::Running, Lifecycle::Error)];
    writer.write(second(5), error, park).await.expect("the claim is ours");
    let unfinished = |limit| Wanted { unfinished: true, ..first(limit) };
    assert_eq!(ids(store.list(unfinished(9)).await), [running, waiting]);
    assert_eq!(ids(store.list(unfinished(1)).await), [running]);
}

/// All fields of a summary, before and after the end.
pub async fn a_summary_says_how_it_ended<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let simulation =
        Simulation { seed: 1, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };
    let spec = Spec { simulation: Some(simulation), ..about("tabs or spaces?") };
    let id = open_as_ordered(store, spec, second(1)).await;
    let opened = Summary {
        id,
        topic: "tabs or spaces?".to_owned(),
        title: None,
        pattern: "round-robin".to_owned(),
        status: Lifecycle::Ready,
        opened_at: second(1),
        ended_at: None,
        success: None,
        synthesis: None,
        simulated: true,
        session: None,
        run: RunStatus::Queued,
        digest: Some(Digest::opened()),
    };
    assert_eq!(store.list(Wanted::default()).await, Ok(vec![opened.clone()]));
    let mut writer = Writer::claiming(store, id, "one").await;
    writer.write(second(5), ending("tabs"), Then::Done).await.expect("the claim is ours");
    let ended = Summary {
        status: Lifecycle::Completed,
        ended_at: Some(second(5)),
        success: Some(true),
        synthesis: Some("tabs".to_owned()),
        run: RunStatus::Over,
        ..opened
    };
    assert_eq!(store.list(Wanted::default()).await, Ok(vec![ended]));
}

/// A new run of the same record clears the end.
pub async fn an_error_has_ended_until_it_is_tried_again<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    let problem = Problem::new(Code::ProviderError, "no answer");
    let failed =
        vec![Event::Failed { problem, absent: Vec::new() }, moved(Lifecycle::Running, Lifecycle::Error)];
    let park = Then::Park { seen: Default::default() };
    writer.write(second(2), failed, park).await.expect("the claim is ours");
    let listed = store.list(Wanted::default()).await.expect("the store is there");
    let shown = |it: &Summary| (it.status, it.ended_at, it.success);
    assert_eq!(shown(&listed[0]), (Lifecycle::Error, Some(second(2)), Some(false)));

    let claim = claim(store, id, "one").await.expect("an error may be tried again");
    let mut writer = Writer { claim, ..writer };
    let retried = vec![Event::Retried(Retried::default()), moved(Lifecycle::Error, Lifecycle::Ready)];
    writer.write(second(3), retried, Then::Continue).await.expect("the claim is ours");
    let listed = store.list(Wanted::default()).await.expect("the store is there");
    assert_eq!(shown(&listed[0]), (Lifecycle::Ready, None, None));
}

/// INV-DISC-631: matches in the topic rank before those in the synthesis, and those before turns,
/// whatever their age and number; other discussions are not found.
pub async fn inv_disc_631_the_most_relevant_comes_first<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let topical = finish(store, "are database migrations worth it?", "Yes.", second(1)).await;
    let talked = open(store, "which bread for breakfast?", second(2)).await;
    let mut writer = Writer::claiming(store, talked, "one").await;
    let mut facts =
        vec![said("ann", 1, "Migrations, migrations: a sourdough needs patience, as migrations do.")];
    facts.extend(ending("Rye."));
    writer.write(second(2), facts, Then::Done).await.expect("the claim is ours");
    let concluded = finish(store, "how do we ship?", "With migrations in small steps.", second(3)).await;
    finish(store, "tabs or spaces?", "Tabs.", second(4)).await;

    assert_eq!(ids(store.search("migrations", first(10)).await), [topical, concluded, talked]);
    assert_eq!(ids(store.search("MIGRAT", first(2)).await), [topical, concluded]);
    assert_eq!(ids(store.search("ship migrations", first(1)).await), [concluded], "both words before one");
    assert_eq!(ids(store.search("quantum", first(10)).await), []);
}

/// INV-DISC-631: function words match nothing, and one word of several is not enough.
pub async fn inv_disc_631_a_question_about_paint_finds_no_software<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let topics = [
        "Should we rewrite the parser in Rust?",
        "Which database should we use for the billing service?",
        "Do we need a monorepo for our team?",
        "How should we version the public API?",
        "Is it worth it to move to Kubernetes?",
    ];
    for (topic, at) in topics.iter().zip(1..) {
        finish(store, topic, "Yes, we should do it; the team is for it.", second(at)).await;
    }
    let paint = finish(store, "Which paint is best for a wooden door?", "Oil paint.", second(9)).await;
    for question in ["Which paint should we use for the garden fence?", "Should we do it?"] {
        assert_eq!(ids(store.search(question, first(10)).await), [], "{question}");
    }
    let fence = "Which paint should we use for a wooden fence?";
    assert_eq!(ids(store.search(fence, first(10)).await), [paint]);
}

/// Recalls up to `most` discussions for this question, on this day.
async fn recalled<S: Whole>(store: &S, question: &str, most: usize, day: i64) -> Vec<(DiscussionId, f64)> {
    let recalling =
        Recalling { key: key(question), simulated: false, at: second(day * DAY), except: Vec::new() };
    let query = Query { words: content_words(question), recalling: Some(recalling) };
    let found = store.find(query, first(most)).await.expect("the store is there");
    found.into_iter().map(|it| (it.summary.id, (it.score * 1_000.0).round() / 1_000.0)).collect()
}

/// INV-DISC-631: what is recalled is about the question, succeeded, and fades with age.
pub async fn inv_disc_631_what_is_recalled_is_about_the_question<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (topic, answer) = ("Which database for billing events?", "PostgreSQL.");
    let old = finish(store, &format!("{topic} (1)"), answer, second(0)).await;
    let new = finish(store, &format!("{topic} (2)"), answer, second(59 * DAY)).await;
    open(store, topic, second(59 * DAY)).await;
    let bread = open(store, "which bread for breakfast?", second(59 * DAY)).await;
    let mut writer = Writer::claiming(store, bread, "one").await;
    let mut facts = vec![said("ann", 1, "Rye needs no database for billing events.")];
    facts.extend(ending("Rye."));
    writer.write(second(59 * DAY), facts, Then::Done).await.expect("the claim is ours");
    for other in ["tabs or spaces?", "are we there yet?", "how do we ship?", "what is a monad?"] {
        finish(store, other, "Yes.", second(59 * DAY)).await;
    }
    let question = "What database should hold our billing events?";
    assert_eq!(recalled(store, question, 3, 60).await, [(new, 1.0), (old, 0.632)]);
    assert_eq!(recalled(store, question, 1, 60).await, [(new, 1.0)]);
    assert_eq!(recalled(store, "What is a good name for a cat?", 3, 60).await, []);
    // The same question comes first, whatever its age.
    let (first, _) = recalled(store, &format!("{topic} (1)"), 3, 60).await[0];
    assert_eq!(first, old);
}

/// A recall finds neither simulated nor failed nor excepted discussions, nor those of others.
pub async fn a_recall_is_limited_to_what_may_be_shown<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let topic = "Which database for billing events?";
    let simulation =
        Simulation { seed: 1, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };
    let anothers = Spec { tenant: Tenant::named("ann"), ..about(topic) };
    let simulated = Spec { simulation: Some(simulation), ..about(topic) };
    let mut ended = Vec::new();
    for spec in [anothers, simulated] {
        let id = open_as_ordered(store, spec, second(1)).await;
        let mut writer = Writer::claiming(store, id, "one").await;
        writer.write(second(5), ending("PostgreSQL"), Then::Done).await.expect("the claim is ours");
        ended.push(id);
    }
    let running = open(store, topic, second(1)).await;
    let own = finish(store, topic, "PostgreSQL", second(2)).await;
    let excepted = finish(store, topic, "PostgreSQL", second(3)).await;
    let found = async |tenant: &str, simulated: bool, session| {
        let recalling = Recalling { key: key(topic), simulated, at: second(9), except: vec![excepted] };
        let query = Query { words: content_words(topic), recalling: Some(recalling) };
        let wanted = Wanted { tenant: Some(Tenant::named(tenant)), session, ..Wanted::default() };
        let found = store.find(query, wanted).await.expect("the store is there");
        found.into_iter().map(|it| it.summary.id).collect::<Vec<_>>()
    };
    assert_eq!(found("", false, None).await, [own]);
    assert_eq!(found("", true, None).await, [ended[1]]);
    assert_eq!(found("ann", false, None).await, [ended[0]]);
    assert_eq!(found("bob", false, None).await, []);
    assert_eq!(found("", false, Some(Uuid::now_v7())).await, []);
    assert_ne!(running, own);
}

/// INV-DISC-632: the discussions that hold a copy of an answer are known.
pub async fn inv_disc_632_copies_of_an_answer_are_found<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let source = finish(store, "tabs or spaces?", "Tabs.", second(1)).await;
    let copied = Recalled {
        id: source,
        key: key("tabs or spaces?"),
        topic: "tabs or spaces?".to_owned(),
        ended_at: second(1),
        score: None,
        text: "Tabs.".to_owned(),
        cut: false,
        tokens: 2,
        why: Why::Recalled,
    };
    let of = |tenant: &str, recalled| Spec { tenant: Tenant::named(tenant), recalled, ..about("vi?") };
    let first_copy = open_as_ordered(store, of("", Some(vec![copied.clone()])), second(2)).await;
    let second_copy = open_as_ordered(store, of("", Some(vec![copied.clone()])), second(3)).await;
    open_as_ordered(store, of("", Some(Vec::new())), second(4)).await;
    open_as_ordered(store, Spec { background: Some(source.to_string()), ..of("", None) }, second(4)).await;
    open_as_ordered(store, of("ann", Some(vec![copied])), second(5)).await;
    assert_eq!(ids(store.copies(source).await), [second_copy, first_copy]);
    assert_eq!(ids(store.copies(first_copy).await), []);
    let nowhere = DiscussionId::fresh();
    assert_eq!(store.copies(nowhere).await, Err(StoreError::Unknown(nowhere)));
}

/// User input is always searched as words, never as search operators.
pub async fn any_signs_may_be_searched<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = finish(store, "is C++ or \"Rust\" (2024) safer?", "Rust, or not?", second(1)).await;
    for words in ["\"Rust", "rust OR", "NOT rust", "rust*", "(rust", "safer:rust", "c++ rust", "2024)"] {
        assert_eq!(ids(store.search(words, first(10)).await), [id], "{words}");
    }
    for nothing in ["", "   ", "\"", "*", "()", "\0", "zebra AND", "'; drop table facts"] {
        assert_eq!(ids(store.search(nothing, first(10)).await), [], "{nothing}");
    }
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

/// Creating a session twice changes nothing.
pub async fn sessions_are_newest_first<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let session = |name: &str, at| Session {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        created_at: second(at),
        tenant: Tenant::default(),
    };
    let (older, newer) = (session("older", 1), session("newer", 2));
    for session in [&newer, &older, &newer] {
        store.create_session(session.clone()).await.expect("the store is there");
    }
    let other = Session { tenant: Tenant::named("ann"), ..session("another tenant's", 3) };
    store.create_session(other.clone()).await.expect("the store is there");
    assert_eq!(store.sessions(SessionsWanted::default()).await, Ok(vec![newer, older]));
    assert_eq!(store.sessions(SessionsWanted::of(Tenant::named("ann"))).await, Ok(vec![other]));
}

/// A page begins after the last session of the one before, also if two are of the same time; names
/// and ids are found without reading the rest.
pub async fn sessions_are_read_in_pages<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut all = Vec::new();
    for (number, at) in [(1, 1), (2, 2), (3, 2), (4, 3)] {
        let (id, name) = (Uuid::from_u128(number), format!("session {}", number % 2));
        all.push(Session { id, name, created_at: second(at), tenant: Tenant::default() });
    }
    for session in &all {
        store.create_session(session.clone()).await.expect("the store is there");
    }
    all.reverse();
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let wanted = SessionsWanted { limit: 3, after, ..SessionsWanted::default() };
        let page = store.sessions(wanted).await.expect("the store is there");
        let Some(last) = page.last() else { break };
        after = Some((last.created_at, last.id));
        read.extend(page);
    }
    assert_eq!(read, all);
    let called = |called: String| SessionsWanted { called: Some(called), ..SessionsWanted::default() };
    let (first, third) = (all[3].clone(), all[1].clone());
    assert_eq!(store.sessions(called(first.name.clone())).await, Ok(vec![third, first.clone()]));
    assert_eq!(store.sessions(called(first.id.to_string())).await, Ok(vec![first]));
    assert_eq!(store.sessions(called("session".to_owned())).await, Ok(Vec::new()));
}

/// A session keeps its place under another name, and is removed when no discussion belongs to it.
pub async fn a_session_is_renamed_and_removed_when_it_is_empty<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (own, ann) = (Tenant::default(), Tenant::named("ann"));
    let id = Uuid::now_v7();
    let session =
        |name: &str| Session { id, name: name.to_owned(), created_at: second(1), tenant: own.clone() };
    store.create_session(session("editors")).await.expect("the store is there");
    let spec = Spec { session: Some(id), ..about("vi or emacs?") };
    let discussion = open_as_ordered(store, spec.clone(), second(2)).await;

    let unknown = Err(StoreError::UnknownSession(id));
    assert_eq!(store.rename_session(ann.clone(), id, "mine".to_owned()).await, unknown);
    assert_eq!(store.rename_session(own.clone(), id, "Editors".to_owned()).await, Ok(()));
    assert_eq!(store.sessions(SessionsWanted::of(own.clone())).await, Ok(vec![session("Editors")]));

    assert_eq!(store.remove_session(ann, id).await, unknown);
    let in_use = Err(StoreError::SessionInUse { id, discussions: 1 });
    assert_eq!(store.remove_session(own.clone(), id).await, in_use);
    assert_eq!(store.sessions(SessionsWanted::of(own.clone())).await, Ok(vec![session("Editors")]));
    store.remove(discussion).await.expect("it is not running");
    assert_eq!(store.remove_session(own.clone(), id).await, Ok(()));
    assert_eq!(store.remove_session(own.clone(), id).await, unknown);
    assert_eq!(store.rename_session(own.clone(), id, "gone".to_owned()).await, unknown);
    assert_eq!(store.sessions(SessionsWanted::of(own)).await, Ok(vec![]));
    let refused = store.create(DiscussionId::fresh(), opening(spec, second(3), None)).await;
    assert_eq!(refused, Err(StoreError::UnknownSession(id)));
}

/// S12: lists, searches and sessions are limited to one tenant.
pub async fn s12_tenants_see_their_own<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (ann, bob) = (Tenant::named("ann"), Tenant::named("bob"));
    let of = |tenant: &Tenant| Spec { tenant: tenant.clone(), ..about("tabs or spaces?") };
    let anns = open_as_ordered(store, of(&ann), second(1)).await;
    let bobs = open_as_ordered(store, of(&bob), second(2)).await;
    let nobodys = open(store, "tabs or spaces?", second(3)).await;
    let whose = |tenant: &Tenant| Wanted { tenant: Some(tenant.clone()), ..Wanted::default() };
    let own = Tenant::default();
    for (tenant, id) in [(&ann, anns), (&bob, bobs), (&own, nobodys)] {
        assert_eq!(ids(store.list(whose(tenant)).await), [id]);
        assert_eq!(ids(store.search("tabs", whose(tenant)).await), [id]);
    }
    assert_eq!(ids(store.list(Wanted::default()).await), [nobodys, bobs, anns]);

    let session =
        Session { id: Uuid::now_v7(), name: "anns".to_owned(), created_at: second(1), tenant: ann.clone() };
    store.create_session(session.clone()).await.expect("the store is there");
    let spec = Spec { session: Some(session.id), ..of(&bob) };
    let refused = store.create(DiscussionId::fresh(), opening(spec, second(4), None)).await;
    assert_eq!(refused, Err(StoreError::UnknownSession(session.id)));
}

/// A name is for lists: the record, the topic and the search index stay as they are, and a finished
/// discussion can be renamed.
pub async fn a_name_is_for_lists_only<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = finish(store, "tabs or spaces?", "tabs", second(1)).await;
    let child = id.derived("sub1");
    store.create(child, opening(about("below"), second(1), below(id))).await.expect("its root is there");
    let before = store.read(id, Seq::START, 100).await;
    for title in [Some("The old question"), None, Some("Indentation")] {
        store.rename(id, title.map(str::to_owned)).await.expect("it is there");
        let listed = store.list(Wanted::default()).await.expect("the store is there");
        let names: Vec<_> = listed.iter().map(|it| (it.topic.as_str(), it.title.as_deref())).collect();
        assert_eq!(names, [("tabs or spaces?", title)]);
    }
    assert_eq!(store.read(id, Seq::START, 100).await, before);
    assert_eq!(ids(store.search("tabs", first(10)).await), [id]);
    assert_eq!(ids(store.search("indentation", first(10)).await), []);
    for unknown in [child, DiscussionId::fresh()] {
        assert_eq!(store.rename(unknown, None).await, Err(StoreError::Unknown(unknown)));
    }
}

/// A running discussion is kept; others are removed with all their sub-discussions, finished or
/// not.
pub async fn removing_takes_what_nobody_runs<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let child = id.derived("sub1");
    store.create(child, opening(about("below"), second(1), below(id))).await.expect("its root is there");
    let finished = finish(store, "are we done?", "yes", second(2)).await;
    let claim = claim(store, id, "one").await.expect("nobody has it");
    assert_eq!(store.remove(id).await, Err(StoreError::Held { id, owner: "one".to_owned() }));
    assert_eq!(store.remove(child).await, Err(StoreError::Unknown(child)));
    store.release(claim, Release::Now).await.expect("it is ours");
    for gone in [id, finished] {
        assert_eq!(store.remove(gone).await, Ok(()));
        assert_eq!(store.remove(gone).await, Err(StoreError::Unknown(gone)));
    }
    assert_eq!(store.read(child, Seq::START, 1).await, Err(StoreError::Unknown(child)));
    assert_eq!(ids(store.search("done", first(9)).await), []);
}

/// F12: the first request reserves the key, until its discussion is removed.
pub async fn f12_an_order_is_reserved_once<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let order = |tenant: &str, digest: &str, id| Reservation {
        tenant: Tenant::named(tenant),
        key: "k".to_owned(),
        digest: digest.to_owned(),
        id,
    };
    let first = order("ann", "one", id);
    assert_eq!(store.reserve(first.clone()).await, Ok(first.clone()));
    let again = order("ann", "two", DiscussionId::fresh());
    assert_eq!(store.reserve(again.clone()).await, Ok(first));
    let anothers = order("bob", "two", DiscussionId::fresh());
    assert_eq!(store.reserve(anothers.clone()).await, Ok(anothers));
    store.remove(id).await.expect("nobody runs it");
    assert_eq!(store.reserve(again.clone()).await, Ok(again));
}

/// Audit entries are listed newest first, for one tenant, and removed by retention.
pub async fn audit_entries_are_kept_by_tenant<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let entry = |tenant: &str, action: &str, at| AuditEntry {
        at: second(at),
        tenant: Tenant::named(tenant),
        who: "ann's laptop".to_owned(),
        action: action.to_owned(),
        discussion: DiscussionId::fresh(),
        result: "done".to_owned(),
    };
    let (pause, delete, other) =
        (entry("ann", "pause", 1), entry("ann", "delete", 2), entry("bob", "stop", 3));
    for entry in [&pause, &delete, &other] {
        store.log(entry.clone()).await.expect("the store is there");
    }
    let page = async |tenant: &str, limit, before| {
        let wanted = AuditWanted { tenant: Tenant::named(tenant), limit, before };
        store.audit_entries(wanted).await.expect("the store is there")
    };
    let of = async |tenant: &str| page(tenant, 9, None).await.into_iter().map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(of("ann").await, [delete.clone(), pause.clone()]);
    assert_eq!(of("bob").await, [other]);
    let first = page("ann", 1, None).await;
    assert_eq!(first.iter().map(|it| &it.1).collect::<Vec<_>>(), [&delete]);
    let second_page = page("ann", 1, Some(first[0].0)).await;
    assert_eq!(second_page.iter().map(|it| &it.1).collect::<Vec<_>>(), [&pause]);
    assert_eq!(page("ann", 1, Some(second_page[0].0)).await, []);
    // Entries are kept as long as their discussions: for the retention period and a week.
    let newest = second(3 + 8 * DAY);
    finish(store, "young", "new", newest).await;
    let keep = |ms| Retention { keep_ms: ms, wall: newest };
    store.expire(keep(DAY_MS + 2_000)).await.expect("the store is there");
    assert_eq!(of("ann").await.len(), 2);
    store.expire(keep(DAY_MS + 1_000)).await.expect("the store is there");
    assert_eq!(of("ann").await, [delete]);
}
