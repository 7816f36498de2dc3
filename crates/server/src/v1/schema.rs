//! `response_format`, `text.format` and `output_config.format`: the schema that the answer must
//! satisfy.

use axum::http::StatusCode;
use quorum::vocabulary::json_schema::{UnknownWords, complaint};
use serde_json::{Value, json};

use crate::v1::{
    fault::Fault,
    given::{Given, few_fields},
};

/// The schema of the answer; `None` for plain text. In `response_format` the schema stands in an
/// object of its own, elsewhere beside the type.
pub(crate) fn schema(format: Option<Given>) -> Result<Option<Value>, Fault> {
    let Some(mut format) = format else { return Ok(None) };
    let kind = format.text("type")?.unwrap_or_default();
    match kind.as_str() {
        "text" => Ok(None),
        "json_object" => Ok(Some(json!({ "type": "object" }))),
        "json_schema" => {
            let nested = format.object("json_schema")?;
            checked(nested.unwrap_or(format)).map(Some)
        }
        _ => Err(Fault::invalid(&format.param("type"), "must be text, json_object or json_schema")),
    }
}

fn checked(mut given: Given) -> Result<Value, Fault> {
    let strict = given.flag("strict")?.unwrap_or(false);
    let param = given.param("schema");
    let Some(schema) = given.take("schema") else {
        return Err(invalid(&param, "there is no schema"));
    };
    // The schema `false` is valid and no value satisfies it, so the panel would be asked in vain.
    let Some(words) = schema.as_object() else { return Err(invalid(&param, "must be an object")) };
    few_fields(words, &param)?;
    let unknown = if strict { UnknownWords::Refused } else { UnknownWords::Ignored };
    match complaint(&schema, unknown) {
        None => Ok(schema),
        Some(message) => Err(invalid(&param, &message)),
    }
}

fn invalid(param: &str, message: &str) -> Fault {
    Fault::new(StatusCode::BAD_REQUEST, "invalid_schema", message).at(param)
}
