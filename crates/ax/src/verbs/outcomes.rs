//! `ax resolve` and `ax calibration`: records right answers, and shows what they say
//! about the voices.

use quorum::{
    CalibrationReport, Resolved, Scope, VoiceReport,
    text::{count, line},
};
use serde_json::json;

use crate::{
    args::{Calibration, Resolve, input::spoken},
    exit::Exit,
    render::{note, print, print_json},
};

/// The most characters of an answer that are repeated.
const ANSWER: usize = 100;

/// `ax resolve`
pub(crate) async fn resolve(scope: &Scope, args: &Resolve) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let resolved = discussion.resolve(spoken(&args.answer)?.trim(), args.by.as_deref()).await?;
    if args.listed.json {
        let outcome = &resolved.outcome;
        print_json(&json!({
            "discussionId": discussion.id(),
            "answer": outcome.answer,
            "by": outcome.by,
            "resultRight": outcome.scored.was_right,
            "firstAnswers": outcome.scored.answers,
            "corrected": resolved.corrected,
        }))?;
    } else {
        note(&recorded_line(&resolved));
    }
    Ok(Exit::Done)
}

fn recorded_line(resolved: &Resolved) -> String {
    let scored = &resolved.outcome.scored;
    let result = match scored.was_right {
        Some(true) => "the result was right",
        Some(false) => "the result was wrong",
        None => "the record doesn't say whether the result was right",
    };
    let right = scored.answers.iter().filter(|it| it.is_right).count();
    let voices = match scored.answers.len() {
        0 => "nothing is learned about its voices, because none gave a first answer that can be graded"
            .to_owned(),
        all => format!("{right} of {all} first answers were right"),
    };
    let corrected =
        if resolved.corrected > 0 { " It corrects an earlier outcome; both are kept." } else { "" };
    let answer = match resolved.outcome.answer.as_str() {
        "" => "Recorded".to_owned(),
        answer => format!("Recorded {}", line(answer, ANSWER)),
    };
    format!("{answer}: {result}; {voices}.{corrected}")
}

/// `ax calibration`
pub(crate) async fn calibration(scope: &Scope, args: &Calibration) -> anyhow::Result<Exit> {
    let report = scope.calibration(args.simulated).await?;
    if args.listed.json {
        print_json(&report)?;
    } else if report.outcomes == 0 {
        note(&none_recorded(scope, args).await?);
    } else {
        print(&shown(&report))?;
    }
    Ok(Exit::Done)
}

/// Why there is nothing to show: no outcomes at all, or only those of the other kind of voices.
async fn none_recorded(scope: &Scope, args: &Calibration) -> anyhow::Result<String> {
    let others = scope.calibration(!args.simulated).await?.outcomes;
    let (asked, other, command) = match args.simulated {
        true => ("simulated", "real", "ax calibration"),
        false => ("real", "simulated", "ax calibration --simulated"),
    };
    if others == 0 {
        let message =
            "No outcomes are recorded yet; `ax resolve ID ANSWER` records the right answer to a question.";
        return Ok(message.to_owned());
    }
    let others = count(others as u64, "outcome");
    Ok(format!("No outcomes of {asked} voices are recorded yet; `{command}` shows {others} of {other} ones."))
}

fn shown(report: &CalibrationReport) -> String {
    let whose = if report.simulated { " of simulated voices" } else { "" };
    let mut lines = vec![format!("{}{whose}", count(report.outcomes as u64, "outcome"))];
    if report.outcomes < report.needed {
        lines.push(format!("Votes are weighted by outcomes from {} on.", report.needed));
    }
    if let Some(right) = report.results_right {
        let results = count(report.results as u64, "result");
        lines.push(format!("{} of {results} right.", percent(right)));
    }
    lines.extend(
        report
            .slope
            .map(|it| format!("Stated confidence: slope {it:.2} (1: a true probability, 0: no information)")),
    );
    let widest = report.voices.iter().map(|it| it.voice.chars().count()).max().unwrap_or_default().max(5);
    lines.push(String::new());
    lines.push(format!(
        "{:widest$}  {:>5}  {:>8}  {:>5}  {:>5}  {:>6}",
        "voice", "n", "accuracy", "Brier", "ECE", "weight"
    ));
    lines.extend(report.voices.iter().map(|it| voice(it, widest)));
    if !report.pairs.is_empty() {
        lines.push(String::new());
        lines.push("Correlation of errors (1: always together, 0: independent)".to_owned());
        let pair = |it: &quorum::PairReport| {
            format!("{} and {}: {:.2} ({} outcomes)", it.voices[0], it.voices[1], it.phi, it.outcomes)
        };
        lines.extend(report.pairs.iter().map(pair));
    }
    if let (Some(effective), Some([low, high])) = (report.n_eff, report.n_eff_interval) {
        let count = report.voices.len();
        lines.push(format!("{count} voices, about {effective:.1} independent ones ({low:.1}-{high:.1})"));
    }
    lines.join("\n")
}

fn voice(it: &VoiceReport, widest: usize) -> String {
    let ece = it.ece.map_or("too few".to_owned(), |ece| format!("{ece:.2}"));
    let weight = it.weight.map_or("-".to_owned(), |weight| format!("{weight:.2}"));
    format!(
        "{:widest$}  {:>5}  {:>8}  {:>5.2}  {ece:>5}  {weight:>6}",
        it.voice,
        it.outcomes,
        percent(it.accuracy),
        it.brier
    )
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
