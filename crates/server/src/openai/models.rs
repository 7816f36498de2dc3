//! `/v1/models`: the names that the panel and its voices have.

use axum::{
    Json,
    extract::{Path, State},
    http::HeaderMap,
};
use quorum::model::id::DiscussionId;
use serde_json::{Value, json};

use crate::{
    app::App,
    guard::Caller,
    v1::{Listed, body::refuse_recursion, fault::Fault, found, listed},
};

/// List models
///
/// `quorum` is the panel with its defaults, `quorum/NAME` the panel in a pattern or with a preset,
/// and `PROVIDER` or `PROVIDER/MODEL` one voice alone.
#[utoipa::path(
    get, path = "/v1/models", operation_id = "list_models", tag = "panel as a model",
    responses((status = 200, description = "The models, in OpenAI's and Anthropic's formats", body = crate::wire::answers::VendorModels, example = json!({
        "object": "list", "has_more": false, "first_id": "quorum", "last_id": "quorum",
        "data": [{
            "id": "quorum", "object": "model", "created": 0, "owned_by": "quorum",
            "type": "model", "display_name": "quorum", "created_at": "1970-01-01T00:00:00Z",
        }],
    })))
)]
pub(super) async fn list(
    State(app): State<App>,
    _: Caller,
    headers: HeaderMap,
) -> Result<Json<Value>, Fault> {
    refuse_recursion(&headers)?;
    let models: Vec<Value> = listed(&app).iter().map(|(name, listed)| entry(name, listed)).collect();
    let id = |it: Option<&Value>| it.map_or(Value::Null, |it| it["id"].clone());
    let (first, last) = (id(models.first()), id(models.last()));
    Ok(Json(json!({
        "object": "list", "data": models, "has_more": false, "first_id": first, "last_id": last,
    })))
}

/// Get one model
///
/// The name may have a slash.
#[utoipa::path(
    get, path = "/v1/models/{*model}", operation_id = "retrieve_model", tag = "panel as a model",
    params(("model" = String, Path, description = "The model's name")),
    responses(
        (status = 200, description = "The model, in OpenAI's and Anthropic's formats", body = crate::wire::answers::VendorModel),
        (status = 404, description = "There is no such model", body = crate::wire::panel_model::VendorError)
    )
)]
pub(super) async fn one(
    State(app): State<App>,
    _: Caller,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Json<Value>, Fault> {
    refuse_recursion(&headers)?;
    let found = found(&app, &name)?;
    Ok(Json(entry(&name, &found)))
}

fn entry(name: &str, listed: &Listed) -> Value {
    let owner = match listed {
        Listed::Voice(voice) => voice.split('/').next().unwrap_or(voice),
        Listed::Defaults | Listed::Pattern(_) | Listed::Preset(_) | Listed::Fusion => "quorum",
    };
    json!({
        "id": name, "object": "model", "created": 0, "owned_by": owner,
        // Anthropic's clients read these instead.
        "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z",
    })
}

/// When a discussion was created, in seconds since 1970: its id begins with that time.
pub(crate) fn created_at(id: DiscussionId) -> u64 {
    let digits: String = id.to_string().chars().filter(|it| *it != '-').take(12).collect();
    u64::from_str_radix(&digits, 16).unwrap_or_default() / 1_000
}
