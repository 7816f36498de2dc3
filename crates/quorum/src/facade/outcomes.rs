//! Outcomes: recorded right answers, what is learned from them about voices, and what a new
//! discussion is given of that.

mod learning;
mod report;

use quorum_core::{
    model::{
        error::{Code, StateInvalid},
        known_voices::KnownVoices,
        participant::Participant,
        spec::Spec,
        state::State,
    },
    seams::{KnownOutcome, OutcomesWanted, Scored, ScoredAnswer},
};
use quorum_patterns::first::{self, FirstAnswer};

use crate::{Complaint, Discussion, Error, Scope};

pub use report::{CalibrationReport, PairReport, VoiceReport};

/// The longest right answer, in characters.
pub const LONGEST_ANSWER: usize = 2_000;

/// How many of the newest outcomes are learned from.
const MOST_OUTCOMES: usize = 1_000;

/// The answer that says that the result was right.
const RIGHT: &str = "right";

/// The answer that says that the result was wrong.
const WRONG: &str = "wrong";

/// The outcome recorded for a discussion.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The outcome.
    pub outcome: KnownOutcome,
    /// How many outcomes of the discussion were recorded before; this one corrects them.
    pub corrected: usize,
}

impl Discussion {
    /// Records the right answer to its question, or that its result was right or wrong. Its facts
    /// stay as they are; a later call corrects this one, and both stay on record.
    pub async fn resolve(&self, answer: &str, by: Option<&str>) -> Result<Resolved, Error> {
        let resolved = self.resolved(answer, by).await;
        self.logged("resolve", resolved).await
    }

    /// The outcomes recorded for it, oldest first.
    pub async fn outcomes(&self) -> Result<Vec<KnownOutcome>, Error> {
        Ok(self.scope.archive().outcomes_of(self.id).await?)
    }

    async fn resolved(&self, answer: &str, by: Option<&str>) -> Result<Resolved, Error> {
        let state = self.state().await?;
        if !state.lifecycle.is_terminal() {
            let from = state.lifecycle.name().to_owned();
            return Err(Error::NotOver(StateInvalid { from, to: "resolved".to_owned() }));
        }
        let (answer, scored) = scored(&state, answer)?;
        let outcome = KnownOutcome {
            discussion: self.id,
            tenant: self.scope.tenant.clone(),
            simulated: state.spec.simulation.is_some(),
            answer,
            by: by_whom(by, &self.scope.who)?,
            at: self.scope.quorum.now(),
            scored,
        };
        let corrected = self.outcomes().await?.len();
        self.scope.archive().resolve(outcome.clone()).await?;
        Ok(Resolved { outcome, corrected })
    }
}

impl Scope {
    /// What the outcomes of this tenant say about its voices: of real ones, or of simulated ones.
    pub async fn calibration(&self, simulated: bool) -> Result<CalibrationReport, Error> {
        let known = self.known(simulated, MOST_OUTCOMES).await?;
        Ok(report::report(&known, simulated, self.quorum.now()))
    }

    async fn known(&self, simulated: bool, limit: usize) -> Result<Vec<KnownOutcome>, Error> {
        let wanted = OutcomesWanted { tenant: self.tenant.clone(), simulated, limit };
        Ok(self.archive().outcomes(wanted).await?)
    }

    /// The order with what outcomes say about its voices, where its answers will be compared.
    pub(super) async fn with_known_voices(&self, spec: Spec) -> Result<Spec, Error> {
        let is_compared = !spec.options.is_empty() || spec.graded;
        if !is_compared || spec.known_voices.is_some() {
            return Ok(spec);
        }
        let known_voices = self.known_voices(&spec).await?;
        Ok(Spec { known_voices, ..spec })
    }

