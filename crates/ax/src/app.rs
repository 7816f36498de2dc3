//! What one build of the command offers: the names users can choose from, and how it opens Quorum.
//!
//! Arguments, help, completions, manual pages and verbs read these lists and no others, so that a
//! build with parts of its own shows them everywhere.

use quorum::{Config, Error, Quorum};

/// The parts a build is made of.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) patterns: Vec<Choice>,
    pub(crate) methods: Vec<Choice>,
    pub(crate) strategies: Vec<Choice>,
    pub(crate) detectors: Vec<Choice>,
}

/// A name that can be typed, with its descriptor's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
}

impl App {
    /// The parts that come with Quorum.
    pub(crate) fn built_in() -> App {
        App {
            patterns: choices(Quorum::patterns(), |it| (it.name, it.summary)),
            methods: choices(Quorum::methods(), |it| (it.name, it.summary)),
            strategies: choices(Quorum::window_strategies(), |it| (it.name, it.summary)),
            detectors: choices(Quorum::detectors(), |it| (it.name, it.summary)),
        }
    }

    /// Opens Quorum with these parts; every verb that needs it does so here.
    pub(crate) fn open(&self, config: Config) -> Result<Quorum, Error> {
        Quorum::open(config)
    }
}

fn choices<T>(known: &[T], described: fn(&T) -> (&'static str, &'static str)) -> Vec<Choice> {
    let choice = |it: &T| {
        let (name, summary) = described(it);
        Choice { name, summary }
    };
    known.iter().map(choice).collect()
}

#[cfg(test)]
impl App {
    /// The names of a company's own pattern, method, strategy and detector.
    pub(crate) const ACME: [&'static str; 4] = ["acme-talk", "acme-vote", "acme-window", "acme-alarm"];

    /// The built-in parts and a company's own.
    pub(crate) fn with_acme() -> App {
        let mut app = App::built_in();
        let lists = [&mut app.patterns, &mut app.methods, &mut app.strategies, &mut app.detectors];
        for (list, name) in lists.into_iter().zip(App::ACME) {
            list.push(Choice { name, summary: "Only at Acme" });
        }
        app
    }
}
