//! Turns an answer into the steps of a response, with its timing and transport faults.

use std::time::Duration;

use super::{
    fault::{At, Break, Fault, LONE_SURROGATE, NO_TEXT, Noise, Place},
    gzip,
    play::{Act, Close, Play},
    script::{Pace, hash},
    speak::{Answer, Frame},
};

/// The steps of a response, with its timing and its fault.
pub(super) fn response_steps(
    mut answer: Answer,
    pace: Option<Pace>,
    fault: Option<&Fault>,
    number: u64,
) -> Play {
    let (mut pace, mut close) = (pace, Close::Proper);
    let mut acts = match fault {
        Some(Fault::Noise(noise)) => {
            noise.spoil(&mut answer.frames);
            paced(answer.frames, pace)
        }
        Some(Fault::Hostile) => {
            answer.frames.iter_mut().for_each(|frame| frame.bytes = unmasked(&frame.bytes));
            paced(answer.frames, pace)
        }
        Some(Fault::Slow { first_ms, chunk_ms }) => {
            let [first, next] = [*first_ms, *chunk_ms].map(Duration::from_millis);
            pace = Some(Pace { first, next, chunks: 0 });
            paced(answer.frames, pace)
        }
        Some(Fault::Cut(at, how)) => {
            close = how.close();
            let kept = at.of(&answer.frames, number);
            truncate(&mut answer.frames, kept);
            paced(answer.frames, pace)
        }
        Some(Fault::Trickle(ms)) => bytes_apart(&answer.frames, &Act::Wait(Duration::from_millis(*ms))),
        Some(Fault::Bytewise) => bytes_apart(&answer.frames, &Act::Flush),
        Some(Fault::Endless(bytes)) => repeated(answer.frames, |piece| bytes / piece as u64 + 1),
        Some(Fault::Tiny(times)) => repeated(answer.frames, |_| *times),
        Some(Fault::OneLine(bytes)) => one_line(answer.frames, *bytes),
        Some(Fault::Gzip(unpacked)) => {
            answer.headers.push(("content-encoding", "gzip".to_owned()));
            let (beginning, bytes, times) = gzip::bomb(*unpacked);
            vec![Act::Head, Act::Send(beginning), Act::Repeat { bytes, times }]
        }
        _ => paced(answer.frames, pace),
    };
    if let Some(Fault::Hang(place)) = fault {
        acts.insert(place.among(&acts), Act::Hang);
    }
    let Answer { status, headers, is_chunked, .. } = answer;
    Play { status, headers, is_chunked, acts, close, is_spoilt: fault.is_some() }
}

/// The head with the first piece, then the others with pauses. Frames that belong to a piece come
/// with it.
fn paced(frames: Vec<Frame>, pace: Option<Pace>) -> Vec<Act> {
    let wait = |time: Duration| (!time.is_zero()).then_some(Act::Wait(time));
    let mut acts: Vec<Act> = pace.and_then(|pace| wait(pace.first)).into_iter().collect();
    acts.push(Act::Head);
    let mut is_first = true;
    for frame in frames {
        if frame.is_piece && !std::mem::replace(&mut is_first, false) {
            acts.extend(pace.and_then(|pace| wait(pace.next)));
        }
        acts.push(Act::Send(frame.bytes));
    }
    acts
}

impl Place {
    fn among(self, acts: &[Act]) -> usize {
        let head = acts.iter().position(|act| *act == Act::Head).map_or(0, |at| at + 1);
        match self {
            Place::Head => 0,
            Place::FirstChunk => head,
            Place::Between => head + (acts.len() - head) / 2,
            Place::End => acts.len(),
        }
    }
}

impl At {
    fn of(self, frames: &[Frame], number: u64) -> usize {
        let whole: usize = frames.iter().map(|frame| frame.bytes.len()).sum();
        match self {
            At::Byte(at) => at.min(whole),
            At::Anywhere(seed) => (hash(seed ^ hash(number)) % whole.max(1) as u64) as usize,
            At::EndMarker => whole - frames.last().map_or(0, |frame| frame.bytes.len()),
        }
    }
}

impl Break {
    fn close(self) -> Close {
        match self {
            Break::Reset => Close::Reset,
            Break::Fin => Close::Fin,
            Break::Clean => Close::Proper,
        }
    }
}

