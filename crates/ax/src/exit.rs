//! Exit codes, in one table, and the message printed before each error code.

use std::process::ExitCode;

use quorum::{
    Complaint, Error, Fault, Origin, Registry, Snapshot, StoreError,
    model::{
        error::Code,
        outcome::{Outcome, ResultKind, SupportCount},
        state::State,
    },
    vocabulary::option::Kind,
};
use serde_json::Value;

use crate::render::{note, note_always, wording};

/// How the command ends: its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Internal = 1,
    BadInput = 2,
    Setup = 3,
    TooFewProviders = 4,
    SpentUp = 5,
    NoConsensus = 6,
    StepFailed = 7,
    Interrupted = 130,
}

/// The meaning of every exit code, in the words that help, manual and README use.
pub(crate) const CODES: [(Exit, &str); 9] = [
    (Exit::Done, "success"),
    (Exit::Internal, "internal error"),
    (Exit::BadInput, "usage"),
    (Exit::Setup, "configuration or database"),
    (Exit::TooFewProviders, "too few providers available, without --offline"),
    (Exit::SpentUp, "budget, spending cap or deadline reached (any partial result is printed)"),
    (Exit::NoConsensus, "no consensus or too little support (--require-consensus, --require-support)"),
    (Exit::StepFailed, "a workflow step failed"),
    (Exit::Interrupted, "interrupted"),
];

/// The exit codes, one per line.
pub(crate) fn codes() -> String {
    let line = |(exit, meaning): &(Exit, &str)| format!("{:>5}  {meaning}", *exit as u8);
    CODES.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Bad input that only a command line can contain.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// A problem on this machine that has to be fixed first.
#[derive(Debug)]
pub(crate) struct Setup(pub(crate) String);

impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Setup {}

/// What a result needs for the exit code of a success.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Requirement {
    /// Whether the participants must agree.
    pub(crate) consensus: bool,
    /// The minimum share of the answer's sentences that must have a source in the talk.
    pub(crate) support: Option<f64>,
}

impl Requirement {
    pub(crate) const NOTHING: Requirement = Requirement { consensus: false, support: None };
}

/// A requirement that a finished discussion does not meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unmet {
    /// Agreement.
    Consensus,
    /// Sources for enough sentences.
    Support {
        /// Their share; `None` if no sentence could be compared.
        share: Option<f64>,
        /// The share that is required.
        required: f64,
    },
}

/// Prints an error of this verb and returns its exit code.
pub(crate) fn report(error: &anyhow::Error, registry: &Registry, verb: &str) -> Exit {
    let lines = lines(error, registry);
    lines.iter().for_each(|line| note_always(&format!("error: {line}")));
    if matches!(error.downcast_ref(), Some(Error::Refused(_))) {
        note(&format!("Nothing was asked and nothing was spent. `ax {verb} --help` explains the flags."));
    }
    of_error(error)
}

fn lines(error: &anyhow::Error, registry: &Registry) -> Vec<String> {
    if let Some(error) = error.downcast_ref() {
        wording::error(error, registry)
    } else if let Some(error) = error.downcast_ref() {
        wording::config(error)
    } else if let Some(error) = error.downcast_ref() {
        wording::server(error, registry)
    } else {
        vec![format!("{error:#}")]
    }
}

fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<Usage>() {
        return Exit::BadInput;
    }
    if error.is::<quorum::config::Error>() || error.is::<quorum_server::Error>() || error.is::<Setup>() {
        return Exit::Setup;
    }
    match error.downcast_ref::<Error>() {
        Some(error) => of_quorum(error),
        None => Exit::Internal,
    }
}

fn of_quorum(error: &Error) -> Exit {
    match error {
        Error::Refused(refusals) if refusals.iter().all(is_lack) => Exit::TooFewProviders,
        Error::Refused(refusals) if refusals.iter().all(|it| is_lack(it) || is_configured(it)) => Exit::Setup,
        Error::MissingVoices(_) => Exit::TooFewProviders,
        Error::SpendingCap(_) => Exit::SpentUp,
        Error::Refused(_)
        | Error::NotFound(_)
        | Error::TooFarBack { .. }
        | Error::Ambiguous { .. }
        | Error::NoneYet
        | Error::KeyReused(_)
        | Error::NotOver(_)
        | Error::NotSaid(_)
        | Error::WhoSpeaks(_)
        | Error::NobodyToSpeak(_)
        | Error::NoSession(_)
        | Error::AmbiguousSession { .. } => Exit::BadInput,
        Error::Config(_) | Error::DataDirectory { .. } | Error::SwitchedOff { .. } => Exit::Setup,
        Error::Store(error) => of_store(error),
        Error::NoVoices | Error::Registry(_) | Error::Fault(_) => Exit::Internal,
    }
}

