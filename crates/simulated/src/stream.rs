//! How an answer arrives: word by word, over the time it is to take, with what it used at the end.

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

/// The share of the time before the first word.
const THINKING: f64 = 0.3;

/// A piece has so many words at least, and an answer so many pieces at most.
const WORDS: usize = 3;
const MOST_PIECES: usize = 40;

/// What is to be said.
pub(super) struct Answer {
    pub(super) text: String,
    /// The topic of the sub-discussion it asks for.
    pub(super) convene: Option<String>,
}

/// The answer as a stream that takes this long.
pub(super) fn answering(
    call: &Call,
    answer: Answer,
    takes: Duration,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let (text, mut finish) = cut(answer.text, call.max_tokens);
    let usage = Usage::new(prompt_tokens(call), tokens::estimate(&text));
    let pieces = pieces(&text);
    let thinking = takes.mul_f64(THINKING);
    let between =
        (takes - thinking) / u32::try_from(pieces.len().saturating_sub(1)).unwrap_or(u32::MAX).max(1);
    let timed = pieces.into_iter().enumerate();
    let said = timed.map(move |(at, piece)| (if at == 0 { thinking } else { between }, Chunk::Text(piece)));
    let convene = answer.convene.map(|topic| {
        finish = Finish::Convene;
        Chunk::Convene { topic }
    });
    let end = Chunk::End { finish, usage: Some(usage), cost: None };
    let after = convene.into_iter().chain([end]).map(|chunk| (Duration::ZERO, chunk));
    stream::iter(said.chain(after).collect::<Vec<_>>()).then(arrive).boxed()
}

/// The failure as a stream: it takes the time of thinking, and that was all.
pub(super) fn failing(
    error: ProviderError,
    takes: Duration,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let failed = async move {
        rest(takes.mul_f64(THINKING)).await;
        Err(error)
    };
    stream::once(failed).boxed()
}

async fn arrive((wait, chunk): (Duration, Chunk)) -> Result<Chunk, ProviderError> {
    rest(wait).await;
    Ok(chunk)
}

async fn rest(wait: Duration) {
    // Even a sleep of nothing gives way to other tasks, which a thousand quick discussions would feel.
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}

/// The text, ended where its tokens are used up.
fn cut(mut text: String, max_tokens: u32) -> (String, Finish) {
    let most = usize::try_from(max_tokens).unwrap_or(usize::MAX).saturating_mul(4);
    if text.len() <= most {
        return (text, Finish::Stop);
    }
    text.truncate(text.floor_char_boundary(most));
    (text, Finish::Length)
}

/// A few words each, with the spaces after them: together they are the text.
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
    fn pieces_together_are_the_text() {
        let text = "One two three four.\n\nFive  six – seven.";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(text).len(), 4);
        assert!(pieces(&"word ".repeat(1_000)).len() <= MOST_PIECES);
    }

    #[test]
    fn an_answer_ends_with_its_tokens() {
        assert_eq!(cut("äöü".to_owned(), 1), ("äö".to_owned(), Finish::Length));
        assert_eq!(cut("four".to_owned(), 1), ("four".to_owned(), Finish::Stop));
    }
}
