//! Arguments of `ax fork`.

use clap::Args;
use quorum::{Forking, Request};

use crate::args::{Output, Which, number::whole};

#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Where it leaves the past discussion: everything up to this answer stands
    #[arg(long, value_name = "STEP")]
    at: String,
    /// Who takes part no longer; may be given several times
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// Who judges now; somebody new takes the judge's seat
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// How it is held now
    #[arg(long)]
    pattern: Option<String>,
    /// How many rounds, 1 to 10
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    rounds: Option<u32>,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl Fork {
    pub(crate) fn forking(&self) -> Forking {
        Forking {
            at: self.at.clone(),
            without: self.drop.clone(),
            judge: self.judge.clone(),
            changes: Request { pattern: self.pattern.clone(), rounds: self.rounds, ..Request::default() },
        }
    }
}
