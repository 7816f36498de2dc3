//! Models: the panel under several names, and each voice alone.

use axum::http::StatusCode;
use quorum::{ProviderEntry, config::nearest, model::excerpt::in_short};

use crate::{app::App, seeds, v1::fault::Fault};

/// The name of the panel with its defaults, and the beginning of the names of others.
const PANEL: &str = "quorum";

/// Other names of the pattern that has the course of OpenRouter's Fusion, with one round.
const FUSIONS: &[&str] = &["openrouter/fusion", "fusion"];

/// What a model's name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listed {
    /// The panel with the configuration's defaults.
    Defaults,
    /// The panel in this pattern.
    Pattern(String),
    /// The panel with this preset.
    Preset(String),
    /// The pattern of OpenRouter's Fusion, with one round.
    Fusion,
    /// One voice alone: `claude`, or `claude/MODEL`.
    Voice(String),
}

/// Every model with what it stands for, in the order of the list.
pub(crate) fn listed(app: &App) -> Vec<(String, Listed)> {
    let mut models = vec![(PANEL.to_owned(), Listed::Defaults)];
    let patterns = app.patterns().into_iter().map(|it| it.name);
    let patterns = patterns.filter(|it| !seeds::NEEDS_PEOPLE.contains(it));
    models.extend(patterns.map(|it| (format!("{PANEL}/{it}"), Listed::Pattern(it.to_owned()))));
    let presets = app.presets().into_iter().map(|it| it.name);
    models.extend(presets.map(|it| (format!("{PANEL}/{it}"), Listed::Preset(it))));
    models.extend(FUSIONS.iter().map(|it| ((*it).to_owned(), Listed::Fusion)));
    for provider in app.usable_providers() {
        let names = provider.models.iter().map(|it| format!("{}/{}", provider.name, it.name));
        let names = std::iter::once(provider.name.clone()).chain(names);
        models.extend(names.map(|it| (it.clone(), Listed::Voice(it))));
    }
    models
}

/// What this name stands for, or an error with the nearest name.
pub(crate) fn found(app: &App, name: &str) -> Result<Listed, Fault> {
    let models = listed(app);
    if let Some((_, found)) = models.iter().find(|(it, _)| it == name) {
        return Ok(found.clone());
    }
    voice(app, name)?.map_or_else(|| Err(unknown(name, &models)), Ok)
}

/// A voice under a provider's other name, or with a model that is not in the catalogue.
fn voice(app: &App, name: &str) -> Result<Option<Listed>, Fault> {
    let (provider, model) = name.split_once('/').map_or((name, None), |(it, model)| (it, Some(model)));
    let is_it = |it: &ProviderEntry| it.name == provider || it.aliases.iter().any(|it| it == provider);
    let Some(known) = app.providers().into_iter().find(is_it) else { return Ok(None) };
    if !app.usable_providers().iter().any(|it| it.name == known.name) {
        let lacks = known.lacks.map(|it| format!(": {it}")).unwrap_or_default();
        let message = format!("{} is not available{lacks}", known.name);
        let status = StatusCode::BAD_REQUEST;
        return Err(Fault::new(status, "model_not_available", message).at("model"));
    }
    Ok(Some(Listed::Voice(model.map_or(known.name.clone(), |model| format!("{}/{model}", known.name)))))
}

fn unknown(name: &str, models: &[(String, Listed)]) -> Fault {
    let meant = nearest(name, models.iter().map(|it| it.0.as_str()));
    let advice = meant.map_or_else(
        || "GET /v1/models lists the models".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    let message = format!("there is no model named {}; {advice}", in_short(format_args!("{name:?}")));
    Fault::new(StatusCode::NOT_FOUND, "model_not_found", message).at("model")
}
