//! `prompt`: one voice, one answer.

use quorum_patterns::workflow::plan::{Action, PromptAction};
use serde_json::json;

use super::{StepType, complain};
use crate::{
    request::{OneVoice, Request, Seating, limits::TOKENS_PER_TURN, one_voice},
    workflow::{
        check::{LONGEST_WRITTEN, Reading},
        given::INPUT,
        node::{Node, Place},
        reader::Fields,
    },
};

pub(super) const STEP: StepType = StepType {
    name: "prompt",
    summary: "Asks one voice; the output is {content, provider, model, usage}",
    schema: || {
        json!({
            "type": "object",
            "properties": {
                "prompt": { "type": "string", "maxLength": LONGEST_WRITTEN },
                "task": { "type": "string", "maxLength": LONGEST_WRITTEN },
                "system": { "type": "string", "maxLength": LONGEST_WRITTEN },
                "provider": { "type": "string" },
                "agent": { "type": "string" },
                "agentId": { "type": "string" },
                "model": { "type": "string" },
                "temperature": { "type": "number", "minimum": 0, "maximum": 2 },
                "maxTokens": { "type": "integer", "minimum": 1 },
                "format": { "enum": ["text", "json"] },
            },
            "additionalProperties": false,
        })
    },
    read,
};

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a prompt's config", &mut reading.wrong)?;
    let prompt = fields.short_text(&["prompt", "task"], LONGEST_WRITTEN, &mut reading.wrong);
    let system = fields.short_text(&["system"], LONGEST_WRITTEN, &mut reading.wrong);
    let provider = fields.text(&["provider"], &mut reading.wrong);
    let agent = fields.text(&["agent", "agentId"], &mut reading.wrong);
    let model = fields.text(&["model"], &mut reading.wrong);
    let temperature = fields.number(&["temperature"], 0.0..=2.0, &mut reading.wrong);
    let most = u64::from(*TOKENS_PER_TURN.end());
    let max_tokens = fields.whole(&["maxTokens"], 1..=most, &mut reading.wrong);
    let json = fields.choice(&["format"], &["text", "json"], &mut reading.wrong) == Some("json");
    fields.finish(&mut reading.wrong);
    let manner = Request {
        temperature,
        max_tokens_per_turn: max_tokens.map(|it| it as u32),
        ..reading.at.base.clone()
    };
    let seat = match (provider, agent) {
        (Some(_), Some(_)) => {
            reading.wrong(config.place, "give a provider or an agent, not both");
            return None;
        }
        (provider, agent) => (provider, agent, model),
    };
    action(reading, config.place, Asked { prompt, system, json, seat, manner })
}

/// What a prompt asks, and whom: a provider or an agent, and a model.
pub(super) struct Asked {
    pub(super) prompt: Option<String>,
    pub(super) system: Option<String>,
    pub(super) json: bool,
    pub(super) seat: (Option<String>, Option<String>, Option<String>),
    pub(super) manner: Request,
}

/// The action of a prompt, or of a delegation.
pub(super) fn action(reading: &mut Reading<'_>, place: Place, asked: Asked) -> Option<Action> {
    let Asked { prompt, system, json, seat: (provider, agent, model), manner } = asked;
    let participants = agent.map(|it| vec![Seating::Written(format!("{it}:agent"))]);
    let usual = reading.at.provider.filter(|_| participants.is_none());
    let provider = provider.or_else(|| usual.map(str::to_owned));
    let providers = match (provider, model) {
        (Some(provider), Some(model)) => Some(vec![format!("{provider}/{model}")]),
        (Some(provider), None) => Some(vec![provider]),
        (None, Some(_)) => {
            reading.wrong(place, "model needs a provider beside it");
            return None;
        }
        (None, None) => None,
    };
    let text = prompt.clone().filter(|it| !it.trim().is_empty()).unwrap_or_else(|| INPUT.to_owned());
    if prompt.as_ref().is_some_and(|it| it.trim().is_empty()) {
        reading.wrong(place, "prompt is empty; leave it out to ask the input");
    }
    let known_question = Some(reading.given.question(Some(&text)));
    let request = Request { providers, participants, known_question, ..manner };
    let voice = OneVoice { text, system: None, request };
    match one_voice(&voice, reading.at.setting) {
        Ok(mut spec) => {
            spec.retry.clone_from(&reading.common.retry);
            Some(Action::Prompt(Box::new(PromptAction { prompt, system, json, spec })))
        }
        Err(complaints) => {
            complain(reading, place, complaints);
            None
        }
    }
}
