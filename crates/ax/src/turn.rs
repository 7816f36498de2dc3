//! Whose turn it is: what a person is asked, how to answer, and the answer itself where there is a terminal to type it into.

use std::io::{BufRead, IsTerminal};

use quorum::model::{event::Awaited, state::State};
use tokio::signal::unix::{SignalKind, signal};

use crate::render::{note, tell};

/// What ends an answer that is typed.
const END: &str = ".";

/// Says whose turn it is, what is asked, and how to answer.
pub(crate) fn announce(state: &State) {
    for awaited in &state.awaiting {
        asked(awaited, note);
    }
    let (id, several) = (state.id, state.awaiting.len() > 1);
    for Awaited { participant, .. } in &state.awaiting {
        let speaker = if several { format!(" --as {participant}") } else { String::new() };
        note(&format!("`ax say {id} \"…\"{speaker}` answers; `ax show {id}` has what was said so far."));
    }
}

fn asked(awaited: &Awaited, say: fn(&str)) {
    let Awaited { participant, round, phase, prompt, shape, .. } = awaited;
    say(&format!("It is {participant}'s turn (round {round}, {}):", phase.replace('-', " ")));
    prompt.lines().for_each(|line| say(&format!("  {line}")));
    if let Some(hint) = shape.as_deref().and_then(hint) {
        say(&format!("  {hint}"));
    }
}

/// How a person answers where models fill in a form.
fn hint(shape: &str) -> Option<&'static str> {
    match shape {
        "ballot" => Some(
            "In plain words: the option on the first line, then why; a line `Confidence: 0.8` says how sure.",
        ),
        "consensus-check" => Some("In plain words: yes or no first, then why."),
        "verdict" | "synthesis" => Some("Plain words are fine."),
        _ => None,
    }
}

/// The answer of the one who is awaited, typed here; `None` where nobody can type, or nobody did.
pub(crate) async fn typed(state: &State) -> anyhow::Result<Option<(String, String)>> {
    let [awaited] = state.awaiting.as_slice() else { return Ok(None) };
    let seat = state.spec.seat(&awaited.participant).and_then(|it| it.person.as_ref());
    let anybodys = seat.is_some_and(|person| person.user.is_none());
    if !anybodys || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    // Who is to answer must see what, however quiet it shall be.
    heard_since(state, &awaited.participant);
    asked(awaited, tell);
    tell(&format!("Type what {} says, and `{END}` on a line of its own to finish:", awaited.participant));
    let mut interrupt = signal(SignalKind::interrupt())?;
    let text = tokio::select! {
        text = tokio::task::spawn_blocking(lines) => text?,
        _ = interrupt.recv() => String::new(),
    };
    Ok((!text.trim().is_empty()).then(|| (awaited.participant.clone(), text)))
}

/// What the others said since this person last spoke.
fn heard_since(state: &State, participant: &str) {
    let last = state.turns.iter().rposition(|turn| turn.participant == participant);
    for turn in &state.turns[last.map_or(0, |place| place + 1)..] {
        tell(&format!("\n{}:\n{}", turn.participant, turn.text.trim()));
    }
    tell("");
}

fn lines() -> String {
    let lines = std::io::stdin().lock().lines().map_while(Result::ok);
    lines.take_while(|line| line.trim() != END).collect::<Vec<_>>().join("\n")
}
