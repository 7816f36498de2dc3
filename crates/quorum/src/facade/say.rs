//! Takes a person's turn or decision, and resumes the discussion.

use std::time::Duration;

use quorum_core::{
    engine::RunError,
    model::{
        command::{Command, CommandId, Say},
        id::DiscussionId,
        ruling::Ruling,
        state::State,
    },
    seams::{Claim, Release, StoreError},
};

use crate::{Error, Quorum, Steered, facade::steering::is_over, text::without_escapes};

/// How often, and at which interval, to check whether the running process has taken the message.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl Quorum {
    /// Takes a person's turn and, if no process runs the discussion, resumes it here. Without a
    /// speaker, the text counts for the person who is awaited. Refused with nothing changed if it
    /// is not their turn.
    pub(super) async fn say(
        &self,
        id: DiscussionId,
        speaker: Option<&str>,
        text: &str,
        user: Option<&str>,
    ) -> Result<Steered, Error> {
        let state = self.state(id).await?;
        if is_over(&state) {
            return Err(StoreError::Over(id).into());
        }
        let participant = match speaker {
            Some(speaker) => speaker.to_owned(),
            None => who_speaks(&state)?,
        };
        // What a terminal or a client sent along with the words is not part of them.
        let say = Say { participant, text: without_escapes(text) };
        let claim = self.claim_if_free(id).await?;
        let said = self.0.engine.say(id, say, user).await.map_err(Error::from);
        self.carry_on(id, claim, said).await
    }

    /// Makes an awaited decision and, if no process runs the discussion, resumes it here (D13).
    /// Refused with nothing changed if the decision is not awaited, was made already, or is not one
    /// of the choices.
    pub(super) async fn rule(&self, id: DiscussionId, ruling: Ruling) -> Result<Steered, Error> {
        let claim = self.claim_if_free(id).await?;
        let ruled = self.0.engine.send(id, Command::Rule(ruling)).await.map_err(Error::from);
        self.carry_on(id, claim, ruled).await
    }

    /// Claims a discussion that no process runs, before a message makes it claimable for all.
    async fn claim_if_free(&self, id: DiscussionId) -> Result<Option<Claim>, Error> {
        if self.0.engine.is_running(id) {
            return Ok(None);
        }
        match self.claim(id).await {
            Ok(claim) => Ok(Some(claim)),
            Err(StoreError::Held { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Runs it here if it was claimed and the message was accepted.
    async fn carry_on(
        &self,
        id: DiscussionId,
        claim: Option<Claim>,
        sent: Result<CommandId, Error>,
    ) -> Result<Steered, Error> {
        match (claim, sent) {
            (Some(claim), Ok(_)) => {
                let able = match self.state(id).await {
                    Ok(state) => self.everyone_has_a_voice(&state),
                    Err(error) => Err(error),
                };
                Ok(Steered::Here(self.run_if(claim, able).await?))
            }
            (Some(claim), Err(error)) => {
                self.0.engine.give_up(claim, Release::Now).await;
                Err(error)
            }
            (None, Ok(word)) => self.go_on(id, word).await,
            (None, Err(error)) => Err(error),
        }
    }

    /// Resumes the discussion here, or leaves the message to the process that runs it. That process
    /// may just be ending, so a held claim is polled for a while first.
    async fn go_on(&self, id: DiscussionId, word: CommandId) -> Result<Steered, Error> {
        if let Err(voiceless) = self.everyone_has_a_voice(&*self.state(id).await?) {
            // The running process may have what is missing here; otherwise the message waits.
            return match self.claim(id).await {
                Err(StoreError::Held { owner, .. }) => Ok(Steered::Sent { to: owner }),
                Ok(claim) => {
                    self.0.engine.give_up(claim, Release::Now).await;
                    Err(voiceless)
                }
                Err(_) => Err(voiceless),
            };
        }
        let mut looks = 0;
        loop {
            // Claiming a discussion again that this process runs would end that run.
            let ours = StoreError::Held { id, owner: self.0.owner.clone() };
            let is_ours = self.0.engine.is_running(id);
            let ran = if is_ours { Err(RunError::Store(ours)) } else { self.0.engine.run(id).await };
            match ran {
                Ok(handle) => return Ok(Steered::Here(handle)),
                Err(RunError::Store(StoreError::Held { owner, .. })) => {
                    looks += 1;
                    if looks == LOOKS || word <= self.state(id).await?.seen {
                        return Ok(Steered::Sent { to: owner });
                    }
                    tokio::time::sleep(BETWEEN_LOOKS).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The person whose turn it is, or else the only person who takes part.
fn who_speaks(state: &State) -> Result<String, Error> {
    let awaited: Vec<String> = state.awaiting.iter().map(|it| it.participant.clone()).collect();
    let people = state.spec.participants.iter().filter(|it| it.is_person());
    let people: Vec<String> = people.map(|it| it.name.clone()).collect();
    match (awaited.as_slice(), people.as_slice()) {
        ([one], _) => Ok(one.clone()),
        ([], [one, ..]) => Ok(one.clone()),
        ([], []) => Err(Error::NobodyToSpeak(state.id)),
        (several, _) => Err(Error::WhoSpeaks(several.to_vec())),
    }
}
