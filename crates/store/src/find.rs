//! Finds discussions by the words of a question, most relevant first (INV-DISC-631).
//!
//! The index says which discussions have a word, and how relevant they are; what that means is
//! decided by `quorum_core::model::relevance`, as in every store.

use std::collections::HashMap;

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        relevance::{self, Match, Rules, WEIGHTS, ranked},
        time::Timestamp,
    },
    seams::{Found, Query, Recalling, Summary, Wanted},
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    archive::{SUMMARY, limit, summary},
    error::JobError,
    search,
};

/// The discussions that may be found, by number, with the time that counts for their age.
type Candidates = HashMap<i64, Timestamp>;

/// Discussions that match the query, most relevant first.
pub(crate) fn find(connection: &Connection, query: &Query, wanted: &Wanted) -> Result<Vec<Found>, JobError> {
    let candidates = candidates(connection, query.recalling.as_ref(), wanted)?;
    let same_topic = same_topic(connection, query.recalling.as_ref(), &candidates)?;
    let (words, counts) = looked_up(connection, query, &candidates)?;
    let mut matches: HashMap<i64, Match<i64>> = HashMap::new();
    for number in counts.keys().chain(&same_topic) {
        let found = Match {
            of: *number,
            words: counts.get(number).copied().unwrap_or_default(),
            relevance: 0.0,
            same_topic: same_topic.contains(number),
            ended_at: candidates.get(number).copied().unwrap_or_default(),
        };
        matches.insert(*number, found);
    }
    weigh(connection, &words.looked_up, &mut matches)?;
    let rules = Rules { words: words.content, recalled_at: query.recalling.as_ref().map(|it| it.at) };
    let mut matches: Vec<Match<i64>> = matches.into_values().collect();
    // Newer discussions have higher numbers; this decides where everything else is equal.
    matches.sort_by_key(|it| std::cmp::Reverse(it.of));
    let most = usize::try_from(limit(wanted)).unwrap_or(usize::MAX);
    let found = ranked(matches, rules).into_iter().take(most);
    found.map(|(number, score)| Ok(Found { summary: by_number(connection, number)?, score })).collect()
}

/// The same in a read-only database, whose index can't be updated: matches that the index doesn't
/// have follow those it has, newest first.
pub(crate) fn find_read_only(
    connection: &Connection,
    query: &Query,
    wanted: &Wanted,
) -> Result<Vec<Found>, JobError> {
    let mut found = find(connection, query, wanted)?;
    // A discussion that continued after it was indexed is found in both ways.
    let further = find_unindexed(connection, query, wanted)?;
    found.retain(|it| further.iter().all(|other| other.summary.id != it.summary.id));
    found.extend(further);
    found.truncate(usize::try_from(limit(wanted)).unwrap_or(usize::MAX));
    Ok(found)
}

/// Reads the texts of unindexed discussions. Their relevance can't be compared with that of others.
fn find_unindexed(connection: &Connection, query: &Query, wanted: &Wanted) -> Result<Vec<Found>, JobError> {
    let mut found = Vec::new();
    for number in candidates(connection, query.recalling.as_ref(), wanted)?.into_keys() {
        let texts = search::unindexed_texts(connection, number)?;
        let Some(texts) = texts else { continue };
        let matched_in = if query.recalling.is_some() { &texts[..2] } else { &texts[..] };
        let has = |word: &&String| matched_in.iter().any(|text| text.split(' ').any(|it| it == *word));
        let words = query.words.iter().filter(has).count();
        let (same_topic, ended_at) = (false, Timestamp::default());
        let rules = Rules { words: query.words.len(), recalled_at: None };
        let alone = vec![Match { of: number, words, relevance: 0.0, same_topic, ended_at }];
        found.extend(ranked(alone, rules).into_iter().map(|it| it.0));
    }
    let found = found.into_iter().map(|number| by_number(connection, number));
    let mut found: Vec<Found> =
        found.map(|it| it.map(|summary| Found { summary, score: 0.0 })).collect::<Result<_, _>>()?;
    found.sort_by_key(|it| std::cmp::Reverse((it.summary.opened_at, it.summary.id)));
    Ok(found)
}

