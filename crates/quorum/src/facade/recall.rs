//! Recall: looks up past discussions for an order that asks for them, and copies what they came to
//! into it. An order that asks for nothing is shown nothing (INV-DISC-016).

mod room;

use quorum_core::{
    model::{
        error::Code,
        id::DiscussionId,
        mask::Mask,
        recall::{Recall, Recalled, Why},
        relevance::{content_words, key},
        spec::Spec,
        state::State,
    },
    registry::Snapshot,
    seams::{Query, Recalling, StoreError, Wanted},
};

use self::room::{Room, question};
use crate::{
    Complaint, Discussion, Error, Request, Scope, facade::steering::is_over, request::recall::malformed,
    text::clean,
};

/// How many discussions of a chain are shown: the one that is followed, and those before it.
const LINKS: usize = 3;

/// How many decimals of a score are kept.
const SCORE_STEPS: f64 = 1_000.0;

impl Scope {
    /// Checks a request like [`Scope::check`], fills it from the discussion it follows, and looks
    /// up what it recalls. Costs nothing.
    pub async fn order(&self, request: &Request) -> Result<Spec, Error> {
        let spec = match &request.follows {
            Some(source) => self.following(source, request).await?,
            None => self.check(request)?,
        };
        self.with_recalled(spec).await
    }

    /// The order with what it asks for of past discussions, looked up once: an order that has it is
    /// returned as it is.
    pub async fn with_recalled(&self, spec: Spec) -> Result<Spec, Error> {
        if spec.plan.is_some() {
            return Box::pin(self.with_recalled_steps(spec)).await;
        }
        if spec.recalled.is_some() || (spec.recall.is_none() && spec.follows.is_none()) {
            return Ok(spec);
        }
        let room = Room::of(self.quorum.0.engine.services(), &spec);
        let mut shown = match &spec.follows {
            Some(follows) => room.followed(self.links(follows.id, &spec).await?),
            None => Vec::new(),
        };
        if let Some(recall) = &spec.recall {
            let followed: Vec<DiscussionId> = shown.iter().map(|it| it.id).collect();
            shown.extend(room.recalled(self.sources(recall, &spec, &followed).await?));
        }
        Ok(Spec { recalled: Some(shown), ..spec })
    }

    /// The discussions to recall: those that are named, then the best of the archive.
    async fn sources(
        &self,
        recall: &Recall,
        spec: &Spec,
        followed: &[DiscussionId],
    ) -> Result<Vec<Recalled>, Error> {
        let mut sources: Vec<Recalled> = Vec::new();
        for given in &recall.from {
            let source = self.source("recall.from", given, spec).await?;
            if !sources.iter().any(|it| it.id == source.id) {
                sources.push(source);
            }
        }
        let most = recall.most.map_or(0, |it| it as usize).saturating_sub(sources.len());
        if most == 0 {
            return Ok(sources);
        }
        let except = followed.iter().copied().chain(sources.iter().map(|it| it.id)).collect();
        let recalling = Recalling {
            key: key(&spec.topic),
            simulated: spec.simulation.is_some(),
            at: self.quorum.now(),
            except,
        };
        let query = Query { words: content_words(&spec.topic), recalling: Some(recalling) };
        let wanted = Wanted {
            limit: most,
            session: recall.session,
            tenant: Some(self.tenant.clone()),
            ..Wanted::default()
        };
        for found in self.archive().find(query, wanted).await? {
            let state = self.quorum.state(found.summary.id).await?;
            let score = (found.score * SCORE_STEPS).round() / SCORE_STEPS;
            sources.push(Recalled { score: Some(score), ..copy(&state, spec) });
        }
        Ok(sources)
    }

    /// A discussion that is named, if it has an answer that this order may be shown.
    async fn source(&self, field: &str, given: &str, spec: &Spec) -> Result<Recalled, Error> {
        let state = self.named_in(field, given).await?.state().await?;
        match why_not(&state, spec) {
            Some(message) => Err(refused(field, message)),
            None => Ok(copy(&state, spec)),
        }
    }

