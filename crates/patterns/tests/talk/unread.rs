//! A judge whose replies can't be read has failed, a reply that was cut off gets more room, and a
//! missing verdict is reported (D06, D13).

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::Command, outcome::Outcome, participant::Participant, ruling::Ruling, spec::Spec,
        state::State,
    },
    seams::Store,
    vocabulary::option::Named,
};
use quorum_patterns::{
    debate::{DebateSpec, JudgeFailure, Judging},
    registry,
    roles::NEUTRAL,
};
use quorum_testkit::{
    kill::resume_anywhere_answering,
    panel::{Panel, panel},
    spec::spec,
};
use serde_json::{Value, json};

use crate::{
    results::{Results, ordered},
    table,
};

/// ann and bob debate for three rounds, gus listens, cyd judges.
fn order(judge_failure: JudgeFailure) -> Spec {
    let debate = DebateSpec { judge_failure, ..DebateSpec::default() };
    let mut order = Spec { rounds: 3, ..ordered(&debate) };
    let guest = Participant { name: "gus".into(), ..Participant::of("scripted").playing(NEUTRAL) };
    order.participants.push(guest);
    order
}

fn mumbling() -> Panel {
    panel().writes_in("cyd", 2, "assessment", "Both were fine, I think.")
}

/// The judges of the rounds, and the change of judges.
fn judged(outcome: &Outcome) -> Value {
    let judging = &outcome.fields["judging"];
    let rounds = judging["rounds"].as_array().cloned().unwrap_or_default();
    let rounds: Vec<Value> = rounds.iter().map(|it| json!([it["round"], it["judge"]])).collect();
    json!({ "rounds": rounds, "changes": judging["judgeChanges"] })
}

fn change(to: Option<&str>, rule: &str) -> Value {
    let mut change = json!({ "round": 2, "from": "cyd", "rule": rule, "why": "unread" });
    if let Some(to) = to {
        change["to"] = json!(to);
    }
    json!([change])
}

#[tokio::test(start_paused = true)]
async fn d13_a_judge_that_cannot_be_read_goes_the_way_of_a_failed_one() {
    let (first, all) = (json!([[1, "cyd"]]), json!([[1, "cyd"], [2, "gus"], [3, "gus"]]));
    let expected = [
        (JudgeFailure::Swap, 3, &all, change(Some("gus"), "swap"), true),
        (JudgeFailure::GoWithout, 3, &first, change(None, "go-without"), false),
        (JudgeFailure::End, 2, &first, change(None, "end"), false),
    ];
    for (judge_failure, rounds, judges, changes, verdict) in expected {
        let table = table(&mumbling());
        let (outcome, _) = table.hold(order(judge_failure)).await;
        assert!(outcome.success, "{judge_failure:?}");
        assert_eq!(outcome.rounds.len(), rounds, "{judge_failure:?}");
        assert_eq!(judged(&outcome), json!({ "rounds": judges, "changes": changes }), "{judge_failure:?}");
        assert_eq!(outcome.fields.contains_key("verdict"), verdict, "{judge_failure:?}");
        assert_eq!(outcome.failed_providers, ["cyd"], "{judge_failure:?}");
        let asked_again = table.panel.steps().iter().filter(|it| it.starts_with("3/judging/cyd")).count();
        assert_eq!(asked_again, 0, "{judge_failure:?}: it is not asked once more in vain");
        let speeches = table.panel.steps().iter().filter(|it| it.contains("/awaiting-responses/")).count();
        assert_eq!(speeches, 3 * rounds, "{judge_failure:?}: nobody has to speak again");
    }
}

#[tokio::test(start_paused = true)]
async fn d13_people_can_rule_on_a_judge_that_cannot_be_read() {
    let table = table(&mumbling());
    let id = table.open(order(JudgeFailure::Ask)).await.unwrap();
    let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("a ruling is awaited") };
    let awaited = state.ruling.clone().unwrap();
    assert_eq!(awaited.reason, "its assessment of round 2 could not be read");
    assert_eq!(
        (awaited.about.as_str(), awaited.candidates),
        ("cyd", ["gus", "ann", "bob"].map(str::to_owned).to_vec())
    );
    table.engine.send(id, Command::Rule(swap())).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    let expected =
        json!({ "rounds": [[1, "cyd"], [2, "gus"], [3, "gus"]], "changes": change(Some("gus"), "swap") });
    assert_eq!(judged(&outcome), expected);
}

fn swap() -> Ruling {
    Ruling { kind: "judge".to_owned(), choice: "swap".to_owned(), candidate: Some("gus".to_owned()) }
}

