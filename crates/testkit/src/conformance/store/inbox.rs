//! Commands: in order, to whom they concern, and somebody hears of them.

use futures::StreamExt;
use quorum_core::{
    model::{
        command::{Command, CommandId},
        debate::{JudgeChange, JudgeFailure},
        event::{Event, WindUp},
        id::{DiscussionId, Step},
        lifecycle::Lifecycle,
        vacancy::{Ruling, Vacancy},
    },
    seams::{StoreError, Then},
};

use super::{
    Subject, Whole,
    fixture::{LEASE_MS, Writer, about, below, finish, moved, open, opening, second},
};

/// From 1 on, in each discussion for itself.
pub async fn commands_keep_their_order<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let other = open(store, "vi or emacs?", second(1)).await;
    assert_eq!(store.send(other, Command::Stop).await, Ok(CommandId(1)));
    for (number, command) in [(1, Command::Pause), (2, Command::Resume), (3, Command::Abort)] {
        assert_eq!(store.send(id, command).await, Ok(CommandId(number)));
    }
    let all =
        vec![(CommandId(1), Command::Pause), (CommandId(2), Command::Resume), (CommandId(3), Command::Abort)];
    assert_eq!(store.commands(id, CommandId(2)).await, Ok(all[2..].to_vec()));
    assert_eq!(store.commands(id, CommandId(3)).await, Ok(Vec::new()));
    assert_eq!(store.commands(id, CommandId::default()).await, Ok(all));
}

/// Nobody takes them from an unknown discussion, from one that is over, or from one below another.
pub async fn commands_need_somebody_to_take_them<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let nobody = DiscussionId::fresh();
    assert_eq!(store.send(nobody, Command::Stop).await, Err(StoreError::Unknown(nobody)));
    assert_eq!(store.commands(nobody, CommandId(0)).await, Err(StoreError::Unknown(nobody)));
    let over = finish(store, "tabs or spaces?", "tabs", second(1)).await;
    assert_eq!(store.send(over, Command::Stop).await, Err(StoreError::Over(over)));
    assert_eq!(store.commands(over, CommandId(0)).await, Ok(Vec::new()));
    let root = open(store, "tabs or spaces?", second(1)).await;
    let child = root.derived("sub1");
    let first = opening(about("how wide is a tab?"), second(2), below(root));
    store.create(child, first).await.expect("its root is there");
    assert_eq!(store.send(child, Command::Stop).await, Err(StoreError::Unknown(child)));
}

/// No claim, nothing to do, until somebody says something. Who asks for it by name may have it all the same.
pub async fn a_parked_discussion_waits_for_a_command<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    store.send(id, Command::Pause).await.expect("it is there");
    let mut writer = Writer::claiming(store, id, "one").await;
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    writer.write(second(2), pause, Then::Park { seen: CommandId(1) }).await.expect("the claim is ours");
    assert_eq!(store.claim_any(1, "two", LEASE_MS).await, Ok(Vec::new()));

    let by_name = store.claim(id, "two", LEASE_MS).await.expect("the claim ended with the pause");
    store.release(by_name).await.expect("the store is there");
    assert_eq!(store.claim_any(1, "two", LEASE_MS).await, Ok(Vec::new()));

    store.send(id, Command::Resume).await.expect("it is there");
    let claimed = store.claim_any(1, "two", LEASE_MS).await.expect("the store is there");
    assert_eq!(claimed.iter().map(|claim| claim.id).collect::<Vec<_>>(), [id]);
}

/// What was said while it went to sleep wakes it.
pub async fn parking_with_a_newer_command_does_not_wait<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    store.send(id, Command::Pause).await.expect("it is there");
    store.send(id, Command::Resume).await.expect("it is there");
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    writer.write(second(2), pause, Then::Park { seen: CommandId(1) }).await.expect("the claim is ours");
    let claimed = store.claim_any(1, "two", LEASE_MS).await.expect("the store is there");
    assert_eq!(claimed.iter().map(|claim| claim.id).collect::<Vec<_>>(), [id]);
}

/// A word about the judge's seat is taken where it is awaited, once, and only for who can judge.
pub async fn a_ruling_is_taken_once_where_it_is_awaited<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let end = || Command::Judge(Ruling::End);
    let swap = |to: &str| Command::Judge(Ruling::Swap { to: to.to_owned() });
    let nobody_asked = Err(StoreError::JudgeNotAwaited(id));
    assert_eq!(store.send(id, end()).await, nobody_asked);
    let mut writer = Writer::claiming(store, id, "one").await;
    let (answers, candidates) = (Step::from("1/judging/*judge after cyd"), vec!["gus".to_owned()]);
    let (lost, reason) = ("cyd".to_owned(), "no such key".to_owned());
    let vacancy = Vacancy { lost, answers, round: 1, reason, candidates: candidates.clone() };
    let seen = CommandId::default();
    let asked = vec![Event::JudgeAwaited(vacancy.clone())];
    writer.write(second(2), asked, Then::Park { seen }).await.expect("the claim is ours");
    let name = "cyd".to_owned();
    assert_eq!(store.send(id, swap("cyd")).await, Err(StoreError::CannotJudge { name, candidates }));
    assert_eq!(store.claim_any(1, "two", LEASE_MS).await, Ok(Vec::new()), "what is refused wakes nobody");
    let both = futures::future::join(store.send(id, swap("gus")), store.send(id, end())).await;
    assert_eq!(both, (Ok(CommandId(1)), nobody_asked.clone()));
    let claim = store.claim_any(1, "two", LEASE_MS).await.expect("the store is there").remove(0);
    writer.claim = claim;
    let change =
        JudgeChange { round: 1, from: "cyd".into(), to: Some("gus".into()), rule: JudgeFailure::Swap };
    let command = swap("gus");
    let taken = vec![Event::CommandTaken { id: CommandId(1), command }, Event::JudgeChanged(change)];
    writer.write(second(3), taken, Then::Continue).await.expect("the claim is ours");
    assert_eq!(store.send(id, end()).await, nobody_asked);
    let wound_up = vec![Event::JudgeAwaited(vacancy), Event::WoundUp { reason: WindUp::Stopped }];
    writer.write(second(4), wound_up, Then::Continue).await.expect("the claim is ours");
    assert_eq!(store.send(id, end()).await, nobody_asked);
}

/// Each of them, of every discussion.
pub async fn watchers_hear_of_commands<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = open(store, "tabs or spaces?", second(1)).await;
    let other = open(store, "vi or emacs?", second(1)).await;
    let (left, mut first, mut second) = (store.watch(), store.watch(), store.watch());
    drop(left);
    for id in [one, other] {
        store.send(id, Command::Stop).await.expect("it is there");
        for watcher in [&mut first, &mut second] {
            // It may tell too much, never too little.
            assert!(watcher.by_ref().any(async |heard| heard == id).await);
        }
    }
}
