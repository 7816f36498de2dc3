//! Facts: what happened in a discussion, appended once and never changed. All state is folded from
//! them.
//!
//! This is a disk format: variants and fields are added, never renamed or removed, and each has a
//! golden line in `tests/golden/facts.jsonl`.

mod call;
mod ending;
mod origin;
mod work;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    agent::SpeaksThrough,
    command::{Command, CommandId},
    error::{ErrorClass, Problem},
    id::{Seq, Step},
    lifecycle::Lifecycle,
    likeness::Comparison,
    outcome::{Decision, StoppingReason},
    reading::{Reading, Source},
    ruling::{Ruled, RulingAwaited},
    spec::Spec,
    time::Timestamp,
    traceparent::Traceparent,
    transcript::Turn,
    window::TooLong,
};

pub use call::{Abandoned, Broken, FailedTurn, Placed};
pub use ending::{Conclusion, Retried, RetryPoint, SubConcluded, WindUp};
pub use origin::{Ancestor, Fork, Lineage};
pub use work::{Convened, ToolError, ToolPlaced, ToolUsed};

/// A numbered event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its number; facts are ordered by this alone.
    pub seq: Seq,
    /// The wall-clock time.
    pub at: Timestamp,
    /// The discussion's active time: how long it had run, without pauses and dead processes.
    pub active_ms: u64,
    /// The step it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The discussion was created.
    Opened {
        /// The full description of the discussion.
        spec: Arc<Spec>,
        /// The version of the pattern's flow. A pattern of another version refuses to continue it.
        flow: u32,
        /// The discussions above it, for a sub-discussion.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lineage: Option<Lineage>,
        /// The discussion it was forked from, for a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<Fork>,
        /// The span of the caller that asked for it, to which its trace is linked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caller: Option<Traceparent>,
    },
    /// The lifecycle state changed.
    LifecycleChanged {
        /// The old state.
        from: Lifecycle,
        /// The new state.
        to: Lifecycle,
    },
    /// The health checks are done, and the panel is fixed.
    PanelSeated {
        /// The participants that are present.
        seated: Vec<String>,
        /// The participants that are absent, with the reasons.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        absent: Vec<Absent>,
        /// The exact model behind each seat, by the seat's name; without people, and without seats
        /// where a program chooses its own.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        models: BTreeMap<String, String>,
        /// The labels under which models see each other, each with the name behind it; none if they
        /// see names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        labels: Vec<(String, String)>,
        /// The provider that each agent speaks through, by the seat's name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        agents: BTreeMap<String, SpeaksThrough>,
    },
    /// A round began.
    RoundOpened {
        /// The round's number.
        round: u32,
    },
    /// A round is over.
    RoundClosed {
        /// The round's number.
        round: u32,
    },
    /// The pattern entered a phase.
    PhaseEntered {
        /// The phase's name.
        phase: String,
        /// The round it was entered in.
        round: u32,
    },
    /// A call is about to be made; from here on it may cost money.
    CallPlaced(Placed),
    /// An attempt failed.
    CallFailed {
        /// The attempt's number, from 1.
        attempt: u32,
        /// The participant that was called.
        participant: String,
        /// The error class.
        class: ErrorClass,
        /// The provider's message.
        message: String,
        /// The limit that the provider named, if the request was too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<TooLong>,
        /// Whether all tokens went into thinking. The next attempt then has more room for it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_thoughts: bool,
        /// Milliseconds until the next attempt; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_in_ms: Option<u64>,
        /// The part of the answer that had arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broken: Option<Broken>,
    },
    /// A call was given up; its reservation counts as spent.
    CallAbandoned {
        /// The attempt's number, from 1.
        attempt: u32,
        /// The participant that was called.
        participant: String,
        /// The reason.
        why: Abandoned,
        /// Our estimate of the tokens it had written by then.
        #[serde(default, skip_serializing_if = "crate::model::is_zero")]
        written: u64,
    },
    /// A participant finished a turn.
    TurnCompleted {
        /// The turn.
        turn: Arc<Turn>,
    },
    /// A participant failed for good and is not asked again.
    TurnFailed(FailedTurn),
    /// A group of parallel calls ended before everyone had answered.
    GroupClosed {
        /// The participants whose answers count.
        taken: Vec<String>,
        /// The participants whose calls were given up.
        dropped: Vec<String>,
    },
    /// A structured reply was read.
    ReplyRead {
        /// The participant that replied.
        participant: String,
        /// The round of the reply.
        round: u32,
        /// How the reply was understood.
        source: Source,
        /// The content of the reply.
        reading: Reading,
    },
    /// A structured reply could not be read, and no further reminder was sent.
    ReplyUnread(UnreadReply),
    /// A pattern or a method recorded a value of its own.
    Noted(Noted),
    /// An order was drawn by lot.
    OrderDrawn {
        /// Positions in the original list, each once, in the drawn order.
        order: Vec<usize>,
    },
    /// The speeches of a round were compared by meaning with earlier ones, or couldn't be.
    Compared(Comparison),
    /// A decision by people is awaited. No task runs meanwhile.
    RulingAwaited(RulingAwaited),
    /// People decided.
    Ruled(Ruled),
    /// The talk ended by its pattern's own rules.
    TalkEnded(TalkEnd),
    /// For the first time, the talk nearly fills a participant's context window.
    WindowTight(Tight),
    /// Earlier turns were summarised for participants whose window has no room for them, or
    /// couldn't be.
    Summarised(Summarised),
    /// A reply asked for a sub-discussion before it continues.
    SubRequested {
        /// The reply so far, already paid for.
        turn: Arc<Turn>,
        /// The topic of the sub-discussion.
        topic: String,
    },
    /// It is a person's turn. No task runs meanwhile.
    PersonAwaited(Awaited),
    /// A sub-discussion ended or was refused.
    SubConcluded(SubConcluded),
    /// The pattern began a discussion of its own below this one.
    ChildConvened(Convened),
    /// A tool is about to be used; from here on it may have had its effect.
    ToolPlaced(ToolPlaced),
    /// A tool was used, or failed.
    ToolUsed(ToolUsed),
    /// A command was taken from the inbox.
    CommandTaken {
        /// Its number in the inbox.
        id: CommandId,
        /// The command.
        #[serde(flatten)]
        command: Command,
    },
    /// Deliberation ended early; the discussion concludes with what was said.
    WoundUp {
        /// The reason.
        reason: WindUp,
    },
    /// A consensus method or the pattern made a decision.
    Decided {
        /// The decision.
        decision: Arc<Decision>,
    },
    /// The discussion is over.
    Concluded(Conclusion),
    /// The discussion failed.
    Failed {
        /// The participants that were absent, where that is the reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        absent: Vec<Absent>,
        /// The reason.
        problem: Problem,
    },
    /// A new run started over the same record after an error.
    Retried(Retried),
    /// An event type that this version doesn't know. It is kept and ignored.
    #[serde(other)]
    Unknown,
}

