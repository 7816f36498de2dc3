//! `ax note`, `ax rate` and `ax delete`: actions on one discussion, recorded with their author.

use quorum::{Scope, text::line};

use crate::{
    args::{Delete, Note, Rate, input::spoken},
    exit::{Exit, Usage},
    render::note as say,
};

/// `ax note`
pub(crate) async fn note(scope: &Scope, args: &Note) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    discussion.note(&spoken(&args.text)?).await?;
    say("Noted. It is shown to everyone asked from now on.");
    Ok(Exit::Done)
}

/// `ax rate`
pub(crate) async fn rate(scope: &Scope, args: &Rate) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    discussion.rate(args.rating).await?;
    say(&format!("Rated {} of 5.", args.rating));
    Ok(Exit::Done)
}

/// `ax delete`
pub(crate) async fn delete(scope: &Scope, args: &Delete) -> anyhow::Result<Exit> {
    let discussion = scope.find(&args.which.id).await?;
    let copies = discussion.copies().await?;
    if !args.yes {
        let topic = discussion.state().await?.spec.topic.clone();
        let with = if args.with_copies { copies.as_slice() } else { &[] };
        let with: String = with.iter().map(|it| format!(", {} ({})", it.discussion_id, it.topic)).collect();
        let message = format!(
            "this would delete discussion {} ({topic}){with} for good; add --yes to confirm",
            discussion.id()
        );
        return Err(Usage(message).into());
    }
    discussion.delete().await?;
    say(&format!("Deleted discussion {} and everything below it.", discussion.id()));
    for copy in &copies {
        let (id, topic) = (copy.discussion_id, line(&copy.topic, TOPIC));
        if args.with_copies {
            scope.discussion(id).await?.delete().await?;
            say(&format!("Deleted discussion {id}, which had a copy of its answer: {topic}"));
        } else {
            say(&format!("Discussion {id} still has a copy of its answer: {topic}"));
        }
    }
    Ok(Exit::Done)
}

/// The most characters of a topic that are shown.
const TOPIC: usize = 60;
