//! List entries of discussions and sessions as JSON: camelCase, times in UTC with a Z, absent
//! values left out.

use quorum_core::{
    model::{
        digest::Digest,
        id::DiscussionId,
        lifecycle::Lifecycle,
        outcome::{ResultKind, StandingReport},
        time::{Timestamp, iso},
    },
    seams::{Cursor, RunStatus, Session, Summary},
};
use serde::Serialize;
use uuid::Uuid;

/// A past or present discussion in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub discussion_id: DiscussionId,
    /// The topic.
    pub topic: String,
    /// The name that a person gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its pattern.
    pub pattern: String,
    /// Its state.
    pub status: Lifecycle,
    /// When it was started.
    pub started_at: String,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// Whether it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// What the result is; absent until it is over, and if there was no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StandingReport>,
    /// The synthesis.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Whether its voices were simulated.
    pub simulated: bool,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Uuid>,
    /// Whether it is run: `queued`, `running`, `waiting`, `stuck` or `over`.
    pub run: &'static str,
    /// Its place in the list, for the next page.
    #[serde(skip)]
    pub cursor: Cursor,
    /// Whom it waits for and what it cost.
    #[serde(skip)]
    pub digest: Option<Digest>,
}

impl From<Summary> for Entry {
    fn from(summary: Summary) -> Self {
        Entry {
            discussion_id: summary.id,
            topic: summary.topic,
            title: summary.title,
            pattern: summary.pattern,
            status: summary.status,
            started_at: iso(summary.opened_at),
            completed_at: summary.ended_at.map(iso),
            success: summary.success,
            outcome: summary.digest.as_ref().and_then(|it| it.result),
            synthesis: summary.synthesis,
            simulated: summary.simulated,
            session_id: summary.session,
            run: summary.run.name(),
            cursor: Cursor { opened_at: summary.opened_at, id: summary.id },
            digest: summary.digest,
        }
    }
}

/// How good or bad a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It gave what was asked for.
    Good,
    /// It goes on, or can.
    Neutral,
    /// It gave less than was asked for, or waits for someone.
    Attention,
    /// It failed.
    Bad,
}

impl Entry {
    /// The state in a word or two, the same in every list, and how good it is.
    #[must_use]
    pub fn state(&self) -> (String, Tone) {
        if let Some(waits) = self.waits() {
            let tone = if self.has_run(RunStatus::Stuck) { Tone::Bad } else { Tone::Attention };
            return (waits, tone);
        }
        let (words, tone) = match (self.status, self.success) {
            (Lifecycle::Completed, Some(false)) => ("no success", Tone::Attention),
            (Lifecycle::Completed, Some(true) | None) => match self.shortfall() {
                Some(short) => (short, Tone::Attention),
                None => ("completed", Tone::Good),
            },
            (Lifecycle::Aborted, _) => ("aborted", Tone::Attention),
            (Lifecycle::Error, _) => ("failed", Tone::Bad),
            (Lifecycle::Paused, _) => ("paused", Tone::Neutral),
            (Lifecycle::Configuring | Lifecycle::Validating | Lifecycle::Ready, _) => {
                ("ready", Tone::Neutral)
            }
            (Lifecycle::Initializing | Lifecycle::Running | Lifecycle::Completing, _) => {
                ("running", Tone::Neutral)
            }
        };
        (words.to_owned(), tone)
    }

    /// Whether it had begun and no process runs it any more, although it waits for nobody.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        let has_begun =
            matches!(self.status, Lifecycle::Initializing | Lifecycle::Running | Lifecycle::Completing);
        has_begun && self.has_run(RunStatus::Queued)
    }

    /// Whether a process has claimed it, alive or not.
    #[must_use]
    pub fn is_claimed(&self) -> bool {
        self.has_run(RunStatus::Running)
    }

    fn has_run(&self, status: RunStatus) -> bool {
        self.run == status.name()
    }

    /// What an unfinished discussion waits for: a person, a decision, a process, or an operator.
    fn waits(&self) -> Option<String> {
        if self.is_interrupted() {
            return Some("interrupted".to_owned());
        }
        if self.has_run(RunStatus::Stuck) || self.has_run(RunStatus::Queued) {
            return Some(self.run.to_owned());
        }
        let digest = self.digest.as_ref().filter(|_| self.has_run(RunStatus::Waiting))?;
        let names: Vec<&str> = digest.awaiting.iter().map(|it| it.participant.as_str()).collect();
        match names[..] {
            [] => digest.ruling.as_ref().map(|_| "waiting for a decision".to_owned()),
            [..] => Some(format!("waiting for {}", names.join(" and "))),
        }
    }

    /// In which way the result of a successful discussion falls short, if it does.
    fn shortfall(&self) -> Option<&'static str> {
        let outcome = self.outcome.filter(|_| self.status == Lifecycle::Completed)?;
        match outcome.standing.kind {
            ResultKind::NotAdopted => Some("not adopted"),
            ResultKind::Tie => Some("tie"),
            ResultKind::NoConsensus => Some("no consensus"),
            ResultKind::Answered | ResultKind::Adopted => outcome.degraded.then_some("degraded"),
        }
    }
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEntry {
    /// Its id.
    pub session_id: Uuid,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: String,
    /// Its place in the list.
    #[serde(skip)]
    pub cursor: (Timestamp, Uuid),
}

impl From<Session> for SessionEntry {
    fn from(session: Session) -> Self {
        let Session { id, name, created_at, .. } = session;
        SessionEntry { session_id: id, name, created_at: iso(created_at), cursor: (created_at, id) }
    }
}