impl Event {
    /// Whether the talk ends here, so that a retry goes on from here: what is recorded from here on
    /// until the retry is replaced by it.
    pub(crate) fn halts(&self) -> bool {
        match self {
            Event::WoundUp { reason } => reason.is_loss(),
            Event::TalkEnded(end) => end.stopping == StoppingReason::MODEL_UNAVAILABLE,
            Event::LifecycleChanged { to, .. } => *to == Lifecycle::Completing,
            _ => false,
        }
    }
}

/// A person whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// The participant's name.
    pub participant: String,
    /// The step their answer will be recorded under.
    pub answers: Step,
    /// The round of the turn.
    pub round: u32,
    /// The phase of the turn.
    pub phase: String,
    /// The question to them.
    pub prompt: String,
    /// The form their answer should have, if any: `ballot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// A digest of everything they were shown and asked, so that a fork can reuse the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A participant that was not available when the discussion began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// The participant's name.
    pub participant: String,
    /// The error class.
    pub class: ErrorClass,
    /// The message of the health check.
    pub message: String,
}

/// A context window that the talk nearly fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tight {
    /// The participant whose window it is.
    pub participant: String,
    /// How much of the available room the talk would take, in per cent; over 100 when it no longer
    /// fits.
    pub percent: u32,
}

/// A summary of earlier turns, the same for everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summarised {
    /// How many turns it covers, from the first one on.
    pub covers: u32,
    /// How many turns there were when it was made.
    pub heard: u32,
    /// The summary and its cost; absent when none could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Arc<Turn>>,
}

/// A structured reply that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadReply {
    /// The participant that replied.
    pub participant: String,
    /// The round of the reply.
    pub round: u32,
    /// The kind of form that was asked for: `ballot`.
    pub kind: String,
    /// What was wrong with the last reply.
    pub wrong: String,
}

/// A value that a pattern or a method recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// The kind of value: `cast`, `detection`.
    pub kind: String,
    /// The round it was recorded in.
    pub round: u32,
    /// The value.
    pub value: Value,
    /// The same in one line for people, if it is worth showing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl Noted {
    /// The value as the type it was recorded from; `None` if it is of another kind.
    #[must_use]
    pub fn read<T: serde::de::DeserializeOwned>(&self, kind: &str) -> Option<T> {
        if self.kind != kind {
            return None;
        }
        serde_json::from_value(self.value.clone()).ok()
    }
}

/// A talk that ended by its pattern's own rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TalkEnd {
    /// The round after which it ended.
    pub round: u32,
    /// The name of one of the endings that its pattern declares.
    pub why: String,
    /// A detail of the ending: the detector that caused it, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The stopping reason that results show.
    pub stopping: StoppingReason,
}
