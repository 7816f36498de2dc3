//! Keys don't leak: unique keys go through every fault at the finest log level, and then all output
//! is searched for them and for parts of them (S1). A separate binary, because it captures the
//! whole log.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

#[path = "../voices/providers.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod providers;

use std::{
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use futures::future::join_all;
use quorum::{
    Finished, Scope,
    export::{Extras, FORMATS},
    model::id::Seq,
};
use quorum_providers::{RealVoices, source::Source};
use quorum_store::SqliteStore;
use quorum_testkit::attack::withstood;
use quorum_testkit::server::{At, Break, Fault, Noise, Place, RetryAfter, Server, server};

use providers::{WIRES, request, scope, source};

/// The number of consecutive characters that count as a part of a key rather than coincidence.
const TELLING: usize = 8;

const STEP_MS: u64 = 1_500;

/// Captures everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A unique key, of characters that do not occur in hexadecimal numbers.
fn key(wire: &str) -> String {
    const SIGNS: &[u8] = b"GHJKLMNPQRSTVWXYZghjkmnpqrstvwxyz";
    let seed =
        wire.bytes().fold(0x9e37_79b9_u64, |so_far, byte| so_far.wrapping_mul(31).wrapping_add(byte.into()));
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(char::from(SIGNS[(*state >> 33) as usize % SIGNS.len()]))
    };
    let mut state = seed;
    std::iter::from_fn(|| next(&mut state)).take(32).collect()
}

fn faults(key: &str) -> Vec<Fault> {
    let elsewhere =
        |status, host: &str| Fault::Redirect(status, format!("http://{host}/v1?key={key}&api_key={key}"));
    vec![
        Fault::EchoesKey,
        elsewhere(302, "127.0.0.1:9"),
        elsewhere(307, "nobody.invalid"),
        Fault::Status(401),
        Fault::Status(500),
        Fault::RateLimited(RetryAfter::Body(100)),
        Fault::TooLong,
        Fault::Html,
        Fault::ErrorBody,
        Fault::ErrorEvent,
        Fault::Hostile,
        Fault::Gzip(1 << 20),
        Fault::OneLine(8 << 20),
        Fault::Noise(Noise::BrokenFrame),
        Fault::Hang(Place::Head),
        Fault::Hang(Place::Between),
        Fault::Cut(At::Byte(60), Break::Reset),
        Fault::Cut(At::EndMarker, Break::Clean),
        Fault::Cut(At::Byte(0), Break::Fin),
    ]
}

/// All output of a discussion with this voice, as text.
async fn left_by(scope: &Scope, name: &str) -> String {
    let mut spec = scope.check(&request("synthesis", &["ann", "bob", name])).unwrap();
    (spec.timing.step_ms, spec.rounds) = (STEP_MS, 1);
    let (discussion, handle) = scope.start(spec).await.unwrap();
    let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("nobody is awaited") };
    let facts = discussion.facts(Seq::START).await.unwrap();
    let outcome = discussion.outcome().await.unwrap();
    let shown = format!("{state:?}{facts:?}{outcome:?}{}", serde_json::to_string(&outcome).unwrap());
    let exports = FORMATS.iter().map(|format| (format.write)(&state, &facts, &Extras::default()));
    exports.fold(shown, |all, export| all + &export)
}

/// For cases other than a faulty answer: the health check fails, or no server is there.
fn absent(key: &str) -> Vec<(Option<Fault>, String)> {
    vec![
        (Some(Fault::EchoesKey), String::new()),
        (Some(Fault::Redirect(301, format!("https://nobody.invalid/?key={key}"))), String::new()),
        (None, "http://127.0.0.1:9".to_owned()),
        (None, "http://nobody.invalid".to_owned()),
        (None, "http://169.254.169.254".to_owned()),
    ]
}

