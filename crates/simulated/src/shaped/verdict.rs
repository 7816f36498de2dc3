//! A judge's verdict on a debate (D07).

use quorum_core::{
    call::Shape,
    model::judgement::{KeyPoints, Verdict, Winner},
};

use super::{
    super::{
        mind::Mind,
        table::{Heard, quotable},
    },
    json,
};

/// So many arguments of each are listed.
const LISTED: usize = 3;

pub(super) fn verdict(mind: &Mind<'_>, _: &Shape) -> String {
    let judge = &mind.bank.judge;
    let heard = &mind.table.others;
    let names: Vec<&str> = heard.iter().map(|it| it.name).collect();
    let names = mind.bank.list(&names);
    let stood: Vec<String> = heard.iter().map(|it| stood(mind, it)).collect();
    let mean = heard.iter().map(|it| score(mind, it)).sum::<f64>() / heard.len().max(1) as f64;
    json(&Verdict {
        summary: mind.fill(&judge.summary, &[("names", &names), ("points", &stood.join(" "))]),
        key_points: heard.iter().map(key_points).collect(),
        areas_of_agreement: vec![mind.fill(&judge.agreement, &[])],
        areas_of_disagreement: vec![mind.fill(&judge.disagreement, &[("names", &names)])],
        winner: best(mind).map(|it| winner(mind, it)),
        quality_score: (mean * 10.0).round(),
        insights: heard.iter().filter_map(|it| insight(mind, it)).take(2).collect(),
    })
}

/// How well it argued, 0 to 10: an impression that lasts, a mood, and a bonus for having answered the others by name. Names are
/// drawn anew each time, so the impression goes by the first words.
pub(super) fn score(mind: &Mind<'_>, heard: &Heard<'_>) -> f64 {
    let answered = mind.table.others.iter().filter(|it| heard.mentions(it.name)).count();
    let impression = mind.conviction("score").of(heard.said.first().map_or("", |it| it)).share();
    let mood = mind.chance("score").of(heard.name).share();
    let score = 5.2 + 2.0 * impression + 0.8 * mood + 0.5 * answered.min(3) as f64;
    (score * 10.0).round() / 10.0
}

fn best<'m>(mind: &'m Mind<'_>) -> Option<&'m Heard<'m>> {
    mind.table.others.iter().max_by(|one, other| score(mind, one).total_cmp(&score(mind, other)))
}

fn winner(mind: &Mind<'_>, heard: &Heard<'_>) -> Winner {
    let quote = quoted(mind, heard);
    let reasoning = mind.say(&mind.bank.judge.winner, &[("name", heard.name), ("quote", &quote)]);
    Winner { participant: heard.name.to_owned(), reasoning }
}

fn stood(mind: &Mind<'_>, heard: &Heard<'_>) -> String {
    let judge = &mind.bank.judge;
    match heard.position() {
        Some(position) => mind.fill(&judge.stood, &[("name", heard.name), ("position", &position)]),
        None => mind.fill(&judge.spoke, &[("name", heard.name), ("quote", &quoted(mind, heard))]),
    }
}

fn key_points(heard: &Heard<'_>) -> KeyPoints {
    let all = heard.said.iter().flat_map(|text| quotable(text));
    KeyPoints { participant: heard.name.to_owned(), main_arguments: all.take(LISTED).collect() }
}

fn insight(mind: &Mind<'_>, heard: &Heard<'_>) -> Option<String> {
    let quote = heard.quote(mind.chance("insight"))?;
    Some(mind.fill(&mind.bank.judge.insight, &[("name", heard.name), ("quote", &quote)]))
}

/// Something it said, or a word in its place.
pub(super) fn quoted(mind: &Mind<'_>, heard: &Heard<'_>) -> String {
    heard.main_point().unwrap_or_else(|| mind.bank.nothing.clone())
}
