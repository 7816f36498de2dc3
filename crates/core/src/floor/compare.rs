//! Comparing speeches by meaning, if the spec names an embedding model for it (D08). A comparison
//! is recorded and paid like any other step; if it fails, speeches are compared by words, and the
//! record says why.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use tokio::time::{Duration, Instant, sleep, sleep_until};

use crate::{
    call::{
        retry::{Failures, Retries},
        tokens::{self, Family},
    },
    floor::{Floor, group::waiting::Listener, halt::Halt, reuse::digest_of},
    model::{
        error::{ErrorClass, ProviderError},
        event::{Abandoned, Event, Placed},
        id::Step,
        likeness::{Comparison, Similarity},
        money::{Price, Spent, Usage, Usd},
    },
    seams::{Embedded, Embedder},
};

/// A failed comparison is retried once only; comparing by words always works.
const RETRIES: Retries = Retries::AtMost(1);

/// A speech to compare with earlier ones of its speaker.
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    /// The speaker.
    pub participant: String,
    /// The text of the speech.
    pub text: Arc<str>,
    /// Earlier speeches of the same speaker.
    pub earlier: Vec<Earlier>,
}

/// An earlier speech.
#[derive(Debug, Clone, PartialEq)]
pub struct Earlier {
    /// The text of the speech.
    pub text: Arc<str>,
    /// How much of it the later speech leaves unchallenged, 0 to 1. An embedding finds a sentence
    /// and its denial alike; the caller can tell them apart.
    pub standing: f64,
}

/// The result of a comparison, and its usage.
struct Measured {
    similarities: Vec<Similarity>,
    usage: Usage,
    cost: Option<Usd>,
}

/// One request to an embedding model.
struct Wanted {
    step: Step,
    model: String,
    price: Option<Price>,
    texts: Vec<String>,
    reserved: Spent,
    counted: u64,
    /// A short hash of all texts compared, including those whose vectors are known.
    digest: String,
}

impl Floor {
    /// How much of these speeches repeats earlier ones by meaning, according to this embedding
    /// model; `None` if the comparison failed.
    pub async fn compare(
        &mut self,
        model: &str,
        speeches: &[Compare],
    ) -> Result<Option<Vec<Similarity>>, Halt> {
        let model = model.to_owned();
        let (round, step) = (self.now.round, Step::comparison(self.now.round));
        if let Some(known) = self.record.state.comparisons.iter().find(|it| it.round == round) {
            return Ok(known.found().map(<[Similarity]>::to_vec));
        }
        if speeches.is_empty() {
            return Ok(None);
        }
        if self.record.has_mark(&step.purpose("wound-up")) {
            return Err(Halt::wind_up());
        }
        let digest = digest_of(std::iter::once(model.as_str()).chain(texts_of(speeches)));
        if let Some(known) = self.source.comparison(&step, &digest) {
            let found = known.found().map(<[Similarity]>::to_vec);
            self.record.once(step, Event::Compared(known));
            return Ok(found);
        }
        self.gate(&step).await?;
        let comparison = match self.measure(&step, &model, speeches, digest).await? {
            Ok(Measured { similarities, usage, cost }) => {
                Comparison { round, model, similarities, usage, cost, problem: None }
            }
            Err(problem) => Comparison {
                round,
                model,
                similarities: Vec::new(),
                usage: Usage::default(),
                cost: None,
                problem: Some(problem),
            },
        };
        let found = comparison.found().map(<[Similarity]>::to_vec);
        self.record.append(vec![(Some(step), Event::Compared(comparison))]).await?;
        Ok(found)
    }

    /// Requests the vectors that are not known yet; the inner error says why words must be compared
    /// instead.
    async fn measure(
        &mut self,
        step: &Step,
        model: &str,
        speeches: &[Compare],
        digest: String,
    ) -> Result<Result<Measured, String>, Halt> {
        let spec = self.record.state.spec.clone();
        let Some(embedder) = self.services.voices.embedder(&spec, model) else {
            return Ok(Err(format!("no provider has the embedding model {model}")));
        };
        let all: BTreeSet<&str> = texts_of(speeches).collect();
        self.now.vectors.retain(|text, _| all.contains(&**text));
        let texts: Vec<String> =
            all.into_iter().filter(|it| !self.now.vectors.contains_key(*it)).map(str::to_owned).collect();
        let wanted = Wanted { digest, ..wanted(step, model, texts, &*embedder) };
        if self.reserve(wanted.reserved).await?.is_err() {
            return Ok(Err("the budget has no room for it".to_owned()));
        }
        let Embedded { vectors, usage, cost } = match self.embed(&*embedder, &wanted).await? {
            Ok(embedded) => embedded,
            Err(error) => return Ok(Err(error.message)),
        };
        let usage = usage.unwrap_or(Usage::new(wanted.counted, 0));
        let cost = cost.or_else(|| embedder.price().map(|price| price.of(usage)));
        let used = Spent { calls: 1, tokens: usage.total(), usd: cost.unwrap_or_default() };
        self.ledger.settle(wanted.reserved, used);
        self.now.vectors.extend(wanted.texts.into_iter().map(Arc::from).zip(vectors));
        Ok(Ok(Measured { similarities: similarities(speeches, &self.now.vectors), usage, cost }))
    }

