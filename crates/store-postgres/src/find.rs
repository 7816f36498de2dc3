//! Finds discussions by the words of a question, most relevant first (INV-DISC-631).
//!
//! The index says which discussions have a word, and how often; what that means is decided by
//! `quorum_core::model::relevance`, as in every store.

use std::collections::HashMap;

use quorum_core::{
    model::{
        relevance::{self, Corpus, Match, Rules, WEIGHTS, Weighted, ranked},
        time::Timestamp,
    },
    seams::{Found, Query, Wanted},
};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::{archive::by_numbers, batch::text, connection::Connection, error::JobError, search::any_of};

/// Discussions that match the query, most relevant first.
pub(crate) async fn find(
    connection: &mut Connection,
    query: &Query,
    wanted: &Wanted,
) -> Result<Vec<Found>, JobError> {
    let candidates = Candidates::of(query, wanted);
    let (documents, average) = candidates.measure(connection).await?;
    let found = candidates.matching(connection, query).await?;
    let (kept, matches) = matches(&found, query, documents, average);
    let rules = Rules { words: kept, recalled_at: query.recalling.as_ref().map(|it| it.at) };
    let most = if wanted.limit == 0 { usize::MAX } else { wanted.limit };
    let best: Vec<(i64, f64)> = ranked(matches, rules).into_iter().take(most).collect();
    let numbers: Vec<i64> = best.iter().map(|it| it.0).collect();
    let summaries = by_numbers(connection, &numbers).await?;
    Ok(summaries.into_iter().zip(best).map(|(summary, (_, score))| Found { summary, score }).collect())
}

/// The condition under which a discussion may be found, with its parameters.
struct Candidates {
    condition: String,
    tenant: Option<String>,
    session: Option<Uuid>,
    simulated: Option<bool>,
    except: Vec<Uuid>,
}

impl Candidates {
    fn of(query: &Query, wanted: &Wanted) -> Self {
        let recalling = query.recalling.as_ref();
        // A condition that is left out lets the planner use an index for the others.
        let tenant = if wanted.tenant.is_some() { "tenant = $1::text" } else { "$1::text IS NULL" };
        let session = if wanted.session.is_some() { "session = $2::uuid" } else { "$2::uuid IS NULL" };
        let kind = match recalling {
            Some(_) => "simulated = $3::boolean AND success",
            None => "$3::boolean IS NULL",
        };
        Candidates {
            condition: format!(
                "root = id AND hidden_at IS NULL AND {tenant} AND {session} AND {kind} AND id <> ALL ($4::uuid[])"
            ),
            tenant: wanted.tenant.as_ref().map(|it| text(it.name()).into_owned()),
            session: wanted.session,
            simulated: recalling.map(|it| it.simulated),
            except: recalling
                .map(|it| it.except.iter().map(|id| Uuid::from(*id)).collect())
                .unwrap_or_default(),
        }
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![&self.tenant, &self.session, &self.simulated, &self.except]
    }

    /// How many there are, and how many words they have on average.
    async fn measure(&self, connection: &mut Connection) -> Result<(usize, f64), JobError> {
        let sql = format!(
            "SELECT count(*), coalesce(avg(length), 0)::float8 FROM discussions LEFT JOIN search ON discussion = number
             WHERE {}",
            self.condition
        );
        let row = connection.query(&sql, &self.parameters()).await?.remove(0);
        Ok((row.get::<_, i64>(0) as usize, row.get(1)))
    }

    /// Those that have any of the words, or the same topic.
    async fn matching(&self, connection: &mut Connection, query: &Query) -> Result<Vec<Document>, JobError> {
        let sql = format!(
            "SELECT number, coalesce(ended_at, opened_at), coalesce(key = $5::text, false), coalesce(length, 0),
                 lexeme, coalesce(cardinality(array_positions(weights, 'A')), 0),
                 coalesce(cardinality(array_positions(weights, 'B')), 0), coalesce(cardinality(weights), 0)
             FROM discussions LEFT JOIN search ON discussion = number
             LEFT JOIN LATERAL unnest(words) AS it ON lexeme = ANY ($7::text[])
             WHERE {} AND (words @@ $6::text::tsquery OR key = $5::text)
             ORDER BY number DESC",
            self.condition
        );
        let key = query.recalling.as_ref().map(|it| it.key.as_str());
        let any = any_of(&query.words);
        let mut parameters = self.parameters();
        parameters.extend([&key as &(dyn ToSql + Sync), &any, &query.words]);
        let mut documents: Vec<Document> = Vec::new();
        for row in connection.query(&sql, &parameters).await? {
            let number = row.get(0);
            if documents.last().is_none_or(|it| it.number != number) {
                let (ended_at, same_topic) = (Timestamp(row.get(1)), row.get(2));
                let length = row.get::<_, i32>(3).into();
                documents.push(Document { number, ended_at, same_topic, length, counts: HashMap::new() });
            }
            let lexeme: Option<String> = row.get(4);
            if let Some((word, document)) = lexeme.zip(documents.last_mut()) {
                let (topic, synthesis, all): (i32, i32, i32) = (row.get(5), row.get(6), row.get(7));
                document.counts.insert(word, [topic, synthesis, all - topic - synthesis]);
            }
        }
        Ok(documents)
    }
}

/// A discussion that has a word of the question, or its topic.
struct Document {
    number: i64,
    ended_at: Timestamp,
    same_topic: bool,
    length: f64,
    /// How often it has each word in the topic, in the synthesis and in the turns.
    counts: HashMap<String, [i32; 3]>,
}

impl Document {
    /// Whether it has a word where it counts: in any place, or only in topic and answer.
    fn has(&self, word: &str, is_recalling: bool) -> bool {
        let places = if is_recalling { 2 } else { 3 };
        self.counts.get(word).is_some_and(|counts| counts[..places].iter().any(|it| 0 < *it))
    }

    fn weighted(&self, words: &[&String]) -> Weighted {
        let weight = |word: &&String| {
            let counts = self.counts.get(*word).copied().unwrap_or_default();
            counts.iter().zip(WEIGHTS).map(|(count, weight)| f64::from(*count) * weight).sum()
        };
        Weighted { length: self.length, words: words.iter().map(weight).collect() }
    }
}

/// How many words of the question say something here, and the documents that have any of them.
fn matches(found: &[Document], query: &Query, documents: usize, average: f64) -> (usize, Vec<Match<i64>>) {
    let is_recalling = query.recalling.is_some();
    let having = |word: &String| found.iter().filter(|it| it.has(word, is_recalling)).count();
    let counts: Vec<usize> = query.words.iter().map(having).collect();
    let are_looked_up = relevance::looked_up(&counts, documents);
    let kept: Vec<&String> = query.words.iter().zip(are_looked_up).filter(|it| it.1).map(|it| it.0).collect();
    let weighted: Vec<Weighted> = found.iter().map(|it| it.weighted(&kept)).collect();
    let with_word = |place| weighted.iter().filter(|it| it.words[place] > 0.0).count() as f64;
    let with_word = (0..kept.len()).map(with_word).collect();
    let corpus = Corpus { documents: documents as f64, average, with_word };
    let matches = found.iter().zip(&weighted).filter_map(|(it, weighted)| {
        let words = kept.iter().filter(|word| it.has(word, is_recalling)).count();
        let relevance = corpus.relevance(weighted);
        let Document { number, ended_at, same_topic, .. } = *it;
        (same_topic || 0 < words).then_some(Match { of: number, words, relevance, same_topic, ended_at })
    });
    (kept.len(), matches.collect())
}
