//! The pictures of a report as inline SVG: cost against accuracy, differences with their intervals,
//! and calibration.

use std::fmt::Write;

use super::{CalibrationBin, Conclusion, ProtocolReport, Report, percent, points};
use crate::export::escape;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 48.0;

/// How far apart labels must be, in pixels.
const LABEL_GAP: f64 = 15.0;

/// A linear scale from values to pixels.
struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let ((low, high), (start, end)) = (self.from, self.to);
        start + (value - low) / (high - low) * (end - start)
    }

    /// Round values for about this many ticks.
    fn ticks(&self, count: f64) -> Vec<f64> {
        let (low, high) = self.from;
        let rough = (high - low) / count;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|it| it * power).find(|it| *it >= rough).unwrap_or(rough);
        let first = (low / step).ceil() as i64;
        (first..).map(|it| it as f64 * step).take_while(|it| *it <= high + 1e-12).collect()
    }
}

/// Cost against accuracy, with what can be had without talk as a line.
pub(super) fn cost_accuracy(report: &Report) -> String {
    let shown: Vec<&ProtocolReport> = report.protocols.iter().filter(|it| it.questions > 0).collect();
    if shown.is_empty() {
        return String::new();
    }
    let cost = |it: &ProtocolReport| if report.cost_in_usd { it.usd.unwrap_or_default() } else { it.calls };
    let dearest = shown.iter().map(|it| cost(it)).fold(0.0, f64::max).max(1e-9);
    let low = shown.iter().map(|it| it.interval.low).fold(1.0, f64::min);
    let high = shown.iter().map(|it| it.interval.high).fold(0.0, f64::max);
    let margin = ((high - low) * 0.08).max(0.01);
    let x = Scale { from: (0.0, dearest * 1.22), to: (LEFT, WIDTH - RIGHT) };
    let y = Scale { from: ((low - margin).max(0.0), (high + margin).min(1.0)), to: (HEIGHT - BOTTOM, TOP) };
    let mut out = opened(WIDTH, HEIGHT, "Accuracy of each protocol against its cost, with 95 % intervals");
    axes(report, (&x, &y), &mut out);
    frontier(report, (&x, &y), &mut out);
    for it in &shown {
        let (at, low, high) = (x.at(cost(it)), y.at(it.interval.low), y.at(it.interval.high));
        let _ = write!(
            out,
            "<line class=\"whisker\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{low:.1}\" y2=\"{high:.1}\"/>"
        );
    }
    let mut places: Vec<(f64, f64, &ProtocolReport)> =
        shown.iter().map(|it| (x.at(cost(it)), y.at(it.accuracy), *it)).collect();
    for (at, up, it) in &places {
        let _ = write!(out, "<circle class=\"{}\" cx=\"{at:.1}\" cy=\"{up:.1}\" r=\"5\"/>", class(it));
    }
    labels(&mut places, &mut out);
    out + "</svg>"
}

fn class(protocol: &ProtocolReport) -> &'static str {
    match protocol.versus.as_ref().map(|it| it.conclusion) {
        None => "base",
        Some(Conclusion::Better) => "better",
        Some(Conclusion::Worse) => "worse",
        Some(Conclusion::CannotTell) => "open",
    }
}

fn opened(width: f64, height: f64, title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\"><title>{title}</title>"
    )
}

fn axes(report: &Report, (x, y): (&Scale, &Scale), out: &mut String) {
    for tick in y.ticks(6.0) {
        let (at, left, right) = (y.at(tick), LEFT, WIDTH - RIGHT);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            percent(tick).trim_end_matches(".0")
        );
    }
    for tick in x.ticks(7.0) {
        let (at, down) = (x.at(tick), HEIGHT - BOTTOM);
        let label = if report.cost_in_usd { format!("${tick:.4}") } else { format!("{tick:.1}") };
        let label = label.trim_end_matches(".0").to_owned();
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{down}\" y2=\"{:.1}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            down + 5.0,
            down + 19.0
        );
    }
    let cost = if report.cost_in_usd { "US dollars for one question" } else { "calls for one question" };
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{cost}</text>\
         <text class=\"axis\" transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">right answers, %</text>",
        LEFT.midpoint(WIDTH - RIGHT),
        HEIGHT - 10.0,
        TOP.midpoint(HEIGHT - BOTTOM)
    );
}

fn frontier(report: &Report, (x, y): (&Scale, &Scale), out: &mut String) {
    let mut points: Vec<(f64, f64)> =
        report.frontier.iter().map(|[cost, accuracy]| (x.at(*cost), y.at(*accuracy))).collect();
    let Some(last) = points.last().copied() else { return };
    points.push((WIDTH - RIGHT, last.1));
    let path: Vec<String> = points.iter().map(|(at, up)| format!("{at:.1},{up:.1}")).collect();
    let _ = write!(
        out,
        "<polyline class=\"frontier\" points=\"{}\"/>\
         <text class=\"hint\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">plain votes of blind answers</text>",
        path.join(" "),
        WIDTH - RIGHT,
        last.1 + 14.0
    );
}

