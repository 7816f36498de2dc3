//! A dialogue's events as requirement A's own client folds them: how it ends, with which error, and
//! what it never sees.

use std::sync::Arc;

use quorum::seeds::{
    dialogue::error,
    events::{Announcement, Announcer},
};
use quorum_core::{
    memory::MemoryStore,
    model::{
        command::Command,
        error::{Code, ErrorClass},
        spec::{Limits, Spec, Timing},
    },
};
use quorum_patterns::registry;
use quorum_testkit::{
    panel::{Panel, panel},
    seed_client::fold,
    spec::spec,
    table::Table,
};
use serde_json::{Value, json};

fn reply(answer: &str) -> String {
    format!(
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n80\n[REASONING]\nbecause\n[PROPOSED_SOLUTION]\nUse tabs for indentation."
    )
}

/// A panel whose members never agree.
fn at_odds() -> Panel {
    panel().writes("*", "consensus-check", &reply("NO"))
}

async fn announced(panel: &Panel, order: Spec) -> Vec<Announcement> {
    let table = Table::over(Arc::new(MemoryStore::new()), panel, registry());
    let (outcome, facts) = table.hold(order).await;
    let mut announcer = Announcer::new(outcome.discussion_id, registry());
    facts.iter().filter_map(|fact| announcer.announce(fact)).collect()
}

fn client(events: &[Announcement]) -> Value {
    fold(events.iter().map(|it| (it.name, &it.data)))
}

fn dialogue(rounds: u32) -> Spec {
    Spec { rounds, ..spec("dialogue") }
}

/// The phase, the stopping reason and the error without its message.
async fn ends(panel: &Panel, order: Spec) -> Value {
    let events = announced(panel, order).await;
    let [.., last] = &events[..] else { panic!("nothing was told") };
    let mut error = last.data.get("error").cloned().unwrap_or_default();
    error.as_object_mut().map(|it| it.remove("message"));
    if last.name == "discussion-error" && events.len() == 1 {
        // Nothing began, so there is nothing to fold.
        return json!([last.name, null, null, error]);
    }
    let state = client(&events);
    json!([last.name, state["phase"], state["stoppingReason"], error])
}

#[tokio::test(start_paused = true)]
async fn a14_every_code_of_a_dialogue_has_a_failure_behind_it() {
    let failed = |code: &str, recoverable: bool| {
        json!([
            "discussion-error", "error", "model_unavailable",
            { "code": code, "role": "model-b", "roundNumber": 1, "recoverable": recoverable },
        ])
    };
    let by = |class| at_odds().fails("bob", class);
    assert_eq!(ends(&by(ErrorClass::ApiError), dialogue(2)).await, failed("TURN_FAILED", true));
    assert_eq!(ends(&at_odds().hangs("bob"), dialogue(2)).await, failed("TURN_TIMEOUT", true));
    assert_eq!(ends(&by(ErrorClass::Authentication), dialogue(2)).await, failed("PROVIDER_ERROR", false));
    assert_eq!(ends(&by(ErrorClass::Validation), dialogue(2)).await, failed("PROVIDER_ERROR", false));
    assert_eq!(ends(&by(ErrorClass::ContextOverflow), dialogue(2)).await, failed("TURN_FAILED", false));

    let nobody =
        json!(["discussion-error", null, null, { "code": "INITIALIZATION_FAILED", "recoverable": true }]);
    assert_eq!(ends(&at_odds().away("*"), dialogue(2)).await, nobody);

    let timing = Timing { total_ms: 40_000, ..spec("dialogue").timing };
    let late = json!(["discussion-completed", "completed", "timeout", { "code": "DISCUSSION_TIMEOUT", "recoverable": true }]);
    assert_eq!(ends(&at_odds().takes("*", 9_000), Spec { timing, ..dialogue(10) }).await, late);

    let limits = Limits { calls: Some(6), ..Limits::default() };
    let spent =
        json!(["discussion-completed", "completed", "budget", { "code": "UNKNOWN", "recoverable": false }]);
    assert_eq!(ends(&at_odds(), Spec { limits, ..dialogue(10) }).await, spent);
}

