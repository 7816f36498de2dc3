//! The request of `/v1/responses`: its fields and its input.

use axum::http::StatusCode;
use quorum::{
    Registry, Scope, StoreError,
    model::{
        client::{Author, ClientOrder, Utterance},
        excerpt::in_short,
        id::DiscussionId,
    },
    request::limits::{LONGEST_SESSION, TEMPERATURE},
};
use serde_json::{Map, Value, json};

use crate::v1::{
    conversation::{Conversation, bounded, called, role_of, text_of, unknown_role},
    fault::Fault,
    fusion,
    given::Given,
    schema::schema,
    wanted::{self, PanelOptions, Wanted},
};

/// The beginning of a response's id.
pub(super) const RESPONSE: &str = "resp_";

/// The beginnings of the ids of its items.
pub(super) const MESSAGE: &str = "msg_";
pub(super) const REASONING: &str = "rs_";
pub(super) const FUSION: &str = "fus_";

/// The most items of a request that stand in the record only.
const MOST_REFERENCES: usize = 100;

/// A request for a response.
pub(super) struct Requested {
    pub(super) wanted: Wanted,
    pub(super) is_background: bool,
}

/// The request in these fields.
pub(super) async fn read(
    scope: &Scope,
    registry: &Registry,
    body: Map<String, Value>,
) -> Result<Requested, Fault> {
    let repeated = to_repeat(&body);
    let mut given = Given::body(body)?;
    let model = wanted::model(&mut given)?;
    let previous = given.text("previous_response_id")?;
    let mut conversation = Conversation::default();
    if let Some(instructions) = given.text("instructions")? {
        conversation.instruct(&instructions);
    }
    let sent = dereferenced(scope, given.take("input")).await?;
    input(&mut conversation, sent.as_ref())?;
    if let Some(previous) = &previous {
        let Before { standing, said } = said_before(scope, previous).await?;
        conversation.follow(standing.as_deref(), said);
    }
    let asked = conversation.asked("input")?;
    if given.take("prompt").is_some() {
        return Err(Fault::unsupported("prompt", "there are no stored prompts; send instructions and input"));
    }
    if given.take("top_logprobs").is_some_and(|it| it != 0) {
        return Err(Fault::unsupported("top_logprobs", "a panel has no log probabilities"));
    }
    let tool = wanted::tools(&mut given)?;
    let fusion = fusion::configured(&mut given, tool)?;
    let shown = wanted::shown(&mut given)?;
    let panel = PanelOptions::take(&mut given, shown, registry)?;
    let format = given.parts("text", |it| it.object("format"))?;
    let schema = schema(format.flatten())?;
    let (session, task) = wanted::metadata(&mut given)?;
    let is_background = given.flag("background")?.unwrap_or(false);
    let wanted = Wanted {
        model,
        asked,
        temperature: given.number("temperature", TEMPERATURE)?,
        max_tokens: wanted::max_tokens(&mut given, &["max_output_tokens"])?,
        stop: Vec::new(),
        seed: None,
        schema,
        panel,
        fusion,
        session: session.or(named_conversation(&mut given)?),
        previous,
        repeated,
        task,
        stream: given.flag("stream")?.unwrap_or(false),
        ignored: given.ignored(),
    };
    Ok(Requested { wanted, is_background })
}