/// Names beside the points, moved apart where they would overlap.
fn labels(places: &mut [(f64, f64, &ProtocolReport)], out: &mut String) {
    places.sort_by(|one, other| one.1.total_cmp(&other.1));
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for (at, up, it) in places.iter() {
        let wide = 7.0 * it.name.chars().count() as f64 + 10.0;
        let is_right_full = at + 10.0 + wide > WIDTH - 4.0;
        let (anchor, x) = if is_right_full { ("end", at - 10.0) } else { ("start", at + 10.0) };
        let (from, to) = if is_right_full { (x - wide, x) } else { (x, x + wide) };
        let mut y = up + 4.0;
        while taken.iter().any(|it| (it.2 - y).abs() < LABEL_GAP && from < it.1 && it.0 < to) {
            y += LABEL_GAP;
        }
        taken.push((from, to, y));
        let name = escape(&it.name);
        let _ = write!(
            out,
            "<text class=\"name {}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{name}</text>",
            class(it)
        );
    }
}

/// Differences to the baseline with their intervals.
pub(super) fn differences(report: &Report) -> String {
    const ROW: f64 = 30.0;
    const NAMES: f64 = 190.0;
    let shown: Vec<&ProtocolReport> = report.protocols.iter().filter(|it| it.versus.is_some()).collect();
    let widest = shown
        .iter()
        .filter_map(|it| it.versus.as_ref())
        .fold(0.03_f64, |most, it| most.max(it.interval.low.abs()).max(it.interval.high.abs()));
    if shown.is_empty() {
        return String::new();
    }
    let height = ROW * shown.len() as f64 + 44.0;
    let x = Scale { from: (-widest * 1.08, widest * 1.08), to: (NAMES, WIDTH - RIGHT) };
    let title = format!("Difference to {} in points, with 95 % intervals", escape(&report.baseline));
    let mut out = opened(WIDTH, height, &title);
    for tick in x.ticks(8.0) {
        let (at, down) = (x.at(tick), height - 34.0);
        let line = if tick.abs() < 1e-12 { "zero" } else { "grid" };
        let _ = write!(
            out,
            "<line class=\"{line}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"4\" y2=\"{down:.1}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            down + 15.0,
            points(tick).replace(".0", "")
        );
    }
    for (place, it) in shown.iter().enumerate() {
        let Some(versus) = &it.versus else { continue };
        let y = ROW * place as f64 + ROW / 2.0 + 2.0;
        let (low, middle, high) =
            (x.at(versus.interval.low), x.at(versus.difference), x.at(versus.interval.high));
        let _ = write!(
            out,
            "<text class=\"name {0}\" x=\"{1:.1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>\
             <line class=\"whisker {0}\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <circle class=\"{0}\" cx=\"{middle:.1}\" cy=\"{y:.1}\" r=\"5\"/>",
            class(it),
            NAMES - 14.0,
            y + 4.0,
            escape(&it.name)
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">points more or less than {}</text>",
        NAMES.midpoint(WIDTH - RIGHT),
        height - 4.0,
        escape(&report.baseline)
    );
    out + "</svg>"
}

/// The calibration of stated probabilities: a point for each class, as large as it is full.
pub(super) fn calibration(bins: &[CalibrationBin], name: &str) -> String {
    const SIDE: f64 = 150.0;
    let all: usize = bins.iter().map(|it| it.count).sum();
    if all == 0 {
        return String::new();
    }
    let at = |value: f64| 10.0 + value * (SIDE - 20.0);
    let title = format!("Calibration of {}: stated against right", escape(name));
    let mut out = opened(SIDE, SIDE, &title);
    let (low, high) = (at(0.0), at(1.0));
    let _ = write!(
        out,
        "<rect class=\"frame\" x=\"{low}\" y=\"{low}\" width=\"{0}\" height=\"{0}\"/>\
         <line class=\"zero\" x1=\"{low}\" y1=\"{high}\" x2=\"{high}\" y2=\"{low}\"/>",
        high - low
    );
    for bin in bins.iter().filter(|it| it.count > 0) {
        let radius = 2.0 + 9.0 * (bin.count as f64 / all as f64).sqrt();
        let (x, y) = (at(bin.stated), SIDE - at(bin.right));
        let _ = write!(
            out,
            "<circle class=\"base\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"><title>{} answers: stated {} %, right {} %</title></circle>",
            bin.count,
            percent(bin.stated),
            percent(bin.right)
        );
    }
    out + "</svg>"
}
