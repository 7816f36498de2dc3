//! `ax history` and `ax show`: lists past discussions, and prints one.

use std::io::{IsTerminal, stderr, stdout};

use quorum::{Discussion, Scope, Snapshot, listing::Entry, request::limits::LONGEST_SEARCH};

use crate::{
    args::{History, Output, Shape, Shown},
    exit::{Exit, Usage},
    live::turn,
    render::{
        closing, listing, note, note_always,
        output::print_discussion,
        print, print_json, print_lines, print_markdown,
        result::{Detail, markdown, timeline},
        usage,
    },
    terminal,
    verbs::watch::interrupted,
};

/// `ax history`
pub(crate) async fn history(scope: &Scope, args: &History) -> anyhow::Result<Exit> {
    let words = args.words.join(" ");
    let length = words.chars().count();
    if LONGEST_SEARCH < length {
        let message = format!("a search has at most {LONGEST_SEARCH} characters; this has {length}");
        return Err(Usage(message).into());
    }
    let mut entries = found(scope, args, &words).await?;
    if entries.iter().any(Entry::is_claimed) {
        // This ends the claims of processes that were killed, which lists alone can't tell.
        scope.quorum().nodes().await?;
        entries = found(scope, args, &words).await?;
    }
    if args.listed.json {
        print_json(&entries)?;
    } else if entries.is_empty() {
        note("No discussions found.");
    } else if stdout().is_terminal() && terminal::allows_live_view() {
        print_lines(&listing::table(&entries, terminal::columns_of_stdout()))?;
    } else {
        print(&entries.iter().map(listing::row).collect::<Vec<_>>().join("\n"))?;
    }
    if !args.listed.json && entries.iter().any(Entry::is_interrupted) {
        note("`ax resume ID` continues an interrupted discussion.");
    }
    Ok(Exit::Done)
}

/// The discussions of a session or of all, or those that match these words.
async fn found(scope: &Scope, args: &History, words: &str) -> anyhow::Result<Vec<Entry>> {
    if !words.trim().is_empty() {
        return Ok(scope.search(words, args.limit, None).await?);
    }
    let session = match &args.session {
        Some(given) => Some(scope.find_session(given).await?),
        None => None,
    };
    Ok(scope.list(args.limit, session).await?)
}

/// `ax show`
pub(crate) async fn show(scope: &Scope, args: &Shown) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    show_state(&discussion, args.output).await?;
    Ok(Exit::Done)
}

/// Prints a discussion, finished or not, and its state.
pub(crate) async fn show_state(discussion: &Discussion, output: Output) -> anyhow::Result<()> {
    let state = &discussion.state().await?;
    if output.shape() == Shape::Text {
        show_text(state, output)?;
    } else {
        print_discussion(discussion, state, output).await?;
    }
    set_apart();
    if state.lifecycle.is_terminal() {
        closing::lines(&state.outcome()).iter().for_each(|line| note(line));
        closing::of_fork(state).iter().for_each(|line| note(line));
        if output.usage {
            note_always(&usage::table(&state.outcome()));
        }
    } else if !turn::announce(state) {
        note(&unfinished(discussion, state).await?);
    }
    Ok(())
}

/// What becomes of a discussion that is not over and waits for nobody.
async fn unfinished(discussion: &Discussion, state: &Snapshot) -> anyhow::Result<String> {
    // This ends the claims of processes that were killed.
    discussion.quorum().nodes().await?;
    let entry = discussion.entry().await?;
    if entry.as_ref().is_some_and(Entry::is_interrupted) {
        return Ok(interrupted(state));
    }
    let words = entry.map_or_else(|| state.lifecycle.to_string(), |it| it.state().0);
    let id = state.id;
    Ok(match words.as_str() {
        "running" => format!("This discussion is running; `ax watch {id}` shows it."),
        words => format!("This discussion is {words}; `ax resume {id}` continues it."),
    })
}

/// Prints a blank line between the result and the notes, if both go to a terminal.
fn set_apart() {
    if stdout().is_terminal() && stderr().is_terminal() {
        note("");
    }
}

fn show_text(state: &Snapshot, output: Output) -> anyhow::Result<()> {
    // An unfinished discussion has nothing else to show.
    let everything = output.verbose || !state.lifecycle.is_terminal();
    let detail = if everything { Detail::Everything } else { Detail::Course };
    let timeline = output.verbose.then(|| timeline(&state.transitions));
    let parts = [Some(markdown(state, detail, output.notes())), timeline].into_iter().flatten();
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { Ok(()) } else { print_markdown(&parts.join("\n\n")) }
}