    /// The discussion that a field of a request names.
    pub(super) async fn named_in(&self, field: &str, given: &str) -> Result<Discussion, Error> {
        if let Some(message) = malformed(given) {
            return Err(Error::refused(Complaint::new(field, Code::InvalidRequest, message)));
        }
        self.find(given).await.map_err(|error| match error {
            Error::NoneYet | Error::TooFarBack { .. } | Error::Ambiguous { .. } => {
                refused(field, error.to_string())
            }
            Error::NotFound(_) | Error::Store(StoreError::Unknown(_)) => {
                refused(field, format!("there is no discussion {given}"))
            }
            other => other,
        })
    }

    /// The discussion that is followed and those that it followed, oldest first. Their texts are
    /// taken from its own record, so they are there even if the discussions are not.
    async fn links(&self, id: DiscussionId, spec: &Spec) -> Result<Vec<Recalled>, Error> {
        let source = self.source("follows", &id.to_string(), spec).await?;
        let state = self.quorum.state(id).await?;
        let before = state.spec.shown().iter().filter(|it| it.why == Why::Followed).cloned();
        let mut links: Vec<Recalled> = before.chain([source]).collect();
        links.drain(..links.len().saturating_sub(LINKS));
        Ok(links)
    }
}

/// A value that another request, or the same one at another time, may have.
fn refused(field: &str, message: String) -> Error {
    Error::refused(Complaint::new(field, Code::InvalidRequest, message).in_combination())
}

/// Why this discussion can't be shown to the participants of this order; `None` if it can.
fn why_not(source: &State, spec: &Spec) -> Option<String> {
    let id = source.id;
    if !is_over(source) {
        return Some(format!("discussion {id} is {}; only one that is over can be shown", source.lifecycle));
    }
    if source.decision.is_none() {
        return Some(format!("discussion {id} ended without an answer"));
    }
    match (source.spec.simulation.is_some(), spec.simulation.is_some()) {
        (true, false) => Some(format!("discussion {id} is simulated, and this one is not")),
        (false, true) => Some(format!("discussion {id} is not simulated, and this one is")),
        (true, true) | (false, false) => None,
    }
}

/// What is shown of a discussion, before it is cut to the room there is.
fn copy(source: &Snapshot, spec: &Spec) -> Recalled {
    let outcome = source.outcome();
    let covered = |text: &str| match spec.show_names {
        true => text.to_owned(),
        false => Mask::numbered(&source.spec, &source.models).cover(text),
    };
    let list = |title: &str, lines: Vec<String>| match lines.as_slice() {
        [] => String::new(),
        lines => format!("{title}:\n- {}", lines.join("\n- ")),
    };
    let agreement = outcome.consensus.agreement_score.map(|it| format!("Agreement: {it:.2} of 1"));
    let dissent = outcome.consensus.dissent.unwrap_or_default().into_iter();
    let dissent = dissent.map(|it| format!("{}: {}", it.provider, it.position)).collect();
    let open = outcome.consensus.claims.into_iter().filter(|it| it.unanswered).map(|it| it.text).collect();
    let found = [
        agreement.unwrap_or_default(),
        format!("Answer: {}", outcome.synthesis.trim()),
        list("Dissent", dissent),
        list("Not answered", open),
    ];
    let found: Vec<String> = found.into_iter().filter(|it| !it.is_empty()).collect();
    let found = clean(&covered(&found.join("\n")));
    Recalled {
        id: source.id,
        key: key(&source.spec.topic),
        topic: source.spec.topic.clone(),
        ended_at: source.transitions.last().map_or(source.opened_at, |it| it.at),
        score: None,
        text: format!("{}\n{found}", question(&source.spec.topic)),
        cut: false,
        tokens: 0,
        why: Why::Recalled,
    }
}
