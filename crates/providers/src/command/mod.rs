//! Local programs that answer, such as the vendors' coding CLIs. They have logins of their own, so
//! no key is needed.
//!
//! A dialect is one file with a constant and one line in [`DIALECTS`]: a program's arguments and
//! how its output is read. Everything else is the same for all of them. The prompt goes to the
//! standard input, no shell is involved, and the program runs in a folder of its own, with few
//! environment variables, in a process group that is always killed. A program gets no tools: other
//! participants' text must not be able to make it do anything or read a file.
//!
//! - `answer.rs`: one answer as a stream, with its timeouts and size limits.
//! - `process.rs`: one running program, its group and its supervisor; `run_folder.rs`: its folder;
//!   `processes.rs`: the processes it started.
//! - [`supervisor`]: ends a program when this process dies.
//! - `environment.rs`: a program's path, arguments and environment.
//! - `prompt.rs`: a call as one text.
//! - `decode.rs`: decodes a program's output; `utf8.rs`: decodes UTF-8 from a byte stream.
//! - `failure.rs`: classifies a program's error messages.

mod answer;
mod claude;
mod codex;
mod decode;
mod environment;
mod failure;
mod gemini;
mod plain;
mod process;
mod processes;
mod prompt;
mod run_folder;
pub mod supervisor;
pub mod tool;
mod utf8;

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

pub use self::environment::find;
use self::{decode::Decoded, environment::Launch, process::Process};
use crate::source::{Program, Timeouts};

/// All dialects.
pub const DIALECTS: &[Dialect] = &[claude::DIALECT, codex::DIALECT, gemini::DIALECT, plain::DIALECT];

/// Timeout of a login check. Under load the start alone takes seconds.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The dialect of that name.
#[must_use]
pub fn dialect(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// How a program is started and its output read.
#[derive(Debug)]
pub struct Dialect {
    /// Its name in the configuration.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    /// Its default arguments; `{model}` is replaced by the model's name.
    pub arguments: &'static [&'static str],
    /// The arguments that check its login for free: it exits with 0 if logged in, and with 1 if
    /// not. Empty where no such arguments are known: a program might take any argument for a
    /// question and have it answered, for money.
    pub probe: &'static [&'static str],
    /// How the user logs in, as an instruction; empty where there is no login.
    pub login: &'static str,
    /// Whether it reports what an answer costs. That is the price over the API, even under a
    /// subscription.
    pub tells_cost: bool,
    /// Environment variables that locate its own settings and login. Keys are not among them.
    pub environment: &'static [&'static str],
    /// Environment variables that are set for it, with their values.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Files that are put into its folder, with their contents.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// Its exit codes, with the HTTP statuses that mean the same.
    pub(crate) codes: &'static [(i32, u16)],
    /// How its output is read.
    pub(crate) output: Output,
}

/// How a program's output is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Output {
    /// One JSON document per line, streamed word by word; the end is a line of its own.
    Words(Read),
    /// One JSON document per line, each a whole message, with long pauses between them.
    Messages(Read),
    /// Plain text, which is the answer itself; complete when the program exits with 0.
    Text,
}

/// Reads a line. Lines of an unknown kind are ignored; [`Decoded::end`] is called only at the end
/// that the dialect defines.
pub(crate) type Read = fn(&Value, &mut Decoded) -> Result<(), ProviderError>;

/// A provider that is a program on this machine.
#[derive(Debug, Clone)]
pub struct CommandProvider {
    program: Program,
    dialect: &'static Dialect,
    model: Option<String>,
    timeouts: Timeouts,
}

impl CommandProvider {
    /// A provider that runs this program. Without a model's name, the program chooses its model.
    ///
    /// # Errors
    ///
    /// When there is no such dialect, or when the model's name would be taken for an option.
    pub fn new(program: Program, model: Option<&str>, timeouts: Timeouts) -> Result<Self, ProviderError> {
        let refused = |message: String| ProviderError::new(ErrorClass::Validation, message);
        let Some(dialect) = dialect(&program.dialect) else {
            let known: Vec<&str> = DIALECTS.iter().map(|it| it.name).collect();
            let (asked, known) = (&program.dialect, known.join(", "));
            return Err(refused(format!("there is no dialect \"{asked}\"; the dialects are {known}")));
        };
        let model = model.filter(|it| !it.is_empty()).map(str::to_owned);
        match model.as_deref().filter(|it| it.starts_with('-')) {
            Some(model) => Err(refused(format!("\"{model}\" would be taken for an option, not for a model"))),
            None => Ok(CommandProvider { program, dialect, model, timeouts }),
        }
    }

    fn launch(&self, arguments: Vec<String>) -> Result<Launch, ProviderError> {
        Launch::new(&self.program, self.dialect, arguments)
    }

    fn answer(&self, call: &Call) -> Result<BoxStream<'static, Result<Chunk, ProviderError>>, ProviderError> {
        let launch =
            self.launch(environment::arguments(&self.program, self.dialect, self.model.as_deref()))?;
        let (dialect, decoded) = (self.dialect, Decoded::of(call));
        let request =
            answer::Request { launch, prompt: prompt::text(call), decoded, timeouts: self.timeouts };
        let answer = answer::stream(request, dialect);
        Ok(answer.map(|it| it.map_err(|error| failure::with_login(error, dialect.login))).boxed())
    }

    async fn probe(&self) -> Result<(), ProviderError> {
        let launch = self.launch(self.dialect.probe.iter().map(|&it| it.to_owned()).collect())?;
        if self.dialect.probe.is_empty() {
            return Ok(());
        }
        let name = launch.name.clone();
        let mut process = Process::start(launch)?;
        process.stdin = None;
        let Ok(ended) = timeout(PROBE_TIMEOUT, &mut process.ended).await else {
            let seconds = PROBE_TIMEOUT.as_secs();
            let message = format!("the program {name} did not answer a check within {seconds} s");
            return Err(ProviderError::new(ErrorClass::Timeout, message));
        };
        let failed = match ended {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) if status.code() == Some(1) => {
                ProviderError::new(ErrorClass::Authentication, format!("{name} is not logged in"))
            }
            Ok(status) => failure::exited(&name, status, &complaint(process).await, self.dialect.codes),
            Err(_) => failure::cut_off(&name),
        };
        Err(failure::with_login(failed, self.dialect.login))
    }
}

/// The last part of its standard error. Processes that could hold the pipe open were killed with
/// the group, except for those that left it.
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

impl Provider for CommandProvider {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        self.answer(&call).unwrap_or_else(|error| stream::iter([Err(error)]).boxed())
    }

    fn check<'a>(&'a self, _: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.probe())
    }
}
