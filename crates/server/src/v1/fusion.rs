//! OpenRouter's Fusion: its configuration in a request, and its analysis made from our results.

use quorum::{
    ProviderEntry,
    model::{
        event::FailedTurn,
        outcome::{Claim, Outcome},
        phase::DECIDING,
        state::State,
    },
    request::limits::TEMPERATURE,
};
use serde_json::{Map, Value, json};

use crate::{
    app::App,
    v1::{fault::Fault, given::Given},
};

/// The most models that a request may name.
const MOST_MODELS: usize = 8;

/// The provider that has other vendors' models under their own names.
const OPENROUTER: &str = "openrouter";

/// The configuration of Fusion in a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Fusion {
    /// The models of the panel, as the client wrote them.
    pub(crate) models: Vec<String>,
    /// The model that writes the answer.
    pub(crate) writer: Option<String>,
    pub(crate) temperature: Option<f64>,
    /// The fields without effect, by their paths.
    pub(crate) ignored: Vec<String>,
    /// The paths of the fields that name the models, and the one that writes the answer.
    models_path: String,
    writer_path: String,
}

/// The configuration in the plugin, or else in the tool.
pub(crate) fn configured(given: &mut Given, tool: Option<Value>) -> Result<Option<Fusion>, Fault> {
    let plugins = given.list("plugins")?.unwrap_or_default();
    let (ours, others): (Vec<Value>, Vec<Value>) = plugins.into_iter().partition(|it| it["id"] == "fusion");
    if !others.is_empty() {
        given.ignore("plugins");
    }
    let plugin = ours.into_iter().find(|it| it["enabled"] != false).and_then(fields_of);
    if let Some(mut fields) = plugin {
        fields.remove("id");
        fields.remove("enabled");
        return read(Given::within("plugins", fields)).map(Some);
    }
    let Some(tool) = tool else { return Ok(None) };
    let fields = tool.get("parameters").cloned().and_then(fields_of).unwrap_or_default();
    read(Given::within("tools", fields)).map(Some)
}

fn fields_of(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(fields) = value { Some(fields) } else { None }
}

fn read(mut given: Given) -> Result<Fusion, Fault> {
    Ok(Fusion {
        models: given.texts("analysis_models", MOST_MODELS)?,
        writer: given.text("model")?,
        temperature: given.number("temperature", TEMPERATURE)?,
        models_path: given.param("analysis_models"),
        writer_path: given.param("model"),
        ignored: given.ignored(),
    })
}

/// The same error at the field that names the models, if that is where the panel comes from.
pub(crate) fn at_models(fault: Fault, fusion: Option<&Fusion>) -> Fault {
    let path = fusion.filter(|it| !it.models.is_empty()).map(|it| it.models_path.as_str());
    match path.filter(|_| fault.param() == Some("quorum.providers")) {
        Some(path) => fault.at(path),
        None => fault,
    }
}

/// The field that names a writer without a seat on the panel, which has no effect.
pub(crate) fn unseated_writer(app: &App, fusion: Option<&Fusion>) -> Option<String> {
    let fusion = fusion?;
    let writer = voice(app, fusion.writer.as_ref()?);
    let is_seated = fusion.models.iter().any(|it| voice(app, it) == writer);
    (!is_seated).then(|| fusion.writer_path.clone())
}

/// A model of Fusion as we name it: our own provider, or else OpenRouter's under its whole name.
pub(crate) fn voice(app: &App, name: &str) -> String {
    let usable = app.usable_providers();
    let provider = name.split('/').next().unwrap_or(name);
    let is_it = |it: &&ProviderEntry| it.name == provider || it.aliases.iter().any(|it| it == provider);
    match usable.iter().find(is_it) {
        Some(_) => name.to_owned(),
        None if usable.iter().any(|it| it.name == OPENROUTER) => format!("{OPENROUTER}/{name}"),
        None => name.to_owned(),
    }
}

/// The output item: everyone's last answer, and the analysis if there is one. It fails if there is
/// no outcome. A judge that failed is no model that failed to answer.
pub(crate) fn item(id: &str, state: &State, outcome: Option<&Outcome>) -> Value {
    let responses: Vec<Value> = last_answers(state);
    let of_panel = state.failures.iter().filter(|it| it.phase != DECIDING);
    let failed: Vec<Value> = of_panel.map(|it| failed(state, it)).collect();
    let mut item = json!({
        "type": "openrouter:fusion", "id": id, "status": if outcome.is_some() { "completed" } else { "failed" },
        "responses": responses,
    });
    if !failed.is_empty() {
        item["failed_models"] = failed.into();
    }
    if let Some(analysis) = outcome.and_then(|it| analysis(state, it)) {
        item["analysis"] = analysis;
    }
    item
}

/// The exact model of a seat, where it is known.
pub(crate) fn model_of(state: &State, participant: &str) -> String {
    let seat = state.spec.seat(participant);
    let provider = seat.map_or(participant, |it| it.provider.as_str());
    state.models.get(participant).map_or_else(|| participant.to_owned(), |it| format!("{provider}/{it}"))
}

fn last_answers(state: &State) -> Vec<Value> {
    let speakers = state.spec.speakers();
    let last = |name: &str| {
        let turn = state.turns.iter().rev().find(|it| it.participant == name && it.form.is_none());
        turn.map(|turn| json!({ "model": model_of(state, name), "content": turn.prose() }))
    };
    speakers.iter().filter_map(|it| last(&it.name)).collect()
}

pub(crate) fn failed(state: &State, failed: &FailedTurn) -> Value {
    json!({ "model": model_of(state, &failed.participant), "error": failed.message })
}

/// The arguments in Fusion's terms; `None` if the synthesizer listed none.
fn analysis(state: &State, outcome: &Outcome) -> Option<Value> {
    let claims = &outcome.consensus.claims;
    if !outcome.consensus.structure.is_given()
        || (claims.is_empty() && outcome.consensus.agreements.is_empty())
    {
        return None;
    }
    let model = |name: &String| model_of(state, name);
    let everyone = state.spec.speakers().len();
    let held: Vec<&Claim> = claims.iter().filter(|it| it.attacked_by.is_empty()).collect();
    let shared = held.iter().filter(|it| 2 <= it.supported_by.len());
    let consensus: Vec<&String> =
        outcome.consensus.agreements.iter().chain(shared.clone().map(|it| &it.text)).collect();
    let partial = shared.filter(|it| it.supported_by.len() < everyone).map(
        |it| json!({ "models": it.supported_by.iter().map(model).collect::<Vec<_>>(), "point": it.text }),
    );
    let single = held
        .iter()
        .filter(|it| it.supported_by.len() == 1)
        .map(|it| json!({ "model": model(&it.supported_by[0]), "insight": it.text }));
    let contradictions = claims.iter().filter(|it| !it.attacked_by.is_empty()).map(|it| {
        let stance = |stance: &'static str| move |name: &String| (name.clone(), stance);
        let stances = it.supported_by.iter().map(stance("supports it"));
        let stances = stances.chain(it.attacked_by.iter().map(stance("attacks it")));
        let stances: Vec<Value> =
            stances.map(|(name, stance)| json!({ "model": model(&name), "stance": stance })).collect();
        json!({ "topic": it.text, "stances": stances })
    });
    let blind: Vec<&String> = claims.iter().filter(|it| it.unanswered).map(|it| &it.text).collect();
    Some(json!({
        "consensus": consensus, "contradictions": contradictions.collect::<Vec<_>>(),
        "partial_coverage": partial.collect::<Vec<_>>(), "unique_insights": single.collect::<Vec<_>>(),
        "blind_spots": blind,
    }))
}
