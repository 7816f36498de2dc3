//! Computes a report from the answers of an evaluation.

use std::collections::{BTreeMap, BTreeSet};

use quorum_patterns::{
    evidence::{
        KnownAnswer, KnownQuestion,
        independence::effective_voices,
        score::{Bin, LEAST_FOR_ERROR, Stated, bins, brier, calibration_error},
    },
    protocols::BASELINE,
};

use super::{
    About, AnswerReport, CalibrationBin, Conclusion, DifferingQuestion, EffectiveReport, FlipReport,
    GraderReport, ProtocolReport, Report, VersusReport, VoiceReport,
};
use crate::eval::{
    Answers, Evaluation, Protocol, Way,
    grade::{Check, Key, Mark, Test},
    question::Posed,
    run::{Row, Stopped},
    statistics::{Comparison, Frontier, Point, wilson},
};

/// How many questions on which protocols differ are listed.
const MOST_DIFFERING: usize = 40;

/// The longest question or answer in a list, in characters.
const LONGEST: usize = 300;

pub(super) fn report(evaluation: &Evaluation, answers: &Answers, about: &About) -> Report {
    let scores = Scores::of(evaluation, answers);
    let protocols: Vec<ProtocolReport> =
        (0..evaluation.protocols.len()).map(|it| protocol(evaluation, answers, &scores, it)).collect();
    let cost_in_usd = protocols.iter().all(|it| it.usd.is_some())
        && protocols.iter().any(|it| it.usd.is_some_and(|usd| usd > 0.0));
    let frontier = frontier(evaluation, &protocols, cost_in_usd);
    let protocols: Vec<ProtocolReport> =
        protocols.into_iter().map(|it| with_frontier(it, frontier.as_ref(), cost_in_usd)).collect();
    let (differing, differing_unlisted) = differing(evaluation, answers);
    let known = known_questions(answers);
    let alone = total(protocols.iter().map(|it| it.calls * it.questions as f64));
    Report {
        file: about.file.clone(),
        format: about.format.clone(),
        run: evaluation.run.clone(),
        session: evaluation.session.clone(),
        simulated: about.simulated,
        world: about.world.clone(),
        seed: evaluation.seed,
        repeat: evaluation.repeat.max(1),
        independent: evaluation.independent,
        questions: evaluation.questions.len(),
        complete: scores.complete(evaluation, answers),
        skipped: about.skipped,
        panel: about.panel.clone(),
        baseline: BASELINE.name.to_owned(),
        stopped: answers.stopped.map(|it| match it {
            Stopped::Budget => "budget",
            Stopped::User => "user",
        }),
        voices: voices(answers),
        oracle: oracle(answers),
        n_eff: effective(&known, &about.panel),
        calls: answers.calls,
        calls_alone: (alone * f64::from(evaluation.repeat.max(1))).round() as u64,
        spent_usd: answers.spent_usd,
        grader: evaluation.grader.clone().filter(|_| answers.grading.calls > 0).map(|name| GraderReport {
            name,
            answers: answers.grading.answers,
            calls: answers.grading.calls,
            disagreed: answers.grading.disagreed,
            usd: answers.grading.usd.dollars(),
        }),
        cost_in_usd,
        frontier: frontier.iter().flat_map(|it| it.corners()).map(|it| [it.cost, it.accuracy]).collect(),
        failed: answers.failed.iter().map(|(id, why)| [id.clone(), why.clone()]).collect(),
        differing,
        differing_unlisted,
        protocols,
    }
}

/// The mean score of each protocol for each question, over repeats.
struct Scores(Vec<BTreeMap<usize, f64>>);

impl Scores {
    fn of(evaluation: &Evaluation, answers: &Answers) -> Scores {
        let repeats = evaluation.repeat.max(1) as usize;
        let mut sums: Vec<BTreeMap<usize, (f64, usize)>> = vec![BTreeMap::new(); evaluation.protocols.len()];
        for row in &answers.rows {
            let sum = sums[row.protocol].entry(row.question).or_default();
            *sum = (sum.0 + row.mark.score(), sum.1 + 1);
        }
        // A question counts for a protocol when all its repeats are graded.
        let mean = |of: BTreeMap<usize, (f64, usize)>| {
            of.into_iter().filter(|it| it.1.1 == repeats).map(|(at, (sum, n))| (at, sum / n as f64)).collect()
        };
        Scores(sums.into_iter().map(mean).collect())
    }

    /// The scores of two protocols on the questions that both have.
    fn pairs(&self, one: usize, other: usize) -> (Vec<f64>, Vec<f64>) {
        let both = self.0[one].iter().filter_map(|(at, score)| Some((*score, *self.0[other].get(at)?)));
        both.unzip()
    }

    /// Questions that every protocol which fits them has answered.
    fn complete(&self, evaluation: &Evaluation, answers: &Answers) -> usize {
        let all = |(at, posed): &(usize, &Posed)| {
            let has =
                |(it, scores): (&Protocol, &BTreeMap<usize, f64>)| !it.fits(posed) || scores.contains_key(at);
            evaluation.protocols.iter().zip(&self.0).all(has)
        };
        answers.posed.iter().enumerate().filter(all).count()
    }
}

