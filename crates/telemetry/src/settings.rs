//! Settings from the environment that the exporter doesn't read itself: content, and whether the
//! protocol is one that this program has.

/// The variable for content. Other programs also give it the values of an enumeration.
const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// The variables for the protocol; the first that is set counts.
const PROTOCOL: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];

/// The only protocol that this program has.
const HTTP_PROTOBUF: &str = "http/protobuf";

/// The variables for the longest time that an export may take, in milliseconds.
const TIMEOUT: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];

/// Whether spans contain what was asked and answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Content {
    /// They don't.
    #[default]
    LeftOut,
    /// They do.
    Captured,
}

/// Why no spans can be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The protocol is not one that this program has.
    #[error("{variable} is {protocol}, and this program sends {HTTP_PROTOBUF} only")]
    Protocol {
        /// The variable.
        variable: &'static str,
        /// Its value.
        protocol: String,
    },
    /// The exporter can't be built.
    #[error("{0}")]
    Exporter(String),
}

/// Looks a variable up.
pub(crate) type Lookup<'l> = &'l dyn Fn(&str) -> Option<String>;

fn first_set(lookup: Lookup<'_>, names: [&'static str; 2]) -> Option<(&'static str, String)> {
    let value = |name| lookup(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    names.into_iter().find_map(|name| Some((name, value(name)?)))
}

pub(crate) fn check_protocol(lookup: Lookup<'_>) -> Result<(), SettingsError> {
    match first_set(lookup, PROTOCOL) {
        Some((variable, protocol)) if protocol != HTTP_PROTOBUF => {
            Err(SettingsError::Protocol { variable, protocol })
        }
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn timeout_ms(lookup: Lookup<'_>) -> Option<u64> {
    first_set(lookup, TIMEOUT)?.1.parse().ok()
}

pub(crate) fn content(lookup: Lookup<'_>) -> Content {
    let captured = ["true", "span_only", "span_and_event"];
    match lookup(CONTENT) {
        Some(it) if captured.contains(&it.trim().to_ascii_lowercase().as_str()) => Content::Captured,
        Some(_) | None => Content::LeftOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_captured_only_if_the_variable_says_so() {
        let check = |value: Option<&str>, expected| {
            assert_eq!(content(&|name| value.filter(|_| name == CONTENT).map(str::to_owned)), expected);
        };
        check(Some("true"), Content::Captured);
        check(Some(" SPAN_AND_EVENT "), Content::Captured);
        check(Some("SPAN_ONLY"), Content::Captured);
        check(Some("EVENT_ONLY"), Content::LeftOut);
        check(Some("false"), Content::LeftOut);
        check(Some(""), Content::LeftOut);
        check(None, Content::LeftOut);
    }

    #[test]
    fn another_protocol_is_refused_by_the_variable_that_counts() {
        let set = |pairs: &'static [(&str, &str)]| {
            check_protocol(&|name| pairs.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()))
        };
        assert_eq!(set(&[]), Ok(()));
        assert_eq!(set(&[(PROTOCOL[1], "")]), Ok(()));
        assert_eq!(set(&[(PROTOCOL[0], "http/protobuf"), (PROTOCOL[1], "grpc")]), Ok(()));
        let refused = SettingsError::Protocol { variable: PROTOCOL[1], protocol: "grpc".to_owned() };
        assert_eq!(set(&[(PROTOCOL[1], "grpc")]), Err(refused));
    }
}
