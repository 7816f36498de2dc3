//! First answers: what everyone answers before anyone has heard the others, asked where there are
//! options, or where the answer will be graded.
//!
//! Where the pattern itself votes, its first round is the first answers. Everywhere else they are
//! asked before the talk, and no participant is shown them.

pub(crate) mod baseline;
pub(crate) mod report;

pub use report::{final_answer, probability};

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        error::Refusal,
        participant::Participant,
        reading::Source,
        spec::Spec,
        state::{RecordedReading, State},
    },
    vocabulary::option::Opt,
};

use crate::{
    consensus::{no_effect, poll::votes_itself},
    prompts::deciding,
    readers::{
        ballot::{self, Ballots},
        short_answer::{self, ShortAnswers},
    },
    roles,
};

/// Leaves first answers out.
pub(crate) const NO_FIRST: Opt<bool> =
    Opt::flag("noFirst", "Don't ask for first answers before the talk", false);

/// A participant's first answer.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstAnswer {
    /// The participant's name.
    pub participant: String,
    /// The answer in its own words; of options, the option.
    pub choice: String,
    /// The confidence it stated.
    pub confidence: f64,
}

/// What makes two answers to this spec's question the same: the option itself, or without options
/// the text apart from case, space and punctuation.
pub(crate) fn key(spec: &Spec, answer: &str) -> String {
    if !spec.options.is_empty() {
        return answer.trim().to_owned();
    }
    answer.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether two answers to this spec's question are the same.
#[must_use]
pub fn is_same(spec: &Spec, one: &str, other: &str) -> bool {
    key(spec, one) == key(spec, other)
}

/// The option that these words name; case and quotes are ignored where that is unambiguous.
#[must_use]
pub fn option(options: &[String], words: &str) -> Option<String> {
    Ballots::on(options).option(words).cloned()
}

/// Whether first answers are asked for before the talk of this spec.
pub(crate) fn are_asked(spec: &Spec) -> bool {
    let has_options = !spec.options.is_empty() && ballot::check(&spec.options).is_empty();
    (has_options || spec.graded) && !votes_itself(spec) && !spec.option(&NO_FIRST)
}

/// Options about first answers that have no effect, and why.
pub(crate) fn remarks(spec: &Spec) -> Vec<Refusal> {
    let is_round = votes_itself(spec).then_some("the first answers are the first round");
    let left_out = is_round.and_then(|why| no_effect(spec, NO_FIRST.name(), why));
    let none = !votes_itself(spec) && !are_asked(spec);
    let why = match spec.option(&NO_FIRST) && !spec.options.is_empty() {
        true => "the first answers to compare with are left out",
        false => "there are no first answers to compare with; they need options",
    };
    let compared = none.then(|| no_effect(spec, baseline::BASELINE.name(), why)).flatten();
    left_out.into_iter().chain(compared).collect()
}

/// Asks everyone for a first answer. People are not asked: they would be waited for before anything
/// is said.
pub(crate) async fn ask(floor: &mut Floor) -> Result<(), Halt> {
    let spec = floor.spec();
    let models: Vec<Participant> = roles::voters(&spec).into_iter().filter(|it| !it.is_person()).collect();
    let asked = floor.present(&models);
    floor.enter_first();
    let question = |who: &Participant| deciding::first_answer(&spec, who);
    if spec.options.is_empty() {
        floor.ask_all_for(&asked, question, &ShortAnswers).await?;
    } else {
        floor.ask_all_for(&asked, question, &Ballots::on(&spec.options)).await?;
    }
    Ok(())
}

/// The first answers on record, in seating order.
#[must_use]
pub fn answers(state: &State) -> Vec<FirstAnswer> {
    // Records from before first answers had a step of their own have those of a vote in its first
    // round.
    let is_first = |it: &&RecordedReading| it.is_first() || (votes_itself(&state.spec) && it.round == 1);
    let taken = state.readings.iter().filter(|it| it.source != Source::Assumed).filter(is_first);
    let mut answers: Vec<FirstAnswer> = taken.filter_map(answer).collect();
    let seat = |name: &str| state.spec.participants.iter().position(|it| it.name == name);
    answers.sort_by_key(|it| seat(&it.participant));
    answers.dedup_by(|later, first| later.participant == first.participant);
    answers
}

fn answer(heard: &RecordedReading) -> Option<FirstAnswer> {
    let is_answer = [ballot::BALLOT, short_answer::ANSWER].contains(&heard.reading.kind.as_str());
    let stance = heard.reading.stance.as_ref().filter(|_| is_answer)?;
    Some(FirstAnswer {
        participant: heard.participant.clone(),
        choice: stance.position.clone(),
        confidence: stance.confidence,
    })
}
