//! The full-text index: the words of topics, syntheses and turns, as the program reads them.
//!
//! Discussions are only marked when they start, wait or end. They are indexed in the background by
//! servers, at the next search, and when old ones are hidden.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, Instant},
};

use quorum_core::{model::relevance::terms, seams::StoreError};
use tokio_postgres::error::SqlState;

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

/// After how long an update leaves the rest to the next one, so that a search doesn't wait for
/// everything that was moved here, for instance.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How many occurrences of a word are kept; PostgreSQL keeps no more positions.
const MOST_OCCURRENCES: usize = 255;

/// The longest word that is kept, in bytes; PostgreSQL takes no longer ones than 2046.
const LONGEST_WORD: usize = 200;

/// How many bytes the words of a discussion may take: PostgreSQL refuses more than 1,048,575.
const MOST_BYTES: usize = 900_000;

/// What a word takes at most besides its letters and its positions.
const WORD_BYTES: usize = 4;

/// What a position takes.
const POSITION_BYTES: usize = 2;

/// One process at a time; the others search what is indexed already.
const LOCK: &str =
    "SELECT pg_try_advisory_xact_lock(hashtextextended('quorum search ' || current_schema(), 0))";

/// The same lock for the removal of discussions, which waits for it: otherwise words could be
/// written for a discussion that is being removed.
const WAIT: &str = "SELECT pg_advisory_xact_lock(hashtextextended('quorum search ' || current_schema(), 0))";

/// Indexes what is missing, in slices between which other jobs get the connection, for a second at
/// most.
pub(crate) async fn update(pool: &Pool) -> Result<(), StoreError> {
    let began = Instant::now();
    let mut after = slice(pool, 0).await?;
    while let Some(number) = after.filter(|_| began.elapsed() < AT_ONCE) {
        after = slice(pool, number).await?;
    }
    Ok(())
}

/// The same for a job that can be done all the same if it fails: what was indexed before is found.
pub(crate) async fn try_to_update(pool: &Pool) {
    if let Err(error) = update(pool).await {
        tracing::warn!(%error, "the search index can't be updated");
    }
}

/// Keeps others from indexing until the transaction ends.
pub(crate) async fn lock(connection: &mut Connection) -> Result<(), JobError> {
    connection.query(WAIT, &[]).await.map(drop)
}

/// Indexes some of what is missing after this number. Returns where to go on, if anything is left
/// to do for this process.
async fn slice(pool: &Pool, after: i64) -> Result<Option<i64>, StoreError> {
    if !run!(pool, connection, is_stale(connection, after))? {
        return Ok(None);
    }
    transact!(pool, connection, index(connection, after))
}

async fn is_stale(connection: &mut Connection, after: i64) -> Result<bool, JobError> {
    let sql = "SELECT EXISTS (SELECT FROM discussions WHERE unindexed AND number > $1)";
    Ok(connection.query(sql, &[&after]).await?[0].get(0))
}

/// Indexes a slice. If that fails, each discussion is tried alone, so that one that can't be
/// indexed keeps no other from it.
async fn index(connection: &mut Connection, after: i64) -> Result<Option<i64>, JobError> {
    if !connection.query(LOCK, &[]).await?[0].get::<_, bool>(0) {
        return Ok(None);
    }
    let sql = "SELECT number FROM discussions WHERE unindexed AND number > $1 ORDER BY number LIMIT $2";
    let missing = connection.query(sql, &[&after, &SLICE]).await?;
    let missing: Vec<i64> = missing.iter().map(|row| row.get(0)).collect();
    connection.batch("SAVEPOINT slice").await?;
    let done = match index_together(connection, &missing).await {
        Err(error) if error.is_of_the_job() => {
            connection.batch("ROLLBACK TO slice").await?;
            index_each(connection, &missing).await?
        }
        done => done?,
    };
    let is_last = done == missing.len() && (missing.len() as i64) < SLICE;
    Ok(missing[..done].last().copied().filter(|_| !is_last))
}

/// Indexes the first of these in two statements, and returns how many.
async fn index_together(connection: &mut Connection, missing: &[i64]) -> Result<usize, JobError> {
    let began = Instant::now();
    let (mut slice, mut done) = (Slice::default(), 0);
    for number in missing {
        slice.read(connection, *number).await?;
        done += 1;
        if LONGEST < began.elapsed() {
            break;
        }
    }
    slice.write(connection).await?;
    Ok(done)
}

