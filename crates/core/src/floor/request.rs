//! One request to a provider: it queues in the lane, then the call is made. Both stages own all
//! they need, so that either can run as a task of its own.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    call::{
        Call,
        lane::{Closed, Lane, Place},
        timer::before,
    },
    floor::{
        answer_text::{AnswerText, Arrived},
        collect::{Emptiness, NoAnswer, Reply, Reported, collect, cut_off},
    },
    model::error::{ErrorClass, ProviderError},
    record::feed::Feed,
    seams::{Provider, Voice},
};

/// A request that waits in the provider's lane.
pub(crate) struct Queued {
    /// The voice that answers; `None` if no provider has that name.
    pub(crate) voice: Option<Voice>,
    /// How long to back off before queueing.
    pub(crate) wait: Duration,
    /// When waiting ends; the first attempt of a step waits without a deadline.
    pub(crate) deadline: Option<Instant>,
    /// The largest total size of the request and its answer.
    pub(crate) tokens: u64,
}

/// A place in the lane, and the provider it leads to.
pub(crate) struct Cleared {
    place: Place,
    provider: Arc<dyn Provider>,
}

/// A call that is recorded as placed and can be made.
pub(crate) struct Request {
    pub(crate) cleared: Cleared,
    pub(crate) call: Arc<Call>,
    pub(crate) deadline: Instant,
    pub(crate) feed: Feed,
    pub(crate) if_empty: Emptiness,
    /// Counts what has arrived of the answer.
    pub(crate) arrived: Arrived,
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failed {
    pub(crate) error: ProviderError,
    /// The part of the answer that had arrived.
    pub(crate) said: String,
    /// What the provider reported of an answer that came to its end.
    pub(crate) reported: Reported,
    /// Whether all tokens went into thinking, and more of them may help.
    pub(crate) only_thoughts: bool,
}

impl Failed {
    /// A failure before anything arrived.
    pub(crate) fn of(error: ProviderError) -> Self {
        Failed { error, said: String::new(), reported: (None, None), only_thoughts: false }
    }
}

impl Queued {
    /// Waits for a place in the provider's lane.
    pub(crate) async fn enter(self) -> Result<Cleared, ProviderError> {
        if !self.wait.is_zero() {
            sleep(self.wait).await;
        }
        let Some(Voice { lane, provider, .. }) = self.voice else { return Err(no_such_voice()) };
        let place = enter_by(&lane, self.tokens, self.deadline).await?;
        Ok(Cleared { place, provider })
    }
}

async fn enter_by(lane: &Lane, tokens: u64, deadline: Option<Instant>) -> Result<Place, ProviderError> {
    let entering = lane.enter(tokens);
    let Some(deadline) = deadline else { return entering.await.map_err(closed) };
    let too_late =
        |_| ProviderError::new(ErrorClass::Timeout, "the wait in the provider's lane took too long");
    timeout_at(deadline, entering).await.map_err(too_late)?.map_err(closed)
}

impl Request {
    /// Makes the call, and drops it at the deadline.
    pub(crate) async fn answer(self) -> Result<Reply, Failed> {
        let Request { cleared: Cleared { place, provider }, call, deadline, feed, if_empty, arrived } = self;
        let step_ms = call.spec.timing.step_ms;
        let mut text = AnswerText::new(call.max_tokens, arrived);
        let answered = before(deadline, collect(provider, call.clone(), feed, &mut text, if_empty)).await;
        drop(place);
        let too_late = || match text.is_cut() {
            true => cut_off(&text, &call, (None, None)),
            false => {
                let message = format!("no answer within {step_ms} ms");
                Err(ProviderError::new(ErrorClass::Timeout, message).into())
            }
        };
        answered.unwrap_or_else(too_late).map_err(|no_answer| {
            let NoAnswer { error, reported, only_thoughts } = no_answer;
            Failed { error, said: call.received(text.kept()), reported: *reported, only_thoughts }
        })
    }
}

fn no_such_voice() -> ProviderError {
    ProviderError::new(ErrorClass::Validation, "there is no provider of that name")
}

fn closed(Closed(wait): Closed) -> ProviderError {
    let message = format!("rate-limited by the provider for {} s", wait.as_secs());
    let retry_after_ms = Some(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    ProviderError { retry_after_ms, ..ProviderError::new(ErrorClass::RateLimit, message) }
}