#[tokio::test(start_paused = true)]
async fn d13_a_judge_that_cannot_be_read_in_the_other_order_has_failed_too() {
    let mut order = order(JudgeFailure::Swap);
    order.settings.set("swapCheck", true);
    let (outcome, _) = table(&mumbling()).hold(order).await;
    let expected =
        json!({ "rounds": [[1, "cyd"], [2, "gus"], [3, "gus"]], "changes": change(Some("gus"), "swap") });
    assert_eq!(judged(&outcome), expected);
}

#[tokio::test(start_paused = true)]
async fn d07_a_verdict_that_cannot_be_read_is_given_by_the_successor() {
    let panel = panel().writes("cyd", "verdict", "ann, on the whole.");
    let table = table(&panel);
    let (outcome, _) = table.hold(order(JudgeFailure::Swap)).await;
    let steps: Vec<String> = table.panel.steps().into_iter().filter(|it| it.contains("verdict")).collect();
    let expected = ["3/judging/cyd/verdict", "3/judging/cyd/verdict/strict", "3/judging/gus/verdict"];
    assert_eq!(steps, expected);
    assert!(outcome.fields.contains_key("verdict"));
}

#[tokio::test(start_paused = true)]
async fn d07_a_missing_verdict_is_told() {
    let verdict_only = |order: Spec| {
        let settings = order.settings.clone().with("judging", Judging::VerdictOnly.name());
        Spec { settings, ..order }
    };
    let (outcome, _) = table(&panel().writes("cyd", "verdict", "ann, on the whole."))
        .hold(verdict_only(order(JudgeFailure::GoWithout)))
        .await;
    assert_eq!(outcome.fields.get("verdict"), None);
    let remarks = json!(["There is no verdict: the reply of cyd could not be read."]);
    assert_eq!(outcome.fields.get("judgingRemarks"), Some(&remarks));
    let lacks = [("missingVerdict".to_owned(), json!("the reply of cyd could not be read"))];
    assert_eq!((outcome.integrity.degraded, outcome.integrity.lacks), (true, lacks.into_iter().collect()));
}

#[tokio::test(start_paused = true)]
async fn d06_a_judgement_that_was_cut_off_is_asked_for_again_with_more_room() {
    for shape in ["assessment", "verdict"] {
        let table = table(&panel().needs_room("cyd", shape, 4_000));
        let (outcome, _) = table.hold(ordered(&DebateSpec::default())).await;
        let asked = table.panel.asked().into_iter().filter(|it| {
            it.call.participant.name == "cyd"
                && it.call.shape.as_ref().is_some_and(|it| it.form.kind == shape)
        });
        let asked: Vec<_> = asked.collect();
        assert_eq!(
            asked[..2].iter().map(|it| it.call.max_tokens).collect::<Vec<_>>(),
            [2_048, 4_096],
            "{shape}"
        );
        let again = asked[1].call.render().pop().unwrap().1;
        assert!(again.starts_with("Your answer was cut off. Give it again in at most "), "{again}");
        let judges = judged(&outcome);
        assert_eq!(judges, json!({ "rounds": [[1, "cyd"], [2, "cyd"]], "changes": null }), "{shape}");
        assert!(outcome.fields.contains_key("verdict"), "{shape}");
    }
}

#[tokio::test(start_paused = true)]
async fn f1_an_unread_or_cut_off_judge_survives_every_crash() {
    let cut = panel().needs_room("cyd", "assessment", 4_000).needs_room("cyd", "verdict", 4_000);
    for (judge_failure, _) in JudgeFailure::ALL.iter().copied() {
        for panel in [mumbling(), panel().writes("cyd", "verdict", "Hm."), cut.anew()] {
            let answer = |state: &State| state.ruling.is_some().then(|| Command::Rule(swap()));
            let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
            let order = order(judge_failure);
            let deaths = resume_anywhere_answering(store, &panel, registry(), order, &answer).await;
            assert!(deaths >= 10, "{judge_failure:?} died {deaths} times only");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_unreadable_assessment_cost_the_verdict() {
    let table = table(&panel().writes("cyd", "assessment", "Both were fine."));
    let (outcome, _) = table.hold(Spec { rounds: 3, ..spec("debate") }).await;
    assert!(outcome.verdict().is_some(), "another participant judges: {:?}", outcome.integrity.lacks);
    let changes = &outcome.fields["judging"]["judgeChanges"];
    let expected = json!([{ "round": 1, "from": "cyd", "to": "ann", "rule": "swap", "why": "unread" }]);
    assert_eq!(*changes, expected);
    let remarks = &outcome.fields["judgingRemarks"];
    let told = "From round 1 on, ann judged in place of cyd, although it argues for a side; whose speeches were whose \
                was hidden from it.";
    assert_eq!(*remarks, json!([told]));
}
