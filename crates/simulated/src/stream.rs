//! Streams an answer word by word over its duration, with the usage at the end.

use std::time::Duration;

use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use quorum_core::{
    call::{Call, Message, tokens},
    model::{error::ProviderError, money::Usage, transcript::Finish},
    seams::Chunk,
};

/// The share of the duration before the first word.
const THINKING: f64 = 0.3;

/// The minimum number of words per piece, and the maximum number of pieces.
const WORDS: usize = 3;
const MOST_PIECES: usize = 40;

/// An answer to stream.
pub(super) struct Answer {
    pub(super) text: String,
    /// The topic of the sub-discussion it asks for.
    pub(super) convene: Option<String>,
}

/// The answer as a stream of this duration.
pub(super) fn answering(
    call: &Call,
    answer: Answer,
    duration: Duration,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let (text, mut finish) = truncated(answer.text, call.max_tokens);
    let usage = Usage::new(prompt_tokens(call), tokens::estimate(&text));
    let pieces = pieces(&text);
    let thinking = duration.mul_f64(THINKING);
    let between =
        (duration - thinking) / u32::try_from(pieces.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    let timed = pieces.into_iter().enumerate();
    let said = timed.map(move |(at, piece)| (if at == 0 { thinking } else { between }, Chunk::Text(piece)));
    let convene = answer.convene.map(|topic| {
        finish = Finish::Convene;
        Chunk::Convene { topic }
    });
    let end = Chunk::End { finish, usage: Some(usage), cost: None };
    let after = convene.into_iter().chain([end]).map(|chunk| (Duration::ZERO, chunk));
    stream::iter(said.chain(after).collect::<Vec<_>>()).then(deliver).boxed()
}

/// The error as a stream, after the usual time before the first word.
pub(super) fn failing(
    error: ProviderError,
    duration: Duration,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let failed = async move {
        pause(duration.mul_f64(THINKING)).await;
        Err(error)
    };
    stream::once(failed).boxed()
}

async fn deliver((wait, chunk): (Duration, Chunk)) -> Result<Chunk, ProviderError> {
    pause(wait).await;
    Ok(chunk)
}

async fn pause(wait: Duration) {
    // Even a sleep of zero yields to other tasks, which would slow down a thousand quick
    // discussions.
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

/// The text, truncated at its token limit.
fn truncated(mut text: String, max_tokens: u32) -> (String, Finish) {
    let most = usize::try_from(max_tokens).unwrap_or(usize::MAX).saturating_mul(4);
    if text.len() <= most {
        return (text, Finish::Stop);
    }
    text.truncate(text.floor_char_boundary(most));
    (text, Finish::Length)
}

/// The text in pieces of a few words, each with the space after it.
fn pieces(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    let each = words.len().div_ceil(MOST_PIECES).max(WORDS);
    words.chunks(each).map(<[&str]>::concat).collect()
}

fn prompt_tokens(call: &Call) -> u64 {
    let size = |message: &Message| match message {
        Message::Said { turn, .. } => tokens::estimate(&turn.text),
        Message::Found { topic, text } => tokens::estimate(topic) + tokens::estimate(text),
        Message::Ask(text) => tokens::estimate(text),
    };
    tokens::estimate(&call.system) + call.messages.iter().map(size).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_text() {
        let text = "One two three four.\n\nFive  six – seven.";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(text).len(), 4);
        assert!(pieces(&"word ".repeat(1_000)).len() <= MOST_PIECES);
    }

    #[test]
    fn an_answer_is_truncated_at_its_token_limit() {
        assert_eq!(truncated("äöü".to_owned(), 1), ("äö".to_owned(), Finish::Length));
        assert_eq!(truncated("four".to_owned(), 1), ("four".to_owned(), Finish::Stop));
    }
}
