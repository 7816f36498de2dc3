//! Waits for the end of a discussion, for a client that reads no stream.

use axum::http::StatusCode;
use quorum::model::state::State;

use crate::{
    app::App,
    v1::{
        answer::{Answer, answer},
        attendance::Client,
        fault::Fault,
        told::{Said, Teller},
        wanted::Thinking,
    },
};

/// A discussion that is over.
pub(crate) struct Waited {
    pub(crate) answer: Answer,
    pub(crate) state: State,
    /// The talk, as far as the client wants it.
    pub(crate) talk: Option<String>,
}

/// Waits for the end, with the client in attendance.
pub(crate) async fn waited(app: &App, mut client: Client, thinking: Thinking) -> Result<Waited, Fault> {
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
                    let talk = Some(talk.trim_end().to_owned()).filter(|it| !it.is_empty());
                    return Ok(Waited { answer: answer(&state, &registry)?, state, talk });
                }
            }
        }
    }
}
