//! The vocabulary of one build of the command, and how that build opens Quorum.
//!
//! Arguments, help, completions, manual pages and verbs all read this registry, so a build's own
//! patterns and methods appear everywhere.

use std::sync::Arc;

use quorum::{
    Builder, Config, Error, Quorum, Registry, config,
    request::flags,
    setup::{self, Machine},
    voices::WorldVoices,
};

/// The vocabulary of a build.
#[derive(Debug, Clone)]
pub(crate) struct App {
    pub(crate) registry: Registry,
}

/// What happens when no provider is available and the request doesn't ask for simulated voices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutProviders {
    /// The request is refused.
    Refuse,
    /// Simulated voices answer, and the person at the terminal is told so.
    Simulate,
}

/// A name that can be typed, with its descriptor's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
}

impl App {
    /// The vocabulary that comes with Quorum.
    pub(crate) fn built_in() -> App {
        App { registry: quorum::built_in() }
    }

    /// Checks that the registered parts fit together. Everything else here relies on it.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        Ok(self.registry.validate(&flags::reserved())?)
    }

    /// The user's configuration.
    pub(crate) fn config(&self) -> Result<Config, config::Error> {
        Config::load_with(&self.registry)
    }

    /// Opens Quorum with this vocabulary and the user's agents.
    pub(crate) fn open(&self, config: Config, without_providers: WithoutProviders) -> Result<Quorum, Error> {
        self.built(Quorum::builder().user(config), without_providers)
    }

    /// The same with the agents of the project that the working directory is in.
    pub(crate) fn open_here(
        &self,
        config: Config,
        without_providers: WithoutProviders,
    ) -> Result<Quorum, Error> {
        self.built(in_project(Quorum::builder().user(config)), without_providers)
    }

    /// The same with the voices of a reference world, if there is one.
    pub(crate) fn open_in_world(
        &self,
        config: Config,
        without_providers: WithoutProviders,
        world: Option<Arc<WorldVoices>>,
    ) -> Result<Quorum, Error> {
        let builder = in_project(Quorum::builder().user(config));
        let builder = match world {
            Some(world) => builder.world(world),
            None => builder,
        };
        self.built(builder, without_providers)
    }

    /// The same without the user's discussions, for verbs that must work if they can't be opened.
    pub(crate) fn open_without_store(&self, config: Config) -> Result<Quorum, Error> {
        let setup = setup::load(&config, &Machine::this())?;
        let builder = in_project(Quorum::builder().config(config).set_up(setup));
        self.built(builder, WithoutProviders::Simulate)
    }

    fn built(&self, builder: Builder, without_providers: WithoutProviders) -> Result<Quorum, Error> {
        let builder = builder.registry(self.registry.clone()).assigning_roles().program("ax");
        match without_providers {
            WithoutProviders::Refuse => builder.build(),
            WithoutProviders::Simulate => builder.simulated_without_providers().build(),
        }
    }

    pub(crate) fn patterns(&self) -> Vec<Choice> {
        choices(self.registry.patterns(), |it| (it.name, it.summary))
    }

    pub(crate) fn methods(&self) -> Vec<Choice> {
        choices(self.registry.methods(), |it| (it.name, it.summary))
    }

    pub(crate) fn strategies(&self) -> Vec<Choice> {
        choices(self.registry.strategies(), |it| (it.name, it.summary))
    }

    pub(crate) fn detectors(&self) -> Vec<Choice> {
        choices(self.registry.detectors(), |it| (it.name, it.summary))
    }
}

/// Adds the agents of the project that the working directory is in.
fn in_project(builder: Builder) -> Builder {
    match std::env::current_dir() {
        Ok(directory) => builder.project(&directory),
        Err(_) => builder,
    }
}

fn choices<T>(known: &[&'static T], described: fn(&T) -> (&'static str, &'static str)) -> Vec<Choice> {
    let choice = |it: &&T| {
        let (name, summary) = described(it);
        Choice { name, summary }
    };
    known.iter().map(choice).collect()
}

#[cfg(test)]
mod acme {
    //! A company's own pattern, method, strategy and detector, for tests.

    use quorum::registry::{Before, Consensus, ContextStrategy, Detector, Ends, Fit, OnOverflow, Pattern};

    use super::App;

    const SUMMARY: &str = "Only at Acme";

    static PATTERN: Pattern = Pattern { name: "acme-talk", summary: SUMMARY, ..Pattern::PLAIN };
    static METHOD: Consensus = Consensus { name: "acme-vote", summary: SUMMARY, ..Consensus::PLAIN };
    static STRATEGY: ContextStrategy = ContextStrategy {
        name: "acme-window",
        summary: SUMMARY,
        fit: |talk| Fit { before: Before::FirstTurns, room: talk.room, sum_up: None, tight: None },
        options: &[],
        overflow: OnOverflow::NotOffered,
        words: |_, _| quorum::floor::ask::Ask::new(String::new(), String::new()),
    };
    static DETECTOR: Detector =
        Detector { name: "acme-alarm", summary: SUMMARY, detect: |_| Vec::new(), ends: Ends::AtOnce };

    impl App {
        /// The names of a company's own pattern, method, strategy and detector.
        pub(crate) const ACME: [&'static str; 4] = ["acme-talk", "acme-vote", "acme-window", "acme-alarm"];

        /// The built-in parts and a company's own.
        pub(crate) fn with_acme() -> App {
            let registry = quorum::built_in().with_patterns([&PATTERN]).with_methods([&METHOD]);
            App { registry: registry.with_strategies([&STRATEGY]).with_detectors([&DETECTOR]) }
        }

        /// Only a company's own parts.
        pub(crate) fn of_acme() -> App {
            let registry = quorum::Registry::default().with_patterns([&PATTERN]).with_methods([&METHOD]);
            App { registry: registry.with_strategies([&STRATEGY]).with_detectors([&DETECTOR]) }
        }
    }
}
