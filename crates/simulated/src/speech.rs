//! A free speech: a position, the reasons for it, answers to the others, and what may change it.

use quorum_core::model::participant::Participant;

use super::{
    mind::Mind,
    table::Speaker,
    topic::{clipped, narrower},
};

/// How many characters of a sub-discussion's answer are repeated.
const FOUND_LETTERS: usize = 220;

/// How many of the others one speech answers.
const ANSWERED: usize = 2;

/// How often a first-round speech convenes a sub-discussion, where that is allowed.
const CONVENES: f64 = 1.0 / 3.0;

/// The separator of paragraphs.
const PARAGRAPH: &str = "\n\n";

/// How a question ends that wants one word, and how often that is a yes.
const ONE_WORD: &str = "Reply with one word: yes or no.";
const YES: f64 = 0.85;

/// The whole speech.
pub(super) fn speak(mind: &Mind<'_>) -> String {
    if mind.call.spec.topic.trim_end().ends_with(ONE_WORD) {
        return if mind.chance("one word").fraction() < YES { "Yes" } else { "No" }.to_owned();
    }
    let speech = &mind.bank.speech;
    let (mut paragraphs, space) = (vec![stated(mind)], &mind.bank.space);
    let begins = match mind.table.own.is_empty() {
        true => mind.sentence(&speech.opening, &[]),
        false => second_thought(mind),
    };
    paragraphs.push(format!("{begins}{space}{}", mind.argument()));
    let (answers, observation) = (answers(mind), mind.observation());
    if answers.is_empty() {
        paragraphs.push(format!("{observation}{space}{}", closing(mind)));
    } else {
        paragraphs.push(answers);
        paragraphs.push(observation);
    }
    paragraphs.extend(found(mind));
    finished(mind, &paragraphs)
}

/// The text before a sub-discussion and its topic, if it wants one.
pub(super) fn wants_to_convene(mind: &Mind<'_>) -> Option<(String, String)> {
    let call = mind.call;
    let free = call.may_convene && call.shape.is_none() && call.round == 1 && mind.table.found.is_none();
    if !free || mind.chance("convene").fraction() >= CONVENES {
        return None;
    }
    let others: Vec<&str> = mind.bank.tails.iter().map(|it| &*it.question).collect();
    let others: Vec<&str> = others.into_iter().filter(|it| mind.question.tail != Some(it)).collect();
    let tail = others.get(mind.chance("tail").below(others.len()))?;
    let topic = narrower(&mind.question, &call.spec.topic, tail);
    Some((mind.sentence(&mind.bank.speech.convene, &[]), topic))
}

/// The line that states its position to the others.
pub(super) fn stated(mind: &Mind<'_>) -> String {
    mind.fill(&mind.bank.position, &[])
}

/// The paragraphs as one text, with its confidence if the question asks for it.
pub(super) fn finished(mind: &Mind<'_>, paragraphs: &[String]) -> String {
    // If a paragraph break is a stop sequence, everything must be one paragraph.
    let one = mind.call.stop.iter().any(|it| it == PARAGRAPH);
    let mut text = match paragraphs {
        [stated, rest @ ..] if one => format!("{stated}\n{}", rest.join(&mind.bank.space).replace('[', "(")),
        all => all.join(PARAGRAPH),
    };
    if mind.table.asked.contains("Confidence:") {
        text.push_str(&format!("\n\nConfidence: {:.2}", mind.confidence()));
    }
    text
}

/// Its answer to one of the others, with a quotation.
pub(super) fn answer(mind: &Mind<'_>, speaker: &Speaker<'_>) -> Option<String> {
    let speech = &mind.bank.speech;
    let (sentences, quote) = match mind.held_by(speaker) {
        Some(same) if same == mind.holds => (&speech.agree, speaker.quote(mind.chance(speaker.seat))?),
        Some(_) => (&speech.disagree, speaker.main_point()?),
        None => (&speech.notice, speaker.quote(mind.chance(speaker.seat))?),
    };
    Some(mind.sentence(sentences, &[("name", speaker.name), ("quote", &quote)]))
}

fn second_thought(mind: &Mind<'_>) -> String {
    let speech = &mind.bank.speech;
    let everyone = mind.table.others.iter().all(|it| mind.held_by(it) == Some(mind.holds));
    match mind.gave_up {
        Some(old) => changed(mind, old),
        None if everyone && !mind.table.others.is_empty() => mind.sentence(&speech.united, &[]),
        None => mind.sentence(&speech.kept, &[]),
    }
}

fn changed(mind: &Mind<'_>, old: usize) -> String {
    let old = &mind.question.answers[old].view;
    let quoted = mind.holders(mind.holds).find_map(|it| Some((it.name, it.main_point()?)));
    let (name, quote) = quoted.unwrap_or_else(|| {
        let name = mind.holders(mind.holds).next().map_or("", |it| it.name);
        (name, mind.bank.nothing.clone())
    });
    mind.sentence(&mind.bank.speech.changed, &[("old", old), ("name", name), ("quote", &quote)])
}

/// Answers people first, then those that disagree. A voice that changed its mind has already
/// mentioned the one it follows.
fn answers(mind: &Mind<'_>) -> String {
    let mut others: Vec<&Speaker<'_>> = mind.table.others.iter().collect();
    let is_model = |name: &str| !mind.call.spec.seat(name).is_some_and(Participant::is_person);
    others.sort_by_key(|it| {
        (is_model(it.seat), mind.held_by(it) == Some(mind.holds), mind.chance(it.seat).below(1_000))
    });
    if mind.gave_up.is_some() {
        let followed = mind.holders(mind.holds).next().map(|it| it.name);
        others.retain(|it| Some(it.name) != followed);
    }
    let said: Vec<String> = others.into_iter().filter_map(|it| answer(mind, it)).take(ANSWERED).collect();
    said.join(&mind.bank.space)
}

fn closing(mind: &Mind<'_>) -> String {
    let speech = &mind.bank.speech;
    mind.sentence(if mind.is_bound() { &speech.firm } else { &speech.doubt }, &[])
}

fn found(mind: &Mind<'_>) -> Option<String> {
    let (topic, text) = mind.table.found?;
    let plain = text.replace("**", "").replace(['“', '„'], "‘").replace('”', "’");
    let plain = plain.replace('「', "『").replace('」', "』");
    let phrase = clipped(plain.trim().lines().next()?, FOUND_LETTERS);
    Some(mind.sentence(&mind.bank.speech.found, &[("topic", topic), ("found", &phrase)]))
}
