//! Mistakes in workflow files, each with its place and the line itself.

use std::fmt;

use crate::{Complaint, workflow::node::Place};

/// The most mistakes that are reported at once.
const MOST: usize = 50;

/// How much of a line is shown.
const LONGEST_LINE: usize = 160;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub(crate) place: Place,
    /// What is wrong and what would be accepted.
    pub message: String,
    /// What a step lacks on this machine, if that is what is wrong.
    pub(crate) lacking: Option<Box<Complaint>>,
}

impl Mistake {
    pub(crate) fn at(place: Place, message: impl Into<String>) -> Self {
        Mistake { place, message: message.into(), lacking: None }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.place.line
    }

    /// The column, from 1.
    #[must_use]
    pub fn column(&self) -> u64 {
        self.place.column
    }
}

/// A workflow that can't be run, with everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The file, as the user named it.
    pub file: String,
    /// All mistakes in the order of the file, each with the line it is in.
    pub mistakes: Vec<(Mistake, String)>,
    /// How many more there are.
    pub more: usize,
    /// What this machine lacks, each once, if nothing is wrong with the file itself.
    pub(crate) lacking: Vec<Complaint>,
}

/// What this machine lacks, each once, if that is all that is wrong.
fn lacking(mistakes: &[Mistake]) -> Vec<Complaint> {
    let all: Option<Vec<&Complaint>> = mistakes.iter().map(|it| it.lacking.as_deref()).collect();
    let mut each: Vec<Complaint> = Vec::new();
    for complaint in all.into_iter().flatten() {
        if !each.contains(complaint) {
            each.push(complaint.clone());
        }
    }
    each
}

impl Wrong {
    pub(crate) fn new(file: &str, text: &[u8], mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by(|one, other| (one.place, &one.message).cmp(&(other.place, &other.message)));
        mistakes.dedup();
        let (more, lacking) = (mistakes.len().saturating_sub(MOST), lacking(&mistakes));
        let text = String::from_utf8_lossy(&text[..text.len().min(super::node::LARGEST_FILE)]);
        let lines: Vec<&str> = text.lines().collect();
        let shown = |it: &Mistake| {
            let line = lines.get(it.place.line.saturating_sub(1) as usize).copied().unwrap_or_default();
            line.chars().filter(|it| !it.is_control()).take(LONGEST_LINE).collect()
        };
        let mistakes = mistakes.into_iter().take(MOST).map(|it| (it.clone(), shown(&it))).collect();
        Wrong { file: file.to_owned(), mistakes, more, lacking }
    }

    /// Whether nothing is wrong with the file itself: steps lack providers on this machine.
    #[must_use]
    pub fn lacks_providers(&self) -> bool {
        !self.lacking.is_empty()
    }

    /// Each mistake as a text: where, what, and the line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |(it, shown): &(Mistake, String)| {
            let place = format!("{}:{}:{}", self.file, it.line(), it.column());
            format!("{place}: {}\n    {}", it.message, shown.trim_end())
        };
        let more = match self.more {
            0 => None,
            1 => Some("1 more mistake is not listed".to_owned()),
            more => Some(format!("{more} more mistakes are not listed")),
        };
        self.mistakes.iter().map(line).chain(more).collect()
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for Wrong {}
