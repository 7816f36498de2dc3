//! Commands: their order, their recipients, and their notifications.

use futures::StreamExt;
use quorum_core::{
    model::{
        command::{Command, CommandId},
        event::{Event, WindUp},
        id::{DiscussionId, Step},
        lifecycle::Lifecycle,
        ruling::{AwaitedChoice, Ruling, RulingAwaited},
    },
    seams::{Release, StoreError, Then, Wake},
};

use super::{
    Subject, Whole,
    fixture::{Writer, about, below, claim, claim_any, finish, moved, open, opening, second},
};

/// Numbered from 1 in each discussion.
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

/// Refused for an unknown discussion, a finished one, and a sub-discussion.
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

/// A parked discussion has no claim and is not offered until a command arrives. It can still be
/// claimed by its id.
pub async fn a_parked_discussion_waits_for_a_command<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    store.send(id, Command::Pause).await.expect("it is there");
    let mut writer = Writer::claiming(store, id, "one").await;
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    writer.write(second(2), pause, Then::Park { seen: CommandId(1) }).await.expect("the claim is ours");
    assert_eq!(claim_any(store, 1, "two").await, Ok(Vec::new()));

    let by_name = claim(store, id, "two").await.expect("the claim ended with the pause");
    store.release(by_name, Release::Now).await.expect("the store is there");
    assert_eq!(claim_any(store, 1, "two").await, Ok(Vec::new()));

    store.send(id, Command::Resume).await.expect("it is there");
    let claimed = claim_any(store, 1, "two").await.expect("the store is there");
    assert_eq!(claimed.iter().map(|claim| claim.id).collect::<Vec<_>>(), [id]);
}

/// A command that arrives during parking prevents it.
pub async fn parking_with_a_newer_command_does_not_wait<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(store, id, "one").await;
    store.send(id, Command::Pause).await.expect("it is there");
    store.send(id, Command::Resume).await.expect("it is there");
    let pause = vec![moved(Lifecycle::Running, Lifecycle::Paused)];
    writer.write(second(2), pause, Then::Park { seen: CommandId(1) }).await.expect("the claim is ours");
    let claimed = claim_any(store, 1, "two").await.expect("the store is there");
    assert_eq!(claimed.iter().map(|claim| claim.id).collect::<Vec<_>>(), [id]);
}

/// A ruling is accepted once, while one of its kind is awaited, and only if it is among the
/// choices.
pub async fn a_ruling_is_taken_once_where_it_is_awaited<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let id = open(store, "tabs or spaces?", second(1)).await;
    let end = || ruling("judge", "end", None);
    let not_awaited = |kind: &str| Err(StoreError::RulingNotAwaited { id, kind: kind.to_owned() });
    assert_eq!(store.send(id, end()).await, not_awaited("judge"));
    let mut writer = Writer::claiming(store, id, "one").await;
    let asked = vec![Event::RulingAwaited(vacant())];
    let seen = CommandId::default();
    writer.write(second(2), asked, Then::Park { seen }).await.expect("the claim is ours");
    for (unfit, error) in unfit_rulings(id) {
        assert_eq!(store.send(id, unfit).await, Err(error));
    }
    assert_eq!(claim_any(store, 1, "two").await, Ok(Vec::new()), "what is refused wakes nobody");
    let swap = ruling("judge", "swap", Some("gus"));
    let both = futures::future::join(store.send(id, swap.clone()), store.send(id, end())).await;
    assert_eq!(both, (Ok(CommandId(1)), not_awaited("judge")));
    let claim = claim_any(store, 1, "two").await.expect("the store is there").remove(0);
    writer.claim = claim;
    let Command::Rule(decided) = &swap else { unreachable!("a ruling is one") };
    let ruled = Event::Ruled(vacant().decided(decided));
    let taken = vec![Event::CommandTaken { id: CommandId(1), command: swap }, ruled];
    writer.write(second(3), taken, Then::Continue).await.expect("the claim is ours");
    assert_eq!(store.send(id, end()).await, not_awaited("judge"));
    let wound_up = vec![Event::RulingAwaited(vacant()), Event::WoundUp { reason: WindUp::Stopped }];
    writer.write(second(4), wound_up, Then::Continue).await.expect("the claim is ours");
    assert_eq!(store.send(id, end()).await, not_awaited("judge"));
}

fn ruling(kind: &str, choice: &str, candidate: Option<&str>) -> Command {
    let candidate = candidate.map(str::to_owned);
    Command::Rule(Ruling { kind: kind.to_owned(), choice: choice.to_owned(), candidate })
}

/// An awaited ruling on the seat of a failed judge: gus may take it, or the discussion ends.
fn vacant() -> RulingAwaited {
    let choice = |name: &str, takes_candidate| AwaitedChoice { name: name.to_owned(), takes_candidate };
    RulingAwaited {
        kind: "judge".to_owned(),
        about: "cyd".to_owned(),
        answers: Step::from("1/judging/*judge after cyd"),
        round: 1,
        reason: "no such key".to_owned(),
        choices: vec![choice("swap", true), choice("end", false)],
        candidates: vec!["gus".to_owned()],
    }
}

/// Invalid rulings on that seat, with the store's errors.
fn unfit_rulings(id: DiscussionId) -> Vec<(Command, StoreError)> {
    let no_candidate = |name: Option<&str>| {
        let name = name.map(str::to_owned);
        StoreError::NoSuchCandidate { name, candidates: vacant().candidates }
    };
    let no_choice = StoreError::NoSuchChoice {
        choice: "go-without".to_owned(),
        choices: vec!["swap".to_owned(), "end".to_owned()],
    };
    let other_kind = StoreError::RulingNotAwaited { id, kind: "budget".to_owned() };
    vec![
        (ruling("judge", "swap", Some("cyd")), no_candidate(Some("cyd"))),
        (ruling("judge", "swap", None), no_candidate(None)),
        (ruling("judge", "end", Some("gus")), no_candidate(Some("gus"))),
        (ruling("judge", "go-without", None), no_choice),
        (ruling("budget", "end", None), other_kind),
    ]
}

/// Watchers are notified of every command of every discussion.
pub async fn watchers_hear_of_commands<S: Whole>(subject: Subject<S>) {
    let store = &*subject.store;
    let one = open(store, "tabs or spaces?", second(1)).await;
    let other = open(store, "vi or emacs?", second(1)).await;
    let (left, mut first, mut second) = (store.watch(), store.watch(), store.watch());
    drop(left);
    for id in [one, other] {
        store.send(id, Command::Stop).await.expect("it is there");
        for watcher in [&mut first, &mut second] {
            // Extra notifications are allowed, missing ones are not.
            assert!(watcher.by_ref().any(async |heard| heard == Wake::Commands(id)).await);
        }
    }
}
