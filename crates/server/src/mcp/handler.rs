//! What the protocol library calls: lists, tools, tasks, resources, prompts and completion, for one
//! caller at a time.

use axum::http::request::Parts;
use quorum::{Discussion, Error, Scope, model::id::DiscussionId};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
        CompleteResult, ContentBlock, CustomRequest, CustomResult, ErrorCode, Extensions,
        GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
        InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool, UpdateTaskParams,
    },
    service::RequestContext,
};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    app::App,
    mcp::{
        ListedTool,
        answer::Writer,
        arguments,
        call::{Call, Reply},
        completion,
        failure::Failure,
        prompts, resources, task, tools,
        wait::take_over,
    },
};

/// How long a client may keep the lists of tools and prompts, in milliseconds: they change only
/// with the program.
const KEPT_MS: u64 = 3_600_000;

/// The methods that are served. The library takes a request whose params it can't read for one of
/// another method.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// A server for one connection or one request.
#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) app: App,
    pub(crate) caller: Caller,
}

/// Where the caller is known from.
#[derive(Clone)]
pub(crate) enum Caller {
    /// The user of this machine, over standard input and output.
    Local(Scope),
    /// The guard, which has put the caller's scope into each request.
    Guarded,
}

impl Handler {
    fn scope(&self, extensions: &Extensions) -> Result<Scope, ErrorData> {
        let scope = match &self.caller {
            Caller::Local(scope) => Some(scope.clone()),
            Caller::Guarded => {
                extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Scope>().cloned())
            }
        };
        scope.ok_or_else(|| ErrorData::invalid_request("authentication is required", None))
    }

    fn writer(&self, extensions: &Extensions) -> Result<Writer<'_>, ErrorData> {
        let now = self.scope(extensions)?.quorum().now();
        Ok(Writer { names: &self.app.mcp.names, registry: self.app.registry(), now })
    }

    /// The discussion of a task; the id is the same.
    async fn discussion(&self, id: &str, extensions: &Extensions) -> Result<Discussion, ErrorData> {
        let unknown = || ErrorData::invalid_params("there is no such task", Some(json!({ "taskId": id })));
        let parsed = id.parse().map_err(|_| unknown())?;
        self.scope(extensions)?.discussion(parsed).await.map_err(|_| unknown())
    }

    fn call(
        &self,
        tool: &'static tools::Tool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Call, ErrorData> {
        let scope = self.scope(&context.extensions)?;
        let continued = continued(request.request_state.as_deref(), request.input_responses)?;
        // What the client says about this call is nearer than the header of a connection.
        let scope = match context.meta.get_traceparent().and_then(|it| it.parse().ok()) {
            Some(caller) => scope.called_by(caller),
            None => scope,
        };
        Ok(Call {
            app: self.app.clone(),
            tool,
            scope,
            arguments: arguments::given(request.arguments),
            began: Instant::now(),
            continued,
            context,
        })
    }

    async fn run(&self, listed: &ListedTool, call: Call) -> CallToolResponse {
        let mistakes = arguments::mistakes(&listed.input, &call.arguments);
        match (listed.tool.run)(&call, mistakes).await {
            Ok(reply) => response(reply),
            Err(failure) => failure.result(listed).into(),
        }
    }
}

/// The discussion that the client's user was asked about, and the answers. Answers to no question
/// of ours must not begin a discussion.
fn continued(
    state: Option<&str>,
    responses: Option<InputResponses>,
) -> Result<Option<(DiscussionId, InputResponses)>, ErrorData> {
    let Some(responses) = responses else { return Ok(None) };
    let unknown = || ErrorData::invalid_params("requestState is not that of a question to answer", None);
    Ok(Some((state.and_then(|it| it.parse().ok()).ok_or_else(unknown)?, responses)))
}

fn response(reply: Reply) -> CallToolResponse {
    match reply {
        Reply::Done { structured, text, is_error } => {
            let mut result = CallToolResult::structured(structured);
            result.is_error = Some(is_error);
            if let Some(text) = text {
                result.content = vec![ContentBlock::text(text)];
            }
            result.into()
        }
        Reply::Task(created) => CallToolResponse::Task(*created),
        Reply::InputRequired(question) => question.into(),
    }
}

/// An error that is not the caller's.
pub(crate) fn internal(error: &Error) -> ErrorData {
    tracing::error!(%error, "a request over MCP failed");
    ErrorData::internal_error("internal error; everything recorded so far is kept", None)
}

fn of_task(failure: Failure) -> ErrorData {
    ErrorData::invalid_params(failure.message, Some(json!({ "code": failure.code })))
}

fn listed(listed: &ListedTool) -> Tool {
    Tool::new(listed.name.clone(), listed.description.clone(), listed.input.clone())
        .with_title(listed.tool.title)
        .with_raw_output_schema(listed.output.clone())
        .with_annotations(listed.tool.effect.annotations(listed.tool.title))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .enable_tasks();
        let about = Implementation::new("quorum", env!("CARGO_PKG_VERSION")).with_title("Quorum");
        let names = &self.app.mcp.names;
        let instructions = format!(
            "Quorum lets several language models discuss a question and returns one considered answer. \
             {} holds a discussion and {} waits for one that takes longer than 50 s. Discussions cost \
             money: cap them with maxCost. They are recorded and survive this connection.",
            names.of("discuss"),
            names.of("result"),
        );
        ServerConfig::new(capabilities.build()).with_server_info(about).with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.app.mcp.tools().iter().map(listed).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(KEPT_MS))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.app.mcp.tool(name).map(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(listed) = self.app.mcp.tool(&request.name) else {
            let names: Vec<&str> = self.app.mcp.tools().iter().map(|it| it.name.as_str()).collect();
            let message = format!("there is no tool {}", quorum::model::excerpt::in_short(&request.name));
            return Err(ErrorData::invalid_params(message, Some(json!({ "tools": names }))));
        };
        let call = self.call(listed.tool, request, context)?;
        Ok(self.run(listed, call).await)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let discussion = self.discussion(&request.task_id, &context.extensions).await?;
        // A task whose process is gone would never end otherwise.
        take_over(&self.app, &discussion).await.map_err(|error| internal(&error))?;
        let state = discussion.state().await.map_err(|error| internal(&error))?;
        Ok(GetTaskResult::new(task::detailed(self.writer(&context.extensions)?, &state)))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let discussion = self.discussion(&request.task_id, &context.extensions).await?;
        task::said(&self.app, &discussion, &request.input_responses).await.map_err(of_task)?;
        Ok(())
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let discussion = self.discussion(&request.task_id, &context.extensions).await?;
        task::stopped(&self.app, &discussion).await.map_err(of_task)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|it| it.cursor);
        resources::list(&self.scope(&context.extensions)?, cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates().with_ttl_ms(KEPT_MS))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.scope(&context.extensions)?, &request.uri).await?.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list(self.app.registry()).with_ttl_ms(KEPT_MS))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let names = &self.app.mcp.names;
        Ok(prompts::get(self.app.registry(), names, &request.name, &arguments)?.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = quorum::model::excerpt::in_short(&request.method);
        if METHODS.contains(&request.method.as_str()) {
            let message = format!("the params of {method} don't have the form that the protocol gives them");
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method}"), None))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let scope = self.scope(&context.extensions)?;
        completion::complete(&self.app, &scope, &request.argument).await.map_err(|error| internal(&error))
    }
}
