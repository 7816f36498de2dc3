//! What happened: facts, appended once, never changed. Every view of a discussion is a fold of these.
//!
//! This is a disk format: variants and fields are added, never renamed or removed, and every one has a golden line in
//! `tests/golden/facts.jsonl`.

mod call;
mod ending;
mod origin;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
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
    transcript::Turn,
};

pub use call::{Abandoned, Broken, FailedTurn, Placed};
pub use ending::{Conclusion, SubConcluded, WindUp};
pub use origin::{Ancestor, Fork, Lineage};

/// A fact in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its number; the only order there is.
    pub seq: Seq,
    /// When, by the wall clock.
    pub at: Timestamp,
    /// How long the discussion had really been running.
    pub active_ms: u64,
    /// The step it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The discussion was ordered.
    Opened {
        /// As what.
        spec: Arc<Spec>,
        /// The version of the pattern's flow; another version refuses to continue.
        flow: u32,
        /// Where it comes from, for a sub-discussion.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lineage: Option<Lineage>,
        /// Which discussion it goes on from in another way, for a fork.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fork: Option<Fork>,
    },
    /// It moved on.
    LifecycleChanged {
        /// From here.
        from: Lifecycle,
        /// To here.
        to: Lifecycle,
    },
    /// The health check is over: this is who sits at the table.
    PanelSeated {
        /// Those present.
        seated: Vec<String>,
        /// Those who are not, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        absent: Vec<Absent>,
    },
    /// A round began.
    RoundOpened {
        /// Which.
        round: u32,
    },
    /// A round is over.
    RoundClosed {
        /// Which.
        round: u32,
    },
    /// The pattern entered a phase.
    PhaseEntered {
        /// Which.
        phase: String,
        /// In which round.
        round: u32,
    },
    /// A call is about to be made; from here on it may have been paid.
    CallPlaced(Placed),
    /// An attempt failed.
    CallFailed {
        /// Which attempt.
        attempt: u32,
        /// Whose.
        participant: String,
        /// The kind of failure.
        class: ErrorClass,
        /// What the provider said.
        message: String,
        /// When it is tried again; absent when it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_in_ms: Option<u64>,
        /// What had come of the answer until then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broken: Option<Broken>,
    },
    /// A call was left behind; what was reserved for it counts as spent.
    CallAbandoned {
        /// Which attempt.
        attempt: u32,
        /// Whose.
        participant: String,
        /// Why.
        why: Abandoned,
    },
    /// Someone spoke.
    TurnCompleted {
        /// What was said.
        turn: Arc<Turn>,
    },
    /// Someone failed for good and is not asked again.
    TurnFailed(FailedTurn),
    /// A parallel group ended before everyone had answered.
    GroupClosed {
        /// Whose answers count.
        taken: Vec<String>,
        /// Who was let go.
        dropped: Vec<String>,
    },
    /// A structured reply was read.
    ReplyRead {
        /// Whose reply.
        participant: String,
        /// In which round.
        round: u32,
        /// How it was understood.
        source: Source,
        /// What it says.
        reading: Reading,
    },
    /// A pattern or a method recorded something of its own.
    Noted(Noted),
    /// An order was drawn by lot.
    OrderDrawn {
        /// The places, each once: first who is first.
        order: Vec<usize>,
    },
    /// The speeches of a round were compared with earlier ones by meaning, or could not be.
    Compared(Comparison),
    /// A decision of people is awaited; nothing waits in memory for it.
    RulingAwaited(RulingAwaited),
    /// People decided.
    Ruled(Ruled),
    /// The talk ended by its pattern's own rules.
    TalkEnded(TalkEnd),
    /// What was said has come near the size of someone's window, for the first time.
    WindowTight(Tight),
    /// What was said earlier was summed up for everyone whose window has no room for it, or could not be.
    Summarised(Summarised),
    /// A reply asked for a sub-discussion before it goes on.
    SubRequested {
        /// The reply so far, paid for.
        turn: Arc<Turn>,
        /// What the sub-discussion shall be about.
        topic: String,
    },
    /// A person's turn has come; nothing waits in memory for it.
    PersonAwaited(Awaited),
    /// A sub-discussion is over, or was refused.
    SubConcluded(SubConcluded),
    /// A command was taken from the inbox.
    CommandTaken {
        /// Its place there.
        id: CommandId,
        /// What it was.
        #[serde(flatten)]
        command: Command,
    },
    /// Deliberation ends here; what was said is concluded.
    WoundUp {
        /// Why.
        reason: WindUp,
    },
    /// A decision was made.
    Decided {
        /// Which.
        decision: Arc<Decision>,
    },
    /// The discussion is over.
    Concluded(Conclusion),
    /// It could not go on.
    Failed {
        /// Who could not take a seat, where that is why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        absent: Vec<Absent>,
        /// Why.
        problem: Problem,
    },
    /// After an error, a new run over the same record.
    Retried,
    /// A kind this version does not know; kept and passed over.
    #[serde(other)]
    Unknown,
}

/// A person whose turn has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Awaited {
    /// Who.
    pub participant: String,
    /// The step their answer will have.
    pub answers: Step,
    /// In which round.
    pub round: u32,
    /// In which phase.
    pub phase: String,
    /// What they are asked.
    pub prompt: String,
    /// The form their answer should have, where it should have one: `ballot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// A short name for everything they were shown and asked, so that a fork need not ask it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A participant who was not there when the discussion began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// Who.
    pub participant: String,
    /// The kind of failure.
    pub class: ErrorClass,
    /// What the check said.
    pub message: String,
}

/// A window that what was said nearly fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tight {
    /// Whose.
    pub participant: String,
    /// How much of the room there is for it what was said would take; over 100 when it no longer fits.
    pub percent: u32,
}

/// A summary of what was said earlier, the same for everyone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summarised {
    /// Of how many turns, from the first one on.
    pub covers: u32,
    /// How many there were when it was made.
    pub heard: u32,
    /// What it says and what it cost; absent when it could not be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Arc<Turn>>,
}

/// Something a pattern or a method recorded, in terms of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Noted {
    /// What it is: `cast`, `detection`.
    pub kind: String,
    /// In which round.
    pub round: u32,
    /// The thing itself.
    pub value: Value,
    /// The same in one line for people, where it is worth one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
}

impl Noted {
    /// The value as the type it was made of; `None` where it is of another kind.
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
    /// After which round.
    pub round: u32,
    /// Why: one of the endings its pattern declares.
    pub why: String,
    /// What else is to be said about it: the detector that ended it, for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What results give as the stopping reason.
    pub stopping: StoppingReason,
}
