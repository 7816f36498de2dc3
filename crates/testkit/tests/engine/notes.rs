//! What a pattern records in its own terms: notes once per round, endings it declares, forms it
//! registers.

use std::sync::Arc;

use quorum_core::{
    floor::{
        Floor,
        ask::Ask,
        halt::Halt,
        notes::Note,
        reading::{Misread, Reminder, Static},
    },
    memory::MemoryStore,
    model::{
        error::Code,
        event::{Event, Fact, Noted, TalkEnd},
        outcome::{Decision, StoppingReason},
        phase::{Phase, PhaseTable},
        reading::Stance,
        spec::Spec,
    },
    registry::{Pattern, Registry},
    seams::Store,
    vocabulary::{ending::Ending, form::Form, result::ResultField, view::View},
};
use quorum_testkit::{
    kill::resume_anywhere,
    panel::{Panel, panel},
    table::Table,
};
use serde_json::json;

use crate::{order, registry::registry};

const GUESSING: Phase = Phase("guessing");
const RESTING: Phase = Phase("resting");

static YEAR: Form = Form::new("year").tell(|value| Some(format!("guesses {value}"))).stance(|value| {
    Some(Stance { position: value.to_string(), confidence: 1.0, chooses: true, joins: true })
});

static YEARS: Static<u32> = Static {
    form: &YEAR,
    schema: || None,
    read: |reply| reply.trim().parse().map_err(|_| Misread::new("it is not a year")),
    reminders: &[Reminder { purpose: "remind1", words: "Answer with the year alone." }],
};

const GUESS: Pattern = Pattern {
    name: "guess",
    summary: "Everyone guesses a year, and what they hear is noted more than once",
    forms: &[&YEAR],
    ends: &[
        Ending::new("settled", "All guess the same"),
        Ending::new("tired", "Nobody wants to go on").stopping("exhausted"),
    ],
    results: &[ResultField {
        name: "guesses",
        title: "Guesses",
        view: View::Hidden,
        of: |state| Some(json!(state.noted::<Vec<u32>>("guesses").collect::<Vec<_>>())),
    }],
    phases: PhaseTable { first: &[GUESSING], next: &[(GUESSING, &[RESTING]), (RESTING, &[GUESSING])] },
    run: |floor| Box::pin(guess(floor)),
    ..Pattern::PLAIN
};
const HASTY: Pattern = Pattern { name: "undeclared", run: |floor| Box::pin(undeclared(floor)), ..GUESS };
const ODD: Pattern = Pattern { name: "unwritable", run: |floor| Box::pin(unwritable(floor)), ..GUESS };

static PATTERNS: &[Pattern] = &[GUESS, HASTY, ODD];

async fn guess(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    for round in 1..=floor.spec().rounds {
        floor.enter(GUESSING, round).await?;
        let speakers = floor.speakers();
        let guesses = floor.ask_all_for(&speakers, |_| Ask::new("", "When?"), &YEARS).await?;
        let years: Vec<u32> = guesses.into_iter().map(|it| it.value).collect();
        note(floor, "", round, &years)?;
        floor.enter(RESTING, round).await?;
        // The same note again in another phase and, from the second round on, in another round.
        note(floor, "", round, &years)?;
        note(floor, "", 1, &[0])?;
        note(floor, "late", 1, &[round])?;
        if round == 2 {
            floor.end("tired", round, Some("after lunch".to_owned()))?;
            break;
        }
    }
    Ok(None)
}

fn note(floor: &mut Floor, key: &str, round: u32, years: &[u32]) -> Result<(), Halt> {
    let told = key.is_empty().then(|| format!("{} guesses", years.len()));
    floor.note(Note { kind: "guesses", key, round, value: &years.to_vec(), told })
}

async fn undeclared(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(GUESSING, 1).await?;
    floor.end("bored", 1, None)?;
    Ok(None)
}

async fn unwritable(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(GUESSING, 1).await?;
    // A map with lists as keys, which JSON can't express.
    let value = std::collections::BTreeMap::from([(vec![1], 1)]);
    floor.note(Note { kind: "odd", key: "", round: 1, value: &value, told: None })?;
    Ok(None)
}

fn with_guessing() -> Registry {
    registry().with_patterns(PATTERNS)
}

fn table(panel: &Panel) -> Table {
    Table::over(Arc::new(MemoryStore::new()), panel, with_guessing())
}

fn guessing() -> Panel {
    panel().writes("*", "year", "1989").writes_in("bob", 2, "year", "1990")
}

