//! Sub-discussions: asked for by a participant, limited in depth, calls and time, never in a cycle.

use quorum_core::model::{
    command::Command,
    error::Code,
    event::Event,
    id::{DiscussionId, Step},
    lifecycle::Lifecycle,
    participant::Participant,
    spec::{Limits, Recursion, Spec, TimeoutStrategy, Timing},
};
use quorum_testkit::{
    panel::{Panel, panel},
    table::Table,
};
use tokio::time::{Duration, sleep};

use crate::{for_two, order, table};

pub(crate) fn recursive(pattern: &str, max_depth: u32) -> Spec {
    let spec = order(pattern);
    let recursion = Some(Recursion { max_depth, strategy: TimeoutStrategy::Cascade });
    let timing = Timing { total_ms: 180_000, ..spec.timing };
    Spec { recursion, timing, rounds: 1, ..spec }
}

async fn opened(table: &Table, panel_step: &str, root: DiscussionId) -> Vec<(u32, u64)> {
    let mut found = Vec::new();
    let mut next = Some(root);
    while let Some(id) = next {
        let facts = table.facts(id).await;
        if let Some(Event::Opened { lineage, .. }) = facts.first().map(|fact| &fact.event) {
            found.push(lineage.as_ref().map_or((0, 0), |it| (it.depth, it.level_ms)));
        }
        next = (!facts.is_empty()).then(|| id.derived(panel_step));
    }
    found
}

