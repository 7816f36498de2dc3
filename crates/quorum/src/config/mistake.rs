//! What is wrong with a configuration, one entry at a time.

use std::fmt;

use crate::Remedy;

/// One thing in a configuration that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is, what is wrong and what would be right.
    pub message: String,
    /// What else would help.
    pub remedy: Option<Remedy>,
}

impl From<String> for Mistake {
    fn from(message: String) -> Self {
        Mistake { message, remedy: None }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Everything that is wrong with one section.
#[derive(Debug, Default)]
pub(super) struct Mistakes(pub(super) Vec<Mistake>);

impl Mistakes {
    /// `Ok` where there are none.
    pub(super) fn none_or_err(self) -> Result<(), Mistakes> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Mistakes(vec![mistake])
    }
}

impl From<String> for Mistakes {
    fn from(message: String) -> Self {
        Mistake::from(message).into()
    }
}
