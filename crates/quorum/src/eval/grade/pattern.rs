//! Regular expressions of question files, in an engine whose time is linear in the answer.

use regex::{Regex, RegexBuilder};

/// The longest pattern, in bytes.
pub const LONGEST_PATTERN: usize = 64 * 1024;

/// The most memory that a compiled pattern may take, in bytes.
const LARGEST_COMPILED: usize = 1024 * 1024;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern, or says what is wrong with it.
    pub fn new(written: &str) -> Result<Pattern, String> {
        if written.len() > LONGEST_PATTERN {
            let length = written.len();
            return Err(format!("the pattern has {length} bytes; at most {LONGEST_PATTERN} are allowed"));
        }
        let built = RegexBuilder::new(written).size_limit(LARGEST_COMPILED).build();
        built.map(Pattern).map_err(|error| message_of(&error))
    }

    /// Whether it occurs in a text.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn written(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.written() == other.written()
    }
}

/// The last line of the error: those before show the pattern again.
fn message_of(error: &regex::Error) -> String {
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    match error {
        regex::Error::CompiledTooBig(_) => "the pattern needs too much memory".to_owned(),
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_explodes_elsewhere_takes_linear_time() {
        let pattern = Pattern::new("^(a+)+$").unwrap();
        assert!(!pattern.matches(&format!("{}b", "a".repeat(60_000))));
        assert!(pattern.matches(&"a".repeat(60_000)));
    }

    #[test]
    fn a_pattern_is_refused_with_the_reason() {
        assert_eq!(Pattern::new("(a"), Err("unclosed group".to_owned()));
        assert!(Pattern::new("(?=a)b").unwrap_err().contains("look-around"));
        assert_eq!(Pattern::new(r"\w{1000}{1000}"), Err("the pattern needs too much memory".to_owned()));
        assert!(Pattern::new(&"a".repeat(LONGEST_PATTERN + 1)).unwrap_err().contains("65537 bytes"));
    }
}
