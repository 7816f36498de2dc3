//! A scripted panel that records its calls and can fail in every way.

mod scripted;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use quorum_core::{
    call::{
        Call,
        lane::{Lane, Width},
    },
    model::{
        error::ErrorClass,
        id::Step,
        money::{Price, Usage},
        participant::Participant,
        spec::Spec,
    },
    seams::{Embedder, Voice, Voices},
};

use crate::embedder::ScriptedEmbedder;

use scripted::Scripted;
pub use scripted::tokens_of;

/// A panel whose members all answer.
#[must_use]
pub fn panel() -> Panel {
    Panel::default()
}

/// The script of a panel. Later lines override earlier ones.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    lines: Vec<(String, Line)>,
    price: Option<Price>,
    windows: BTreeMap<String, u64>,
    asked: Arc<Mutex<Vec<AskedCall>>>,
    lanes: Arc<Mutex<BTreeMap<String, Arc<Lane>>>>,
    embedder: Option<ScriptedEmbedder>,
}

/// A call as the provider saw it.
#[derive(Debug, Clone)]
pub struct AskedCall {
    /// The step.
    pub step: Step,
    /// The attempt.
    pub attempt: u32,
    /// The whole call.
    pub call: Arc<Call>,
}

impl AskedCall {
    /// A text of this call with plain names in place of labels.
    #[must_use]
    pub fn named(&self, text: &str) -> String {
        self.call.labels.reveal(text).replace('@', "")
    }

    /// The name of the speaker that is shown under this label.
    #[must_use]
    pub fn name(&self, label: &str) -> String {
        self.call.labels.name(label).unwrap_or(label).to_owned()
    }

    /// Everything that is sent to the model: the system text, the messages and the schema.
    #[must_use]
    pub fn sent(&self) -> String {
        let schema = self.call.shape.as_ref().and_then(|it| it.schema.as_deref());
        let messages = self.call.render().into_iter().map(|it| it.1);
        let all = [self.call.system.to_string()].into_iter().chain(messages);
        all.chain(schema.map(ToString::to_string)).collect::<Vec<_>>().join("\n")
    }
}

