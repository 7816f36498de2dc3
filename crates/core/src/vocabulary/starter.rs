//! Ready-made orders that a pattern offers to people: a name, a few blanks, and the words around
//! them.

/// A ready-made order for a pattern. A client lists it as a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starter {
    /// The name in lists: one word.
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub summary: &'static str,
    /// The blanks to be filled in.
    pub blanks: &'static [Blank],
    /// The order in words, with each blank as `{name}`.
    pub words: &'static str,
}

/// A blank of a ready-made order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blank {
    /// The name, as it is written in the words.
    pub name: &'static str,
    /// What to fill in, in one sentence.
    pub summary: &'static str,
}

impl Starter {
    /// The order in words, with the blanks filled in. A blank that is left out stays empty.
    #[must_use]
    pub fn filled<'v>(&self, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let mut text = String::new();
        let mut rest = self.words;
        // Filled from left to right, so that braces in a value are never taken for a blank.
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                text.push('{');
                rest = after;
                continue;
            };
            text.push_str(value(name).unwrap_or_default());
            rest = behind;
        }
        text + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b10_blanks_are_filled_once_and_values_are_not_read_again() {
        let starter = Starter { name: "a", summary: "", blanks: &[], words: "On {one}: {two}, {none}{" };
        let value = |name: &str| match name {
            "one" => Some("{two}"),
            "two" => Some("2"),
            _ => None,
        };
        assert_eq!(starter.filled(value), "On {two}: 2, {");
    }
}
