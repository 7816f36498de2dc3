//! Ways to decide, one file each; what they share is in `draft` (someone writes) and `poll` (everyone votes).

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

/// Who synthesises or moderates.
pub(crate) const SYNTHESIZER: Opt<Option<String>> =
    Opt::seat("synthesizer", "The participant that writes the synthesis or moderates").inherited();

/// The share that decides.
pub(crate) const THRESHOLD: Opt<f64> =
    Opt::number("threshold", "The share of the votes that decides", 0.0..=1.0, 0.5).inherited();

/// Instructions for the synthesis in place of ours (B02).
pub(crate) const SYNTHESIS_PROMPT: Opt<Option<String>> =
    Opt::text("synthesisPrompt", "Instructions for the synthesis in place of the usual ones", 5_000, "TEXT");

/// What all methods read. Each of them may be followed by votes or by a text, so none refuses any.
const OPTIONS: Options = &[&SYNTHESIZER, &THRESHOLD, &SYNTHESIS_PROMPT];

/// What all methods add to the result, where there were votes.
const RESULTS: &[ResultField] =
    &[ResultField { name: "votingResults", title: "Votes", view: View::Ballots, of: tally::voting_results }];
