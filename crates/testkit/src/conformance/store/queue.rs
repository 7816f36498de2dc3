//! The queue: tenants take turns, what fails waits longer each time, and nodes take what they can
//! run.

use std::time::Duration;

use quorum_core::{
    model::{
        command::Command,
        id::{DiscussionId, Seq, Tenant},
        lifecycle::Lifecycle,
        participant::Participant,
        spec::Spec,
    },
    seams::{
        Abilities, Backlog, ClaimRequest, Created, MOST_ATTEMPTS, Queueing, Release, RunStatus, Runner,
        StoreError, Then, Wake, Wanted, backoff_ms,
    },
};

use futures::StreamExt;

use super::{
    Subject, Whole,
    fixture::{Writer, about, claim, claim_any, finish, moved, node, open, opening, reap, said, second},
};

fn of(tenant: &str, topic: &str) -> Spec {
    Spec { tenant: Tenant::named(tenant), ..about(topic) }
}

async fn enqueue<S: Whole>(store: &S, spec: Spec, queueing: Queueing) -> Result<DiscussionId, StoreError> {
    let id = DiscussionId::fresh();
    let created = store.enqueue(id, opening(spec, second(1), None), queueing).await?;
    assert_eq!(created, Created::New);
    Ok(id)
}

async fn status<S: Whole>(store: &S, id: DiscussionId) -> Option<RunStatus> {
    let all = store.list(Wanted::default()).await.expect("the store is there");
    all.iter().find(|it| it.id == id).map(|it| it.run)
}

/// A tenant with a thousand orders and one with ten share what is run 1:1, within 10 %, while both
/// wait, in whatever order they came.
pub async fn tenants_take_turns<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    for number in 0..1_000 {
        enqueue(store, of("many", &format!("{number}")), Queueing::default()).await.expect("there is room");
    }
    for number in 0..10 {
        enqueue(store, of("few", &format!("{number}")), Queueing::default()).await.expect("there is room");
    }
    let one = node(store, "one").await;
    let (mut few, mut all) = (0, 0);
    while few < 10 {
        for taken in store.claim_any(ClaimRequest::any(one, 2)).await.expect("the store is there") {
            (few, all) = (few + usize::from(taken.tenant == Tenant::named("few")), all + 1);
        }
        assert!(all <= 22, "{few} of {all}");
    }
    // A tenant that comes later is not before everyone else, and not behind all.
    let late = enqueue(store, of("late", "late"), Queueing::default()).await.expect("there is room");
    let next = claim_any(store, 3, "one").await.expect("the store is there");
    assert!(next.iter().any(|it| it.id == late), "{next:?}");
}

/// What waits is counted by tenant, and what runs is not.
pub async fn a_full_queue_refuses_its_tenant_only<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let two = Queueing { most: Some(2), ..Queueing::default() };
    for topic in ["first", "second"] {
        enqueue(store, of("acme", topic), two).await.expect("there is room");
    }
    let full = StoreError::QueueFull { waiting: 2, most: 2 };
    assert_eq!(enqueue(store, of("acme", "third"), two).await, Err(full));
    assert!(enqueue(store, of("other", "first"), two).await.is_ok());
    assert_eq!(claim_any(store, 1, "one").await.map(|it| it.len()), Ok(1));
    assert!(enqueue(store, of("acme", "third"), two).await.is_ok());
    let acme = store.backlog(Some(Tenant::named("acme"))).await;
    assert_eq!(acme.map(|it| (it.queued, it.running, it.stuck)), Ok((2, 1, 0)));
    let all = store.backlog(None).await;
    assert_eq!(all.map(|it| (it.queued, it.running, it.stuck)), Ok((3, 1, 0)));
}

/// Enqueuing twice changes nothing, even where the queue is full by now.
pub async fn enqueuing_is_idempotent<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (id, facts) = (DiscussionId::fresh(), opening(about("tabs or spaces?"), second(1), None));
    let one = Queueing { most: Some(1), ..Queueing::default() };
    assert_eq!(store.enqueue(id, facts.clone(), one).await, Ok(Created::New));
    assert_eq!(store.enqueue(id, facts, one).await, Ok(Created::Existed));
    assert_eq!(store.backlog(None).await.map(|it| it.queued), Ok(1));
}

