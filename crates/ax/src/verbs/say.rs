//! `ax say`: a person's turn, from any terminal.

use quorum::Quorum;

use crate::{
    args::{Say, input::spoken},
    exit::Exit,
    live::session::{self, Ending},
};

/// `ax say`
pub(crate) async fn say(quorum: &Quorum, args: &Say) -> anyhow::Result<Exit> {
    let id = quorum.find(&args.which.id).await?;
    let text = spoken(&args.text)?;
    let said = quorum.say(id, args.speaker.as_deref(), &text, args.user.as_deref()).await?;
    session::run_after(quorum, id, said, Ending::shown(args.output)).await
}
