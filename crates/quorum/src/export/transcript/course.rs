//! The parts of a document that tell how it went: positions, the judge's marks, agreement, changes of mind.

use quorum_core::model::{judging::JudgedRound, outcome::Outcome};

use super::{Block, Part, Table};

pub(super) fn course(outcome: &Outcome) -> Vec<Part> {
    let parts = [positions(outcome), judging(outcome), held(outcome), agreement(outcome), flips(outcome)];
    parts.into_iter().flatten().collect()
}

fn positions(outcome: &Outcome) -> Option<Part> {
    let parts = outcome.positions.as_ref()?.parts.iter();
    let rows: Vec<Vec<String>> =
        parts.map(|it| vec![it.participant.clone(), it.position.clone(), it.persona.clone()]).collect();
    listed("Positions", &["participant", "position", "persona"], &rows)
}

fn judging(outcome: &Outcome) -> Option<Part> {
    let report = outcome.judging.as_ref()?;
    let rows: Vec<Vec<String>> = report.rounds.iter().flat_map(marks).collect();
    let mut part = listed("Judging", &["round", "judge", "debater", "score"], &rows)
        .unwrap_or_else(|| Part::new("Judging", Vec::new()));
    let unjudged: Vec<String> = report.unassessed_rounds.iter().map(u32::to_string).collect();
    if !unjudged.is_empty() {
        part.blocks
            .push(Block::Line(format!("Rounds without a judgement that counts: {}", unjudged.join(", "))));
    }
    if report.swap_checked > 0 {
        let (flipped, all) = (report.flipped, report.swap_checked);
        let rate = report.flip_rate.unwrap_or_default();
        let line = format!(
            "Judgements that came out the other way round in the other order: {flipped} of {all} (flip rate {rate:.2})"
        );
        part.blocks.push(Block::Line(line));
    }
    part.unless_empty()
}

fn marks(round: &JudgedRound) -> Vec<Vec<String>> {
    let mark = |who: &str, score: f64| {
        vec![round.round.to_string(), round.judge.clone(), who.to_owned(), format!("{score:.1}")]
    };
    let each = round.assessment.assessments.iter().map(|it| mark(&it.participant, it.score));
    each.chain([mark("as a whole", round.assessment.quality_score)]).collect()
}

fn held(outcome: &Outcome) -> Option<Part> {
    let row = |it: &quorum_core::model::flips::Position| {
        vec![it.round.to_string(), it.participant.clone(), it.position.clone()]
    };
    let rows: Vec<Vec<String>> = outcome.positions_by_round.iter().map(row).collect();
    listed("Positions by round", &["round", "participant", "position"], &rows)
}

fn agreement(outcome: &Outcome) -> Option<Part> {
    let rows = outcome.agreement_by_round.iter();
    let rows: Vec<Vec<String>> = rows
        .map(|it| vec![it.round.to_string(), it.leading.clone(), format!("{:.2}", it.agreement)])
        .collect();
    listed("Agreement by round", &["round", "leading", "agreement"], &rows)
}

fn flips(outcome: &Outcome) -> Option<Part> {
    let row = |it: &quorum_core::model::flips::Flip| {
        vec![it.round.to_string(), it.participant.clone(), it.from.clone(), it.to.clone(), it.reason.clone()]
    };
    let rows: Vec<Vec<String>> = outcome.flips.iter().map(row).collect();
    listed("Changes of mind", &["round", "participant", "from", "to", "why"], &rows)
}

fn listed(title: &str, head: &[&'static str], rows: &[Vec<String>]) -> Option<Part> {
    (!rows.is_empty()).then(|| Part::new(title, vec![Block::Table(Table::new(head, rows))]))
}
