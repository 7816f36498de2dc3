//! `ax note`, `ax rate` and `ax delete`: what is done to one discussion and written down with who did it.

use std::sync::Arc;

use quorum::{Discussion, Quorum, Scope, model::id::Tenant};

use crate::{
    args::{Delete, Note, Rate, Which, input::spoken},
    exit::{Exit, Usage},
    render::note as say,
};

/// `ax note`
pub(crate) async fn note(quorum: &Arc<Quorum>, args: &Note) -> anyhow::Result<Exit> {
    let discussion = open(quorum, &args.which).await?;
    discussion.note(&spoken(&args.text)?).await?;
    say("Noted. Everyone asked from now on is shown it.");
    Ok(Exit::Done)
}

/// `ax rate`
pub(crate) async fn rate(quorum: &Arc<Quorum>, args: &Rate) -> anyhow::Result<Exit> {
    let discussion = open(quorum, &args.which).await?;
    discussion.rate(args.rating).await?;
    say(&format!("Rated {} of 5.", args.rating));
    Ok(Exit::Done)
}

/// `ax delete`
pub(crate) async fn delete(quorum: &Arc<Quorum>, args: &Delete) -> anyhow::Result<Exit> {
    let discussion = open(quorum, &args.which).await?;
    if !args.yes {
        let topic = discussion.state().await?.spec.topic.clone();
        let message = format!(
            "this would delete discussion {} ({topic}) for good; add --yes to do it",
            discussion.id()
        );
        return Err(Usage(message).into());
    }
    discussion.delete().await?;
    say(&format!("Deleted discussion {} and everything below it.", discussion.id()));
    Ok(Exit::Done)
}

async fn open(quorum: &Arc<Quorum>, which: &Which) -> anyhow::Result<Discussion> {
    let id = quorum.find(&which.id).await?;
    Ok(Scope::new(quorum.clone(), Tenant::default(), "ax").discussion(id).await?)
}
