//! The prompts, and the answer for the user.

use quorum::{
    floor::ask::{Ask, Hears},
    model::spec::Spec,
};

use crate::spread::Spread;

const SYSTEM: &str = "You are one of several experts who estimate a number independently and anonymously. \
                      Think for yourself; agreement is no aim. Give reasons before the number.";

/// The question of a round. The first estimate is made alone; later rounds show the spread and the
/// reasons, but no names.
pub(crate) fn estimate(spec: &Spec, round: u32, last: Option<&Spread>) -> Ask {
    let seen = last.map_or_else(String::new, |last| {
        let Spread { median, low, high, unit, reasons } = last;
        let reasons: Vec<String> =
            reasons.iter().map(|(value, why)| format!("> {value}: {}", why.replace('\n', " "))).collect();
        format!(
            "The estimates of the last round: median {median} {unit}, the middle half from {low} to {high}. \
             The reasons that were given:\n\n{}\n\nKeep your estimate or change it; say which reason \
             moved you, if one did.\n\n",
            reasons.join("\n")
        )
    });
    let question = format!("Round {round}. {seen}The question:\n\n{}", spec.topic);
    Ask::new(SYSTEM, question).hearing(Hears::Nothing)
}

/// The result in words.
pub(crate) fn answer(spread: &Spread) -> String {
    let Spread { median, low, high, unit, reasons } = spread;
    let lowest = reasons.first().map(|it| format!("\n\nThe lowest ({}): {}", it.0, it.1)).unwrap_or_default();
    let highest =
        reasons.last().map(|it| format!("\n\nThe highest ({}): {}", it.0, it.1)).unwrap_or_default();
    format!("{median} {unit}; the middle half lies between {low} and {high}.{lowest}{highest}")
}
