//! Traces of discussions for an OpenTelemetry collector, as the standard variables ask for them.

use std::sync::Arc;

use quorum_core::seams::Telemetry;

/// The variables that name a collector of traces.
const ENDPOINTS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/// Whether discussions are traced, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracingStatus {
    /// The environment asks for nothing.
    Off,
    /// Spans are sent to the collector that this variable names.
    On {
        /// The variable.
        variable: &'static str,
    },
    /// This variable names a collector, but the program was built without traces.
    NotBuilt {
        /// The variable.
        variable: &'static str,
    },
    /// This variable names a collector, but spans can't be sent to it.
    Unusable {
        /// The variable.
        variable: &'static str,
        /// Why they can't be sent.
        reason: String,
    },
}

/// Sets up what the environment asks for. A mistake in it keeps nothing from running.
pub(crate) fn set_up(
    variable: &dyn Fn(&str) -> Option<String>,
) -> (Option<Arc<dyn Telemetry>>, TracingStatus) {
    match wanted(variable) {
        Some(variable) => built(variable),
        None => (None, TracingStatus::Off),
    }
}

/// The variable that names a collector, unless another one switches traces off.
fn wanted(variable: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let value = |name: &str| variable(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let is = |name: &str, wanted: &str| value(name).is_none_or(|it| it.eq_ignore_ascii_case(wanted));
    let disabled = value("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    if disabled || !is("OTEL_TRACES_EXPORTER", "otlp") {
        return None;
    }
    ENDPOINTS.into_iter().find(|name| value(name).is_some())
}

#[cfg(feature = "otel")]
fn built(variable: &'static str) -> (Option<Arc<dyn Telemetry>>, TracingStatus) {
    match quorum_telemetry::Tracing::from_environment() {
        Ok(tracing) => (Some(Arc::new(tracing)), TracingStatus::On { variable }),
        Err(error) => (None, TracingStatus::Unusable { variable, reason: error.to_string() }),
    }
}

#[cfg(not(feature = "otel"))]
fn built(variable: &'static str) -> (Option<Arc<dyn Telemetry>>, TracingStatus) {
    (None, TracingStatus::NotBuilt { variable })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_wanted_if_a_variable_names_a_collector_and_none_forbids_it() {
        let check = |set: &[(&str, &str)], expected: Option<&str>| {
            let found = |name: &str| set.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
            assert_eq!(wanted(&found), expected, "{set:?}");
        };
        let there = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[], None);
        check(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], None);
        check(&[there], Some("OTEL_EXPORTER_OTLP_ENDPOINT"));
        check(&[there, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a/b")], Some(ENDPOINTS[0]));
        check(&[there, ("OTEL_SDK_DISABLED", "TRUE")], None);
        check(&[there, ("OTEL_SDK_DISABLED", "false")], Some(ENDPOINTS[1]));
        check(&[there, ("OTEL_TRACES_EXPORTER", "none")], None);
        check(&[there, ("OTEL_TRACES_EXPORTER", "otlp")], Some(ENDPOINTS[1]));
    }

    /// The other half of this module, in a build of the workspace without the feature.
    #[cfg(not(feature = "otel"))]
    #[test]
    fn a_build_without_traces_says_so() {
        let found = |name: &str| (name == ENDPOINTS[1]).then(|| "http://127.0.0.1:4318".to_owned());
        let (telemetry, status) = set_up(&found);
        assert!(telemetry.is_none());
        assert_eq!(status, TracingStatus::NotBuilt { variable: ENDPOINTS[1] });
    }
}
