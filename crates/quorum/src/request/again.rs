//! Converts a spec back to a request, so that a past order can be repeated with changes.
//!
//! The defaults of its pattern are left out, so that another pattern can apply its own; checking
//! adds them again.

use std::collections::BTreeMap;

use quorum_core::{
    model::{
        client::ClientOrder,
        participant::{Participant, Role},
        spec::{ConsensusSpec, Limits, Manner, SYNTHESIS_RESERVE_MS, Simulation, Spec, Timing, Tolerance},
    },
    registry::{Defaults, Registry},
};
use serde_json::{Map, Value};

use crate::{
    config::DEPENDENT,
    request::{
        RecallRequest, Request, Seat, Seating, Simulate,
        bounds::Complaints,
        check::{default_minimum, default_total_ms, defaults_of},
        seats,
        seats::may_speak_through,
        settings::{self, Chosen, role_options},
        window::with_window,
    },
};

impl Request {
    /// The request that produces this spec again. The spec is destructured completely, so that a
    /// new field must be handled here.
    #[must_use]
    pub fn of(spec: &Spec, registry: &Registry) -> Request {
        let Spec {
            topic,
            background,
            pattern,
            rounds,
            participants,
            options,
            consensus,
            manner,
            timing,
            tolerance,
            limits,
            recursion,
            early_exit,
            settings,
            window,
            session,
            // The sender of the repeated request is its tenant, and pays for it.
            tenant: _,
            account: _,
            show_names,
            simulation,
            recall,
            // A repeated request follows what it is told to follow, and looks for itself what to
            // recall.
            follows: _,
            recalled: _,
            client,
            // The first belongs to an evaluation, the second to the time it was held.
            graded: _,
            known_voices: _,
            // Hidden patterns have these, and no request can name one.
            retry: _,
            plan: _,
        } = spec;
        let defaults = &defaults_of(pattern, registry);
        let request = Request {
            topic: topic.clone(),
            context: background.clone(),
            pattern: Some(pattern.clone()),
            rounds: unless_default(*rounds, defaults.rounds),
            voting_options: (!options.is_empty()).then(|| options.clone()),
            recursive: recursion.map(|_| true),
            max_depth: recursion.map(|it| it.max_depth),
            timeout_strategy: recursion.map(|it| it.strategy.name().to_owned()),
            early_exit: early_exit.map(|_| true),
            confidence_threshold: *early_exit,
            session_id: session.map(|it| it.to_string()),
            show_names: show_names.then_some(true),
            recall: recall.as_ref().map(RecallRequest::from),
            settings: settings.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
            // A repetition belongs to no client.
            client: client.clone().map(|it| ClientOrder { attended: None, ..it }),
            ..Request::default()
        };
        let request = with_seats(request, participants, defaults);
        let request = with_deciding(request, consensus, defaults);
        let request = with_window(request, window, registry);
        let request = with_bounds(request, timing, limits, tolerance, defaults);
        let minimum = default_minimum(participants);
        let request = Request { min_providers: unless_default(tolerance.min_providers, minimum), ..request };
        with_voices(request, manner, simulation.as_ref())
    }
}

fn unless_default<T: PartialEq + Copy>(value: T, defaults: T) -> Option<T> {
    (value != defaults).then_some(value)
}

fn with_seats(request: Request, participants: &[Participant], defaults: &Defaults) -> Request {
    // A judge with a second seat gets it again from the pattern; it was not requested by name.
    let asked_for: Vec<&Participant> =
        participants.iter().filter(|it| !is_second_seat(it, participants)).collect();
    let seats = || asked_for.iter().copied();
    let default_role = |it: &&Participant| if it.is_person() { Role::USER } else { Role::SPEAKER };
    let roles = seats().filter(|it| it.role != default_role(it));
    let roles: BTreeMap<String, String> = roles.map(|it| (it.name.clone(), it.role.to_string())).collect();
    let prompts = seats().filter_map(|it| Some((it.name.clone(), it.brief.clone()?)));
    let prompts: BTreeMap<String, String> = prompts.collect();
    let table = under_their_names(&asked_for);
    let is_kept = |it: &Seating| matches!(it, Seating::Kept { .. } | Seating::KeptAgent(_));
    let (providers, table) = if seats().any(Participant::is_person) || table.iter().any(is_kept) {
        (None, Some(table))
    } else {
        let providers: Vec<String> = seats().map(provider).collect();
        ((providers != defaults.panel).then_some(providers), None)
    };
    Request {
        providers,
        participants: table,
        roles: (!roles.is_empty()).then_some(roles),
        provider_prompts: (!prompts.is_empty()).then_some(prompts),
        ..request
    }
}