fn protocol(evaluation: &Evaluation, answers: &Answers, scores: &Scores, place: usize) -> ProtocolReport {
    let protocol = &evaluation.protocols[place];
    let graded = &scores.0[place];
    let rows: Vec<&Row> =
        answers.rows.iter().filter(|it| it.protocol == place && graded.contains_key(&it.question)).collect();
    let questions = graded.len();
    let accuracy = total(graded.values().copied()) / questions.max(1) as f64;
    let fitting = answers.posed.iter().filter(|it| protocol.fits(it)).count();
    let mean = |of: fn(&Row) -> f64| total(rows.iter().map(|it| of(it))) / rows.len().max(1) as f64;
    let usd: Option<f64> = rows.iter().map(|it| it.cost.usd).sum();
    let count = |is: fn(&Row) -> bool| rows.iter().filter(|it| is(it)).count();
    let stated = rows.iter().filter_map(|it| Some(Stated::new(it.probability?, it.mark == Mark::Right)));
    let stated: Vec<Stated> = stated.collect();
    ProtocolReport {
        name: protocol.name.clone(),
        note: note(protocol, answers),
        questions,
        missing: fitting.saturating_sub(questions),
        unfit: answers.posed.len() - fitting,
        accuracy,
        interval: wilson(accuracy, questions),
        unread: count(|it| it.mark == Mark::Unread),
        ties: count(|it| it.is_tie),
        calls: mean(|it| it.cost.calls),
        tokens: mean(|it| it.cost.tokens),
        usd: usd.filter(|_| !rows.is_empty()).map(|it| it / rows.len() as f64),
        seconds: mean(|it| it.cost.ms) / 1_000.0,
        versus: versus(evaluation, scores, place),
        at_equal_cost: None,
        flips: flips(&rows),
        brier: brier(&stated),
        ece: calibration_error(&stated).filter(|_| stated.len() >= LEAST_FOR_ERROR),
        bins: bins(&stated).iter().map(bin).collect(),
    }
}

/// The sum; that of nothing is 0, and not -0 as of floats.
fn total(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, it| sum + it)
}

fn bin(bin: &Bin) -> CalibrationBin {
    CalibrationBin { count: bin.count, stated: bin.stated, right: bin.right }
}

/// Which voice a protocol of one voice used.
fn note(protocol: &Protocol, answers: &Answers) -> Option<String> {
    let named = match &protocol.way {
        Way::Single(voice) | Way::SelfConsistency { voice, .. } => voice.as_ref(),
        Way::Baseline | Way::Discussion { .. } => return None,
    };
    let best = answers.best.as_ref()?;
    match named {
        Some(_) => None,
        None if best.in_hindsight => Some(format!("{}, best in hindsight", best.voice)),
        None => Some(format!("{}, best by earlier outcomes", best.voice)),
    }
}

fn versus(evaluation: &Evaluation, scores: &Scores, place: usize) -> Option<VersusReport> {
    let baseline = evaluation.protocols.iter().position(|it| it.way == Way::Baseline)?;
    if baseline == place {
        return None;
    }
    let (own, other) = scores.pairs(place, baseline);
    let found = Comparison::of(&own, &other, evaluation.seed)?;
    let conclusion = match found.is_significant() {
        false => Conclusion::CannotTell,
        true if found.difference > 0.0 => Conclusion::Better,
        true => Conclusion::Worse,
    };
    Some(VersusReport {
        questions: found.questions,
        difference: found.difference,
        interval: found.interval,
        p: found.p,
        won: found.discordant.first,
        lost: found.discordant.second,
        conclusion,
        questions_needed: found.questions_needed,
    })
}

fn flips(rows: &[&Row]) -> Option<FlipReport> {
    let sum = rows.iter().fold(FlipReport::default(), |sum, it| FlipReport {
        right_to_wrong: sum.right_to_wrong + it.flips.harmed,
        wrong_to_right: sum.wrong_to_right + it.flips.helped,
        of: sum.of + it.flips.of,
    });
    (sum.of > 0).then_some(sum)
}

fn cost_of(protocol: &ProtocolReport, in_usd: bool) -> f64 {
    if in_usd { protocol.usd.unwrap_or_default() } else { protocol.calls }
}

/// The accuracy that is available without talk.
fn frontier(evaluation: &Evaluation, reports: &[ProtocolReport], in_usd: bool) -> Option<Frontier> {
    let blind = evaluation
        .protocols
        .iter()
        .zip(reports)
        .filter(|(it, report)| it.way.is_blind() && report.questions > 0);
    let points: Vec<Point> =
        blind.map(|(_, it)| Point { cost: cost_of(it, in_usd), accuracy: it.accuracy }).collect();
    Frontier::of(&points)
}

fn with_frontier(report: ProtocolReport, frontier: Option<&Frontier>, in_usd: bool) -> ProtocolReport {
    let cost = cost_of(&report, in_usd);
    let gain = frontier.filter(|_| report.questions > 0).map(|it| report.accuracy - it.at(cost));
    ProtocolReport { at_equal_cost: gain, ..report }
}

