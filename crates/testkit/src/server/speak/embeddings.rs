//! OpenAI's embeddings: each word is a direction, so that texts with the same words are similar.

use serde_json::{Value, json};

use super::{
    super::{
        answer::Said,
        request::{Asked, Request},
        script::hash_of,
    },
    JSON, Refusal, Speech, Topic,
    fields::{Fields, Type, text, texts},
    named_in, openai, quoted,
};

pub(super) const SPEECH: Speech = Speech {
    name: "openai-embeddings",
    recognise: |request| {
        let is_ours = request.method == "POST" && request.route().ends_with("/embeddings");
        is_ours.then(|| Topic::Answer(named_in(&request.body)))
    },
    key: openai::key,
    read,
    prompt: |_| None,
    stream: |_, _| Vec::new(),
    content_type: JSON,
    whole,
    model: openai::model,
    models: openai::models,
    refuse: openai::refuse,
    error: |_| String::new(),
};

const FIELDS: Fields = &[
    ("model", Type::Text),
    ("input", Type::TextOrList),
    ("encoding_format", Type::Text),
    ("dimensions", Type::Whole),
    ("user", Type::Text),
];

const DIMENSIONS: u64 = 64;

/// Reads each text as a message, and the number of dimensions as the maximum length.
fn read(request: &Request) -> Result<Asked, Refusal> {
    let body = openai::body(request, FIELDS)?;
    openai::some_of(body, "input")?;
    let input = texts(body.get("input"));
    if input.iter().any(String::is_empty) {
        return Err(Refusal::invalid("input cannot be an empty string").at("input"));
    }
    if body.get("encoding_format").is_some_and(|it| *it != json!("float")) {
        let message = "Only 'float' is spoken here.";
        return Err(Refusal::invalid(message).at("encoding_format"));
    }
    Ok(Asked {
        model: text(body, "model").to_owned(),
        messages: input.into_iter().map(|text| ("input".to_owned(), text)).collect(),
        max_tokens: body.get("dimensions").and_then(Value::as_u64),
        ..Asked::default()
    })
}

fn whole(asked: &Asked, said: &Said) -> String {
    let dimensions = asked.max_tokens.unwrap_or(DIMENSIONS) as usize;
    let data = asked.messages.iter().enumerate().map(|(at, (_, text))| {
        let vector = Value::from(vector(text, dimensions));
        format!(r#"{{"object":"embedding","index":{at},"embedding":{vector}}}"#)
    });
    let (data, model, used) = (data.collect::<Vec<_>>().join(","), quoted(&said.model), said.used.prompt);
    format!(
        r#"{{"object":"list","data":[{data}],"model":{model},"usage":{{"prompt_tokens":{used},"total_tokens":{used}}}}}"#
    )
}

/// A vector of length 1.
fn vector(text: &str, dimensions: usize) -> Vec<f64> {
    let mut vector = vec![0.0; dimensions.max(1)];
    let lower = text.to_lowercase();
    for word in lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()) {
        let hash = hash_of(word);
        let at = (hash % vector.len() as u64) as usize;
        vector[at] += if hash >> 63 == 1 { -1.0 } else { 1.0 };
    }
    let length = vector.iter().map(|it| it * it).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|it| *it /= length);
    } else {
        vector[0] = 1.0;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_the_same_words_lie_near_each_other() {
        let near = |left: &str, right: &str| -> f64 {
            let (left, right) = (vector(left, 64), vector(right, 64));
            left.iter().zip(&right).map(|(left, right)| left * right).sum()
        };
        assert!((near("Tabs are better", "better are tabs!") - 1.0).abs() < 1e-9);
        assert!(near("tabs are better", "tabs are worse") > near("tabs are better", "buy the house now"));
        assert!((near("", "") - 1.0).abs() < 1e-9);
    }
}
