//! Several judges: the median counts, their disagreement is shown, and if one fails, the others
//! continue (D06, D13).

use std::sync::Arc;

use quorum_core::{
    memory::MemoryStore,
    model::{
        error::ErrorClass,
        outcome::{Outcome, StoppingReason},
        participant::Participant,
        spec::{Limits, Spec},
    },
    seams::Store,
    vocabulary::option::Named,
};
use quorum_patterns::{
    debate::{DebateSpec, Format, JudgeFailure},
    registry,
    roles::JUDGE,
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
};
use serde_json::{Value, json};

use crate::{
    marks::{assessment, verdict},
    results::{Results, ordered},
    table,
};

/// ann and bob debate before cyd, dan and eve.
fn order(debate: &DebateSpec) -> Spec {
    let mut order = ordered(debate);
    for name in ["dan", "eve"] {
        let judge = Participant { name: name.into(), ..Participant::of("scripted").playing(JUDGE).aside() };
        order.participants.push(judge);
    }
    order
}

/// Three judges whose marks for ann and bob differ.
fn judges() -> Panel {
    panel()
        .writes("cyd", "assessment", &assessment(8, 5).to_string())
        .writes("dan", "assessment", &assessment(7, 6).to_string())
        .writes("eve", "assessment", &assessment(3, 9).to_string())
        .writes("cyd", "verdict", &verdict(Some("<ann>")))
        .writes("dan", "verdict", &verdict(Some("<ann>")))
        .writes("eve", "verdict", &verdict(Some("<bob>")))
}

async fn hold(panel: &Panel, debate: &DebateSpec) -> Outcome {
    table(panel).hold(order(debate)).await.0
}

/// The judges and the marks of a round.
fn marks(outcome: &Outcome, round: usize) -> Value {
    let round = &outcome.fields["judging"]["rounds"][round];
    let entries = round["assessments"].as_array().unwrap().iter();
    let scores: Vec<Value> = entries.map(|it| json!([it["participant"], it["score"]])).collect();
    json!([round["judge"], scores])
}

#[tokio::test(start_paused = true)]
async fn d06_the_median_of_several_judges_counts_and_their_disagreement_is_shown() {
    let outcome = hold(&judges(), &DebateSpec::default()).await;
    assert_eq!(marks(&outcome, 0), json!(["cyd, dan, eve", [["ann", 7.0], ["bob", 6.0]]]));
    let row = |participant: &str, marks: &str, median: f64, spread: f64| json!({"round": 1, "participant": participant, "marks": marks, "median": median, "spread": spread});
    let panel = outcome.fields["judging"]["panel"].as_array().unwrap();
    let expected = [row("ann", "cyd 8, dan 7, eve 3", 7.0, 5.0), row("bob", "cyd 5, dan 6, eve 9", 6.0, 4.0)];
    assert_eq!(panel[..2], expected);
    let given = &outcome.fields["verdict"];
    assert_eq!(given["winner"]["participant"], "ann");
    let winners = json!([
        {"judge": "cyd", "winner": "ann"}, {"judge": "dan", "winner": "ann"}, {"judge": "eve", "winner": "bob"},
    ]);
    assert_eq!(given["winners"], winners);
    let remarks = json!([
        "The judges disagree by up to 5 of 10 points.",
        "The judges name different winners: ann by cyd and dan, bob by eve.",
    ]);
    assert_eq!(outcome.fields["judgingRemarks"], remarks);
    assert!(outcome.success && !outcome.integrity.degraded);
}

#[tokio::test(start_paused = true)]
async fn d06_several_judges_are_asked_at_once_and_do_not_see_each_other() {
    let table = table(&judges().takes("*", 1_000));
    let (outcome, _) = table.hold(order(&DebateSpec::default())).await;
    let judging: Vec<_> =
        table.panel.asked().into_iter().filter(|it| it.step.as_str().contains("/judging/")).collect();
    assert_eq!(judging.len(), 9, "two rounds and the verdict");
    for asked in &judging {
        let sent = format!("{} {:?}", asked.call.system, asked.call.render());
        let named =
            sent.split(|it: char| !it.is_alphanumeric()).any(|it| ["cyd", "dan", "eve"].contains(&it));
        assert!(!named, "{sent}");
    }
    // One second each: the casting, the openings in parallel, two closings, three times all judges
    // in parallel, and the synthesis.
    assert_eq!(outcome.total_duration_ms, 8_000);
}

