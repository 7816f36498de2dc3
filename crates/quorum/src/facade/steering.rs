//! Resumes discussions and passes commands to the process that runs them.

use quorum_core::{
    engine::handle::Handle,
    model::{command::Command, id::DiscussionId, lifecycle::Lifecycle, state::State},
    registry::Snapshot,
    seams::{Claim, StoreError},
};

use crate::{Error, Quorum};

/// How long this process may look at a discussion before others may run it.
pub(super) const GLANCE_MS: u64 = 5_000;

/// What became of a command.
pub enum Steered {
    /// Another process runs the discussion, and will take it.
    Sent {
        /// Who.
        to: String,
    },
    /// Nobody ran it, so it is carried out here.
    Here(Handle),
    /// Nobody runs it, so there is nothing to pause.
    Idle(Box<Snapshot>),
}

impl Quorum {
    /// Goes on with a discussion that nobody runs, be it paused, failed or left behind by a process
    /// that died.
    pub(super) async fn resume(&self, id: DiscussionId) -> Result<Handle, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        self.take(id).await?;
        self.everyone_has_a_voice(&state)?;
        if self.is_held_back(id).await? {
            self.send(id, Command::Resume).await?;
        }
        Ok(self.0.engine.run(id).await?)
    }

    /// Whether it is paused, or would be at once because nobody took the pause that is in its inbox.
    async fn is_held_back(&self, id: DiscussionId) -> Result<bool, Error> {
        let state = self.state(id).await?;
        let waiting = self.0.engine.shared().store.commands(id, state.seen).await?;
        let waits = waiting.iter().any(|(_, command)| *command == Command::Pause);
        Ok(waits || state.lifecycle == Lifecycle::Paused || state.wish == Some(Command::Pause))
    }

    /// Passes a command on to whoever runs the discussion. Where nobody does, stop and abort are carried out here.
    pub(super) async fn steer(&self, id: DiscussionId, command: Command) -> Result<Steered, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        let claim = match self.take(id).await {
            Ok(claim) => claim,
            Err(StoreError::Held { owner, .. }) => {
                self.send(id, command).await?;
                return Ok(Steered::Sent { to: owner });
            }
            Err(error) => return Err(error.into()),
        };
        match command {
            Command::Pause => {
                self.0.engine.shared().store.release(claim).await?;
                Ok(Steered::Idle(Box::new(state)))
            }
            Command::Resume
            | Command::Stop
            | Command::Abort
            | Command::Say(_)
            | Command::Rule(_)
            | Command::Note(_) => {
                if command != Command::Abort {
                    self.everyone_has_a_voice(&state)?;
                }
                self.send(id, command).await?;
                Ok(Steered::Here(self.0.engine.run(id).await?))
            }
        }
    }

    /// Puts a command into a discussion's inbox.
    pub(super) async fn send(&self, id: DiscussionId, command: Command) -> Result<(), Error> {
        self.0.engine.send(id, command).await?;
        Ok(())
    }

    /// Makes sure that nobody else runs it. The engine takes it again under the same name.
    pub(super) async fn take(&self, id: DiscussionId) -> Result<Claim, StoreError> {
        self.0.engine.shared().store.claim(id, &self.0.owner, GLANCE_MS).await
    }
}

/// Whether nothing more can happen in it; an error may be tried again.
pub(super) fn is_over(state: &State) -> bool {
    matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted)
}
