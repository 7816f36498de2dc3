//! `ax mcp`: serves the Model Context Protocol on standard input and output, and adds itself to
//! clients.

mod client;
mod install;
mod json_file;
mod toml_file;

use quorum::Quorum;
use quorum_server::{Settings, Voices, mcp};

use crate::{
    app::{App, WithoutProviders},
    args::{Mcp, McpVerb},
    exit::{Exit, Usage},
    local,
    render::note,
    verbs::{restore::expire_old, signals::CloseSignals, telemetry},
};

const NO_PROVIDER: &str = "\
    No provider is available, so discussions are refused unless they have \"offline\": true. `ax \
    doctor` says what is missing; `ax mcp --offline` uses simulated voices.";

/// The variable with the prefix of the tools' names.
const PREFIX: &str = "AX_MCP_TOOL_PREFIX";

/// The longest prefix: some clients take names of 64 characters, with a prefix of their own.
const LONGEST_PREFIX: usize = 24;

/// `ax mcp`
pub(crate) fn mcp(app: &App, args: &Mcp) -> anyhow::Result<Exit> {
    match &args.verb {
        Some(McpVerb::Install { client, write }) => install::install(*client, *write),
        None => serve(app, args),
    }
}

fn serve(app: &App, args: &Mcp) -> anyhow::Result<Exit> {
    let prefix = tool_prefix()?;
    let quorum = app.open(app.config()?, WithoutProviders::Refuse)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(answer(quorum, args, prefix));
    // Remaining work is not awaited: anything that isn't recorded didn't happen, and the next
    // process continues from the record.
    runtime.shutdown_background();
    exit
}

async fn answer(quorum: Quorum, args: &Mcp, prefix: Option<String>) -> anyhow::Result<Exit> {
    let mut told = CloseSignals::new()?;
    expire_old(&quorum).await;
    let mut settings = with_prefix(Settings::of(quorum.config()), prefix);
    if args.offline {
        settings.voices = Voices::Simulated;
    } else if quorum.setup().sources().is_empty() {
        note(NO_PROVIDER);
    }
    telemetry::announce(&quorum);
    let (scope, kept) = (local::scope(&quorum), quorum.clone());
    mcp::on_standard_streams(quorum, settings, scope, async move { told.received().await }).await;
    telemetry::flush(&kept).await;
    Ok(Exit::Done)
}

/// The settings with the prefix of the environment, if it has one.
pub(super) fn with_prefix(settings: Settings, prefix: Option<String>) -> Settings {
    match prefix {
        Some(tool_prefix) => Settings { tool_prefix, ..settings },
        None => settings,
    }
}

/// The prefix in the environment; empty for names without one.
pub(super) fn tool_prefix() -> anyhow::Result<Option<String>> {
    let Some(written) = std::env::var_os(PREFIX) else { return Ok(None) };
    let written = written.to_string_lossy().into_owned();
    let is_fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if written.len() <= LONGEST_PREFIX && written.chars().all(is_fine) {
        return Ok(Some(written));
    }
    let message = format!(
        "{PREFIX} has at most {LONGEST_PREFIX} letters, digits, hyphens and underscores; this is {written:?}"
    );
    Err(Usage(message).into())
}
