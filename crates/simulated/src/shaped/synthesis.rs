//! A synthesis of everything heard: a point of every participant, who agrees, who does not (INV-DISC-200).

use quorum_core::{
    call::Shape,
    model::judgement::{Claim, Dissent, Synthesis},
};

use super::{
    super::{mind::Mind, table::Heard},
    json,
    verdict::quoted,
};

pub(super) fn synthesis(mind: &Mind<'_>, _: &Shape) -> String {
    let everyone = everyone(mind);
    let leading = leading(mind, &everyone);
    let behind = |answer: usize| everyone.iter().filter(|it| mind.held_by(it) == Some(answer)).count();
    let agreement = leading.map_or(0.5, |it| behind(it) as f64 / everyone.len() as f64);
    let mut claims: Vec<Claim> = everyone.iter().filter_map(|it| claim(mind, &everyone, it)).collect();
    claims.dedup_by(|one, other| one.text == other.text);
    json(&Synthesis {
        synthesis: text(mind, &everyone, leading),
        agreement: Some((agreement * 100.0).round() / 100.0),
        agreements: agreements(mind, &everyone),
        dissent: dissent(mind, &everyone, leading),
        claims,
    })
}

/// All who spoke, the voice itself among them, by name.
fn everyone<'m>(mind: &Mind<'m>) -> Vec<Heard<'m>> {
    let mut everyone = mind.table.others.clone();
    if !mind.table.own.is_empty() {
        everyone.push(Heard {
            name: &mind.call.participant.name,
            said: mind.table.own.clone(),
            round: mind.call.round,
        });
    }
    everyone.sort_by_key(|it| it.name);
    everyone
}

/// The answer with the most behind it; among equals the stronger one.
fn leading(mind: &Mind<'_>, everyone: &[Heard<'_>]) -> Option<usize> {
    let heads = |answer: &usize| everyone.iter().filter(|it| mind.held_by(it) == Some(*answer)).count();
    let weight = |answer: &usize| heads(answer) as f64 + mind.strength(*answer);
    let held = (0..mind.question.answers.len()).filter(|answer| heads(answer) > 0);
    held.max_by(|one, other| weight(one).total_cmp(&weight(other)))
}

fn text(mind: &Mind<'_>, everyone: &[Heard<'_>], leading: Option<usize>) -> String {
    let bank = &mind.bank.synthesis;
    let mut paragraphs = vec![lead(mind, everyone, leading)];
    let points: Vec<String> = everyone.iter().map(|it| format!("- {}", point(mind, it))).collect();
    paragraphs.push(points.join("\n"));
    paragraphs.push(mind.say(&bank.closing, &[]));
    paragraphs.join("\n\n")
}

fn lead(mind: &Mind<'_>, everyone: &[Heard<'_>], leading: Option<usize>) -> String {
    let bank = &mind.bank.synthesis;
    let Some(leading) = leading else { return mind.fill(&bank.open, &[]) };
    let names = holders(mind, everyone, leading);
    let (count, all) = (names.len(), everyone.len());
    let sentence = if count == all {
        &bank.united
    } else if count * 2 > all {
        &bank.leaning
    } else {
        &bank.split
    };
    let position = &*mind.question.answers[leading].position;
    let (names, count, all) = (mind.bank.list(&names), count.to_string(), all.to_string());
    mind.fill(sentence, &[("position", position), ("names", &names), ("count", &count), ("all", &all)])
}

fn point(mind: &Mind<'_>, heard: &Heard<'_>) -> String {
    let bank = &mind.bank.synthesis;
    let quote = quoted(mind, heard);
    let position = heard.position().unwrap_or_default();
    let sentence = if position.is_empty() { &bank.says } else { &bank.holds };
    mind.fill(sentence, &[("name", heard.name), ("position", &position), ("quote", &quote)])
}

fn holders<'e>(mind: &Mind<'_>, everyone: &'e [Heard<'_>], answer: usize) -> Vec<&'e str> {
    everyone.iter().filter(|it| mind.held_by(it) == Some(answer)).map(|it| it.name).collect()
}

fn agreements(mind: &Mind<'_>, everyone: &[Heard<'_>]) -> Vec<String> {
    let bank = &mind.bank.synthesis;
    let groups = (0..mind.question.answers.len()).map(|it| (it, holders(mind, everyone, it)));
    let agreed = groups.filter(|(_, names)| names.len() > 1).map(|(answer, names)| {
        let position = &*mind.question.answers[answer].position;
        mind.fill(&bank.agreed, &[("names", &mind.bank.list(&names)), ("position", position)])
    });
    let moved = everyone.iter().filter(|it| it.first_position() != it.position());
    agreed.chain(moved.map(|it| mind.fill(&bank.moved, &[("name", it.name)]))).collect()
}

fn dissent(mind: &Mind<'_>, everyone: &[Heard<'_>], leading: Option<usize>) -> Vec<Dissent> {
    let others = everyone.iter().filter(|it| mind.held_by(it) != leading);
    let dissent =
        others.filter_map(|it| Some(Dissent { participant: it.name.to_owned(), position: it.position()? }));
    dissent.collect()
}

/// The point one of them made, with those who hold the same, and those who answered it from elsewhere.
fn claim(mind: &Mind<'_>, everyone: &[Heard<'_>], of: &Heard<'_>) -> Option<Claim> {
    let text = of.main_point()?;
    let answer = mind.held_by(of);
    let same = |it: &&Heard<'_>| it.name == of.name || (answer.is_some() && mind.held_by(it) == answer);
    let named = |heard: Vec<&Heard<'_>>| heard.iter().map(|it| it.name.to_owned()).collect::<Vec<_>>();
    let supported_by = named(everyone.iter().filter(same).collect());
    let attacks = |it: &&Heard<'_>| !same(it) && it.mentions(of.name);
    let attacked_by = named(everyone.iter().filter(attacks).collect());
    let answered = everyone.iter().any(|it| it.name != of.name && it.mentions(of.name));
    Some(Claim { text, supported_by, attacked_by, unanswered: !answered })
}
