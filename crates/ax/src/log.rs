//! The log on standard error: the trace events of a discussion (INV-DISC-301, INV-DISC-015), as
//! text or JSON, one line each. They contain no content and no keys.

use std::{
    fmt::{self, Write as _},
    io::Write as _,
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use clap::ValueEnum;
use quorum::model::time::{Timestamp, iso};
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::exit::Usage;

/// The variable that is used if the flag is not given.
const VARIABLE: &str = "AX_LOG";

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Words and NAME=VALUE
    Text,
    /// One JSON object for each event
    Json,
}

static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Whether log lines are written. They would tear a live view, so none is shown then.
pub(crate) fn is_on() -> bool {
    FORMAT.get().is_some()
}

/// Switches the log on, if the flag or the variable says so.
pub(crate) fn start(given: Option<LogFormat>) -> anyhow::Result<()> {
    let Some(format) = given.map(Ok).or_else(from_environment).transpose()? else { return Ok(()) };
    let _ = FORMAT.set(format);
    tracing::subscriber::set_global_default(Log(format)).map_err(|error| anyhow!(error))
}

fn from_environment() -> Option<anyhow::Result<LogFormat>> {
    let written = std::env::var_os(VARIABLE).filter(|it| !it.is_empty())?;
    let written = written.to_string_lossy();
    let wrong = |_| Usage(format!("{VARIABLE} must be text or json, not {written}")).into();
    Some(LogFormat::from_str(&written, false).map_err(wrong))
}

/// Writes the events of our own crates, from `info` on.
struct Log(LogFormat);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::INFO && metadata.target().starts_with("quorum")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_ascii_lowercase();
        let line = fields.line(self.0, &iso(now()), &level);
        // A log that can't be written must not end the discussion.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The name of an event and its other fields.
#[derive(Default)]
struct Fields {
    name: String,
    others: Map<String, Value>,
}

impl Fields {
    fn line(self, format: LogFormat, time: &str, level: &str) -> String {
        match format {
            LogFormat::Text => {
                let mut line = format!("{time} {level} {}", self.name);
                for (name, value) in &self.others {
                    // Writing to a string can't fail.
                    let _ = match value {
                        Value::String(text) if is_plain(text) => write!(line, " {name}={text}"),
                        other => write!(line, " {name}={other}"),
                    };
                }
                line + "\n"
            }
            LogFormat::Json => {
                let first = [("time", time), ("level", level), ("event", self.name.as_str())];
                let first = first.map(|(name, value)| (name.to_owned(), Value::from(value)));
                let all: Map<String, Value> = first.into_iter().chain(self.others).collect();
                Value::Object(all).to_string() + "\n"
            }
        }
    }

    fn add(&mut self, field: &Field, value: Value) {
        self.others.insert(field.name().to_owned(), value);
    }
}

/// Whether a value is unambiguous without quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "-_./:@+".contains(it))
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        match field.name() {
            "message" => self.name = text,
            _ => self.add(field, text.into()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => self.name = value.to_owned(),
            _ => self.add(field, value.into()),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(format: LogFormat) -> String {
        let others = [("seq", Value::from(7)), ("participant", "ann".into()), ("why", "two\nlines".into())];
        let others = others.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Fields { name: "discussion.response".to_owned(), others }.line(format, "2026-01-01T00:00:00Z", "info")
    }

    #[test]
    fn a_line_is_one_line_in_either_format() {
        assert_eq!(
            line(LogFormat::Text),
            "2026-01-01T00:00:00Z info discussion.response seq=7 participant=ann why=\"two\\nlines\"\n"
        );
        assert_eq!(
            line(LogFormat::Json),
            "{\"time\":\"2026-01-01T00:00:00Z\",\"level\":\"info\",\"event\":\"discussion.response\",\
             \"seq\":7,\"participant\":\"ann\",\"why\":\"two\\nlines\"}\n"
        );
    }
}
