//! Patterns, and everything they can declare.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use crate::{
    floor::{Floor, halt::Halt},
    model::{
        error::Refusal,
        outcome::{Decision, Standing},
        participant::Participant,
        phase::PhaseTable,
        settings::Settings,
        spec::Spec,
        state::State,
        transcript::Turn,
    },
    registry::Options,
    vocabulary::{ending::Ending, form::Form, result::ResultField, ruling::RulingKind, starter::Starter},
};

/// A way to hold a discussion.
#[derive(Clone, Copy)]
pub struct Pattern {
    /// The name in requests.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    /// The questions it suits, in one sentence for people who choose between patterns.
    pub suits: &'static str,
    /// A sketch of it, for a small picture: a string for each moment, with a digit for each seat
    /// that speaks then. Seats of one string speak at once; `*` is the decision at the end.
    pub sketch: &'static [&'static str],
    /// Whether programs alone hold it: no list shows it and no request can name it.
    pub hidden: bool,
    /// Whether its talk always reaches the decision itself, so that no budget and no time is kept
    /// back for a consensus method.
    pub decides: bool,
    /// The version of the flow, raised when old records can't be continued any more.
    pub flow: u32,
    /// The defaults for requests.
    pub defaults: Defaults,
    /// The options it reads.
    pub options: Options,
    /// The roles it distinguishes.
    pub roles: &'static [RoleKind],
    /// The structured replies it asks for.
    pub forms: &'static [&'static Form],
    /// The ways in which its own rules may end the talk.
    pub ends: &'static [Ending],
    /// The decisions it may ask people for.
    pub rulings: &'static [RulingKind],
    /// Ready-made orders for it, which clients offer as prompts.
    pub starters: &'static [Starter],
    /// The fields it adds to the result.
    pub results: &'static [ResultField],
    /// The allowed transitions between its phases.
    pub phases: PhaseTable,
    /// Whether participants are told in which phase a turn they are shown was said.
    pub names_phases: bool,
    /// Assigns the roles that a request leaves open, or says what is missing.
    pub seat: fn(&mut Seating<'_>) -> Vec<Refusal>,
    /// Checks the spec and says what is missing for this pattern, before anything is spent.
    pub check: fn(&Spec) -> Vec<Refusal>,
    /// Why a request may not give `rounds` beside these options, as a clause that says what to give
    /// instead; usually it may.
    pub refuses_rounds: fn(&Settings) -> Option<String>,
    /// The order in which participants speak in a round; results list their turns in it.
    pub in_turn: InTurn,
    /// Whether it has the participants vote on the options of a request.
    pub votes: bool,
    /// Values of the spec that have no effect in this pattern, or another one than they say. They
    /// are told, and accepted.
    pub remarks: fn(&Spec) -> Vec<Refusal>,
    /// What makes a finished discussion incomplete, by name; usually nothing.
    pub lacks: fn(&State) -> Map<String, Value>,
    /// How far the panel agreed by the pattern's own rules, if it was to agree. A method that
    /// counts votes decides that itself.
    pub standing: fn(&State) -> Option<Standing>,
    /// The part of a speech that can replace an answer that could not be written, given its text;
    /// `None` if the speech is not an answer. Usually all of it.
    pub answer_in: fn(&Turn, &str) -> Option<String>,
    /// The best answer so far by the pattern's own rules, for when nothing more can be asked;
    /// `None` for the last speech.
    pub best: fn(&State) -> Option<Decision>,
    /// The error when too many participants fail.
    pub error_on_loss: ErrorOnLoss,
    /// Runs the talk. Returns `Some` if the talk itself reached a decision, so that no method is
    /// needed.
    pub run: for<'f> fn(&'f mut Floor) -> Talk<'f>,
}

impl Pattern {
    /// A pattern that declares nothing and asks no participant; a base for `..Pattern::PLAIN`.
    pub const PLAIN: Pattern = Pattern {
        name: "",
        summary: "",
        suits: "",
        sketch: &[],
        hidden: false,
        decides: false,
        flow: 1,
        defaults: Defaults::PLAIN,
        options: &[],
        roles: &[],
        forms: &[],
        ends: &[],
        rulings: &[],
        starters: &[],
        results: &[],
        phases: PhaseTable { first: &[], next: &[] },
        names_phases: false,
        seat: |_| Vec::new(),
        check: |_| Vec::new(),
        refuses_rounds: |_| None,
        in_turn: |spec, _| spec.participants.clone(),
        votes: false,
        remarks: |_| Vec::new(),
        lacks: |_| Map::new(),
        standing: |_| None,
        answer_in: |_, text| Some(text.to_owned()),
        best: |_| None,
        error_on_loss: ErrorOnLoss::TooFewProviders,
        run: |_| Box::pin(async { Ok(None) }),
    };

    /// The ending with this name.
    #[must_use]
    pub fn ending(&self, name: &str) -> Option<&'static Ending> {
        self.ends.iter().find(|it| it.name == name)
    }
}

/// The order in which participants speak in this round.
pub type InTurn = fn(&Spec, u32) -> Vec<Participant>;

/// The future of a running pattern.
pub type Talk<'f> = BoxFuture<'f, Result<Option<Decision>, Halt>>;

/// A pattern's defaults for fields that a request leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// The number of rounds.
    pub rounds: u32,
    /// The consensus method; empty for the registry's first.
    pub method: &'static str,
    /// The time limit of a step, in milliseconds.
    pub step_ms: u64,
    /// The minimum and maximum number of participants.
    pub seats: (usize, usize),
    /// The default providers; empty for the default panel.
    pub panel: &'static [&'static str],
}

impl Defaults {
    /// Two rounds, a minute per step, two to six participants.
    pub const PLAIN: Defaults =
        Defaults { rounds: 2, method: "", step_ms: 60_000, seats: (2, 6), panel: &[] };
}

/// A role that a pattern distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleKind {
    /// The name in requests.
    pub name: &'static str,
    /// What the role does.
    pub summary: &'static str,
    /// Whether it takes turns in the talk.
    pub speaks: bool,
    /// Whether it is a part in the talk, spoken or not, that results name.
    pub has_part: bool,
}

/// A panel whose roles are being assigned.
pub struct Seating<'a> {
    /// The participants in seating order, with the roles that were requested.
    pub participants: &'a mut Vec<Participant>,
    /// The option values that were given.
    pub settings: &'a Settings,
    /// The question; participants are ranked by how well they suit it.
    pub topic: &'a str,
    /// What to do about roles that no participant has.
    pub missing: MissingRoles,
}

/// What to do about roles that no participant has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingRoles {
    /// Refuse: a program should know which participant argues for which side (INV-DISC-008).
    #[default]
    Refuse,
    /// Assign them, for people in a hurry.
    Assign,
}

/// The error of a discussion that failures leave with too few participants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorOnLoss {
    /// Too few providers.
    TooFewProviders,
    /// A failed turn that no one else can take (A14).
    TurnFailed,
}