/// Only a claim by its id takes it before its time.
pub async fn what_is_kept_for_a_process_waits_for_it<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let kept = Queueing { ready_in_ms: 10_000, ..Queueing::default() };
    let id = enqueue(store, about("tabs or spaces?"), kept).await.expect("there is room");
    let other = enqueue(store, about("vi or emacs?"), kept).await.expect("there is room");
    assert_eq!(claim_any(store, 9, "one").await, Ok(Vec::new()));
    let held = claim(store, id, "two").await.expect("nobody has it");
    store.release(held, Release::After(5_000)).await.expect("it is ours");
    assert_eq!(claim_any(store, 9, "one").await, Ok(Vec::new()));
    if !subject.time.pass(Duration::from_millis(5_001)).await {
        return;
    }
    let ids = |claimed: Vec<quorum_core::seams::Claim>| claimed.iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(claim_any(store, 9, "one").await.map(ids), Ok(vec![id]));
    subject.time.pass(Duration::from_millis(5_000)).await;
    assert_eq!(claim_any(store, 9, "one").await.map(ids), Ok(vec![other]));
}

/// A run that adds nothing is tried again after longer and longer waits, then put aside. A command
/// brings it back.
pub async fn what_makes_no_progress_is_put_aside<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    for attempt in 1..=MOST_ATTEMPTS {
        let held = claim_any(store, 9, "one").await.expect("the store is there");
        assert_eq!(held.len(), 1, "attempt {attempt}");
        store.release(held[0].clone(), Release::Failed).await.expect("it is ours");
        assert_eq!(claim_any(store, 9, "one").await, Ok(Vec::new()), "it waits");
        if !subject.time.pass(Duration::from_millis(backoff_ms(attempt) + 1)).await {
            return;
        }
    }
    assert_eq!(claim_any(store, 9, "one").await, Ok(Vec::new()));
    assert_eq!(status(store, id).await, Some(RunStatus::Stuck));
    let backlog = Backlog { stuck: 1, ..Backlog::default() };
    assert_eq!(store.backlog(None).await, Ok(backlog));
    store.send(id, Command::Resume).await.expect("it is there");
    assert_eq!(claim_any(store, 9, "one").await.map(|it| it.len()), Ok(1));
    assert_eq!(status(store, id).await, Some(RunStatus::Running));
}

/// A run that comes further is tried again after a second, however often.
pub async fn progress_is_never_put_aside<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    for attempt in 0..=MOST_ATTEMPTS {
        let held = claim_any(store, 9, "one").await.expect("the store is there").remove(0);
        let mut writer = Writer { store, claim: held, id, last: Seq(3 + u64::from(attempt)) };
        writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.expect("it is ours");
        store.release(writer.claim, Release::Failed).await.expect("it is ours");
        if !subject.time.pass(Duration::from_millis(backoff_ms(0) + 1)).await {
            return;
        }
    }
    assert_eq!(status(store, id).await, Some(RunStatus::Queued));
}

/// A discussion that kills every process that runs it does not kill them all.
pub async fn what_kills_its_nodes_is_put_aside<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    for number in 0..MOST_ATTEMPTS {
        let name = format!("node {number}");
        assert_eq!(claim_any(store, 9, &name).await.map(|it| it.len()), Ok(1), "{name}");
        assert!(reap(store, &name).await);
    }
    assert_eq!(claim_any(store, 9, "the last").await, Ok(Vec::new()));
    assert_eq!(status(store, id).await, Some(RunStatus::Stuck));
    assert!(claim(store, id, "the last").await.is_ok(), "a person may try again");
}

/// The node is told which of them another had begun.
pub async fn a_takeover_is_told_apart<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let (fresh, left) = (open(store, "fresh", second(1)).await, open(store, "left", second(2)).await);
    let given_back = open(store, "given back", second(3)).await;
    claim(store, left, "one").await.expect("nobody has it");
    let released = claim(store, given_back, "two").await.expect("nobody has it");
    store.release(released, Release::Now).await.expect("it is ours");
    assert!(reap(store, "one").await);
    let two = node(store, "two").await;
    let taken = store.claim_any(ClaimRequest::any(two, 9)).await.expect("the store is there");
    let told: Vec<_> = taken.iter().map(|it| (it.claim.id, it.is_takeover)).collect();
    assert_eq!(told, [(fresh, false), (left, true), (given_back, false)]);
}

