//! Short excerpts of user input, for messages that quote it.

use std::fmt::{self, Display, Write};

/// How many characters of a value a message quotes.
const LONGEST: usize = 80;

/// The value as it is shown, cut to its first 80 characters. What comes after them is not even
/// formatted, so quoting a value costs the same however long it is.
///
/// ```
/// use quorum_core::model::excerpt::in_short;
///
/// assert_eq!(in_short("claude"), "claude");
/// assert_eq!(in_short("a".repeat(5_000)), format!("{}…", "a".repeat(80)));
/// ```
#[must_use]
pub fn in_short(value: impl Display) -> String {
    let mut excerpt = Excerpt { text: String::new(), left: LONGEST };
    if write!(excerpt, "{value}").is_err() {
        excerpt.text.push('…');
    }
    excerpt.text
}

/// A writer that refuses text beyond its limit.
struct Excerpt {
    text: String,
    left: usize,
}

impl Write for Excerpt {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(letter);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_quoted_by_its_first_characters() {
        assert_eq!(in_short(""), "");
        assert_eq!(in_short("ä".repeat(80)), "ä".repeat(80));
        assert_eq!(in_short("ä".repeat(81)), format!("{}…", "ä".repeat(80)));
        assert_eq!(in_short(json!([1, "a"])), "[1,\"a\"]");
        assert_eq!(in_short(json!(vec![0; 50_000])).chars().count(), 81);
    }
}
