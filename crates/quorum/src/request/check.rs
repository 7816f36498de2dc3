//! Checks a request and makes a spec of it: fills in defaults, enforces bounds, and reports all
//! problems at once.

use quorum_core::model::{
    error::{Code, Refusal},
    excerpt::in_short,
    id::Tenant,
    money::Usd,
    participant::Participant,
    spec::{
        ConsensusSpec, Limits, Manner, Recursion, SYNTHESIS_RESERVE_MS, Simulation, Spec, TimeoutStrategy,
        Timing, Tolerance,
    },
};
use quorum_core::registry::{Defaults, Registry};
use quorum_providers::catalog::DEFAULT_PANEL;
use uuid::Uuid;

use crate::{
    Complaint, Fault, Origin, Remedy,
    request::{
        Request, Setting, Simulate, Voicing, agents,
        bounds::{Complaints, capped},
        limits::{
            BUDGET_MS, DEPTH, LATENCY_MS, LONGEST_CONTEXT, LONGEST_CONVERSATION, LONGEST_OPTION,
            LONGEST_TOPIC, OPTIONS, PROVIDER_TIMEOUT, ROUNDS, SHARE, SYNTHESIS_MS, TEMPERATURE,
            TOKENS_PER_TURN, most_seats,
        },
        panel, recall, seats, settings, window,
    },
};

const CALLS_WITH_RECURSION: u32 = 20;
/// The default minimum of models for a success, if no people take part.
const USUAL_MINIMUM: u32 = 2;

/// The defaults for this pattern.
pub(crate) fn defaults_of(pattern: &str, registry: &Registry) -> Defaults {
    let defaults = registry.pattern(pattern).map_or(Defaults::PLAIN, |it| it.defaults);
    let first_method = registry.methods().first().map_or("", |it| it.name);
    Defaults {
        method: if defaults.method.is_empty() { first_method } else { defaults.method },
        panel: if defaults.panel.is_empty() { &DEFAULT_PANEL } else { defaults.panel },
        ..defaults
    }
}

/// The spec, or all problems with the request, in itself and by the setting's vocabulary. Whether
/// its voices are available is not checked here.
pub fn check(request: &Request, setting: &Setting) -> Result<Spec, Vec<Complaint>> {
    checked_with(request, setting, |spec| setting.registry.refusals(spec))
}

/// The same with further refusals. For each field, the request's own complaints take precedence, so
/// that no problem is reported twice.
pub(crate) fn checked_with(
    request: &Request,
    setting: &Setting,
    further: impl FnOnce(&Spec) -> Vec<Refusal>,
) -> Result<Spec, Vec<Complaint>> {
    let (spec, mut complaints) = draft(request, setting);
    complaints.extend(hidden_pattern(&spec.pattern, setting));
    complaints.extend(rounds_without_effect(request, &spec, setting));
    let further = further(&spec).into_iter().map(Complaint::from).map(|it| named_fault(it, &spec, setting));
    // A seat that was refused is missing from the count.
    let is_seat_refused = complaints.iter().any(|it| it.field == "participants");
    let is_consequence = |it: &Complaint| is_seat_refused && it.code == Code::InsufficientProviders;
    let is_known = |it: &Complaint| complaints.iter().any(|known| known.field == it.field);
    let is_new = |it: &Complaint| !is_consequence(it) && !is_known(it);
    let further: Vec<Complaint> = further.filter(is_new).collect();
    complaints.extend(further);
    if complaints.is_empty() { Ok(spec) } else { Err(capped(complaints)) }
}

/// A hidden pattern is unknown to requests.
fn hidden_pattern(name: &str, setting: &Setting) -> Option<Complaint> {
    let registry = &setting.registry;
    registry.pattern(name).filter(|it| it.hidden)?;
    let known: Vec<&str> = registry.patterns().iter().map(|it| it.name).collect();
    let message = format!("there is no pattern named {name}; there are {}", known.join(", "));
    Some(Complaint::new("pattern", Code::InvalidPattern, message))
}

