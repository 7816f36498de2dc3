//! The parts that a discussion is opened with.

use crate::model::{spec::Spec, traceparent::Traceparent};

/// A checked request, and the span that it came from.
#[derive(Debug, Clone)]
pub struct Order {
    /// What to discuss, and how.
    pub spec: Spec,
    /// The span of the caller, if it told.
    pub caller: Option<Traceparent>,
}

impl From<Spec> for Order {
    fn from(spec: Spec) -> Self {
        Order { spec, caller: None }
    }
}
