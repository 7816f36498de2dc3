//! A request to the panel as one model, whatever the format it was sent in.

use std::collections::BTreeMap;

use quorum::{
    Registry,
    model::client::Thinking,
    request::{
        Seating,
        limits::{LONGEST_NAME, LONGEST_SESSION, OPTIONS, ROUNDS, most_seats},
    },
};
use serde_json::{Map, Value};

use crate::v1::{conversation::Asked, fault::Fault, fusion::Fusion, given::Given};

/// The most stop sequences.
pub(crate) const MOST_STOPS: usize = 16;

/// The longest stop sequence, in characters.
const LONGEST_STOP: usize = 1_000;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) model: String,
    pub(crate) asked: Asked,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) stop: Vec<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) schema: Option<Value>,
    pub(crate) panel: PanelOptions,
    pub(crate) fusion: Option<Fusion>,
    /// The conversation's name, under which its discussions share a session.
    pub(crate) session: Option<String>,
    /// The id of the response that it continues.
    pub(crate) previous: Option<String>,
    /// The parameters that a response repeats.
    pub(crate) repeated: Map<String, Value>,
    /// The kind of task that the client says this is.
    pub(crate) task: Option<String>,
    pub(crate) stream: bool,
    pub(crate) ignored: Vec<String>,
}

/// The field `quorum`: budgets and panel, under the names of the flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct PanelOptions {
    pub(crate) max_cost: Option<f64>,
    pub(crate) max_calls: Option<u32>,
    pub(crate) rounds: Option<u32>,
    pub(crate) providers: Option<Vec<String>>,
    /// Models and agents, instead of `providers`.
    pub(crate) participants: Option<Vec<Seating>>,
    pub(crate) options: Option<Vec<String>>,
    /// The options that patterns, methods and strategies declare, by their declared names.
    pub(crate) settings: BTreeMap<String, Value>,
    pub(crate) thinking: Thinking,
    pub(crate) detach: bool,
    pub(crate) ignored: Vec<String>,
}

impl PanelOptions {
    /// Takes the field; `shown` is whether the client's other parameters ask for the talk.
    pub(crate) fn take(
        given: &mut Given,
        shown: Thinking,
        registry: &Registry,
    ) -> Result<PanelOptions, Fault> {
        let Some(mut own) = given.object("quorum")? else {
            return Ok(PanelOptions { thinking: shown, ..PanelOptions::default() });
        };
        let rounds = u64::from(*ROUNDS.start())..=u64::from(*ROUNDS.end());
        let providers = own.texts("providers", most_seats(registry))?;
        let options = own.texts("options", *OPTIONS.end())?;
        let thinking = match own.text("thinking")?.as_deref() {
            None => shown,
            Some("full") => Thinking::Full,
            Some("progress") => Thinking::Progress,
            Some("off") => Thinking::Off,
            Some(_) => return Err(Fault::invalid(&own.param("thinking"), "must be full, progress or off")),
        };
        Ok(PanelOptions {
            max_cost: own.number("max_cost", 1e-9..=1e9)?,
            max_calls: own.whole("max_calls", 1..=u64::from(u32::MAX))?.map(|it| it as u32),
            rounds: own.whole("rounds", rounds)?.map(|it| it as u32),
            providers: Some(providers).filter(|it| !it.is_empty()),
            participants: participants(&mut own, registry)?,
            options: Some(options).filter(|it| !it.is_empty()),
            settings: settings(&mut own, registry),
            thinking,
            detach: own.flag("detach")?.unwrap_or(false),
            ignored: own.ignored(),
        })
    }
}

/// Takes the seats: names, or objects with a type and an id.
fn participants(own: &mut Given, registry: &Registry) -> Result<Option<Vec<Seating>>, Fault> {
    let Some(seats) = own.list("participants")? else { return Ok(None) };
    let most = most_seats(registry);
    let read: Result<Vec<Seating>, _> = seats.into_iter().map(serde_json::from_value).collect();
    let read = read.ok().filter(|it| it.len() <= most);
    let form = "names, or objects like {\"type\": \"agent\", \"id\": \"reviewer\"}";
    let wrong = || Fault::invalid(&own.param("participants"), format!("must be at most {most} {form}"));
    read.ok_or_else(wrong).map(Some)
}

/// Takes the declared options. Their values are checked with the rest of the order.
fn settings(own: &mut Given, registry: &Registry) -> BTreeMap<String, Value> {
    let options = registry.options().into_iter();
    options.filter_map(|it| Some((it.name.to_owned(), own.take(&field_of(it.name))?))).collect()
}

