//! A hostile provider: one of three participants misbehaves in every way we know, and the others
//! still come to an answer, in time and in little memory, without a trace of the keys (F2-F8, F18,
//! S1, S7).

use std::{
    fs,
    path::Path,
    process::Child,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use quorum_testkit::server::{At, Break, Fault, Noise, Place, RetryAfter, server};
use serde_json::Value;

use crate::{
    Attack, Effort,
    tally::{Tally, each},
    user::{Said, User, output_of},
    vendor::{self, WIRES, key},
};

pub(crate) const ATTACK: Attack = Attack { name: "hostile provider", run };

/// How long a discussion with a provider that misbehaves may take, on a busy machine.
const LONGEST: Duration = Duration::from_secs(90);

/// The most memory in MiB, also with an answer of 1 GiB.
const MOST_MEMORY: u64 = 150;

const SAID: &str = "Spaces, since every tool shows them alike.";

/// The part of the hostile participant's answer that should be recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Expected {
    /// Its whole answer: what it does is odd, and allowed.
    Whole,
    /// Nothing that counts as an answer.
    Nothing,
    /// Either, as long as the rest holds.
    Anything,
}

/// The kinds of misbehaviour.
pub(crate) fn kinds() -> Vec<(Fault, Expected)> {
    use Expected::{Anything, Nothing, Whole};
    let redirect = |status, to: &str| (Fault::Redirect(status, to.to_owned()), Nothing);
    let mut kinds = vec![
        (Fault::Hang(Place::Head), Nothing),
        (Fault::Hang(Place::FirstChunk), Nothing),
        (Fault::Hang(Place::Between), Nothing),
        (Fault::Hang(Place::End), Whole),
        (Fault::Trickle(5), Anything),
        (Fault::Bytewise, Whole),
        (Fault::Cut(At::Byte(0), Break::Fin), Nothing),
        (Fault::Cut(At::Byte(60), Break::Reset), Nothing),
        (Fault::Cut(At::Byte(61), Break::Clean), Nothing),
        (Fault::Cut(At::EndMarker, Break::Clean), Nothing),
        (Fault::Cut(At::EndMarker, Break::Fin), Nothing),
        (Fault::Status(401), Nothing),
        (Fault::Status(404), Nothing),
        (Fault::Status(500), Nothing),
        (Fault::Status(529), Nothing),
        (Fault::RateLimited(RetryAfter::Unsaid), Nothing),
        (Fault::RateLimited(RetryAfter::Seconds(86_400)), Nothing),
        (Fault::RateLimited(RetryAfter::Date(86_400)), Nothing),
        (Fault::RateLimited(RetryAfter::Millis(u64::MAX)), Nothing),
        (Fault::RateLimited(RetryAfter::Body(3_600_000)), Nothing),
        (Fault::TooLong, Nothing),
        (Fault::EchoesKey, Nothing),
        (Fault::Html, Nothing),
        (Fault::ErrorBody, Nothing),
        (Fault::ErrorEvent, Nothing),
        redirect(302, "http://169.254.169.254/latest/meta-data/"),
        redirect(307, "http://nobody.invalid/v1"),
        (Fault::Gzip(Fault::GIB), Nothing),
        (Fault::Endless(Fault::GIB), Anything),
        (Fault::OneLine(Fault::GIB), Nothing),
        (Fault::Tiny(1_000_000), Anything),
        (Fault::Hostile, Anything),
    ];
    let noises = [
        (Noise::UnknownEvents, Whole),
        (Noise::CrLf, Whole),
        (Noise::Cr, Anything),
        (Noise::ByteOrderMark, Whole),
        (Noise::Comments, Whole),
        (Noise::KeepAlives, Whole),
        (Noise::NoSpace, Whole),
        (Noise::BrokenFrame, Nothing),
        (Noise::Nul, Anything),
    ];
    kinds.extend(noises.map(|(noise, recorded)| (Fault::Noise(noise), recorded)));
    kinds
}

fn run(effort: Effort) -> Tally {
    let (tally, kinds) = (Tally::default(), kinds());
    assert!(kinds.len() >= 30, "{}", kinds.len());
    let cases: Vec<(usize, &(Fault, Expected))> = match effort {
        // Every kind once, on a different wire each.
        Effort::Short => kinds.iter().enumerate().map(|(at, kind)| (at % WIRES.len(), kind)).collect(),
        Effort::Whole => (0..WIRES.len()).flat_map(|wire| kinds.iter().map(move |it| (wire, it))).collect(),
    };
    each(&cases, |(wire, (fault, recorded))| attempt(&tally, WIRES[*wire], fault, *recorded));
    tally
}

