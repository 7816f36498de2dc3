//! Recognises labels that were not turned back into names.

/// Whether the text has something like `@KX`.
#[must_use]
pub fn has_label(text: &str) -> bool {
    let is_rare = |it: Option<char>| it.is_some_and(|it| "JKQVWXZ".contains(it));
    text.match_indices('@').any(|(at, _)| {
        let mut letters = text[at + 1..].chars();
        is_rare(letters.next())
            && is_rare(letters.next())
            && !letters.next().is_some_and(char::is_alphanumeric)
    })
}
