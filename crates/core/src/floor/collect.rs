//! How an answer is collected from its stream.

use std::sync::Arc;

use futures::StreamExt;

use crate::{
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    record::feed::{Feed, Piece},
    seams::{Chunk, Provider},
};

/// What a longer answer is cut off at; no honest answer comes near it.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// A collected answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<Usd>,
    /// The topic of a sub-discussion it asks for.
    pub(crate) convene: Option<String>,
}

/// Makes the call and collects its answer in `text`, passing each piece on to subscribers. Dropping
/// this drops the call; what came until then, or until it failed, stays in `text`.
pub(crate) async fn collect(
    provider: Arc<dyn Provider>,
    call: Arc<Call>,
    feed: Feed,
    text: &mut String,
) -> Result<Reply, ProviderError> {
    let mut stream = provider.reply(call.clone());
    let mut convene = None;
    while let Some(chunk) = stream.next().await {
        match chunk? {
            Chunk::Text(piece) => {
                let offset = text.len();
                text.push_str(&piece);
                feed.piece(|| Piece::of(&call, offset, piece));
                if text.len() > MAX_ANSWER_BYTES {
                    return Ok(cut_off(std::mem::take(text)));
                }
            }
            Chunk::Convene { topic } => convene = Some(topic),
            Chunk::End { finish, usage, cost } => {
                let text = until_stop(std::mem::take(text), &call.stop);
                return finished(Reply { text, finish, usage, cost, convene });
            }
        }
    }
    let message = "the answer broke off before its end";
    Err(ProviderError::new(ErrorClass::Network, message))
}

/// The text up to the first stop sequence that doesn't begin it: a provider may not know stop
/// sequences, or may send them along.
fn until_stop(mut text: String, stop: &[String]) -> String {
    let begins = text.len() - text.trim_start().len();
    let Some(first) = text[begins..].chars().next() else { return text };
    let from = begins + first.len_utf8();
    let sequences = stop.iter().filter(|it| !it.is_empty());
    if let Some(at) = sequences.filter_map(|it| text[from..].find(it.as_str())).min() {
        text.truncate(from + at);
    }
    text
}

fn finished(reply: Reply) -> Result<Reply, ProviderError> {
    if reply.text.trim().is_empty() && reply.convene.is_none() {
        if reply.finish == Finish::Refused {
            return Err(ProviderError::new(ErrorClass::Validation, "it declined to answer"));
        }
        let message = if reply.finish == Finish::Length { ALL_THOUGHT } else { "the answer was empty" };
        return Err(ProviderError::new(ErrorClass::InvalidResponse, message));
    }
    Ok(reply)
}

/// Models that think first may think their whole answer away.
const ALL_THOUGHT: &str = "it reached its limit of tokens before it said a word; allow it more thoughts, like \
                           quirks = { thinking = 8192 } in its part of the configuration";

fn cut_off(mut text: String) -> Reply {
    let mut end = MAX_ANSWER_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    Reply { text, finish: Finish::Length, usage: None, cost: None, convene: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c03_a_speech_ends_at_the_first_stop_sequence() {
        let stop = ["[", "\n\n", "Speaker:"].map(str::to_owned);
        let check = |text: &str, expected: &str| assert_eq!(until_stop(text.to_owned(), &stop), expected);
        check("One thing.\n\nAnother.", "One thing.");
        check("One. Speaker: two [3]", "One. ");
        check("\n\nOne.", "\n\nOne.");
        check("[aside] One.", "[aside] One.");
        check("", "");
        check(" \n\n ", " \n\n ");
    }

    #[test]
    fn c03_a_speech_that_begins_with_a_stop_sequence_went_on_past_all_others() {
        let stop = ["[", "\n\n", "Speaker:"].map(str::to_owned);
        let check = |text: &str, expected: &str| assert_eq!(until_stop(text.to_owned(), &stop), expected);
        check("[aside] One.\n\nAnother.", "[aside] One.");
        check("[aside] One. [3] Two.", "[aside] One. ");
        check("Ä\n\n[", "Ä");
        check("One.", "One.");
    }
}
