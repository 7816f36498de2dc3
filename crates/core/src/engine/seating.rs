//! Seating the panel: every seat's provider is checked, all at once, before anything is spent
//! (INV-DISC-100).

use std::{collections::BTreeMap, time::Duration};

use futures::future::join_all;
use tokio::time::timeout;

use crate::{
    floor::services::Services,
    model::{
        agent::{Agent, Candidate, PassedOver, SpeaksThrough},
        error::{Code, ErrorClass, Problem, ProviderError},
        event::{Absent, Event},
        labels::{self, lots_of},
        lifecycle::Lifecycle,
        participant::Participant,
        spec::Spec,
    },
    record::{Record, failure::Failure},
};

/// The time limit of a health check; a step's limit applies too. Providers give up sooner, and
/// cache the failure.
const CHECK: Duration = Duration::from_secs(10);

/// Why there is no panel, and which participants are missing.
pub(crate) struct NoPanel {
    pub(crate) problem: Problem,
    pub(crate) absent: Vec<Absent>,
}

/// Seats the panel, or returns why there can be no discussion. A resumed discussion keeps its
/// panel.
pub(crate) async fn seat_panel(services: &Services, record: &mut Record) -> Result<Option<NoPanel>, Failure> {
    if record.state.seated.is_some() {
        return Ok(None);
    }
    let mut spec = (*record.state.spec).clone();
    let checks = spec.participants.iter().map(|who| present(services, &spec, who));
    let (mut absent, mut agents) = (Vec::new(), BTreeMap::new());
    for (who, checked) in spec.participants.iter().zip(join_all(checks).await) {
        match checked {
            Ok(chosen) => agents.extend(chosen.map(|it| (who.name.clone(), it))),
            Err(ProviderError { class, message, .. }) => {
                absent.push(Absent { participant: who.name.clone(), class, message });
            }
        }
    }
    for seat in &mut spec.participants {
        agents.get(&seat.name).into_iter().for_each(|chosen| seat.seat_agent(chosen));
    }
    let is_there = |who: &&Participant| !absent.iter().any(|it| it.participant == who.name);
    let seated: Vec<String> = spec.participants.iter().filter(is_there).map(|who| who.name.clone()).collect();
    if let Some(problem) = too_few(&spec, &seated, &absent) {
        return Ok(Some(NoPanel { problem, absent }));
    }
    let models = models(services, &spec);
    let labels = labels(services, &spec);
    record.note(vec![(None, Event::PanelSeated { seated, absent, models, labels, agents })]);
    Ok(None)
}

/// Begins a retry after an error. `false` if that can't help, because everyone that is missing was
/// lost for good; the record stays as it is then.
pub(crate) fn retry(record: &mut Record) -> Result<bool, Failure> {
    let retried = record.state.retry();
    if record.state.conclusion.is_some() && retried.reseated.is_empty() {
        return Ok(false);
    }
    let ready = record.change(Lifecycle::Ready)?;
    record.note(vec![(None, Event::Retried(retried)), ready]);
    Ok(true)
}

/// The exact model behind each seat.
fn models(services: &Services, spec: &Spec) -> BTreeMap<String, String> {
    let model = |who: &Participant| {
        let voice = services.voices.voice(spec, who).filter(|_| !who.is_person())?;
        Some((who.name.clone(), voice.model?))
    };
    spec.participants.iter().filter_map(model).collect()
}

/// Labels for everyone, drawn by lot; none if models are to see names.
fn labels(services: &Services, spec: &Spec) -> Vec<(String, String)> {
    match &spec.simulation {
        _ if spec.show_names => Vec::new(),
        Some(simulation) => labels::draw(spec, lots_of(simulation.seed, "labels")),
        None => labels::draw(spec, || services.clock.draw()),
    }
}

/// Checks whether a participant can be asked; for an agent, through which of its candidates.
async fn present(
    services: &Services,
    spec: &Spec,
    who: &Participant,
) -> Result<Option<SpeaksThrough>, ProviderError> {
    match &who.agent {
        Some(agent) => choose(services, spec, who, agent).await.map(Some),
        None => check(services, spec, who).await.map(|()| None),
    }
}

