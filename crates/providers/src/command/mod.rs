//! Programs on this machine that answer, such as the vendors' coding CLIs: they have logins of their own, so no key is needed.
//!
//! A dialect is one file with a constant and one line in [`DIALECTS`]: which arguments a program takes and how its output is read.
//! Everything else is the same for all of them. The prompt goes to the standard input, no shell is involved, and the program
//! runs in a folder of its own, with few environment variables, in a process group that is killed in every case. A program gets
//! no tools: what other participants say must not be able to make it do anything, nor to read a file.
//!
//! - `answer.rs`: one answer as a stream, with its deadlines and caps.
//! - `process.rs`: one running program, its group and its supervisor; `seat.rs`: its folder; `processes.rs`: what it started.
//! - [`supervisor`]: ends a program when this process dies.
//! - `surroundings.rs`: where a program lies, and what it gets to see.
//! - `prompt.rs`: a call as one text.
//! - `heard.rs`: what was understood so far; `letters.rs` and `clean.rs` cut and clean what comes in.
//! - `trouble.rs`: what its complaints mean.

mod answer;
mod claude;
mod codex;
mod gemini;
mod heard;
mod letters;
mod plain;
mod process;
mod processes;
mod prompt;
mod seat;
pub mod supervisor;
mod surroundings;
mod trouble;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use quorum_core::{
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        participant::Participant,
    },
    seams::{Chunk, Provider},
};
use serde_json::Value;
use tokio::{io::AsyncReadExt, time::timeout};

pub use self::surroundings::find;
use self::{heard::Heard, process::Process, surroundings::Launch};
use crate::source::{Patience, Program};

/// The dialects there are.
pub const DIALECTS: &[Dialect] = &[claude::DIALECT, codex::DIALECT, gemini::DIALECT, plain::DIALECT];

/// A program that doesn't even tell whether it is logged in by then is of no use. Under load the start alone takes seconds.
const PROBE_TIME: Duration = Duration::from_secs(10);

/// The dialect of that name.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// How a program is asked and understood.
#[derive(Debug)]
pub struct Dialect {
    /// What the configuration calls it.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The arguments it usually takes; `{model}` stands for the model's name.
    pub arguments: &'static [&'static str],
    /// The arguments with which it tells for nothing whether it is logged in: it ends with 0 if so, and with 1 if not. Empty where
    /// no such question is known: a program might take any argument for a question and have it answered, for money.
    pub probe: &'static [&'static str],
    /// What the user does to log in, as an instruction; empty where there is no login.
    pub login: &'static str,
    /// Whether it tells what an answer costs. That is the price over the API, whatever a subscription makes of it.
    pub tells_cost: bool,
    /// Environment variables that say where its own settings and its own login are. Keys are not among them.
    pub environment: &'static [&'static str],
    /// Environment variables that are set for it, with their values.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Files that lie in its folder, with what is in them.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// What its exit codes mean, as the status that would be over HTTP.
    pub(crate) codes: &'static [(i32, u16)],
    /// How its output is read.
    pub(crate) output: Output,
}

/// How a program's output is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// A JSON document a line, spoken word by word; its end is a line of its own.
    Words(Read),
    /// A JSON document a line, with whole messages and long silences between them.
    Messages(Read),
    /// The answer itself; it ends when the program ends well.
    Text,
}

/// Reads a line. What is of an unknown kind is passed over; [`Heard::end`] is called at the dialect's own end and never before.
pub(crate) type Read = fn(&Value, &mut Heard) -> Result<(), ProviderError>;

/// A provider that is a program on this machine.
#[derive(Debug, Clone)]
pub struct Spoken {
    program: Program,
    dialect: &'static Dialect,
    model: Option<String>,
    patience: Patience,
}

impl Spoken {
    /// A provider that asks this program. Without a model's name, the program's own choice answers.
    ///
    /// # Errors
    ///
    /// When there is no such dialect, or when the model's name would be taken for an option.
    pub fn new(program: Program, model: Option<&str>, patience: Patience) -> Result<Self, ProviderError> {
        let refused = |message: String| ProviderError::new(ErrorClass::Validation, message);
        let Some(dialect) = dialect(&program.dialect) else {
            let known: Vec<&str> = DIALECTS.iter().map(|it| it.name).collect();
            let (asked, known) = (&program.dialect, known.join(", "));
            return Err(refused(format!("there is no dialect \"{asked}\"; known are {known}")));
        };
        let model = model.filter(|it| !it.is_empty()).map(str::to_owned);
        match model.as_deref().filter(|it| it.starts_with('-')) {
            Some(model) => {
                Err(refused(format!("\"{model}\" would be taken for an option and not for a model")))
            }
            None => Ok(Spoken { program, dialect, model, patience }),
        }
    }

    fn launch(&self, arguments: Vec<String>) -> Result<Launch, ProviderError> {
        Launch::new(&self.program, self.dialect, arguments)
    }

    fn answer(&self, call: &Call) -> Result<BoxStream<'static, Result<Chunk, ProviderError>>, ProviderError> {
        let launch =
            self.launch(surroundings::arguments(&self.program, self.dialect, self.model.as_deref()))?;
        let (dialect, heard) = (self.dialect, Heard::of(call));
        let asked = answer::Asked { launch, prompt: prompt::text(call), heard, patience: self.patience };
        let answer = answer::stream(asked, dialect);
        Ok(answer.map(|it| it.map_err(|error| trouble::with_login(error, dialect.login))).boxed())
    }

    async fn probe(&self) -> Result<(), ProviderError> {
        let launch = self.launch(self.dialect.probe.iter().map(|&it| it.to_owned()).collect())?;
        if self.dialect.probe.is_empty() {
            return Ok(());
        }
        let name = launch.name.clone();
        let mut process = Process::start(launch)?;
        process.stdin = None;
        let Ok(ended) = timeout(PROBE_TIME, &mut process.ended).await else {
            let seconds = PROBE_TIME.as_secs();
            let message = format!("the program {name} did not answer a check within {seconds} s");
            return Err(ProviderError::new(ErrorClass::Timeout, message));
        };
        let failed = match ended {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) if status.code() == Some(1) => {
                ProviderError::new(ErrorClass::Authentication, format!("{name} is not logged in"))
            }
            Ok(status) => trouble::ended(&name, status, &complaint(process).await, self.dialect.codes),
            Err(_) => trouble::broke_off(&name),
        };
        Err(trouble::with_login(failed, self.dialect.login))
    }
}

/// What it wrote where complaints go. Whoever could hold the pipe open was killed with the group, but for those who left it.
async fn complaint(mut process: Process) -> String {
    let mut tail = answer::Tail::default();
    let mut bytes = [0; 1 << 10];
    if let Some(stderr) = &mut process.stderr {
        while let Ok(Ok(count @ 1..)) = timeout(answer::DRAIN, stderr.read(&mut bytes)).await {
            tail.push(&bytes[..count]);
        }
    }
    tail.text()
}

impl Provider for Spoken {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        self.answer(&call).unwrap_or_else(|error| stream::iter([Err(error)]).boxed())
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.probe())
    }
}
