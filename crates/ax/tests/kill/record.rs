//! What a dead process left behind, as the database has it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rusqlite::Connection;

/// A step of a discussion or of one below it.
pub(crate) type FullStep = (String, String);

/// The record at one moment.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// How many there are.
    pub(crate) facts: usize,
    /// Whether nothing more can happen.
    pub(crate) is_over: bool,
    /// Every answered step.
    pub(crate) answered: BTreeSet<FullStep>,
    /// Every group that did not wait for all, by topic and step, and whom it heard.
    pub(crate) closed: BTreeSet<[String; 3]>,
    last: BTreeMap<String, i64>,
    placed: Vec<(FullStep, i64)>,
}

/// One row of the facts.
struct Row {
    discussion: String,
    topic: String,
    seq: i64,
    kind: String,
    step: String,
    body: String,
}

const ROWS: &str =
    "SELECT discussions.id, topic, seq, type, coalesce(json_extract(body, '$.turn.step'), step, ''), body
    FROM facts JOIN discussions ON discussions.number = discussion";

impl Record {
    /// Reads the record; a process that died early left none, or one without tables.
    pub(crate) fn read(database: &Path) -> Record {
        let mut record = Record::default();
        if !database.exists() {
            return record;
        }
        let connection = Connection::open(database).unwrap();
        let is_there = |what: &str| connection.prepare(what).unwrap().exists([]).unwrap();
        if is_there("SELECT 1 FROM sqlite_master WHERE name = 'facts'") {
            record.is_over = is_there("SELECT 1 FROM discussions WHERE root = id AND run = 'over'");
            rows(&connection).into_iter().for_each(|row| record.add(row));
        }
        record
    }

    fn add(&mut self, row: Row) {
        let last = self.last.entry(row.discussion.clone()).or_default();
        *last = row.seq.max(*last);
        self.facts += 1;
        match row.kind.as_str() {
            "turn_completed" | "sub_requested" => drop(self.answered.insert((row.discussion, row.step))),
            "call_placed" => self.placed.push(((row.discussion, row.step), row.seq)),
            "group_closed" => drop(self.closed.insert([row.topic, row.step, row.body])),
            _ => {}
        }
    }

    /// The steps that were asked for without an answer, and those that were asked for twice.
    pub(crate) fn lost(&self) -> (Vec<FullStep>, Vec<FullStep>) {
        let mut seen = BTreeSet::new();
        let steps = || self.placed.iter().map(|(step, _)| step.clone());
        let unanswered = steps().filter(|step| !self.answered.contains(step)).collect();
        (unanswered, steps().filter(|step| !seen.insert(step.clone())).collect())
    }

    /// The steps for which a call was placed after that moment.
    pub(crate) fn placed_after(&self, moment: &Record) -> BTreeSet<FullStep> {
        let is_later = |discussion: &String, seq: i64| moment.last.get(discussion).is_none_or(|it| seq > *it);
        let later = self.placed.iter().filter(|((discussion, _), seq)| is_later(discussion, *seq));
        later.map(|(step, _)| step.clone()).collect()
    }
}

fn rows(connection: &Connection) -> Vec<Row> {
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Row {
            discussion: row.get(0)?,
            topic: row.get(1)?,
            seq: row.get(2)?,
            kind: row.get(3)?,
            step: row.get(4)?,
            body: row.get(5)?,
        })
    };
    connection.prepare(ROWS).unwrap().query_map([], row).unwrap().map(Result::unwrap).collect()
}
