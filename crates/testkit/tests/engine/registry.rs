//! Tiny patterns, one method and three context strategies, so that the engine is tested without the
//! real ones.

use quorum_core::{
    floor::{
        Floor,
        ask::{Ask, Hears},
        halt::Halt,
    },
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
    registry::{Before, Consensus, ContextStrategy, Fit, Length, OnOverflow, Pattern, Registry, SumUp},
};

const TALKING: Phase = Phase("talking");

/// A registry with everything below.
pub(crate) fn registry() -> Registry {
    Registry::default().with_patterns(PATTERNS).with_methods(METHODS).with_strategies(CONTEXTS)
}

static PATTERNS: &[Pattern] = &[AT_ONCE, IN_TURN, UNTIL_TWO, ROGUE, ASTRAY, RECASTING, FAULTY, HASTY];
static METHODS: &[Consensus] = &[FIRST_SPEAKS];

static CONTEXTS: &[ContextStrategy] = &[SLIDE, TRUNCATE, SUMMARISE];

const SLIDE: ContextStrategy = ContextStrategy {
    name: "slide",
    summary: "The first and the newest",
    fit: |talk| fitted(talk, Before::FirstTurns),
    options: &[],
    overflow: OnOverflow::NotOffered,
    words: |_, most| Ask::new("", format!("sum up in {most}")).temperature(0.3),
};

const TRUNCATE: ContextStrategy = ContextStrategy {
    name: "truncate",
    fit: |talk| fitted(talk, Before::Openings),
    overflow: OnOverflow::Shrinks,
    ..SLIDE
};

/// Summarises the older half when four fifths of the room are taken.
const SUMMARISE: ContextStrategy =
    ContextStrategy { name: "summarise", fit: summarise, overflow: OnOverflow::SumsUp, ..SLIDE };

fn fitted(talk: &Length<'_>, before: Before) -> Fit {
    let all = talk.since(0);
    let tight = (all * 5 > talk.room * 4).then(|| (all * 100 / talk.room.max(1)) as u32);
    Fit { before, room: talk.room, sum_up: None, tight }
}

fn summarise(talk: &Length<'_>) -> Fit {
    let (done, size) = talk.summary.map_or((0, 0), |it| (it.turns, it.size));
    let fit = fitted(talk, if done > 0 { Before::Summary } else { Before::Openings });
    if (size + talk.since(done)) * 5 <= talk.room * 4 {
        return fit;
    }
    let half = done + (talk.turns() - done).div_ceil(2);
    let turns = half.max(talk.newest(0, talk.room / 2)).min(talk.turns() - 1);
    let most = (size + talk.size(done, turns)) / 5;
    Fit { sum_up: (turns > done).then_some(SumUp { turns, most }), ..fit }
}

/// Asks all at once, every round. Called `synthesis` because sub-discussions use the pattern of
/// that name.
const AT_ONCE: Pattern = Pattern {
    name: "synthesis",
    summary: "All at once",
    phases: PhaseTable { first: &[TALKING], next: &[(TALKING, &[TALKING])] },
    run: |floor| Box::pin(at_once(floor)),
    ..Pattern::PLAIN
};

const IN_TURN: Pattern = Pattern { name: "in-turn", run: |floor| Box::pin(in_turn(floor)), ..AT_ONCE };
const UNTIL_TWO: Pattern = Pattern { name: "until-two", run: |floor| Box::pin(until_two(floor)), ..AT_ONCE };
const ROGUE: Pattern = Pattern { name: "rogue", run: |floor| Box::pin(rogue(floor)), ..AT_ONCE };
const ASTRAY: Pattern = Pattern { name: "astray", run: |floor| Box::pin(astray(floor)), ..AT_ONCE };
const RECASTING: Pattern = Pattern { name: "recasting", run: |floor| Box::pin(recasting(floor)), ..AT_ONCE };
const FAULTY: Pattern = Pattern { name: "faulty", run: |_| panic!("a fault by script"), ..AT_ONCE };

const HASTY: Pattern = Pattern { name: "hasty", run: |floor| Box::pin(hasty(floor)), ..AT_ONCE };

async fn at_once(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(TALKING, round).await?;
        floor.ask_all(&spec.participants, |_| Ask::new("", "speak")).await?;
    }
    Ok(None)
}

async fn in_turn(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(TALKING, round).await?;
        for who in floor.present(&spec.participants) {
            floor.ask(&who, Ask::new("", "speak")).await?;
        }
    }
    Ok(None)
}

async fn until_two(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    for round in 1..=spec.rounds {
        floor.enter(TALKING, round).await?;
        floor.ask_until(&spec.participants, |_| Ask::new("", "speak"), |turns| turns.len() >= 2).await?;
    }
    Ok(None)
}

/// Enters a phase that its table doesn't allow.
async fn rogue(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(TALKING, 1).await?;
    floor.enter(TALKING, 3).await?;
    Ok(None)
}

/// Enters a phase that its table does not have.
async fn astray(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(TALKING, 1).await?;
    floor.enter(Phase("shouting"), 1).await?;
    Ok(None)
}

/// Asks the first participant to vote twice in one round.
async fn recasting(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(TALKING, 1).await?;
    for _ in 0..2 {
        floor.ask(&floor.spec().participants[0], Ask::new("", "vote")).await?;
    }
    Ok(None)
}

/// Panics after the first answer.
async fn hasty(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(TALKING, 1).await?;
    floor.ask(&floor.spec().participants[0], Ask::new("", "speak")).await?;
    panic!("a fault by script")
}

const FIRST_SPEAKS: Consensus = Consensus {
    name: "synthesis",
    summary: "The first one present sums up",
    decide: |floor| Box::pin(first_speaks(floor)),
    ..Consensus::PLAIN
};

async fn first_speaks(floor: &mut Floor) -> Result<Decision, Halt> {
    for who in floor.present(&floor.spec().participants) {
        if let Some(turn) = floor.ask(&who, Ask::new("", "sum up").hearing(Hears::ForSynthesis)).await? {
            let (synthesis, synthesizer) = (turn.text.to_string(), Some(who.name));
            return Ok(Decision { synthesis, synthesizer, ..Decision::default() });
        }
    }
    Ok(Decision { degraded: true, ..Decision::default() })
}
