//! `ax sessions`: lists the sessions, which are folders for discussions, and creates, renames
//! and deletes them.

use quorum::{Scope, request::limits::LONGEST_SESSION, text::line};

use crate::{
    args::{Listed, SessionVerb, Sessions},
    exit::{Exit, Usage},
    render::{note, print, print_json},
};

/// The most characters of a session's name that a list shows.
const NAME: usize = 70;

/// `ax sessions`
pub(crate) async fn sessions(scope: &Scope, args: &Sessions) -> anyhow::Result<Exit> {
    match &args.verb {
        Some(SessionVerb::Create { name }) => create_session(scope, name).await,
        Some(SessionVerb::Rename { session, name }) => rename_session(scope, session, name).await,
        Some(SessionVerb::Delete { session }) => delete_session(scope, session).await,
        Some(SessionVerb::List(listed)) => list_sessions(scope, listed).await,
        None => list_sessions(scope, &args.listed).await,
    }
}

async fn create_session(scope: &Scope, name: &str) -> anyhow::Result<Exit> {
    let name = written(name, "ax sessions create NAME")?;
    let session = scope.create_session(&name).await?;
    print(&session.session_id.to_string())?;
    note(&format!(
        "Created the session {name}; `ax discuss \"…\" --session {}` puts a discussion into it.",
        session.session_id
    ));
    Ok(Exit::Done)
}

async fn rename_session(scope: &Scope, session: &str, name: &str) -> anyhow::Result<Exit> {
    let name = written(name, "ax sessions rename SESSION NAME")?;
    scope.rename_session(scope.find_session(session).await?, &name).await?;
    note(&format!("Renamed the session to {name}."));
    Ok(Exit::Done)
}

async fn delete_session(scope: &Scope, session: &str) -> anyhow::Result<Exit> {
    let id = scope.find_session(session).await?;
    scope.delete_session(id).await?;
    note(&format!("Deleted the session {}, which had no discussions.", line(session, NAME)));
    Ok(Exit::Done)
}

/// The name in one line, if there is one.
fn written(name: &str, how: &str) -> anyhow::Result<String> {
    let name = line(name, LONGEST_SESSION);
    if name.is_empty() {
        return Err(Usage(format!("a session needs a name: {how}")).into());
    }
    Ok(name)
}

async fn list_sessions(scope: &Scope, listed: &Listed) -> anyhow::Result<Exit> {
    let sessions = scope.sessions().await?;
    if listed.json {
        print_json(&sessions)?;
    } else if sessions.is_empty() {
        note("There are no sessions yet; `ax sessions create NAME` creates one.");
    } else {
        let row = |it: &quorum::listing::SessionEntry| {
            let when = it.created_at.get(..16).unwrap_or(&it.created_at).replace('T', " ");
            format!("{}  {when}  {}", it.session_id, line(&it.name, NAME))
        };
        print(&sessions.iter().map(row).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}