#[derive(Debug, Clone)]
enum Line {
    Says { round: Option<u32>, text: String },
    Votes { choice: String, confidence: f64 },
    Writes { shape: &'static str, round: Option<u32>, text: String },
    WritesAt { step: String, text: String },
    Takes(u64),
    Fails { class: ErrorClass, times: u32, retry_after_ms: Option<u64> },
    FailsAt { step: String, class: ErrorClass },
    Hangs,
    Breaks,
    NeverEnds,
    Panics,
    Away,
    Convenes(String),
    Uses(Usage),
    Counts(f64),
    SumsUp,
    FailsToSumUp,
    WaitsToSumUp(u64),
    TakesIn(u64),
    NamesLimit(u64),
    NeedsRoom { shape: &'static str, tokens: u32 },
    CutOffAt { step: String, text: String },
    InPieces(usize),
    Parrots(&'static str),
    RepeatsSystemText(&'static str),
    LeaksNonce,
    AnswersAs(String),
    IgnoresSchemas,
    Thinks { usual: u32, needed: u32 },
}

impl Panel {
    /// Sets a member's text for every round; `<ann>` in it is replaced by the label under which ann
    /// is shown.
    #[must_use]
    pub fn says(self, who: &str, text: &str) -> Self {
        self.line(who, Line::Says { round: None, text: text.to_owned() })
    }

    /// Sets a member's text for one round.
    #[must_use]
    pub fn says_in(self, who: &str, round: u32, text: &str) -> Self {
        self.line(who, Line::Says { round: Some(round), text: text.to_owned() })
    }

    /// Sets a member's vote.
    #[must_use]
    pub fn votes(self, who: &str, choice: &str, confidence: f64) -> Self {
        self.line(who, Line::Votes { choice: choice.to_owned(), confidence })
    }

    /// Sets the exact reply for a form; `<ann>` in it is replaced by the label under which ann is
    /// shown, `<first>` and `<second>` by the labels that come first in the order of display, and
    /// `<mark>` by the mark between prose and structure.
    #[must_use]
    pub fn writes(self, who: &str, shape: &'static str, text: &str) -> Self {
        self.line(who, Line::Writes { shape, round: None, text: text.to_owned() })
    }

    /// The same for one round.
    #[must_use]
    pub fn writes_in(self, who: &str, round: u32, shape: &'static str, text: &str) -> Self {
        self.line(who, Line::Writes { shape, round: Some(round), text: text.to_owned() })
    }

    /// Sets the exact reply at one step, such as `1/judging/cyd`, with the same replacements.
    #[must_use]
    pub fn writes_at(self, who: &str, step: &str, text: &str) -> Self {
        self.line(who, Line::WritesAt { step: step.to_owned(), text: text.to_owned() })
    }

    /// Sets the latency of a member's answers.
    #[must_use]
    pub fn takes(self, who: &str, ms: u64) -> Self {
        self.line(who, Line::Takes(ms))
    }

    /// Fails every call with this class.
    #[must_use]
    pub fn fails(self, who: &str, class: ErrorClass) -> Self {
        self.line(who, Line::Fails { class, times: u32::MAX, retry_after_ms: None })
    }

    /// Fails this many times at each step, then answers.
    #[must_use]
    pub fn fails_first(self, who: &str, class: ErrorClass, times: u32) -> Self {
        self.line(who, Line::Fails { class, times, retry_after_ms: None })
    }

    /// Fails like this at one step, such as `2/refining/bob`, and answers at all others.
    #[must_use]
    pub fn fails_at(self, who: &str, step: &str, class: ErrorClass) -> Self {
        self.line(who, Line::FailsAt { step: step.to_owned(), class })
    }

    /// Is rate-limited for this long at the first attempt of each step, then answers.
    #[must_use]
    pub fn asks_to_wait(self, who: &str, retry_after_ms: u64) -> Self {
        let retry_after_ms = Some(retry_after_ms);
        self.line(who, Line::Fails { class: ErrorClass::RateLimit, times: 1, retry_after_ms })
    }

    /// Is rate-limited for this long at every attempt.
    #[must_use]
    pub fn always_asks_to_wait(self, who: &str, retry_after_ms: u64) -> Self {
        let retry_after_ms = Some(retry_after_ms);
        self.line(who, Line::Fails { class: ErrorClass::RateLimit, times: u32::MAX, retry_after_ms })
    }

    /// Repeats the nonce of its fences in every speech, in several spellings.
    #[must_use]
    pub fn leaks_its_nonce(self, who: &str) -> Self {
        self.line(who, Line::LeaksNonce)
    }

    /// Accepts the call and never answers.
    #[must_use]
    pub fn hangs(self, who: &str) -> Self {
        self.line(who, Line::Hangs)
    }

    /// Stops in the middle of the answer.
    #[must_use]
    pub fn breaks_off(self, who: &str) -> Self {
        self.line(who, Line::Breaks)
    }

    /// Sends its text, then neither ends nor sends anything more.
    #[must_use]
    pub fn never_ends(self, who: &str) -> Self {
        self.line(who, Line::NeverEnds)
    }

    /// Panics instead of answering, like a bug in a wire.
    #[must_use]
    pub fn panics(self, who: &str) -> Self {
        self.line(who, Line::Panics)
    }

    /// Fails the availability check: of a member, or of a provider that members speak through.
    #[must_use]
    pub fn away(self, who: &str) -> Self {
        self.line(who, Line::Away)
    }

    /// Requests a sub-discussion before it answers, once per step; `{topic}` in it is replaced by
    /// the topic of the discussion.
    #[must_use]
    pub fn convenes(self, who: &str, topic: &str) -> Self {
        self.line(who, Line::Convenes(topic.to_owned()))
    }

    /// Sets the usage of each answer.
    #[must_use]
    pub fn uses(self, who: &str, prompt: u64, completion: u64) -> Self {
        self.line(who, Line::Uses(Usage::new(prompt, completion)))
    }

    /// Reports this multiple of our own token count.
    #[must_use]
    pub fn counts(self, who: &str, times_ours: f64) -> Self {
        self.line(who, Line::Counts(times_ours))
    }

    /// Writes summaries of the maximum length.
    #[must_use]
    pub fn sums_up(self, who: &str) -> Self {
        self.line(who, Line::SumsUp)
    }

    /// Answers, but fails every summary.
    #[must_use]
    pub fn fails_to_sum_up(self, who: &str) -> Self {
        self.line(who, Line::FailsToSumUp)
    }

    /// Is rate-limited for this long at the first attempt of each summary, then summarizes.
    #[must_use]
    pub fn asks_to_wait_before_summing_up(self, who: &str, retry_after_ms: u64) -> Self {
        self.line(who, Line::WaitsToSumUp(retry_after_ms))
    }

    /// Reports an overflow for calls with more tokens than this, whatever its declared window.
    #[must_use]
    pub fn takes_in(self, who: &str, tokens: u64) -> Self {
        self.line(who, Line::TakesIn(tokens))
    }

    /// Reports an overflow, with its limit, for calls whose tokens and answer together exceed this.
    #[must_use]
    pub fn names_limit(self, who: &str, tokens: u64) -> Self {
        self.line(who, Line::NamesLimit(tokens))
    }

    /// Cuts off every reply to this form in the middle, as at a token limit, unless the call allows
    /// this many tokens.
    #[must_use]
    pub fn needs_room(self, who: &str, shape: &'static str, tokens: u32) -> Self {
        self.line(who, Line::NeedsRoom { shape, tokens })
    }

    /// Is cut off after this text at one step, such as `2/deciding/bob`, as if it had reached its
    /// token limit.
    #[must_use]
    pub fn cut_off_at(self, who: &str, step: &str, text: &str) -> Self {
        self.line(who, Line::CutOffAt { step: step.to_owned(), text: text.to_owned() })
    }

    /// Streams its answers in pieces of this many characters.
    #[must_use]
    pub fn in_pieces(self, who: &str, size: usize) -> Self {
        self.line(who, Line::InPieces(size))
    }

    /// Replies to this form with the others' words as it was shown them, without their fences.
    #[must_use]
    pub fn parrots(self, who: &str, shape: &'static str) -> Self {
        self.line(who, Line::Parrots(shape))
    }

    /// Replies to this form with the system text, word for word.
    #[must_use]
    pub fn repeats_system_text(self, who: &str, shape: &'static str) -> Self {
        self.line(who, Line::RepeatsSystemText(shape))
    }

    /// Names this model as the one that answers.
    #[must_use]
    pub fn answers_as(self, who: &str, model: &str) -> Self {
        self.line(who, Line::AnswersAs(model.to_owned()))
    }

    /// The member's provider doesn't enforce schemas.
    #[must_use]
    pub fn ignores_schemas(self, who: &str) -> Self {
        self.line(who, Line::IgnoresSchemas)
    }

    /// Sets a member's context window in tokens; the default is 100,000.
    #[must_use]
    pub fn window(mut self, who: &str, tokens: u64) -> Self {
        self.windows.insert(who.to_owned(), tokens);
        self
    }

    /// Sets the price of all members' tokens.
    #[must_use]
    pub fn priced(self, price: Price) -> Self {
        Panel { price: Some(price), ..self }
    }

    /// All calls so far.
    #[must_use]
    pub fn asked(&self) -> Vec<AskedCall> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The steps of all calls so far, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<String> {
        self.asked().iter().map(|it| it.step.to_string()).collect()
    }

    /// The same script without any calls.
    #[must_use]
    pub fn anew(&self) -> Panel {
        let embedder = self.embedder.as_ref().map(ScriptedEmbedder::anew);
        Panel { asked: Arc::default(), lanes: Arc::default(), embedder, ..self.clone() }
    }

    /// Uses this embedder for comparisons.
    #[must_use]
    pub fn embeds(self, embedder: ScriptedEmbedder) -> Self {
        Panel { embedder: Some(embedder), ..self }
    }

    /// The texts given to the embedder so far, call by call.
    #[must_use]
    pub fn embedded(&self) -> Vec<Vec<String>> {
        self.embedder.as_ref().map(ScriptedEmbedder::asked).unwrap_or_default()
    }

    /// Lets a member think before it answers. By default `usual` tokens are allowed for that; if
    /// fewer than `needed` are allowed, it gives no answer.
    #[must_use]
    pub fn thinks(self, who: &str, usual: u32, needed: u32) -> Self {
        self.line(who, Line::Thinks { usual, needed })
    }

    fn thinking_of(&self, who: &str) -> u32 {
        let thinking = self.of(who).rev().find_map(|line| match line {
            Line::Thinks { usual, .. } => Some(*usual),
            _ => None,
        });
        thinking.unwrap_or_default()
    }

    fn window_of(&self, who: &str) -> u64 {
        self.windows.get(who).or_else(|| self.windows.get("*")).copied().unwrap_or(100_000)
    }

    fn line(mut self, who: &str, line: Line) -> Self {
        self.lines.push((who.to_owned(), line));
        self
    }

    fn of<'p>(&'p self, who: &'p str) -> impl DoubleEndedIterator<Item = &'p Line> {
        self.lines.iter().filter(move |(name, _)| name == who || name == "*").map(|(_, line)| line)
    }

    fn lane(&self, who: &str) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let wide = || Arc::new(Lane::new(Width::at_once(1_000)));
        lanes.entry(who.to_owned()).or_insert_with(wide).clone()
    }
}

impl Voices for Panel {
    fn voice(&self, _spec: &Spec, who: &Participant) -> Option<Voice> {
        let provider = Arc::new(Scripted(self.clone()));
        who.provider.starts_with("scripted").then(|| Voice {
            provider,
            model: who.model.clone(),
            lane: self.lane(&who.name),
            price: self.price,
            window: self.window_of(&who.name),
            thinking: self.thinking_of(&who.name),
            is_small: self.window_of(&who.name) <= Voice::SMALL_WINDOW,
            follows_schemas: !self.of(&who.name).any(|it| matches!(it, Line::IgnoresSchemas)),
        })
    }

    fn embedder(&self, _spec: &Spec, _model: &str) -> Option<Arc<dyn Embedder>> {
        let scripted = self.embedder.clone()?;
        Some(Arc::new(scripted))
    }
}
