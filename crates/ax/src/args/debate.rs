//! Flags of `ax discuss` for a debate.

use std::path::Path;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser},
};
use quorum::{
    Request,
    model::debate::{Diversity, Format, JudgeFailure, Judging, Mode, Part},
};
use serde_json::{Map, Value};

use crate::args::number::whole;

#[derive(Debug, Args)]
#[command(next_help_heading = "In a debate (--pattern debate)")]
pub(super) struct Debating {
    /// How it goes and when it ends [default: structured-rounds]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    debate_format: Option<String>,
    /// Whether they speak in turn or at once [default: sequential]
    #[arg(long, value_parser = Mode::ALL.map(Mode::name))]
    mode: Option<String>,
    /// Rounds at most where the format is not structured-rounds, 1 to 1000 [default: 10]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    round_limit: Option<u32>,
    /// Who judges [default: the third, or the first in a second seat]
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// How often the judge is heard [default: every-round]
    #[arg(long, value_name = "WHEN", value_parser = Judging::ALL.map(Judging::name))]
    judging: Option<String>,
    /// What happens when the judge fails; ask waits for `ax judge` [default: go-without]
    #[arg(long, value_name = "WHAT", value_parser = JudgeFailure::ALL.map(JudgeFailure::name))]
    judge_failure: Option<String>,
    /// Make every judgement in both orders, and count only what holds in both
    #[arg(long)]
    swap_check: bool,
    /// Who argues what: a file with a JSON list of {"participant", "position", "persona", "keyArguments"}
    #[arg(long, value_name = "FILE", value_parser = positions)]
    positions: Option<Positions>,
    /// Let a model give out positions and personas, spread like this
    #[arg(long, value_name = "SPREAD", value_parser = Diversity::ALL.map(Diversity::name))]
    casting: Option<String>,
    /// What may end it once it is noticed, with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    end_on: Option<Vec<String>>,
    /// Measure repetition by meaning, with this embedding model [default: by words]
    #[arg(long, value_name = "PROVIDER/MODEL")]
    embeddings: Option<String>,
}

impl Debating {
    /// The request with these flags in it.
    pub(super) fn fill(&self, request: Request) -> Request {
        Request {
            debate_format: self.debate_format.clone(),
            mode: self.mode.clone(),
            round_limit: self.round_limit,
            judge: self.judge.clone(),
            judging: self.judging.clone(),
            judge_failure: self.judge_failure.clone(),
            swap_check: self.swap_check.then_some(true),
            positions: self.positions.clone().map(|it| it.0),
            casting: self.casting.clone(),
            end_on: self.end_on.clone(),
            embeddings: self.embeddings.clone(),
            ..request
        }
    }
}

/// What a position may have.
const PART: [&str; 4] = ["participant", "position", "persona", "keyArguments"];

/// What a file of positions holds.
#[derive(Debug, Clone)]
struct Positions(Vec<Part>);

fn positions(file: &str) -> Result<Positions, String> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => format!("can't be read: {error}"),
    };
    let text = std::fs::read_to_string(Path::new(file)).map_err(unreadable)?;
    let form = "[{\"participant\": \"claude\", \"position\": \"…\", \"persona\": \"…\"}]";
    let wrong = |error: serde_json::Error| format!("is no JSON list like {form}: {error}");
    let written: Vec<Map<String, Value>> = serde_json::from_str(&text).map_err(wrong)?;
    // The record passes over what it does not know; a typing error must not go by like that.
    if let Some(key) = written.iter().flat_map(Map::keys).find(|key| !PART.contains(&key.as_str())) {
        return Err(format!("has a {key:?}, which a position has not; it has {}", PART.join(", ")));
    }
    serde_json::from_str(&text).map(Positions).map_err(wrong)
}

fn formats() -> PossibleValuesParser {
    Format::ALL.map(|it| PossibleValue::new(it.name()).help(it.summary())).into()
}
