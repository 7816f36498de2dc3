//! A question to one voice, for programs: a step of a workflow, a call that needs no discussion.

use quorum_core::{model::spec::Spec, registry::Defaults};
use quorum_patterns::pattern::prompt::SYSTEM;

use crate::{
    Complaint,
    request::{
        Request, Setting, Voicing,
        bounds::capped,
        check::{defaults_of, draft},
        panel::first_seat,
    },
};

/// The pattern that asks it.
const PROMPT: &str = "prompt";

/// A question to one voice. It may be longer than the topic of a discussion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OneVoice {
    /// The whole question.
    pub text: String,
    /// The system text.
    pub system: Option<String>,
    /// Everything else: the provider (else the first of the default panel is asked), temperature,
    /// length, limits, simulation. Its topic and pattern are not read.
    pub request: Request,
}

/// The spec of this question, or all problems with it.
pub fn one_voice(asked: &OneVoice, setting: &Setting) -> Result<Spec, Vec<Complaint>> {
    let defaults = defaults_of(PROMPT, &setting.registry);
    let request = &asked.request;
    let named = request.providers.is_some() || request.participants.is_some();
    let first =
        || first_seat(setting, is_simulated(request, setting), &Defaults { seats: (1, 6), ..defaults });
    let providers = if named { request.providers.clone() } else { first().map(|it| vec![it]) };
    let request = Request {
        // Replaced below: the text may be longer than a topic.
        topic: PROMPT.to_owned(),
        pattern: Some(PROMPT.to_owned()),
        providers,
        rounds: None,
        min_providers: Some(1),
        known_question: request.known_question.clone().or_else(|| Some(asked.text.clone())),
        ..request.clone()
    };
    let (mut spec, mut complaints) = draft(&request, setting);
    spec.topic.clone_from(&asked.text);
    if let Some(system) = &asked.system {
        spec.settings.set(SYSTEM.name(), system.as_str());
    }
    let is_new = |it: &Complaint| !complaints.iter().any(|known| known.field == it.field);
    let refusals = setting.registry.refusals(&spec).into_iter().map(Complaint::from);
    let further: Vec<Complaint> = refusals.filter(is_new).collect();
    complaints.extend(further);
    if complaints.is_empty() { Ok(spec) } else { Err(capped(complaints)) }
}

fn is_simulated(request: &Request, setting: &Setting) -> bool {
    request.wants_simulation() || setting.voicing == Voicing::Simulated
}
