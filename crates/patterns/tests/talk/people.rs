//! A person who judges: in plain text, round by round, and never asked to fill in a form (C02,
//! D06).

use std::sync::Arc;

use quorum_core::{
    engine::handle::Finished,
    memory::MemoryStore,
    model::{
        command::{Command, Say},
        participant::Participant,
        spec::Spec,
        state::State,
    },
    seams::Store,
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    registry,
    roles::JUDGE,
};
use quorum_testkit::{kill::resume_anywhere_answering, panel::panel, spec::spec, table::Table};

use crate::{
    results::{Results, ordered},
    table,
};

/// ann and bob debate; eva, a person, judges.
fn judged_by_eva() -> Spec {
    let debate = DebateSpec { format: Format::FreeForm, round_limit: Some(5), ..DebateSpec::default() };
    let mut order = ordered(&debate);
    order.participants[2] = Participant::person("eva").playing(JUDGE).aside();
    order
}

/// What eva says, whatever she is asked.
fn word(state: &State) -> Option<Command> {
    let awaited = state.awaiting.first()?;
    let text = match (awaited.shape.as_deref(), awaited.round) {
        (Some("assessment"), 1) => "A slow start.\nann 6, bob 4",
        (Some("assessment"), _) => "ann 8, bob 5, stop",
        _ => "ann argued better.",
    };
    Some(Command::Say(Say { participant: "eva".to_owned(), text: text.to_owned() }))
}

#[tokio::test(start_paused = true)]
async fn d06_a_person_judges_every_round_without_writing_json() {
    judges(judged_by_eva()).await;
    // A person sees names, so the order can't bias her, and she is not asked twice.
    let settings = judged_by_eva().settings.with("swapCheck", true);
    judges(Spec { settings, ..judged_by_eva() }).await;
}

async fn judges(order: Spec) {
    let table = table(&panel());
    let id = table.open(order).await.unwrap();
    let mut prompts = Vec::new();
    let outcome = loop {
        match table.run(id).await.unwrap() {
            Finished::Waiting(state) => {
                prompts.push(state.awaiting[0].prompt.clone());
                table.engine.send(id, word(&state).unwrap()).await.unwrap();
            }
            over @ Finished::Over(_) => break over.outcome(),
        }
    };
    assert_eq!(prompts.len(), 3, "two rounds and the verdict, none asked for twice");
    for prompt in &prompts {
        assert!(!prompt.contains("JSON") && !prompt.contains('@'), "{prompt}");
        assert!(prompt.contains("ann and bob"), "{prompt}");
    }
    assert!(prompts[0].contains("like this: ann 7, bob 5") && prompts[0].contains("only says stop"));
    let report = outcome.judging().unwrap();
    let told: Vec<String> = report
        .rounds
        .iter()
        .map(|it| {
            let marks: Vec<f64> = it.assessment.assessments.iter().map(|it| it.score).collect();
            format!("{} {marks:?} {:?}", it.judge, it.assessment.reasoning)
        })
        .collect();
    assert_eq!(told, ["eva [6.0, 4.0] \"A slow start.\"", "eva [8.0, 5.0] \"\""]);
    assert_eq!(report.ended.map(|it| it.why).as_deref(), Some("judge"));
    assert_eq!(outcome.verdict().unwrap().summary, "ann argued better.");
}

#[tokio::test(start_paused = true)]
async fn d07_a_persons_verdict_names_a_winner_and_invents_no_score() {
    let table = table(&panel());
    let id = table.open(judged_by_eva()).await.unwrap();
    let outcome = loop {
        match table.run(id).await.unwrap() {
            Finished::Waiting(state) => {
                let text = match state.awaiting[0].shape.as_deref() {
                    Some("assessment") => "A dull round.\nstop",
                    _ => "Close, but she met every point.\nwinner: Ann",
                };
                let say = Say { participant: "eva".to_owned(), text: text.to_owned() };
                table.engine.send(id, Command::Say(say)).await.unwrap();
            }
            over @ Finished::Over(_) => break over.outcome(),
        }
    };
    let verdict = serde_json::json!({
        "summary": "Close, but she met every point.", "winner": { "participant": "ann", "reasoning": "" },
        "keyPoints": [], "areasOfAgreement": [], "areasOfDisagreement": [], "insights": [],
    });
    assert_eq!(outcome.fields["verdict"], verdict);
    let round = &outcome.fields["judging"]["rounds"][0];
    assert_eq!((round.get("qualityScore"), &round["reasoning"]), (None, &serde_json::json!("A dull round.")));
}

#[tokio::test(start_paused = true)]
async fn f1_a_person_that_judges_survives_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let deaths = resume_anywhere_answering(store, &panel(), registry(), judged_by_eva(), &word).await;
    assert!(deaths >= 12, "died {deaths} times only");
}

#[tokio::test(start_paused = true)]
async fn c06_an_empty_or_endless_judgement_is_refused_and_changes_nothing() {
    let table: Table = table(&panel());
    let id = table.open(judged_by_eva()).await.unwrap();
    table.run(id).await.unwrap();
    let before = table.facts(id).await;
    for text in [String::new(), " \n".to_owned(), "x".repeat(1 << 20)] {
        let say = Say { participant: "eva".to_owned(), text };
        let refused = table.engine.say(id, say, None).await.unwrap_err().to_string();
        assert!(refused.starts_with("a turn must have 1 to 100000 characters"), "{refused}");
    }
    assert_eq!(table.facts(id).await, before);
}

#[tokio::test(start_paused = true)]
async fn c02_a_person_whose_vote_is_unreadable_is_asked_again_in_plain_words() {
    let mut order = Spec { rounds: 1, ..spec("voting") };
    order.participants[2] = Participant::person("eva");
    let table = table(&panel());
    let id = table.open(order).await.unwrap();
    let mut prompts = Vec::new();
    for word in ["Hm.", "Well.", "tabs\nThey are smaller."] {
        let Finished::Waiting(state) = table.run(id).await.unwrap() else { panic!("eva is to vote") };
        prompts.push(state.awaiting[0].prompt.clone());
        let say = Say { participant: "eva".to_owned(), text: word.to_owned() };
        table.engine.send(id, Command::Say(say)).await.unwrap();
    }
    let outcome = table.run(id).await.unwrap().outcome();
    let ballots = outcome.voting_results().unwrap().vote_records;
    assert!(ballots.iter().any(|it| (&*it.provider, &*it.choice) == ("eva", "tabs")), "{ballots:?}");
    assert!(prompts.iter().all(|it| !it.contains("JSON") && it.contains("- tabs\n- spaces")), "{prompts:#?}");
    let again = |prompt: &String| prompt.starts_with("Your answer could not be read");
    assert_eq!(prompts.iter().map(again).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(prompts[1], prompts[2], "the question is there once");
}