/// The provider an agent speaks through (INV-DISC-640): the one it was planned with, else the first
/// of its candidates that can be asked. All are checked at once, so that the choice takes no longer
/// than one check.
async fn choose(
    services: &Services,
    spec: &Spec,
    who: &Participant,
    agent: &Agent,
) -> Result<SpeaksThrough, ProviderError> {
    let seats: Vec<Participant> = agent.candidates.iter().map(|it| who.clone().through(it)).collect();
    let checked = join_all(seats.iter().map(|seat| check(services, spec, seat))).await;
    let is_planned = |it: &Candidate| (&it.provider, &it.model) == (&who.provider, &who.model);
    let passed = |place: &usize| checked[*place].is_ok();
    let planned = agent.candidates.iter().position(is_planned).filter(passed);
    let chosen = planned.or_else(|| (0..checked.len()).find(passed));
    let tried = &checked[..chosen.unwrap_or(checked.len())];
    let failed = agent.candidates.iter().zip(tried).filter_map(|(it, checked)| {
        let message = checked.as_ref().err()?.message.clone();
        Some(PassedOver { candidate: it.written(), message })
    });
    let passed_over: Vec<PassedOver> = failed.collect();
    let Some(Candidate { provider, model, reason, .. }) = chosen.map(|place| agent.candidates[place].clone())
    else {
        return Err(unvoiced(agent, tried, &passed_over));
    };
    Ok(SpeaksThrough { provider, model, reason, passed_over })
}

/// None of an agent's candidates can be asked. The error is transient if one of theirs is.
fn unvoiced(agent: &Agent, tried: &[Result<(), ProviderError>], passed_over: &[PassedOver]) -> ProviderError {
    let classes = || tried.iter().filter_map(|it| Some(it.as_ref().err()?.class));
    let transient = classes().find(|it| it.is_transient());
    let class = transient.or_else(|| classes().next()).unwrap_or(ErrorClass::Validation);
    let reasons: Vec<String> =
        passed_over.iter().map(|it| format!("{}: {}", it.candidate, it.message)).collect();
    let message = match reasons.is_empty() {
        true => format!("the profile of {} leaves no provider it may speak through", agent.id),
        false => format!("none of the providers it may speak through can be asked ({})", reasons.join("; ")),
    };
    ProviderError::new(class, message)
}

async fn check(services: &Services, spec: &Spec, who: &Participant) -> Result<(), ProviderError> {
    if who.is_person() {
        return Ok(());
    }
    let Some(voice) = services.voices.voice(spec, who) else {
        return Err(ProviderError::new(
            ErrorClass::Validation,
            format!("{} is not set up here", who.provider),
        ));
    };
    let needs_price = spec.limits.needs_prices() || services.caps_need_prices(spec);
    if who.agent.is_some() && needs_price && voice.price.is_none() {
        let message = "its price is unknown, so its cost can't be limited";
        return Err(ProviderError::new(ErrorClass::Validation, message));
    }
    let limit = CHECK.min(Duration::from_millis(spec.timing.step_ms));
    let slow = |_| {
        let message = format!("no answer to the health check within {} ms", limit.as_millis());
        ProviderError::new(ErrorClass::Timeout, message)
    };
    timeout(limit, voice.provider.check(who)).await.map_err(slow)?
}

/// Why participants are absent. Those with the same reason, such as a key that several models
/// share, are named together.
fn reasons(absent: &[Absent]) -> String {
    let mut told: Vec<(Vec<&str>, String)> = Vec::new();
    for it in absent {
        let reason = format!("{} ({})", it.message, it.class.advice());
        match told.iter_mut().find(|(_, known)| *known == reason) {
            Some((names, _)) => names.push(&it.participant),
            None => told.push((vec![&it.participant], reason)),
        }
    }
    let told = told.into_iter().map(|(names, reason)| format!("{}: {reason}", names.join(", ")));
    told.collect::<Vec<_>>().join("; ")
}

fn too_few(spec: &Spec, seated: &[String], absent: &[Absent]) -> Option<Problem> {
    let needed = spec.tolerance.min_providers.max(if spec.tolerance.go_on {
        0
    } else {
        spec.participants.len() as u32
    });
    if seated.len() as u32 >= needed {
        return None;
    }
    let message =
        format!("{} of {needed} required providers are available. {}", seated.len(), reasons(absent));
    Some(Problem::of_losses(Code::InsufficientProviders, message, absent.iter().map(|it| it.class)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_several_participants_share_is_told_once() {
        let absent = |name: &str, message: &str| Absent {
            participant: name.to_owned(),
            class: ErrorClass::Authentication,
            message: message.to_owned(),
        };
        let advice = ErrorClass::Authentication.advice();
        let told = reasons(&[absent("ann", "bad key"), absent("bob", "no key"), absent("eve", "bad key")]);
        assert_eq!(told, format!("ann, eve: bad key ({advice}); bob: no key ({advice})"));
    }
}
