//! Tasks, folded from the record: their id is the discussion's, so they survive restarts and work
//! in any process. A person's turn is a question to the client's user.

use quorum::{
    Discussion, Steered,
    model::{command::Command, id::Seq, state::State, time::iso},
};
use rmcp::model::{
    CallToolResult, CreateTaskResult, DetailedTask, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde_json::{Value, json};

use crate::{
    app::App,
    mcp::{
        answer::{self, Extent, Writer},
        arguments::Mistake,
        call::Reply,
        failure::Failure,
        progress,
        wait::Start,
    },
};

/// How often a client should ask how a task is doing.
const POLL_MS: u64 = 2_000;

/// The field of a question's form that takes the answer.
const ANSWER: &str = "text";

/// The answer of a tool that is a task.
pub(crate) async fn created(discussion: &Discussion) -> Result<Reply, Failure> {
    let state = discussion.state().await?;
    Ok(Reply::Task(Box::new(CreateTaskResult::new(task(&state, TaskStatus::Working)))))
}

/// The task as it stands.
pub(crate) fn detailed(writer: Writer<'_>, state: &State) -> DetailedTask {
    let payload = match answer::status(state) {
        "completed" | "failed" => TaskPayload::Completed { result: result(writer, state) },
        "aborted" => TaskPayload::Cancelled,
        "awaiting" => match questions(state) {
            Some(input_requests) => TaskPayload::InputRequired { input_requests },
            None => TaskPayload::Working,
        },
        _ => TaskPayload::Working,
    };
    DetailedTask::new(task(state, payload.status()), payload)
}

fn task(state: &State, status: TaskStatus) -> Task {
    let told = match answer::status(state) {
        "running" => progress::standing(state),
        other => other.to_owned(),
    };
    Task::new(state.id.to_string(), status, iso(state.opened_at), iso(state.last_at))
        .with_poll_interval_ms(POLL_MS)
        .with_status_message(told)
}

/// The result of the call that created the task.
fn result(writer: Writer<'_>, state: &State) -> JsonObject {
    let answer = writer.discussion(state, Extent::Compact);
    let result = match answer::status(state) {
        "failed" => CallToolResult::structured_error(answer),
        _ => CallToolResult::structured(answer),
    };
    match serde_json::to_value(result) {
        Ok(Value::Object(result)) => result,
        _ => JsonObject::new(),
    }
}

/// The questions to people whose turn it is, each under the step that it answers.
fn questions(state: &State) -> Option<InputRequests> {
    let asked = state.awaiting.iter().filter_map(|it| {
        let message = format!("{}, it is your turn.\n\n{}", it.participant, it.prompt);
        // Written as JSON: the library has no other constructor for it.
        let question = json!({
            "method": "elicitation/create",
            "params": { "mode": "form", "message": message, "requestedSchema": {
                "type": "object", "required": [ANSWER],
                "properties": { ANSWER: { "type": "string", "title": "Your words" } },
            } },
        });
        let question: InputRequest = serde_json::from_value(question).ok()?;
        Some((it.answers.to_string(), question))
    });
    let asked: InputRequests = asked.collect();
    (!asked.is_empty()).then_some(asked)
}

/// The question that a call is answered with, if people are awaited. The client sends the id back
/// with their answers.
pub(crate) fn question(state: &State) -> Option<InputRequiredResult> {
    questions(state).map(|asked| InputRequiredResult::new(Some(asked), Some(state.id.to_string())))
}

/// What became of the answers of people.
pub(crate) struct Said {
    /// The last fact before them.
    pub(crate) before: Seq,
    pub(crate) start: Start,
    /// Whether somebody declined to answer. They are still awaited.
    pub(crate) has_declined: bool,
}

/// Passes the answers of people on. An answer to a question that is not open is passed over: a call
/// that is sent again after a broken connection repeats answers that were taken.
pub(crate) async fn said(
    app: &App,
    discussion: &Discussion,
    responses: &InputResponses,
) -> Result<Said, Failure> {
    let state = discussion.state().await?;
    let mut said = Said { before: state.seq, start: Start::AsItIs, has_declined: false };
    for (step, response) in responses {
        let Some(awaited) = state.awaiting.iter().find(|it| it.answers.to_string() == *step) else {
            continue;
        };
        match Response::of(response) {
            Response::Words(text) => {
                say(app, discussion, &awaited.participant, text).await?;
                said.start = Start::Resumed;
            }
            Response::Declined => said.has_declined = true,
            Response::Unreadable => {}
        }
    }
    Ok(said)
}

async fn say(app: &App, discussion: &Discussion, speaker: &str, text: &str) -> Result<(), Failure> {
    if let Steered::Here(handle) = spoken(discussion, Some(speaker), text).await? {
        app.hub.follow(discussion, &handle);
    }
    Ok(())
}

/// Takes a person's turn. Mistakes in it have the names that fields have here.
pub(crate) async fn spoken(
    discussion: &Discussion,
    speaker: Option<&str>,
    text: &str,
) -> Result<Steered, Failure> {
    if text.trim().is_empty() {
        let mistake = Mistake { field: ANSWER.to_owned(), message: "is empty".to_owned() };
        return Err(Failure::mistakes(&[mistake]));
    }
    let said = discussion.say(speaker, text, None).await;
    said.map_err(|error| Failure::renamed(error, &[("participant", "as"), ("message", ANSWER)]))
}

/// What the client's user did with a question.
enum Response<'r> {
    Words(&'r str),
    /// They declined it, or closed it without an answer.
    Declined,
    /// It isn't of the form that was asked for.
    Unreadable,
}

impl Response<'_> {
    fn of(response: &Value) -> Response<'_> {
        match (response["action"].as_str(), response["content"][ANSWER].as_str()) {
            (Some("decline" | "cancel"), _) => Response::Declined,
            (_, Some(text)) => Response::Words(text),
            (_, None) => Response::Unreadable,
        }
    }
}

/// Stops the discussion of a cancelled task: it is concluded with what was said. Nothing is left to
/// cancel of one that is over.
pub(crate) async fn stopped(app: &App, discussion: &Discussion) -> Result<(), Failure> {
    if discussion.state().await?.lifecycle.is_terminal() {
        return Ok(());
    }
    if let Steered::Here(handle) = discussion.steer(Command::Stop).await? {
        app.hub.follow(discussion, &handle);
    }
    Ok(())
}
