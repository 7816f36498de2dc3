//! Arguments of `ax fork`.

use std::collections::BTreeMap;

use clap::Args;
use quorum::{Forking, Request};
use serde_json::Value;

use crate::args::{Output, Which, number::whole};

/// The usage line. The parser doesn't require `--at`, because the refusal lists the steps.
pub(super) const USAGE: &str = "ax fork [OPTIONS] --at <STEP> <ID>";

#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The step to continue from; answers up to this one are kept. For a workflow run, a step's
    /// name
    #[arg(long, value_name = "STEP")]
    pub(crate) at: Option<String>,
    /// A participant to leave out; may be given several times
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// The pattern to continue with
    #[arg(long)]
    pattern: Option<String>,
    /// How many rounds, 1 to 10
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    /// Workflow runs: a new value for one field of the input, as JSON or text; may be given several
    /// times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Workflow runs: the new input, as JSON or plain text; @FILE reads a file
    #[arg(long, value_name = "JSON")]
    pub(crate) input: Option<String>,
    /// Workflow runs: the new values for {{NAME}}, as a JSON object; @FILE reads a file
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
    /// Workflow runs: the changed workflow, as a file or a name
    #[arg(long, value_name = "WORKFLOW")]
    pub(crate) workflow: Option<String>,
    /// Workflow runs: run tools again whose arguments changed
    #[arg(long)]
    pub(crate) rerun_tools: bool,
    /// Workflow runs: declared tools that the run may use, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) allow_tools: Vec<String>,
    /// Workflow runs: the maximum number of calls of all steps together
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    pub(crate) max_calls: Option<u32>,
    /// Show how many answers are kept and what the rest typically costs, without asking any model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// With --dry-run: also show the most it can cost
    #[arg(long, requires = "dry_run")]
    pub(crate) worst_case: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// The changed options, by name.
    #[arg(skip)]
    pub(super) settings: BTreeMap<String, Value>,
}

impl Fork {
    /// Those of the given flags that apply only to forks of workflow runs.
    pub(crate) fn workflow_flags(&self) -> Vec<&'static str> {
        let given = [
            ("--set", !self.set.is_empty()),
            ("--input", self.input.is_some()),
            ("--variables", self.variables.is_some()),
            ("--workflow", self.workflow.is_some()),
            ("--rerun-tools", self.rerun_tools),
            ("--allow-tools", !self.allow_tools.is_empty()),
            ("--max-calls", self.max_calls.is_some()),
        ];
        given.into_iter().filter(|it| it.1).map(|it| it.0).collect()
    }

    /// Whether a flag is given that doesn't apply to workflow runs: participants, a pattern,
    /// rounds, options.
    pub(crate) fn has_discussion_flags(&self) -> bool {
        !self.drop.is_empty() || self.pattern.is_some() || self.rounds.is_some() || !self.settings.is_empty()
    }

    pub(crate) fn forking(&self) -> Forking {
        let changes = Request {
            pattern: self.pattern.clone(),
            rounds: self.rounds,
            settings: self.settings.clone(),
            ..Request::default()
        };
        Forking { at: self.at.clone().unwrap_or_default(), without: self.drop.clone(), changes }
    }
}
