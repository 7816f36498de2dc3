//! Waits for the end of a discussion, for a client that reads no stream, and reads the talk of one
//! that is over.

use std::sync::Arc;

use axum::http::StatusCode;
use quorum::{
    Discussion,
    model::{client::Thinking, id::Seq, state::State},
};

use crate::{
    app::App,
    live::listener::Heard,
    v1::{
        answer::{Answer, answer},
        attendance::Client,
        fault::Fault,
        told::{Said, Teller},
    },
};

/// A discussion that is over.
pub(crate) struct Waited {
    pub(crate) answer: Answer,
    pub(crate) state: State,
    /// The talk, as far as the client wants it.
    pub(crate) talk: Option<String>,
}

/// Waits for the end, with the client in attendance. An error names the discussion, too.
pub(crate) async fn waited(app: &App, client: Client, thinking: Thinking) -> Result<Waited, Fault> {
    let id = client.discussion().id();
    until_over(app, client, thinking).await.map_err(|fault| fault.in_discussion(id))
}

async fn until_over(app: &App, mut client: Client, thinking: Thinking) -> Result<Waited, Fault> {
    let registry = app.registry().clone();
    let mut teller = Teller::new(client.discussion().id(), registry.clone(), thinking);
    let mut listener = app.hub.hear(client.discussion()).await?;
    let mut talk = String::new();
    loop {
        let Some(heard) = listener.next().await else {
            let message = "the server is closing; repeat the request to go on";
            return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message).after(1));
        };
        for said in teller.hear(&heard) {
            match said {
                Said::Talk(text) => talk.push_str(&text),
                Said::Opening(_) | Said::Answer(_) => {}
                Said::Over => {
                    client.served();
                    let state = teller.state().cloned().ok_or_else(Fault::no_response)?;
                    return Ok(Waited { answer: answer(&state, &registry)?, state, talk: shown(&talk) });
                }
            }
        }
    }
}

/// The talk of a discussion that is over, from its record.
pub(crate) async fn recorded_talk(
    app: &App,
    discussion: &Discussion,
    thinking: Thinking,
) -> Result<Option<String>, Fault> {
    let mut teller = Teller::new(discussion.id(), app.registry().clone(), thinking);
    let mut talk = String::new();
    for fact in discussion.facts(Seq::START).await? {
        for said in teller.hear(&Heard::Fact(Arc::new(fact))) {
            match said {
                Said::Talk(text) => talk.push_str(&text),
                Said::Opening(_) | Said::Answer(_) | Said::Over => {}
            }
        }
    }
    Ok(shown(&talk))
}

/// The talk as an answer has it, if there is any.
fn shown(talk: &str) -> Option<String> {
    Some(talk.trim_end().to_owned()).filter(|it| !it.is_empty())
}