/// A number of rounds that the pattern would ignore with these options.
fn rounds_without_effect(request: &Request, spec: &Spec, setting: &Setting) -> Option<Complaint> {
    request.rounds?;
    let pattern = setting.registry.pattern(&spec.pattern)?;
    let message = (pattern.refuses_rounds)(&spec.settings)?;
    Some(Complaint::new("rounds", Code::InvalidRequest, message).in_combination())
}

/// If the complaint is about an unknown name, marks the value as wrong in itself.
fn named_fault(complaint: Complaint, spec: &Spec, setting: &Setting) -> Complaint {
    let registry = &setting.registry;
    let is_known = match complaint.field.as_str() {
        "pattern" => registry.pattern(&spec.pattern).is_some(),
        "consensus" => registry.method(&spec.consensus.method).is_some(),
        "windowStrategy" => registry.strategy(&spec.window.strategy).is_some(),
        "windowOverflow" => registry.overflows().any(|it| it == spec.window.overflow),
        _ => true,
    };
    if is_known { complaint } else { Complaint { fault: Fault::Value, ..complaint } }
}

/// The spec as far as it can be determined, with defaults in place of wrong values, and all
/// problems.
#[must_use]
pub fn draft(request: &Request, setting: &Setting) -> (Spec, Vec<Complaint>) {
    let mut wrong = Complaints::default();
    let registry = &setting.registry;
    let first_pattern = || registry.patterns().first().map_or("", |it| it.name).to_owned();
    let pattern = request.pattern.clone().unwrap_or_else(first_pattern);
    let most = most_seats(registry);
    let defaults = &defaults_of(&pattern, registry);
    let simulation = simulation(request, setting, &mut wrong);
    let (written, field) = panel::panel(request, setting, simulation.is_some(), defaults, &mut wrong);
    // Too many participants are reported above; the rest is ignored.
    let written = &written[..written.len().min(most)];
    let mut participants =
        agents::seated(request, setting, (written, field), simulation.is_some(), &mut wrong);
    panel::with_a_model(&participants, &mut wrong);
    let voiced = asked(request, &simulation);
    panel::with_voices(&participants, field, (defaults, setting), voiced, &mut wrong);
    seats::strengthen(&mut participants, setting);
    let (minimum, models) = (default_minimum(&participants), models(&participants));
    seats::brief(&mut participants, request, most, &mut wrong);
    let settings = settings::settings(request, registry, &participants, &mut wrong);
    wrong.0.extend(seats::cast(&mut participants, request, &settings, &pattern, setting));
    known_dead(&simulation, &participants, &mut wrong);
    let spec = Spec {
        topic: topic(request, &mut wrong),
        background: wrong.text("context", request.context.as_deref(), LONGEST_CONTEXT),
        rounds: wrong.within("rounds", request.rounds, defaults.rounds, ROUNDS),
        pattern,
        participants,
        options: options(request, &mut wrong),
        consensus: consensus(request, defaults),
        manner: manner(request, &mut wrong),
        timing: timing(request, defaults, &mut wrong),
        tolerance: tolerance(request, minimum, models, &mut wrong),
        limits: limits(request, &mut wrong),
        recursion: recursion(request, &mut wrong),
        early_exit: early_exit(request, &mut wrong),
        settings,
        window: window::window(request, registry),
        session: session(request, &mut wrong),
        tenant: Tenant::default(),
        account: None,
        show_names: request.show_names.unwrap_or(false),
        simulation,
        recall: recall::recall(request, &mut wrong),
        follows: None,
        recalled: None,
        client: request.client.clone(),
        retry: None,
        graded: false,
        known_voices: None,
        plan: None,
    };
    if let Some(id) = &request.follows {
        recall::named("follows", id, &mut wrong);
    }
    (spec, wrong.0)
}

fn topic(request: &Request, wrong: &mut Complaints) -> String {
    let longest = if request.client.is_some() { LONGEST_CONVERSATION } else { LONGEST_TOPIC };
    wrong.text("topic", Some(&request.topic), longest).unwrap_or_else(|| {
        wrong.add("topic", "is empty; give a question to discuss");
        String::new()
    })
}

