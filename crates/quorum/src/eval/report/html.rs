//! The report as one page: no scripts, no requests, light and dark, wide and narrow.

use std::fmt::Write;

use super::{
    Conclusion, DifferingQuestion, ProtocolReport, Report, VoiceReport, percent, points, svg,
    text::{closing, sentences, thousands},
};
use crate::{export::escape, text::count};

/// The largest page, in bytes. Questions on which protocols differ are left out until it fits.
pub const LARGEST: usize = 200_000;

const STYLE: &str = include_str!("report.css");

/// The page. `link` is where the record of a discussion can be read, if it can be.
#[must_use]
pub fn html(report: &Report, link: &dyn Fn(&str) -> Option<String>) -> String {
    let mut listed = report.differing.len();
    loop {
        let page = page(report, listed, link);
        if page.len() <= LARGEST || listed == 0 {
            return page;
        }
        listed /= 2;
    }
}

fn page(report: &Report, listed: usize, link: &dyn Fn(&str) -> Option<String>) -> String {
    let title = format!("Evaluation of {}", escape(&report.file));
    // The authors of questions can't know the id of a run, so no question can contain a style that
    // passes.
    let nonce = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, report.run.as_bytes());
    let body = body(report, listed, link);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn body(report: &Report, listed: usize, link: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = header(report);
    out.push_str("<main>\n");
    section("What can be told", &list(&sentences(report)), &mut out);
    let hint = "<p class=\"hint\">Each point is a protocol with its 95 % interval. The dashed line is what can be \
                had at each cost by plain votes of blind answers: a protocol above it pays.</p>";
    section(
        "Cost and accuracy",
        &format!("<figure>{}</figure>\n{hint}", svg::cost_accuracy(report)),
        &mut out,
    );
    let title = format!("Difference to {}", report.baseline);
    section(&title, &format!("<figure>{}</figure>", svg::differences(report)), &mut out);
    section("Protocols", &protocols(report), &mut out);
    if !report.voices.is_empty() {
        section("Voices, by their first answers", &voices(report), &mut out);
    }
    if !report.differing.is_empty() {
        section("Questions on which protocols differ", &differing(report, listed, link), &mut out);
    }
    section("How to read this", READING, &mut out);
    out + "</main>\n"
}

const READING: &str = "<p>Intervals of accuracies are Wilson's; those of differences are a paired bootstrap over \
    questions; p is the exact McNemar test. “Cannot tell” means that the interval of the difference includes 0. \
    At equal cost compares a protocol with what protocols without talk reach at its cost, on a straight line \
    between them. Brier and ECE are of stated probabilities: 0 is best. An answer that could not be read counts \
    as wrong. Of tied options one was drawn by the seed.</p>";

fn section(title: &str, inside: &str, out: &mut String) {
    let _ = writeln!(out, "<section>\n<h2>{}</h2>\n{inside}\n</section>", escape(title));
}

fn header(report: &Report) -> String {
    let mut out = format!("<header>\n<h1>Evaluation of {}</h1>\n<p>", escape(&report.file));
    let times = if report.repeat > 1 { format!(", each {} times", report.repeat) } else { String::new() };
    let _ = write!(
        out,
        "{}{times} · panel {} · seed {} · {}",
        count(report.questions as u64, "question"),
        escape(&report.panel.join(", ")),
        report.seed,
        count(report.calls, "call")
    );
    out.push_str("</p>\n");
    if report.simulated {
        let world = report.world.as_ref().map(|it| format!(" of the world <code>{}</code>", escape(it)));
        let world = world.unwrap_or_default();
        let _ = writeln!(
            out,
            "<p class=\"warning\">Simulated voices{world}: nothing follows for real models.</p>"
        );
    }
    if report.complete < report.questions {
        let why = match report.stopped {
            Some("budget") => ": the budget was used up",
            Some(_) => ": it was stopped",
            None => "",
        };
        let _ = writeln!(
            out,
            "<p class=\"warning\">{} of {} questions are graded{why}. Protocols are compared on common \
             questions only.</p>",
            report.complete, report.questions
        );
    }
    out + "</header>\n"
}

fn list(lines: &[String]) -> String {
    let items: String = lines.iter().map(|it| format!("<li>{}</li>\n", escape(it))).collect();
    format!("<ul>\n{items}</ul>")
}

fn protocols(report: &Report) -> String {
    let head = "<tr><th>protocol</th><th>right</th><th>95 %</th><th>difference</th><th>95 %</th><th>p</th>\
                <th>calls</th><th>tokens</th><th>USD</th><th>seconds</th><th>at equal cost</th>\
                <th>right→wrong</th><th>wrong→right</th><th>Brier</th><th>ECE</th><th>n</th></tr>";
    let rows: String = report.protocols.iter().map(protocol).collect();
    let notes = list(&closing(report));
    format!(
        "<div class=\"wide\"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{notes}"
    )
}

