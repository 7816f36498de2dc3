//! Settle: blind answers, two at first and then one by one, until no further answer could change
//! the outcome, or the leading answer is almost certainly right. If the outcome is still open,
//! everyone is asked once more: blind, or after a talk if the request says so.

mod course;

use std::collections::BTreeMap;

use quorum_core::{
    choices,
    floor::{Floor, ask::Ask, halt::Halt, notes::Note},
    model::{
        error::Refusal,
        outcome::Decision,
        participant::Participant,
        phase::{Phase, PhaseTable, REDRAW},
        spec::Spec,
    },
    registry::{Defaults, Pattern},
    vocabulary::{
        option::{Opt, Picked},
        result::ResultField,
        view::View,
    },
};
use serde_json::{Value, json};

use self::course::{Course, Next};
use crate::{
    consensus::{self, THRESHOLD, poll},
    pattern::{two_speakers, voting},
    prompts::deciding,
    readers::{
        CastBallot,
        ballot::{self, Ballots},
    },
    starters,
    weighing::Weighing,
};

const SETTLING: Phase = Phase("settling");

/// The kind of note that says why nobody else was asked.
const SETTLED: &str = "settled";

choices! {
    /// What follows if the first answers leave the outcome open.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Open {
        Redraw = "redraw": "everyone answers once more, blind",
        Talk = "talk": "everyone answers once more, with the reasons of the others",
    }
}

/// What follows if the first answers leave the outcome open.
const OPEN: Opt<Picked<Open>> = Opt::choice("open", "What follows if blind answers leave the outcome open");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "settle",
    summary: "Asks blind until no further answer could change the outcome; best for questions with options",
    suits: "Questions with one right answer, for as few calls as possible",
    sketch: &["1", "2", "3", "*"],
    // The second draw has a phase of its own since flow 2.
    flow: 2,
    defaults: Defaults { method: "voting", ..Defaults::PLAIN },
    options: &[&OPEN],
    forms: &[&ballot::FORM],
    starters: &[starters::SETTLE],
    results: &[ResultField {
        name: "settled",
        title: "Why it stopped asking",
        view: View::List,
        of: settled,
    }],
    phases: PhaseTable { first: &[SETTLING], next: &[(SETTLING, &[SETTLING, REDRAW])] },
    check: |spec| [two_speakers(spec), ballot::check(&spec.options)].concat(),
    votes: true,
    remarks,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

/// Whether this is a discussion of this pattern.
pub(crate) fn is(spec: &Spec) -> bool {
    spec.pattern == PATTERN.name
}

fn remarks(spec: &Spec) -> Vec<Refusal> {
    let why = "the option that leads wins, whatever its share";
    consensus::no_effect(spec, THRESHOLD.name(), why).into_iter().collect()
}

/// Each voice has one step a round, and a step happens once: an answer can't be changed within its
/// round.
async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        match (round, floor.option(&OPEN).0) {
            (1, _) => {
                floor.enter(SETTLING, round).await?;
                draw(floor, round).await?;
            }
            (2, Open::Redraw) => {
                floor.enter(REDRAW, round).await?;
                draw(floor, round).await?;
            }
            (_, Open::Redraw) => break,
            (_, Open::Talk) => {
                floor.enter(SETTLING, round).await?;
                talk(floor, round).await?;
            }
        }
        if !course(&spec, floor, round).is_open() {
            break;
        }
    }
    Ok(None)
}

/// Asks blind, as many as are needed.
async fn draw(floor: &mut Floor, round: u32) -> Result<(), Halt> {
    let spec = floor.spec();
    let ballots = Ballots::on(&spec.options);
    let ask = |who: &Participant| match round {
        1 => deciding::first_answer(&spec, who),
        _ => deciding::draw(&spec, who),
    };
    let mut asked = Vec::new();
    loop {
        let left: Vec<Participant> =
            in_order(floor).into_iter().filter(|it| !asked.contains(&it.name)).collect();
        match course(&spec, floor, round).next(&left, &asked) {
            Next::Ask(count) => {
                let now = &left[..count];
                asked.extend(now.iter().map(|it| it.name.clone()));
                floor.ask_all_for(now, ask, &ballots).await?;
            }
            Next::Stop(None) => return Ok(()),
            Next::Stop(Some(stop)) => {
                let told = Some(stop.told.clone());
                return floor.note(Note { kind: SETTLED, key: "", round, value: &stop, told });
            }
        }
    }
}

/// Everyone votes again, with the reasons of the round before.
async fn talk(floor: &mut Floor, round: u32) -> Result<(), Halt> {
    let spec = floor.spec();
    let voters = floor.speakers();
    let asks: BTreeMap<String, Ask> = voting::asks(floor, &voters, round);
    let ask = |who: &Participant| asks.get(&who.name).cloned().unwrap_or_else(|| deciding::draw(&spec, who));
    floor.ask_all_for(&voters, ask, &Ballots::on(&spec.options)).await?;
    Ok(())
}

/// The participants that can be asked. If votes are weighed by earlier outcomes, those whose votes
/// can weigh most come first. People come last.
fn in_order(floor: &Floor) -> Vec<Participant> {
    let spec = floor.spec();
    let weighing = Weighing::of(&spec);
    let mut speakers = floor.speakers();
    if let Weighing::Learned(_) = weighing {
        let most = |it: &Participant| weighing.most(&spec, &it.name);
        speakers.sort_by(|one, other| most(other).total_cmp(&most(one)));
    }
    speakers.sort_by_key(Participant::is_person);
    speakers
}

/// The ballots that count: those of both blind draws, or of the last talk.
pub(crate) fn counted(floor: &Floor) -> Vec<CastBallot> {
    let rounds = 1..=floor.round();
    let of_round = |round| poll::ballots_of_round(floor, round);
    match floor.option(&OPEN).0 {
        Open::Redraw => rounds.flat_map(of_round).collect(),
        Open::Talk => rounds.rev().map(of_round).find(|it| !it.is_empty()).unwrap_or_default(),
    }
}

fn course<'s>(spec: &'s Spec, floor: &Floor, round: u32) -> Course<'s> {
    let cast = counted(floor);
    let cast = cast.iter().filter(|it| it.round <= round);
    let choice = |it: &CastBallot| spec.options.iter().position(|option| *option == it.ballot.choice);
    let votes =
        cast.filter_map(|it| Some((it.participant.as_str(), choice(it)?, it.ballot.confidence.get())));
    Course::of(spec, votes)
}

fn settled(state: &quorum_core::model::state::State) -> Option<Value> {
    let told: Vec<String> = state.noted::<course::Stop>(SETTLED).map(|it| it.told).collect();
    (!told.is_empty()).then(|| json!(told))
}