#[tokio::test(start_paused = true)]
async fn e01_a_voice_convenes_and_goes_on_with_what_was_found() {
    let table = table(&panel().convenes("bob", "how wide is a tab?"));
    let (outcome, _) = table.hold(recursive("in-turn", 1)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let sub = &outcome.sub_discussions[0];
    assert_eq!((sub.requested_by.as_str(), sub.topic.as_str()), ("bob", "how wide is a tab?"));
    assert_eq!(sub.synthesis.as_deref(), Some("ann after 3"));
    let after =
        table.panel.asked().into_iter().find(|it| it.step == Step::from("1/talking/bob/after1")).unwrap();
    let shown: Vec<String> = after.call.render().into_iter().map(|it| after.named(&it.1)).collect();
    assert!(
        shown.last().unwrap().contains("Sub-discussion on: how wide is a tab?\nann after 3"),
        "{shown:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn inv_disc_600_never_deeper_than_allowed() {
    // Every participant always asks for a deeper one; topics differ so that cycle detection doesn't
    // stop them.
    let table = table(&deepening());
    let (outcome, _) = table.hold(recursive("in-turn", 2)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let depths = opened(&table, "1/talking/ann/sub1", outcome.discussion_id).await;
    assert_eq!(depths.iter().map(|it| it.0).collect::<Vec<_>>(), [0, 1, 2]);
}

fn deepening() -> Panel {
    panel().convenes("ann", "what is behind: {topic}").convenes("bob", "what is before: {topic}")
}

#[tokio::test(start_paused = true)]
async fn inv_disc_601_no_discussion_within_itself() {
    let table = table(&panel().convenes("ann", "  Tabs or SPACES? "));
    let (outcome, _) = table.hold(recursive("in-turn", 2)).await;
    let sub = &outcome.sub_discussions[0];
    assert_eq!(sub.error.as_ref().unwrap().code, Code::CircularDiscussion);
    assert!(sub.discussion_id.is_none() && outcome.success);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_602_inv_disc_603_a_root_is_at_depth_0_and_a_child_one_deeper() {
    let table = table(&panel().convenes("ann", "how wide?"));
    let (outcome, _) = table.hold(recursive("in-turn", 2)).await;
    let depths = opened(&table, "1/talking/ann/sub1", outcome.discussion_id).await;
    assert_eq!(depths[..2].iter().map(|it| it.0).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_610_a_child_has_no_more_time_than_its_parent_has_left() {
    let table = table(&panel().takes("*", 50_000).convenes("ann", "how wide?"));
    let timing = Timing { step_ms: 60_000, total_ms: 180_000, reserve_ms: 10_000 };
    let (outcome, _) = table.hold(Spec { timing, ..recursive("in-turn", 1) }).await;
    let levels = opened(&table, "1/talking/ann/sub1", outcome.discussion_id).await;
    // Level 0 has 90 s, less 50 s for the answer that asked, less 10 s for the synthesis.
    assert_eq!(levels[1], (1, 30_000));
}

#[tokio::test(start_paused = true)]
async fn inv_disc_611_ten_seconds_of_a_level_are_kept_for_its_synthesis() {
    let table = table(&panel().takes("*", 100_000));
    let timing = Timing { step_ms: 300_000, total_ms: 180_000, reserve_ms: 10_000 };
    let (_, facts) = table.hold(Spec { timing, ..recursive("in-turn", 1) }).await;
    let wound_up = facts.iter().find(|fact| matches!(fact.event, Event::WoundUp { .. })).unwrap();
    assert_eq!(wound_up.active_ms, 80_000, "90 s of level 0 less ten");
}

#[tokio::test(start_paused = true)]
async fn inv_disc_612_time_below_counts_for_the_total_and_not_for_the_level() {
    let table = table(&panel().takes("*", 8_000).convenes("ann", "how wide?"));
    let (outcome, _) = table.hold(recursive("in-turn", 1)).await;
    assert!(outcome.success, "{:?}", outcome.error);
    // ann asks, 2 x 8 s below, ann goes on, bob, cyd, synthesis.
    assert_eq!(outcome.total_duration_ms, 56_000);
}

/// When a discussion was wound up, if it was.
async fn wound_up(table: &Table, id: DiscussionId) -> Option<u64> {
    let facts = table.facts(id).await;
    facts.iter().find(|it| matches!(it.event, Event::WoundUp { .. })).map(|it| it.active_ms)
}

#[tokio::test(start_paused = true)]
async fn inv_disc_613_one_strategy_bounds_every_level() {
    let timing = Timing { step_ms: 300_000, total_ms: 180_000, reserve_ms: 10_000 };
    let check = async |strategy: TimeoutStrategy, root_ms: u64, below_ms: [u64; 2]| {
        let spec =
            Spec { recursion: Some(Recursion { max_depth: 2, strategy }), timing, ..recursive("in-turn", 2) };
        let hanging = panel().takes("*", 0).hangs("bob");
        let alone = table(&hanging);
        let (outcome, _) = alone.hold(spec.clone()).await;
        assert_eq!(wound_up(&alone, outcome.discussion_id).await, Some(root_ms - 10_000), "{strategy:?}");

        let deep = table(&hanging.anew().convenes("ann", "what is behind: {topic}"));
        let (outcome, _) = deep.hold(spec).await;
        let (root, sub) = (outcome.discussion_id, "1/talking/ann/sub1");
        let levels = opened(&deep, sub, root).await;
        assert_eq!(levels[1..], [(1, below_ms[0]), (2, below_ms[1])], "{strategy:?}");
        let lowest = root.derived(sub).derived(sub);
        assert_eq!(wound_up(&deep, lowest).await, Some(below_ms[1] - 10_000), "{strategy:?}");
    };
    check(TimeoutStrategy::Fixed, 60_000, [60_000, 60_000]).await;
    check(TimeoutStrategy::Cascade, 90_000, [45_000, 22_500]).await;
    check(TimeoutStrategy::Budget, 91_836, [55_102, 33_061]).await;
}

/// The calls made at depth 0, 1 and 2 where everyone asks for deeper discussions, and those the
/// result counts.
async fn calls_by_level(cap: u32) -> ([u32; 3], u32) {
    let table = table(&deepening());
    let limits = Limits { calls: Some(cap), ..Limits::default() };
    let (outcome, _) = table.hold(Spec { limits, ..recursive("in-turn", 2) }).await;
    let mut made = [0; 3];
    for asked in table.panel.asked() {
        made[asked.call.spec.topic.matches("what is").count()] += 1;
    }
    (made, outcome.metadata.cost_summary.total_calls)
}

#[tokio::test(start_paused = true)]
async fn inv_disc_620_calls_of_all_levels_together_stay_within_the_cap_and_the_root_gets_its_own() {
    let (free, all) = calls_by_level(u32::MAX).await;
    assert_eq!((free, all), ([6, 12, 16], 34));
    for cap in 1..=all {
        let (made, counted) = calls_by_level(cap).await;
        assert_eq!(made.iter().sum::<u32>(), counted, "a cap of {cap}");
        // Three speak and one of them decides; a single call for that is kept back throughout.
        let own = if cap < 4 { cap - 1 } else { 4 };
        assert!(counted <= cap && made[0] >= own, "{made:?} under a cap of {cap}");
    }
    assert_eq!(calls_by_level(4).await.0, [4, 0, 0]);
    assert_eq!(calls_by_level(16).await.0, [5, 6, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_stops_the_whole_tree_and_a_resume_continues_it() {
    let table = table(&panel().takes("*", 1_000).convenes("ann", "how wide?"));
    let id = table.open(recursive("in-turn", 1)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the pause must come while the sub-discussion is under way; the time is
    // virtual.
    sleep(Duration::from_millis(1_500)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    handle.finished().await.unwrap();
    let child = id.derived("1/talking/ann/sub1");
    assert_eq!(table.engine.state(id).await.unwrap().lifecycle, Lifecycle::Paused);
    assert_eq!(
        table.engine.state(child).await.unwrap().lifecycle,
        Lifecycle::Paused,
        "it was in its last round"
    );
    let before = table.panel.steps().len();

    table.engine.send(id, Command::Resume).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert!(outcome.success, "{:?}", outcome.error);
    assert_eq!(
        table.panel.steps().len() - before,
        5,
        "the synthesis below, ann goes on, bob, cyd, synthesis"
    );
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_the_whole_tree_and_counts_what_it_took() {
    let table = table(&panel().takes("*", 1_000).convenes("ann", "how wide?"));
    let id = table.open(recursive("in-turn", 1)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the abort must come while the sub-discussion is under way; the time is
    // virtual.
    sleep(Duration::from_millis(1_500)).await;
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.status, Lifecycle::Aborted);
    let child = id.derived("1/talking/ann/sub1");
    assert_eq!(table.engine.state(child).await.unwrap().lifecycle, Lifecycle::Aborted);
    assert_eq!(outcome.metadata.cost_summary.total_calls, 4, "ann's, and three under way below");
}

#[tokio::test(start_paused = true)]
async fn an_abort_takes_effect_while_a_sub_discussion_is_under_way_and_others_have_spoken() {
    let table =
        table(&panel().takes("*", 50_000).takes("bob", 5_000).takes("ann", 1_000).convenes("ann", "how?"));
    let id = table.open(recursive("synthesis", 1)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because bob must have spoken above and not below; the time is virtual.
    sleep(Duration::from_millis(5_500)).await;
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.status, Lifecycle::Aborted);
    assert!(outcome.total_duration_ms < 5_750, "{}", outcome.total_duration_ms);
}

/// Pauses when, in the sub-discussion, ann and bob have answered and cyd was told to wait half a
/// minute.
async fn paused_below(table: &Table) -> DiscussionId {
    let id = table.open(recursive("in-turn", 1)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the pause must come while cyd waits; the time is virtual.
    sleep(Duration::from_secs(5)).await;
    table.engine.send(id, Command::Pause).await.unwrap();
    handle.finished().await.unwrap();
    id
}

fn waiting_below() -> Panel {
    panel().takes("*", 1_000).convenes("ann", "how wide?").asks_to_wait("cyd", 30_000)
}

#[tokio::test(start_paused = true)]
async fn a_pause_takes_effect_below_while_a_participant_waits_for_its_retry() {
    let table = table(&waiting_below());
    let id = paused_below(&table).await;
    let state = table.engine.state(id).await.unwrap();
    assert_eq!(state.lifecycle, Lifecycle::Paused);
    assert!(state.active_ms < 5_250, "{}", state.active_ms);
    assert_eq!(table.panel.steps().len(), 4, "ann, and three below");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_sub_discussions_under_way_and_counts_what_they_took() {
    let table = table(&waiting_below());
    let id = paused_below(&table).await;
    table.engine.send(id, Command::Stop).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    let child = id.derived("1/talking/ann/sub1");
    assert_eq!(table.engine.state(child).await.unwrap().lifecycle, Lifecycle::Aborted);
    assert_eq!(outcome.metadata.cost_summary.total_calls, table.panel.steps().len() as u32);
}

#[tokio::test(start_paused = true)]
async fn a_sub_discussion_nobody_needs_any_more_is_ended_and_counted() {
    let table = table(&panel().takes("*", 1_000).takes("ann", 500).convenes("ann", "how wide?"));
    let (outcome, _) = table.hold(recursive("until-two", 1)).await;
    let child = outcome.discussion_id.derived("1/talking/ann/sub1");
    assert_eq!(table.engine.state(child).await.unwrap().lifecycle, Lifecycle::Aborted);
    assert_eq!(outcome.metadata.cost_summary.total_calls, table.panel.steps().len() as u32);
}

#[tokio::test(start_paused = true)]
async fn s9_the_reservations_of_a_dropped_sub_discussion_are_freed() {
    let table =
        table(&waiting_below().takes("ann", 500).takes("bob", 100).takes("cyd", 700).takes("dan", 2_000));
    let limits = Limits { calls: Some(13), ..Limits::default() };
    let mut spec = Spec { limits, rounds: 2, ..recursive("until-two", 1) };
    spec.participants.push(Participant { name: "dan".to_owned(), ..spec.participants[0].clone() });
    table.hold(spec).await;
    // Four calls above and four below were made, and cyd's retry below was waiting: a second round
    // and the end just fit.
    assert!(table.panel.steps().contains(&"2/talking/bob".to_owned()), "{:?}", table.panel.steps());
}

#[tokio::test(start_paused = true)]
async fn an_abort_ends_and_counts_two_levels_below() {
    let table = table(&deepening().takes("*", 1_000));
    let id = table.open(recursive("in-turn", 2)).await.unwrap();
    let handle = table.engine.run(id).await.unwrap();
    // Sleeps because the abort must come while both levels below are under way; the time is
    // virtual.
    sleep(Duration::from_millis(2_500)).await;
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    assert_eq!(outcome.metadata.cost_summary.total_calls, table.panel.steps().len() as u32);
    let lowest = id.derived("1/talking/ann/sub1").derived("1/talking/ann/sub1");
    assert_eq!(table.engine.state(lowest).await.unwrap().lifecycle, Lifecycle::Aborted);
}

#[tokio::test(start_paused = true)]
async fn inv_disc_612_time_below_is_given_back_within_the_same_step() {
    let table = table(&panel().takes("*", 21_000).convenes("ann", "how wide?"));
    let (outcome, _) = table.hold(for_two(recursive("in-turn", 1))).await;
    assert!(outcome.success, "{:?}", outcome.error);
    // ann asks, 2 x 21 s below, ann goes on past the 80 s of her level, bob, synthesis.
    assert_eq!(outcome.total_duration_ms, 126_000);
}
