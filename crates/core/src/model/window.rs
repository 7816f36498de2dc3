//! Recorded facts about context windows: limits named by refusals, and questions for which the talk
//! had to be shortened.

use serde::{Deserialize, Serialize};

use crate::model::event::Placed;

/// The limit that a provider named when it refused a request as too long, in tokens by its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLong {
    /// The most it takes.
    pub limit: u64,
    /// The size that it was sent, if the refusal named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

/// The maximum size of a request after one that was too long, in tokens by our count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The prompt and the answer together.
    pub total: u64,
    /// The prompt.
    pub prompt: u64,
    /// The size of the refused prompt, if the provider named no limit.
    pub refused: Option<u64>,
}

/// Counts differ a little from one request to the next.
const MARGIN: f64 = 0.97;
/// The next request's share of the last one, where nothing better is known.
const SMALLER: f64 = 0.75;

impl Bound {
    /// The bound for the next request after this one was refused.
    #[must_use]
    pub fn after(placed: &Placed, named: Option<TooLong>) -> Bound {
        let (prompt, total) = (placed.counted, placed.counted + u64::from(placed.max_tokens));
        let Some(named) = named else {
            return Bound { total: share(total, SMALLER), prompt, refused: Some(prompt) };
        };
        let limit = named.limit as f64;
        match named.sent.filter(|sent| named.limit < *sent) {
            // Some vendors count the prompt alone, others add the answer's limit.
            Some(sent) if sent.abs_diff(prompt) < sent.abs_diff(total) => {
                let prompt = share(prompt, MARGIN * limit / sent as f64);
                Bound { total: total.min(named.limit), prompt, refused: None }
            }
            Some(sent) => {
                let total = share(total, MARGIN * limit / sent as f64);
                Bound { total, prompt: total, refused: None }
            }
            None => {
                // By our count it may have fitted, so our count is too low.
                let most =
                    if named.limit < total { share(named.limit, MARGIN) } else { share(total, SMALLER) };
                Bound { total: most, prompt: most.min(prompt), refused: None }
            }
        }
    }
}

fn share(tokens: u64, part: f64) -> u64 {
    (tokens as f64 * part) as u64
}

/// The questions for which one participant was not shown all of the talk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CutView {
    /// The participant whose window was too small.
    pub participant: String,
    /// The rounds in which it was asked with a shortened talk.
    pub rounds: Vec<u32>,
    /// The phases in which it was.
    pub phases: Vec<String>,
    /// The most turns that were shortened for one question.
    pub shortened: u32,
    /// The most turns that were left out for one question.
    pub left_out: u32,
}

impl CutView {
    /// Adds a question in this round and phase.
    pub(crate) fn add(&mut self, round: u32, phase: &str, placed: &Placed) {
        if self.rounds.last() != Some(&round) {
            self.rounds.push(round);
        }
        if !self.phases.iter().any(|it| it == phase) {
            self.phases.push(phase.to_owned());
        }
        self.shortened = self.shortened.max(placed.shortened);
        self.left_out = self.left_out.max(placed.unheard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::money::Spent;

    fn placed(counted: u64, max_tokens: u32) -> Placed {
        Placed {
            attempt: 1,
            participant: "ann".to_owned(),
            provider: "ann".to_owned(),
            model: None,
            form: None,
            price: None,
            reserved: Spent::default(),
            nonce: String::new(),
            digest: None,
            repeats: false,
            labels: Vec::new(),
            unheard: 0,
            shortened: 0,
            counted,
            max_tokens,
        }
    }

    #[test]
    fn the_next_request_is_smaller_by_the_limit_that_was_named() {
        let check = |named: Option<(u64, Option<u64>)>, expected: (u64, u64)| {
            let named = named.map(|(limit, sent)| TooLong { limit, sent });
            let bound = Bound::after(&placed(3_000, 2_000), named);
            assert_eq!((bound.total, bound.prompt), expected, "{named:?}");
        };
        // "maximum context length is 4096 tokens, you requested 5000": prompt and answer.
        check(Some((4_096, Some(5_000))), (3_973, 3_973));
        // It counts a tenth more than we do.
        check(Some((4_096, Some(5_500))), (3_611, 3_611));
        // "prompt is too long: 3100 tokens > 2000": the prompt alone.
        check(Some((2_000, Some(3_100))), (2_000, 1_877));
        check(Some((4_096, None)), (3_973, 3_000));
        check(Some((8_192, None)), (3_750, 3_000));
        check(None, (3_750, 3_000));
    }
}