fn protocol(it: &ProtocolReport) -> String {
    let versus = it.versus.as_ref();
    let class = match versus.map(|it| it.conclusion) {
        None => "base",
        Some(Conclusion::Better) => "better",
        Some(Conclusion::Worse) => "worse",
        Some(Conclusion::CannotTell) => "open",
    };
    let note = it.note.as_ref().map(|it| format!(" <small>{}</small>", escape(it))).unwrap_or_default();
    let number =
        |value: Option<f64>, digits: usize| value.map_or("–".to_owned(), |it| format!("{it:.digits$}"));
    let flips = |of: fn(&super::FlipReport) -> u32| {
        it.flips.as_ref().map_or("–".to_owned(), |flips| format!("{} of {}", of(flips), flips.of))
    };
    let cells = [
        format!("{} %", percent(it.accuracy)),
        format!("{}–{}", percent(it.interval.low), percent(it.interval.high)),
        versus.map_or("–".to_owned(), |it| points(it.difference)),
        versus.map_or("–".to_owned(), |it| {
            format!("{} to {}", points(it.interval.low), points(it.interval.high))
        }),
        versus.map_or("–".to_owned(), |it| format!("{:.3}", it.p)),
        format!("{:.2}", it.calls),
        thousands(it.tokens.round() as u64),
        number(it.usd, 4),
        format!("{:.2}", it.seconds),
        it.at_equal_cost.map_or("–".to_owned(), points),
        flips(|it| it.right_to_wrong),
        flips(|it| it.wrong_to_right),
        number(it.brier, 3),
        it.ece.map_or("too few".to_owned(), |it| format!("{it:.3}")),
        it.questions.to_string(),
    ];
    let cells: String = cells.iter().map(|it| format!("<td>{it}</td>")).collect();
    format!("<tr class=\"{class}\"><th>{}{note}</th>{cells}</tr>\n", escape(&it.name))
}

fn voices(report: &Report) -> String {
    let head = "<tr><th>voice</th><th>right</th><th>95 %</th><th>stated</th><th>Brier</th><th>ECE</th></tr>";
    let row = |it: &VoiceReport| {
        format!(
            "<tr><th>{}</th><td>{} %</td><td>{}–{}</td><td>{} %</td><td>{}</td><td>{}</td></tr>\n",
            escape(&it.voice),
            percent(it.accuracy),
            percent(it.interval.low),
            percent(it.interval.high),
            percent(it.stated),
            it.brier.map_or("–".to_owned(), |it| format!("{it:.3}")),
            it.ece.map_or("too few".to_owned(), |it| format!("{it:.3}"))
        )
    };
    let rows: String = report.voices.iter().map(row).collect();
    let pictures: String = report
        .voices
        .iter()
        .map(|it| {
            let name = escape(&it.voice);
            format!(
                "<figure>{}<figcaption>{name}</figcaption></figure>\n",
                svg::calibration(&it.bins, &it.voice)
            )
        })
        .collect();
    format!(
        "<div class=\"wide\"><table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n\
         <div class=\"pictures\">\n{pictures}</div>\n\
         <p class=\"hint\">Stated confidence to the right, share of right answers upwards: on the diagonal, \
         a voice knows what it knows.</p>"
    )
}

fn differing(report: &Report, listed: usize, link: &dyn Fn(&str) -> Option<String>) -> String {
    let shown = report.differing.iter().take(listed);
    let questions: String = shown.map(|it| differing_question(it, link)).collect();
    let more = report.differing_unlisted + report.differing.len() - listed.min(report.differing.len());
    let more = if more > 0 {
        format!("<p class=\"hint\">{more} more are in the JSON report or not listed.</p>")
    } else {
        String::new()
    };
    format!("{questions}{more}")
}

fn differing_question(it: &DifferingQuestion, link: &dyn Fn(&str) -> Option<String>) -> String {
    let answer = |it: &super::AnswerReport| {
        let sign = if it.is_right { "✓" } else { "✗" };
        let class = if it.is_right { "right" } else { "wrong" };
        let name = match link(&it.discussion) {
            Some(address) => format!("<a href=\"{}\">{}</a>", escape(&address), escape(&it.protocol)),
            None => escape(&it.protocol),
        };
        format!("<li class=\"{class}\">{sign} {name}: {}</li>\n", escape(&it.answer))
    };
    let answers: String = it.answers.iter().map(answer).collect();
    format!(
        "<details id=\"q-{0}\"><summary><b>{0}</b> {1}</summary>\n<p>Right: {2}</p>\n<ul class=\"answers\">\n{answers}</ul>\n</details>\n",
        escape(&it.id),
        escape(&it.question),
        escape(&it.right)
    )
}
