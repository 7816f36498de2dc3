//! Collects an answer from its stream.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, future::poll_fn, stream::BoxStream};
use tokio::time::timeout;

use crate::{
    call::Call,
    floor::{answer_text::AnswerText, ask::IfEmpty, pieces::Pieces, stop::until_stop},
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    record::feed::Feed,
    seams::{Chunk, Provider},
};

/// How long reading continues after an answer was cut, to learn its cost from the end of the
/// stream.
const READ_ON: Duration = Duration::from_secs(5);

/// A collected answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<Usd>,
    /// The model that answered, where the provider named it.
    pub(crate) answered_by: Option<String>,
    /// The topic of the sub-discussion that it asks for.
    pub(crate) convene: Option<String>,
    /// Tokens by our own count that were written and paid for, but are not in `text`.
    pub(crate) tokens_dropped: u64,
}

/// Why a call has no answer.
#[derive(Debug, PartialEq)]
pub(crate) struct NoAnswer {
    pub(crate) error: ProviderError,
    /// The provider's report, if the answer came to its end.
    pub(crate) reported: Box<Reported>,
    /// Whether all tokens went into thinking, and more of them may help.
    pub(crate) only_thoughts: bool,
}

impl From<ProviderError> for NoAnswer {
    fn from(error: ProviderError) -> Self {
        NoAnswer { error, reported: Box::default(), only_thoughts: false }
    }
}

/// The meaning of an empty answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Emptiness {
    /// What it is, unless all tokens went into thinking and more of them may help.
    pub(crate) otherwise: IfEmpty,
    /// The room for thinking that the call had.
    pub(crate) thinking: u32,
    /// Whether another attempt would have more room for thinking.
    pub(crate) may_think_more: bool,
}

/// Makes the call and collects its answer in `text`, passing each piece on to subscribers. Dropping
/// this future drops the call; what came until then, or until it failed, stays in `text`.
pub(crate) async fn collect(
    provider: Arc<dyn Provider>,
    call: Arc<Call>,
    feed: Feed,
    text: &mut AnswerText,
    if_empty: Emptiness,
) -> Result<Reply, NoAnswer> {
    let mut stream = provider.reply(call.clone());
    let mut pieces = Pieces::of(&call, feed);
    let (mut convene, mut answered_by) = (None, None);
    while let Some(chunk) = arrived(&mut stream, || pieces.send(text.kept())).await {
        match chunk {
            Ok(Chunk::Text(piece)) => {
                text.push(&piece);
                if text.is_cut() {
                    pieces.end(text.kept());
                    let bill = timeout(READ_ON, bill_at_end(stream, text)).await;
                    let reply = cut_off(text, &call, bill.ok().flatten().unwrap_or_default())?;
                    return Ok(Reply { answered_by, ..reply });
                }
            }
            Ok(Chunk::AnsweredBy(model)) => answered_by = Some(model),
            Ok(Chunk::Convene { topic }) => convene = Some(call.received(&topic)),
            Ok(Chunk::End { finish, usage, cost }) => {
                pieces.end(text.kept());
                let text = call.received(until_stop(text.kept(), &call.stop));
                let reply = Reply { text, finish, usage, cost, answered_by, convene, tokens_dropped: 0 };
                return finished(reply, if_empty);
            }
            Err(error) => {
                pieces.send(text.kept());
                return Err(error.into());
            }
        }
    }
    pieces.send(text.kept());
    let message = "the answer ended early";
    Err(ProviderError::new(ErrorClass::Network, message).into())
}

/// Waits for the next chunk. Calls `show` only when no chunk is ready, so chunks that arrived
/// together are shown to subscribers as one piece.
async fn arrived(
    stream: &mut BoxStream<'static, Result<Chunk, ProviderError>>,
    mut show: impl FnMut(),
) -> Option<Result<Chunk, ProviderError>> {
    poll_fn(|context| {
        let next = stream.poll_next_unpin(context);
        if next.is_pending() {
            show();
        }
        next
    })
    .await
}

/// The usage and cost that a provider reports at the end of an answer.
pub(crate) type Reported = (Option<Usage>, Option<Usd>);

/// Reads the rest of an answer that was cut, to learn its cost. `None` if the stream fails, stops
/// without an end, or is too long.
async fn bill_at_end(
    mut stream: BoxStream<'static, Result<Chunk, ProviderError>>,
    text: &mut AnswerText,
) -> Option<Reported> {
    while !text.is_endless() {
        match stream.next().await?.ok()? {
            Chunk::Text(piece) => {
                text.push(&piece);
            }
            Chunk::AnsweredBy(_) | Chunk::Convene { .. } => {}
            Chunk::End { usage, cost, .. } => return Some((usage, cost)),
        }
    }
    None
}

/// The reply for an answer that was cut at its limit. It is a turn, whatever happens to the rest.
pub(crate) fn cut_off(text: &AnswerText, call: &Call, (usage, cost): Reported) -> Result<Reply, NoAnswer> {
    let (kept, tokens_dropped) = (until_stop(text.kept(), &call.stop), text.tokens_dropped());
    let is_whole = kept.len() < text.kept().len();
    let finish = if is_whole { Finish::Stop } else { Finish::Truncated };
    let text = call.received(kept);
    let reply = Reply { text, finish, usage, cost, answered_by: None, convene: None, tokens_dropped };
    finished(reply, Emptiness { otherwise: IfEmpty::Fail, thinking: 0, may_think_more: false })
}

/// The reply, unless it is empty.
fn finished(reply: Reply, if_empty: Emptiness) -> Result<Reply, NoAnswer> {
    if !reply.text.trim().is_empty() || reply.convene.is_some() {
        return Ok(reply);
    }
    let is_all_thought = reply.finish == Finish::Length;
    let only_thoughts = is_all_thought && if_empty.may_think_more;
    let error = match reply.finish {
        Finish::Refused => ProviderError::new(ErrorClass::Validation, "it declined to answer"),
        _ if if_empty.otherwise == IfEmpty::Unreadable && !only_thoughts => return Ok(reply),
        _ if is_all_thought => all_thought(if_empty.thinking),
        _ => ProviderError::new(ErrorClass::InvalidResponse, "the answer was empty"),
    };
    Err(NoAnswer { error, reported: Box::new((reply.usage, reply.cost)), only_thoughts })
}

/// A model that thinks first may spend its whole limit on thinking.
fn all_thought(thinking: u32) -> ProviderError {
    let more = thinking.max(LEAST_ADVISED).saturating_mul(2);
    let message = format!(
        "it reached its token limit before its answer began; allow it more thinking tokens, like \
         quirks = {{ thinking = {more} }} in its section of the configuration"
    );
    ProviderError::new(ErrorClass::InvalidResponse, message)
}

/// The advice doubles the room for thinking, but is never below twice this.
const LEAST_ADVISED: u32 = 4_096;
