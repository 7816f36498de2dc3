//! Forks: a question that was answered in the original discussion is not asked again, as long as it
//! is the same.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use rapidhash::v3::{DEFAULT_RAPID_SECRETS, RapidStreamHasherV3};
use serde_json::Value;

use crate::{
    call::Message,
    floor::{Floor, ask::Ask, seat::Seat},
    model::{
        event::{Event, Fact, Fork, Noted, SubConcluded, ToolUsed},
        id::{DiscussionId, Seq, Step},
        likeness::Comparison,
        money::{Usage, Usd},
        state::{Counted, State},
        transcript::{Bill, Turn},
        window::Bound,
    },
    seams::{Store, StoreError},
};

/// The answers of another discussion, by step.
#[derive(Default)]
pub(crate) struct Source {
    answers: HashMap<Step, Answer>,
    orders: HashMap<Step, Vec<usize>>,
    /// The pattern's own notes from before the point of the fork.
    notes: HashMap<Step, Noted>,
    comparisons: HashMap<Step, (Comparison, Option<String>)>,
    /// The discussions that its pattern held, with the digests of their specs.
    children: HashMap<Step, (SubConcluded, String)>,
    /// The tools that its pattern used, with their arguments.
    tools: HashMap<Step, (ToolUsed, Value)>,
    /// The providers' reports of request sizes.
    counts: BTreeMap<Step, Counted>,
    /// The limits that providers' refusals named for their windows.
    bounds: BTreeMap<Step, Bound>,
}

struct Answer {
    turn: Arc<Turn>,
    digest: Option<String>,
    /// Whether it lies before the point of the fork, and is valid whatever is asked.
    early: bool,
}

impl Source {
    /// The answers of the discussion that this one was forked from, and of that one's ancestors. A
    /// discussion that has been removed has none.
    pub(crate) async fn before(state: &State, store: &dyn Store) -> Result<Source, StoreError> {
        Source::of_fork(state.fork.clone(), Some(state.id), store).await
    }

    /// The same for a fork that may not have been opened yet.
    pub(crate) async fn of_fork(
        fork: Option<Fork>,
        id: Option<DiscussionId>,
        store: &dyn Store,
    ) -> Result<Source, StoreError> {
        let mut sources = Vec::new();
        let mut next = fork;
        let mut read: HashSet<DiscussionId> = id.into_iter().collect();
        // Guards against a cycle: a discussion that was removed and forked again under its old id
        // may descend from its own fork.
        while let Some(fork) = next.filter(|fork| read.insert(fork.of)) {
            let facts = match store.read(fork.of, Seq::START, usize::MAX).await {
                Ok(facts) => facts,
                Err(StoreError::Unknown(_)) => break,
                Err(error) => return Err(error),
            };
            let Some(past) = State::of(fork.of, &facts) else { break };
            sources.push(Source::of(&facts, &fork.at).counting(past.counts, past.bounds));
            next = past.fork;
        }
        let inherited = |older: Source, mut source: Source| {
            source.inherit(&older);
            source
        };
        Ok(sources.into_iter().rev().reduce(inherited).unwrap_or_default())
    }

    /// The answers in these facts; everything up to this step is taken over unconditionally.
    fn of(facts: &[Fact], at: &Step) -> Source {
        let fork = facts.iter().filter(|fact| fact.step.as_ref() == Some(at)).map(|fact| fact.seq).max();
        let mut digests: HashMap<&Step, String> = HashMap::new();
        let mut arguments: HashMap<&Step, &Value> = HashMap::new();
        let mut source = Source::default();
        for fact in facts {
            match (&fact.event, &fact.step) {
                (Event::CallPlaced(placed), Some(step)) => {
                    digests.extend(placed.digest.clone().map(|digest| (step, digest)));
                }
                (Event::TurnCompleted { turn }, Some(step)) => {
                    let early = fork.is_some_and(|fork| fact.seq <= fork);
                    let answer = Answer { turn: turn.clone(), digest: digests.remove(step), early };
                    source.answers.insert(step.clone(), answer);
                }
                (Event::PersonAwaited(awaited), _) => {
                    digests.extend(awaited.digest.clone().map(|digest| (&awaited.answers, digest)));
                }
                (Event::Summarised(summary), Some(step)) => {
                    let early = fork.is_some_and(|fork| fact.seq <= fork);
                    let digest = digests.remove(step);
                    let answer = summary.turn.clone().map(|turn| Answer { turn, digest, early });
                    source.answers.extend(answer.map(|it| (step.clone(), it)));
                }
                (Event::Compared(comparison), Some(step)) if comparison.found().is_some() => {
                    let compared = (comparison.clone(), digests.remove(step));
                    source.comparisons.insert(step.clone(), compared);
                }
                (Event::OrderDrawn { order }, Some(step)) => {
                    drop(source.orders.insert(step.clone(), order.clone()));
                }
                (Event::ChildConvened(convened), Some(step)) => {
                    drop(digests.insert(step, convened.digest.clone()));
                }
                (Event::SubConcluded(end), Some(step)) if end.problem.is_none() => {
                    let digest = digests.remove(step);
                    source.children.extend(digest.map(|it| (step.clone(), (end.clone(), it))));
                }
                (Event::ToolPlaced(placed), Some(step)) => drop(arguments.insert(step, &placed.arguments)),
                (Event::ToolUsed(used), Some(step)) => {
                    let given = arguments.get(step).map_or(Value::Null, |it| (*it).clone());
                    drop(source.tools.insert(step.clone(), (used.clone(), given)));
                }
                (Event::Noted(noted), Some(step)) if fork.is_some_and(|fork| fact.seq <= fork) => {
                    drop(source.notes.insert(step.clone(), noted.clone()));
                }
                _ => {}
            }
        }
        source
    }