/// Another flow version, pattern or provider is left to other nodes.
pub async fn a_node_takes_what_it_is_able_to_run<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let real = Spec { simulation: None, ..about("tabs or spaces?") };
    let Spec { pattern, participants, .. } = real.clone();
    let id = enqueue(store, real, Queueing::default()).await.expect("there is room");
    let one = node(store, "one").await;
    let providers: Vec<String> = participants.iter().map(|it: &Participant| it.provider.clone()).collect();
    let able = |pattern: &str, flow, providers: &[String]| Abilities {
        patterns: Some(vec![(pattern.to_owned(), flow)]),
        providers: Some(providers.to_vec()),
    };
    for able in [able(&pattern, 2, &providers), able("other", 1, &providers), able(&pattern, 1, &[])] {
        let request = ClaimRequest { able: able.clone(), ..ClaimRequest::any(one, 9) };
        assert_eq!(store.claim_any(request).await, Ok(Vec::new()), "{able:?}");
    }
    let request = ClaimRequest { able: able(&pattern, 1, &providers), ..ClaimRequest::any(one, 9) };
    let taken = store.claim_any(request).await.expect("the store is there");
    assert_eq!(taken.iter().map(|it| it.claim.id).collect::<Vec<_>>(), [id]);
}

/// The limit counts what all nodes run for the tenant.
pub async fn a_tenant_runs_no_more_than_its_share<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    for tenant in ["acme", "acme", "acme", "other"] {
        enqueue(store, of(tenant, "tabs or spaces?"), Queueing::default()).await.expect("there is room");
    }
    let mut counts = Vec::new();
    for name in ["one", "two"] {
        let request =
            ClaimRequest { most_of_tenant: Some(2), ..ClaimRequest::any(node(store, name).await, 2) };
        counts.push(store.claim_any(request).await.expect("the store is there").len());
    }
    assert_eq!(counts, [2, 1], "the third of acme waits");
    assert_eq!(store.backlog(None).await.map(|it| it.queued), Ok(1));
}

/// The same for what is begun at once, on whichever node, also if many begin at the same time.
pub async fn a_tenant_begins_no_more_than_its_share<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut nodes = Vec::new();
    for name in ["one", "two"] {
        nodes.push(node(store, name).await);
    }
    let begin = |place: usize, tenant: &str, most: Option<u64>| {
        let facts = opening(of(tenant, "tabs or spaces?"), second(1), None);
        store.begin(DiscussionId::fresh(), facts, Runner { node: nodes[place % 2], most_of_tenant: most })
    };
    let begun = futures::future::join_all((0..6).map(|place| begin(place, "acme", Some(3)))).await;
    let full = StoreError::TenantFull { running: 3, most: 3 };
    assert_eq!(begun.iter().filter(|it| matches!(it, Ok(Some(_)))).count(), 3, "{begun:?}");
    assert_eq!(begun.iter().filter(|it| it.as_ref().err() == Some(&full)).count(), 3, "{begun:?}");
    assert!(matches!(begin(0, "other", Some(3)).await, Ok(Some(_))));
    assert!(matches!(begin(0, "acme", None).await, Ok(Some(_))));
    let first = begun.into_iter().find_map(|it| it.ok().flatten()).expect("three have begun");
    let (id, facts) = (first.id, opening(of("acme", "tabs or spaces?"), second(1), None));
    let again = Runner { node: nodes[0], most_of_tenant: Some(3) };
    assert_eq!(store.begin(id, facts, again).await, Ok(None), "what exists is no further one");
    assert_eq!(store.backlog(Some(Tenant::named("acme"))).await.map(|it| it.running), Ok(4));
}

/// The list says what each waits for.
pub async fn the_list_says_what_is_run<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let queued = open(store, "queued", second(1)).await;
    let running = open(store, "running", second(2)).await;
    claim(store, running, "one").await.expect("nobody has it");
    let waiting = open(store, "waiting", second(3)).await;
    let mut writer = Writer::claiming(store, waiting, "one").await;
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    writer.write(second(4), pause, Then::Park { seen: Default::default() }).await.expect("it is ours");
    let over = finish(store, "over", "so it is", second(5)).await;
    let told = [queued, running, waiting, over].map(|id| status(store, id));
    let told = futures::future::join_all(told).await;
    let expected = [RunStatus::Queued, RunStatus::Running, RunStatus::Waiting, RunStatus::Over].map(Some);
    assert_eq!(told, expected);
}

/// Watchers hear of new work and of facts that are followed.
pub async fn watchers_hear_of_work_and_facts<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let mut news = store.watch();
    let id = enqueue(store, about("tabs or spaces?"), Queueing::default()).await.expect("there is room");
    assert!(news.by_ref().any(async |heard| heard == Wake::Work).await);
    store.follow(id);
    let mut writer = Writer::claiming(store, id, "one").await;
    writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.expect("it is ours");
    let is_it = |heard: &Wake| matches!(heard, Wake::Facts { id: of, last } if *of == id && *last == Seq(4));
    assert!(news.by_ref().any(async |heard| is_it(&heard)).await);
}