/// Whether too few providers are available.
fn is_lack(complaint: &Complaint) -> bool {
    complaint.code == Code::InsufficientProviders
}

/// Whether a value in the configuration is wrong, whatever is typed beside it.
fn is_configured(complaint: &Complaint) -> bool {
    matches!(complaint.origin, Some(Origin::Configuration { .. })) && complaint.fault == Fault::Value
}

fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::Unknown(_)
        | StoreError::UnknownSession(_)
        | StoreError::SessionInUse { .. }
        | StoreError::NotAwaited { .. }
        | StoreError::RulingNotAwaited { .. }
        | StoreError::NoSuchChoice { .. }
        | StoreError::NoSuchCandidate { .. }
        | StoreError::Over(_) => Exit::BadInput,
        StoreError::Held { .. }
        | StoreError::Fenced(_)
        | StoreError::Gone(_)
        | StoreError::QueueFull { .. }
        | StoreError::TenantFull { .. }
        | StoreError::Unavailable(_)
        | StoreError::Damaged(_)
        | StoreError::Unusable(_)
        | StoreError::UnusableServer(_) => Exit::Setup,
    }
}

/// The option that sets the required share of agreement.
pub(crate) const THRESHOLD: &str = "threshold";

/// The default for the required share of agreement.
const HALF: f64 = 0.5;

/// The share of agreement that `--require-consensus` requires.
pub(crate) fn required(registry: &Registry, state: &State) -> f64 {
    let given = state.spec.settings.get(THRESHOLD).and_then(Value::as_f64);
    let default = registry.option(THRESHOLD).and_then(|it| match it.kind {
        Kind::Number { default, .. } => default,
        _ => None,
    });
    given.or(default).unwrap_or(HALF)
}

/// The share of agreement that decides; `None` if participants were asked directly whether they
/// agree, because then no share decides.
pub(crate) fn needed(registry: &Registry, state: &State) -> Option<f64> {
    let mut stances = state.readings.iter().filter_map(|it| it.reading.stance.as_ref()).peekable();
    let decides = stances.peek().is_none() || stances.any(|it| it.chooses);
    decides.then(|| required(registry, state))
}

/// The exit code of a finished discussion.
pub(crate) fn of_outcome(state: &Snapshot, requirement: Requirement) -> Exit {
    let outcome = state.outcome();
    match &outcome.error {
        Some(problem) if problem.code != Code::ConsensusFailed => of_code(problem.code),
        _ if unmet(state, requirement).is_some() => Exit::NoConsensus,
        _ => Exit::Done,
    }
}

/// The requirement that the result does not meet.
pub(crate) fn unmet(state: &Snapshot, requirement: Requirement) -> Option<Unmet> {
    let outcome = state.outcome();
    let is_agreed = outcome.error.is_none() && agrees(&outcome, required(state.registry(), state));
    if requirement.consensus && !is_agreed {
        return Some(Unmet::Consensus);
    }
    let required = requirement.support?;
    let share = SupportCount::of(&outcome.provenance).share();
    share.is_none_or(|it| it < required).then_some(Unmet::Support { share, required })
}

/// Whether the participants agree: they adopted the result, or their recorded positions are the
/// same. Without either there is no agreement.
fn agrees(outcome: &Outcome, required: f64) -> bool {
    match outcome.outcome.map_or(ResultKind::Answered, |it| it.standing.kind) {
        ResultKind::Adopted => true,
        ResultKind::Answered => outcome.consensus.agreement_score.is_some_and(|score| score >= required),
        ResultKind::NotAdopted | ResultKind::Tie | ResultKind::NoConsensus => false,
    }
}

fn of_code(code: Code) -> Exit {
    match code {
        Code::InsufficientProviders
        | Code::ProviderTimeout
        | Code::ProviderFailed
        | Code::AllProvidersFailed
        | Code::SynthesisFailed
        | Code::InitializationFailed
        | Code::TurnFailed
        | Code::TurnTimeout
        | Code::ConsensusParseFailed
        | Code::ProviderError => Exit::TooFewProviders,
        Code::CostBudgetExceeded
        | Code::SpendingCapReached
        | Code::CallBudgetExceeded
        | Code::TokenBudgetExceeded
        | Code::DiscussionTimeout => Exit::SpentUp,
        Code::ConsensusFailed => Exit::NoConsensus,
        Code::StepFailed => Exit::StepFailed,
        Code::Aborted => Exit::Interrupted,
        Code::InvalidRequest
        | Code::InvalidPattern
        | Code::InvalidRoles
        | Code::UnknownSession
        | Code::CircularDiscussion
        | Code::MaxDepthExceeded => Exit::BadInput,
        Code::StateInvalid | Code::RecordDiverged | Code::Unknown => Exit::Internal,
    }
}
