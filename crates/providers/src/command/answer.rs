//! One answer of a program as a stream: the prompt goes in while the answer comes out, within deadlines and caps.

use std::{future::pending, process::ExitStatus, time::Duration};

use futures::stream::{self, BoxStream, StreamExt};
use quorum_core::{
    model::error::{ErrorClass, ProviderError},
    seams::Chunk,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::ChildStdin,
    time::{Instant, sleep_until, timeout},
};

use super::{
    Dialect, Output,
    heard::{Heard, Reader},
    process::Process,
    surroundings::Launch,
    trouble,
};
use crate::{clean::cleaned, source::Patience};

/// All that a program may write. An answer is cut off long before.
const MOST_BYTES: usize = 16 << 20;

/// How much of its complaints is kept.
const LONGEST_TAIL: usize = 2 << 10;

/// For a program that has said its last word to put its things away.
const GRACE: Duration = Duration::from_millis(250);

/// For what lies in the pipes after the program has ended. They only stay open when somebody left the group.
pub(super) const DRAIN: Duration = Duration::from_millis(250);

/// What is asked of which program.
pub(super) struct Asked {
    pub(super) launch: Launch,
    pub(super) prompt: String,
    pub(super) heard: Heard,
    pub(super) patience: Patience,
}

/// The answer. Nothing is started before it is polled, and dropping it ends the program.
pub(super) fn stream(
    asked: Asked,
    dialect: &'static Dialect,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    stream::unfold(Stage::Asked(Box::new(asked), dialect), next).boxed()
}

enum Stage {
    Asked(Box<Asked>, &'static Dialect),
    Speaking(Box<Answer>),
    Over,
}

async fn next(stage: Stage) -> Option<(Result<Chunk, ProviderError>, Stage)> {
    let mut answer = match stage {
        Stage::Over => return None,
        Stage::Speaking(answer) => answer,
        Stage::Asked(asked, dialect) => match Answer::start(*asked, dialect) {
            Ok(answer) => Box::new(answer),
            Err(error) => return Some((Err(error), Stage::Over)),
        },
    };
    // Whoever is told of the end can rely on it that the program is gone: the answer is dropped before.
    match answer.next().await {
        Ok(end @ Chunk::End { .. }) => {
            answer.part().await;
            Some((Ok(end), Stage::Over))
        }
        Ok(chunk) => Some((Ok(chunk), Stage::Speaking(answer))),
        Err(error) => Some((Err(error), Stage::Over)),
    }
}

/// An answer under way.
struct Answer {
    name: String,
    reader: Reader,
    dialect: &'static Dialect,
    prompt: Prompt,
    process: Process,
    bytes: Box<Bytes>,
    tail: Tail,
    taken: usize,
    /// Whether the program has ended, and how, if that is known.
    ended: Option<Option<ExitStatus>>,
    failure: Option<ProviderError>,
    idle: Duration,
    deadline: Deadline,
}

/// Where what is read lies for a moment.
struct Bytes {
    stdout: [u8; 16 << 10],
    stderr: [u8; 1 << 10],
}

/// What is still to be written.
struct Prompt {
    text: Vec<u8>,
    written: usize,
}

/// Until when something must happen, and how long that was.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    wait: Duration,
}

impl Deadline {
    fn after(wait: Duration) -> Self {
        Deadline { at: Instant::now() + wait, wait }
    }

    /// No longer than this from now.
    fn within(self, wait: Duration) -> Self {
        let sooner = Deadline::after(wait);
        if sooner.at < self.at { sooner } else { self }
    }
}

enum Event {
    Said(usize),
    Complained(usize),
    Heard,
    Ended(Option<ExitStatus>),
    TooLate,
}

impl Answer {
    fn start(asked: Asked, dialect: &'static Dialect) -> Result<Self, ProviderError> {
        let Asked { launch, prompt, heard, patience } = asked;
        let first = Duration::from_millis(patience.first_ms);
        // Between whole messages it thinks as it does before the first.
        let idle = match dialect.output {
            Output::Messages(_) => first,
            Output::Words(_) | Output::Text => Duration::from_millis(patience.idle_ms),
        };
        Ok(Answer {
            name: launch.name.clone(),
            reader: Reader::new(dialect.output, heard),
            dialect,
            prompt: Prompt { text: prompt.into_bytes(), written: 0 },
            process: Process::start(launch)?,
            bytes: Box::new(Bytes { stdout: [0; 16 << 10], stderr: [0; 1 << 10] }),
            tail: Tail::default(),
            taken: 0,
            ended: None,
            failure: None,
            idle,
            deadline: Deadline::after(first),
        })
    }

