//! Finding discussions by their words: the topic counts for more than the synthesis, that for more than the talk.

use rusqlite::Connection;

use crate::{error::Trouble, write_context::WriteContext};

/// How many discussions are indexed in one go, so that whoever writes meanwhile does not wait for all of them.
pub(crate) const AT_ONCE: usize = 64;

/// Whether there are words that the index does not know. A discussion that opens, waits or ends only says so; it is
/// indexed when somebody searches, since most of the time nobody does.
pub(crate) fn is_behind(connection: &Connection) -> Result<bool, Trouble> {
    Ok(connection.prepare_cached("SELECT 1 FROM discussions WHERE unindexed = 1")?.exists([])?)
}

/// Indexes some of what is missing. Returns how many; fewer than [`AT_ONCE`] were the last.
pub(crate) fn catch_up(context: &mut WriteContext) -> Result<usize, Trouble> {
    let connection = &context.connection;
    let mut missing =
        connection.prepare_cached("SELECT number FROM discussions WHERE unindexed = 1 LIMIT ?1")?;
    let missing: Vec<i64> =
        missing.query_map([AT_ONCE as i64], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for number in &missing {
        index(connection, *number)?;
    }
    Ok(missing.len())
}

/// Puts a discussion's words into the index, in place of those it had.
fn index(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let mut words = connection.prepare_cached(
        "INSERT OR REPLACE INTO search (rowid, topic, synthesis, talk)
         SELECT number, topic, ifnull(synthesis, ''),
             ifnull((SELECT group_concat(content, char(10)) FROM discussion_logs
                     WHERE project_id = discussions.id AND metadata ->> '$.kind' = 'turn'), '')
         FROM discussions WHERE number = ?1",
    )?;
    words.execute([number])?;
    connection
        .prepare_cached("UPDATE discussions SET unindexed = 0 WHERE number = ?1")?
        .execute([number])
        .map(drop)
}

/// Words of fewer bytes mean only themselves: half the language begins with a `t`. Signs of other scripts have three bytes.
const SHORTEST_BEGINNING: usize = 3;

/// What people typed as a question to the index: any of the words, or what begins with them. `None` when there are none.
pub(crate) fn question(words: &str) -> Option<String> {
    let words: Vec<String> = words_of(words)
        .map(|word| format!("\"{word}\"{}", if word.len() < SHORTEST_BEGINNING { "" } else { "*" }))
        .collect();
    (!words.is_empty()).then(|| words.join(" OR "))
}

/// What of it is words. None of them has a sign that means something to the index or to `LIKE`.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between_words).filter(|word| word.chars().any(char::is_alphanumeric))
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
