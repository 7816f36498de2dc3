//! A person's turn: the question, how to answer it, and the answer typed at this terminal.

use std::{
    io::{BufRead, Write},
    sync::{Arc, Mutex, PoisonError},
};

use quorum::{
    Snapshot,
    model::{
        event::Awaited,
        lifecycle::Lifecycle,
        ruling::{AwaitedChoice, RulingAwaited},
        state::State,
    },
    text::without_escapes,
};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    live::{
        editor::{Editor, Typing},
        events::LeaveSignals,
        own_editor,
        scrollback::said_between,
    },
    render::{note, note_always, note_lines_always},
    terminal::{self, LineMode},
};

/// The line that ends a typed answer.
const END: &str = ".";

/// Prints which turns and decisions of people a discussion waits for, and how to give them; `false`
/// if it waits for none.
pub(crate) fn announce(state: &Snapshot) -> bool {
    if state.lifecycle.is_terminal() || state.lifecycle == Lifecycle::Paused {
        return false;
    }
    if let Some(ruling) = &state.ruling {
        announce_ruling(state, ruling);
    }
    whose_turn(state);
    state.ruling.is_some() || !state.awaiting.is_empty()
}

/// Prints which decision is awaited, and the possible choices.
fn announce_ruling(state: &Snapshot, awaited: &RulingAwaited) {
    let RulingAwaited { kind, about, round, reason, candidates, choices, .. } = awaited;
    let declared = state.registry().rulings().into_iter().find(|it| it.name == kind);
    let task = declared.map(|it| format!(" {}:", it.summary)).unwrap_or_default();
    note(&format!("Waiting for a decision about {about} (round {round}): {reason}.{task}"));
    let possible = |it: &&AwaitedChoice| !it.takes_candidate || !candidates.is_empty();
    for AwaitedChoice { name, takes_candidate } in choices.iter().filter(possible) {
        let means = declared.and_then(|it| it.choice(name)).map(|it| format!("  {}", it.summary));
        let (given, among) = match takes_candidate {
            true => (" NAME", format!(": {}", candidates.join(", "))),
            false => ("", String::new()),
        };
        let command = format!("`ax {kind} {} {name}{given}`", state.id);
        note(&format!("  {command}{}{among}", means.unwrap_or_default()));
    }
}

/// Prints whose turn it is, the question, and how to answer.
fn whose_turn(state: &State) {
    for awaited in &state.awaiting {
        asked(&format!("Waiting for {}", awaited.participant), awaited, note);
    }
    let (id, several) = (state.id, state.awaiting.len() > 1);
    for Awaited { participant, .. } in &state.awaiting {
        let speaker = if several { format!(" --as {participant}") } else { String::new() };
        note(&format!("`ax say {id} \"…\"{speaker}` answers; `ax show {id}` prints what was said so far."));
    }
}

fn asked(whose: &str, awaited: &Awaited, say: fn(&str)) {
    let Awaited { round, phase, prompt, .. } = awaited;
    say(&format!("{whose} (round {round}, {}):", phase.replace('-', " ")));
    prompt.lines().for_each(|line| say(&format!("  {line}")));
}

/// The result of asking at this terminal.
pub(crate) enum Typed {
    /// The person said something.
    Answer { speaker: String, text: String },
    /// Nothing: there is no keyboard, or the answer was empty.
    Nothing,
    /// The person left, and was told how to come back.
    Left,
}

/// Asks the person whose turn it is, if they can type here. Turns from `unseen` on have been shown
/// already.
pub(crate) async fn typed(state: &State, unseen: usize) -> anyhow::Result<Typed> {
    let [awaited] = state.awaiting.as_slice() else { return Ok(Typed::Nothing) };
    let seat = state.spec.seat(&awaited.participant).and_then(|it| it.person.as_ref());
    let anybodys = seat.is_some_and(|person| person.user.is_none());
    if !anybodys || !terminal::has_keys() {
        return Ok(Typed::Nothing);
    }
    // A person who is to answer must see the question, even with `--quiet`.
    heard_since(state, &awaited.participant, unseen);
    asked(&format!("Your turn, {}", awaited.participant), awaited, note_always);
    note_always(&format!(
        "Type your answer, then `{END}` on a line of its own; Ctrl-X Ctrl-E opens $EDITOR, Ctrl-C leaves it for later."
    ));
    let Some(lines) = lines_typed(earlier(state, &awaited.participant)).await? else {
        note_always(&format!(
            "\nNothing was sent. The discussion keeps waiting for {}.",
            awaited.participant
        ));
        note_always(&format!("  ax say {} \"…\"   answers later", state.id));
        note_always(&format!("  ax stop {}      concludes without it", state.id));
        return Ok(Typed::Left);
    };
    let (speaker, text) = (awaited.participant.clone(), lines.join("\n"));
    Ok(if text.trim().is_empty() { Typed::Nothing } else { Typed::Answer { speaker, text } })
}

