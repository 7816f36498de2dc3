//! Outcomes: the recorded right answers, and the reliability of voices that follows from them.

use axum::Json;
use quorum::{CalibrationReport, LONGEST_ANSWER};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    body::{Body, Id, Params},
    guard::Caller,
    problem::Problem,
    wire::answers,
};

/// The right answer to a discussion's question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "answer": "Postgres" }))]
pub(crate) struct Outcome {
    /// One of the options; without options any text; or `right` or `wrong` for the result itself.
    #[schema(min_length = 1, max_length = 2000)]
    answer: String,
    /// Who says so, if not the caller.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    by: Option<String>,
}

/// What was recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resolved {
    /// The right answer; empty if only the result is known to be wrong.
    answer: String,
    /// Who said so.
    by: String,
    /// Whether the result was right; absent if the record doesn't say which answer it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    result_right: Option<bool>,
    /// How many first answers were right.
    right: usize,
    /// How many first answers are known to be right or wrong.
    first_answers: usize,
    /// How many outcomes were recorded before, which this one corrects.
    corrected: usize,
}

const _: () = assert!(LONGEST_ANSWER == 2_000, "the schema states the same limit");

/// Record the right answer
///
/// It is kept beside the record, whose facts stay as they are; later discussions of the same voices
/// learn from it. A further one corrects it, and both stay. A discussion that is not over is a 409.
#[utoipa::path(
    post, path = "/api/discussions/{id}/outcome", tag = "control", params(Id),
    request_body = Outcome, responses((status = 200, description = "What was recorded", body = Resolved))
)]
pub(super) async fn resolve(
    Caller(scope): Caller,
    Id(id): Id,
    Body(given): Body<Outcome>,
) -> Result<Json<Resolved>, Problem> {
    let discussion = scope.discussion(id).await?;
    let resolved = discussion.resolve(&given.answer, given.by.as_deref()).await?;
    let outcome = resolved.outcome;
    Ok(Json(Resolved {
        answer: outcome.answer,
        by: outcome.by,
        result_right: outcome.scored.was_right,
        right: outcome.scored.answers.iter().filter(|it| it.is_right).count(),
        first_answers: outcome.scored.answers.len(),
        corrected: resolved.corrected,
    }))
}

/// Whose outcomes are shown.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// Those of simulated voices, which are never mixed with real ones.
    simulated: Option<bool>,
}

/// Get the reliability of each voice, from recorded outcomes
///
/// For each voice: how many outcomes, accuracy, Brier score, calibration error and weight; for each
/// pair, how alike they err; and how many independent voices they are worth.
#[utoipa::path(
    get, path = "/api/calibration", tag = "catalogue", params(Whose),
    responses((status = 200, description = "The calibration", body = answers::Calibration, example = json!({
        "simulated": false, "outcomes": 120, "needed": 30, "slope": 0.62,
        "voices": [{ "voice": "claude", "outcomes": 120, "accuracy": 0.81, "brier": 0.15, "ece": 0.06, "weight": 2.4 }],
        "pairs": [{ "voices": ["claude", "gemini"], "phi": 0.24, "outcomes": 110 }],
        "nEff": 2.1, "nEffInterval": [1.8, 2.5], "resultsRight": 0.88, "results": 120,
    })))
)]
pub(super) async fn calibration(
    Caller(scope): Caller,
    Params(whose): Params<Whose>,
) -> Result<Json<CalibrationReport>, Problem> {
    Ok(Json(scope.calibration(whose.simulated.unwrap_or_default()).await?))
}
