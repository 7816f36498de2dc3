//! A program as a tool: data on its standard input, its result on standard output, under the same
//! rules as programs that answer.

use std::time::Duration;

use quorum_core::model::error::{ErrorClass, ProviderError};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::{Dialect, complaint, environment::Launch, plain, process::Process, supervisor::Supervisor};
use crate::source::Program;

/// The most that a tool may return, in bytes.
pub const MOST_OUTPUT: usize = 1 << 20;

/// A program that is used as a tool.
#[derive(Debug, Clone)]
pub struct ToolProgram {
    /// The program and its arguments, as the user's configuration has them.
    pub command: Vec<String>,
    /// Ends it when this process dies.
    pub supervisor: Option<Supervisor>,
}

const DIALECT: &Dialect = &plain::DIALECT;

impl ToolProgram {
    /// Runs it with this input, for at most this long, and returns what it printed.
    pub async fn run(&self, input: Vec<u8>, limit: Duration) -> Result<Vec<u8>, ProviderError> {
        let slow = |_| {
            let message = format!("the program took longer than {} ms", limit.as_millis());
            ProviderError::new(ErrorClass::Timeout, message)
        };
        timeout(limit, self.run_to_end(input)).await.map_err(slow)?
    }

    async fn run_to_end(&self, input: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        let refused = |message: String| ProviderError::new(ErrorClass::Validation, message);
        let Some((path, arguments)) = self.command.split_first() else {
            return Err(refused("there is no program".to_owned()));
        };
        let program = Program {
            path: path.into(),
            dialect: DIALECT.name.to_owned(),
            supervisor: self.supervisor.clone(),
            ..Program::default()
        };
        let launch = Launch::new(&program, DIALECT, arguments.to_vec())?;
        let name = launch.name.clone();
        let mut process = Process::start(launch)?;
        let stdin = process.stdin.take();
        let stdout = process.stdout.take();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that reads nothing is fine.
                let _ = stdin.write_all(&input).await;
                let _ = stdin.shutdown().await;
            }
        };
        let read = async {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                let _ = stdout.take(MOST_OUTPUT as u64 + 1).read_to_end(&mut output).await;
            }
            output
        };
        let ((), output) = tokio::join!(write, read);
        if output.len() > MOST_OUTPUT {
            return Err(refused(format!("the program {name} printed more than {MOST_OUTPUT} bytes")));
        }
        match (&mut process.ended).await {
            Ok(status) if status.success() => Ok(output),
            Ok(status) => {
                let said = complaint(process).await;
                let said = said.trim();
                let why = if said.is_empty() { String::new() } else { format!(": {said}") };
                let message = format!("the program {name} failed ({status}){why}");
                Err(ProviderError::new(ErrorClass::ApiError, message))
            }
            Err(_) => Err(refused(format!("the program {name} was cut off"))),
        }
    }
}
