//! What comes through standard input: the topic for `-`, or else context. A terminal is never waited for.

use std::{
    io::{IsTerminal, Read},
    sync::mpsc,
    time::Duration,
};

use anyhow::Context;

use crate::{exit::Usage, render::note};

/// More than any field may have; what is longer is refused by its length, not read to its end.
const MOST_BYTES: u64 = 500_000;

/// How long a silent writer is waited for before the user learns what is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Topic and context with what was piped in.
pub(crate) fn with_stdin(
    topic: Option<&str>,
    context: Option<&str>,
) -> anyhow::Result<(Option<String>, Option<String>)> {
    let from_stdin = topic == Some("-");
    if std::io::stdin().is_terminal() {
        if from_stdin {
            let message = "`-` reads the topic from standard input, which is a terminal here; pipe a text into it, or type the topic in place of -";
            return Err(Usage(message.to_owned()).into());
        }
        return Ok((topic.map(str::to_owned), context.map(str::to_owned)));
    }
    let piped = read()?;
    if from_stdin {
        return Ok((Some(piped), context.map(str::to_owned)));
    }
    Ok((topic.map(str::to_owned), joined(context, &piped)))
}

/// What a person says: as it was typed, or for `-` what is piped in.
pub(crate) fn spoken(text: &str) -> anyhow::Result<String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    if std::io::stdin().is_terminal() {
        let message = "`-` reads the words from standard input, which is a terminal here; pipe a text into it, or type them in place of -";
        return Err(Usage(message.to_owned()).into());
    }
    read()
}

fn joined(context: Option<&str>, piped: &str) -> Option<String> {
    let parts: Vec<&str> = context.into_iter().chain([piped]).filter(|it| !it.trim().is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn read() -> anyhow::Result<String> {
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(MOST_BYTES).read_to_end(&mut bytes);
        // Fails only when nobody waits any more.
        let _ = done.send(read.map(|_| bytes));
    });
    let bytes = waiting.recv_timeout(PATIENCE).or_else(|_| {
        note("Waiting for the end of standard input; `< /dev/null` says that there is none.");
        waiting.recv()
    });
    let bytes = bytes.context("standard input can't be read")?.context("standard input can't be read")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_is_added_to_the_context() {
        assert_eq!(joined(None, " \n"), None);
        assert_eq!(joined(Some("a"), ""), Some("a".to_owned()));
        assert_eq!(joined(Some("a"), "b"), Some("a\n\nb".to_owned()));
    }
}
