//! `ax say`: a person's turn, from any terminal.

use quorum::Scope;

use crate::{
    args::{Say, input::spoken},
    exit::Exit,
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
};

/// `ax say`
pub(crate) async fn say(scope: &Scope, args: &Say) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let text = spoken(&args.text)?;
    let signals = ProcessSignals::new()?;
    let said = discussion.say(args.speaker.as_deref(), &text, args.user.as_deref()).await?;
    session::run_after(&discussion, said, signals, SessionOptions::of_past(args.output)).await
}
