//! `ax say`: a person's turn, from any terminal.

use quorum::{Quorum, Steered};

use crate::{
    args::Say,
    attend::{Ending, attend},
    exit::Exit,
    input::spoken,
    render::note,
};

/// `ax say`
pub(crate) async fn say(quorum: &Quorum, args: &Say) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    let text = spoken(&args.text)?;
    match quorum.say(id, args.speaker.as_deref(), &text, args.user.as_deref()).await? {
        Steered::Here(handle) => attend(quorum, handle, Ending::shown(args.output)).await,
        Steered::Sent { to } => {
            note(&format!("Said. {to} goes on with it; `ax show {id}` has what comes of it."));
            Ok(Exit::Done)
        }
        Steered::Idle(_) => Ok(Exit::Done),
    }
}