    /// What was said before a failure comes before it.
    async fn next(&mut self) -> Result<Chunk, ProviderError> {
        loop {
            if let Some(chunk) = self.reader.heard.chunks.pop_front() {
                return Ok(chunk);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if let Err(failure) = self.advance().await {
                self.process.kill();
                self.reader.heard.release();
                self.failure = Some(failure);
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match self.event().await {
            Event::Said(0) => self.fell_silent(),
            Event::Said(count) => self.said(count)?,
            Event::Complained(0) => self.process.stderr = None,
            Event::Complained(count) => {
                self.tail.push(&self.bytes.stderr[..count]);
                self.within_bounds(count)?;
            }
            Event::Heard => {}
            Event::Ended(status) => {
                self.ended = Some(status);
                self.deadline = self.deadline.within(DRAIN);
            }
            Event::TooLate if self.ended.is_some() => return self.conclude(),
            Event::TooLate => return Err(self.too_late()),
        }
        let is_closed = self.process.stdout.is_none() && self.process.stderr.is_none();
        if is_closed && self.ended.is_some() { self.conclude() } else { Ok(()) }
    }

    async fn event(&mut self) -> Event {
        let Answer { process, bytes, prompt, ended, deadline, .. } = self;
        tokio::select! {
            // What has come counts, even if it is taken up late.
            biased;
            count = read(&mut process.stdout, &mut bytes.stdout) => Event::Said(count),
            count = read(&mut process.stderr, &mut bytes.stderr) => Event::Complained(count),
            () = write(&mut process.stdin, prompt) => Event::Heard,
            status = &mut process.ended, if ended.is_none() => Event::Ended(status.ok()),
            () = sleep_until(deadline.at) => Event::TooLate,
        }
    }

    fn said(&mut self, count: usize) -> Result<(), ProviderError> {
        let before = self.reader.heard.chunks.len();
        let read = self.reader.take(&self.bytes.stdout[..count]);
        // Only words count: lines about nothing could go on for ever.
        if self.reader.heard.chunks.len() > before && self.ended.is_none() {
            self.deadline = Deadline::after(self.idle);
        }
        read?;
        self.within_bounds(count)
    }

    fn within_bounds(&mut self, count: usize) -> Result<(), ProviderError> {
        self.taken += count;
        if self.taken <= MOST_BYTES {
            return Ok(());
        }
        let message = format!("{} wrote more than {} MiB", self.name, MOST_BYTES >> 20);
        Err(ProviderError::new(ErrorClass::InvalidResponse, message))
    }

    /// Its output is closed. Where that is not yet the end of the answer, it has a moment to say what happened.
    fn fell_silent(&mut self) {
        self.process.stdout = None;
        self.reader.finish();
        if !matches!(self.dialect.output, Output::Text) {
            self.deadline = self.deadline.within(GRACE);
        }
    }

    fn too_late(&self) -> ProviderError {
        let tail = self.tail.text();
        let complaint = self.reader.heard.complaint.as_deref().or_else(|| trouble::complaint(&tail));
        if self.process.stdout.is_some() || matches!(self.dialect.output, Output::Text) {
            return trouble::silent(&self.name, self.deadline.wait, complaint);
        }
        complaint.map_or_else(|| trouble::broke_off(&self.name), trouble::told)
    }

    /// The program has ended, and everything it wrote was read.
    fn conclude(&mut self) -> Result<(), ProviderError> {
        if self.process.stdout.take().is_some() {
            self.reader.finish();
        }
        self.process.stderr = None;
        let is_well = self.ended.flatten().is_some_and(|it| it.success());
        let Reader { heard, .. } = &mut self.reader;
        if is_well && heard.has_spoken && matches!(self.dialect.output, Output::Text) {
            heard.end(None, None);
        }
        if heard.has_ended { Ok(()) } else { Err(self.verdict()) }
    }

    fn verdict(&mut self) -> ProviderError {
        let Reader { heard, stray, has_read, .. } = &mut self.reader;
        let tail = self.tail.text();
        let words = heard.complaint.take().or(Some(tail).filter(|it| !it.trim().is_empty()));
        let Some(status) = self.ended.flatten() else { return trouble::broke_off(&self.name) };
        if !status.success() {
            let words = words.or(stray.take()).unwrap_or_default();
            return trouble::ended(&self.name, status, &words, self.dialect.codes);
        }
        match (self.dialect.output, stray.take()) {
            (Output::Text, _) => trouble::no_answer(&self.name, &words.unwrap_or_default()),
            (_, Some(stray)) if !*has_read => trouble::no_answer(&self.name, &stray),
            _ => trouble::broke_off(&self.name),
        }
    }

    /// A program that has said its last word may end by itself before it is ended.
    async fn part(&mut self) {
        if self.ended.is_none() {
            // Either way it is killed now, with all it started.
            drop(timeout(GRACE, &mut self.process.ended).await);
        }
    }
}

/// So many bytes; none when there will be no more. Waits for ever when that was told before.
async fn read(pipe: &mut Option<impl AsyncRead + Unpin>, bytes: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(bytes).await.unwrap_or_default(),
        None => pending().await,
    }
}

/// Writes some of the prompt, and closes the pipe after the last of it: some programs wait for that. One that does not want to hear
/// all of it may still answer.
async fn write(pipe: &mut Option<ChildStdin>, prompt: &mut Prompt) {
    let Some(stdin) = pipe else { return pending().await };
    let rest = &prompt.text[prompt.written..];
    prompt.written = match stdin.write(rest).await {
        Ok(count) => prompt.written + count,
        Err(_) => prompt.text.len(),
    };
    if prompt.written == prompt.text.len() {
        *pipe = None;
    }
}

/// The end of what a program complained of.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let too_many = self.bytes.len().saturating_sub(LONGEST_TAIL);
        self.bytes.drain(..too_many);
    }

    pub(super) fn text(&self) -> String {
        cleaned(&String::from_utf8_lossy(&self.bytes))
    }
}
