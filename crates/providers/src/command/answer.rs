//! Streams one answer of a program: writes the prompt while reading the output, within timeouts and
//! size limits.

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
    decode::{Decoded, Reader},
    environment::Launch,
    failure,
    process::Process,
};
use crate::{clean::cleaned, source::Timeouts};

/// The most bytes a program may write. An answer is cut off long before that.
const MAX_OUTPUT: usize = 16 << 20;

/// How many bytes of its standard error are kept.
const MAX_TAIL: usize = 2 << 10;

/// How long a program may take to exit by itself after its answer is complete.
const EXIT_GRACE: Duration = Duration::from_millis(250);

/// How long the pipes are read after the program has exited. They only stay open if a process has
/// left the group.
pub(super) const DRAIN: Duration = Duration::from_millis(250);

/// A prompt for a program.
pub(super) struct Request {
    pub(super) launch: Launch,
    pub(super) prompt: String,
    pub(super) decoded: Decoded,
    pub(super) timeouts: Timeouts,
}

/// The answer. The program is started when the stream is first polled and killed when it is
/// dropped.
pub(super) fn stream(
    request: Request,
    dialect: &'static Dialect,
) -> BoxStream<'static, Result<Chunk, ProviderError>> {
    stream::unfold(State::NotStarted(Box::new(request), dialect), next).boxed()
}

enum State {
    NotStarted(Box<Request>, &'static Dialect),
    Running(Box<Answer>),
    Done,
}

async fn next(state: State) -> Option<(Result<Chunk, ProviderError>, State)> {
    let mut answer = match state {
        State::Done => return None,
        State::Running(answer) => answer,
        State::NotStarted(request, dialect) => match Answer::start(*request, dialect) {
            Ok(answer) => Box::new(answer),
            Err(error) => return Some((Err(error), State::Done)),
        },
    };
    // The answer is dropped before the end is reported, so the program is gone by then.
    match answer.next().await {
        Ok(end @ Chunk::End { .. }) => {
            answer.wait_for_exit().await;
            Some((Ok(end), State::Done))
        }
        Ok(chunk) => Some((Ok(chunk), State::Running(answer))),
        Err(error) => Some((Err(error), State::Done)),
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
    output_bytes: usize,
    /// `Some` once the program has exited, with its status if that is known.
    ended: Option<Option<ExitStatus>>,
    failure: Option<ProviderError>,
    idle: Duration,
    deadline: Deadline,
}

/// Read buffers.
struct Bytes {
    stdout: [u8; 16 << 10],
    stderr: [u8; 1 << 10],
}

/// The prompt, and how much of it has been written.
struct Prompt {
    text: Vec<u8>,
    written: usize,
}

/// A point in time by which something must happen, and the timeout it came from.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    wait: Duration,
}

impl Deadline {
    fn after(wait: Duration) -> Self {
        Deadline { at: Instant::now() + wait, wait }
    }

    /// The earlier of this deadline and one after the given wait.
    fn within(self, wait: Duration) -> Self {
        let sooner = Deadline::after(wait);
        if sooner.at < self.at { sooner } else { self }
    }
}

enum Event {
    Stdout(usize),
    Stderr(usize),
    PromptWritten,
    Exited(Option<ExitStatus>),
    DeadlinePassed,
}

impl Answer {
    fn start(request: Request, dialect: &'static Dialect) -> Result<Self, ProviderError> {
        let Request { launch, prompt, decoded, timeouts } = request;
        let first = Duration::from_millis(timeouts.first_ms);
        // Between whole messages a program may think as long as before the first one.
        let idle = match dialect.output {
            Output::Messages(_) => first,
            Output::Words(_) | Output::Text => Duration::from_millis(timeouts.idle_ms),
        };
        Ok(Answer {
            name: launch.name.clone(),
            reader: Reader::new(dialect.output, decoded),
            dialect,
            prompt: Prompt { text: prompt.into_bytes(), written: 0 },
            process: Process::start(launch)?,
            bytes: Box::new(Bytes { stdout: [0; 16 << 10], stderr: [0; 1 << 10] }),
            tail: Tail::default(),
            output_bytes: 0,
            ended: None,
            failure: None,
            idle,
            deadline: Deadline::after(first),
        })
    }

