//! One call of a tool: who calls, with what, how long it may take, and what its client can do.

use std::time::Duration;

use quorum::{Discussion, Error, Remedy, Scope, model::id::DiscussionId};
use rmcp::{
    RoleServer,
    model::{CreateTaskResult, InputRequiredResult, InputResponses, ProtocolVersion, TASKS_EXTENSION_ID},
    service::RequestContext,
};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::{
    app::App,
    mcp::{
        answer::Writer,
        failure::Failure,
        schema::LONGEST_WAIT_MS,
        tools::{Form, Tool},
    },
};

pub(crate) struct Call {
    pub(crate) app: App,
    pub(crate) tool: &'static Tool,
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
        Writer { names: &self.app.mcp.names, registry: self.app.registry(), now: self.scope.quorum().now() }
    }

    /// The failure of its order. A tool with a plain text for an answer takes only a question, so a
    /// remedy that needs another field names the tool that has it.
    pub(crate) fn refusal(&self, error: Error) -> Failure {
        let Error::Refused(mut complaints) = error else { return error.into() };
        for complaint in complaints.iter_mut().filter(|_| self.tool.form == Form::Text) {
            if complaint.remedies.contains(&Remedy::Simulate) {
                let discuss = self.app.mcp.names.of("discuss");
                complaint.message += &format!("; {discuss} with \"offline\": true uses simulated voices");
            }
            complaint.remedies.retain(|it| !matches!(it, Remedy::Simulate | Remedy::SeatTwice { .. }));
        }
        Error::Refused(complaints).into()
    }

    /// Waits until the client cancels the call, or closes its connection.
    pub(crate) async fn cancelled(&self) {
        self.context.ct.cancelled().await;
    }

    /// Whether it is answered with a task: the client declares the extension, in a version that has
    /// it, and the tool answers with JSON. Older clients declare tasks of another form under the
    /// same name. A task is folded from its discussion, which doesn't show that its answer is to be
    /// a plain text.
    pub(crate) fn takes_tasks(&self) -> bool {
        let capabilities = self.context.client_capabilities().and_then(|it| it.extensions);
        let has_json = self.tool.form == Form::Json;
        has_json && self.is_modern() && capabilities.is_some_and(|it| it.contains_key(TASKS_EXTENSION_ID))
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
