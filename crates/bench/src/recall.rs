//! The search for what past discussions came to, in an archive of 10,000.

use std::time::Instant;

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use quorum_core::{
    model::{
        event::Event,
        relevance::{content_words, key},
    },
    seams::{Archive, Query, Recalling, Then, Wanted},
};
use quorum_store::SqliteStore;
use quorum_testkit::conformance::store::fixture::{Writer, ending, open, said, second};

use crate::{database::Database, table::Table};

const DISCUSSIONS: usize = 10_000;

/// How many discussions are written at once.
const WRITERS: usize = 64;

/// How often each question is asked.
const TIMES: usize = 5;

/// Four participants, two rounds.
const TURNS: usize = 8;

/// How long a recall searches, question by question.
pub(crate) async fn search(database: &Database, table: &mut Table) -> Result<()> {
    let texts: Vec<&str> =
        lines(include_str!("../../quorum/tests/recall/discussions.txt")).map(|it| it.1).collect();
    let store = &*database.store;
    let writing = (0..DISCUSSIONS).map(|at| finish(store, &texts, at));
    stream::iter(writing).buffer_unordered(WRITERS).try_collect::<Vec<()>>().await?;
    let questions: Vec<&str> =
        lines(include_str!("../../quorum/tests/recall/questions.txt")).map(|it| it.1).collect();
    // The first search indexes what was written.
    store.find(query(questions[0]), best()).await?;
    let mut times = Vec::new();
    for question in questions.iter().cycle().take(questions.len() * TIMES) {
        let began = Instant::now();
        store.find(query(question), best()).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    let what = format!("recall in {DISCUSSIONS} discussions of {TURNS} turns");
    table.row(&format!("{what}, median"), format!("{:.1} ms", at(50)), "< 20 ms", at(50) < 20.0);
    table.row(&format!("{what}, 99th percentile"), format!("{:.1} ms", at(99)), "< 20 ms", at(99) < 20.0);
    Ok(())
}

/// Records a finished discussion about one of these, with parts of others in its turns.
async fn finish(store: &SqliteStore, texts: &[&str], at: usize) -> Result<()> {
    let text = |step: usize| texts[(at * 7 + step * 13 + at / 200) % texts.len()];
    let (topic, _) = text(0).split_once(" | ").context("a topic and an answer")?;
    let moment = second(at as i64 * 60);
    let id = open(store, &format!("{topic} ({at})"), moment).await;
    let mut writer = Writer::claiming(store, id, "bench").await;
    let turn = |number: usize| -> Event {
        let speech: Vec<&str> = (0..6).map(|step| text(number * 6 + step)).collect();
        said(["ann", "bob", "cyd", "dan"][number % 4], 1 + number as u32 / 4, &speech.join(" "))
    };
    let mut events: Vec<Event> = (0..TURNS).map(turn).collect();
    events.extend(ending(&[text(0), text(1), text(2), text(3), text(4)].join(" ")));
    writer.write(moment, events, Then::Done).await?;
    Ok(())
}

/// The lines of a file as a name and the rest.
fn lines(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    file.lines().filter(|it| !it.starts_with('#')).filter_map(|line| line.split_once(": "))
}

fn query(question: &str) -> Query {
    let at = second(DISCUSSIONS as i64 * 60);
    let recalling = Recalling { key: key(question), simulated: false, at, except: Vec::new() };
    Query { words: content_words(question), recalling: Some(recalling) }
}

fn best() -> Wanted {
    Wanted { limit: 3, ..Wanted::default() }
}
