//! How much a model should think before it answers.

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effort {
    /// Little: a vote, a check, a summary.
    Low,
    /// As much as the model does by itself.
    #[default]
    ModelDefault,
    /// Much: a judgement, the final answer.
    High,
}

impl Effort {
    /// Its name; `None` if the model decides.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Effort::Low => Some("low"),
            Effort::ModelDefault => None,
            Effort::High => Some("high"),
        }
    }
}
