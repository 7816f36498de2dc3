//! The names under which files ask for a model to grade an answer.

/// Our own name for it, and those of promptfoo's asserts that mean the same.
pub(super) const NAMES: [&str; 6] =
    ["judge", "rubric", "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality"];
