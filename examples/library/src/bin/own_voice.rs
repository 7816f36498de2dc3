//! Adds a custom voice: a provider that answers from this program.

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future::BoxFuture, stream, stream::BoxStream};
use quorum::{
    Error, Quorum, Request,
    call::{
        Call,
        lane::{Lane, Width},
    },
    model::{error::ProviderError, id::Tenant, participant::Participant, spec::Spec, transcript::Finish},
    seams::{Chunk, Provider, Voice, Voices},
};

/// Answers every question with its own name and the question's length.
struct Parrot;

impl Provider for Parrot {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let (name, length) = (&call.participant.name, call.spec.topic.len());
        let said = Chunk::Text(format!("{name} heard a question of {length} letters."));
        let end = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
        stream::iter([Ok(said), Ok(end)]).boxed()
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        std::future::ready(Ok(())).boxed()
    }
}

struct Parrots(Arc<Lane>);

impl Voices for Parrots {
    fn voice(&self, _: &Spec, _: &Participant) -> Option<Voice> {
        let lane = self.0.clone();
        Some(Voice {
            provider: Arc::new(Parrot),
            lane,
            model: None,
            price: None,
            window: 8_000,
            thinking: 0,
            is_small: false,
            follows_schemas: false,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let voices = Arc::new(Parrots(Arc::new(Lane::new(Width::at_once(4)))));
    let quorum = Quorum::builder().voices(voices).build()?;
    let scope = quorum.scope(Tenant::default(), "example");
    let providers = Some(["polly", "jack"].map(str::to_owned).to_vec());
    let order = scope.check(&Request { providers, ..Request::on("Who is there?") })?;
    let (_, handle) = scope.start(order).await?;
    println!("{}", handle.finished().await?.outcome().synthesis);
    Ok(())
}
