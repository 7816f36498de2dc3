//! The usage and cost of a participant.

use crate::model::money::{Usage, Usd};

/// The usage of one participant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Calls placed.
    pub calls: u32,
    /// Tokens of finished replies.
    pub usage: Usage,
    /// The cost of everything with a known price.
    pub cost: Usd,
    /// Whether anything has no known price.
    pub unpriced: bool,
    /// Whether any of the tokens are our estimate: the provider reported none, or the call was
    /// given up.
    pub estimated: bool,
}

impl Spending {
    /// Adds the tokens and the cost of a call; `None` means that its price is unknown.
    pub fn charge(&mut self, usage: Usage, cost: Option<Usd>) {
        self.usage += usage;
        self.cost += cost.unwrap_or_default();
        self.unpriced |= cost.is_none();
    }
}