#[tokio::test(start_paused = true)]
async fn d06_ending_and_flags_need_more_than_half_of_the_judges() {
    let debate = DebateSpec { format: Format::FreeForm, round_limit: Some(2), ..DebateSpec::default() };
    let ending = |names: &[&str]| {
        let mut reply = assessment(7, 5);
        reply["shouldContinue"] = json!(false);
        names.iter().fold(judges(), |panel, name| panel.writes(name, "assessment", &reply.to_string()))
    };
    assert_eq!(hold(&ending(&["cyd"]), &debate).await.rounds.len(), 2);
    assert_eq!(hold(&ending(&["cyd", "eve"]), &debate).await.rounds.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn d13_a_judge_that_fails_leaves_the_others() {
    for (lost, why) in [
        (judges().fails("dan", ErrorClass::Authentication), "failed"),
        (judges().writes("dan", "assessment", "Hm."), "unread"),
    ] {
        for (judge_failure, _) in JudgeFailure::ALL.iter().copied() {
            let outcome = hold(&lost, &DebateSpec { judge_failure, ..DebateSpec::default() }).await;
            assert_eq!(
                marks(&outcome, 0),
                json!(["cyd, eve", [["ann", 5.5], ["bob", 7.0]]]),
                "{judge_failure:?}"
            );
            let change = json!([{"round": 1, "from": "dan", "rule": "go-without", "why": why}]);
            assert_eq!(outcome.fields["judging"]["judgeChanges"], change, "{judge_failure:?}");
            assert_eq!(outcome.rounds.len(), 2, "{judge_failure:?}");
            assert_eq!(outcome.verdict().unwrap().winner, None, "{judge_failure:?}: one vote each");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d13_when_all_judges_fail_the_last_goes_the_configured_way() {
    let lost =
        ["cyd", "dan", "eve"].iter().fold(panel(), |panel, it| panel.fails(it, ErrorClass::Authentication));
    let debate = DebateSpec { judge_failure: JudgeFailure::Swap, ..DebateSpec::default() };
    let outcome = hold(&lost, &debate).await;
    let changes = outcome.judging().unwrap().judge_changes;
    let told: Vec<String> =
        changes.iter().map(|it| format!("{} {:?} {}", it.from, it.to, it.rule.name())).collect();
    assert_eq!(told, ["cyd None go-without", "dan None go-without", "eve Some(\"ann\") swap"]);
    assert_eq!(outcome.judging().unwrap().rounds.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn s9_judges_that_do_not_all_fit_the_budget_are_not_asked() {
    for (calls, asked) in [(6, 0), (7, 3)] {
        let table = table(&judges());
        let limits = Limits { calls: Some(calls), ..Limits::default() };
        let (outcome, _) = table.hold(Spec { limits, ..order(&DebateSpec::default()) }).await;
        let judging = table.panel.steps().iter().filter(|it| it.contains("/judging/")).count();
        assert_eq!(
            (judging, outcome.stopping_reason),
            (asked, Some(StoppingReason::BUDGET)),
            "{calls} calls"
        );
        assert!(table.panel.steps().len() <= calls as usize, "the synthesis was kept back");
    }
}

#[tokio::test(start_paused = true)]
async fn f1_several_judges_survive_every_crash() {
    let panels = [
        judges(),
        judges().fails("dan", ErrorClass::Authentication),
        judges().writes("dan", "assessment", "Hm.").writes("eve", "verdict", "Hm."),
        judges().needs_room("cyd", "assessment", 4_000),
    ];
    for panel in panels {
        for swap_check in [false, true] {
            let debate =
                DebateSpec { swap_check, judge_failure: JudgeFailure::Swap, ..DebateSpec::default() };
            let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
            let deaths = resume_anywhere(store, &panel, registry(), order(&debate)).await;
            assert!(deaths >= 9, "died {deaths} times only");
        }
    }
}
