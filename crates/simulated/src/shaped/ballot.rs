//! A vote: for one of the options, or on a proposal.

use quorum_core::{
    call::Shape,
    model::ballot::{Ballot, Confidence},
};

use super::{super::mind::Mind, json};

/// What a yes and a no may be called when a proposal is voted on.
const YES: [&str; 5] = ["agree", "yes", "accept", "approve", "for"];
const NO: [&str; 5] = ["disagree", "no", "reject", "object", "against"];

pub(super) fn ballot(mind: &Mind<'_>, shape: &Shape) -> String {
    let offered = offered(shape);
    let vote = &mind.bank.vote;
    let argument = mind.argument();
    let (choice, reasoning) = if let Some(own) = same_words(&offered, mind.position()) {
        (own, mind.say(&vote.choice, &[("argument", &argument)]))
    } else if let (Some(yes), Some(no)) = (any_of(&offered, &YES), any_of(&offered, &NO)) {
        on_proposal(mind, yes, no)
    } else {
        let nearest = offered.get(mind.chance("ballot").below(offered.len())).cloned();
        (nearest.unwrap_or_else(|| mind.position().to_owned()), mind.say(&vote.other, &[]))
    };
    json(&Ballot { choice, confidence: Confidence::clamped(mind.confidence()), reasoning })
}

fn offered(shape: &Shape) -> Vec<String> {
    let options = shape.schema.as_deref().and_then(|it| it.pointer("/properties/choice/enum")?.as_array());
    options.into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned())).collect()
}

fn same_words(offered: &[String], position: &str) -> Option<String> {
    offered.iter().find(|it| it.to_lowercase() == position.to_lowercase()).cloned()
}

fn any_of(offered: &[String], words: &[&str]) -> Option<String> {
    words.iter().find_map(|word| same_words(offered, word))
}

/// Yes where the proposal is its own answer, else by how easily it gives in.
fn on_proposal(mind: &Mind<'_>, yes: String, no: String) -> (String, String) {
    let vote = &mind.bank.vote;
    let gives_in = mind.chance("proposal").share() < 1.0 - mind.stubbornness.powf(1.5);
    match proposed(mind) {
        Some(answer) if answer == mind.holds => (yes, mind.say(&vote.agree, &[])),
        _ if gives_in => (yes, mind.say(&vote.r#yield, &[])),
        _ => (no, mind.say(&vote.disagree, &[])),
    }
}

/// The answer the proposal names first. The question itself may name them all, so it is taken out.
fn proposed(mind: &Mind<'_>) -> Option<usize> {
    let text = mind.table.asked.replace(&mind.call.spec.topic, " ").to_lowercase();
    let found = |answer: usize| text.find(&mind.question.answers[answer].position.to_lowercase());
    (0..mind.question.answers.len()).filter_map(|it| Some((found(it)?, it))).min().map(|(_, answer)| answer)
}