fn attempt(tally: &Tally, wire: (&str, &str), fault: &Fault, expected: Expected) {
    let good = server().on_thread();
    let bad = server().says("mal-1", SAID).fault("mal-1", fault.clone()).forgetful().on_thread();
    let user = vendor::user(&[("ann", &good.url()), ("bob", &good.url()), ("mal", &bad.url())], wire)
        .with("AX_LOG", "json");
    let began = Instant::now();
    let discuss = ["discuss", "Tabs or spaces?", "--json", "--pattern", "synthesis", "--timeout", "8000"];
    let (said, memory) = measured(user.command(&discuss).spawn().unwrap());
    let wrong = [
        late(began.elapsed()),
        (said.code != 0).then(|| format!("it ended with {}", said.code)),
        (MOST_MEMORY << 10 < memory).then(|| format!("it took {} MiB", memory >> 10)),
        unclean(&said),
        unexpected(&said, expected),
        leaked(&user, &said),
    ];
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    tally.count(wrong.is_empty(), || format!("{fault:?} on {}: {}\n{said:#?}", wire.0, wrong.join("; ")));
}

fn late(took: Duration) -> Option<String> {
    (LONGEST < took).then(|| format!("it took {took:.1?}"))
}

/// Reports a crash, or output with terminal control characters.
fn unclean(said: &Said) -> Option<String> {
    let both = format!("{}{}", said.out, said.err);
    let is_raw = both.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\0']);
    (is_raw || said.err.contains("panicked")).then(|| "it crashed, or wrote what moves a terminal".to_owned())
}

/// Reports an incomplete answer that was recorded, or a complete one that was not.
fn unexpected(said: &Said, expected: Expected) -> Option<String> {
    let result: Value = serde_json::from_str(&said.out).ok()?;
    let responses = result["rounds"].as_array()?.iter().flat_map(|it| it["responses"].as_array());
    let of =
        |who: &str| responses.clone().flatten().find(|it| it["provider"] == who && it["error"].is_null());
    let text = |response: &Value| response["content"].as_str().unwrap_or_default().to_owned();
    let recorded = of("mal").map(text);
    let is_as_expected = match expected {
        Expected::Whole => recorded.as_deref() == Some(SAID),
        Expected::Nothing => recorded.is_none(),
        Expected::Anything => true,
    };
    let others = of("ann").is_some() && of("bob").is_some();
    (!is_as_expected || !others).then(|| format!("{recorded:?} was recorded of the hostile participant"))
}

/// Reports a key in the output or in a file.
fn leaked(user: &User, said: &Said) -> Option<String> {
    let keys = ["ann", "bob", "mal"].map(key);
    let shown = [said.out.as_bytes(), said.err.as_bytes()].concat();
    let files = files(&user.data());
    let all = files.iter().map(|(_, bytes)| bytes).chain([&shown]);
    all.into_iter().any(|it| finds(it, &keys)).then(|| "a key was written".to_owned())
}

/// Whether the bytes contain one of these secrets, or its first half.
pub(crate) fn finds(bytes: &[u8], secrets: &[String]) -> bool {
    let half = |it: &String| it.as_bytes()[..it.len() / 2].to_vec();
    let parts: Vec<Vec<u8>> = secrets.iter().map(half).collect();
    parts.iter().any(|part| bytes.windows(part.len()).any(|it| it == part))
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    // A symbolic link is not followed: it leads to the program itself.
    let paths = entries.map(|it| it.unwrap().path()).filter(|it| !it.is_symlink());
    let read = |path: std::path::PathBuf| match path.is_dir() {
        true => files(&path),
        // A file may be removed while others are read.
        false => vec![(path.display().to_string(), fs::read(&path).unwrap_or_default())],
    };
    paths.flat_map(read).collect()
}

/// Waits for the end, and returns the most memory in KiB that the process had.
fn measured(child: Child) -> (Said, u64) {
    let (most, status) = (AtomicU64::new(0), format!("/proc/{}/status", child.id()));
    let said = thread::scope(|scope| {
        let waiting = scope.spawn(|| output_of(child));
        while !waiting.is_finished() {
            most.fetch_max(peak(&status).unwrap_or(0), Ordering::SeqCst);
            // It sleeps because the kernel keeps the figure only as long as the process lives.
            thread::sleep(Duration::from_millis(10));
        }
        waiting.join().unwrap()
    });
    (said, most.into_inner())
}

pub(crate) fn peak(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|it| it.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
