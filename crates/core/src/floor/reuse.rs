//! Forks: what was answered in the discussion a fork comes from is not asked again, as long as the question is the same.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use uuid::Uuid;

use crate::{
    call::Message,
    floor::{Floor, ask::Ask, seat::Seat},
    model::{
        event::{Event, Fact},
        id::{Seq, Step},
        likeness::Comparison,
        money::{Usage, Usd},
        state::{Counted, State},
        transcript::{Bill, Turn},
    },
    seams::{Store, StoreError},
};

/// The answers of another discussion, by step.
#[derive(Default)]
pub(crate) struct Source {
    answers: HashMap<Step, Answer>,
    orders: HashMap<Step, Vec<usize>>,
    comparisons: HashMap<Step, (Comparison, Option<String>)>,
    /// What providers said about the size of the requests.
    counts: BTreeMap<Step, Counted>,
}

struct Answer {
    turn: Arc<Turn>,
    digest: Option<String>,
    /// Whether it lies before the point where the fork begins, and stands whatever is asked.
    early: bool,
}

impl Source {
    /// What was answered in the discussion that this one was forked from, and in those that one came
    /// from; nothing of a discussion that was removed since.
    pub(crate) async fn before(state: &State, store: &dyn Store) -> Result<Source, StoreError> {
        let mut sources = Vec::new();
        let mut next = state.fork.clone();
        let mut read = HashSet::from([state.id]);
        // A discussion that was removed and forked anew under its old id may come from its own fork.
        while let Some(fork) = next.filter(|fork| read.insert(fork.of)) {
            let facts = match store.read(fork.of, Seq::START, usize::MAX).await {
                Ok(facts) => facts,
                Err(StoreError::Unknown(_)) => break,
                Err(error) => return Err(error),
            };
            let Some(past) = State::of(fork.of, &facts) else { break };
            sources.push(Source::of(&facts, &fork.at).counting(past.counts));
            next = past.fork;
        }
        let inherited = |older: Source, mut source: Source| {
            source.inherit(&older);
            source
        };
        Ok(sources.into_iter().rev().reduce(inherited).unwrap_or_default())
    }

    /// What these facts answer, with everything up to this step taken as it is.
    fn of(facts: &[Fact], at: &Step) -> Source {
        let fork = facts.iter().filter(|fact| fact.step.as_ref() == Some(at)).map(|fact| fact.seq).max();
        let mut digests: HashMap<&Step, String> = HashMap::new();
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
                _ => {}
            }
        }
        source
    }

    /// Takes in what providers said about the size of the requests, so that a fork shows as much as was shown there.
    fn counting(self, counts: BTreeMap<Step, Counted>) -> Source {
        Source { counts, ..self }
    }

    /// For what was itself taken over from an older discussion: what was asked there, and how long that was.
    fn inherit(&mut self, older: &Source) {
        let taken_over = self.answers.iter_mut().filter(|(_, answer)| answer.turn.reused);
        for (step, answer) in taken_over {
            let digest = older.answers.get(step).and_then(|it| it.digest.clone());
            answer.digest = answer.digest.take().or(digest);
            self.counts.extend(older.counts.get(step).map(|it| (step.clone(), *it)));
        }
        // A comparison that was paid for says what was compared; one that was taken over does not.
        for (step, (_, digest)) in self.comparisons.iter_mut().filter(|(_, it)| it.1.is_none()) {
            *digest = older.comparisons.get(step).and_then(|it| it.1.clone());
        }
    }

    /// What a provider said about the size of the request at this step.
    pub(crate) fn counted(&self, step: &Step) -> Option<&Counted> {
        self.counts.get(step)
    }

    /// What was found when the very same texts were compared at this step. It was paid there.
    pub(crate) fn comparison(&self, step: &Step, digest: &str) -> Option<Comparison> {
        let (comparison, _) = self.comparisons.get(step).filter(|it| it.1.as_deref() == Some(digest))?;
        Some(Comparison { usage: Usage::default(), cost: Some(Usd::ZERO), ..comparison.clone() })
    }

    /// The lot drawn at this step.
    pub(crate) fn order(&self, step: &Step) -> Option<&Vec<usize>> {
        self.orders.get(step)
    }
}

impl Floor {
    /// The answer to this very question in the discussion this one was forked from. It was paid there, so it costs nothing here.
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

/// A short name for these texts.
pub(crate) fn digest_of<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut hash = Mix::default();
    texts.for_each(|text| hash.text(text));
    hash.shortened()
}

/// A short name for everything that is asked, the nonce left out: the same question has the same one.
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

/// A hash of texts, the same in every version and on every machine (UUIDv5, that is SHA-1). Each text
/// is hashed in the namespace of those before it, so that two texts never run into each other.
struct Mix(Uuid);

impl Default for Mix {
    fn default() -> Self {
        Mix(Uuid::NAMESPACE_OID)
    }
}

impl Mix {
    fn text(&mut self, text: &str) {
        self.0 = Uuid::new_v5(&self.0, text.as_bytes());
    }

    /// Sixteen characters of it: accidents are improbable enough, and every call is recorded with one.
    fn shortened(&self) -> String {
        format!("{:016x}", self.0.as_u64_pair().0)
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
    }
}