fn truncate(frames: &mut Vec<Frame>, mut kept: usize) {
    for frame in frames.iter_mut() {
        frame.bytes.truncate(kept);
        kept -= frame.bytes.len();
    }
    frames.retain(|frame| !frame.bytes.is_empty());
}

fn bytes_apart(frames: &[Frame], between: &Act) -> Vec<Act> {
    let bytes = frames.iter().flat_map(|frame| frame.bytes.iter());
    let sent = bytes.flat_map(|byte| [Act::Send(vec![*byte]), between.clone()]);
    [Act::Head, between.clone()].into_iter().chain(sent).collect()
}

/// The first piece many times, everything else unchanged.
fn repeated(frames: Vec<Frame>, times: impl Fn(usize) -> u64) -> Vec<Act> {
    let mut is_first = true;
    let sent =
        frames.into_iter().map(|frame| match frame.is_piece && std::mem::replace(&mut is_first, false) {
            true => Act::Repeat { times: times(frame.bytes.len()), bytes: frame.bytes },
            false => Act::Send(frame.bytes),
        });
    [Act::Head].into_iter().chain(sent).collect()
}

/// The frames before the first piece, then an endless line.
fn one_line(frames: Vec<Frame>, bytes: u64) -> Vec<Act> {
    let is_event = are_events(&frames);
    let before = frames.into_iter().take_while(|frame| !frame.is_piece);
    let mut acts: Vec<Act> =
        [Act::Head].into_iter().chain(before.map(|frame| Act::Send(frame.bytes))).collect();
    acts.push(Act::Send(if is_event { b"data: \"".to_vec() } else { b"\"".to_vec() }));
    acts.push(Act::Repeat { bytes: vec![b'x'; 4_096], times: bytes / 4_096 + 1 });
    acts
}

/// Whether these are server-sent events, and not JSON lines.
fn are_events(frames: &[Frame]) -> bool {
    frames.iter().any(|it| it.bytes.starts_with(b"data:") || it.bytes.starts_with(b"event:"))
}

impl Noise {
    fn spoil(self, frames: &mut Vec<Frame>) {
        let is_event = are_events(frames);
        let each = |event: &str, line: &str| if is_event { event.to_owned() } else { line.to_owned() };
        match self {
            Noise::BrokenFrame => {
                let broken = each("data: {\"type\": \"content_block_de\n\n", "{\"model\": \"\n");
                frames.insert(frames.len() / 2, Frame::other(broken));
            }
            Noise::UnknownEvents => interleave(
                frames,
                &each(
                    "event: surprise\ndata: {\"type\": \"surprise\", \"object\": \"surprise\", \"surprise\": [1]}\n\n",
                    "{\"surprise\": [1]}\n",
                ),
            ),
            Noise::Nul => interleave(frames, &each(": \0\0\n\n", "\0\n")),
            Noise::Comments => interleave(frames, &each(": PROCESSING\n\n", "\n")),
            Noise::KeepAlives => interleave(
                frames,
                &each("\n\nid: 7\nretry: 5\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n", "\n  \n"),
            ),
            Noise::ByteOrderMark => frames.insert(0, Frame::other("\u{feff}".to_owned())),
            Noise::CrLf => replace(frames, |text| text.replace("\r\n", "\n").replace('\n', "\r\n")),
            Noise::Cr => replace(frames, |text| text.replace("\r\n", "\n").replace('\n', "\r")),
            Noise::NoSpace => replace(frames, |text| {
                let text = text.replacen("event: ", "event:", 1);
                text.replacen("data: ", "data:", 1)
            }),
        }
    }
}

fn interleave(frames: &mut Vec<Frame>, noise: &str) {
    let noise = Frame::other(noise.to_owned());
    *frames = frames.drain(..).flat_map(|frame| [noise.clone(), frame]).collect();
}

fn replace(frames: &mut [Frame], change: impl Fn(&str) -> String) {
    for frame in frames {
        frame.bytes = change(&String::from_utf8_lossy(&frame.bytes)).into_bytes();
    }
}

/// Replaces the placeholders by bytes that a string can't contain.
fn unmasked(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Vec::with_capacity(bytes.len());
    for character in text.chars() {
        match character {
            NO_TEXT => out.extend_from_slice(b"\xff\xfe"),
            LONE_SURROGATE => out.extend_from_slice(b"\\ud83d"),
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out
}
