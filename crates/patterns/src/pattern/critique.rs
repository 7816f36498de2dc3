//! Critique: one participant proposes, the others criticise in parallel, the author refines; for as
//! many rounds as the spec says. The answer is the last refinement, checked by a critic.

use quorum_core::{
    floor::{
        Floor,
        ask::{Ask, Hears},
        halt::Halt,
    },
    model::{
        outcome::{Decision, Dissent},
        participant::Participant,
        phase::{Phase, PhaseTable},
        spec::Spec,
        state::State,
    },
    registry::Pattern,
    vocabulary::{
        result::ResultField,
        view::{Cell, Section, View},
    },
};
use serde_json::{Map, Value, json};

use crate::{
    consensus::{SYNTHESIS_PROMPT, SYNTHESIZER},
    pattern::two_speakers,
    prompts::talk,
    ranking,
    readers::draft_check::{self, CHECK, Checks, DraftCheck, Objection},
    starters,
};

const PROPOSING: Phase = Phase("proposing");
const CRITIQUING: Phase = Phase("critiquing");
const REFINING: Phase = Phase("refining");
const CHECKING: Phase = Phase("checking");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "critique",
    summary: "One proposes, the others criticise, the author refines",
    suits: "A text, plan or piece of code that should get better with every round",
    sketch: &["1", "23", "1", "23", "1", "*"],
    flow: 2,
    forms: &[&draft_check::FORM],
    starters: &[starters::CRITIQUE],
    results: &[ResultField {
        name: "check",
        title: "Check",
        view: View::Sections {
            sections: &[
                Section::new("", "/by", &View::Line { label: "Checked by", cell: Cell::Text }),
                Section::new("", "/ready", &View::Line { label: "Ready", cell: Cell::YesNo }),
            ],
        },
        of: |state| checked(state).map(|(by, check)| report(by, &check)),
    }],
    phases: PhaseTable {
        first: &[PROPOSING],
        next: &[
            (PROPOSING, &[CRITIQUING]),
            (CRITIQUING, &[REFINING]),
            (REFINING, &[CRITIQUING, CHECKING]),
            (CHECKING, &[]),
        ],
    },
    names_phases: true,
    check: two_speakers,
    lacks,
    answer_in: |turn, text| match turn.phase.as_str() {
        phase if phase == PROPOSING.0 => Some(text.to_owned()),
        phase if phase == REFINING.0 => Some(proposal_of(text).to_owned()),
        _ => None,
    },
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    floor.enter(PROPOSING, 1).await?;
    let proposed = first_to_write(floor, spec.speakers(), |who| talk::propose(&spec, who)).await?;
    let Some(mut author) = proposed else { return Ok(None) };
    // The draft of a round has the round's number.
    for round in 1..=spec.rounds {
        floor.enter(CRITIQUING, round).await?;
        let critics = critics(&spec, &author);
        let critiques = floor.ask_all(&critics, |critic| talk::criticise(&spec, critic, round)).await?;
        if critiques.is_empty() {
            return Ok(None);
        }
        floor.enter(REFINING, round).await?;
        match first_to_write(floor, spec.speakers(), |who| talk::refine(&spec, who, round)).await? {
            Some(writer) => author = writer,
            None => return Ok(None),
        }
    }
    check_last_draft(floor, &author).await?;
    Ok(None)
}

fn critics(spec: &Spec, author: &Participant) -> Vec<Participant> {
    spec.speakers().into_iter().filter(|it| it.name != author.name).collect()
}

/// The first speaker that answers. Everyone seated before an author has failed, so if an author
/// fails, the next in seating order takes over (INV-DISC-400).
async fn first_to_write(
    floor: &mut Floor,
    speakers: Vec<Participant>,
    ask: impl Fn(&Participant) -> Ask,
) -> Result<Option<Participant>, Halt> {
    for writer in speakers {
        if floor.ask(&writer, ask(&writer)).await?.is_some() {
            return Ok(Some(writer));
        }
    }
    Ok(None)
}

