//! Consensus methods, one file each. Shared parts: `draft` (one participant writes) and `poll`
//! (everyone votes).

mod answer_value;
mod draft;
pub(crate) mod majority;
pub(crate) mod moderator;
pub(crate) mod poll;
pub(crate) mod synthesis;
pub(crate) mod tally;
pub(crate) mod unanimous;
pub(crate) mod voting;

use quorum_core::{
    model::{
        error::{Code, Refusal},
        spec::Spec,
    },
    registry::Options,
    vocabulary::{form::Form, option::Opt, result::ResultField, view::View},
};

use crate::{
    first::{self, report},
    readers::{ballot, short_answer, synthesis_reader},
    weighing::WEIGHTS,
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

/// The token limit of a synthesis, independent of the limit of a speech. The length that its prompt
/// asks for is derived from this limit.
pub(crate) const SYNTHESIS_TOKENS: Opt<u32> = Opt::whole(
    "synthesisTokens",
    "The token limit of the synthesis, with the list of agreements and arguments after it",
    256..=200_000,
    3_072,
)
.inherited();

/// The token limit of the longest answer that a method asks for.
pub(crate) fn longest(spec: &Spec) -> u32 {
    synthesis_tokens(spec).max(spec.manner.max_tokens)
}

/// The remark that an option is given and has no effect, and why.
pub(crate) fn no_effect(spec: &Spec, option: &str, why: &str) -> Option<Refusal> {
    let is_given = spec.settings.get(option).is_some();
    is_given.then(|| Refusal::new(option, Code::InvalidRequest, format!("no effect: {why}")))
}

/// The remarks of a method that has no votes to count. In a vote of several rounds, the threshold
/// still decides whether there is another one.
fn counts_no_votes(spec: &Spec) -> Vec<Refusal> {
    if poll::votes_itself(spec) && 1 < spec.rounds {
        return first::remarks(spec);
    }
    let why = format!("the method {} counts no votes", spec.consensus.method);
    let counting = [no_effect(spec, THRESHOLD.name(), &why), no_effect(spec, WEIGHTS.name(), &why)];
    counting.into_iter().flatten().chain(first::remarks(spec)).collect()
}

/// The token limit of a synthesis in this discussion.
pub(crate) fn synthesis_tokens(spec: &Spec) -> u32 {
    spec.option(&SYNTHESIS_TOKENS)
}

/// The options of all methods. Each method may be combined with votes or with a text, so none
/// refuses any of them.
const OPTIONS: Options = &[
    &SYNTHESIZER,
    &THRESHOLD,
    &SYNTHESIS_PROMPT,
    &SYNTHESIS_TOKENS,
    &WEIGHTS,
    &first::NO_FIRST,
    &first::baseline::BASELINE,
];

/// The structured replies that methods ask for.
const FORMS: &[&Form] = &[&ballot::FORM, &short_answer::FORM, &synthesis_reader::FORM];

/// What the votes must reach under this method. A method that doesn't count votes has the rule of
/// the weighted vote.
fn rule_of(method: &str) -> &'static poll::Rule {
    let rules = [(majority::METHOD.name, &majority::RULE), (unanimous::METHOD.name, &unanimous::RULE)];
    rules.into_iter().find(|it| it.0 == method).map_or(&voting::RULE, |it| it.1)
}

/// The result fields that all methods add: the votes if there were any, and the first answers.
const RESULTS: &[ResultField] = &[
    ResultField { name: "votingResults", title: "Votes", view: View::Ballots, of: tally::voting_results },
    report::FIRST_ANSWERS,
    report::FIRST_AGREEMENT,
    report::OVERTURNED,
    report::FIRST_DECISION,
    report::PROBABILITY,
    report::INDEPENDENT_VOICES,
    report::BASELINE,
];
