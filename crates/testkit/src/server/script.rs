//! The script of a server. Later lines override earlier ones; `*` means every model.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    Server,
    answer::{Ending, Used},
    fault::Fault,
    prompt_cache::{Cached, Prompt, PromptCache},
    request::Asked,
};

/// The script of a server that answers every valid request at once, with any key.
#[must_use]
pub fn server() -> Script {
    Script::default()
}

/// The script of a server.
#[derive(Debug, Clone, Default)]
pub struct Script {
    lines: Vec<(String, Line)>,
    mix: Option<(u64, Vec<(f64, Fault)>)>,
    key: Option<String>,
    models: Option<Vec<String>>,
    is_forgetful: bool,
    cache: Option<Arc<Mutex<PromptCache>>>,
}

#[derive(Clone)]
enum Line {
    Says(String),
    Replies(Arc<dyn Fn(&Asked) -> String + Send + Sync>),
    Thinks(String),
    ThinksLong(u64),
    Convenes(String),
    Uses(Used),
    Ends(Ending),
    Takes(Pace),
    Fault { which: Which, of: Kind, fault: Fault },
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Line::Says(text) => text,
            Line::Replies(_) => "replies",
            Line::Thinks(_) => "thinks",
            Line::ThinksLong(_) => "thinks long",
            Line::Convenes(_) => "convenes",
            Line::Uses(_) => "uses",
            Line::Ends(_) => "ends",
            Line::Takes(_) => "takes",
            Line::Fault { .. } => "fault",
        })
    }
}

/// The timing of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) first: Duration,
    pub(super) next: Duration,
    pub(super) chunks: usize,
}

/// A range of requests for a model, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Which {
    from: u64,
    to: u64,
}

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An answer.
    Answer,
    /// An availability check.
    Probe,
}

impl Script {
    /// Sets this model's text for requests without a form. A request with a form gets a reply in
    /// that form.
    #[must_use]
    pub fn says(self, model: &str, text: &str) -> Self {
        self.line(model, Line::Says(text.to_owned()))
    }

    /// Sets this model's reply to every request, including forms.
    #[must_use]
    pub fn replies(self, model: &str, reply: impl Fn(&Asked) -> String + Send + Sync + 'static) -> Self {
        self.line(model, Line::Replies(Arc::new(reply)))
    }

    /// Sets this model's visible thoughts.
    #[must_use]
    pub fn thinks(self, model: &str, text: &str) -> Self {
        self.line(model, Line::Thinks(text.to_owned()))
    }

    /// Lets this model spend all its tokens on thoughts, unless it is allowed more than these.
    #[must_use]
    pub fn thinks_long(self, model: &str, tokens: u64) -> Self {
        self.line(model, Line::ThinksLong(tokens))
    }

    /// Caches the beginnings of prompts like the vendors do, and reports what was read from the
    /// cache and written to it.
    #[must_use]
    pub fn caching(mut self) -> Self {
        self.cache = Some(Arc::default());
        self
    }

    /// Requests a sub-discussion where allowed, until it got the result of one.
    #[must_use]
    pub fn convenes(self, model: &str, topic: &str) -> Self {
        self.line(model, Line::Convenes(topic.to_owned()))
    }

    /// Sets the usage of this model's answers.
    #[must_use]
    pub fn uses(self, model: &str, used: Used) -> Self {
        self.line(model, Line::Uses(used))
    }

    /// Sets why this model's answers end.
    #[must_use]
    pub fn ends(self, model: &str, ending: Ending) -> Self {
        self.line(model, Line::Ends(ending))
    }

    /// Sends this model's answers in this many pieces, the first after `first_ms`, the others
    /// `chunk_ms` apart.
    #[must_use]
    pub fn takes(self, model: &str, first_ms: u64, chunk_ms: u64, chunks: usize) -> Self {
        let [first, next] = [first_ms, chunk_ms].map(Duration::from_millis);
        self.line(model, Line::Takes(Pace { first, next, chunks }))
    }

    /// The same for every model.
    #[must_use]
    pub fn paced(self, first_ms: u64, chunk_ms: u64, chunks: usize) -> Self {
        self.takes("*", first_ms, chunk_ms, chunks)
    }