/// Indexes the first of these one by one, and returns how many. One that can't be indexed is marked
/// as if it had no words, so that it isn't tried again until something more is said in it.
async fn index_each(connection: &mut Connection, missing: &[i64]) -> Result<usize, JobError> {
    let began = Instant::now();
    let mut done = 0;
    for number in missing {
        connection.batch("SAVEPOINT one").await?;
        match index_together(connection, &[*number]).await {
            Err(error) if error.is_of_the_job() => {
                connection.batch("ROLLBACK TO one").await?;
                let code = error.code().map(SqlState::code);
                tracing::warn!(number, code, "a discussion can't be indexed, so no search finds its words");
                connection.execute(WITHOUT_WORDS, &[number]).await?;
            }
            indexed => drop(indexed?),
        }
        connection.batch("RELEASE one").await?;
        done += 1;
        if LONGEST < began.elapsed() {
            break;
        }
    }
    Ok(done)
}

/// Marks a discussion as indexed without any words.
const WITHOUT_WORDS: &str = "WITH empty AS (
        INSERT INTO search (discussion, length, words) VALUES ($1, 0, '')
        ON CONFLICT (discussion) DO UPDATE SET length = excluded.length, words = excluded.words
    ), free AS (
        SELECT number FROM discussions WHERE number = $1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE discussions SET unindexed = false WHERE number IN (SELECT number FROM free)";

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

    /// Writes the words, and then the marks, because an append waits while the row of its
    /// discussion is locked. The mark of a discussion that went on meanwhile stays, and so does
    /// that of one that another transaction has locked.
    async fn write(&self, connection: &mut Connection) -> Result<(), JobError> {
        let sql = "INSERT INTO search (discussion, length, words)
                   SELECT number, length, words::tsvector
                   FROM unnest($1::bigint[], $2::int[], $3::text[]) AS it (number, length, words)
                   ON CONFLICT (discussion) DO UPDATE SET length = excluded.length, words = excluded.words";
        connection.execute(sql, &[&self.numbers, &self.lengths, &self.words]).await?;
        let sql = "WITH free AS (
                       SELECT number FROM discussions WHERE number = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED
                   )
                   UPDATE discussions d SET unindexed = (d.last <> it.last)
                   FROM unnest($1::bigint[], $2::bigint[]) AS it (number, last) JOIN free USING (number)
                   WHERE d.number = it.number";
        connection.execute(sql, &[&self.numbers, &self.last]).await?;
        Ok(())
    }
}

/// How often each word occurs in the topic, in the synthesis and in the turns.
struct Words {
    length: i32,
    counts: BTreeMap<String, [usize; 3]>,
    /// At most how many bytes they take.
    bytes: usize,
}

impl Words {
    fn of(topic: &str, synthesis: &str, said: &[&str]) -> Self {
        let mut words = Words { length: 0, counts: BTreeMap::new(), bytes: 0 };
        words.add(topic, 0);
        words.add(synthesis, 1);
        said.iter().for_each(|it| words.add(it, 2));
        words
    }

    fn add(&mut self, text: &str, place: usize) {
        for word in terms(text).filter(|it| it.len() <= LONGEST_WORD) {
            self.length = self.length.saturating_add(1);
            let known = self.counts.get(&word).map(|counts| counts.iter().sum::<usize>());
            let bytes = match known {
                None => word.len() + WORD_BYTES + POSITION_BYTES,
                Some(MOST_OCCURRENCES..) => 0,
                Some(_) => POSITION_BYTES,
            };
            if self.bytes + bytes <= MOST_BYTES {
                self.bytes += bytes;
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
    fn the_words_of_a_long_text_fit_into_a_row() {
        let words = |count: usize| (0..count).map(|it| format!("{it:0>180} ")).collect::<String>();
        let few = Words::of(&words(10), "", &[]);
        assert_eq!((few.length, few.counts.len(), few.bytes), (10, 10, 1_860));
        let many = Words::of("topic", "", &[&words(10_000), "topic"]);
        assert_eq!((many.length, many.counts.len(), many.bytes), (10_002, 4_839, 899_881));
        assert_eq!(
            many.counts.values().filter(|it| **it == [1, 0, 1]).count(),
            1,
            "what fits is still counted"
        );
    }

    #[test]
    fn a_word_that_is_said_a_thousand_times_has_255_places() {
        let words = Words::of("", "", &[&*"ja ".repeat(1_000)]);
        assert!(words.vector().ends_with(",255 "), "{}", words.vector());
    }
}
