//! Finding discussions by their words: the topic counts for more than the synthesis, that for more than the talk.

use quorum_core::model::id::DiscussionId;
use rusqlite::Connection;

/// Puts a discussion's words into the index, in place of those it had. Done when a discussion opens, waits or ends: doing
/// it at every turn would read the whole talk again each time.
pub(crate) fn index(connection: &Connection, id: DiscussionId) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO search (rowid, topic, synthesis, talk)
         SELECT number, topic, ifnull(synthesis, ''),
             ifnull((SELECT group_concat(content, char(10)) FROM discussion_logs
                     WHERE project_id = discussions.id AND metadata ->> '$.kind' = 'turn'), '')
         FROM discussions WHERE id = ?1",
    )?;
    statement.execute([id.to_string()]).map(drop)
}

/// Words of fewer bytes mean only themselves: half the language begins with a `t`. Signs of other scripts have three bytes.
const SHORTEST_BEGINNING: usize = 3;

/// What people typed as a question to the index: any of the words, or what begins with them. `None` when there are none.
pub(crate) fn question(words: &str) -> Option<String> {
    let words: Vec<String> = words
        .split(is_between_words)
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .map(|word| format!("\"{word}\"{}", if word.len() < SHORTEST_BEGINNING { "" } else { "*" }))
        .collect();
    (!words.is_empty()).then(|| words.join(" OR "))
}

/// Signs beyond ASCII are left to the index, which knows which of them are part of a letter.
fn is_between_words(sign: char) -> bool {
    sign.is_whitespace() || sign.is_control() || (sign.is_ascii_punctuation() && sign != '\'')
}

#[cfg(test)]
mod tests {
    use super::question;

    fn check(words: &str, expected: Option<&str>) {
        assert_eq!(question(words).as_deref(), expected);
    }

    #[test]
    fn every_word_is_quoted() {
        check("tabs spaces", Some(r#""tabs"* OR "spaces"*"#));
        check(r#"say "hi" NOT"#, Some(r#""say"* OR "hi" OR "NOT"*"#));
        check("topic:x\0y* don't", Some(r#""topic"* OR "x" OR "y" OR "don't"*"#));
        check(" \" * () ", None);
    }
}