    /// Adds a fault to every answer of this model.
    #[must_use]
    pub fn fault(self, model: &str, fault: Fault) -> Self {
        self.goes_wrong(model, 1..=u64::MAX, fault)
    }

    /// Adds a fault to this model's first answer.
    #[must_use]
    pub fn fault_once(self, model: &str, fault: Fault) -> Self {
        self.goes_wrong(model, 1..=1, fault)
    }

    /// Adds a fault to this model's first answers.
    #[must_use]
    pub fn fault_first(self, model: &str, count: u64, fault: Fault) -> Self {
        self.goes_wrong(model, 1..=count, fault)
    }

    /// Adds a fault to this model's nth answer, counted from 1.
    #[must_use]
    pub fn fault_at(self, model: &str, nth: u64, fault: Fault) -> Self {
        self.goes_wrong(model, nth..=nth, fault)
    }

    /// Adds a fault to this model's nth answer and all after it.
    #[must_use]
    pub fn fault_from(self, model: &str, nth: u64, fault: Fault) -> Self {
        self.goes_wrong(model, nth..=u64::MAX, fault)
    }

    /// Adds a fault to availability checks of this model; those without a model's name count as
    /// `*`.
    #[must_use]
    pub fn fault_probe(self, model: &str, fault: Fault) -> Self {
        let which = Which { from: 1, to: u64::MAX };
        self.line(model, Line::Fault { which, of: Kind::Probe, fault })
    }

    /// Adds random faults, each to its share of the answers. The same seed gives the nth answer of
    /// a model the same fault. Scripted faults take precedence.
    #[must_use]
    pub fn mix(mut self, seed: u64, shares: impl IntoIterator<Item = (f64, Fault)>) -> Self {
        self.mix = Some((seed, shares.into_iter().collect()));
        self
    }

    /// Accepts only this key.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Offers only these models. By default a server accepts any name, and has no list.
    #[must_use]
    pub fn models<'m>(mut self, models: impl IntoIterator<Item = &'m str>) -> Self {
        self.models = Some(models.into_iter().map(str::to_owned).collect());
        self
    }

    /// Does not record requests, which would fill the memory in long runs; they are still counted.
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.is_forgetful = true;
        self
    }

    /// Starts on the current tokio runtime. It stops when the server is dropped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn start(self) -> Server {
        Server::start(self)
    }

    /// Starts on its own thread and runtime. It stops when the server is dropped.
    #[must_use]
    pub fn on_thread(self) -> Server {
        Server::on_thread(self)
    }

    fn goes_wrong(self, model: &str, which: std::ops::RangeInclusive<u64>, fault: Fault) -> Self {
        let which = Which { from: *which.start(), to: *which.end() };
        self.line(model, Line::Fault { which, of: Kind::Answer, fault })
    }

    fn line(mut self, model: &str, line: Line) -> Self {
        self.lines.push((model.to_owned(), line));
        self
    }

    fn last<'s, T>(&'s self, model: &str, find: impl Fn(&'s Line) -> Option<T>) -> Option<T> {
        let mut of_model =
            self.lines.iter().rev().filter(|(name, _)| name == model || name == "*").map(|(_, line)| line);
        of_model.find_map(find)
    }

    /// The scripted reply of this model, if any.
    pub(super) fn text(&self, asked: &Asked, has_form: bool) -> Option<String> {
        self.last(&asked.model, |line| match line {
            Line::Says(text) if !has_form => Some(text.clone()),
            Line::Replies(reply) => Some(reply(asked)),
            _ => None,
        })
    }

    pub(super) fn thoughts(&self, model: &str) -> Option<&str> {
        self.last(model, |line| if let Line::Thinks(text) = line { Some(text.as_str()) } else { None })
    }

    /// The tokens that this model needs for its thoughts.
    pub(super) fn long_thoughts(&self, model: &str) -> Option<u64> {
        self.last(model, |line| if let Line::ThinksLong(tokens) = line { Some(*tokens) } else { None })
    }

    /// What is cached of this model's prompt by now; it is cached from now on. `None` if the script
    /// doesn't cache.
    pub(super) fn cached(&self, model: &str, prompt: &Prompt) -> Option<Cached> {
        let cache = self.cache.as_ref()?;
        Some(cache.lock().unwrap_or_else(PoisonError::into_inner).take(model, prompt))
    }

    pub(super) fn topic(&self, model: &str) -> Option<&str> {
        self.last(model, |line| if let Line::Convenes(topic) = line { Some(topic.as_str()) } else { None })
    }

    pub(super) fn used(&self, model: &str) -> Option<Used> {
        self.last(model, |line| if let Line::Uses(used) = line { Some(*used) } else { None })
    }

    pub(super) fn ending(&self, model: &str) -> Option<Ending> {
        self.last(model, |line| if let Line::Ends(ending) = line { Some(*ending) } else { None })
    }

    pub(super) fn pace(&self, model: &str) -> Option<Pace> {
        self.last(model, |line| if let Line::Takes(pace) = line { Some(*pace) } else { None })
    }

    /// The fault of the nth request of this kind for this model.
    pub(super) fn fault_of(&self, model: &str, kind: Kind, nth: u64) -> Option<&Fault> {
        let scripted = self.last(model, |line| match line {
            Line::Fault { which, of, fault } if *of == kind && (which.from..=which.to).contains(&nth) => {
                Some(fault)
            }
            _ => None,
        });
        scripted.or_else(|| if kind == Kind::Answer { self.by_chance(model, nth) } else { None })
    }

    fn by_chance(&self, model: &str, nth: u64) -> Option<&Fault> {
        let (seed, shares) = self.mix.as_ref()?;
        let drawn = hash(seed ^ hash_of(model).rotate_left(17) ^ hash(nth));
        let mut left = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
        shares
            .iter()
            .find(|(share, _)| {
                left -= share;
                left < 0.0
            })
            .map(|(_, fault)| fault)
    }

    pub(super) fn wanted_key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    pub(super) fn known(&self) -> Option<&[String]> {
        self.models.as_deref()
    }

    pub(super) fn remembers(&self) -> bool {
        !self.is_forgetful
    }
}

