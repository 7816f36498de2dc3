//! The report as plain text: a table, and a sentence for each protocol.

use super::{Conclusion, GraderReport, ProtocolReport, Report, VersusReport, VoiceReport, percent, points};
use crate::text::count;

/// The report as text.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut parts = vec![heading(report)];
    parts.push(table(&HEAD.map(str::to_owned), &report.protocols.iter().map(row).collect::<Vec<_>>()));
    parts.push(sentences(report).join("\n"));
    if !report.voices.is_empty() {
        parts.push(table(
            &VOICES.map(str::to_owned),
            &report.voices.iter().map(voice_row).collect::<Vec<_>>(),
        ));
    }
    parts.push(closing(report).join("\n"));
    parts.retain(|it| !it.is_empty());
    parts.join("\n\n") + "\n"
}

const HEAD: [&str; 10] =
    ["protocol", "right", "95 %", "vs. baseline", "95 %", "p", "calls", "tokens", "USD", "at equal cost"];

const VOICES: [&str; 6] = ["voice", "right", "95 %", "stated", "Brier", "ECE"];

fn heading(report: &Report) -> String {
    let asked = if report.repeat > 1 { format!(", each {} times", report.repeat) } else { String::new() };
    let mut lines = vec![format!(
        "{}: {}{asked}; panel {}; seed {}",
        report.file,
        count(report.questions as u64, "question"),
        report.panel.join(", "),
        report.seed
    )];
    if report.simulated {
        let world = report.world.as_ref().map(|it| format!(" of the world {it}")).unwrap_or_default();
        lines.push(format!("Simulated voices{world}: nothing follows for real models."));
    }
    if report.complete < report.questions {
        let why = match report.stopped {
            Some("budget") => ": the budget was used up",
            Some(_) => ": it was stopped",
            None => "",
        };
        let incomplete: Vec<String> = report
            .protocols
            .iter()
            .filter(|it| it.missing > 0)
            .map(|it| format!("{} ({} missing)", it.name, it.missing))
            .collect();
        let all = count(report.questions as u64, "question");
        let are = if report.complete == 1 { "is" } else { "are" };
        lines.push(format!("{} of {all} {are} graded{why}.", report.complete));
        lines.push(format!(
            "Incomplete: {}. Protocols are compared on common questions only.",
            incomplete.join(", ")
        ));
    }
    if report.skipped > 0 {
        let were = if report.skipped == 1 { "was" } else { "were" };
        lines.push(format!("{} of the file {were} left out.", count(report.skipped as u64, "record")));
    }
    lines.join("\n")
}

fn row(it: &ProtocolReport) -> Vec<String> {
    let versus = it.versus.as_ref();
    let name = it.note.as_ref().map_or(it.name.clone(), |note| format!("{} ({note})", it.name));
    if it.questions == 0 {
        return vec![name, "–".to_owned()];
    }
    vec![
        name,
        format!("{} %", percent(it.accuracy)),
        format!("{}–{}", percent(it.interval.low), percent(it.interval.high)),
        versus.map_or("–".to_owned(), |it| points(it.difference)),
        versus.map_or(String::new(), |it| {
            format!("{} to {}", points(it.interval.low), points(it.interval.high))
        }),
        versus.map_or(String::new(), |it| format!("{:.3}", it.p)),
        format!("{:.2}", it.calls),
        format!("{:.0}", it.tokens),
        it.usd.map_or("?".to_owned(), |it| format!("{it:.4}")),
        it.at_equal_cost.map_or("–".to_owned(), points),
    ]
}

fn voice_row(it: &VoiceReport) -> Vec<String> {
    vec![
        it.voice.clone(),
        format!("{} %", percent(it.accuracy)),
        format!("{}–{}", percent(it.interval.low), percent(it.interval.high)),
        percent(it.stated),
        it.brier.map_or("–".to_owned(), |it| format!("{it:.3}")),
        it.ece.map_or("too few".to_owned(), |it| format!("{it:.3}")),
    ]
}