/// Has the strongest critic check the last draft; the next strongest if that one fails. A check
/// that can't be read is not repeated by another. People are not asked, since it is a form.
async fn check_last_draft(floor: &mut Floor, author: &Participant) -> Result<(), Halt> {
    let (spec, round) = (floor.spec(), floor.round());
    floor.enter(CHECKING, round).await?;
    let critics = critics(&spec, author).into_iter().filter(|it| !it.is_person()).collect();
    // The criticism of this round and the draft made from it, no older drafts.
    let mut turns = floor.transcript().iter();
    let since = turns.position(|turn| turn.round == round && turn.phase == CRITIQUING.0).unwrap_or_default();
    for critic in ranking::strongest_first(critics, &spec.topic) {
        let ask = talk::check(&spec, &critic).hearing(Hears::Since(since)).about_every_turn();
        let checked = floor.ask_for(&critic, ask, &Checks).await?.is_some();
        if checked || !floor.unread(round, CHECK).is_empty() {
            break;
        }
    }
    Ok(())
}

/// The last refinement as the answer, with the objections that the check left open as dissent.
///
/// `None` in other patterns, if the user named who writes the answer or gave instructions for it,
/// and if the last draft was criticised and not refined any more.
pub(crate) fn answer(floor: &Floor) -> Option<Decision> {
    let spec = floor.spec();
    let is_ordered = spec.option(&SYNTHESIZER).is_some() || spec.option(&SYNTHESIS_PROMPT).is_some();
    if spec.pattern != PATTERN.name || is_ordered {
        return None;
    }
    let last = floor.transcript().last().filter(|turn| turn.phase == REFINING.0)?;
    let readings = floor.readings(last.round);
    let check = readings.iter().find_map(|it| Some((&it.participant, it.value.read::<DraftCheck>(CHECK)?)));
    let open = |it: &Objection, by: &str| Dissent::of_position(by, &it.objection, &it.breaks);
    let dissent = check.map(|(by, check)| check.open.iter().map(|it| open(it, by)).collect());
    Some(Decision {
        synthesis: proposal_of(&last.text).to_owned(),
        synthesizer: Some(last.participant.clone()),
        dissent: dissent.unwrap_or_default(),
        ..Decision::default()
    })
}

/// The proposal in a refinement: what stands above the line `---`, below which the author answers
/// the objections. The last such line counts, because a proposal may have some of its own.
fn proposal_of(refinement: &str) -> &str {
    let is_line = |line: &str| 3 <= line.trim().len() && line.trim().chars().all(|it| it == '-');
    let mut at = refinement.len();
    for line in refinement.split_inclusive('\n').rev() {
        at -= line.len();
        if is_line(line) {
            let above = refinement[..at].trim();
            return if above.is_empty() { refinement.trim() } else { above };
        }
    }
    refinement.trim()
}

/// The check of the last draft, and who made it.
fn checked(state: &State) -> Option<(&str, DraftCheck)> {
    let checks = state.readings.iter().rev();
    checks.filter(|it| !it.is_deciding()).find_map(|it| Some((&*it.participant, it.reading.read(CHECK)?)))
}

fn report(by: &str, check: &DraftCheck) -> Value {
    json!({ "by": by, "ready": check.ready, "open": check.open })
}

/// A check that was asked for and is missing.
fn lacks(state: &State) -> Map<String, Value> {
    let unread = state.unread.iter().find(|it| it.kind == CHECK);
    let unread = unread.map(|it| format!("the reply of {} could not be read", it.participant));
    let failed = state.failures.iter().any(|it| it.phase == CHECKING.0);
    let failed = failed.then(|| "no critic was left to give it".to_owned());
    let why = unread.or(failed).filter(|_| checked(state).is_none());
    why.map(|why| ("missingCheck".to_owned(), json!(why))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_a_critique_stands_above_the_line() {
        let check = |text: &str, expected: &str| assert_eq!(proposal_of(text), expected, "{text}");
        check("Use tabs.\n\n---\n- taken", "Use tabs.");
        check("Use tabs.\n--- \n", "Use tabs.");
        check("Use tabs.\r\n-----\r\n1. taken", "Use tabs.");
        check("One.\n\n---\n\nTwo.\n\n---\nall taken", "One.\n\n---\n\nTwo.");
        check(" Use tabs -- or --- spaces. ", "Use tabs -- or --- spaces.");
        check("- a\n--\n- b", "- a\n--\n- b");
        check("---\nall taken", "---\nall taken");
        check("", "");
    }
}
