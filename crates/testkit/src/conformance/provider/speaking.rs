//! Requests and answers arrive unchanged.

use quorum_core::{
    call::{Call, Shape},
    model::{money::Usage, transcript::Finish},
    vocabulary::form::Form,
};
use serde_json::{Value, json};

use super::{
    Lack, Subject,
    fixture::{KEY, MODEL, ReceivedReply, SPEECH, call, receive, speaking, voice},
};
use crate::server::{Asked, Ending, Request, Script, Server, Used, server};

const BALLOT: Form = Form::new("ballot");

/// Starts the server, makes one call, and returns what both sides received.
async fn ask(subject: Subject, script: Script, call: Call) -> (ReceivedReply, Asked, Value, Server) {
    let server = script.start();
    let received = receive(&voice(subject, &server), call).await;
    let requests = server.requests();
    let [request] = requests.as_slice() else { panic!("one request and no other: {requests:?}") };
    let request: &Request = request;
    assert_eq!((request.wire, request.model.as_str()), (subject.wire, MODEL));
    let asked = request.asked().unwrap_or_else(|| panic!("the vendor would refuse {}", request.body));
    (received, asked, request.body.clone(), server)
}

/// Text, end, and usage with cached and thinking tokens.
pub async fn an_answer_comes_with_its_text_its_end_and_what_it_used(subject: Subject) {
    let used = Used { prompt: 120, completion: 40, cached: 100, written: 0, reasoning: 15 };
    let (received, asked, _, server) = ask(subject, speaking().key(KEY).uses(MODEL, used), call()).await;
    let cached = if subject.lacks(Lack::Cached) { 0 } else { 100 };
    let reasoning = if subject.lacks(Lack::Reasoning) { 0 } else { 15 };
    let usage = Usage { prompt: 120, completion: 40, cached, written: 0, reasoning };
    let end = Some((Finish::Stop, Some(usage), None));
    let model = Some(MODEL.to_owned());
    assert_eq!(received, ReceivedReply { text: SPEECH.to_owned(), model, end, ..ReceivedReply::default() });
    assert!(asked.is_streamed && !asked.is_list);
    assert_eq!(server.requests()[0].header("accept-encoding"), None, "nothing packed is asked for");
}

/// System instructions, own turns and others' turns, as the vendor reads them from the request's
/// bytes.
pub async fn everyone_is_heard_in_the_right_role(subject: Subject) {
    let (_, asked, ..) = ask(subject, speaking(), call()).await;
    let own = if subject.wire == "gemini" { "model" } else { "assistant" };
    let others = "<said-7d5e by=\"bob\" round=\"1\">\nSpaces.\n</said-7d5e>\n\nWho is right?";
    let expected = [("user", "The discussion so far:"), (own, "Tabs."), ("user", others)];
    assert_eq!(asked.messages, expected.map(|(role, text)| (role.to_owned(), text.to_owned())));
    assert_eq!(asked.system, "Be brief.");
}

/// The stop sequence is sent, and the model stops there.
pub async fn an_answer_ends_at_a_stop_sequence(subject: Subject) {
    let stop = vec!["HALT".to_owned()];
    let script = server().says(MODEL, "One. HALT Two.");
    let (received, asked, ..) = ask(subject, script, Call { stop: stop.clone(), ..call() }).await;
    if subject.lacks(Lack::Stop) {
        assert_eq!((received.text.as_str(), asked.stop), ("One. HALT Two.", Vec::new()));
        return;
    }
    assert_eq!((received.text.as_str(), asked.stop), ("One. ", stop));
    assert_eq!(received.end.map(|it| it.0), Some(Finish::Stop));
}

/// Temperature and maximum length are sent.
pub async fn temperature_and_length_are_passed_on(subject: Subject) {
    let (_, asked, body, _) = ask(subject, speaking(), call()).await;
    assert_eq!(asked.max_tokens, Some(300));
    assert_eq!(found(&body, "temperature"), Some(&json!(0.5)));
}

/// The first value of that name at any depth.
fn found<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(name).or_else(|| fields.values().find_map(|it| found(it, name))),
        Value::Array(list) => list.iter().find_map(|it| found(it, name)),
        _ => None,
    }
}

/// The schema is sent in the vendor's own format.
pub async fn an_answer_keeps_to_its_form(subject: Subject) {
    let schema = json!({
        "type": "object",
        "properties": {
            "choice": { "type": "string", "enum": ["tabs", "spaces"] },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
        },
        "required": ["choice", "confidence"],
        "additionalProperties": false,
    });
    let shape = Some(Shape { form: &BALLOT, schema: Some(schema.into()) });
    let (received, asked, ..) = ask(subject, speaking(), Call { shape, may_convene: true, ..call() }).await;
    let reply: Value = serde_json::from_str(&received.text).expect("a form is JSON");
    assert_eq!(reply["choice"], "tabs");
    assert_eq!(received.end.map(|it| it.0), Some(Finish::Stop));
    let schema = asked.schema.expect("the vendor is given the schema");
    assert_eq!(schema["properties"]["choice"]["enum"], json!(["tabs", "spaces"]));
}

/// The text before the tool call is kept.
pub async fn a_tool_call_asks_for_a_sub_discussion(subject: Subject) {
    let script = speaking().convenes(MODEL, "Which editor?");
    let (received, asked, ..) = ask(subject, script, Call { may_convene: true, ..call() }).await;
    assert!(asked.offers_discuss);
    assert_eq!((received.text.as_str(), received.topic.as_deref()), ("Let me ask.", Some("Which editor?")));
    assert!(received.end.is_some() && received.error.is_none(), "{received:?}");
}

/// A model that may not request a sub-discussion gets no tool for it.
pub async fn no_tool_is_offered_where_none_may_be_used(subject: Subject) {
    let (received, asked, body, _) = ask(subject, speaking().convenes(MODEL, "Which editor?"), call()).await;
    assert!(!asked.offers_discuss && found(&body, "tools").is_none(), "{body}");
    assert_eq!((received.text.as_str(), received.topic), (SPEECH, None));
}

/// The finish reasons: stopped, cut at its length, refused.
pub async fn why_it_ended_is_told(subject: Subject) {
    let cases =
        [(Ending::Stop, Finish::Stop), (Ending::Length, Finish::Length), (Ending::Refused, Finish::Refused)];
    for (ending, finish) in cases {
        if ending == Ending::Refused && subject.lacks(Lack::Refused) {
            continue;
        }
        let (received, ..) = ask(subject, speaking().ends(MODEL, ending), call()).await;
        assert_eq!(received.end.map(|it| it.0), Some(finish), "{ending:?}");
    }
}

/// A model's thoughts are not part of its answer.
pub async fn thoughts_are_not_for_others(subject: Subject) {
    let (received, ..) = ask(subject, speaking().thinks(MODEL, "Hm. What would Bob say?"), call()).await;
    assert_eq!(received.text, SPEECH);
}

/// An answer that spent all its tokens on thoughts has no text, an end, and its usage.
pub async fn an_answer_that_is_all_thought_ends_at_its_length(subject: Subject) {
    let (received, ..) = ask(subject, speaking().thinks_long(MODEL, 300), call()).await;
    let Some((finish, Some(usage), _)) = received.end else { panic!("{received:?}") };
    assert_eq!((received.text.as_str(), finish, received.error), ("", Finish::Length, None));
    assert_eq!(usage.completion, 300, "thoughts are paid");
    let (received, ..) = ask(subject, speaking().thinks_long(MODEL, 299), call()).await;
    assert_eq!(received.text, SPEECH, "with more room it answers");
}
