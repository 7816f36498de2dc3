//! Messages about traces for the person at the terminal: only if traces don't arrive.

use quorum::{Quorum, TracingStatus};

use crate::render::note;

/// Says why discussions are not traced although the environment asks for it.
pub(super) fn announce(quorum: &Quorum) {
    match quorum.tracing_status() {
        TracingStatus::Off | TracingStatus::On { .. } => {}
        status => note(&format!("warning: {}", told(status))),
    }
}

/// Sends the spans that are left, and says so if that fails.
pub(super) async fn flush(quorum: &Quorum) {
    if let Err(reason) = quorum.flush_telemetry().await {
        note(&format!("warning: traces could not be sent ({reason}); nothing else is affected"));
    }
}

/// The state of traces, in a sentence.
pub(super) fn told(status: &TracingStatus) -> String {
    match status {
        TracingStatus::Off => "tracing is off".to_owned(),
        TracingStatus::On { variable } => format!("traces are sent to the collector in {variable}"),
        TracingStatus::NotBuilt { variable } => format!(
            "{variable} is set, but this program was built without traces; build it with `--features otel`"
        ),
        TracingStatus::Unusable { variable, reason } => {
            format!("{variable} is set, but traces can't be sent: {reason}")
        }
    }
}
