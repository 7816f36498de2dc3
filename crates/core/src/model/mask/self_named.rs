//! Finds where a speaker calls itself by a word: *as the editor, I …*, *I am an editor*.

/// Words that may stand before the word.
const ARTICLES: [&str; 9] = ["the", "a", "an", "your", "this", "der", "die", "das", "ein"];

/// Ends of the text before the word, in lower case, that alone make it the speaker's own.
const OPENINGS: [&str; 6] = ["i am", "i'm", "i\u{2019}m", "speaking as", "ich bin", "spreche als"];

/// Ends that do if the speaker says *I* right after the word.
const APPOSITIONS: [&str; 3] = ["as", "als", ","];

/// Whether the word between these texts is what the speaker calls itself.
pub(super) fn is_self_named(before: &str, after: &str) -> bool {
    let before = tail(before);
    let before = without_article(before.trim_end());
    let ends_with = |words: &str| {
        let rest = before.strip_suffix(words);
        rest.is_some_and(|it| words == "," || !it.ends_with(char::is_alphanumeric))
    };
    let says_i = is_first_person(after.trim_start_matches([',', ' ']));
    OPENINGS.into_iter().any(ends_with) || (says_i && APPOSITIONS.into_iter().any(ends_with))
}

/// The last characters of a text in lower case: no opening is longer.
fn tail(text: &str) -> String {
    let from = text.char_indices().rev().nth(39).map_or(0, |it| it.0);
    text[from..].to_lowercase()
}

fn without_article(text: &str) -> &str {
    let rest = ARTICLES.iter().find_map(|it| text.strip_suffix(it)?.strip_suffix(' '));
    rest.unwrap_or(text).trim_end()
}

fn is_first_person(text: &str) -> bool {
    let end = text.find(|it: char| !it.is_alphanumeric()).unwrap_or(text.len());
    matches!(&text[..end], "I" | "ich")
}
