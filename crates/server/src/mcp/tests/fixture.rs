//! A handler with everything that the protocol's conformance suite calls, on our own transport and
//! behind our own guard. `scripts/mcp-conformance.sh` serves it, because the suite needs tools,
//! resources and prompts of its own.

mod content;
mod questions;
mod tasks;

use std::{io::Read, sync::Arc, time::Duration};

use axum::{extract::State, routing::any};
use quorum::{Config, Quorum};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
        CompletionInfo, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
        Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    app::App,
    mcp::{http, tests::fixture::tasks::Tasks},
    routes,
    serve::Server,
    settings::{Settings, Voices},
};

/// The suite's server.
#[derive(Clone, Default)]
struct Fixture {
    tasks: Arc<Tasks>,
}

/// A value of the protocol library, which has no constructor for many of them.
fn of<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the fixture's own values have the protocol's form")
}

/// A result that is complete.
fn complete<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = json!("complete");
    of(result)
}

fn unknown(what: &str, name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what} {name}"), None)
}

/// Tells the progress of a call, if its client wants it, and takes a moment.
async fn advance(context: &RequestContext<RoleServer>) {
    for progress in [0, 50, 100] {
        if let Some(token) = context.meta.get_progress_token() {
            let told = ProgressNotificationParam::new(token, f64::from(progress)).with_total(100.0);
            let _ = context.peer.notify_progress(told).await;
        }
        // It sleeps because the suite expects time between the notifications.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .enable_tasks();
        ServerConfig::new(capabilities.build()).with_server_info(Implementation::new("fixture", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(content::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        content::tools().into_iter().find(|it| it.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.clone();
        if let Some(content) = content::of_tool(&name) {
            return Ok(CallToolResponse::Complete(complete(json!({ "content": content }))));
        }
        if let Some(asked) = questions::of_tool(&request, &context)? {
            return Ok(asked);
        }
        if let Some(response) = self.tasks.call(&request, &context)? {
            return Ok(response);
        }
        let arguments = json!(request.arguments.unwrap_or_default());
        match name.as_ref() {
            "test_tool_with_progress" => advance(&context).await,
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing";
                let content = json!([{ "type": "text", "text": text }]);
                return Ok(CallToolResponse::Complete(complete(
                    json!({ "content": content, "isError": true }),
                )));
            }
            "test_missing_capability" if json!(context.client_capabilities()).get("sampling").is_none() => {
                let required = of(json!({ "sampling": {} }));
                return Err(ErrorData::missing_required_client_capability(required));
            }
            name if self.get_tool(name).is_some() => {}
            name => return Err(unknown("tool", name)),
        }
        let text = match arguments["name"].as_str().filter(|_| name == "greet") {
            Some(name) => format!("Hello, {name}!"),
            None => format!("called with {arguments}"),
        };
        Ok(CallToolResponse::Complete(complete(json!({ "content": [{ "type": "text", "text": text }] }))))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update(&request.task_id, &request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(complete(json!({ "resources": content::resources() })))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(complete(json!({ "resourceTemplates": content::templates() })))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        let unknown =
            || ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })));
        let contents = content::of_resource(uri).ok_or_else(unknown)?;
        Ok(ReadResourceResponse::Complete(complete(json!({ "contents": [contents] }))))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(complete(json!({ "prompts": content::prompts() })))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if let Some(asked) = questions::of_prompt(&request, &context) {
            return Ok(asked);
        }
        let messages = content::of_prompt(&request.name, &json!(request.arguments.unwrap_or_default()));
        let messages = messages.ok_or_else(|| unknown("prompt", &request.name))?;
        Ok(GetPromptResponse::Complete(complete(json!({ "messages": messages }))))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec![format!("{}…", request.argument.value)];
        Ok(CompletionInfo::with_all_values(values).map(CompleteResult::new).unwrap_or_default())
    }
}

/// A server with the fixture in place of our tools, on any port of this machine.
async fn bound() -> (Server, axum::Router) {
    let quorum = Quorum::builder().simulated().build().unwrap();
    let settings = Settings { voices: Voices::Simulated, ..Settings::of(&Config::default()) };
    let settings = Settings { listen: ([127, 0, 0, 1], 0).into(), ..settings };
    let server = Server::bind(quorum, settings).await.unwrap();
    let fixture = Fixture::default();
    let answer = move |State(app): State<App>, request: axum::extract::Request| {
        let fixture = fixture.clone();
        async move { http::answer_by(fixture, &app, request).await }
    };
    let router = routes::router_with(server.app(), any(answer));
    (server, router)
}

#[tokio::test]
async fn b10_the_suite_s_server_is_on_our_transport_and_behind_our_guard() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (server, router) = bound().await;
    let url = format!("http://{}/mcp", server.address());
    tokio::spawn(server.run_with(router, std::future::pending()));
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "test_simple_text", "arguments": {} },
    });
    let asked = || {
        let request =
            reqwest::Client::new().post(&url).header("accept", "application/json, text/event-stream");
        request.header("content-type", "application/json").header("mcp-protocol-version", "2025-11-25")
    };
    let answer = asked().body(call.to_string()).send().await.unwrap();
    assert_eq!(answer.headers().get("mcp-session-id"), None);
    let text = answer.text().await.unwrap();
    assert!(text.contains("This is a simple text response for testing."), "{text}");
    for (name, value, status) in [("origin", "http://evil.example", 403), ("host", "evil.example", 421)] {
        let refused = asked().header(name, value).body(call.to_string()).send().await.unwrap();
        assert_eq!(refused.status(), status, "{name}");
    }
    let batch = asked().body(json!([call]).to_string()).send().await.unwrap();
    assert_eq!(batch.status(), 400);
}

/// Set by `scripts/mcp-conformance.sh`, which runs the suite against the fixture.
const SERVE: &str = "QUORUM_MCP_FIXTURE";

/// Starts and stops the fixture; under [`SERVE`] it is served until standard input ends. Its
/// address is on standard output.
#[tokio::test]
async fn serves_the_conformance_suite() {
    let (server, router) = bound().await;
    println!("\nfixture at http://{}/mcp", server.address());
    let is_served = std::env::var_os(SERVE).is_some();
    let ended =
        tokio::task::spawn_blocking(move || is_served.then(|| std::io::stdin().read_to_end(&mut Vec::new())));
    server.run_with(router, async { drop(ended.await) }).await;
}
