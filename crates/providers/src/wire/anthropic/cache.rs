//! Cache marks: the API caches the text before a mark, and reads a beginning that an earlier
//! request of the same seat marked.
//!
//! What is written to the cache costs more than usual and pays off only when it is read, so marks
//! are set where the next request of a seat will find them: at the end of the talk, as long as the
//! seat is likely to speak again, and where its previous request had that mark.

use quorum_core::call::{Call, Effort, Message, MessageRole, tokens};
use serde_json::{Value, json};

use crate::wire::{Model, blocks};

/// Sets the marks of this request. There are at most three of them; the API takes four.
pub(super) fn mark(body: &mut Value, call: &Call, model: &Model) {
    if model.quirks.cache_marks == 0 || !model.quirks.system || !may_repeat(call) {
        return;
    }
    let least = u64::from(model.quirks.cache_marks);
    let texts = texts(call);
    let sizes = sizes(body, &texts);
    let marked: Vec<usize> = places(call, &texts).into_iter().filter(|it| least <= sizes[*it]).collect();
    let before = size_before_messages(body);
    if least <= before {
        body["system"] = json!([text_block(&call.system, IsMarked::Yes)]);
    }
    if !marked.is_empty() {
        body["messages"] = json!(messages(call, &marked));
    }
}

/// Whether this request begins like others of its seat. A schema or another effort is part of what
/// the API compares, so only speeches do.
fn may_repeat(call: &Call) -> bool {
    let is_speech = call.shape.is_none() && call.effort == Effort::ModelDefault;
    let has_spoken = call.messages.iter().any(|it| matches!(it, Message::Said { own: true, .. }));
    is_speech && (call.continues || has_spoken)
}

/// All texts in their order, with their roles.
fn texts(call: &Call) -> Vec<(MessageRole, String)> {
    let messages = blocks(call).into_iter();
    messages.flat_map(|(role, texts)| texts.into_iter().map(move |text| (role, text))).collect()
}

/// The texts after which a mark is worth it: the last before the task, if the seat will be asked
/// again, and the last before its latest turn, where its previous request had that mark.
fn places(call: &Call, texts: &[(MessageRole, String)]) -> Vec<usize> {
    let latest = texts.iter().rposition(|(role, _)| *role == MessageRole::Assistant);
    let earlier = latest.and_then(|it| it.checked_sub(1));
    let end = texts.len().checked_sub(2).filter(|_| call.continues);
    let mut places: Vec<usize> = earlier.into_iter().chain(end).collect();
    places.dedup();
    places
}

/// The tokens of the request up to each text, cautiously counted.
fn sizes(body: &Value, texts: &[(MessageRole, String)]) -> Vec<u64> {
    let mut size = size_before_messages(body);
    let add = |(_, text): &(MessageRole, String)| {
        size += tokens::estimate(text);
        size
    };
    texts.iter().map(add).collect()
}

/// The tokens of the parts before the messages: tools and instructions.
fn size_before_messages(body: &Value) -> u64 {
    let tools = body.get("tools").map_or(0, |it| tokens::estimate(&it.to_string()));
    tools + body["system"].as_str().map_or(0, tokens::estimate)
}

