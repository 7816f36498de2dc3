//! A vote: for one of the options, or on a proposal.

use quorum_core::vocabulary::sample::Mind;
use serde_json::Value;

use super::json;
use crate::readers::{Ballot, Confidence};

/// Possible names of yes and no in a vote on a proposal.
const YES: [&str; 5] = ["agree", "yes", "accept", "approve", "for"];
const NO: [&str; 5] = ["disagree", "no", "reject", "object", "against"];

pub(crate) fn sample(mind: &dyn Mind, schema: Option<&Value>) -> String {
    let offered = offered(schema);
    let position = position(mind);
    let (choice, reasoning) = if let Some(own) = same_words(&offered, &position) {
        (own, mind.phrase("vote.choice", &[("argument", &mind.argument())]))
    } else if let (Some(yes), Some(no)) = (any_of(&offered, &YES), any_of(&offered, &NO)) {
        on_proposal(mind, yes, no)
    } else {
        let place = (mind.chance("ballot") * offered.len() as f64) as usize;
        (offered.get(place).cloned().unwrap_or(position), mind.phrase("vote.other", &[]))
    };
    json(&Ballot { choice, confidence: Confidence::clamped(mind.confidence()), reasoning })
}

fn position(mind: &dyn Mind) -> String {
    mind.answers().get(mind.holds()).map(|it| it.position.clone()).unwrap_or_default()
}

fn offered(schema: Option<&Value>) -> Vec<String> {
    let options = schema.and_then(|it| it.pointer("/properties/choice/enum")?.as_array());
    options.into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
}

fn same_words(offered: &[String], position: &str) -> Option<String> {
    offered.iter().find(|it| it.to_lowercase() == position.to_lowercase()).cloned()
}

fn any_of(offered: &[String], words: &[&str]) -> Option<String> {
    words.iter().find_map(|word| same_words(offered, word))
}

/// Yes if the proposal is its own answer, otherwise depending on its stubbornness.
fn on_proposal(mind: &dyn Mind, yes: String, no: String) -> (String, String) {
    let gives_in = mind.chance("proposal") < 1.0 - mind.stubbornness().powf(1.5);
    match proposed(mind) {
        Some(answer) if answer == mind.holds() => (yes, mind.phrase("vote.agree", &[])),
        _ if gives_in => (yes, mind.phrase("vote.yield", &[])),
        _ => (no, mind.phrase("vote.disagree", &[])),
    }
}

/// The answer that the proposal names first. The topic is removed, because it may name them all.
fn proposed(mind: &dyn Mind) -> Option<usize> {
    let text = mind.asked().replace(mind.topic(), " ").to_lowercase();
    let answers = mind.answers();
    let named = answers.iter().enumerate();
    let named = named.filter_map(|(place, it)| Some((text.find(&it.position.to_lowercase())?, place)));
    named.min().map(|(_, answer)| answer)
}
