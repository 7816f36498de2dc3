//! Three tiny patterns and one method, so that the engine is tested without the real ones.

use quorum_core::{
    craft::{Consensus, Crafts, Loss, Pattern},
    floor::{
        Floor,
        ask::{Ask, Hears},
        halt::Halt,
    },
    model::{
        outcome::Decision,
        phase::{Phase, PhaseTable},
    },
};

const TALKING: Phase = Phase("talking");

pub(crate) const CRAFTS: Crafts = Crafts { patterns: PATTERNS, consensus: METHODS };

static PATTERNS: &[Pattern] = &[AT_ONCE, IN_TURN, UNTIL_TWO, ROGUE, FAULTY];
static METHODS: &[Consensus] = &[FIRST_SPEAKS];

/// All at once, every round. Called `synthesis` because sub-discussions are held as that.
const AT_ONCE: Pattern = Pattern {
    name: "synthesis",
    summary: "All at once",
    flow: 1,
    phases: PhaseTable { first: &[TALKING], next: &[(TALKING, &[TALKING])] },
    check: |_| Vec::new(),
    loss: Loss::TooFewProviders,
    run: |floor| Box::pin(at_once(floor)),
};

const IN_TURN: Pattern = Pattern { name: "in-turn", run: |floor| Box::pin(in_turn(floor)), ..AT_ONCE };
const UNTIL_TWO: Pattern = Pattern { name: "until-two", run: |floor| Box::pin(until_two(floor)), ..AT_ONCE };
const ROGUE: Pattern = Pattern { name: "rogue", run: |floor| Box::pin(rogue(floor)), ..AT_ONCE };
const FAULTY: Pattern = Pattern { name: "faulty", run: |_| panic!("a fault by script"), ..AT_ONCE };

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

/// Leaves its table.
async fn rogue(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(TALKING, 1).await?;
    floor.enter(TALKING, 3).await?;
    Ok(None)
}

const FIRST_SPEAKS: Consensus = Consensus {
    name: "synthesis",
    summary: "The first one present sums up",
    check: |_| Vec::new(),
    calls: |_| 1,
    decide: |floor| Box::pin(first_speaks(floor)),
};

async fn first_speaks(floor: &mut Floor) -> Result<Decision, Halt> {
    for who in floor.present(&floor.spec().participants) {
        if let Some(turn) = floor.ask(&who, Ask::new("", "sum up").hearing(Hears::Alphabetically)).await? {
            let (synthesis, synthesizer) = (turn.text.to_string(), Some(who.name));
            return Ok(Decision { synthesis, synthesizer, ..Decision::default() });
        }
    }
    Ok(Decision { degraded: true, ..Decision::default() })
}
