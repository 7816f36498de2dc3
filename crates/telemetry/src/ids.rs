//! The ids of traces and spans. They follow from the record alone, so every process that runs a
//! discussion gives the same ones.

use opentelemetry::trace::{SpanId, TraceId};
use quorum_core::model::id::DiscussionId;
use uuid::Uuid;

/// The trace of everything that this root discussion has led to.
pub(crate) fn trace(root: DiscussionId) -> TraceId {
    TraceId::from_bytes(*Uuid::from(root).as_bytes())
}

/// The span of a discussion. A retry after an error is a span of its own.
pub(crate) fn workflow(id: DiscussionId, retries: u32) -> SpanId {
    hash(id, &format!("discussion {retries}"))
}

/// The span of a participant's step. A step that a retry asks again goes on with the numbers of its
/// attempts, so the first of them makes it unique.
pub(crate) fn agent(id: DiscussionId, step: &str, first_attempt: u32) -> SpanId {
    hash(id, &format!("step {step} {first_attempt}"))
}

/// The span of one attempt of a step.
pub(crate) fn attempt(id: DiscussionId, step: &str, attempt: u32) -> SpanId {
    hash(id, &format!("attempt {step} {attempt}"))
}

/// The beginning of a version 5 UUID: a hash that is stable by its specification.
fn hash(id: DiscussionId, name: &str) -> SpanId {
    let hashed = Uuid::new_v5(&id.into(), name.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hashed.as_bytes()[..8]);
    SpanId::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_the_record_and_never_change() {
        let id: DiscussionId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let child = id.derived("1/speaking/ann/sub1");
        let ids = [
            trace(id).to_string(),
            workflow(id, 0).to_string(),
            workflow(id, 1).to_string(),
            workflow(child, 0).to_string(),
            agent(id, "1/speaking/ann", 1).to_string(),
            agent(id, "1/speaking/ann", 2).to_string(),
            attempt(id, "1/speaking/ann", 1).to_string(),
        ];
        let expected = [
            "01890000000070008000000000000001",
            "d8e525f277ac5e49",
            "422fdc9fd8045a31",
            "5a77cf99732e57f4",
            "ca7cb720a5765c2b",
            "0c7e1a42bf155241",
            "37b9e763cc54587d",
        ];
        assert_eq!(ids, expected);
    }
}