/// The typed lines up to the closing one; `None` if a signal came first.
async fn lines_typed(earlier: Vec<String>) -> anyhow::Result<Option<Vec<String>>> {
    let (mut interrupt, mut leave) = (signal(SignalKind::interrupt())?, LeaveSignals::at_a_terminal()?);
    let mut stopped = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    // A terminal that can't move its cursor edits lines itself.
    let mode = terminal::allows_live_view().then(LineMode::begin).transpose()?.map(Arc::new);
    let prompt = Arc::new(Prompt::default());
    let of_thread = (mode.clone(), prompt.clone());
    let mut typing = tokio::task::spawn_blocking(move || match &of_thread {
        (Some(mode), prompt) => edited(mode, prompt, Editor::with_history(earlier)),
        (None, _) => lines(),
    });
    loop {
        tokio::select! {
            lines = &mut typing => return Ok(Some(lines?)),
            _ = interrupt.recv() => break,
            () = leave.received() => break,
            // The screen has caught Ctrl-Z for the rest of the process, so it is handled here.
            _ = stopped.recv() => {
                mode.iter().for_each(|it| it.pause());
                terminal::suspend();
                mode.iter().try_for_each(|it| it.again())?;
            }
        }
    }
    // The thread waits for a key for as long as this process lives, and holds the mode.
    prompt.close();
    mode.iter().for_each(|it| it.pause());
    Ok(None)
}

/// The lines typed in our own line editor.
fn edited(mode: &LineMode, prompt: &Prompt, mut editor: Editor) -> Vec<String> {
    let mut lines = Vec::new();
    prompt.draw(&editor.drawn(terminal::size().columns));
    while let Some(byte) = terminal::next_byte() {
        match editor.feed(byte) {
            Some(Typing::Line(line)) => {
                prompt.draw(&Editor::drawn_whole(&line));
                if line.trim() == END {
                    return lines;
                }
                lines.push(line);
            }
            Some(Typing::End) => break,
            Some(Typing::Editor) => {
                lines = in_program(mode, prompt, lines);
            }
            None => {}
        }
        prompt.draw(&editor.drawn(terminal::size().columns));
    }
    prompt.draw("\r\n");
    lines
}

/// Opens the answer in the person's own editor and shows the result. Typing continues after it.
fn in_program(mode: &LineMode, prompt: &Prompt, lines: Vec<String>) -> Vec<String> {
    prompt.draw("\r\n");
    mode.pause();
    let edited = own_editor::edit(&lines.join("\n"));
    if let Err(error) = mode.again() {
        note_always(&format!("The terminal can't be used any more: {error}."));
    }
    let lines = match edited {
        Ok(text) => without_escapes(&text).trim_end().lines().map(str::to_owned).collect(),
        Err(error) => {
            note_always(&format!("{error:#}. What you typed is kept."));
            lines
        }
    };
    lines.iter().for_each(|line| prompt.draw(&Editor::drawn_whole(line)));
    lines
}

/// The line being typed, as it is drawn. The thread that reads keys outlives it, and must not draw
/// over what is printed after it.
#[derive(Default)]
struct Prompt {
    is_closed: Mutex<bool>,
}

impl Prompt {
    fn draw(&self, text: &str) {
        // Held while writing, so that nothing is drawn after `close` returned.
        let is_closed = self.is_closed.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_closed {
            // A closed terminal ends the input too.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    fn close(&self) {
        *self.is_closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// What this person said before, line by line, for the keys that recall it.
fn earlier(state: &State, participant: &str) -> Vec<String> {
    let own = state.turns.iter().filter(|turn| turn.participant == participant);
    own.flat_map(|turn| without_escapes(&turn.text).lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Prints what the others said since this person last spoke.
fn heard_since(state: &State, participant: &str, unseen: usize) {
    let last = state.turns.iter().rposition(|turn| turn.participant == participant);
    let from = last.map_or(0, |place| place + 1);
    if terminal::can_show_live_view() {
        return note_lines_always(&said_between(state, from..unseen, terminal::size().columns));
    }
    for turn in state.turns.iter().take(unseen).skip(from) {
        let mark = turn.finish.mark().map(|mark| format!("\n{mark}")).unwrap_or_default();
        note_always(&format!("{}:\n{}{mark}\n", turn.participant, state.shown(turn).trim()));
    }
}

/// The lines that the terminal itself edits.
fn lines() -> Vec<String> {
    let lines = std::io::stdin().lock().lines().map_while(Result::ok).map(|it| without_escapes(&it));
    lines.take_while(|line| line.trim() != END).collect()
}