    /// Makes the call, and retries it once if that may help, all within the time of one step.
    async fn embed(
        &mut self,
        embedder: &dyn Embedder,
        wanted: &Wanted,
    ) -> Result<Result<Embedded, ProviderError>, Halt> {
        let past = self.record.past(&wanted.step);
        let (mut attempt, mut failures, mut repeats) = (past.attempts, past.failures, past.cut_off);
        let step_ms = self.record.state.spec.timing.step_ms;
        let deadline = self.deadline().min(Instant::now() + Duration::from_millis(step_ms));
        loop {
            attempt += 1;
            let placed = wanted.placed(attempt, std::mem::take(&mut repeats));
            self.record.append(vec![(Some(wanted.step.clone()), Event::CallPlaced(placed))]).await?;
            let error = match self.answered(embedder, wanted, attempt, deadline).await? {
                Ok(embedded) => return Ok(Ok(embedded)),
                Err(error) => error,
            };
            failures.count(error.class);
            let wait = self.wait_after(&failures, &error, wanted.reserved, deadline).await?;
            self.note_failed_embedding(wanted, attempt, &error, wait).await?;
            let Some(wait) = wait else { return Ok(Err(error)) };
            sleep(Duration::from_millis(wait)).await;
        }
    }

    /// The answer to one call, dropped at the deadline or at an abort.
    async fn answered(
        &mut self,
        embedder: &dyn Embedder,
        wanted: &Wanted,
        attempt: u32,
        deadline: Instant,
    ) -> Result<Result<Embedded, ProviderError>, Halt> {
        let mut embedding = embedder.embed(wanted.texts.clone());
        let mut listener = Listener::of(self);
        loop {
            tokio::select! {
                biased;
                () = listener.spoken_to() => {
                    if let Err(aborted) = self.take_commands().await {
                        let (participant, why) = (wanted.model.clone(), Abandoned::Aborted);
                        let abandoned = Event::CallAbandoned { attempt, participant, why, written: 0 };
                        self.record.append(vec![(Some(wanted.step.clone()), abandoned)]).await?;
                        return Err(aborted);
                    }
                }
                embedded = &mut embedding => return Ok(embedded.and_then(|it| checked(it, wanted.texts.len()))),
                () = sleep_until(deadline) => {
                    return Ok(Err(ProviderError::new(ErrorClass::Timeout, "no embeddings in time")));
                }
            }
        }
    }

    /// How long to wait before another call, with its budget reserved; `None` if there is no other
    /// call.
    async fn wait_after(
        &mut self,
        failures: &Failures,
        error: &ProviderError,
        reserved: Spent,
        deadline: Instant,
    ) -> Result<Option<u64>, Halt> {
        self.ledger.settle(reserved, Spent { calls: 1, ..Spent::default() });
        let wait = failures.wait_ms(error, &RETRIES, self.services.clock.draw());
        let in_time = |wait: &u64| Instant::now() + Duration::from_millis(*wait) < deadline;
        let Some(wait) = wait.filter(in_time) else { return Ok(None) };
        Ok(self.reserve(reserved).await?.is_ok().then_some(wait))
    }

    async fn note_failed_embedding(
        &mut self,
        wanted: &Wanted,
        attempt: u32,
        error: &ProviderError,
        retry_in_ms: Option<u64>,
    ) -> Result<(), Halt> {
        let (participant, class, message) = (wanted.model.clone(), error.class, error.message.clone());
        let failed = Event::CallFailed {
            attempt,
            participant,
            class,
            message,
            limit: error.limit,
            only_thoughts: false,
            retry_in_ms,
            broken: None,
        };
        Ok(self.record.append(vec![(Some(wanted.step.clone()), failed)]).await?)
    }
}

