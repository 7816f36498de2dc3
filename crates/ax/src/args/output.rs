//! How much to print, and in which form.

use clap::{Args, ValueEnum};

use crate::render::result::Detail;

/// How much to print, and in which form.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Output {
    /// Print everything that was said
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print one JSON document; short for --output-format json
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// What to print [default: text]
    #[arg(long, visible_alias = "format", value_name = "FORMAT")]
    output_format: Option<Shape>,
}

/// In which form a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// The answer, and what qualifies it
    Text,
    /// Everything that was said, as Markdown
    #[value(alias = "markdown")]
    Md,
    /// One JSON document
    Json,
    /// Every event on a line of its own, as it happens
    Jsonl,
}

impl Output {
    pub(crate) fn shape(self) -> Shape {
        self.output_format.unwrap_or(if self.json { Shape::Json } else { Shape::Text })
    }

    /// How much of the text to print.
    pub(crate) fn detail(self) -> Detail {
        if self.verbose { Detail::Everything } else { Detail::Answer }
    }
}
