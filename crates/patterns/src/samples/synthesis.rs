//! A synthesis of the talk: a point of every participant, who agrees, who doesn't (INV-DISC-200).

use quorum_core::{
    model::outcome::{Claim, Dissent},
    vocabulary::sample::{Mind, Voice},
};
use serde_json::{Value, json};

use super::verdict::quoted;
use crate::readers::synthesis_mark::mark_in;

pub(crate) fn sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let everyone = everyone(mind);
    let leading = leading(mind, &everyone);
    let mut claims: Vec<Claim> = everyone.iter().filter_map(|it| claim(&everyone, it)).collect();
    claims.dedup_by(|one, other| one.text == other.text);
    let text = text(mind, &everyone, leading);
    let Some(mark) = mark_in(mind.asked()) else { return text };
    let (agreements, dissent) = (agreements(mind, &everyone), dissent(&everyone, leading));
    let structure = json!({ "claims": claims, "agreements": agreements, "dissent": dissent });
    format!("{text}\n\n{mark}\n{structure}")
}

/// The same for an answer that must be a JSON value: the schema in the prompt, filled in.
pub(crate) fn value_sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let schema = mind.asked().rsplit_once("```json\n").and_then(|(_, it)| it.split_once("\n```"));
    let schema: Option<Value> = schema.and_then(|(it, _)| serde_json::from_str(it).ok());
    let value = mind.completed(Value::Null, schema.as_ref());
    let Some(mark) = mark_in(mind.asked()) else { return value.to_string() };
    format!("{value}\n\n{mark}\n{}", json!({ "claims": [], "agreements": [], "dissent": [] }))
}

/// Everyone that spoke, including the voice itself, by name.
fn everyone(mind: &dyn Mind) -> Vec<Voice> {
    let mut everyone: Vec<Voice> = mind.others().into_iter().chain(mind.own()).collect();
    everyone.sort_by(|one, other| one.name.cmp(&other.name));
    everyone
}

/// The answer that is proposed: that of a majority, or else of the debater that the judge finds
/// ahead, or else the one with the most holders, the strongest first. `None` if nobody stated any.
fn leading(mind: &dyn Mind, everyone: &[Voice]) -> Option<usize> {
    let answers = mind.answers();
    let held = || (0..answers.len()).map(|it| (it, holders(everyone, it).len()));
    let majority = held().find(|(_, count)| everyone.len() < 2 * count).map(|(answer, _)| answer);
    let heavier = |one: &(usize, usize), other: &(usize, usize)| {
        one.1.cmp(&other.1).then_with(|| answers[one.0].strength.total_cmp(&answers[other.0].strength))
    };
    let most = || held().filter(|(_, count)| 0 < *count).max_by(heavier).map(|(answer, _)| answer);
    majority.or_else(|| ahead(mind, everyone)).or_else(most)
}

/// The answer of the debater that the judges find ahead, if they agree.
fn ahead(mind: &dyn Mind, everyone: &[Voice]) -> Option<usize> {
    let is_ahead = |it: &&Voice| mind.asked().contains(&format!(", with {} ahead", it.name));
    let mut found = everyone.iter().filter(is_ahead);
    let (first, second) = (found.next(), found.next());
    first.filter(|_| second.is_none()).and_then(|it| it.holds)
}

fn text(mind: &dyn Mind, everyone: &[Voice], leading: Option<usize>) -> String {
    let points: Vec<String> = everyone.iter().map(|it| format!("- {}", point(mind, it))).collect();
    let closing = mind.phrase("synthesis.closing", &[]);
    [lead(mind, everyone, leading), points.join("\n"), closing].join("\n\n")
}

fn lead(mind: &dyn Mind, everyone: &[Voice], leading: Option<usize>) -> String {
    let Some(leading) = leading else { return mind.phrase("synthesis.open", &[]) };
    let (count, all) = (holders(everyone, leading).len(), everyone.len());
    let sentence = match count {
        _ if count == all => "synthesis.united",
        _ if all < 2 * count => "synthesis.leaning",
        _ => "synthesis.split",
    };
    let position = mind.answers()[leading].position.clone();
    let (count, all) = (count.to_string(), all.to_string());
    mind.phrase(sentence, &[("position", &position), ("count", &count), ("all", &all)])
}

fn point(mind: &dyn Mind, heard: &Voice) -> String {
    let quote = quoted(mind, heard);
    let position = heard.position.clone().unwrap_or_default();
    let sentence = if position.is_empty() { "synthesis.says" } else { "synthesis.holds" };
    mind.phrase(sentence, &[("name", &heard.name), ("position", &position), ("quote", &quote)])
}

fn holders(everyone: &[Voice], answer: usize) -> Vec<&str> {
    everyone.iter().filter(|it| it.holds == Some(answer)).map(|it| it.name.as_str()).collect()
}

fn agreements(mind: &dyn Mind, everyone: &[Voice]) -> Vec<String> {
    let answers = mind.answers();
    let groups = (0..answers.len()).map(|it| (it, holders(everyone, it)));
    let agreed = groups.filter(|(_, names)| names.len() > 1).map(|(answer, names)| {
        let position = &answers[answer].position;
        mind.phrase("synthesis.agreed", &[("names", &mind.list(&names)), ("position", position)])
    });
    let moved = everyone.iter().filter(|it| it.first_position != it.position);
    agreed.chain(moved.map(|it| mind.phrase("synthesis.moved", &[("name", &it.name)]))).collect()
}

fn dissent(everyone: &[Voice], leading: Option<usize>) -> Vec<Dissent> {
    let others = everyone.iter().filter(|it| it.holds != leading);
    let dissent = others
        .filter_map(|it| Some(Dissent { participant: it.name.clone(), position: it.position.clone()? }));
    dissent.collect()
}

/// The point that one participant made, with its supporters, and those that answered it from
/// another position.
fn claim(everyone: &[Voice], of: &Voice) -> Option<Claim> {
    let text = of.point.clone()?;
    let same = |it: &&Voice| it.name == of.name || (of.holds.is_some() && it.holds == of.holds);
    let attacks = |it: &&Voice| !same(it) && it.mentions(&of.name);
    let names = |voices: Vec<&Voice>| voices.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let supported_by = names(everyone.iter().filter(same).collect());
    let attacked_by = names(everyone.iter().filter(attacks).collect());
    let answered = everyone.iter().any(|it| it.name != of.name && it.mentions(&of.name));
    Some(Claim { text, supported_by, attacked_by, unanswered: !answered })
}
