//! The report of an evaluation: which protocol was right how often, at what cost, and whether the
//! difference is more than chance.

mod compared;
mod document;
mod html;
mod svg;
mod text;

pub use document::{
    AnswerReport, CalibrationBin, Conclusion, DifferingQuestion, EffectiveReport, FlipReport, GraderReport,
    ProtocolReport, Report, VersusReport, VoiceReport,
};
pub use html::{LARGEST, html};
pub use text::text;

/// The part of a report about the evaluation itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct About {
    /// The name of the file.
    pub file: String,
    /// The name of its format.
    pub format: String,
    /// How many records of it were left out.
    pub skipped: usize,
    /// The panel.
    pub panel: Vec<String>,
    /// Whether the voices are simulated.
    pub simulated: bool,
    /// The reference world that they are from.
    pub world: Option<String>,
}

/// A share in per cent, with one digit.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A difference in points, with its sign.
fn points(difference: f64) -> String {
    let rounded = (1000.0 * difference).round() / 10.0;
    // Zero has no sign.
    if rounded == 0.0 { "0.0".to_owned() } else { format!("{rounded:+.1}").replace('-', "−") }
}

#[cfg(test)]
mod tests;
