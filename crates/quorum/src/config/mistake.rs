//! Mistakes in a configuration, one entry at a time.

use std::fmt;

use crate::Remedy;

/// One unusable entry of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where it is, what is wrong and what would be accepted.
    pub message: String,
    /// A remedy, if there is one.
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

/// All mistakes in one section.
#[derive(Debug, Default)]
pub(super) struct Mistakes(pub(super) Vec<Mistake>);

impl Mistakes {
    /// Returns `Ok` if there are no mistakes.
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
