//! Looking at what there is: past discussions, sessions, patterns.

use std::io::{IsTerminal, stderr, stdout};

use quorum::{
    Quorum,
    model::{outcome::Outcome, state::State},
    text::line,
};
use serde_json::json;

use crate::{
    args::{History, Listed, Output, SessionVerb, Sessions, Shape, Shown},
    discuss::show as print_result,
    exit::{Exit, Usage},
    live::terminal,
    render::{
        closing, insist, listing, note, print, print_json, print_lines, print_markdown,
        result::{Detail, markdown, moves},
        usage,
    },
    turn,
};

/// How much of a topic a list shows.
const TOPIC: usize = 70;

/// `ax history`
pub(crate) async fn history(quorum: &Quorum, args: &History) -> anyhow::Result<Exit> {
    let words = args.words.join(" ");
    let entries = if words.trim().is_empty() {
        let session = match &args.session {
            Some(given) => Some(quorum.find_session(given).await?),
            None => None,
        };
        quorum.list(args.limit, session).await?
    } else {
        quorum.search(&words, args.limit).await?
    };
    if args.listed.json {
        print_json(&entries)?;
    } else if entries.is_empty() {
        note("There are no such discussions.");
    } else if stdout().is_terminal() && terminal::is_lively() {
        print_lines(&listing::table(&entries, terminal::columns_of_stdout()))?;
    } else {
        print(&entries.iter().map(listing::row).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}

/// `ax show`
pub(crate) async fn show(quorum: &Quorum, args: &Shown) -> anyhow::Result<Exit> {
    let state = quorum.state(quorum.find(&args.which.id).await?).await?;
    show_state(quorum, &state, args.output).await?;
    Ok(Exit::Done)
}

/// Prints a discussion, over or not, and says where it stands.
pub(crate) async fn show_state(quorum: &Quorum, state: &State, output: Output) -> anyhow::Result<()> {
    if output.shape() == Shape::Text {
        show_text(state, output)?;
    } else {
        print_result(quorum, state, output).await?;
    }
    set_apart();
    if state.lifecycle.is_terminal() {
        closing::lines(&Outcome::of(state)).iter().for_each(|line| note(line));
        closing::of_fork(state).iter().for_each(|line| note(line));
        if output.usage {
            insist(&usage::table(&Outcome::of(state)));
        }
    } else if !turn::announce(state) {
        note(&format!(
            "This discussion is {}; `ax resume {}` goes on unless it runs elsewhere.",
            state.lifecycle, state.id
        ));
    }
    Ok(())
}

/// A gap between the result and what is said of it, where both are on a terminal.
fn set_apart() {
    if stdout().is_terminal() && stderr().is_terminal() {
        note("");
    }
}

fn show_text(state: &State, output: Output) -> anyhow::Result<()> {
    // Of what is not over there is nothing else to show.
    let everything = output.verbose || !state.lifecycle.is_terminal();
    let detail = if everything { Detail::Everything } else { Detail::Course };
    let moves = output.verbose.then(|| moves(&state.transitions));
    let parts = [Some(markdown(&Outcome::of(state), detail)), moves].into_iter().flatten();
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { Ok(()) } else { print_markdown(&parts.join("\n\n")) }
}

/// `ax patterns`
pub(crate) fn patterns(listed: &Listed) -> anyhow::Result<Exit> {
    let patterns: Vec<_> = Quorum::patterns().iter().map(|it| (it.name, it.summary)).collect();
    let methods: Vec<_> = Quorum::methods().iter().map(|it| (it.name, it.summary)).collect();
    if listed.json {
        let list = |items: &[(&str, &str)]| -> Vec<_> {
            items.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect()
        };
        print_json(&json!({ "patterns": list(&patterns), "consensus": list(&methods) }))?;
    } else {
        let list = |items: &[(&str, &str)]| -> String {
            items.iter().map(|(name, summary)| format!("  {name:<12} {summary}\n")).collect()
        };
        print(&format!(
            "Patterns (--pattern)\n{}\nConsensus methods (--consensus)\n{}",
            list(&patterns),
            list(&methods)
        ))?;
    }
    Ok(Exit::Done)
}

/// `ax sessions`
pub(crate) async fn sessions(quorum: &Quorum, args: &Sessions) -> anyhow::Result<Exit> {
    match &args.verb {
        Some(SessionVerb::Create { name }) => create_session(quorum, name).await,
        Some(SessionVerb::List(listed)) => list_sessions(quorum, listed).await,
        None => list_sessions(quorum, &args.listed).await,
    }
}

async fn create_session(quorum: &Quorum, name: &str) -> anyhow::Result<Exit> {
    let name = line(name, 200);
    if name.is_empty() {
        return Err(Usage("a session needs a name: ax sessions create NAME".to_owned()).into());
    }
    let session = quorum.create_session(&name).await?;
    print(&session.session_id.to_string())?;
    note(&format!(
        "Created the session {name}; `ax discuss \"…\" --session {}` puts a discussion into it.",
        session.session_id
    ));
    Ok(Exit::Done)
}

async fn list_sessions(quorum: &Quorum, listed: &Listed) -> anyhow::Result<Exit> {
    let sessions = quorum.sessions().await?;
    if listed.json {
        print_json(&sessions)?;
    } else if sessions.is_empty() {
        note("There are no sessions yet; `ax sessions create NAME` makes one.");
    } else {
        let row = |it: &quorum::listing::SessionEntry| {
            let when = it.created_at.get(..16).unwrap_or(&it.created_at).replace('T', " ");
            format!("{}  {when}  {}", it.session_id, line(&it.name, TOPIC))
        };
        print(&sessions.iter().map(row).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}