    async fn known_voices(&self, spec: &Spec) -> Result<Option<KnownVoices>, Error> {
        let simulated = spec.simulation.is_some();
        let Some(newest) = self.known(simulated, 1).await?.pop() else { return Ok(None) };
        let voices: Vec<(String, String)> =
            models(&spec.participants).map(|it| (it.name.clone(), learning::voice(it, None))).collect();
        let key = learning::Key { tenant: self.tenant.clone(), simulated, voices };
        let learned = &self.quorum.0.learned;
        if let Some(found) = learned.get(&key, &newest) {
            return Ok(found);
        }
        let known = self.known(simulated, MOST_OUTCOMES).await?;
        let found = learning::known_voices(&known, &key.voices, self.quorum.now());
        learned.cache(key, &newest, found.clone());
        Ok(found)
    }
}

pub(super) use learning::Learned;

fn models(seats: &[Participant]) -> impl Iterator<Item = &Participant> {
    seats.iter().filter(|it| !it.is_person())
}

fn by_whom(given: Option<&str>, who: &str) -> Result<String, Error> {
    let by = given.map_or(who, str::trim);
    let length = by.chars().count();
    if by.is_empty() || length > 200 {
        return Err(refused("by", format!("must have 1 to 200 characters; this has {length}")));
    }
    Ok(by.to_owned())
}

fn refused(field: &str, message: String) -> Error {
    Error::refused(Complaint::new(field, Code::InvalidRequest, message))
}

/// The right answer, and what follows from it for the answers on record.
fn scored(state: &State, given: &str) -> Result<(String, Scored), Error> {
    let given = given.trim();
    let length = given.chars().count();
    if given.is_empty() || length > LONGEST_ANSWER {
        let message = format!("must have 1 to {LONGEST_ANSWER} characters; this has {length}");
        return Err(refused("answer", message));
    }
    let spec = &state.spec;
    let last = first::final_answer(state);
    let found = match spec.options.is_empty() {
        true => None,
        false => first::option(&spec.options, given),
    };
    let right = match (found, given.to_lowercase().as_str()) {
        (Some(option), _) => Some(option),
        (None, RIGHT) => Some(known_result(last.as_deref(), RIGHT)?),
        (None, WRONG) => other_option(&spec.options, &known_result(last.as_deref(), WRONG)?),
        (None, _) if spec.options.is_empty() => Some(given.to_owned()),
        (None, _) => {
            let options: Vec<String> = spec.options.iter().map(|it| format!("`{it}`")).collect();
            let message = format!(
                "`{given}` is none of the options {}; give one of them, or {RIGHT} or {WRONG}",
                options.join(", ")
            );
            return Err(refused("answer", message));
        }
    };
    let was_right = match &right {
        Some(right) => last.as_deref().map(|it| first::is_same(spec, it, right)),
        None => Some(false),
    };
    let answers = right.as_deref().map(|right| answers(state, right)).unwrap_or_default();
    let probability = first::probability(state);
    let scored = Scored { was_right, probability, options: spec.options.len() as u32, answers };
    Ok((right.unwrap_or_default(), scored))
}

/// The result's own answer, which a user calls right or wrong.
fn known_result(last: Option<&str>, called: &str) -> Result<String, Error> {
    last.map(str::to_owned).ok_or_else(|| {
        let message = format!(
            "the record doesn't say which answer the result gave, so it can't be called {called}; \
             give the right answer itself"
        );
        refused("answer", message)
    })
}

/// The other one of two options.
fn other_option(options: &[String], wrong: &str) -> Option<String> {
    let [one, other] = options else { return None };
    Some(if one == wrong { other } else { one }.clone())
}

fn answers(state: &State, right: &str) -> Vec<ScoredAnswer> {
    let scored = |it: FirstAnswer| {
        let seat = state.spec.seat(&it.participant).filter(|it| !it.is_person())?;
        Some(ScoredAnswer {
            voice: learning::voice(seat, state.models.get(&it.participant).map(String::as_str)),
            choice: it.choice.clone(),
            confidence: it.confidence,
            is_right: first::is_same(&state.spec, &it.choice, right),
        })
    };
    first::answers(state).into_iter().filter_map(scored).collect()
}
