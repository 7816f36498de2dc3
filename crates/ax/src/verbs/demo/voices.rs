//! Voices that speak the hand-written debate at the pace of a model. Whatever was not written, the
//! ordinary simulated voices say.

use std::{sync::Arc, time::Duration};

use futures::{
    StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use quorum::{
    call::{
        Call,
        lane::{Lane, Width},
        tokens,
    },
    model::{error::ProviderError, money::Usage, participant::Participant, spec::Spec, transcript::Finish},
    seams::{Chunk, Provider, Voice, Voices},
    voices::{SimulatedVoices, simulated},
};

use super::script::Script;

/// The pauses of a reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Before the first word.
    pub(super) thinking: Duration,
    /// After each piece.
    pub(super) between: Duration,
}

impl Pace {
    /// About as fast as models stream.
    pub(super) const NATURAL: Pace =
        Pace { thinking: Duration::from_millis(700), between: Duration::from_millis(110) };
    /// As fast as possible.
    pub(super) const INSTANT: Pace = Pace { thinking: Duration::ZERO, between: Duration::ZERO };
}

/// The number of words in a piece.
const WORDS: usize = 3;

/// The voices of the demo.
#[derive(Debug)]
pub(super) struct WrittenVoices {
    script: Arc<Script>,
    pace: Pace,
    others: SimulatedVoices,
}

impl WrittenVoices {
    pub(super) fn new(script: Script, pace: Pace) -> Self {
        WrittenVoices { script: Arc::new(script), pace, others: simulated() }
    }
}

impl Voices for WrittenVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let other = self.others.voice(spec, who)?;
        let (script, pace) = (self.script.clone(), self.pace);
        let provider = Arc::new(Speaker { script, pace, other: other.provider });
        let lane = Arc::new(Lane::new(Width::at_once(8)));
        Some(Voice { provider, lane, thinking: 0, is_small: false, follows_schemas: false, ..other })
    }
}

/// A voice that reads its lines from the script.
struct Speaker {
    script: Arc<Script>,
    pace: Pace,
    /// Says what the script doesn't have.
    other: Arc<dyn Provider>,
}

impl Provider for Speaker {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        match self.script.reply(&call) {
            Some(text) => spoken(&call, &text, self.pace),
            None => self.other.reply(call),
        }
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        self.other.check(who)
    }
}

fn spoken(call: &Call, text: &str, pace: Pace) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    let read = tokens::estimate(&call.system) + 250 * u64::try_from(call.messages.len()).unwrap_or_default();
    let usage = Usage::new(read, tokens::estimate(text));
    let end = Chunk::End { finish: Finish::Stop, usage: Some(usage), cost: None };
    let pieces = pieces(text).into_iter().map(Chunk::Text).chain([end]);
    let timed = pieces.enumerate().map(move |(at, chunk)| match at {
        0 => (pace.thinking, chunk),
        _ => (pace.between, chunk),
    });
    stream::iter(timed.collect::<Vec<_>>()).then(deliver).boxed()
}

async fn deliver((wait, chunk): (Duration, Chunk)) -> Result<Chunk, ProviderError> {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    Ok(chunk)
}

/// The text in pieces of a few words. A structured reply is one piece: it is not shown while it is
/// written.
fn pieces(text: &str) -> Vec<String> {
    if text.starts_with('{') {
        return vec![text.to_owned()];
    }
    let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
    words.chunks(WORDS).map(<[&str]>::concat).collect()
}
