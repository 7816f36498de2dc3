//! `ax watch`: shows a discussion or a run that another process runs, and leaves it running.

use quorum::{Discussion, Scope};

use crate::{
    args::Shown,
    exit::Exit,
    live::{
        elsewhere::{self, Standing},
        events::ProcessSignals,
        session::{self, Ending},
    },
    render::{note, output::print_discussion},
};

/// `ax watch`
pub(crate) async fn watch(scope: &Scope, args: &Shown) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let signals = ProcessSignals::leaving()?;
    let (state, ending) = (discussion.state().await?, Ending::of_past(args.output));
    match elsewhere::standing(&discussion, &state).await? {
        Standing::Runs { owner } => {
            note(&format!("Watching {}, which {owner} runs. Leaving does not end it.", discussion.id()));
            session::watch(scope, &discussion, signals, ending).await
        }
        Standing::Over => {
            note("This discussion is over; here is its result.");
            print_discussion(&discussion, &state, ending.output).await?;
            Ok(session::conclude(&state, ending))
        }
        Standing::Waits => session::take_turn(&discussion, ending).await,
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
