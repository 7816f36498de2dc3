//! Samples of the facts of a pattern that works through a plan.

use std::sync::Arc;

use quorum_core::model::{
    error::ErrorClass,
    event::{Convened, Event, ToolError, ToolPlaced, ToolUsed},
    id::Step,
    retry_policy::RetryPolicy,
    spec::Spec,
};
use serde_json::{Value, json};

use crate::{Sample, id, spec};

/// A pattern that works through a plan, with discussions of its own and tools.
pub(crate) fn working() -> Vec<Sample> {
    let retry =
        RetryPolicy { max_attempts: 3, backoff_ms: 500, multiplier: 2.0, on: vec![ErrorClass::RateLimit] };
    let plan = Some(Arc::new(json!({ "steps": [{ "id": "one" }] })));
    let spec = Arc::new(Spec { participants: Vec::new(), retry: Some(retry), plan, ..(*spec()).clone() });
    let convened = Convened {
        name: "one".into(),
        pattern: "talk".into(),
        digest: "00ff00ff00ff00ff".into(),
        child: None,
    };
    let placed = ToolPlaced {
        name: "each/2/keep".into(),
        tool: "memory_store".into(),
        attempt: 1,
        arguments: json!({ "key": "a", "value": [1, true] }),
    };
    let error = ToolError::new(ToolError::INTERRUPTED, "it was under way").transient();
    let failed = ToolUsed {
        name: "each/2/keep".into(),
        attempt: 1,
        output: Value::Null,
        error: Some(error),
        retry_in_ms: Some(500),
        took_ms: 12,
        reused: false,
    };
    let used = ToolUsed {
        attempt: 2,
        output: json!({ "version": 1 }),
        error: None,
        retry_in_ms: None,
        reused: true,
        ..failed.clone()
    };
    let begun = Convened {
        name: "two".into(),
        child: Some(id("01890000-0000-7000-8000-000000000009")),
        ..convened.clone()
    };
    let (one, two, keep) = (Some(Step::job("one")), Some(Step::job("two")), Some(Step::job("each/2/keep")));
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None }),
        (one, Event::ChildConvened(convened)),
        (keep.clone(), Event::ToolPlaced(placed)),
        (keep.clone(), Event::ToolUsed(failed)),
        (keep, Event::ToolUsed(used)),
        (two, Event::ChildConvened(begun)),
    ]
}
