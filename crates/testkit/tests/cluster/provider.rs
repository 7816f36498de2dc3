//! A provider that answers after a while, and counts what it answered. The calls of a node that is
//! stopped or dead do not end.

use std::{sync::Arc, time::Duration};

use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use quorum_core::{
    call::{
        Call,
        lane::{Lane, Width},
    },
    model::{
        error::ProviderError,
        money::{Usage, Usd},
        participant::Participant,
        spec::Spec,
        transcript::Finish,
    },
    seams::{Chunk, Provider, Voice, Voices},
};
use tokio::time::sleep;

use super::{history::Chronicle, link::Line};

/// The voices of one node.
#[derive(Clone)]
pub(crate) struct Answering {
    pub(crate) node: u64,
    pub(crate) line: Arc<Line>,
    pub(crate) chronicle: Chronicle,
    pub(crate) lane: Arc<Lane>,
}

impl Answering {
    pub(crate) fn new(node: u64, line: Arc<Line>, chronicle: Chronicle) -> Self {
        Answering { node, line, chronicle, lane: Arc::new(Lane::new(Width::at_once(100))) }
    }

    async fn answer(self, call: Arc<Call>) -> Result<Chunk, ProviderError> {
        let key = (call.discussion, call.step.as_str().to_owned());
        self.chronicle.write().unsettled.entry(self.node).or_default().insert(key.clone());
        let latency = 200 + call.step.as_str().bytes().map(u64::from).sum::<u64>() % 200;
        sleep(Duration::from_millis(latency)).await;
        self.line.awake().await;
        *self.chronicle.write().history.answered.entry(key).or_default() += 1;
        Ok(Chunk::Text(format!("{} says {}", call.participant.name, call.step)))
    }
}

impl Provider for Answering {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let usage = Some(Usage { prompt: 10, completion: 10, ..Usage::default() });
        let end = Chunk::End { finish: Finish::Stop, usage, cost: Some(Usd::ZERO) };
        stream::once(self.clone().answer(call)).chain(stream::once(std::future::ready(Ok(end)))).boxed()
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Voices for Answering {
    fn voice(&self, _: &Spec, _: &Participant) -> Option<Voice> {
        Some(Voice {
            provider: Arc::new(self.clone()),
            model: None,
            lane: self.lane.clone(),
            price: None,
            window: 100_000,
            thinking: 0,
            is_small: false,
            follows_schemas: true,
        })
    }
}
