//! Resumes discussions and passes commands to the process that runs them.

use quorum_core::{
    engine::handle::Handle,
    model::{command::Command, id::DiscussionId, lifecycle::Lifecycle, state::State},
    registry::Snapshot,
    seams::{Claim, Release, StoreError},
};

use crate::{Error, Quorum, facade::take_over::is_unfinished};

/// The effect of a command.
pub enum Steered {
    /// Another process runs the discussion, and will take the command.
    Sent {
        /// The owner.
        to: String,
    },
    /// No process ran it, so it is carried out here.
    Here(Handle),
    /// The process that runs it, or the next one, will carry it out.
    Recorded,
    /// It has ended, is paused or waits for people, so there is nothing to pause.
    Idle(Box<Snapshot>),
}

/// What becomes of a person's pause when a discussion goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnPause {
    /// It ends, also if no process has taken it yet.
    Resume,
    /// It stays.
    Keep,
}

impl Quorum {
    /// Goes on with a discussion that no process runs, whether it was paused, failed or left behind
    /// by a process that died.
    pub(super) async fn resume(&self, id: DiscussionId, on_pause: OnPause) -> Result<Handle, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        let claim = self.claim(id).await?;
        let ready = async {
            self.everyone_has_a_voice(&state)?;
            self.0.engine.check_caps(&state.spec).await?;
            if on_pause == OnPause::Resume && self.is_held_back(id).await? {
                self.send(id, Command::Resume).await?;
            }
            Ok(())
        };
        self.run_if(claim, ready.await).await
    }

    /// Runs a claimed discussion, or gives the claim back for this error.
    pub(super) async fn run_if(&self, claim: Claim, ready: Result<(), Error>) -> Result<Handle, Error> {
        match ready {
            Ok(()) => Ok(self.0.engine.run_claimed(claim)),
            Err(error) => {
                self.0.engine.give_up(claim, Release::Now).await;
                Err(error)
            }
        }
    }

    /// Whether it is paused, or has a pause in its inbox that was not taken yet.
    async fn is_held_back(&self, id: DiscussionId) -> Result<bool, Error> {
        let state = self.state(id).await?;
        let waiting = self.0.engine.services().store.commands(id, state.seen).await?;
        let waits = waiting.iter().any(|(_, command)| *command == Command::Pause);
        Ok(waits || state.lifecycle == Lifecycle::Paused || state.pending == Some(Command::Pause))
    }

    /// Sends a command to the process that runs the discussion. If none does, a pause is recorded
    /// for the next one, and stop and abort are carried out here.
    pub(super) async fn steer(&self, id: DiscussionId, command: Command) -> Result<Steered, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        let claim = match self.claim(id).await {
            Ok(claim) => claim,
            Err(StoreError::Held { owner, .. }) => {
                self.send(id, command).await?;
                return Ok(Steered::Sent { to: owner });
            }
            Err(error) => return Err(error.into()),
        };
        match command {
            Command::Pause => {
                // The next runner takes it. What has ended or waits for people has no pause.
                let is_recorded = is_unfinished(&state);
                let sent = if is_recorded { self.send(id, command).await } else { Ok(()) };
                self.0.engine.give_up(claim, Release::Now).await;
                sent?;
                Ok(if is_recorded { Steered::Recorded } else { Steered::Idle(Box::new(state)) })
            }
            Command::Resume
            | Command::Stop
            | Command::Abort
            | Command::Say(_)
            | Command::Rule(_)
            | Command::Note(_) => {
                let ready = async {
                    if command != Command::Abort {
                        self.everyone_has_a_voice(&state)?;
                    }
                    self.send(id, command).await
                };
                Ok(Steered::Here(self.run_if(claim, ready.await).await?))
            }
        }
    }

    /// Puts a command into a discussion's inbox.
    pub(super) async fn send(&self, id: DiscussionId, command: Command) -> Result<(), Error> {
        self.0.engine.send(id, command).await?;
        Ok(())
    }

    /// Claims the discussion for this process.
    pub(super) async fn claim(&self, id: DiscussionId) -> Result<Claim, StoreError> {
        self.0.engine.claim(id).await
    }
}

/// Whether it has ended for good; a failed discussion may be resumed.
pub(super) fn is_over(state: &State) -> bool {
    matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted)
}