/// Mixes a number, so that every bit depends on all others.
pub(super) fn hash(number: u64) -> u64 {
    let stirred =
        (number ^ (number >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let stirred = (stirred ^ (stirred >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    stirred ^ (stirred >> 31)
}

/// A hash of a text, the same on every platform.
pub(super) fn hash_of(text: &str) -> u64 {
    text.bytes().fold(0, |so_far, byte| hash(so_far ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f6_faults_hit_the_requests_they_are_for() {
        let check = |script: Script, expected: &[u64]| {
            let hit = (1..=5).filter(|nth| script.fault_of("a", Kind::Answer, *nth).is_some());
            assert_eq!(hit.collect::<Vec<_>>(), expected);
        };
        let down = Fault::Status(503);
        check(server().fault("a", down.clone()), &[1, 2, 3, 4, 5]);
        check(server().fault("*", down.clone()), &[1, 2, 3, 4, 5]);
        check(server().fault("b", down.clone()), &[]);
        check(server().fault_once("a", down.clone()), &[1]);
        check(server().fault_first("a", 2, down.clone()), &[1, 2]);
        check(server().fault_at("a", 3, down.clone()), &[3]);
        check(server().fault_from("a", 4, down.clone()), &[4, 5]);
        check(server().fault_probe("a", down), &[]);
    }

    #[test]
    fn f6_chance_keeps_to_its_shares_and_its_seed() {
        let luck = |seed: u64| {
            let script = server().mix(seed, [(0.05, Fault::Status(500)), (0.2, Fault::Html)]);
            let kinds = (1..=10_000).map(|nth| script.fault_of("a", Kind::Answer, nth).cloned());
            kinds.collect::<Vec<_>>()
        };
        let drawn = luck(7);
        let count = |fault: &Fault| drawn.iter().filter(|it| it.as_ref() == Some(fault)).count();
        assert!((400..600).contains(&count(&Fault::Status(500))), "{}", count(&Fault::Status(500)));
        assert!((1_800..2_200).contains(&count(&Fault::Html)), "{}", count(&Fault::Html));
        assert_eq!(luck(7), drawn);
        assert_ne!(luck(8), drawn);
    }
}