fn options(request: &Request, wrong: &mut Complaints) -> Vec<String> {
    let Some(given) = &request.voting_options else { return Vec::new() };
    let (count, least, most) = (given.len(), *OPTIONS.start(), *OPTIONS.end());
    if !OPTIONS.contains(&count) {
        wrong.add("votingOptions", format!("takes {least} to {most} options; there are {count}"));
    }
    let options: Vec<String> = given.iter().take(most).map(|option| option.trim().to_owned()).collect();
    for (index, option) in options.iter().enumerate() {
        if option.is_empty() {
            wrong.add("votingOptions", format!("option {} is empty", index + 1));
        } else if option.chars().count() > LONGEST_OPTION {
            wrong.add(
                "votingOptions",
                format!("option {} has more than {LONGEST_OPTION} characters", index + 1),
            );
        } else if options[..index].contains(option) {
            wrong.add("votingOptions", format!("{} is listed twice", in_short(option)));
        }
    }
    options
}

fn consensus(request: &Request, defaults: &Defaults) -> ConsensusSpec {
    ConsensusSpec {
        method: request.consensus.clone().unwrap_or_else(|| defaults.method.to_owned()),
        include_dissent: request.include_dissent.unwrap_or(true),
    }
}

fn manner(request: &Request, wrong: &mut Complaints) -> Manner {
    Manner {
        temperature: wrong.within("temperature", request.temperature, 0.7, TEMPERATURE),
        max_tokens: wrong.within("maxTokensPerTurn", request.max_tokens_per_turn, 2_048, TOKENS_PER_TURN),
    }
}

fn timing(request: &Request, defaults: &Defaults, wrong: &mut Complaints) -> Timing {
    let total_ms = wrong.within("budgetMs", request.budget_ms, default_total_ms(request), BUDGET_MS);
    Timing {
        step_ms: wrong.within(
            "providerTimeout",
            request.provider_timeout,
            defaults.step_ms,
            PROVIDER_TIMEOUT,
        ),
        total_ms,
        reserve_ms: wrong
            .within("minSynthesisMs", request.min_synthesis_ms, SYNTHESIS_RESERVE_MS, SYNTHESIS_MS)
            .min(total_ms / 2),
    }
}

pub(super) fn default_total_ms(request: &Request) -> u64 {
    if request.recursive == Some(true) { 180_000 } else { 30 * 60_000 }
}

/// The default minimum of models for a success. With people taking part, one model is enough.
pub(super) fn default_minimum(seats: &[Participant]) -> u32 {
    let people = seats.iter().any(Participant::is_person);
    if people { models(seats).clamp(1, USUAL_MINIMUM) } else { USUAL_MINIMUM }
}

fn models(seats: &[Participant]) -> u32 {
    seats.iter().filter(|it| !it.is_person()).count() as u32
}

fn tolerance(request: &Request, minimum: u32, count: u32, wrong: &mut Complaints) -> Tolerance {
    let min_providers = request.min_providers.unwrap_or(minimum);
    // A default panel that is too small is complained about already.
    let is_short = wrong.0.iter().any(|it| it.origin == Some(Origin::DefaultPanel));
    if min_providers == 0 {
        wrong.add("minProviders", "must be at least 1");
    } else if request.min_providers.is_some() && min_providers > count && !is_short {
        let are = |number: u32| if number == 1 { "is" } else { "are" };
        let message =
            format!("{min_providers} {} required, and only {count} {} named", are(min_providers), are(count));
        wrong.clash("minProviders", message);
    }
    Tolerance { go_on: request.continue_on_provider_failure.unwrap_or(true), min_providers }
}

fn limits(request: &Request, wrong: &mut Complaints) -> Limits {
    let capped = (request.recursive == Some(true)).then_some(CALLS_WITH_RECURSION);
    if request.max_calls == Some(0) {
        wrong.add("maxCalls", "must be at least 1");
    }
    if request.max_tokens == Some(0) {
        wrong.add("maxTokens", "must be at least 1");
    }
    let usd = request.max_cost.and_then(|dollars| {
        let usd = Usd::from_dollars(dollars).filter(|usd| *usd > Usd::ZERO);
        if usd.is_none() {
            wrong.add("maxCost", format!("must be an amount of USD above 0, not {dollars}"));
        }
        usd
    });
    Limits {
        calls: request.max_calls.or(capped),
        tokens: request.max_tokens,
        usd,
        allow_unpriced: request.allow_unpriced.unwrap_or(false),
    }
}