/// Whether a pattern gave this seat to a provider that already has one.
fn is_second_seat(seat: &Participant, participants: &[Participant]) -> bool {
    let is_of = |it: &Participant| {
        let second = format!("{}-{}", it.name, seat.role);
        seat.name.starts_with(&second) && provider(seat) == provider(it)
    };
    seat.aside && participants.iter().any(is_of)
}

/// The seats as they would be written; a seat that would get another name that way keeps its own.
fn under_their_names(seats: &[&Participant]) -> Vec<Seating> {
    let table: Vec<Seating> = seats.iter().map(|it| written(it)).collect();
    let named = seats::seated(&table, "participants", &seats::name_only, &mut Complaints::default());
    if seats.iter().map(|it| &it.name).eq(named.iter().map(|it| &it.name)) {
        return table;
    }
    seats.iter().map(|it| kept(it)).collect()
}

/// A seat that keeps its name, regardless of the other seats.
pub(crate) fn kept(seat: &Participant) -> Seating {
    match (&seat.person, &seat.agent) {
        (Some(_), _) | (None, Some(_)) => written(seat),
        (None, None) => Seating::Kept { seat: provider(seat), name: seat.name.clone() },
    }
}

/// A seat as it would be written.
fn written(seat: &Participant) -> Seating {
    match (&seat.person, &seat.agent) {
        (Some(person), _) => Seating::Person(Seat { person: seat.name.clone(), user: person.user.clone() }),
        (None, Some(_)) => Seating::KeptAgent(Box::new(without_orders(seat))),
        (None, None) => Seating::Written(provider(seat)),
    }
}

/// An agent's seat as it was before the order gave it a role and instructions, which are given
/// again.
fn without_orders(seat: &Participant) -> Participant {
    Participant { brief: None, aside: false, ..seat.clone().playing(Role::SPEAKER) }
}

fn provider(seat: &Participant) -> String {
    match &seat.model {
        Some(model) => format!("{}/{model}", seat.provider),
        None => seat.provider.clone(),
    }
}

fn with_deciding(request: Request, consensus: &ConsensusSpec, defaults: &Defaults) -> Request {
    let ConsensusSpec { method, include_dissent } = consensus;
    Request {
        consensus: unless_default(method.as_str(), defaults.method).map(str::to_owned),
        include_dissent: Some(*include_dissent),
        ..request
    }
}

fn with_bounds(
    request: Request,
    timing: &Timing,
    limits: &Limits,
    tolerance: &Tolerance,
    defaults: &Defaults,
) -> Request {
    let Timing { step_ms, total_ms, reserve_ms } = timing;
    let Limits { calls, tokens, usd, allow_unpriced } = limits;
    let Tolerance { go_on, min_providers: _ } = tolerance;
    Request {
        provider_timeout: unless_default(*step_ms, defaults.step_ms),
        budget_ms: unless_default(*total_ms, default_total_ms(&request)),
        min_synthesis_ms: unless_default(*reserve_ms, SYNTHESIS_RESERVE_MS.min(total_ms / 2)),
        max_calls: *calls,
        max_tokens: *tokens,
        max_cost: usd.map(|usd| usd.dollars()),
        allow_unpriced: Some(*allow_unpriced),
        continue_on_provider_failure: Some(*go_on),
        ..request
    }
}

fn with_voices(request: Request, manner: &Manner, simulation: Option<&Simulation>) -> Request {
    let Manner { temperature, max_tokens } = manner;
    let simulate = |it: &Simulation| Simulate {
        latency_ms: Some(it.latency_ms),
        failure: Some(it.failure),
        stubbornness: Some(it.stubbornness),
        dead: it.dead.clone(),
    };
    Request {
        temperature: Some(*temperature),
        max_tokens_per_turn: Some(*max_tokens),
        offline: simulation.map(|_| true),
        seed: simulation.map(|it| it.seed),
        simulate: simulation.map(simulate),
        world: simulation.and_then(|it| it.world.clone()),
        ..request
    }
}