    /// Adds the providers' reports of request sizes, so that a fork shows as much as the original
    /// did.
    fn counting(self, counts: BTreeMap<Step, Counted>, bounds: BTreeMap<Step, Bound>) -> Source {
        Source { counts, bounds, ..self }
    }

    /// For answers that were themselves taken over from an older discussion: adds what was asked
    /// there, and the size of that request.
    fn inherit(&mut self, older: &Source) {
        let taken_over = self.answers.iter_mut().filter(|(_, answer)| answer.turn.reused);
        for (step, answer) in taken_over {
            let digest = older.answers.get(step).and_then(|it| it.digest.clone());
            answer.digest = answer.digest.take().or(digest);
            self.counts.extend(older.counts.get(step).map(|it| (step.clone(), *it)));
            self.bounds.extend(older.bounds.get(step).map(|it| (step.clone(), *it)));
        }
        // A comparison that was paid for records what was compared; one that was taken over does
        // not.
        for (step, (_, digest)) in self.comparisons.iter_mut().filter(|(_, it)| it.1.is_none()) {
            *digest = older.comparisons.get(step).and_then(|it| it.1.clone());
        }
    }

    /// The end of a discussion that its pattern held with this spec at this step.
    pub(crate) fn child(&self, step: &Step, digest: &str) -> Option<&SubConcluded> {
        self.children.get(step).filter(|it| it.1 == digest).map(|it| &it.0)
    }

    /// The successful use of a tool with these arguments at this step.
    pub(crate) fn tool(&self, step: &Step, arguments: &Value) -> Option<&ToolUsed> {
        let used = self.tools.get(step).filter(|(used, given)| used.error.is_none() && given == arguments);
        used.map(|it| &it.0)
    }

    /// Whether a tool was used at this step at all.
    pub(crate) fn has_tool(&self, step: &Step) -> bool {
        self.tools.contains_key(step)
    }

    /// The provider's report of the request size at this step.
    pub(crate) fn counted(&self, step: &Step) -> Option<&Counted> {
        self.counts.get(step)
    }

    /// What a refusal at this step said about the provider's window.
    pub(crate) fn bound(&self, step: &Step) -> Option<&Bound> {
        self.bounds.get(step)
    }

    /// The result of comparing identical texts at this step. It was paid in the original
    /// discussion.
    pub(crate) fn comparison(&self, step: &Step, digest: &str) -> Option<Comparison> {
        let (comparison, _) = self.comparisons.get(step).filter(|it| it.1.as_deref() == Some(digest))?;
        Some(Comparison { usage: Usage::default(), cost: Some(Usd::ZERO), ..comparison.clone() })
    }

    /// The note recorded at this step, before the point of the fork.
    pub(crate) fn note(&self, step: &Step) -> Option<&Noted> {
        self.notes.get(step)
    }

    /// The random order drawn at this step.
    pub(crate) fn order(&self, step: &Step) -> Option<&Vec<usize>> {
        self.orders.get(step)
    }
}

impl Floor {
    /// The answer to this same question in the discussion that this one was forked from. It was
    /// paid there, so it costs nothing here.
    pub(crate) fn reused(&self, seat: &Seat) -> Option<Arc<Turn>> {
        let answer = self.source.answers.get(seat.step()).filter(|it| it.turn.participant == seat.name())?;
        let same = || answer.digest.as_deref() == Some(seat.digest(self).as_str());
        if !answer.early && !same() {
            return None;
        }
        let bill = Bill { usage: Usage::default(), estimated: false, price: None, cost: Some(Usd::ZERO) };
        Some(Arc::new(Turn { bill, reused: true, ..(*answer.turn).clone() }))
    }
}

/// A short hash of these texts.
pub(crate) fn digest_of<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut hash = Mix::default();
    texts.for_each(|text| hash.text(text));
    hash.shortened()
}

/// A short hash of everything that is asked, without the nonce: identical questions have the same
/// hash.
pub(crate) fn digest(ask: &Ask, messages: &[Message]) -> String {
    let mut hash = Mix::default();
    hash.text(&ask.system);
    hash.text(ask.shape.as_ref().map_or("", |shape| shape.form.kind));
    for message in messages {
        match message {
            Message::Said { turn, own } => {
                hash.text(if *own { "own" } else { &turn.participant });
                hash.text(&turn.text);
            }
            Message::Found { topic, text } => {
                hash.text(topic);
                hash.text(text);
            }
            Message::Ask(text) => hash.text(text),
        }
    }
    hash.shortened()
}

/// A hash of texts, the same in every version and on every machine. Each text is preceded by its
/// length, so that boundaries between texts count.
struct Mix(RapidStreamHasherV3<'static>);

impl Default for Mix {
    fn default() -> Self {
        Mix(RapidStreamHasherV3::new(&DEFAULT_RAPID_SECRETS))
    }
}

impl Mix {
    fn text(&mut self, text: &str) {
        self.0.write(&(text.len() as u64).to_le_bytes());
        self.0.write(text.as_bytes());
    }

    /// Sixteen characters: collisions are improbable enough, and every call is recorded with one.
    fn shortened(&self) -> String {
        format!("{:016x}", self.0.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_same_for_the_same_question_alone() {
        let ask = |system: &str, prompt: &str| digest(&Ask::new(system, ""), &[Message::Ask(prompt.into())]);
        assert_eq!(ask("a", "b"), ask("a", "b"));
        assert_ne!(ask("a", "b"), ask("ab", ""));
        assert_ne!(ask("a", "b"), ask("a", "c"));
        assert_eq!(digest_of(["a", "b"].into_iter()), "7b02a17f304136a4", "recorded digests stay comparable");
    }
}
