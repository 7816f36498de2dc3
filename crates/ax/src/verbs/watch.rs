//! `ax watch`: shows a discussion or a run that another process runs, and leaves it running.

use quorum::{Discussion, Scope, Snapshot};

use crate::{
    args::Shown,
    exit::Exit,
    live::{
        elsewhere::{self, Standing},
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
    render::{note, output::print_discussion},
};

/// `ax watch`
pub(crate) async fn watch(scope: &Scope, args: &Shown) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let signals = ProcessSignals::leaving()?;
    let (state, options) = (discussion.state().await?, SessionOptions::of_past(args.output));
    match elsewhere::standing(&discussion, &state).await? {
        Standing::Runs { owner } => {
            note(&format!("Watching {}, which {owner} runs. Leaving does not end it.", discussion.id()));
            session::watch(scope, &discussion, signals, options).await
        }
        Standing::Over => {
            note("This discussion is over; here is its result.");
            print_discussion(&discussion, &state, options.output).await?;
            Ok(session::conclude(&state, options))
        }
        Standing::Waits => {
            if let Some(whom) = waits_for(&state) {
                note(&format!(
                    "Watching {}, which waits for {whom}. Leaving does not end it.",
                    discussion.id()
                ));
                note(&format!("Question: {}", state.spec.topic));
                note("");
            }
            session::take_turn(&discussion, options).await
        }
    }
}

/// The people it waits for, or their decision.
fn waits_for(state: &Snapshot) -> Option<String> {
    let names: Vec<&str> = state.awaiting.iter().map(|it| it.participant.as_str()).collect();
    match names[..] {
        [] => state.ruling.as_ref().map(|_| "a decision".to_owned()),
        [..] => Some(names.join(" and ")),
    }
}

/// Says whether a discussion that was left goes on, and how to come back to it.
pub(crate) async fn left(discussion: &Discussion) -> anyhow::Result<()> {
    let (id, state) = (discussion.id(), discussion.state().await?);
    match elsewhere::standing(discussion, &state).await? {
        Standing::Runs { owner } => {
            note(&format!("Left. It goes on in {owner}; `ax watch {id}` shows it again."));
        }
        Standing::Over => note(&format!("Left. It is over; `ax show {id}` prints the result.")),
        Standing::Waits => note(&format!("Left. No process runs it; `ax resume {id}` continues it.")),
    }
    Ok(())
}

/// A discussion that no process runs any more, although it waits for nobody.
pub(crate) fn interrupted(state: &Snapshot) -> String {
    format!("This discussion is interrupted: no process runs it. `ax resume {}` continues it.", state.id)
}