/// The past request with the changes applied. Settings of single participants stay only for those
/// who still take part, and roles and options only where they still apply.
pub(crate) fn changed(past: &Request, changes: &Request, registry: &Registry) -> Request {
    let mut past = past.clone();
    if changes.pattern.is_some() && changes.pattern != past.pattern {
        past.roles = None;
    }
    let role_options = role_options(registry);
    for (_, taken) in role_options.iter().filter(|(it, _)| changes.settings.contains_key(it.name)) {
        past.roles.iter_mut().for_each(|roles| roles.retain(|_, role| role != taken));
        // The role goes to those named now, whichever option named them before.
        let gives = |name: &str| role_options.iter().any(|(it, role)| it.name == name && role == taken);
        past.settings.retain(|name, _| !gives(name));
    }
    drop_idle(&mut past, changes, registry);
    if let Some(table) = table(changes) {
        keep_those_present(&mut past, &table, registry);
        (past.providers, past.participants) = (None, None);
    }
    // Seats that keep their names have no written form.
    let table = changes.participants.clone().or_else(|| past.participants.take());
    let client = past.client.take();
    let (mut fields, mut changes) = (fields(&past), fields(changes));
    changes.remove("participants");
    for (field, switch) in DEPENDENT {
        if changes.get(*switch) == Some(&Value::Bool(false)) {
            fields.remove(*field);
        }
    }
    let gives_rounds = changes.contains_key("rounds");
    fields.extend(changes);
    if !gives_rounds && settings::refused_rounds(&fields, registry).is_some() {
        fields.remove("rounds");
    }
    // Both were requests, and so is one that takes each field from one of them.
    let request = serde_json::from_value(Value::Object(fields)).unwrap_or(past);
    Request { participants: table, client, ..request }
}

/// The fields that are given; an empty topic counts as not given.
pub(super) fn fields(request: &Request) -> Map<String, Value> {
    let fields = serde_json::to_value(request).ok().and_then(|it| it.as_object().cloned());
    let mut fields = fields.unwrap_or_default();
    if request.topic.is_empty() {
        fields.remove("topic");
    }
    fields
}

/// The participants, if the request names them.
fn table(request: &Request) -> Option<Vec<Seating>> {
    let providers = || Some(request.providers.clone()?.into_iter().map(Seating::Written).collect());
    request.participants.clone().or_else(providers)
}

/// Drops the options that don't apply to the pattern, method and strategy of the changes.
fn drop_idle(past: &mut Request, changes: &Request, registry: &Registry) {
    let first = |names: Option<&'static str>| names.unwrap_or_default().to_owned();
    let either = |change: &Option<String>, past: &Option<String>| change.clone().or_else(|| past.clone());
    let pattern = either(&changes.pattern, &past.pattern)
        .unwrap_or_else(|| first(registry.patterns().first().map(|it| it.name)));
    let method = either(&changes.consensus, &past.consensus)
        .unwrap_or_else(|| defaults_of(&pattern, registry).method.to_owned());
    let strategy = either(&changes.window_strategy, &past.window_strategy)
        .unwrap_or_else(|| first(registry.strategies().first().map(|it| it.name)));
    let chosen = Chosen { pattern: &pattern, method: &method, strategy: &strategy };
    let counting = chosen.options(registry);
    past.settings.retain(|name, _| counting.iter().any(|it| it.name == name));
}

fn keep_those_present(past: &mut Request, table: &[Seating], registry: &Registry) {
    let seats = seats::seated(table, "participants", &seats::name_only, &mut Complaints::default());
    let sits = |name: &str| seats.iter().any(|it| it.name == name);
    past.roles.iter_mut().for_each(|roles| roles.retain(|name, _| sits(name)));
    past.provider_prompts.iter_mut().for_each(|prompts| prompts.retain(|name, _| sits(name)));
    settings::keep_those_present(&mut past.settings, registry, &sits);
    let speaks = |name: &String| seats.iter().any(|it| may_speak_through(it, name));
    past.simulate.iter_mut().for_each(|simulate| simulate.dead.retain(speaks));
}
