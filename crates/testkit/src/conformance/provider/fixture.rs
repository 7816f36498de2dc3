//! Servers and voices, an answer as it was heard, and waiting for what a server sees.

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

/// The model that is asked.
pub const MODEL: &str = "alpha-1";

/// What is said where nothing else is.
pub const SPEECH: &str = "Tabs: they are one key, and everyone sees them as wide as they like.";

/// Shown where any key will do.
pub const KEY: &str = "canary-9f1c7d5e3b";

/// How much of its own time after a deadline a program may take to notice it (F2).
pub const LATE: Duration = Duration::from_millis(250);

/// No case takes longer.
const LONGEST: Duration = Duration::from_secs(60);

/// A server whose model says [`SPEECH`].
#[must_use]
pub fn speaking() -> Script {
    server().says(MODEL, SPEECH)
}

/// The same, with every answer going wrong.
#[must_use]
pub fn failing(fault: Fault) -> Script {
    speaking().fault(MODEL, fault)
}

/// A voice at this server with more patience than any case takes.
#[must_use]
pub fn voice(subject: Subject, server: &Server) -> Voice {
    impatient(subject, server, 30_000)
}

/// A voice that bears so much silence and no more.
#[must_use]
pub fn impatient(subject: Subject, server: &Server, ms: u64) -> Voice {
    (subject.voice)(&Seat { url: &server.url(), key: Some(KEY), first_ms: ms, idle_ms: ms })
}

/// An answer as it was heard.
#[derive(Debug, Default, PartialEq)]
pub struct Heard {
    /// Its text.
    pub text: String,
    /// The sub-discussion it asks for.
    pub topic: Option<String>,
    /// Its end, where it has one.
    pub end: Option<(Finish, Option<Usage>, Option<Usd>)>,
    /// What went wrong, where something did.
    pub error: Option<ProviderError>,
}

impl Heard {
    /// The class of what went wrong.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        self.error.as_ref().map(|it| it.class)
    }

    /// What was said to go wrong, or nothing.
    #[must_use]
    pub fn message(&self) -> &str {
        self.error.as_ref().map_or("", |it| &it.message)
    }
}

/// Asks, and hears the answer out: nothing may come after an end or an error.
pub async fn hear(voice: &Voice, call: Call) -> Heard {
    timeout(LONGEST, hear_out(voice, call)).await.expect("an answer ends or fails in time")
}

async fn hear_out(voice: &Voice, call: Call) -> Heard {
    let (mut heard, mut stream) = (Heard::default(), voice.provider.reply(Arc::new(call)));
    while let Some(chunk) = stream.next().await {
        assert!(heard.end.is_none() && heard.error.is_none(), "{chunk:?} comes after the last");
        match chunk {
            Ok(Chunk::Text(piece)) => heard.text.push_str(&piece),
            Ok(Chunk::Convene { topic }) => heard.topic = Some(topic),
            Ok(Chunk::End { finish, usage, cost }) => heard.end = Some((finish, usage, cost)),
            Err(error) => heard.error = Some(error),
        }
    }
    heard
}

/// The same with the time it took.
pub async fn timed(voice: &Voice, call: Call) -> (Heard, Took) {
    let watch = Stopwatch::start();
    let heard = hear(voice, call).await;
    (heard, watch.took())
}

/// Waits until a server sees this, for [`LATE`] of its own time at most.
pub async fn soon(server: &Server, what: &str, sees: impl Fn(&Server) -> bool) {
    let watch = Stopwatch::start();
    while !sees(server) {
        assert!(watch.took().own < LATE, "{what}: {:?}", server.counts());
        // It sleeps because the server learns of it by a packet, and tells nobody.
        sleep(Duration::from_millis(2)).await;
    }
}
