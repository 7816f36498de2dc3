//! Sub-discussions: a participant asks for one, the engine runs it, and the participant goes on
//! with its result (E01).

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::{
    call::ledger::Ledger,
    floor::{Floor, purse::Purse, services::Services},
    model::{
        error::{Code, Problem},
        event::{Ancestor, Lineage, SubConcluded},
        id::{DiscussionId, Step},
        participant::{Participant, Role},
        spec::{ConsensusSpec, Spec, TimeoutStrategy, Tolerance},
    },
    record::{control::Control, feed::Feed},
    seams::Claim,
};

/// A sub-discussion to run.
pub(crate) struct SubRun {
    pub(crate) services: Arc<Services>,
    pub(crate) claim: Claim,
    pub(crate) feed: Feed,
    pub(crate) control: Arc<Control>,
    pub(crate) above: Above,
    pub(crate) id: DiscussionId,
    pub(crate) spec: Spec,
    pub(crate) lineage: Lineage,
}

/// The budgets that a sub-discussion spends from.
pub(crate) struct Above {
    /// The ledger of the discussion above it.
    pub(crate) ledger: Arc<Ledger>,
    /// The purse of the root.
    pub(crate) purse: Option<Arc<Purse>>,
}

/// Runs a sub-discussion under its root's claim. `None` if it is suspended or another process has
/// taken over the record.
pub(crate) type RunSub = fn(SubRun) -> BoxFuture<'static, Option<SubConcluded>>;

impl Floor {
    /// Runs the sub-discussion that `who` asked for at this step, or returns why it can't. `None`
    /// if it is suspended.
    pub(crate) fn sub_discussion(
        &self,
        who: &str,
        step: &Step,
        topic: &str,
    ) -> BoxFuture<'static, Option<Box<SubConcluded>>> {
        let participant = who.to_owned();
        if let Err(problem) = self.may_be_held(topic) {
            let refused = SubConcluded {
                participant,
                child: None,
                synthesis: None,
                problem: Some(problem),
                spent: Default::default(),
                ran_ms: 0,
            };
            return Box::pin(std::future::ready(Some(Box::new(refused))));
        }
        let state = &self.record.state;
        let id = state.id.derived(step.as_str());
        let below = SubRun {
            services: self.services.clone(),
            claim: self.record.claim().clone(),
            feed: self.record.feed().clone(),
            control: self.control.clone(),
            above: Above { ledger: self.ledger.clone(), purse: self.purse.clone() },
            id,
            spec: self.sub_spec(topic),
            lineage: self.lineage_below(),
        };
        let run_sub = self.run_sub;
        Box::pin(async move {
            let ended = run_sub(below).await?;
            Some(Box::new(SubConcluded { participant, child: Some(id), ..ended }))
        })
    }

    fn may_be_held(&self, topic: &str) -> Result<(), Problem> {
        let state = &self.record.state;
        let Some(recursion) = state.spec.recursion else {
            return Err(Problem::new(Code::MaxDepthExceeded, "sub-discussions are not switched on"));
        };
        let depth = state.lineage.as_ref().map_or(0, |lineage| lineage.depth);
        if depth >= recursion.max_depth {
            let message = format!("the deepest level allowed is {}", recursion.max_depth);
            return Err(Problem::new(Code::MaxDepthExceeded, message));
        }
        let above = state.lineage.iter().flat_map(|lineage| lineage.chain.iter().map(|it| it.topic.as_str()));
        if above.chain([state.spec.topic.as_str()]).any(|it| same_topic(it, topic)) {
            return Err(Problem::new(Code::CircularDiscussion, "this question is being discussed already"));
        }
        if self.sub_participants().len() < 2 {
            let message = "a sub-discussion needs two participants, and only one takes turns here";
            return Err(Problem::new(Code::InsufficientProviders, message));
        }
        if self.remaining_ms() == 0 {
            return Err(Problem::new(Code::DiscussionTimeout, "there is no time left for it"));
        }
        Ok(())
    }

    /// The panel of a sub-discussion: everyone that takes turns in this one. People are left out,
    /// because they would have to answer in every sub-discussion, and so are judges and others that
    /// stand aside, because they must not hear one side alone.
    pub(crate) fn sub_participants(&self) -> Vec<Participant> {
        let sits = |it: &Participant| !it.is_person() && !it.aside;
        let speakers = self.speakers().into_iter().filter(sits);
        speakers.map(|it| Participant { brief: None, ..it.playing(Role::SPEAKER) }.settled()).collect()
    }

    /// The spec of a sub-discussion: its participants, without parts to play, for one round of the
    /// default pattern.
    fn sub_spec(&self, topic: &str) -> Spec {
        let spec = &self.record.state.spec;
        let registry = &self.services.registry;
        let participants = self.sub_participants();
        let min_providers = spec.tolerance.min_providers.min(participants.len() as u32);
        let pattern = registry.patterns().first().map_or("", |it| it.name);
        let method = registry.methods().first().map_or("", |it| it.name);
        let inherited = registry.options_for(pattern, method, &spec.window.strategy);
        let mut settings = spec.settings.clone();
        settings.retain(|name| inherited.iter().any(|it| it.name == name && it.inherited));
        Spec {
            topic: topic.to_owned(),
            pattern: pattern.to_owned(),
            rounds: 1,
            participants,
            tolerance: Tolerance { min_providers, ..spec.tolerance },
            options: Vec::new(),
            graded: false,
            known_voices: None,
            consensus: ConsensusSpec { method: method.to_owned(), ..spec.consensus.clone() },
            settings,
            // What was recalled is shown like the background; nothing is looked up again.
            recall: None,
            follows: None,
            ..(**spec).clone()
        }
    }

    fn lineage_below(&self) -> Lineage {
        let state = &self.record.state;
        let (root, depth) = state.lineage.as_ref().map_or((state.id, 0), |it| (it.root, it.depth));
        let mut chain = state.lineage.as_ref().map(|it| it.chain.clone()).unwrap_or_default();
        chain.push(Ancestor { id: state.id, topic: state.spec.topic.clone() });
        let total_ms = state.spec.timing.total_ms;
        let level_ms = state.spec.recursion.map_or(total_ms, |recursion| {
            recursion.strategy.level_ms(total_ms, recursion.max_depth, depth + 1)
        });
        // INV-DISC-610: never more than the level above has left, less its share for the synthesis.
        // Nothing is deducted if every level has the same fixed time, which includes its own share:
        // then time below doesn't count for the level above.
        let fixed = state.spec.recursion.is_some_and(|it| it.strategy == TimeoutStrategy::Fixed);
        let left_ms = if fixed { self.left_ms() } else { self.remaining_ms() };
        Lineage { root, parent: state.id, depth: depth + 1, chain, level_ms: level_ms.min(left_ms) }
    }
}

fn same_topic(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    plain(one) == plain(other)
}
