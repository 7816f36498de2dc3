//! The record that a killed process left in the database.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use rusqlite::Connection;

/// A step of a discussion or of a sub-discussion.
pub(crate) type FullStep = (String, String);

/// The record at one moment.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// The number of facts.
    pub(crate) facts: usize,
    /// Whether the discussion is over.
    pub(crate) is_over: bool,
    /// Every answered step.
    pub(crate) answered: BTreeSet<FullStep>,
    /// Every group closed early, by topic and step, and the participants whose answers it took.
    pub(crate) closed: BTreeSet<[String; 3]>,
    last: BTreeMap<String, i64>,
    placed: Vec<(FullStep, i64)>,
}

/// A row of the table of facts.
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
    /// Reads the record. A process killed early left none, or one without tables.
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

    /// The number of facts alone, which is cheap enough to be asked for all the time.
    pub(crate) fn count(database: &Path) -> usize {
        if !database.exists() {
            return 0;
        }
        let connection = Connection::open(database).unwrap();
        // Without the table there are none.
        let counted = connection.query_row("SELECT count(*) FROM facts", [], |row| row.get::<_, i64>(0));
        counted.map_or(0, |it| it as usize)
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

    /// The steps asked for without an answer, and those asked for twice.
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