    /// The next chunk. Text that arrived before a failure is returned before it.
    async fn next(&mut self) -> Result<Chunk, ProviderError> {
        loop {
            if let Some(chunk) = self.reader.decoded.chunks.pop_front() {
                return Ok(chunk);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if let Err(failure) = self.advance().await {
                self.process.kill();
                self.reader.decoded.release();
                self.failure = Some(failure);
            }
        }
    }

    async fn advance(&mut self) -> Result<(), ProviderError> {
        match self.event().await {
            Event::Stdout(0) => self.stdout_closed(),
            Event::Stdout(count) => self.read_stdout(count)?,
            Event::Stderr(0) => self.process.stderr = None,
            Event::Stderr(count) => {
                self.tail.push(&self.bytes.stderr[..count]);
                self.count_output(count)?;
            }
            Event::PromptWritten => {}
            Event::Exited(status) => {
                self.ended = Some(status);
                self.deadline = self.deadline.within(DRAIN);
            }
            Event::DeadlinePassed if self.ended.is_some() => return self.conclude(),
            Event::DeadlinePassed => return Err(self.timeout_error()),
        }
        let is_closed = self.process.stdout.is_none() && self.process.stderr.is_none();
        if is_closed && self.ended.is_some() { self.conclude() } else { Ok(()) }
    }

    async fn event(&mut self) -> Event {
        let Answer { process, bytes, prompt, ended, deadline, .. } = self;
        tokio::select! {
            // Output that has arrived counts, even if it is read after the deadline.
            biased;
            count = read(&mut process.stdout, &mut bytes.stdout) => Event::Stdout(count),
            count = read(&mut process.stderr, &mut bytes.stderr) => Event::Stderr(count),
            () = write(&mut process.stdin, prompt) => Event::PromptWritten,
            status = &mut process.ended, if ended.is_none() => Event::Exited(status.ok()),
            () = sleep_until(deadline.at) => Event::DeadlinePassed,
        }
    }

    fn read_stdout(&mut self, count: usize) -> Result<(), ProviderError> {
        let before = self.reader.decoded.chunks.len();
        let read = self.reader.feed(&self.bytes.stdout[..count]);
        // Only text extends the deadline: other lines could go on for ever.
        if self.reader.decoded.chunks.len() > before && self.ended.is_none() {
            self.deadline = Deadline::after(self.idle);
        }
        read?;
        self.count_output(count)
    }

    fn count_output(&mut self, count: usize) -> Result<(), ProviderError> {
        self.output_bytes += count;
        if self.output_bytes <= MAX_OUTPUT {
            return Ok(());
        }
        let message = format!("{} wrote more than {} MiB", self.name, MAX_OUTPUT >> 20);
        Err(ProviderError::new(ErrorClass::InvalidResponse, message))
    }

    /// Handles closed output. Where that does not end the answer, the program has a moment to
    /// report what happened.
    fn stdout_closed(&mut self) {
        self.process.stdout = None;
        self.reader.finish();
        if !matches!(self.dialect.output, Output::Text) {
            self.deadline = self.deadline.within(EXIT_GRACE);
        }
    }

    fn timeout_error(&self) -> ProviderError {
        let tail = self.tail.text();
        let complaint = self.reader.decoded.complaint.as_deref().or_else(|| failure::complaint(&tail));
        if self.process.stdout.is_some() || matches!(self.dialect.output, Output::Text) {
            return failure::timed_out(&self.name, self.deadline.wait, complaint);
        }
        complaint.map_or_else(|| failure::cut_off(&self.name), failure::reported)
    }

    /// Ends the answer after the program has exited and all its output was read.
    fn conclude(&mut self) -> Result<(), ProviderError> {
        if self.process.stdout.take().is_some() {
            self.reader.finish();
        }
        self.process.stderr = None;
        let is_well = self.ended.flatten().is_some_and(|it| it.success());
        let Reader { decoded, .. } = &mut self.reader;
        if is_well && decoded.has_spoken && matches!(self.dialect.output, Output::Text) {
            decoded.end(None, None);
        }
        if decoded.has_ended { Ok(()) } else { Err(self.exit_error()) }
    }

    fn exit_error(&mut self) -> ProviderError {
        let Reader { decoded, stray, has_read, .. } = &mut self.reader;
        let tail = self.tail.text();
        let words = decoded.complaint.take().or(Some(tail).filter(|it| !it.trim().is_empty()));
        let Some(status) = self.ended.flatten() else { return failure::cut_off(&self.name) };
        if !status.success() {
            let words = words.or(stray.take()).unwrap_or_default();
            return failure::exited(&self.name, status, &words, self.dialect.codes);
        }
        match (self.dialect.output, stray.take()) {
            (Output::Text, _) => failure::no_answer(&self.name, &words.unwrap_or_default()),
            (_, Some(stray)) if !*has_read => failure::no_answer(&self.name, &stray),
            _ => failure::cut_off(&self.name),
        }
    }

    /// Waits a moment for the program to exit by itself.
    async fn wait_for_exit(&mut self) {
        if self.ended.is_none() {
            // Dropping the process kills it in either case, with everything it started.
            drop(timeout(EXIT_GRACE, &mut self.process.ended).await);
        }
    }
}

/// Reads some bytes and returns their number; 0 at the end of the pipe. Never returns after that.
async fn read(pipe: &mut Option<impl AsyncRead + Unpin>, bytes: &mut [u8]) -> usize {
    match pipe {
        Some(pipe) => pipe.read(bytes).await.unwrap_or_default(),
        None => pending().await,
    }
}

/// Writes some of the prompt, and closes the pipe after the last of it, because some programs wait
/// for that. A write error is ignored: a program that doesn't read all of its prompt may still
/// answer.
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

/// The last part of a program's standard error.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let too_many = self.bytes.len().saturating_sub(MAX_TAIL);
        self.bytes.drain(..too_many);
    }

    pub(super) fn text(&self) -> String {
        cleaned(&String::from_utf8_lossy(&self.bytes))
    }
}
