//! Full-text search: words in the topic count more than in the synthesis, those more than in the
//! talk.

use rusqlite::Connection;

use crate::{error::JobError, write_context::WriteContext};

/// How many discussions are indexed per transaction, so that other writes don't wait for all of
/// them.
pub(crate) const BATCH: usize = 64;

/// Whether discussions are missing from the index. They are only marked when they start, wait or
/// end, and indexed at the next search, because searches are rare.
pub(crate) fn is_stale(connection: &Connection) -> Result<bool, JobError> {
    Ok(connection.prepare_cached("SELECT 1 FROM discussions WHERE unindexed = 1")?.exists([])?)
}

/// Indexes some of the missing discussions. Returns how many; fewer than [`BATCH`] means it is
/// done.
pub(crate) fn index_batch(context: &mut WriteContext) -> Result<usize, JobError> {
    let connection = &context.connection;
    let mut missing =
        connection.prepare_cached("SELECT number FROM discussions WHERE unindexed = 1 LIMIT ?1")?;
    let missing: Vec<i64> = missing.query_map([BATCH as i64], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for number in &missing {
        index(connection, *number)?;
    }
    Ok(missing.len())
}

/// Indexes a discussion's words, replacing those indexed before.
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

/// Words of fewer bytes match only exactly, because half of English starts with `t`. A character of
/// another script has three bytes.
const SHORTEST_PREFIX: usize = 3;

/// The typed words as a query to the index: any of the words, or words starting with them. `None`
/// if there are none.
pub(crate) fn match_query(words: &str) -> Option<String> {
    let words: Vec<String> = words_of(words)
        .map(|word| format!("\"{word}\"{}", if word.len() < SHORTEST_PREFIX { "" } else { "*" }))
        .collect();
    (!words.is_empty()).then(|| words.join(" OR "))
}

/// The words of the text. None has a character that is special to the index or to `LIKE`.
pub(crate) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between_words).filter(|word| word.chars().any(char::is_alphanumeric))
}

/// Non-ASCII characters are left to the index, which knows which of them are parts of words.
fn is_between_words(sign: char) -> bool {
    sign.is_whitespace() || sign.is_control() || (sign.is_ascii_punctuation() && sign != '\'')
}

#[cfg(test)]
mod tests {
    use super::match_query;

    fn check(words: &str, expected: Option<&str>) {
        assert_eq!(match_query(words).as_deref(), expected);
    }

    #[test]
    fn every_word_is_quoted() {
        check("tabs spaces", Some(r#""tabs"* OR "spaces"*"#));
        check(r#"say "hi" NOT"#, Some(r#""say"* OR "hi" OR "NOT"*"#));
        check("topic:x\0y* don't", Some(r#""topic"* OR "x" OR "y" OR "don't"*"#));
        check(" \" * () ", None);
    }
}
