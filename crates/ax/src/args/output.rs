//! How much of a result is printed, and in which format.

use clap::{Args, ValueEnum};
use quorum::Config;
use serde_json::Value;

use crate::render::result::{Detail, Notes};

/// How much to print, and in which form.
#[derive(Debug, Clone, Copy, Default, Args)]
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
    /// Print each participant's tokens and cost at the end, on standard error
    #[arg(long)]
    pub(crate) usage: bool,
    /// Put the sources after each sentence of the answer, like [claude R2]
    #[arg(long)]
    pub(crate) sources: bool,
    /// Whether it is shown line by line even on a terminal.
    #[arg(skip)]
    pub(crate) lines: bool,
}

/// The format in which a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// The answer with its outcome, dissent and votes
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

    /// Whether each sentence of the answer is followed by its sources.
    pub(crate) fn notes(self) -> Notes {
        if self.sources { Notes::Sources } else { Notes::None }
    }

    /// The same, with untyped values filled in from the preset and the defaults.
    pub(crate) fn or_configured(self, config: &Config, preset: Option<&str>) -> Output {
        let is_on = |long: &str| config.showing(preset, long) == Some(&Value::Bool(true));
        let written = config.showing(preset, "output-format").and_then(Value::as_str);
        let shape = written.and_then(|it| Shape::from_str(it, true).ok()).filter(|_| !self.json);
        Output {
            verbose: self.verbose || is_on("verbose"),
            json: self.json,
            output_format: self.output_format.or(shape),
            usage: self.usage || is_on("usage"),
            sources: self.sources || is_on("sources"),
            lines: self.lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use quorum::request::flags::{SHOWING, ShowingKind};

    use super::*;

    #[test]
    fn the_configuration_knows_every_form() {
        let typed: Vec<String> = Shape::value_variants()
            .iter()
            .filter_map(|it| Some(it.to_possible_value()?.get_name().to_owned()))
            .collect();
        let written = SHOWING.iter().find(|it| it.long == "output-format").unwrap();
        let ShowingKind::OneOf(values) = written.kind else { panic!("{written:?} has values") };
        assert_eq!(typed, values);
    }
}