impl Wanted {
    fn placed(&self, attempt: u32, repeats: bool) -> Placed {
        let (provider, model) = self.model.split_once('/').unwrap_or((&self.model, ""));
        Placed {
            attempt,
            participant: self.model.clone(),
            provider: provider.to_owned(),
            model: Some(model.to_owned()),
            form: None,
            price: self.price,
            reserved: self.reserved,
            nonce: String::new(),
            labels: Vec::new(),
            digest: Some(self.digest.clone()),
            repeats,
            unheard: 0,
            shortened: 0,
            counted: self.counted,
            max_tokens: 0,
        }
    }
}

fn wanted(step: &Step, model: &str, texts: Vec<String>, embedder: &dyn Embedder) -> Wanted {
    let bytes: usize = texts.iter().map(String::len).sum();
    let usage = Usage::new(tokens::at_worst(bytes), 0);
    let usd = embedder.price().map(|price| price.of(usage)).unwrap_or_default();
    let counted = texts.iter().map(|text| Family::Other.estimate(text)).sum();
    let reserved = Spent { calls: 1, tokens: usage.total(), usd };
    let digest = String::new();
    let price = embedder.price();
    Wanted { step: step.clone(), model: model.to_owned(), price, texts, reserved, counted, digest }
}

/// Checks an answer: one vector for each text, all of the same length, all of finite numbers.
fn checked(embedded: Embedded, texts: usize) -> Result<Embedded, ProviderError> {
    let length = embedded.vectors.first().map_or(0, Vec::len);
    let usable = |it: &Vec<f32>| it.len() == length && it.iter().all(|number| number.is_finite());
    if embedded.vectors.len() == texts && (texts == 0 || length > 0) && embedded.vectors.iter().all(usable) {
        return Ok(embedded);
    }
    Err(ProviderError::new(
        ErrorClass::InvalidResponse,
        "the response does not have one vector for each text",
    ))
}

fn texts_of(speeches: &[Compare]) -> impl Iterator<Item = &str> {
    let earlier = speeches.iter().flat_map(|it| it.earlier.iter().map(|it| &*it.text));
    speeches.iter().map(|it| &*it.text).chain(earlier)
}

fn similarities(speeches: &[Compare], vectors: &BTreeMap<Arc<str>, Vec<f32>>) -> Vec<Similarity> {
    let vector = |text: &str| vectors.get(text).map_or(&[][..], Vec::as_slice);
    let one = |speech: &Compare| {
        let own = vector(&speech.text);
        let alike = speech.earlier.iter().map(|it| cosine(own, vector(&it.text)) * it.standing);
        let value = (alike.fold(0.0, f64::max) * 1_000.0).round() / 1_000.0;
        Similarity { participant: speech.participant.clone(), value }
    };
    speeches.iter().map(one).collect()
}

/// The cosine similarity; 0 for vectors that point away from each other.
fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let product =
        |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
    let sizes = (product(one, one) * product(other, other)).sqrt();
    if sizes > 0.0 { (product(one, other) / sizes).clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d08_vectors_are_compared_by_their_direction() {
        let check = |one: &[f32], other: &[f32], expected: f64| {
            assert!((cosine(one, other) - expected).abs() < 1e-6, "{one:?} {other:?}");
        };
        check(&[1.0, 0.0], &[2.0, 0.0], 1.0);
        check(&[1.0, 0.0], &[0.0, 3.0], 0.0);
        check(&[1.0, 0.0], &[-1.0, 0.0], 0.0);
        check(&[1.0, 0.0], &[1.0, 1.0], std::f64::consts::FRAC_1_SQRT_2);
        check(&[0.0, 0.0], &[1.0, 1.0], 0.0);
        check(&[], &[], 0.0);
    }

    #[test]
    fn d08_a_response_without_one_vector_per_text_is_refused() {
        let check = |vectors: Vec<Vec<f32>>, texts: usize, usable: bool| {
            let embedded = Embedded { vectors, usage: None, cost: None };
            assert_eq!(checked(embedded.clone(), texts).is_ok(), usable, "{embedded:?}");
        };
        check(vec![vec![1.0], vec![2.0]], 2, true);
        check(Vec::new(), 0, true);
        check(vec![vec![1.0]], 2, false);
        check(vec![vec![1.0], vec![2.0, 3.0]], 2, false);
        check(vec![vec![1.0], vec![f32::NAN]], 2, false);
        check(vec![Vec::new(), Vec::new()], 2, false);
    }
}