fn candidates(
    connection: &Connection,
    recalling: Option<&Recalling>,
    wanted: &Wanted,
) -> Result<Candidates, JobError> {
    // Bound parameters in the place of these would keep SQLite from using the index.
    let tenant = if wanted.tenant.is_some() { "tenant = ?1" } else { "?1 IS NULL" };
    let session = if wanted.session.is_some() { "session = ?2" } else { "?2 IS NULL" };
    let kind = if recalling.is_some() { "simulated = ?3 AND success = 1" } else { "?3 IS NULL" };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT number, ifnull(ended_at, opened_at) FROM discussions
         WHERE root = id AND hidden_at IS NULL AND {tenant} AND {session} AND {kind}"
    ))?;
    let (tenant, session) =
        (wanted.tenant.as_ref().map(Tenant::name), wanted.session.map(|it| it.to_string()));
    let simulated = recalling.map(|it| it.simulated);
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Timestamp(row.get(1)?)));
    let mut found: Candidates =
        statement.query_map(params![tenant, session, simulated], row)?.collect::<Result<_, _>>()?;
    for id in recalling.iter().flat_map(|it| &it.except) {
        let number = number_of(connection, *id)?;
        number.map(|it| found.remove(&it));
    }
    Ok(found)
}

fn number_of(connection: &Connection, id: DiscussionId) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT number FROM discussions WHERE id = ?1")?;
    statement.query_row([id.to_string()], |row| row.get(0)).optional()
}

fn same_topic(
    connection: &Connection,
    recalling: Option<&Recalling>,
    candidates: &Candidates,
) -> Result<Vec<i64>, JobError> {
    let Some(Recalling { key, .. }) = recalling else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached("SELECT number FROM discussions WHERE key = ?1")?;
    let mut found: Vec<i64> = statement.query_map([key], |row| row.get(0))?.collect::<Result<_, _>>()?;
    found.retain(|number| candidates.contains_key(number));
    Ok(found)
}

/// The words of a question.
struct Words {
    /// How many say what it is about.
    content: usize,
    /// Those that some discussion has.
    looked_up: Vec<String>,
}

/// The words of the question that say something here, and how many of them each candidate has.
fn looked_up(
    connection: &Connection,
    query: &Query,
    candidates: &Candidates,
) -> Result<(Words, HashMap<i64, usize>), JobError> {
    let columns = if query.recalling.is_some() { "{topic synthesis} : " } else { "" };
    let mut statement = connection.prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1")?;
    let mut having: Vec<Vec<i64>> = Vec::new();
    for word in &query.words {
        let rows = statement.query_map([format!("{columns}\"{word}\"")], |row| row.get(0))?;
        let mut with_it: Vec<i64> = rows.collect::<Result<_, _>>()?;
        with_it.retain(|number| candidates.contains_key(number));
        having.push(with_it);
    }
    let numbers: Vec<usize> = having.iter().map(Vec::len).collect();
    let are_looked_up = relevance::looked_up(&numbers, candidates.len());
    let mut words = Words { content: 0, looked_up: Vec::new() };
    let mut counts: HashMap<i64, usize> = HashMap::new();
    let kept = query.words.iter().zip(having).zip(are_looked_up).filter(|it| it.1);
    for ((word, with_it), _) in kept {
        words.content += 1;
        if !with_it.is_empty() {
            words.looked_up.push(word.clone());
        }
        with_it.into_iter().for_each(|number| *counts.entry(number).or_default() += 1);
    }
    Ok((words, counts))
}

/// Sets the relevance of every match.
fn weigh(
    connection: &Connection,
    words: &[String],
    matches: &mut HashMap<i64, Match<i64>>,
) -> Result<(), JobError> {
    if words.is_empty() || matches.is_empty() {
        return Ok(());
    }
    let [topic, synthesis, talk] = WEIGHTS;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT rowid, -bm25(search, {topic:?}, {synthesis:?}, {talk:?}) FROM search WHERE search MATCH ?1"
    ))?;
    let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let rows = statement.query_map([any.join(" OR ")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rows {
        let (number, relevance): (i64, f64) = row?;
        if let Some(found) = matches.get_mut(&number) {
            found.relevance = relevance;
        }
    }
    Ok(())
}

fn by_number(connection: &Connection, number: i64) -> Result<Summary, JobError> {
    let sql = format!("SELECT {SUMMARY} FROM discussions WHERE number = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([number], summary)?)
}

/// Discussions of the same tenant that hold a copy of this one's answer, newest first.
pub(crate) fn copies(connection: &Connection, of: DiscussionId) -> Result<Vec<Summary>, JobError> {
    let Some(number) = number_of(connection, of)? else {
        return Err(quorum_core::seams::StoreError::Unknown(of).into());
    };
    // Only opening facts that have the id somewhere are parsed.
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM discussions JOIN facts ON facts.discussion = discussions.number AND seq = 1
         WHERE root = id AND tenant = (SELECT tenant FROM discussions WHERE number = ?1)
         AND instr(body, ?2) > 0 AND json_type(body, '$.spec.recalled') = 'array'
         AND EXISTS (SELECT 1 FROM json_each(body, '$.spec.recalled') WHERE value ->> '$.id' = ?2)
         ORDER BY opened_at DESC, id DESC"
    ))?;
    let rows = statement.query_map(params![number, of.to_string()], summary)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
