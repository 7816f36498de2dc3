//! Arguments of the verbs that concern one discussion.

use std::path::PathBuf;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};
use quorum::export::FORMATS;

use crate::args::{Listed, Output, Shown, Which, number::share};

#[derive(Debug, Args)]
pub(crate) struct Resume {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Exit with 6 if there is no consensus, or less agreement than the threshold
    #[arg(long)]
    pub(crate) require_consensus: bool,
    /// Exit with 6 if less than this share (0 to 1) of the answer's sentences has a source in the
    /// discussion
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub(crate) require_support: Option<f64>,
    /// Keep running when the terminal is closed
    #[arg(long, hide = true)]
    pub(crate) detached: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The text; `-` reads it from standard input
    pub(crate) text: String,
    /// The seat to speak for [default: the one whose turn it is]
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) speaker: Option<String>,
    /// The user to speak as, if the seat belongs to one
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Note {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The remark; `-` reads it from standard input
    pub(crate) text: String,
}

#[derive(Debug, Args)]
pub(crate) struct Rate {
    #[command(flatten)]
    pub(crate) which: Which,
    /// How good its result was, 1 (useless) to 5 (just right)
    #[arg(value_parser = rating, allow_negative_numbers = true)]
    pub(crate) rating: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Resolve {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The right answer: one of the options, or `right` or `wrong` for the result itself; `-` reads
    /// it from standard input
    pub(crate) answer: String,
    /// The source of the right answer [default: your login name]
    #[arg(long, value_name = "WHO")]
    pub(crate) by: Option<String>,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Calibration {
    /// Show the outcomes of simulated voices, which are never mixed with real ones
    #[arg(long)]
    pub(crate) simulated: bool,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Confirm the deletion
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also delete discussions that contain a copy of its answer, because they recalled or followed
    /// it
    #[arg(long)]
    pub(crate) with_copies: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The discussion: its id or the beginning of it [default: list all hidden ones]
    pub(crate) id: Option<String>,
    /// Restore all hidden discussions
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) listed: Listed,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,
    /// The format [default: by the file's extension, else markdown]
    #[arg(long = "as", visible_alias = "format", value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub(crate) output: PathBuf,
    /// Put the sources after each sentence of the answer, in Markdown; web pages always have them
    #[arg(long)]
    pub(crate) sources: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Replay without pauses
    #[arg(long, conflicts_with = "speed")]
    pub(crate) fast: bool,
    /// Playback speed; at 1, no pause is longer than 2 s
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = speed, allow_negative_numbers = true)]
    pub(crate) speed: f64,
}

fn formats() -> PossibleValuesParser {
    let value = |format: &quorum::export::Format| {
        PossibleValue::new(format.name).alias(format.ending).help(format.summary)
    };
    FORMATS.iter().map(value).collect::<Vec<_>>().into()
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.01..=1_000.0).contains(speed));
    speed.ok_or_else(|| "must be a number from 0.01 to 1000".to_owned())
}

fn rating(text: &str) -> Result<u8, String> {
    let rating = text.parse().ok().filter(|rating| (1..=5).contains(rating));
    rating.ok_or_else(|| "must be from 1 to 5".to_owned())
}