fn known_questions(answers: &Answers) -> Vec<KnownQuestion> {
    let known = |it: &crate::eval::run::FirstAnswers| KnownQuestion {
        weight: 1.0,
        options: answers.posed[it.question].letters.len(),
        answers: it
            .answers
            .iter()
            .map(|first| KnownAnswer {
                voice: first.voice.clone(),
                choice: first.answer.clone(),
                confidence: first.confidence,
                is_right: first.mark == Mark::Right,
            })
            .collect(),
    };
    answers.firsts.iter().map(known).collect()
}

fn effective(known: &[KnownQuestion], panel: &[String]) -> Option<EffectiveReport> {
    let found = effective_voices(known, panel)?;
    Some(EffectiveReport {
        voices: found.voices,
        effective: found.effective,
        low: found.interval.0,
        high: found.interval.1,
        outcomes: found.outcomes,
    })
}

fn voices(answers: &Answers) -> Vec<VoiceReport> {
    let mut names: Vec<&str> = Vec::new();
    for first in answers.firsts.iter().flat_map(|it| &it.answers) {
        if !names.contains(&first.voice.as_str()) {
            names.push(&first.voice);
        }
    }
    names.into_iter().map(|it| voice(answers, it)).collect()
}

fn voice(answers: &Answers, name: &str) -> VoiceReport {
    let own = answers.firsts.iter().flat_map(|it| &it.answers).filter(|it| it.voice == name);
    let stated: Vec<Stated> = own.map(|it| Stated::new(it.confidence, it.mark == Mark::Right)).collect();
    let count = stated.len();
    let mean = |of: fn(&Stated) -> f64| stated.iter().map(of).sum::<f64>() / count.max(1) as f64;
    let accuracy = mean(|it| f64::from(u8::from(it.is_right)));
    VoiceReport {
        voice: name.to_owned(),
        questions: count,
        accuracy,
        interval: wilson(accuracy, count),
        stated: mean(|it| it.chance),
        brier: brier(&stated),
        ece: calibration_error(&stated).filter(|_| count >= LEAST_FOR_ERROR),
        bins: bins(&stated).iter().map(bin).collect(),
    }
}

/// The share of questions for which some first answer was right.
fn oracle(answers: &Answers) -> Option<f64> {
    let right = |it: &&crate::eval::run::FirstAnswers| it.answers.iter().any(|it| it.mark == Mark::Right);
    let count = answers.firsts.len();
    (count > 0).then(|| answers.firsts.iter().filter(right).count() as f64 / count as f64)
}

/// The questions on which protocols differ, those with the most disagreement first.
fn differing(evaluation: &Evaluation, answers: &Answers) -> (Vec<DifferingQuestion>, usize) {
    let mut found: Vec<(usize, usize, Vec<&Row>)> = Vec::new();
    for place in 0..answers.posed.len() {
        let rows: Vec<&Row> =
            answers.rows.iter().filter(|it| it.question == place && it.repeat == 0).collect();
        let right = rows.iter().filter(|it| it.mark == Mark::Right).count();
        let marks: BTreeSet<bool> = rows.iter().map(|it| it.mark == Mark::Right).collect();
        if marks.len() > 1 {
            found.push((right.min(rows.len() - right), place, rows));
        }
    }
    found.sort_by_key(|it| (std::cmp::Reverse(it.0), it.1));
    let unlisted = found.len().saturating_sub(MOST_DIFFERING);
    let listed = found.into_iter().take(MOST_DIFFERING);
    (listed.map(|(_, place, rows)| differing_question(evaluation, answers, place, &rows)).collect(), unlisted)
}

fn differing_question(
    evaluation: &Evaluation,
    answers: &Answers,
    place: usize,
    rows: &[&Row],
) -> DifferingQuestion {
    let posed = &answers.posed[place];
    let answer = |it: &&Row| AnswerReport {
        protocol: evaluation.protocols[it.protocol].name.clone(),
        answer: shortened(it.answer.trim()),
        is_right: it.mark == Mark::Right,
        discussion: it.discussion.to_string(),
    };
    DifferingQuestion {
        id: posed.id.clone(),
        question: shortened(&evaluation.questions[place].text),
        right: right_answer(posed),
        answers: rows.iter().map(answer).collect(),
    }
}

fn right_answer(posed: &Posed) -> String {
    let described = |it: &Check| match &it.test {
        Test::Exact(texts) => texts.join(" or "),
        Test::Equal(text) | Test::StartsWith(text) | Test::Rubric(text) => text.clone(),
        Test::Number(amount, _) => amount.value.to_string(),
        Test::Contains(it) => it.texts.join(", "),
        Test::Regex(pattern) => pattern.written().to_owned(),
    };
    let text = match &posed.key {
        Key::Choice(right) => format!("{}) {}", posed.letters[*right], posed.shown[*right]),
        Key::Checks(checks) => checks.iter().map(described).collect::<Vec<_>>().join("; "),
    };
    shortened(&text)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
