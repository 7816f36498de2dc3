//! Arguments of `ax discuss`.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use quorum::{
    Request,
    model::spec::TimeoutStrategy,
    request::{Seating, Simulate, flags},
};
use serde_json::Value;

use crate::args::{
    Output,
    number::{fraction, share, whole},
    past::Past,
};

/// The heading of the flags about participants and pattern.
pub(super) const PANEL: &str = "Panel and pattern";

/// The heading of the flags about the decision.
pub(super) const DECIDING: &str = "Decision";

#[derive(Debug, Args)]
pub(crate) struct Discuss {
    /// The question; `-` reads it from standard input
    pub(crate) topic: Option<String>,
    /// Re-run a past discussion with these flags applied: its id, or `last`
    #[arg(long, value_name = "ID")]
    pub(crate) again: Option<String>,
    /// Use the values of [presets.NAME] in the configuration for flags that are not given
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Show who would be asked in which order, and what it typically costs, without asking any
    /// model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: also show the most it can cost
    #[arg(long, requires = "dry_run")]
    pub(crate) worst_case: bool,
    /// Run the discussion in the background and print its id
    #[arg(long, conflicts_with_all = ["dry_run", "require_consensus", "require_support"])]
    pub(crate) detach: bool,
    /// Background for all participants; text piped to standard input is added to it
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) context: Option<String>,
    /// A text file that everyone is shown, under its name as a heading; `-` is standard input; may
    /// be given several times
    #[arg(short, long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The session that the discussion belongs to, by id or name
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(super) past: Past,
    #[command(flatten)]
    seats: Seats,
    /// How the discussion is held
    #[arg(long, help_heading = PANEL)]
    pattern: Option<String>,
    #[command(flatten)]
    talk: Talk,
    #[command(flatten)]
    deciding: Deciding,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    voices: Simulated,
    /// Whether it was written as `ax follow`.
    #[arg(skip)]
    pub(crate) is_follow: bool,
    /// The options that patterns, methods and strategies declare, by name.
    #[arg(skip)]
    pub(super) settings: BTreeMap<String, Value>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = PANEL)]
pub(super) struct Seats {
    /// The participants, separated by commas: claude, or claude/MODEL
    /// [default: claude,glm,qwen,gemini]
    #[arg(short, long, value_name = "LIST", value_delimiter = ',')]
    providers: Option<Vec<String>>,
    /// The whole panel in seating order, including agents and people, instead of
    /// --providers:
    /// claude,reviewer:agent,me:person
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    participants: Option<Vec<String>>,
    /// The kind of task, which selects the provider and abilities of agents
    #[arg(long, value_name = "NAME")]
    task: Option<String>,
    /// The weight of every agent's vote, 0.5 to 3 [default: that of its profile, or 1.5]
    #[arg(long, value_name = "W", value_parser = fraction, allow_negative_numbers = true)]
    agent_weight: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = PANEL)]
pub(super) struct Talk {
    /// How many rounds, 1 to 10
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// The options to vote on, separated by commas, with "quotes" around one that has a comma; or
    /// -o once for each option
    #[arg(short, long, value_name = "LIST")]
    options: Vec<String>,
    /// Who has which role
    #[arg(long, value_name = "PAIRS", value_parser = flags::roles)]
    roles: Option<BTreeMap<String, String>>,
    /// Instructions for one participant; may be given several times
    #[arg(long, value_name = "NAME=TEXT", value_parser = flags::prompt)]
    provider_prompts: Vec<(String, String)>,
    /// The token limit of an answer, 16 to 200000 [default: 2048]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    max_tokens_per_turn: Option<u32>,
    /// The sampling temperature, 0 to 2 [default: 0.7]
    #[arg(long, value_name = "T", value_parser = fraction, allow_negative_numbers = true)]
    temperature: Option<f64>,
    /// How to shorten a talk that is longer than a model's window
    #[arg(long, value_name = "NAME")]
    window_strategy: Option<String>,
    /// What to do if a request is still too long for a model; `ask` waits for your decision, made
    /// with `ax window`
    #[arg(long, value_name = "WHAT")]
    window_overflow: Option<String>,
    /// Show the participants each other's names instead of labels
    #[arg(long)]
    show_names: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = DECIDING)]
