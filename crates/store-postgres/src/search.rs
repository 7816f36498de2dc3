//! The full-text index: the words of topics, syntheses and turns, as the program reads them.
//!
//! Discussions are only marked when they start, wait or end, and indexed at the next search,
//! because searches are rare.

use std::{collections::BTreeMap, fmt::Write as _};

use quorum_core::model::relevance::terms;
use uuid::Uuid;

use crate::{connection::Connection, error::JobError};

/// How many discussions are read at once.
const BATCH: i64 = 64;

/// How many occurrences of a word are kept; PostgreSQL keeps no more positions.
const MOST_OCCURRENCES: usize = 255;

/// The longest word that is kept, in bytes; PostgreSQL takes no longer ones than 2046.
const LONGEST_WORD: usize = 200;

/// How many different words of a discussion are kept, so that they fit into a row's limit of 1 MB.
const MOST_WORDS: usize = 20_000;

/// Indexes what is missing.
pub(crate) async fn update(connection: &mut Connection) -> Result<(), JobError> {
    let mut after = 0;
    loop {
        let sql = "SELECT number, id, last, topic, coalesce(synthesis, '') FROM discussions
                   WHERE unindexed AND number > $1 ORDER BY number LIMIT $2";
        let rows = connection.query(sql, &[&after, &BATCH]).await?;
        for row in &rows {
            let (number, last): (i64, i64) = (row.get(0), row.get(2));
            let said = said(connection, row.get(1)).await?;
            let words = Words::of(row.get(3), row.get(4), &said);
            write(connection, number, last, &words).await?;
            after = number;
        }
        if (rows.len() as i64) < BATCH {
            return Ok(());
        }
    }
}

/// What was said in the turns of a discussion.
async fn said(connection: &mut Connection, id: Uuid) -> Result<Vec<String>, JobError> {
    let sql = "SELECT content FROM discussion_logs WHERE project_id = $1
               AND position('\"kind\":\"turn\"' IN metadata) > 0 ORDER BY id";
    Ok(connection.query(sql, &[&id]).await?.iter().map(|row| row.get(0)).collect())
}

/// Writes the words. The mark stays if the discussion went on meanwhile.
async fn write(connection: &mut Connection, number: i64, last: i64, words: &Words) -> Result<(), JobError> {
    let sql = "WITH marked AS (
                   UPDATE discussions SET unindexed = (last <> $2) WHERE number = $1 RETURNING number
               )
               INSERT INTO search (discussion, length, words) SELECT number, $3, $4::text::tsvector FROM marked
               ON CONFLICT (discussion) DO UPDATE SET length = excluded.length, words = excluded.words";
    connection.execute(sql, &[&number, &last, &words.length, &words.vector()]).await?;
    Ok(())
}

/// How often each word occurs in the topic, in the synthesis and in the turns.
struct Words {
    length: i32,
    counts: BTreeMap<String, [usize; 3]>,
}

impl Words {
    fn of(topic: &str, synthesis: &str, said: &[String]) -> Self {
        let mut words = Words { length: 0, counts: BTreeMap::new() };
        words.add(topic, 0);
        words.add(synthesis, 1);
        said.iter().for_each(|it| words.add(it, 2));
        words
    }

    fn add(&mut self, text: &str, place: usize) {
        for word in terms(text).filter(|it| it.len() <= LONGEST_WORD) {
            self.length = self.length.saturating_add(1);
            if self.counts.len() < MOST_WORDS || self.counts.contains_key(&word) {
                self.counts.entry(word).or_default()[place] += 1;
            }
        }
    }

    /// The words as a `tsvector` is written: `'word':1A,2B,3`.
    fn vector(&self) -> String {
        let mut vector = String::new();
        for (word, counts) in &self.counts {
            let quoted = word.replace('\\', "\\\\").replace('\'', "''");
            let weights = counts
                .iter()
                .zip(["A", "B", ""])
                .flat_map(|(count, weight)| std::iter::repeat_n(weight, *count));
            let positions: Vec<String> = weights
                .take(MOST_OCCURRENCES)
                .zip(1..)
                .map(|(weight, place)| format!("{place}{weight}"))
                .collect();
            // Writing to a string can't fail.
            let _ = write!(vector, "'{quoted}':{} ", positions.join(","));
        }
        vector
    }
}

/// The query for any of these words.
pub(crate) fn any_of(words: &[String]) -> String {
    let quoted = words.iter().map(|it| format!("'{}'", it.replace('\\', "\\\\").replace('\'', "''")));
    quoted.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_their_places() {
        let words = Words::of("tabs", "tabs", &["spaces spaces".to_owned()]);
        assert_eq!((words.length, words.counts.len()), (4, 2));
        let [first, second] = [terms("spaces").next(), terms("tabs").next()].map(Option::unwrap_or_default);
        assert_eq!(words.vector(), format!("'{first}':1,2 '{second}':1A,2B "));
        assert_eq!(any_of(&["o'clock".to_owned(), "b".to_owned()]), "'o''clock' | 'b'");
    }

    #[test]
    fn a_word_that_is_said_a_thousand_times_has_255_places() {
        let words = Words::of("", "", &["ja ".repeat(1_000)]);
        assert!(words.vector().ends_with(",255 "), "{}", words.vector());
    }
}