/// A table with columns as wide as their widest cell.
fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|it| it.get(column)).chain(head.get(column));
        cells.map(|it| it.chars().count()).max().unwrap_or_default()
    };
    let line = |cells: &[String]| {
        let padded = cells.iter().enumerate().map(|(column, it)| {
            let gap = " ".repeat(width(column).saturating_sub(it.chars().count()));
            // Names to the left, figures to the right.
            if column == 0 { format!("{it}{gap}") } else { format!("{gap}{it}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    std::iter::once(line(head)).chain(rows.iter().map(|it| line(it))).collect::<Vec<_>>().join("\n")
}

/// The conclusion for each protocol, as sentences.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    let said = |it: &ProtocolReport| it.versus.as_ref().map(|versus| sentence(it, versus, &report.baseline));
    report.protocols.iter().filter_map(said).collect()
}

fn sentence(protocol: &ProtocolReport, versus: &VersusReport, baseline: &str) -> String {
    let range = format!("{} to {}", points(versus.interval.low), points(versus.interval.high));
    let size = points(versus.difference.abs()).trim_start_matches('+').to_owned();
    let name = &protocol.name;
    let told = match versus.conclusion {
        Conclusion::Better => format!("{name} is better than {baseline} by {size} points ({range})"),
        Conclusion::Worse => format!("{name} is worse than {baseline} by {size} points ({range})"),
        Conclusion::CannotTell => {
            format!("{name} against {baseline}: cannot tell ({}, {range})", points(versus.difference))
        }
    };
    let needed = versus.questions_needed.map(thousands);
    let needed = needed.map(|it| format!("; about {it} questions would be needed to tell"));
    let flips = protocol.flips.filter(|it| it.right_to_wrong + it.wrong_to_right > 0).map(|it| {
        format!(
            " Of {} positions, {} went from right to wrong and {} from wrong to right.",
            it.of, it.right_to_wrong, it.wrong_to_right
        )
    });
    let unread = match protocol.unread {
        0 => String::new(),
        count => format!(" {count} answers could not be read and count as wrong."),
    };
    let (needed, flips) = (needed.unwrap_or_default(), flips.unwrap_or_default());
    format!("{told}{needed}.{flips}{unread}")
}

pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(super) fn closing(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(oracle) = report.oracle {
        lines.push(format!("Some voice was right at first in {} % of the questions.", percent(oracle)));
    }
    if let Some(it) = &report.n_eff {
        let (voices, outcomes) = (it.voices, it.outcomes);
        let range = format!("{:.1}–{:.1}", it.low, it.high);
        lines.push(format!(
            "{voices} voices, about {:.1} independent ones ({range}, {outcomes} outcomes).",
            it.effective
        ));
    }
    if !report.independent && report.calls_alone > report.calls {
        lines.push(format!(
            "First answers were shared: {} calls instead of {}.",
            thousands(report.calls),
            thousands(report.calls_alone)
        ));
    }
    if report.spent_usd > 0.0 {
        lines.push(format!("It cost ${:.4} in all.", report.spent_usd));
    }
    lines.extend(report.grader.as_ref().map(grading));
    for [id, why] in report.failed.iter().take(5) {
        lines.push(format!("Discussion {id} failed: {why}."));
    }
    lines
}

/// The cost of the model that graded answers, and how often its order mattered.
fn grading(it: &GraderReport) -> String {
    let cost = if it.usd > 0.0 { format!(" for ${:.4} of that", it.usd) } else { String::new() };
    let orders = match it.disagreed {
        0 => "Both orders always agreed.".to_owned(),
        1 => "In 1 grading the two orders disagreed; it counts as not met.".to_owned(),
        many => format!("In {many} gradings the two orders disagreed; they count as not met."),
    };
    let (answers, calls) = (count(it.answers as u64, "answer"), count(it.calls, "call"));
    format!("The grader {} graded {answers} with {calls}{cost}. {orders}", it.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let owned = |cells: &[&str]| cells.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let found = table(&owned(&["name", "right"]), &[owned(&["a", "7"]), owned(&["longer one", "100 %"])]);
        assert_eq!(found, "name        right\na               7\nlonger one  100 %");
    }

    #[test]
    fn numbers_have_thousands() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn points_have_a_sign() {
        assert_eq!([0.0123, -0.05, 0.0001, -0.0001].map(points), ["+1.2", "−5.0", "0.0", "0.0"]);
    }
}
