//! One call of a tool: who calls, with what, how long it may take, and what its client can do.

use std::time::Duration;

use quorum::{Discussion, Scope, model::id::DiscussionId};
use rmcp::{
    RoleServer,
    model::{CreateTaskResult, InputRequiredResult, InputResponses, ProtocolVersion, TASKS_EXTENSION_ID},
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::{
    app::App,
    mcp::{answer::Writer, failure::Failure, schema::LONGEST_WAIT_MS},
};

pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) scope: Scope,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) began: Instant,
    /// A discussion that the client was asked about in an earlier round, and its responses.
    pub(crate) continued: Option<(DiscussionId, InputResponses)>,
    pub(crate) context: RequestContext<RoleServer>,
}

/// The answer of a tool.
pub(crate) enum Reply {
    /// The structured answer, and its text if that is not the same.
    Done { structured: Value, text: Option<String>, is_error: bool },
    /// A task, to be polled.
    Task(Box<CreateTaskResult>),
    /// A question to the client's user.
    InputRequired(InputRequiredResult),
}

impl Reply {
    pub(crate) fn done(structured: Value) -> Self {
        // A discussion that failed is a failed call, even though there is a document about it.
        let is_error = structured["status"] == "failed";
        Reply::Done { structured, text: None, is_error }
    }
}

impl Call {
    /// A text argument.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// A whole number; 3.0 is one as well.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.arguments.get(name).and_then(Value::as_f64).map(|it| it as u64)
    }

    /// When the call must be answered.
    pub(crate) fn until(&self, field: &str) -> Instant {
        let wait = self.whole(field).unwrap_or(LONGEST_WAIT_MS).min(LONGEST_WAIT_MS);
        self.began + Duration::from_millis(wait)
    }

    /// The discussion in the argument `id`.
    pub(crate) async fn discussion(&self) -> Result<Discussion, Failure> {
        let id = self.text("id").and_then(|it| it.trim().parse().ok());
        let id: DiscussionId = id.ok_or_else(Failure::no_such_discussion)?;
        Ok(self.scope.discussion(id).await?)
    }

    pub(crate) fn writer(&self) -> Writer<'_> {
        Writer { names: &self.app.mcp.names, registry: self.app.registry() }
    }

    /// Waits until the client cancels the call, or closes its connection.
    pub(crate) async fn cancelled(&self) {
        self.context.ct.cancelled().await;
    }

    /// Whether the client takes tasks: declared as the extension, in a version that has it. Older
    /// clients declare tasks of another form under the same name.
    pub(crate) fn takes_tasks(&self) -> bool {
        let capabilities = self.context.client_capabilities().and_then(|it| it.extensions);
        self.is_modern() && capabilities.is_some_and(|it| it.contains_key(TASKS_EXTENSION_ID))
    }

    /// Whether the client's user can be asked something before the call is answered. A client that
    /// names no kind of question takes forms; one that names only addresses does not.
    pub(crate) fn takes_questions(&self) -> bool {
        let elicitation = self.context.client_capabilities().and_then(|it| it.elicitation);
        self.is_modern() && elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
    }

    fn is_modern(&self) -> bool {
        // Versions are dates, which compare as text.
        let version = self.context.protocol_version();
        version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }
}