fn noted(facts: &[Fact]) -> Vec<(String, Noted)> {
    let notes = facts.iter().filter_map(|fact| match &fact.event {
        Event::Noted(noted) => Some((fact.step.as_ref()?.to_string(), noted.clone())),
        _ => None,
    });
    notes.collect()
}

#[tokio::test(start_paused = true)]
async fn a_note_of_one_kind_and_key_is_recorded_once_for_its_round() {
    let (outcome, facts) = table(&guessing()).hold(Spec { rounds: 3, ..order("guess") }).await;
    assert!(outcome.success, "{:?}", outcome.error);
    let note = |step: &str, round, years: &[u32], told: Option<&str>| {
        let (kind, value, told) = ("guesses".to_owned(), json!(years), told.map(str::to_owned));
        (step.to_owned(), Noted { kind, round, value, told })
    };
    let expected = [
        note("1/noted/*guesses", 1, &[1989, 1989, 1989], Some("3 guesses")),
        note("1/noted/*guesses late", 1, &[1], None),
        note("2/noted/*guesses", 2, &[1989, 1990, 1989], Some("3 guesses")),
    ];
    assert_eq!(noted(&facts), expected);
    let guesses = json!([[1989, 1989, 1989], [1], [1989, 1990, 1989]]);
    assert_eq!(outcome.fields.get("guesses"), Some(&guesses));
}

#[tokio::test(start_paused = true)]
async fn a_declared_ending_gives_the_reason_for_stopping() {
    let (outcome, _) = table(&guessing()).hold(Spec { rounds: 3, ..order("guess") }).await;
    let stopping = StoppingReason::named("exhausted");
    let detail = Some("after lunch".to_owned());
    let end = TalkEnd { round: 2, why: "tired".to_owned(), detail, stopping: stopping.clone() };
    assert_eq!((outcome.ended, outcome.stopping_reason), (Some(end), Some(stopping)));
    assert_eq!(outcome.rounds.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_undeclared_ending_is_state_invalid() {
    let (outcome, facts) = table(&panel()).hold(order("undeclared")).await;
    let problem = outcome.error.unwrap();
    let told = "a discussion can't go from the pattern undeclared to the undeclared ending bored";
    assert_eq!((problem.code, problem.message.as_str()), (Code::StateInvalid, told));
    assert!(!facts.iter().any(|it| matches!(it.event, Event::TalkEnded(_))));
}

#[tokio::test(start_paused = true)]
async fn a_note_that_can_not_be_written_says_so() {
    let (outcome, _) = table(&panel()).hold(order("unwritable")).await;
    let problem = outcome.error.unwrap();
    let told = "a note of the pattern can't be written: key must be a string";
    assert_eq!((problem.code, problem.message.as_str()), (Code::Unknown, told));
}

#[tokio::test(start_paused = true)]
async fn a_form_brought_by_a_pattern_is_read_reminded_and_counted() {
    let table = table(&guessing().writes_in("cyd", 1, "year", "long ago"));
    let (outcome, facts) = table.hold(Spec { rounds: 1, ..order("guess") }).await;
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == "1/guessing/cyd/remind1");
    let sent = asked.unwrap().call.render().pop().unwrap().1;
    assert_eq!(sent, "Your answer could not be read: it is not a year. Answer with the year alone.");
    let read = facts.iter().filter_map(|fact| match &fact.event {
        Event::ReplyRead { participant, reading, .. } => {
            Some(format!("{participant} {} {} {}", reading.kind, reading.value, reading.told.as_ref()?))
        }
        _ => None,
    });
    let mut read: Vec<String> = read.collect();
    read.sort();
    assert_eq!(read, ["ann year 1989 guesses 1989", "bob year 1989 guesses 1989"]);
    let forms = facts.iter().filter_map(|fact| match &fact.event {
        Event::TurnCompleted { turn } => Some(turn.form.clone()),
        _ => None,
    });
    let with_form = forms.filter(|form| form.as_deref() == Some("year")).count();
    assert_eq!(with_form, 4, "three replies and one after the reminder, but not the synthesis");
    let held: Vec<&str> = outcome.positions_by_round.iter().map(|it| it.participant.as_str()).collect();
    assert_eq!((held, outcome.agreement_by_round[0].agreement), (vec!["ann", "bob"], 0.667));
}

#[tokio::test(start_paused = true)]
async fn f1_notes_and_endings_survive_every_crash() {
    let store = || Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let spec = Spec { rounds: 3, ..order("guess") };
    let deaths = resume_anywhere(store, &guessing(), with_guessing(), spec).await;
    assert!(deaths >= 6, "died {deaths} times only");
}
