//! Accepts connections, reads requests and sends responses.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use serde_json::Value;
use tokio::{
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    task::JoinSet,
};

use super::{
    http::{self, Incoming},
    play::{self, Close},
    request::{End, Request},
    script::Script,
    speak,
};

/// Counters of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections opened so far.
    pub opened: u64,
    /// Open connections.
    pub open: u64,
    /// Requests received so far.
    pub requests: u64,
    /// Requests that are still being answered.
    pub under_way: u64,
    /// Requests whose responses had a fault.
    pub spoilt: u64,
}

/// State shared by all connections of a server.
#[derive(Debug, Default)]
pub(super) struct Shared {
    script: Mutex<Arc<Script>>,
    requests: Mutex<Vec<Arc<Request>>>,
    /// The number of requests for each model.
    asked: Mutex<BTreeMap<String, u64>>,
    opened: AtomicU64,
    open: AtomicU64,
    came: AtomicU64,
    under_way: AtomicU64,
    spoilt: AtomicU64,
}

impl Shared {
    pub(super) fn new(script: Script) -> Arc<Self> {
        Arc::new(Shared { script: Mutex::new(Arc::new(script)), ..Shared::default() })
    }

    pub(super) fn follow(&self, script: Script) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(script);
    }

    pub(super) fn requests(&self) -> Vec<Arc<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn counts(&self) -> Counts {
        Counts {
            opened: self.opened.load(Ordering::Acquire),
            open: self.open.load(Ordering::Acquire),
            requests: self.came.load(Ordering::Acquire),
            under_way: self.under_way.load(Ordering::Acquire),
            spoilt: self.spoilt.load(Ordering::Acquire),
        }
    }

    fn script(&self) -> Arc<Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, script: &Script, incoming: Incoming, connection: u64) -> Arc<Request> {
        let mut request = Request {
            number: self.came.fetch_add(1, Ordering::AcqRel) + 1,
            connection,
            when: Instant::now(),
            method: incoming.method,
            path: incoming.path,
            headers: incoming.headers,
            body: serde_json::from_slice(&incoming.body).unwrap_or(Value::Null),
            wire: "",
            model: String::new(),
            end: AtomicU8::new(0),
            length: AtomicUsize::new(0),
        };
        if let Some((speech, topic)) = speak::recognised(&request) {
            request.wire = speech.name;
            request.model = speak::model_of(&topic).to_owned();
        }
        let request = Arc::new(request);
        if script.remembers() {
            self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        }
        request
    }

    /// The request's number for this model, from 1; availability checks are counted separately.
    fn nth(&self, counted_as: String) -> u64 {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.entry(counted_as).or_default();
        *count += 1;
        *count
    }
}

/// Increments a counter while it is alive.
struct Counted<'c>(&'c AtomicU64);

impl<'c> Counted<'c> {
    fn new(count: &'c AtomicU64) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Accepts connections. Dropping it closes all of them.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // An error means that the client has disconnected.
        let Ok((stream, _)) = listener.accept().await else { continue };
        while connections.try_join_next().is_some() {}
        let number = shared.opened.fetch_add(1, Ordering::AcqRel) + 1;
        let shared = shared.clone();
        connections.spawn(async move { converse(&shared, stream, number).await });
    }
}

async fn converse(shared: &Shared, mut stream: TcpStream, number: u64) {
    let _open = Counted::new(&shared.open);
    let _without_it_pieces_wait_for_each_other = stream.set_nodelay(true);
    let (mut reader, mut writer) = stream.split();
    let mut buffer = Vec::new();
    while let Some(incoming) = http::read(&mut reader, &mut writer, &mut buffer).await {
        let keeps_alive = incoming.keeps_alive;
        let close = answer(shared, incoming, number, (&mut reader, &mut writer, &mut buffer)).await;
        match close {
            Close::Proper if keeps_alive => {}
            Close::Proper | Close::Fin => return,
            Close::Reset => {
                let _resets_when_dropped = stream.set_zero_linger();
                return;
            }
        }
    }
}

type Line<'l, 's> = (&'l mut ReadHalf<'s>, &'l mut WriteHalf<'s>, &'l mut Vec<u8>);

async fn answer(shared: &Shared, incoming: Incoming, connection: u64, line: Line<'_, '_>) -> Close {
    let _under_way = Counted::new(&shared.under_way);
    let script = shared.script();
    let request = shared.note(&script, incoming, connection);
    let play = speak::answer(&script, &request, |counted_as| shared.nth(counted_as));
    request.answered_with(play.length());
    shared.spoilt.fetch_add(u64::from(play.is_spoilt), Ordering::AcqRel);
    let (reader, writer, buffer) = line;
    let sent = tokio::select! {
        biased;
        sent = play::play(writer, &play) => sent.is_ok(),
        () = left(reader, buffer) => false,
    };
    request.ended(match play.close {
        _ if !sent => End::ClientLeft,
        Close::Proper => End::Complete,
        Close::Fin | Close::Reset => End::Broken,
    });
    if sent { play.close } else { Close::Fin }
}

/// Returns when the client has disconnected. What it sends meanwhile is kept for later.
async fn left(reader: &mut ReadHalf<'_>, buffer: &mut Vec<u8>) {
    while http::more(reader, buffer).await.is_ok_and(|count| count > 0) {}
}
