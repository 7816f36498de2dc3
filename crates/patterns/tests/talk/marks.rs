//! A judge's marks: the order in which its forms ask for them, which of them it is shown at the
//! verdict, which of them count after a swap check, and what the debaters are shown (D06, D07).

use quorum_core::{
    engine::handle::Finished,
    model::{event::Fork, id::Step, outcome::Outcome, spec::Spec},
};
use quorum_patterns::debate::{DebateSpec, Format};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::spec,
    table::Table,
};
use serde_json::{Value, json};

use crate::{
    results::{Results, ordered},
    table,
};

/// An assessment with these marks for ann and bob.
pub(crate) fn assessment(ann: u32, bob: u32) -> Value {
    let of_one = |label: &str, mark: u32| {
        let criteria = json!({
            "logic": mark, "evidence": mark, "engagement": mark, "novelty": mark, "clarity": mark, "relevance": mark,
        });
        json!({"participant": label, "strengths": [], "weaknesses": [], "criteria": criteria})
    };
    json!({
        "assessments": [of_one("<ann>", ann), of_one("<bob>", bob)], "reasoning": "so it was",
        "flags": {"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
        "qualityScore": 6, "recommendations": "<ann> should answer <bob> on cost", "shouldContinue": true,
    })
}

pub(crate) fn verdict(winner: Option<&str>) -> String {
    let winner = winner.map(|label| json!({"reasoning": "the clash on cost", "participant": label}));
    json!({
        "summary": "They met.", "keyPoints": [], "areasOfAgreement": [], "areasOfDisagreement": [], "insights": [],
        "qualityScore": 60, "winner": winner,
    })
    .to_string()
}

fn asked(table: &Table, step: &str) -> AskedCall {
    table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap()
}

fn prompt(call: &AskedCall) -> String {
    call.call.render().pop().unwrap().1
}

fn keys(schema: &Value, at: &str) -> Vec<String> {
    schema.pointer(at).unwrap().as_object().unwrap().keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn d06_the_forms_ask_for_reasons_before_marks_and_the_label_before_everything() {
    let table = table(&panel());
    table.hold(spec("debate")).await;
    let schema = |step: &str| asked(&table, step).call.shape.clone().unwrap().schema.unwrap();
    let assessment = schema("1/judging/cyd");
    let order = ["assessments", "reasoning", "flags", "qualityScore", "recommendations", "shouldContinue"];
    assert_eq!(keys(&assessment, "/properties"), order);
    assert_eq!(assessment["required"], json!(order));
    let entry = "/properties/assessments/items/properties";
    assert_eq!(keys(&assessment, entry), ["participant", "strengths", "weaknesses", "criteria"]);
    let criteria = keys(&assessment, &format!("{entry}/criteria/properties"));
    assert_eq!(criteria, ["logic", "evidence", "engagement", "novelty", "clarity", "relevance"]);
    let verdict = schema("2/judging/cyd/verdict");
    let order = [
        "summary",
        "keyPoints",
        "areasOfAgreement",
        "areasOfDisagreement",
        "insights",
        "qualityScore",
        "winner",
    ];
    assert_eq!(keys(&verdict, "/properties"), order);
    assert_eq!(keys(&verdict, "/properties/keyPoints/items/properties"), ["participant", "mainArguments"]);
    assert_eq!(keys(&verdict, "/properties/winner/properties"), ["reasoning", "participant"]);
    // The prompt lists the keys in the same order.
    for (step, order) in [
        ("1/judging/cyd", keys(&assessment, "/properties")),
        ("2/judging/cyd/verdict", keys(&verdict, "/properties")),
    ] {
        let prompt = prompt(&asked(&table, step));
        let places: Vec<Option<usize>> =
            order.iter().map(|key| prompt.find(&format!("- `{key}`:"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{step}: {places:?}\n{prompt}");
    }
}

#[tokio::test(start_paused = true)]
async fn d06_criteria_of_ones_own_replace_the_rubric() {
    let mut order = spec("debate");
    order.settings.set("evaluationCriteria", json!(["Cost, honestly stated", "Risk"]));
    let entry = |label: &str, cost: u32| {
        json!({
            "participant": label, "strengths": [], "weaknesses": [], "criteria": {"Cost, honestly stated": cost, "risk": 4},
        })
    };
    let mut reply = assessment(0, 0);
    reply["assessments"] = json!([entry("<ann>", 8), entry("<bob>", 6)]);
    let table = table(&panel().writes("cyd", "assessment", &reply.to_string()));
    let (outcome, _) = table.hold(order).await;
    let call = asked(&table, "1/judging/cyd");
    let system = &call.call.system;
    assert!(
        system.contains("- `Cost, honestly stated` (50 %). 2: poor. 5: adequate. 8: strong."),
        "{system}"
    );
    assert!(!system.contains("logic"), "{system}");
    let schema = call.call.shape.clone().unwrap().schema.unwrap();
    let criteria = keys(&schema, "/properties/assessments/items/properties/criteria/properties");
    assert_eq!(criteria, ["Cost, honestly stated", "Risk"]);
    let ann = &outcome.fields["judging"]["rounds"][0]["assessments"][0];
    assert_eq!(
        (&ann["score"], &ann["criteria"]),
        (&json!(6.0), &json!({"Cost, honestly stated": 8.0, "Risk": 4.0}))
    );
}

#[tokio::test(start_paused = true)]
async fn d07_the_judge_sees_its_own_marks_at_the_verdict() {
    let judge = panel().writes_in("cyd", 1, "assessment", &assessment(7, 5).to_string()).writes_in(
        "cyd",
        2,
        "assessment",
        &assessment(6, 8).to_string(),
    );
    let table = table(&judge);
    table.hold(spec("debate")).await;
    let call = asked(&table, "2/judging/cyd/verdict");
    let told = prompt(&call);
    let labels = &call.call.labels;
    let round = |round: u32, ann: &str, bob: &str| {
        let mut marks = [("ann", ann), ("bob", bob)];
        marks.sort_by_key(|it| labels.place(it.0));
        let marks = marks.map(|(name, mark)| format!("{} {mark}", labels.label(name).unwrap()));
        format!("- round {round}: {}", marks.join(", "))
    };
    let expected = format!(
        "Your marks so far, weighted to one number; where you now see it otherwise, say why:\n\n{}\n{}\n",
        round(1, "7", "5"),
        round(2, "6", "8")
    );
    assert!(told.contains(&expected), "{expected}\n\n{told}");
    let assessed = prompt(&asked(&table, "2/judging/cyd"));
    assert!(!assessed.to_lowercase().contains("your marks"), "earlier marks would anchor later ones");
}

#[tokio::test(start_paused = true)]
async fn d07_a_verdict_against_the_judges_own_marks_is_flagged() {
    let contradicting = panel().writes("cyd", "assessment", &assessment(8, 5).to_string()).writes(
        "cyd",
        "verdict",
        &verdict(Some("<bob>")),
    );
    let (outcome, _) = table(&contradicting).hold(spec("debate")).await;
    assert_eq!(outcome.verdict().unwrap().winner.map(|it| it.participant), Some("bob".to_owned()));
    let found = json!([{"judge": "cyd", "winner": "bob", "marks": 5.0, "best": "ann", "bestMarks": 8.0}]);
    assert_eq!(outcome.fields["verdict"]["againstMarks"], found);
    let remark = "The verdict of cyd is for bob, but its own marks are on average 8 for ann and 5 for bob.";
    assert_eq!(outcome.fields["judgingRemarks"], json!([remark]));
    for (ann, bob, winner) in [(8, 5, Some("<ann>")), (8, 5, None), (6, 6, Some("<bob>"))] {
        let fitting = panel().writes("cyd", "assessment", &assessment(ann, bob).to_string()).writes(
            "cyd",
            "verdict",
            &verdict(winner),
        );
        let (outcome, _) = table(&fitting).hold(spec("debate")).await;
        assert_eq!(outcome.fields["verdict"].get("againstMarks"), None, "{ann} {bob} {winner:?}");
        assert_eq!(outcome.fields.get("judgingRemarks"), None, "{ann} {bob} {winner:?}");
    }
}

/// A judge that always prefers the debater shown first, and always says this about the round.
fn partial(should_continue: bool, flags: [bool; 4]) -> Panel {
    let mut reply = assessment(0, 0);
    let of_one = |label: &str, score: u32| json!({"participant": label, "strengths": [], "weaknesses": [], "score": score});
    reply["assessments"] = json!([of_one("<first>", 9), of_one("<second>", 4)]);
    reply["shouldContinue"] = json!(should_continue);
    let [repetitive, drifting, diminishing, converged] = flags;
    reply["flags"] = json!({
        "repetitive": repetitive, "drifting": drifting, "diminishingReturns": diminishing, "convergenceReached": converged,
    });
    panel().writes("cyd", "assessment", &reply.to_string())
}

async fn swapped(judge: Panel, format: Format) -> Outcome {
    let debate = DebateSpec { format, round_limit: Some(3), swap_check: true, ..DebateSpec::default() };
    table(&judge).hold(ordered(&debate)).await.0
}

#[tokio::test(start_paused = true)]
async fn d06_what_both_orders_found_stands_although_the_scores_flipped() {
    let none = [false; 4];
    let converged = [false, false, false, true];
    let cases = [
        (Format::FreeForm, false, none, 1, Some("judge")),
        (Format::FreeForm, true, none, 3, None),
        (Format::ConvergenceSeeking, true, converged, 1, Some("convergence")),
        (Format::ConvergenceSeeking, true, none, 3, None),
    ];
    for (format, should_continue, flags, rounds, ended) in cases {
        let outcome = swapped(partial(should_continue, flags), format).await;
        let report = outcome.judging().unwrap();
        assert_eq!(outcome.rounds.len(), rounds, "{format:?}");
        assert_eq!(report.ended.map(|it| it.why).as_deref(), ended, "{format:?}");
        assert_eq!(report.rounds.len(), 0, "{format:?}: no score counts");
        assert_eq!(report.unassessed_rounds.len(), rounds, "{format:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn d06_a_flip_is_told_in_the_result() {
    let outcome = swapped(partial(true, [false; 4]), Format::RoundLimited).await;
    let judging = &outcome.fields["judging"];
    assert_eq!((&judging["flippedRounds"], &judging["flipRate"]), (&json!([1, 2, 3]), &json!(0.75)));
    let remark = "The marks of rounds 1, 2 and 3 changed with the order in which the debaters were shown, so they do not count.";
    assert_eq!(outcome.fields["judgingRemarks"], json!([remark]));
}

#[tokio::test(start_paused = true)]
async fn d06_the_judges_recommendations_reach_the_debaters_as_a_hint() {
    let judge = panel().writes("cyd", "assessment", &assessment(7, 5).to_string());
    let table = table(&judge);
    table.hold(Spec { rounds: 3, ..spec("debate") }).await;
    let hint = "The judge suggests that you address this:\n\n> ann should answer bob on cost\n";
    for (step, told) in [
        ("1/awaiting-responses/ann", false),
        ("2/awaiting-responses/ann", true),
        ("3/awaiting-responses/bob", true),
    ] {
        let asked = asked(&table, step);
        let prompt = asked.named(&prompt(&asked));
        assert_eq!(prompt.contains(hint), told, "{step}: {prompt}");
        assert!(!prompt.contains("cyd"), "the judge is not named: {prompt}");
    }
}

#[tokio::test(start_paused = true)]
async fn d15_a_fork_that_changes_the_judge_keeps_turns_up_to_its_point_and_asks_later_ones_anew() {
    let mut other = assessment(5, 7);
    other["recommendations"] = json!("speak of risk");
    let judges = panel().writes("cyd", "assessment", &assessment(7, 5).to_string()).writes(
        "dan",
        "assessment",
        &other.to_string(),
    );
    let table = table(&judges);
    let order = Spec { rounds: 3, ..spec("debate") };
    let (first, _) = table.hold(order.clone()).await;
    let asked = table.panel.steps().len();
    let mut changed = order;
    changed.participants[2].name = "dan".to_owned();
    let fork = Fork { of: first.discussion_id, at: Step::from("2/awaiting-responses/bob") };
    let id = table.engine.fork(fork, changed).await.unwrap();
    let Finished::Over(_) = table.run(id).await.unwrap() else { panic!("nobody is waited for") };
    let anew: Vec<String> = table.panel.steps()[asked..].to_vec();
    let expected = [
        "1/judging/dan",
        "2/awaiting-responses/ann",
        "2/judging/dan",
        "3/awaiting-responses/ann",
        "3/awaiting-responses/bob",
        "3/judging/dan",
        "3/judging/dan/verdict",
        "3/deciding/dan",
    ];
    assert_eq!(anew, expected);
}
