//! The full-text index: the words of topics, syntheses and turns, as the program reads them.
//!
//! Discussions are only marked when they start, wait or end, and indexed at the next search or when
//! old ones are hidden, because searches are rare.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, Instant},
};

use quorum_core::{model::relevance::terms, seams::StoreError};

use crate::{
    connection::Connection,
    error::JobError,
    pool::{Pool, run, transact},
};

/// How many discussions are indexed in one transaction at most.
const SLICE: i64 = 500;

/// After how long a transaction leaves the rest to the next one, so that other jobs get the
/// connection, and appends the rows.
const LONGEST: Duration = Duration::from_millis(250);

/// How many occurrences of a word are kept; PostgreSQL keeps no more positions.
const MOST_OCCURRENCES: usize = 255;

/// The longest word that is kept, in bytes; PostgreSQL takes no longer ones than 2046.
const LONGEST_WORD: usize = 200;

/// How many different words of a discussion are kept, so that they fit into a row's limit of 1 MB.
const MOST_WORDS: usize = 20_000;

/// One process at a time; the others search what is indexed already.
const LOCK: &str =
    "SELECT pg_try_advisory_xact_lock(hashtextextended('quorum search ' || current_schema(), 0))";

/// Indexes what is missing, in slices between which other jobs get the connection.
pub(crate) async fn update(pool: &Pool) -> Result<(), StoreError> {
    let mut after = slice(pool, 0).await?;
    while let Some(number) = after {
        after = slice(pool, number).await?;
    }
    Ok(())
}

/// Indexes some of what is missing after this number. Returns where to go on, if anything is left
/// to do for this process.
pub(crate) async fn slice(pool: &Pool, after: i64) -> Result<Option<i64>, StoreError> {
    if !run!(pool, connection, is_stale(connection, after))? {
        return Ok(None);
    }
    transact!(pool, connection, index(connection, after))
}

async fn is_stale(connection: &mut Connection, after: i64) -> Result<bool, JobError> {
    let sql = "SELECT EXISTS (SELECT FROM discussions WHERE unindexed AND number > $1)";
    Ok(connection.query(sql, &[&after]).await?[0].get(0))
}

/// The rows are only locked by the last statement, because appends wait for them.
async fn index(connection: &mut Connection, after: i64) -> Result<Option<i64>, JobError> {
    if !connection.query(LOCK, &[]).await?[0].get::<_, bool>(0) {
        return Ok(None);
    }
    let began = Instant::now();
    let sql = "SELECT number FROM discussions WHERE unindexed AND number > $1 ORDER BY number LIMIT $2";
    let missing = connection.query(sql, &[&after, &SLICE]).await?;
    let mut slice = Slice::default();
    for row in &missing {
        slice.read(connection, row.get(0)).await?;
        if LONGEST < began.elapsed() {
            break;
        }
    }
    slice.write(connection).await?;
    let is_last = slice.numbers.len() == missing.len() && (missing.len() as i64) < SLICE;
    Ok(slice.numbers.last().copied().filter(|_| !is_last))
}

/// The words of some discussions, as columns.
#[derive(Default)]
struct Slice {
    numbers: Vec<i64>,
    /// The last fact of each when its words were read.
    last: Vec<i64>,
    lengths: Vec<i32>,
    words: Vec<String>,
}

impl Slice {
    async fn read(&mut self, connection: &mut Connection, number: i64) -> Result<(), JobError> {
        let sql = "SELECT last, topic, coalesce(synthesis, ''),
                       ARRAY(SELECT content FROM discussion_logs WHERE project_id = discussions.id
                             AND position('\"kind\":\"turn\"' IN metadata) > 0 ORDER BY id)
                   FROM discussions WHERE number = $1";
        if let Some(row) = connection.query_opt(sql, &[&number]).await? {
            let said: Vec<&str> = row.get(3);
            let words = Words::of(row.get(1), row.get(2), &said);
            self.numbers.push(number);
            self.last.push(row.get(0));
            self.lengths.push(words.length);
            self.words.push(words.vector());
        }
        Ok(())
    }

    /// Writes the words. The mark of a discussion that went on meanwhile stays. Rows are locked in
    /// the order in which appends lock them.
    async fn write(&self, connection: &mut Connection) -> Result<(), JobError> {
        let sql = "WITH it AS (
                       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[])
                       AS it (number, last, length, words)
                   ), held AS (
                       SELECT number FROM discussions WHERE number = ANY ($1) ORDER BY id FOR NO KEY UPDATE
                   ), marked AS (
                       UPDATE discussions d SET unindexed = (d.last <> it.last) FROM it JOIN held USING (number)
                       WHERE d.number = it.number RETURNING d.number
                   )
                   INSERT INTO search (discussion, length, words)
                   SELECT number, length, words::tsvector FROM it JOIN marked USING (number)
                   ON CONFLICT (discussion) DO UPDATE SET length = excluded.length, words = excluded.words";
        connection.execute(sql, &[&self.numbers, &self.last, &self.lengths, &self.words]).await?;
        Ok(())
    }
}

/// How often each word occurs in the topic, in the synthesis and in the turns.
struct Words {
    length: i32,
    counts: BTreeMap<String, [usize; 3]>,
}

impl Words {
    fn of(topic: &str, synthesis: &str, said: &[&str]) -> Self {
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
        let words = Words::of("tabs", "tabs", &["spaces spaces"]);
        assert_eq!((words.length, words.counts.len()), (4, 2));
        let [first, second] = [terms("spaces").next(), terms("tabs").next()].map(Option::unwrap_or_default);
        assert_eq!(words.vector(), format!("'{first}':1,2 '{second}':1A,2B "));
        assert_eq!(any_of(&["o'clock".to_owned(), "b".to_owned()]), "'o''clock' | 'b'");
    }

    #[test]
    fn a_word_that_is_said_a_thousand_times_has_255_places() {
        let words = Words::of("", "", &[&*"ja ".repeat(1_000)]);
        assert!(words.vector().ends_with(",255 "), "{}", words.vector());
    }
}
