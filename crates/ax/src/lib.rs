//! The command `ax`, as a library: a build of your own is a `main` that runs a [`Command`].
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     ax::Command::new().run(std::env::args_os())
//! }
//! ```
//!
//! Your own patterns, consensus methods, context strategies and detectors become part of the
//! command: their options are flags, they are listed in help, completions and manual pages, and
//! their results are drawn by the views they declare.
//!
//! Results go to standard output and everything else to standard error. `ax help` lists the verbs
//! and `ax man` the exit codes.

mod app;
mod args;
mod exit;
mod file_limit;
mod live;
mod local;
mod log;
mod render;
mod terminal;
mod verbs;

use std::{ffi::OsString, process::ExitCode};

use quorum::registry::{Consensus, ContextStrategy, Detector, Pattern};

use crate::app::App;

/// The command with the parts it is built from.
#[derive(Debug, Clone)]
pub struct Command {
    app: App,
}

impl Command {
    /// The command with the patterns, consensus methods, context strategies and detectors that come
    /// with Quorum.
    #[must_use]
    pub fn new() -> Command {
        Command { app: App::built_in() }
    }

    /// Adds a pattern of your own.
    ///
    /// ```
    /// use quorum::registry::Pattern;
    ///
    /// static DELPHI: Pattern = Pattern { name: "delphi", summary: "Estimates", ..Pattern::PLAIN };
    ///
    /// let command = ax::Command::new().pattern(&DELPHI);
    /// assert_eq!(command.run(["ax", "help", "discuss"]), std::process::ExitCode::SUCCESS);
    /// ```
    #[must_use]
    pub fn pattern(mut self, pattern: &'static Pattern) -> Command {
        self.app.registry = self.app.registry.with_patterns([pattern]);
        self
    }

    /// Adds a consensus method of your own.
    #[must_use]
    pub fn method(mut self, method: &'static Consensus) -> Command {
        self.app.registry = self.app.registry.with_methods([method]);
        self
    }

    /// Adds a context strategy of your own.
    #[must_use]
    pub fn context_strategy(mut self, strategy: &'static ContextStrategy) -> Command {
        self.app.registry = self.app.registry.with_strategies([strategy]);
        self
    }

    /// Adds a detector of your own.
    #[must_use]
    pub fn detector(mut self, detector: &'static Detector) -> Command {
        self.app.registry = self.app.registry.with_detectors([detector]);
        self
    }

    /// Runs a command line, whose first item is the program's name, and returns its exit code.
    ///
    /// Call it once per process, from the main thread and outside any async runtime: it starts its
    /// own runtime, and handles signals and the terminal.
    ///
    /// Given the process's own command line, as in the example above, it also provides the hidden
    /// mode that ends local programs when the process is killed. `main` should do nothing before
    /// it, because a process in hidden mode starts before each local program. A `main` that has to,
    /// or that passes other arguments, calls [`quorum::setup::supervisor::serve`] first.
    ///
    /// ```
    /// use std::process::ExitCode;
    ///
    /// assert_eq!(ax::Command::new().run(["ax", "patterns"]), ExitCode::SUCCESS);
    /// ```
    #[must_use]
    pub fn run<I>(&self, arguments: I) -> ExitCode
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let typed: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        if let Some(code) = supervise(&typed) {
            return code;
        }
        if let [_, verb, words @ ..] = &typed[..]
            && verb == verbs::complete::VERB
        {
            verbs::complete::complete(&self.app, words);
            return ExitCode::SUCCESS;
        }
        let derived = args::derived();
        if let Err(error) = args::validate(&self.app, &derived) {
            return exit::report(&error, &self.app.registry, "help").into();
        }
        let (cli, verb) = match args::parse(&self.app, derived, &typed) {
            Ok(parsed) => parsed,
            Err(exit) => return exit.into(),
        };
        if cli.quiet {
            render::set_quiet();
        }
        let ready = log::start(cli.log).and_then(|()| file_limit::catch_file_size_signal());
        match ready.and_then(|()| verbs::run(&self.app, cli.verb)) {
            Ok(exit) => exit.into(),
            Err(error) => exit::report(&error, &self.app.registry, &verb).into(),
        }
    }
}

/// Supervises a local program, if this process was started for that.
///
/// A supervisor is another process of this program, so it must get here. That is certain only when
/// the process's own command line is passed on.
fn supervise(typed: &[OsString]) -> Option<ExitCode> {
    std::env::args_os().eq(typed.iter().cloned()).then(quorum::setup::supervisor::serve)?
}

impl Default for Command {
    fn default() -> Self {
        Command::new()
    }
}
