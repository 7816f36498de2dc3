//! A judge's verdict on a debate (D07).

use quorum_core::vocabulary::sample::{Mind, Voice};
use serde_json::Value;

use super::json;
use crate::debate::{KeyPoints, Verdict, Winner};

/// How many arguments of each debater are listed.
const LISTED: usize = 3;

pub(crate) fn sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let heard = mind.others();
    let names: Vec<&str> = heard.iter().map(|it| it.name.as_str()).collect();
    let names = mind.list(&names);
    let stood: Vec<String> = heard.iter().map(|it| stood(mind, it)).collect();
    let all: Vec<f64> = heard.iter().map(|it| mark(mind, it)).collect();
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let better = |one: &&Voice, other: &&Voice| {
        let marks = mark(mind, one).total_cmp(&mark(mind, other));
        marks.then_with(|| score(mind, one).total_cmp(&score(mind, other)))
    };
    let best = heard.iter().max_by(better);
    json(&Verdict {
        summary: mind.phrase("judge.summary", &[("names", &names), ("points", &stood.join(" "))]),
        key_points: heard.iter().map(key_points).collect(),
        areas_of_agreement: vec![mind.phrase("judge.agreement", &[])],
        areas_of_disagreement: vec![mind.phrase("judge.disagreement", &[("names", &names)])],
        winner: best.map(|it| winner(mind, it)),
        quality_score: Some((mean * 10.0).round()),
        insights: heard.iter().filter_map(|it| insight(mind, it)).take(2).collect(),
    })
}

/// The mean of the marks that the judge gave it, as the question repeats them; without any, how
/// well it argued.
fn mark(mind: &dyn Mind, heard: &Voice) -> f64 {
    let rounds = mind.asked().lines().filter_map(|it| it.strip_prefix("- round ")?.split_once(": "));
    let marks = rounds.flat_map(|(_, marks)| marks.split(", ")).filter_map(|it| it.rsplit_once(' '));
    let own = marks.filter(|(name, _)| *name == heard.name).filter_map(|(_, mark)| mark.parse().ok());
    let own: Vec<f64> = own.collect();
    if own.is_empty() { score(mind, heard) } else { own.iter().sum::<f64>() / own.len() as f64 }
}

/// How well it argued, 0 to 10: a lasting impression, a mood, and a bonus for having answered the
/// others by name. Labels change from call to call, so the impression is derived from the first
/// turn.
pub(super) fn score(mind: &dyn Mind, heard: &Voice) -> f64 {
    let answered = mind.others().iter().filter(|it| heard.mentions(&it.name)).count();
    let first_words = heard.said.first().map_or("", String::as_str);
    let impression = mind.conviction(&format!("score/{first_words}"));
    let mood = mind.chance(&format!("score/{}", heard.name));
    let score = 5.2 + 2.0 * impression + 0.8 * mood + 0.5 * answered.min(3) as f64;
    (score * 10.0).round() / 10.0
}

fn winner(mind: &dyn Mind, heard: &Voice) -> Winner {
    let quote = quoted(mind, heard);
    let reasoning = mind.phrase("judge.winner", &[("name", &heard.name), ("quote", &quote)]);
    Winner { participant: heard.name.clone(), reasoning }
}

fn stood(mind: &dyn Mind, heard: &Voice) -> String {
    match &heard.position {
        Some(position) => mind.phrase("judge.stood", &[("name", &heard.name), ("position", position)]),
        None => mind.phrase("judge.spoke", &[("name", &heard.name), ("quote", &quoted(mind, heard))]),
    }
}

fn key_points(heard: &Voice) -> KeyPoints {
    let main_arguments = heard.points.iter().take(LISTED).cloned().collect();
    KeyPoints { participant: heard.name.clone(), main_arguments }
}

fn insight(mind: &dyn Mind, heard: &Voice) -> Option<String> {
    let place = (mind.chance("insight") * heard.points.len() as f64) as usize;
    let quote = heard.points.get(place).or(heard.point.as_ref())?;
    Some(mind.phrase("judge.insight", &[("name", &heard.name), ("quote", quote)]))
}

/// A quotation of it, or a replacement if there is none.
pub(super) fn quoted(mind: &dyn Mind, heard: &Voice) -> String {
    heard.point.clone().unwrap_or_else(|| mind.phrase("nothing", &[]))
}
