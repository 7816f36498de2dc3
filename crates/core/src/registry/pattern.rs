//! What a pattern is, and everything it may declare of its own.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        error::Refusal, outcome::Decision, participant::Participant, phase::PhaseTable, settings::Settings,
        spec::Spec, state::State,
    },
    registry::Options,
    vocabulary::{ending::Ending, form::Form, result::ResultField, ruling::RulingKind},
};

/// A way to hold a discussion.
#[derive(Clone, Copy)]
pub struct Pattern {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// Raised when the flow changes so that old records can't be continued.
    pub flow: u32,
    /// What holds where an order says nothing.
    pub usual: Usual,
    /// The options it reads.
    pub options: Options,
    /// The roles it tells apart.
    pub roles: &'static [RoleKind],
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The ways in which its talk may end by its own rules.
    pub ends: &'static [Ending],
    /// The decisions it may ask people for.
    pub rulings: &'static [RulingKind],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// The moves between its phases.
    pub phases: PhaseTable,
    /// Hands out the roles that an order leaves open, or says what is missing.
    pub seat: fn(&mut Seating<'_>) -> Vec<Refusal>,
    /// What is missing in the spec for this pattern, before anything is spent.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// What makes a finished discussion less than it was meant to be, by name; usually nothing.
    pub lacks: fn(&State) -> Map<String, Value>,
    /// What it is called when too many fail.
    pub loss: Loss,
    /// Holds the discussion. `Some` when the talk itself came to a decision, so that no method need
    /// be asked.
    pub run: for<'f> fn(&'f mut Floor) -> Talk<'f>,
}

impl Pattern {
    /// A pattern that declares nothing of its own and says nothing; a base for `..Pattern::PLAIN`.
    pub const PLAIN: Pattern = Pattern {
        name: "",
        summary: "",
        flow: 1,
        usual: Usual::PLAIN,
        options: &[],
        roles: &[],
        forms: &[],
        ends: &[],
        rulings: &[],
        results: &[],
        phases: PhaseTable { first: &[], next: &[] },
        seat: |_| Vec::new(),
        check: |_| Vec::new(),
        lacks: |_| Map::new(),
        loss: Loss::TooFewProviders,
        run: |_| Box::pin(async { Ok(None) }),
    };

    /// The ending of that name.
    #[must_use]
    pub fn ending(&self, name: &str) -> Option<&'static Ending> {
        self.ends.iter().find(|it| it.name == name)
    }
}

/// A pattern at work.
pub type Talk<'f> = BoxFuture<'f, Result<Option<Decision>, Halt>>;

/// What holds where an order says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usual {
    /// How many rounds.
    pub rounds: u32,
    /// The consensus method; the registry's first where it is empty.
    pub method: &'static str,
    /// How long one step may take, in milliseconds.
    pub step_ms: u64,
    /// The least and the most participants that an order may name.
    pub seats: (usize, usize),
    /// The providers that are asked; the usual panel where it is empty.
    pub panel: &'static [&'static str],
}

impl Usual {
    /// Two rounds, a minute for each step, two to six participants.
    pub const PLAIN: Usual = Usual { rounds: 2, method: "", step_ms: 60_000, seats: (2, 6), panel: &[] };
}

/// A role that a pattern tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleKind {
    /// The name in requests.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Whether it takes turns in the talk.
    pub speaks: bool,
}

/// A table whose roles are being handed out.
pub struct Seating<'a> {
    /// The participants in seating order, with the roles that were given.
    pub participants: &'a mut Vec<Participant>,
    /// The options that were given.
    pub settings: &'a Settings,
    /// What to do about roles that nobody has.
    pub missing: MissingRoles,
}

/// What to do about roles that nobody has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingRoles {
    /// Say so: a program should know which participant it lets argue for what (INV-DISC-008).
    #[default]
    Refuse,
    /// Hand them out; for people in a hurry.
    Assign,
}

/// What it is called when a failure leaves too few to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// There are too few providers.
    TooFewProviders,
    /// A turn failed, which nobody else can take (A14).
    TurnFailed,
}