fn recursion(request: &Request, wrong: &mut Complaints) -> Option<Recursion> {
    let strategy = strategy(request, wrong);
    let max_depth = wrong.within("maxDepth", request.max_depth, 2, DEPTH);
    if request.recursive == Some(true) {
        return Some(Recursion { max_depth, strategy });
    }
    let only = "applies only to sub-discussions; switch recursive on, or leave this out";
    if request.max_depth.is_some() {
        wrong.clash("maxDepth", only);
    }
    if request.timeout_strategy.is_some() {
        wrong.clash("timeoutStrategy", only);
    }
    None
}

fn strategy(request: &Request, wrong: &mut Complaints) -> TimeoutStrategy {
    let Some(given) = &request.timeout_strategy else { return TimeoutStrategy::default() };
    TimeoutStrategy::ALL.into_iter().find(|it| it.name() == given).unwrap_or_else(|| {
        let names = TimeoutStrategy::ALL.map(TimeoutStrategy::name).join(", ");
        wrong.add("timeoutStrategy", format!("there is no strategy {}; there are {names}", in_short(given)));
        TimeoutStrategy::default()
    })
}

/// Off unless requested: a participant that has not answered yet may be the one that disagrees.
fn early_exit(request: &Request, wrong: &mut Complaints) -> Option<f64> {
    let enough = wrong.within("confidenceThreshold", request.confidence_threshold, 0.9, SHARE);
    if request.early_exit == Some(true) {
        return Some(enough);
    }
    if request.confidence_threshold.is_some() {
        let message = "applies only to early exit; switch early exit on, or leave this out";
        wrong.clash("confidenceThreshold", message);
    }
    None
}

fn session(request: &Request, wrong: &mut Complaints) -> Option<Uuid> {
    let given = request.session_id.as_deref()?;
    let session = Uuid::parse_str(given).ok();
    if session.is_none() {
        let message = format!("{} is not a session's id", in_short(given));
        let complaint = Complaint::new("sessionId", Code::InvalidRequest, message);
        wrong.0.push(complaint.with([Remedy::ListSessions]));
    }
    session
}

/// The source of the participants' voices.
fn asked(request: &Request, simulation: &Option<Simulation>) -> panel::VoiceSource {
    match simulation {
        None => panel::VoiceSource::Real,
        Some(_) if request.wants_simulation() => panel::VoiceSource::AsAsked,
        Some(_) => panel::VoiceSource::BySetting,
    }
}

/// Voices are simulated only if the request or the program asks for it.
fn simulation(request: &Request, setting: &Setting, wrong: &mut Complaints) -> Option<Simulation> {
    if !request.wants_simulation() && setting.voicing == Voicing::Real {
        return None;
    }
    let defaults = Simulate::default();
    let given = request.simulate.as_ref().unwrap_or(&defaults);
    let dead = wrong.few("simulate.dead", &given.dead, most_seats(&setting.registry));
    Some(Simulation {
        seed: request.seed.unwrap_or(1),
        latency_ms: wrong.within("simulate", given.latency_ms, 300, LATENCY_MS),
        failure: wrong.within("simulate", given.failure, 0.0, SHARE),
        stubbornness: wrong.within("simulate", given.stubbornness, 0.5, SHARE),
        dead: dead.iter().map(|name| seats::provider_named(name)).collect(),
        world: request.world.clone(),
    })
}

fn known_dead(simulation: &Option<Simulation>, seats: &[Participant], wrong: &mut Complaints) {
    for dead in simulation.iter().flat_map(|it| &it.dead) {
        if !seats.iter().any(|it| seats::may_speak_through(it, dead)) {
            wrong.clash("simulate", seats::not_seated(dead, seats));
        }
    }
}