struct Deciding {
    /// How a decision is reached
    #[arg(long, value_name = "METHOD")]
    consensus: Option<String>,
    /// Exit with 6 if there is no consensus, or less agreement than the threshold
    #[arg(long)]
    require_consensus: bool,
    /// Exit with 6 if less than this share (0 to 1) of the answer's sentences has a source in the
    /// discussion
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    require_support: Option<f64>,
    /// Leave minority views out of the result
    #[arg(long)]
    no_dissent: bool,
    /// Stop waiting for the others once an answer is confident enough. This saves little, because
    /// all are asked at once, and one confident answer is often wrong; --pattern settle asks fewer
    /// participants without changing the result [default: wait]
    #[arg(long, overrides_with = "no_early_exit")]
    early_exit: bool,
    /// Wait for everyone, whatever the configuration says
    #[arg(long, overrides_with = "early_exit")]
    no_early_exit: bool,
    /// How confident an answer must be for --early-exit, 0 to 1 [default: 0.9]
    #[arg(long, value_name = "SHARE", value_parser = fraction, allow_negative_numbers = true)]
    confidence_threshold: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct Bounds {
    /// How long one answer may take, retries included, in ms, 5000 to 300000
    #[arg(long, value_name = "MS", value_parser = whole::<u64>, allow_negative_numbers = true)]
    timeout: Option<u64>,
    /// The total time, like 180s or 3m [default: 30m; 3m with --recursive]
    #[arg(long, value_name = "TIME", value_parser = flags::duration)]
    budget: Option<u64>,
    /// The part of the total time kept for the synthesis, at most half [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = flags::duration)]
    min_synthesis: Option<u64>,
    /// The maximum number of calls [default: no limit; 20 with --recursive]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    max_calls: Option<u32>,
    /// The maximum number of tokens, input and output
    #[arg(long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    max_tokens: Option<u64>,
    /// The maximum cost in USD
    #[arg(long, value_name = "USD", value_parser = fraction, allow_negative_numbers = true)]
    max_cost: Option<f64>,
    /// Let providers without a known price take part under --max-cost
    #[arg(long)]
    allow_unpriced: bool,
    /// How many providers must take part for a success [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    min_providers: Option<u32>,
    /// Conclude at once when a participant fails, instead of continuing with the others
    #[arg(long)]
    stop_on_failure: bool,
    /// Let participants convene sub-discussions
    #[arg(long)]
    recursive: bool,
    /// The deepest level of sub-discussions, 0 to 4 [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    max_depth: Option<u32>,
    /// How the time is divided between the levels [default: cascade]
    #[arg(long, value_name = "NAME", value_parser = TimeoutStrategy::ALL.map(TimeoutStrategy::name))]
    timeout_strategy: Option<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Simulated voices")]
struct Simulated {
    /// Use simulated voices even if providers are available
    #[arg(long)]
    offline: bool,
    /// The random seed; the same seed gives the same discussion [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    seed: Option<u64>,
    /// How simulated voices behave: latency=200ms,failure=0.1,stubbornness=0.5,dead=NAME
    #[arg(long, value_name = "PAIRS", value_parser = flags::simulate)]
    simulate: Option<Simulate>,
}

impl Seats {
    /// The request with these participants.
    pub(super) fn seated(&self, request: Request) -> Request {
        let seats = |it: &Vec<String>| it.iter().cloned().map(Seating::Written).collect();
        Request {
            providers: self.providers.clone(),
            participants: self.participants.as_ref().map(seats),
            task: self.task.clone(),
            agent_weight: self.agent_weight,
            ..request
        }
    }
}

impl Talk {
    /// The request for such a talk.
    pub(super) fn held(&self, request: Request) -> Request {
        Request {
            rounds: self.rounds,
            voting_options: self.options().ok().flatten(),
            roles: self.roles.clone(),
            provider_prompts: (!self.provider_prompts.is_empty())
                .then(|| self.provider_prompts.iter().cloned().collect()),
            max_tokens_per_turn: self.max_tokens_per_turn,
            temperature: self.temperature,
            window_strategy: self.window_strategy.clone(),
            window_overflow: self.window_overflow.clone(),
            show_names: self.show_names.then_some(true),
            ..request
        }
    }

    /// The options to vote on, or what is wrong with the way they are written.
    pub(super) fn options(&self) -> Result<Option<Vec<String>>, String> {
        (!self.options.is_empty()).then(|| flags::options(&self.options)).transpose()
    }
}

impl Discuss {
    /// The request these flags describe, with topic, context and session as typed.
    pub(crate) fn request(&self) -> Request {
        let yes = |given: bool| given.then_some(true);
        let no = |given: bool| given.then_some(false);
        let Discuss { deciding, bounds, voices, .. } = self;
        let request = Request {
            topic: self.topic.clone().unwrap_or_default(),
            context: self.context.clone(),
            session_id: self.session.clone(),
            pattern: self.pattern.clone(),
            preset: self.preset.clone(),
            consensus: deciding.consensus.clone(),
            include_dissent: no(deciding.no_dissent),
            early_exit: yes(deciding.early_exit).or(no(deciding.no_early_exit)),
            confidence_threshold: deciding.confidence_threshold,
            provider_timeout: bounds.timeout,
            budget_ms: bounds.budget,
            min_synthesis_ms: bounds.min_synthesis,
            max_calls: bounds.max_calls,
            max_tokens: bounds.max_tokens,
            max_cost: bounds.max_cost,
            allow_unpriced: yes(bounds.allow_unpriced),
            min_providers: bounds.min_providers,
            continue_on_provider_failure: no(bounds.stop_on_failure),
            recursive: yes(bounds.recursive),
            max_depth: bounds.max_depth,
            timeout_strategy: bounds.timeout_strategy.clone(),
            offline: yes(voices.offline),
            seed: voices.seed,
            simulate: voices.simulate.clone(),
            recall: self.past.recalling.request(),
            follows: self.past.follows.as_ref().map(|it| it.trim().to_lowercase()),
            settings: self.settings.clone(),
            ..Request::default()
        };
        self.talk.held(self.seats.seated(request))
    }

    /// The options to vote on, or what is wrong with the way they are written.
    pub(crate) fn options(&self) -> Result<Option<Vec<String>>, String> {
        self.talk.options()
    }

    pub(crate) fn requires_consensus(&self) -> bool {
        self.deciding.require_consensus
    }

    /// The least share of the answer's sentences that must have a source in the discussion.
    pub(crate) fn requires_support(&self) -> Option<f64> {
        self.deciding.require_support
    }
}