/// The parameters that the response repeats and that the record has nowhere else: the format of the
/// text without its schema, for one.
fn to_repeat(body: &Map<String, Value>) -> Map<String, Value> {
    let sent = |name: &str| body.get(name).filter(|it| !it.is_null()).cloned();
    let format = sent("text").and_then(|it| it.get("format").filter(|it| it.is_object()).cloned());
    let format = format.map(|mut it| {
        it.as_object_mut().and_then(|it| it.shift_remove("schema"));
        it
    });
    let named = [("metadata", sent("metadata")), ("temperature", sent("temperature")), ("format", format)];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What a response says of its request's parameters.
pub(super) fn repeated(order: &ClientOrder) -> Value {
    let sent = |name: &str| order.repeated.get(name).cloned();
    let mut format = sent("format").unwrap_or_else(|| json!({ "type": "text" }));
    if let Some(schema) = order.schema.as_ref().filter(|_| format["type"] == "json_schema") {
        format["schema"] = schema.clone();
    }
    // The standing instructions are input, not the parameter.
    let own = match (&order.instructions, &order.standing) {
        (Some(all), Some(standing)) => {
            all.strip_suffix(standing.as_str()).map(|it| it.strip_suffix("\n\n").unwrap_or(it))
        }
        (all, _) => all.as_deref(),
    };
    json!({
        "instructions": own.filter(|it| !it.is_empty()), "max_output_tokens": order.max_tokens,
        "metadata": sent("metadata").unwrap_or_else(|| json!({})), "temperature": sent("temperature"),
        "text": { "format": format },
    })
}

/// `conversation`: an id, or an object with one.
fn named_conversation(given: &mut Given) -> Result<Option<String>, Fault> {
    let Some(sent) = given.take("conversation") else { return Ok(None) };
    let Some(name) = sent.as_str().or_else(|| sent["id"].as_str()) else {
        return Err(Fault::invalid("conversation", "must be a text or an object with an id"));
    };
    if name.trim().is_empty() || LONGEST_SESSION < name.chars().count() {
        return Err(Fault::invalid("conversation", format!("must have 1 to {LONGEST_SESSION} characters")));
    }
    Ok(Some(name.to_owned()))
}

fn input(conversation: &mut Conversation, input: Option<&Value>) -> Result<(), Fault> {
    match input {
        None => Ok(()),
        Some(Value::String(text)) => {
            conversation.say(Author::User, text);
            Ok(())
        }
        Some(Value::Array(items)) => {
            let mut items = bounded(items, "input")?.iter().enumerate();
            items.try_for_each(|(index, it)| item(conversation, it, &format!("input[{index}]")))
        }
        Some(_) => Err(Fault::invalid("input", "must be a text or a list of items")),
    }
}

fn item(conversation: &mut Conversation, item: &Value, param: &str) -> Result<(), Fault> {
    let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
    match kind {
        "message" => message(conversation, item, param),
        "function_call" | "custom_tool_call" => {
            let arguments = item.get("arguments").or(item.get("input")).unwrap_or(&Value::Null);
            conversation.say(Author::Assistant, &called(&item["name"], arguments));
            Ok(())
        }
        "function_call_output" | "custom_tool_call_output" => {
            let text = text_of(item.get("output"), &format!("{param}.output"))?;
            conversation.say(Author::Tool, &text);
            Ok(())
        }
        // What a model thought, and what other tools did, is not part of the conversation.
        "reasoning" | "openrouter:fusion" => Ok(()),
        _ => {
            let message =
                format!("items of the type {} are not supported", in_short(format_args!("{kind:?}")));
            Err(Fault::new(StatusCode::BAD_REQUEST, "unsupported_content", message).at(param))
        }
    }
}

fn message(conversation: &mut Conversation, item: &Value, param: &str) -> Result<(), Fault> {
    let role = role_of(item, param)?;
    let text = text_of(item.get("content"), &format!("{param}.content"))?;
    match role {
        "system" | "developer" => conversation.instruct_from_now_on(&text),
        "user" => conversation.say(Author::User, &text),
        "assistant" => conversation.say(Author::Assistant, &text),
        _ => return Err(unknown_role(role, param)),
    }
    Ok(())
}

/// The input with messages from the record in the place of references to them: some clients send
/// no answer back.
async fn dereferenced(scope: &Scope, input: Option<Value>) -> Result<Option<Value>, Fault> {
    let Some(Value::Array(mut items)) = input else { return Ok(input) };
    let references = items.iter_mut().enumerate().filter(|(_, it)| it["type"] == "item_reference");
    for (count, (index, item)) in references.enumerate() {
        if count == MOST_REFERENCES {
            let message = format!("has more than {MOST_REFERENCES} references; send messages instead");
            return Err(Fault::invalid("input", message));
        }
        let id = item["id"].as_str().unwrap_or_default();
        *item = recorded(scope, id).await.map_err(|it| it.at(&format!("input[{index}]")))?;
    }
    Ok(Some(Value::Array(items)))
}

/// The item of an earlier response. The talk is not part of the conversation.
async fn recorded(scope: &Scope, id: &str) -> Result<Value, Fault> {
    let missing = || Fault::new(StatusCode::NOT_FOUND, "not_found", "there is no item with that id");
    if id.starts_with(REASONING) || id.starts_with(FUSION) {
        return Ok(json!({ "type": "reasoning" }));
    }
    let discussion: DiscussionId =
        id.strip_prefix(MESSAGE).and_then(|it| it.parse().ok()).ok_or_else(missing)?;
    let state = match scope.discussion(discussion).await {
        Ok(discussion) => discussion.state().await?,
        Err(quorum::Error::Store(StoreError::Unknown(_)) | quorum::Error::NotFound(_)) => {
            return Err(missing());
        }
        Err(error) => return Err(error.into()),
    };
    if !state.lifecycle.is_terminal() {
        return Err(missing());
    }
    Ok(json!({ "type": "message", "role": "assistant", "content": state.outcome().synthesis }))
}

/// The discussion of a response.
pub(super) fn id_of(response: &str) -> Result<DiscussionId, Fault> {
    let id = response.strip_prefix(RESPONSE).and_then(|it| it.parse().ok());
    id.ok_or_else(Fault::no_response)
}

/// The conversation up to and including an earlier response. Its parameter `instructions` applied
/// to that response only, as at OpenAI.
struct Before {
    standing: Option<String>,
    said: Vec<Utterance>,
}

/// The conversation up to and including this response, from the record.
async fn said_before(scope: &Scope, response: &str) -> Result<Before, Fault> {
    let param = "previous_response_id";
    let not_found = |fault: Fault| fault.at(param);
    let id = id_of(response).map_err(not_found)?;
    let discussion = scope.discussion(id).await.map_err(|it| not_found(it.into()))?;
    let state = discussion.state().await?;
    if !state.lifecycle.is_terminal() {
        let message = "that response is not finished; wait for it, or cancel it";
        return Err(Fault::new(StatusCode::CONFLICT, "response_running", message).at(param));
    }
    let order = state.spec.client.clone().unwrap_or_default();
    let mut said = order.conversation;
    let question = order.question.unwrap_or_else(|| state.spec.topic.clone());
    said.push(Utterance { by: Author::User, text: question });
    said.push(Utterance { by: Author::Assistant, text: state.outcome().synthesis });
    Ok(Before { standing: order.standing, said })
}
