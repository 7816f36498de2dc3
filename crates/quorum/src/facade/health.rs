//! Whether a provider would answer, asked through the voice that would.

use std::time::Duration;

use quorum_core::model::{
    error::{ErrorClass, ProviderError},
    participant::Participant,
    state::State,
};

use crate::{Error, Quorum, Request, request::draft};

/// How long one provider may take to say whether it is there.
const LONGEST_CHECK: Duration = Duration::from_secs(10);

impl Quorum {
    /// Before a discussion goes on here, everyone still at its table must be able to speak: a key that is missing on this machine
    /// must not count as somebody's failure.
    pub(super) fn everyone_has_a_voice(&self, state: &State) -> Result<(), Error> {
        let voices = &self.engine.shared().voices;
        let present = state.present();
        let is_mute = |who: &&Participant| {
            let is_there = state.seated.is_none() || present.contains(&who.name.as_str());
            is_there && !who.is_person() && voices.voice(&state.spec, who).is_none()
        };
        let why = |who: &Participant| {
            let lacks = self.setup.provider(&who.provider).and_then(|it| it.lacks());
            format!("{}: {}", who.name, lacks.unwrap_or_else(|| "there is no such provider here".to_owned()))
        };
        let mute: Vec<String> = state.spec.participants.iter().filter(is_mute).map(why).collect();
        if mute.is_empty() { Ok(()) } else { Err(Error::Mute(mute)) }
    }

    /// Whether this provider could answer now; what it says where it could not.
    pub(crate) async fn would_answer(&self, provider: &str) -> Result<(), String> {
        let named = Some(vec![provider.to_owned(); 2]);
        let (spec, _) = draft(&Request { providers: named, ..Request::on("health") }, &self.setting);
        let who = spec.participants.first().ok_or("there is no such provider")?;
        let voice = self.engine.shared().voices.voice(&spec, who).ok_or("it has no voice here")?;
        let check = tokio::time::timeout(LONGEST_CHECK, voice.provider.check(who));
        let late = |_| "no answer within 10 s; see whether it is well, and try again".to_owned();
        check.await.map_err(late)?.map_err(|error| advised(&error))
    }
}

/// What went wrong, and what to do about it.
fn advised(error: &ProviderError) -> String {
    let advice = match error.class {
        // Nobody was asked anything that could be given more time.
        ErrorClass::Timeout => "see whether it is well, and try again",
        // What makes no sense says itself what may be behind it.
        ErrorClass::InvalidResponse => return error.to_string(),
        class => class.advice(),
    };
    format!("{error}; {advice}")
}
