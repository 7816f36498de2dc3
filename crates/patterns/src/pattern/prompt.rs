//! Prompt: one question to one voice; its answer is the result. Programs hold it (a workflow's
//! step, a chat client's title), so it is hidden.

use quorum_core::{
    floor::{
        Floor,
        ask::{Ask, Hears},
        halt::Halt,
    },
    model::{
        error::{Code, Refusal},
        mention::plain,
        outcome::Decision,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::{Defaults, ErrorOnLoss, Pattern},
    vocabulary::option::Opt,
};

const ANSWERING: Phase = Phase("answering");

/// The longest question and the longest system text, in characters.
pub const LONGEST_PROMPT: usize = 400_000;

/// The system text; none if it is not set.
pub const SYSTEM: Opt<Option<String>> =
    Opt::text("system", "The system text of the voice", LONGEST_PROMPT, "TEXT").in_requests_only();

pub(crate) const PATTERN: Pattern = Pattern {
    name: "prompt",
    summary: "One voice answers one question",
    hidden: true,
    decides: true,
    defaults: Defaults { rounds: 1, seats: (1, 1), ..Defaults::PLAIN },
    options: &[&SYSTEM],
    phases: PhaseTable { first: &[ANSWERING], next: &[] },
    check,
    error_on_loss: ErrorOnLoss::TurnFailed,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let seats = spec.participants.len();
    if seats != 1 || spec.participants.iter().any(|it| it.is_person()) {
        let message = format!("a prompt takes exactly one model, not {seats} participants");
        refusals.push(Refusal::new("providers", Code::InvalidRequest, message));
    }
    let length = spec.topic.chars().count();
    if spec.topic.trim().is_empty() || length > LONGEST_PROMPT {
        let message = format!("must have 1 to {LONGEST_PROMPT} characters; this has {length}");
        refusals.push(Refusal::new("topic", Code::InvalidRequest, message));
    }
    refusals
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    floor.enter(ANSWERING, 1).await?;
    let spec = floor.spec();
    let system = spec.option(&SYSTEM).unwrap_or_default();
    // The spec's topic is the whole question, so the voice is sent that and nothing else.
    let ask = Ask::new(&*plain(&system), &*plain(&spec.topic)).hearing(Hears::Nothing);
    let mut answer = None;
    for who in &floor.speakers() {
        answer = floor.ask(who, ask.clone()).await?;
    }
    Ok(answer.map(|turn| Decision {
        synthesis: turn.text.to_string(),
        synthesizer: Some(turn.participant.clone()),
        ..Decision::default()
    }))
}
