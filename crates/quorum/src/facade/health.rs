//! Health checks of providers, made through the voices that would answer.

use std::{fmt, time::Duration};

use quorum_core::model::{error::ProviderError, participant::Participant, state::State};
use quorum_providers::command::dialect;

use crate::{
    Error, Quorum, Request,
    error::MissingVoice,
    request::{Setting, Voicing, draft},
    setup::Transport,
};

/// The timeout for the check of one provider.
const LONGEST_CHECK: Duration = Duration::from_secs(10);

impl Quorum {
    /// Refuses to resume a discussion here unless all its remaining participants have a voice: a
    /// key that is missing on this machine must not count as a participant's failure.
    pub(super) fn everyone_has_a_voice(&self, state: &State) -> Result<(), Error> {
        let voices = &self.0.engine.services().voices;
        let present = state.present();
        let has_no_voice = |who: &&Participant| {
            let is_there = state.seated.is_none() || present.contains(&who.name.as_str());
            // An agent that is not seated yet may speak through another candidate.
            let is_open = state.seated.is_none() && who.agent.is_some();
            is_there && !is_open && !who.is_person() && voices.voice(&state.spec, who).is_none()
        };
        let missing_voice = |who: &Participant| MissingVoice {
            participant: who.name.clone(),
            provider: who.provider.clone(),
            missing: self.setup().provider(&who.provider).and_then(|it| it.missing().cloned()),
        };
        let missing: Vec<MissingVoice> =
            state.spec.participants.iter().filter(has_no_voice).map(missing_voice).collect();
        if missing.is_empty() { Ok(()) } else { Err(Error::MissingVoices(missing)) }
    }

    /// Checks whether each available provider would answer now, at no cost.
    pub async fn health(&self) -> Vec<(String, Result<Checked, Unanswered>)> {
        let checks = self.setup().sources().into_iter().map(|source| async move {
            let answer = self.would_answer(&source.name).await;
            let checked = |noticed: Option<String>| match noticed {
                Some(noticed) => Checked::Noticed(noticed),
                None => shown(&source.transport),
            };
            (source.name, answer.map(checked))
        });
        futures::future::join_all(checks).await
    }

    /// Warnings from checking the models of a discussion in this process, by participant.
    pub(super) fn noticed(&self, state: &State) -> Vec<(String, String)> {
        let voices = &self.0.engine.services().voices;
        let seats = state.spec.participants.iter().filter(|it| !it.is_person());
        let noticed = |who: &Participant| {
            let noticed = voices.voice(&state.spec, who)?.provider.noticed()?;
            Some((who.name.clone(), noticed))
        };
        seats.filter_map(noticed).collect()
    }

    async fn would_answer(&self, provider: &str) -> Result<Option<String>, Unanswered> {
        let named = Some(vec![provider.to_owned(); 2]);
        let request = Request { providers: named, ..Request::on("health") };
        let setting = Setting { voicing: Voicing::Real, ..self.0.setting.clone() };
        let (spec, _) = draft(&request, &setting);
        let who = spec.participants.first().ok_or(Unanswered::NoVoice)?;
        let voice = self.0.engine.services().voices.voice(&spec, who).ok_or(Unanswered::NoVoice)?;
        let check = tokio::time::timeout(LONGEST_CHECK, voice.provider.check(who));
        check.await.map_err(|_| Unanswered::Late)?.map_err(Unanswered::Failed)?;
        Ok(voice.provider.noticed())
    }
}

/// The result of a check without a complaint. Only some programs report at no cost whether they
/// are logged in.
fn shown(transport: &Transport) -> Checked {
    let Transport::Command(program) = transport else { return Checked::Answers };
    let is_asked = dialect(&program.dialect).is_some_and(|it| !it.probe.is_empty());
    if is_asked { Checked::LoggedIn } else { Checked::Installed }
}

/// The result of a successful check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checked {
    /// It would answer now.
    Answers,
    /// It is reachable, with a warning about its model.
    Noticed(String),
    /// The program is logged in and ready.
    LoggedIn,
    /// The program is installed. Whether it is logged in only shows with its first answer.
    Installed,
}

/// Why a provider would not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// No voice has this name.
    NoVoice,
    /// The check timed out.
    Late,
    /// It failed.
    Failed(ProviderError),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::NoVoice => f.write_str("it has no voice here"),
            Unanswered::Late => write!(f, "no answer within {} s", LONGEST_CHECK.as_secs()),
            Unanswered::Failed(error) => write!(f, "{error}"),
        }
    }
}
