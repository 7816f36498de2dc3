//! Whose turn it is: what a person is asked, how to answer, and the answer itself where there is a terminal to type it into.

use std::io::{BufRead, IsTerminal};

use quorum::model::{event::Awaited, lifecycle::Lifecycle, state::State};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    follow::Leave,
    judge,
    live::terminal,
    render::{insist, note},
};

/// What ends an answer that is typed.
const END: &str = ".";

/// Says what a discussion waits for that people must give, and how; `false` when it waits for nothing of theirs.
pub(crate) fn announce(state: &State) -> bool {
    if state.lifecycle.is_terminal() || state.lifecycle == Lifecycle::Paused {
        return false;
    }
    if let Some(vacancy) = &state.debate.vacancy {
        judge::announce(state.id, vacancy);
    }
    whose_turn(state);
    state.debate.vacancy.is_some() || !state.awaiting.is_empty()
}

/// Says whose turn it is, what is asked, and how to answer.
fn whose_turn(state: &State) {
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
    let Awaited { participant, round, phase, prompt, .. } = awaited;
    say(&format!("It is {participant}'s turn (round {round}, {}):", phase.replace('-', " ")));
    prompt.lines().for_each(|line| say(&format!("  {line}")));
}

/// The answer of the one who is awaited, typed here; `None` where nobody can type, or nobody did. Turns from `unseen` on were
/// shown as they came.
pub(crate) async fn typed(state: &State, unseen: usize) -> anyhow::Result<Option<(String, String)>> {
    let [awaited] = state.awaiting.as_slice() else { return Ok(None) };
    let seat = state.spec.seat(&awaited.participant).and_then(|it| it.person.as_ref());
    let anybodys = seat.is_some_and(|person| person.user.is_none());
    if !anybodys || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    // Who is to answer must see what, however quiet it shall be.
    heard_since(state, &awaited.participant, unseen);
    asked(awaited, insist);
    insist(&format!("Type what {} says, and `{END}` on a line of its own to finish:", awaited.participant));
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, Leave::new()?);
    let mut stopped = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut typing = tokio::task::spawn_blocking(lines);
    let text = loop {
        tokio::select! {
            text = &mut typing => break text?,
            _ = interrupt.recv() => break String::new(),
            () = leave.asked() => break String::new(),
            // The screen catches Ctrl-Z for good, so it is on us here.
            _ = stopped.recv() => terminal::suspend(),
        }
    };
    Ok((!text.trim().is_empty()).then(|| (awaited.participant.clone(), text)))
}

/// What the others said since this person last spoke.
fn heard_since(state: &State, participant: &str, unseen: usize) {
    let last = state.turns.iter().rposition(|turn| turn.participant == participant);
    for turn in state.turns.iter().take(unseen).skip(last.map_or(0, |place| place + 1)) {
        insist(&format!("\n{}:\n{}", turn.participant, turn.text.trim()));
    }
    insist("");
}

fn lines() -> String {
    let lines = std::io::stdin().lock().lines().map_while(Result::ok);
    lines.take_while(|line| line.trim() != END).collect::<Vec<_>>().join("\n")
}
