//! Test servers and voices, received answers, and waiting for a server's state.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use quorum_core::{
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::{Chunk, Voice},
};
use tokio::time::{sleep, timeout};

use super::{Seat, Subject};
use crate::{
    server::{Fault, Script, Server, server},
    stopwatch::{Stopwatch, Took},
};

pub use crate::call::call;

/// The name of the model.
pub const MODEL: &str = "alpha-1";

/// The default answer.
pub const SPEECH: &str = "Tabs: they are one key, and everyone sees them as wide as they like.";

/// The key where any will do.
pub const KEY: &str = "canary-9f1c7d5e3b";

/// How much of its own time a program may take to notice a timeout (F2).
pub const LATE: Duration = Duration::from_millis(250);

/// The timeout of a test case.
const CASE_TIMEOUT: Duration = Duration::from_secs(60);

/// The script of a server whose model says [`SPEECH`].
#[must_use]
pub fn speaking() -> Script {
    server().says(MODEL, SPEECH)
}

/// The same with this fault in every answer.
#[must_use]
pub fn failing(fault: Fault) -> Script {
    speaking().fault(MODEL, fault)
}

/// A voice at this server with timeouts longer than any test case.
#[must_use]
pub fn voice(subject: Subject, server: &Server) -> Voice {
    impatient(subject, server, 30_000)
}

/// A voice with this timeout.
#[must_use]
pub fn impatient(subject: Subject, server: &Server, ms: u64) -> Voice {
    (subject.voice)(&Seat { url: &server.url(), key: Some(KEY), first_ms: ms, idle_ms: ms })
}

/// A received answer.
#[derive(Debug, Default, PartialEq)]
pub struct ReceivedReply {
    /// Its text.
    pub text: String,
    /// The model that answered.
    pub model: Option<String>,
    /// The topic of the sub-discussion it requests.
    pub topic: Option<String>,
    /// Its end, if it has one.
    pub end: Option<(Finish, Option<Usage>, Option<Usd>)>,
    /// The error, if there was one.
    pub error: Option<ProviderError>,
}

impl ReceivedReply {
    /// The class of the error.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        self.error.as_ref().map(|it| it.class)
    }

    /// The message of the error, or an empty text.
    #[must_use]
    pub fn message(&self) -> &str {
        self.error.as_ref().map_or("", |it| &it.message)
    }
}

/// Makes the call and reads the whole answer: nothing may follow an end or an error.
pub async fn receive(voice: &Voice, call: Call) -> ReceivedReply {
    timeout(CASE_TIMEOUT, receive_all(voice, call)).await.expect("an answer ends or fails in time")
}

async fn receive_all(voice: &Voice, call: Call) -> ReceivedReply {
    let (mut received, mut stream) = (ReceivedReply::default(), voice.provider.reply(Arc::new(call)));
    while let Some(chunk) = stream.next().await {
        assert!(received.end.is_none() && received.error.is_none(), "{chunk:?} comes after the last");
        match chunk {
            Ok(Chunk::Text(piece)) => received.text.push_str(&piece),
            Ok(Chunk::AnsweredBy(model)) => received.model = Some(model),
            Ok(Chunk::Convene { topic }) => received.topic = Some(topic),
            Ok(Chunk::End { finish, usage, cost }) => received.end = Some((finish, usage, cost)),
            Err(error) => received.error = Some(error),
        }
    }
    received
}

/// Makes the call and measures its time.
pub async fn timed(voice: &Voice, call: Call) -> (ReceivedReply, Took) {
    let watch = Stopwatch::start();
    let received = receive(voice, call).await;
    (received, watch.took())
}

/// Waits until the server is in this state, for [`LATE`] of its own time at most.
pub async fn soon(server: &Server, what: &str, sees: impl Fn(&Server) -> bool) {
    let watch = Stopwatch::start();
    while !sees(server) {
        assert!(watch.took().own < LATE, "{what}: {:?}", server.counts());
        // It sleeps because the server learns of it by a packet and has no event for it.
        sleep(Duration::from_millis(2)).await;
    }
}
