//! Consensus methods, one file each. Shared parts: `draft` (one participant writes) and `poll`
//! (everyone votes).

mod draft;
pub(crate) mod majority;
pub(crate) mod moderator;
mod poll;
pub(crate) mod synthesis;
mod tally;
pub(crate) mod unanimous;
pub(crate) mod voting;

use quorum_core::{
    registry::Options,
    vocabulary::{option::Opt, result::ResultField, view::View},
};

/// The participant that synthesises or moderates.
pub(crate) const SYNTHESIZER: Opt<Option<String>> =
    Opt::seat("synthesizer", "The participant that writes the synthesis or moderates").inherited();

/// The share of the votes that decides.
pub(crate) const THRESHOLD: Opt<f64> =
    Opt::number("threshold", "The share of the votes that decides", 0.0..=1.0, 0.5).inherited();

/// Custom instructions for the synthesis (B02).
pub(crate) const SYNTHESIS_PROMPT: Opt<Option<String>> =
    Opt::text("synthesisPrompt", "Custom instructions for the synthesis", 5_000, "TEXT");

/// The options of all methods. Each method may be combined with votes or with a text, so none
/// refuses any of them.
const OPTIONS: Options = &[&SYNTHESIZER, &THRESHOLD, &SYNTHESIS_PROMPT];

/// The result field that all methods add if there were votes.
const RESULTS: &[ResultField] =
    &[ResultField { name: "votingResults", title: "Votes", view: View::Ballots, of: tally::voting_results }];