/// The field of a declared option: its name with underscores, as the vendors' own fields are
/// written.
pub(crate) fn field_of(option: &str) -> String {
    let spelled = |it: char| {
        let underscore = it.is_uppercase().then_some('_');
        underscore.into_iter().chain(it.to_lowercase())
    };
    option.chars().flat_map(spelled).collect()
}

/// A short text.
pub(crate) fn named(given: &mut Given, name: &str, longest: usize) -> Result<Option<String>, Fault> {
    let Some(text) = given.text(name)? else { return Ok(None) };
    if text.trim().is_empty() || longest < text.chars().count() {
        return Err(Fault::invalid(&given.param(name), format!("must have 1 to {longest} characters")));
    }
    Ok(Some(text))
}

/// The model's name, which every request has.
pub(crate) fn model(given: &mut Given) -> Result<String, Fault> {
    let missing = || Fault::invalid("model", "name a model; GET /v1/models lists them");
    named(given, "model", 2 * LONGEST_NAME)?.ok_or_else(missing)
}

/// The stop sequences under this name. A JSON value is never cut, so with a schema they have no
/// effect.
pub(crate) fn stops(given: &mut Given, name: &str, schema: Option<&Value>) -> Result<Vec<String>, Fault> {
    let stops = given.texts(name, MOST_STOPS)?;
    if stops.iter().any(|it| it.is_empty() || LONGEST_STOP < it.chars().count()) {
        let message = format!("each text must have 1 to {LONGEST_STOP} characters");
        return Err(Fault::invalid(&given.param(name), message));
    }
    if schema.is_some() && !stops.is_empty() {
        given.ignore(name);
        return Ok(Vec::new());
    }
    Ok(stops)
}

/// A bound on the answer's tokens under one of these names.
pub(crate) fn max_tokens(given: &mut Given, names: &[&str]) -> Result<Option<u32>, Fault> {
    let mut least = None;
    for name in names {
        let bound = given.whole(name, 1..=u64::from(u32::MAX))?.map(|it| it as u32);
        least = least.into_iter().chain(bound).min();
    }
    Ok(least)
}

/// The seed. Vendors' seeds may be negative.
pub(crate) fn seed(given: &mut Given) -> Result<Option<u64>, Fault> {
    Ok(given.integer("seed")?.map(i64::unsigned_abs))
}

/// The session and the kind of task in `metadata`.
pub(crate) fn metadata(given: &mut Given) -> Result<(Option<String>, Option<String>), Fault> {
    let read = given.parts("metadata", |own| {
        Ok((named(own, "session_id", LONGEST_SESSION)?, named(own, "task", LONGEST_NAME)?))
    })?;
    Ok(read.unwrap_or_default())
}

/// The effort under this name, which shows or hides the talk. Any effort but `none` has no effect.
fn is_without_effort(given: &mut Given, name: &str) -> Result<bool, Fault> {
    let effort = given.text(name)?;
    if effort.as_deref().is_some_and(|it| it != "none") {
        given.ignore(name);
    }
    Ok(effort.as_deref() == Some("none"))
}

/// The talk that reasoning parameters ask for.
pub(crate) fn shown(given: &mut Given) -> Result<Thinking, Fault> {
    let is_none = is_without_effort(given, "reasoning_effort")?;
    let is_excluded = given.parts("reasoning", |reasoning| {
        let exclude = reasoning.flag("exclude")? == Some(true);
        let is_none = is_without_effort(reasoning, "effort")?;
        Ok(reasoning.flag("enabled")? == Some(false) || exclude || is_none)
    })?;
    let is_off = is_none || is_excluded == Some(true);
    Ok(if is_off { Thinking::Off } else { Thinking::Full })
}

/// Refuses tools that must be called, and lists those that need not be as ignored. Of the tools,
/// one of the type `openrouter:fusion` is configuration.
pub(crate) fn tools(given: &mut Given) -> Result<Option<Value>, Fault> {
    let tools = given.list("tools")?.unwrap_or_default();
    let (fusion, others): (Vec<Value>, Vec<Value>) =
        tools.into_iter().partition(|it| it["type"] == "openrouter:fusion");
    let choice = given.take("tool_choice");
    if let Some(choice) = choice.filter(|_| !others.is_empty() || fusion.is_empty()) {
        let mode = if choice["type"] == "allowed_tools" { &choice["mode"] } else { &choice["type"] };
        let name = choice.as_str().or_else(|| mode.as_str()).unwrap_or_default();
        if !matches!(name, "auto" | "none") {
            let message = "a panel calls no tools of the client; send auto or none";
            return Err(Fault::unsupported("tool_choice", message));
        }
    }
    if !others.is_empty() {
        given.ignore("tools");
    }
    Ok(fusion.into_iter().next())
}
