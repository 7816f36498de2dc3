//! One discussion of one tenant: reading, steering, speaking, resuming and forking. Every action is
//! written to the audit log.

use quorum_core::{
    engine::{MOST_SAID, handle::Handle},
    model::{
        command::{Command, Note},
        error::Code,
        event::Fact,
        id::{DiscussionId, Seq, Tenant},
        outcome::Outcome,
        ruling::Ruling,
        spec::Spec,
    },
    registry::Snapshot,
    seams::{AuditEntry, Created, Queueing, Release, StoreError, Wanted, check_room},
};

use tokio::sync::MutexGuard;
use uuid::Uuid;

use crate::{
    Complaint, Error, Forking, Plan, Quorum, Request, Scope, Started, Steered,
    export::{Extras, Format},
    facade::{
        scope::OrderKey,
        steering::{OnPause, is_over},
    },
    listing::Entry,
};

/// A handle to one discussion, with the rights of one tenant.
#[derive(Clone)]
pub struct Discussion {
    pub(super) scope: Scope,
    pub(super) id: DiscussionId,
}

impl Discussion {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> DiscussionId {
        self.id
    }

    /// Its tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.scope.tenant
    }

    /// The current state.
    pub async fn state(&self) -> Result<Snapshot, Error> {
        self.quorum().state(self.id).await
    }

    /// Warnings from checking its models in this process, by participant.
    #[must_use]
    pub fn noticed(&self, state: &Snapshot) -> Vec<(String, String)> {
        self.quorum().noticed(state)
    }

    /// The result, as far as there is one.
    pub async fn outcome(&self) -> Result<Outcome, Error> {
        Ok(self.state().await?.outcome())
    }

    /// The facts after this sequence number, in order.
    pub async fn facts(&self, after: Seq) -> Result<Vec<Fact>, Error> {
        self.quorum().facts(self.id, after).await
    }

    /// Exports the discussion in this format. The commands are those the reader can type to see it
    /// again.
    pub async fn export(&self, format: &Format, commands: &[String]) -> Result<String, Error> {
        self.export_with(format, Extras::commands(commands)).await
    }

    /// The same with more beside the discussion. Its name is the heading, if a person gave it one.
    pub async fn export_with(&self, format: &Format, extras: Extras) -> Result<String, Error> {
        let (state, facts) = (self.state().await?, self.facts(Seq::START).await?);
        let extras = Extras { title: self.title().await?, ..extras };
        let write = format.write;
        // A long discussion takes a while to write, and would block other tasks on this thread.
        let written = tokio::task::spawn_blocking(move || write(&state, &facts, &extras));
        written.await.map_err(|error| Error::Fault(error.to_string()))
    }

    /// Pauses, stops or aborts it, wherever it runs. If no process runs it, a pause is recorded for
    /// the next one, and stop and abort are carried out here.
    pub async fn steer(&self, command: Command) -> Result<Steered, Error> {
        let action = command.name();
        let steered = self.steered(command).await;
        self.logged(action, steered).await
    }

    async fn steered(&self, command: Command) -> Result<Steered, Error> {
        let _locked = self.locked().await;
        if self.quorum().0.engine.is_running(self.id) {
            self.quorum().send(self.id, command).await?;
            return Ok(Steered::Sent { to: self.quorum().0.owner.clone() });
        }
        self.quorum().steer(self.id, command).await
    }

    /// Notes that a client waits for it here; it is to be aborted when the last of its clients, of
    /// any process, leaves.
    pub async fn attach(&self, client: Uuid) -> Result<(), Error> {
        Ok(self.quorum().0.engine.attach(self.id, client).await?)
    }

    /// Ends the note of this client. Returns whether no other client waits, here or elsewhere.
    pub async fn detach(&self, client: Uuid) -> Result<bool, Error> {
        Ok(self.quorum().0.engine.detach(self.id, client).await?)
    }

    /// Sends a command to the process that runs it, and never runs it here.
    pub async fn send(&self, command: Command) -> Result<(), Error> {
        let action = command.name();
        let sent = self.quorum().send(self.id, command).await;
        self.logged(action, sent).await
    }

    /// The process that runs it; `None` if none does. A claim that a dead process left ends here.
    pub async fn runner(&self) -> Result<Option<String>, Error> {
        let _locked = self.locked().await;
        if self.quorum().0.engine.is_running(self.id) {
            return Ok(Some(self.quorum().0.owner.clone()));
        }
        match self.quorum().claim(self.id).await {
            Ok(claim) => {
                self.quorum().0.engine.give_up(claim, Release::Now).await;
                Ok(None)
            }
            Err(StoreError::Held { owner, .. }) => Ok(Some(owner)),
            Err(error) => Err(error.into()),
        }
    }

    /// Leaves it for this many milliseconds to a claim by its id: no new calls are made here, and
    /// the run ends when the calls under way are recorded. After that any node may go on with it.
    pub fn release_for(&self, ms: u64) {
        self.quorum().0.engine.release(self.id, Release::After(ms));
    }

    /// Lets any node go on with it that was kept for this one.
    pub async fn hand_over(&self) {
        let _locked = self.locked().await;
        if let Ok(claim) = self.quorum().claim(self.id).await {
            self.quorum().0.engine.give_up(claim, Release::Now).await;
        }
    }

    /// Resumes it, whether it was paused, failed or left behind by a process.
    pub async fn resume(&self) -> Result<Steered, Error> {
        let resumed = match self.resumed(OnPause::Resume).await {
            Ok(handle) => Ok(Steered::Here(handle)),
            // The process that runs it may be about to pause it.
            Err(Error::Store(StoreError::Held { owner, .. })) => {
                let sent = self.quorum().send(self.id, Command::Resume).await;
                sent.map(|()| Steered::Sent { to: owner })
            }
            Err(error) => Err(error),
        };
        self.logged("resume", resumed).await
    }

    /// Resumes it on the next node that has room, or where it runs; at most `most` discussions of a
    /// tenant may wait at the same time.
    pub async fn queue_resume(&self, most: u64) -> Result<Steered, Error> {
        let resumed = self.resumed_later(most).await;
        self.logged("resume", resumed).await
    }

    async fn resumed_later(&self, most: u64) -> Result<Steered, Error> {
        let _locked = self.locked().await;
        let state = self.state().await?;
        if is_over(&state) {
            return Err(StoreError::Over(self.id).into());
        }
        self.quorum().0.engine.check_caps(&state.spec).await?;
        let waiting = self.quorum().backlog(Some(self.tenant().clone())).await?.queued;
        check_room(waiting, &Queueing { most: Some(most), ..Queueing::default() })?;
        self.quorum().send(self.id, Command::Resume).await?;
        Ok(Steered::Recorded)
    }

    /// Resumes it in this process; returns [`StoreError::Held`] if another process runs it.
    pub async fn resume_here(&self) -> Result<Handle, Error> {
        let resumed = self.resumed(OnPause::Resume).await;
        self.logged("resume", resumed).await
    }

    /// The same, but a pause stays, also one that no process has taken yet.
    pub async fn go_on_here(&self) -> Result<Handle, Error> {
        let resumed = self.resumed(OnPause::Keep).await;
        self.logged("resume", resumed).await
    }

    /// Runs a discussion that [`Scope::prepare`] recorded. The audit log already names its starter.
    pub async fn run_prepared(&self) -> Result<Handle, Error> {
        self.resumed(OnPause::Resume).await
    }

    async fn resumed(&self, on_pause: OnPause) -> Result<Handle, Error> {
        let _locked = self.locked().await;
        if self.quorum().0.engine.is_running(self.id) {
            let owner = self.quorum().0.owner.clone();
            return Err(StoreError::Held { id: self.id, owner }.into());
        }
        self.quorum().resume(self.id, on_pause).await
    }

    pub(super) async fn locked(&self) -> MutexGuard<'_, ()> {
        self.scope.quorum.0.locks.lock(self.id).await
    }

    /// Takes a person's turn and resumes the discussion. Without a speaker, the text counts for the
    /// person who is awaited.
    pub async fn say(&self, speaker: Option<&str>, text: &str, user: Option<&str>) -> Result<Steered, Error> {
        let said = {
            let _locked = self.locked().await;
            self.quorum().say(self.id, speaker, text, user).await
        };
        self.logged("say", said).await
    }

    /// Makes an awaited decision and resumes the discussion.
    pub async fn rule(&self, ruling: Ruling) -> Result<Steered, Error> {
        let ruled = {
            let _locked = self.locked().await;
            if is_over(&*self.state().await?) {
                Err(StoreError::Over(self.id).into())
            } else {
                self.quorum().rule(self.id, ruling).await
            }
        };
        self.logged("rule", ruled).await
    }

    /// Adds a note that is shown to everyone asked from now on.
    pub async fn note(&self, text: &str) -> Result<(), Error> {
        let length = text.chars().count();
        if text.trim().is_empty() || length > MOST_SAID {
            let message = format!("must have 1 to {MOST_SAID} characters; this has {length}");
            return Err(Error::refused(Complaint::new("text", Code::InvalidRequest, message)));
        }
        self.send(Command::Note(Note { text: text.to_owned() })).await
    }

    /// Its request with these changes, checked again. Costs nothing.
    pub async fn again(&self, changes: &Request) -> Result<Spec, Error> {
        let spec = self.quorum().again(self.id, changes).await?;
        self.scope.owned(spec)
    }

    /// Plans a fork of it: asks no model and records nothing.
    pub async fn plan_fork(&self, forking: &Forking) -> Result<Plan, Error> {
        self.scope.plan_fork(self.id, forking).await
    }

    /// Forks it: continues it in another way, as a new discussion.
    pub async fn fork(&self, forking: &Forking) -> Result<(Discussion, Handle), Error> {
        let forked = self.scope.fork(self.id, forking).await;
        self.logged("fork", forked).await
    }

    /// Forks it; the same key with the same fork returns the same discussion.
    pub async fn fork_once(&self, forking: &Forking, key: Option<&OrderKey>) -> Result<Started, Error> {
        let forked = self.scope.fork_once(self.id, forking, key).await;
        self.logged("fork", forked).await
    }

    /// Records a fork of it for any node to run, once per key; at most `most` orders of a tenant
    /// may wait at the same time. Says whether it was there before.
    pub async fn queue_fork_once(
        &self,
        forking: &Forking,
        key: Option<&OrderKey>,
        most: u64,
    ) -> Result<(Discussion, Created), Error> {
        let queued = async {
            let forked = self.quorum().forked(self.id, forking).await?;
            self.scope.queue_fork(forked, key, most).await
        };
        self.logged("fork", queued.await).await
    }

    /// Rates its result from 1 to 5.
    pub async fn rate(&self, rating: u8) -> Result<(), Error> {
        if !(1..=5).contains(&rating) {
            let message = format!("must be from 1 to 5, not {rating}");
            return Err(Error::refused(Complaint::new("rating", Code::InvalidRequest, message)));
        }
        self.log("rate", &rating.to_string()).await;
        Ok(())
    }

    /// Removes it with its sub-discussions. A running discussion must be ended first.
    pub async fn delete(&self) -> Result<(), Error> {
        let _locked = self.locked().await;
        let removed = self.scope.archive().remove(self.id).await.map_err(Error::from);
        self.logged("delete", removed).await
    }

    /// The name that a person gave it.
    pub async fn title(&self) -> Result<Option<String>, Error> {
        Ok(self.entry().await?.and_then(|it| it.title))
    }

    /// Its entry in lists; `None` if it belongs to another discussion, or is hidden.
    pub async fn entry(&self) -> Result<Option<Entry>, Error> {
        let itself = Wanted { prefix: Some(self.id.to_string()), limit: 1, ..Wanted::default() };
        Ok(self.scope.archive().list(itself).await?.into_iter().next().map(Entry::from))
    }

    /// Gives it another name in lists; an empty one restores its topic. The record stays unchanged.
    pub async fn rename(&self, title: &str) -> Result<(), Error> {
        let title = Some(title.trim()).filter(|it| !it.is_empty()).map(str::to_owned);
        let renamed = self.scope.archive().rename(self.id, title).await.map_err(Error::from);
        self.logged("rename", renamed).await
    }

    /// Discussions that hold a copy of its answer, because they recalled or followed it.
    pub async fn copies(&self) -> Result<Vec<Entry>, Error> {
        Ok(self.scope.archive().copies(self.id).await?.into_iter().map(Entry::from).collect())
    }

    /// Restores it if retention has hidden it, and keeps it for another whole period.
    pub async fn restore(&self) -> Result<(), Error> {
        let _locked = self.locked().await;
        let restored = self.scope.archive().restore(self.id, self.quorum().now()).await;
        self.logged("restore", restored.map_err(Error::from)).await
    }

    /// The [`Quorum`] behind it.
    #[must_use]
    pub fn quorum(&self) -> &Quorum {
        &self.scope.quorum
    }

    /// Asks for news of it while another process runs it.
    pub fn follow(&self) {
        self.quorum().follow(self.id);
    }

    pub(super) async fn logged<T>(&self, action: &str, done: Result<T, Error>) -> Result<T, Error> {
        let result = done.as_ref().map_or_else(refused, |_| "done".to_owned());
        self.log(action, &result).await;
        done
    }

    /// Writes an audit entry. A failure to write it does not undo the action.
    pub(super) async fn log(&self, action: &str, result: &str) {
        let Scope { tenant, who, .. } = &self.scope;
        let entry = AuditEntry {
            at: self.quorum().now(),
            tenant: tenant.clone(),
            who: who.to_string(),
            action: action.to_owned(),
            discussion: self.id,
            result: result.to_owned(),
        };
        let _ = self.scope.archive().log(entry).await;
    }
}

/// The reason for a refusal, without the local paths that some errors contain.
fn refused(error: &Error) -> String {
    match error {
        Error::Store(
            StoreError::Unavailable(_)
            | StoreError::Damaged(_)
            | StoreError::Unusable(_)
            | StoreError::UnusableServer(_),
        )
        | Error::DataDirectory { .. }
        | Error::Config(_)
        | Error::Fault(_) => "refused".to_owned(),
        _ => format!("refused: {error}"),
    }
}
