//! Checks a database: the rules of its tables, and whether what is kept beside the facts follows
//! from them.

use std::collections::BTreeSet;

use quorum_core::{
    model::{
        event::{Event, Fact},
        id::{Seq, Step},
        list_status::{ListStatus, synthesis},
        relevance::key,
        seed_rows::{self, Seats, StateUpdate, stored_role},
        time::{Timestamp, iso},
    },
    seams::{
        StoreError,
        transfer::{Bundle, Bundles, FACTS, Flaw, LOGS, PARTICIPANTS, Row, Rule, STATES, Table, Totals},
    },
};

use super::Database;

/// How many discussions are read at once.
const PAGE: usize = 64;

/// How many examples of a broken rule are kept.
const EXAMPLES: usize = 10;

/// Of how many discussions everything is derived from the facts again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// So many, spread evenly.
    Of(u64),
    /// All.
    All,
}

/// The findings of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sound {
    /// How much there is.
    pub totals: Totals,
    /// Of how many discussions everything was derived again.
    pub sampled: u64,
    /// The rules that are broken.
    pub flaws: Vec<Flaw>,
}

/// Checks a database, also while it is used.
pub async fn check(database: &Database, sample: Sample) -> Result<Sound, StoreError> {
    let store = &database.store;
    let (totals, mut flaws) = (store.totals().await?, store.flaws().await?);
    let (mut sampled, mut examples) = (0, Vec::new());
    let mut number = 0;
    loop {
        let (page, step) = match sample {
            Sample::All => (PAGE, 0),
            Sample::Of(count) => (1, totals.last / count.max(1)),
        };
        let bundles = store.bundles(Bundles::After(number, page)).await?;
        let Some(last) = bundles.last() else { break };
        number = last.number.max(number + step);
        sampled += bundles.len() as u64;
        let wrong = bundles.iter().filter_map(|it| Some(format!("{}: {}", it.id, difference(it)?)));
        examples.extend(wrong.take(EXAMPLES - examples.len().min(EXAMPLES)));
    }
    if !examples.is_empty() {
        flaws.push(Flaw { rule: Rule::Projections, examples });
    }
    Ok(Sound { totals, sampled, flaws })
}

/// The first thing of a discussion that doesn't follow from its facts.
fn difference(bundle: &Bundle) -> Option<String> {
    let facts = match facts(bundle) {
        Ok(facts) => facts,
        Err(wrong) => return Some(wrong),
    };
    let Some(Event::Opened { spec, lineage, .. }) = facts.first().map(|it| &it.event) else {
        return Some("the first fact doesn't open it".to_owned());
    };
    let list = ListStatus::OPENED.after(&facts);
    let root = lineage.as_ref().map_or(bundle.id, |it| it.root);
    let flag = |it: bool| if it { "1" } else { "0" }.to_owned();
    let expected = [
        ("root", Some(root.to_string())),
        ("tenant", Some(spec.tenant.name().to_owned())),
        ("pattern", Some(spec.pattern.clone())),
        ("topic", Some(spec.topic.clone())),
        ("key", Some(key(&spec.topic))),
        ("simulated", Some(flag(spec.simulation.is_some()))),
        ("opened_at", facts.first().map(|it| it.at.0.to_string())),
        ("status", Some(list.status.name().to_owned())),
        ("success", list.success.map(flag)),
        ("ended_at", list.ended_at.map(|it| it.0.to_string())),
        ("synthesis", synthesis(&facts).map(str::to_owned)),
    ];
    let differs =
        |(name, expected): &(&str, Option<String>)| !is_same(bundle.column(name), expected.as_deref());
    if let Some((name, _)) = expected.iter().find(|it| differs(it)) {
        return Some(format!("`{name}` doesn't follow from its facts"));
    }
    if list.is_over() != (bundle.column("run") == Some("over")) && list.is_over() {
        return Some("it has ended, and can still be run".to_owned());
    }
    let seats = Seats::of(&facts[0].event);
    table_difference(bundle, &facts, &seats)
}

fn facts(bundle: &Bundle) -> Result<Vec<Fact>, String> {
    bundle.rows(&FACTS).iter().map(fact).collect()
}

fn fact(row: &Row) -> Result<Fact, String> {
    let cell = |name: &str| FACTS.place(name).and_then(|it| row.get(it)?.as_deref());
    let number = |name: &str| cell(name).and_then(|it| it.parse::<i64>().ok()).unwrap_or_default();
    let seq = Seq(number("seq").unsigned_abs());
    let event = serde_json::from_str(cell("body").unwrap_or_default())
        .map_err(|error| format!("fact {seq} can't be read ({error})"))?;
    let (at, active_ms) = (Timestamp(number("at")), number("active_ms").unsigned_abs());
    Ok(Fact { seq, at, active_ms, step: cell("step").map(Step::from), event })
}

/// A text as every store can hold it: PostgreSQL has no NUL.
fn is_same(one: Option<&str>, other: Option<&str>) -> bool {
    let plain = |it: Option<&str>| it.map(|it| it.replace('\0', "\u{fffd}"));
    one == other || plain(one) == plain(other)
}

/// The first of the three tables of requirement C that doesn't follow from the facts.
fn table_difference(bundle: &Bundle, facts: &[Fact], seats: &Seats) -> Option<String> {
    let rows = |table: &Table, columns: &[&str]| -> BTreeSet<Vec<String>> {
        let places: Vec<usize> = columns.iter().filter_map(|it| table.place(it)).collect();
        let cell = |row: &Row, place: &usize| row.get(*place).cloned().flatten().unwrap_or_default();
        bundle.rows(table).iter().map(|row| places.iter().map(|it| cell(row, it)).collect()).collect()
    };
    let wrong = |table: &Table| format!("`{}` doesn't follow from its facts", table.name);
    let logs = facts.iter().filter_map(|it| seed_rows::log(bundle.id, it, seats)).map(|log| {
        let agent = log.agent.unwrap_or_default().replace('\0', "\u{fffd}");
        vec![log.id, agent, log.turn_index.to_string(), log.round.to_string(), iso(log.at)]
    });
    let written: BTreeSet<Vec<String>> =
        rows(&LOGS, &["id", "agent_id", "turn_index", "round_number", "created_at"])
            .into_iter()
            .map(|mut row| {
                row[1] = row[1].replace('\0', "\u{fffd}");
                row
            })
            .collect();
    if written != logs.collect() {
        return Some(wrong(&LOGS));
    }
    let seated = seats.0.iter().enumerate().map(|(place, seat)| {
        let id = bundle.id.derived(&format!("participant/{place}")).to_string();
        vec![id, stored_role(&seat.role).to_owned(), place.to_string()]
    });
    if rows(&PARTICIPANTS, &["id", "role", "sequence_order"]) != seated.collect() {
        return Some(wrong(&PARTICIPANTS));
    }
    let StateUpdate { turn_index, round, status } = StateUpdate::of(facts, seats);
    let state = vec![
        bundle.id.derived("state").to_string(),
        turn_index.unwrap_or_default().to_string(),
        round.unwrap_or_default().to_string(),
        status.unwrap_or("active").to_owned(),
    ];
    let written = rows(&STATES, &["id", "current_turn_index", "current_round", "status"]);
    (written != BTreeSet::from([state])).then(|| wrong(&STATES))
}