fn messages(call: &Call, marked: &[usize]) -> Vec<Value> {
    let mut at = 0;
    let mut block = |text: String| {
        let is_marked = if marked.contains(&at) { IsMarked::Yes } else { IsMarked::No };
        at += 1;
        text_block(&text, is_marked)
    };
    let message = |(role, texts): (MessageRole, Vec<String>)| {
        let role = if role == MessageRole::Assistant { "assistant" } else { "user" };
        json!({ "role": role, "content": texts.into_iter().map(&mut block).collect::<Vec<_>>() })
    };
    blocks(call).into_iter().map(message).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IsMarked {
    Yes,
    No,
}

fn text_block(text: &str, is_marked: IsMarked) -> Value {
    match is_marked {
        IsMarked::Yes => json!({ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }),
        IsMarked::No => json!({ "type": "text", "text": text }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quorum_core::call::Shape;
    use quorum_core::vocabulary::form::Form;
    use quorum_testkit::call::shown;

    use super::*;
    use crate::wire::{Quirks, anthropic::WIRE, testing};

    const FORM: Form = Form::new("ballot");

    /// Texts of this many tokens, by the cautious count.
    fn text(letter: &str, tokens: usize) -> String {
        letter.repeat(4 * tokens)
    }

    /// A call of Ann's third round; each of its texts has about 600 tokens.
    fn call(continues: bool) -> Call {
        let said = |who: &str, letter: &str| shown("ann", who, &text(letter, 600));
        Call {
            system: text("s", 600).into(),
            messages: vec![
                said("bob", "a"),
                said("ann", "b"),
                said("bob", "c"),
                said("ann", "d"),
                said("bob", "e"),
                said("cyd", "f"),
                Message::Ask("And now?".into()),
            ],
            continues,
            ..testing::call()
        }
    }

    fn sent(call: &Call, cache_marks: u32) -> Value {
        let model = testing::model("m", Quirks { cache_marks, ..Quirks::default() });
        (WIRE.encode)(call, &model).body
    }

    /// Where the marks are: `s` for the system text, else the letter of the turn before the mark.
    fn marks(body: &Value) -> String {
        let messages = body["messages"].as_array().unwrap().iter();
        let blocks = messages.filter_map(|it| it["content"].as_array()).flatten();
        let all = body["system"].as_array().into_iter().flatten().chain(blocks);
        let marked = all.filter(|it| it.get("cache_control") == Some(&json!({ "type": "ephemeral" })));
        let letter = |it: &Value| {
            let text = it["text"].as_str().unwrap();
            text.lines().filter_map(|line| line.chars().next()).find(|it| !"<>".contains(*it)).unwrap()
        };
        marked.map(letter).collect()
    }

    #[test]
    fn the_end_of_the_talk_is_marked_and_the_end_of_the_request_before() {
        assert_eq!(marks(&sent(&call(true), 500)), "scf");
        assert_eq!(marks(&sent(&call(false), 500)), "sc", "nothing is written for nobody to read");
        assert_eq!(marks(&sent(&call(true), 0)), "", "the model takes no marks");
    }

    #[test]
    fn text_too_short_to_be_cached_is_not_marked() {
        assert_eq!(marks(&sent(&call(true), 1_024)), "cf");
        assert_eq!(marks(&sent(&call(true), 3_000)), "f");
        let unmarked = sent(&call(true), 9_000);
        assert_eq!(unmarked, sent(&call(true), 0), "not a byte is different");
    }

    #[test]
    fn a_first_speech_marks_the_system_text_alone() {
        let first = Call { messages: vec![Message::Ask("And now?".into())], ..call(true) };
        assert_eq!(marks(&sent(&first, 500)), "s");
        assert_eq!(marks(&sent(&Call { continues: false, ..first }, 500)), "");
    }

    #[test]
    fn requests_for_forms_and_with_other_efforts_share_no_beginning_and_mark_nothing() {
        let schema = Some(Arc::new(json!({ "type": "object", "properties": {} })));
        let form = Call { shape: Some(Shape { form: &FORM, schema }), ..call(true) };
        let hurried = Call { effort: Effort::Low, ..call(true) };
        assert_eq!((marks(&sent(&form, 500)), marks(&sent(&hurried, 500))), (String::new(), String::new()));
    }

    #[test]
    fn the_text_is_the_same_with_and_without_marks() {
        let joined = |body: &Value| -> Vec<String> {
            let messages = body["messages"].as_array().unwrap().iter();
            let whole = |it: &Value| match &it["content"] {
                Value::Array(blocks) => blocks.iter().map(|it| it["text"].as_str().unwrap()).collect(),
                plain => plain.as_str().unwrap().to_owned(),
            };
            messages.map(whole).collect()
        };
        assert_eq!(joined(&sent(&call(true), 500)), joined(&sent(&call(true), 0)));
    }

    #[test]
    fn the_next_request_begins_with_the_marked_blocks_of_this_one() {
        let blocks = |body: &Value| -> Vec<(String, String)> {
            let messages = body["messages"].as_array().unwrap().iter();
            let of = |it: &Value| {
                let role = it["role"].as_str().unwrap().to_owned();
                let blocks = it["content"].as_array().unwrap().clone();
                blocks.into_iter().map(move |it| (role.clone(), it["text"].as_str().unwrap().to_owned()))
            };
            messages.flat_map(of).collect()
        };
        let now = call(true);
        let mut next = call(true);
        next.messages.pop();
        next.messages.extend([shown("ann", "ann", "g"), shown("ann", "bob", "h"), Message::Ask("?".into())]);
        let (now, next) = (blocks(&sent(&now, 500)), blocks(&sent(&next, 500)));
        assert_eq!(next[..now.len() - 1], now[..now.len() - 1]);
    }
}