#[tokio::test(start_paused = true)]
async fn a09_a_vote_that_stays_empty_or_unreadable_is_an_uncertain_no_under_its_code() {
    for said in ["", "  \n ", "Hm."] {
        let mute = at_odds().writes("bob", "consensus-check", said);
        let events = announced(&mute, dialogue(1)).await;
        let votes: Vec<&Value> =
            events.iter().filter(|it| it.name == "consensus-vote").map(|it| &it.data).collect();
        assert_eq!(votes.len(), 2, "{said:?}");
        assert_eq!(votes[0].get("code"), None);
        assert_eq!(votes[1]["code"], "CONSENSUS_PARSE_FAILED", "{said:?}");
        let vote = &votes[1]["vote"];
        assert_eq!((&vote["hasConsensus"], &vote["confidence"]), (&json!(false), &json!(0)));
        assert_eq!(client(&events)["stoppingReason"], "max_iterations");
    }
}

#[tokio::test(start_paused = true)]
async fn a12_the_synthesis_is_no_turn_of_the_dialogue() {
    let events = announced(&at_odds(), dialogue(2)).await;
    let names: Vec<&str> = events.iter().map(|it| it.name).collect();
    let turn = ["turn-started", "turn-completed"];
    let round =
        |check: &[&'static str]| [&["round-started"][..], &turn, &turn, check, &["round-completed"]].concat();
    let vote = ["consensus-check-started", "consensus-vote", "consensus-vote", "consensus-result"];
    let end = ["synthesis-started", "synthesis-completed", "discussion-completed"];
    let expected = [&["discussion-started"][..], &round(&vote), &round(&vote), &end].concat();
    assert_eq!(names, expected);
    let synthesis = &events[names.len() - 2].data["turn"];
    assert_eq!((synthesis.get("role"), &synthesis["participant"]), (None, &json!("ann")));
    assert_eq!(client(&events)["rounds"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a17_the_synthesis_is_counted_as_tokens_of_neither_of_the_two() {
    let events = announced(&at_odds().uses("*", 100, 10), dialogue(1)).await;
    let used = |prompt: u32, completion: u32| json!({ "prompt": prompt, "completion": completion });
    // A turn and a vote of each, and the synthesis.
    let expected = json!({ "modelA": used(200, 20), "modelB": used(200, 20), "total": used(500, 50) });
    assert_eq!(events.last().unwrap().data["totalTokensUsed"], expected);
}

#[tokio::test(start_paused = true)]
async fn a14_an_aborted_dialogue_has_no_error() {
    let table = Table::over(Arc::new(MemoryStore::new()), &at_odds(), registry());
    let id = table.open(dialogue(2)).await.unwrap();
    table.engine.send(id, Command::Abort).await.unwrap();
    let outcome = table.run(id).await.unwrap().outcome();
    assert_eq!(outcome.error.as_ref().map(|it| it.code), Some(Code::Aborted));
    let state = table.engine.state(id).await.unwrap();
    assert_eq!(error(&state, &outcome), None, "the stopping reason tells of it");
}

#[tokio::test(start_paused = true)]
async fn a12_a_failed_attempt_is_begun_again_and_a_skipped_check_is_reported() {
    let clumsy = at_odds().fails_first("bob", ErrorClass::ApiError, 1);
    let mut order = dialogue(2);
    order.settings.set("minRoundsBeforeConsensus", 2);
    let events = announced(&clumsy, order).await;
    let state = client(&events);
    let checks = state["consensusHistory"].as_array().unwrap();
    assert_eq!(checks.len(), 2);
    assert_eq!(checks[0]["modelAVote"]["confidence"], 0, "{checks:?}");
    assert_eq!(state["rounds"][1]["consensusCheck"], checks[1]);
    assert_eq!(events.iter().filter(|it| it.name == "consensus-check-started").count(), 1);
}