async fn through_everything(store: &Arc<SqliteStore>, good: &Server, on: (&str, &str)) -> Vec<String> {
    let key = key(on.0);
    let mut cases: Vec<(Option<Server>, String)> = Vec::new();
    for fault in faults(&key) {
        let bad = server().fault("*", fault).start();
        cases.push((None, bad.url()));
        cases.last_mut().unwrap().0 = Some(bad);
    }
    for (fault, url) in absent(&key) {
        let bad = fault.map(|fault| server().fault_probe("*", fault).start());
        let url = bad.as_ref().map_or(url, Server::url);
        cases.push((bad, url));
    }
    let two = ["ann", "bob"].map(|name| source(name, &good.url(), on, &key));
    let bad = cases.iter().enumerate().map(|(index, (_, url))| source(&format!("bad{index}"), url, on, &key));
    let sources: Vec<Source> = two.into_iter().chain(bad).collect();
    let shown = format!("{sources:?}{:?}", RealVoices::of(sources.clone()));
    let scope = scope(store.clone(), sources);
    let names: Vec<String> = (0..cases.len()).map(|index| format!("bad{index}")).collect();
    let mut left = join_all(names.iter().map(|name| left_by(&scope, name))).await;
    left.push(shown);
    left
}

/// The places that contain a key or a part of it.
fn leaks(place: &str, bytes: &[u8], keys: &[String]) -> Vec<String> {
    let parts: HashSet<&[u8]> = keys.iter().flat_map(|key| key.as_bytes().windows(TELLING)).collect();
    // A lookup of two bytes rules out most positions without a search.
    let pair = |part: &[u8]| usize::from(part[0]) << 8 | usize::from(part[1]);
    let mut begins = vec![false; 1 << 16];
    parts.iter().for_each(|part| begins[pair(part)] = true);
    let found = bytes.windows(TELLING).enumerate();
    let found = found.filter(|(_, part)| begins[pair(part)] && parts.contains(part));
    let around = |at: usize| {
        String::from_utf8_lossy(&bytes[at.saturating_sub(150)..(at + 60).min(bytes.len())]).into_owned()
    };
    found.take(3).map(|(at, _)| format!("{place} at {at}: {}", around(at))).collect()
}

fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| match path.is_dir() {
        true => files(&path),
        false => vec![(path.display().to_string(), std::fs::read(&path).unwrap())],
    };
    entries.flat_map(read).collect()
}

#[tokio::test]
async fn s1_no_key_is_found_anywhere() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
    tracing_subscriber::util::SubscriberInitExt::init(
        subscriber.with_ansi(false).with_writer(move || writer.clone()).finish(),
    );
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(directory.path().join("quorum.db")).unwrap());
    let good = server().start();
    let keys: Vec<String> = WIRES.iter().map(|on| key(on.0)).collect();
    let held = join_all(WIRES.map(|on| through_everything(&store, &good, on))).await;
    let shown = good
        .requests()
        .iter()
        .filter(|it| it.headers.iter().any(|(_, value)| keys.iter().any(|key| value.contains(key))))
        .count();
    assert!(shown > 100, "the keys were really used: {shown}");
    let log = std::mem::take(&mut *log.0.lock().unwrap());
    let text = String::from_utf8_lossy(&log);
    for source in ["quorum_core", "quorum_providers", "reqwest", "hyper"] {
        assert!(text.contains(source), "nothing of {source} was logged");
    }
    let mut found = leaks("the log", &log, &keys);
    let (count, mut bytes) = (held.iter().flatten().count(), log.len());
    for left in held.iter().flatten() {
        bytes += left.len();
        found.extend(leaks("what is shown", left.as_bytes(), &keys));
    }
    for (name, content) in files(directory.path()) {
        bytes += content.len();
        found.extend(leaks(&name, &content, &keys));
    }
    println!(
        "{count} discussions and what holds their keys, {} keys, {bytes} bytes searched, {} of them logged",
        keys.len(),
        log.len()
    );
    assert_eq!(found, [""; 0]);
    withstood("keys at TRACE, through every fault on every wire", count);
    assert_eq!(
        leaks("a test", format!("x{}", &keys[0][4..14]).as_bytes(), &keys).len(),
        3,
        "the search finds parts"
    );
}
