//! Reads and writes whole discussions as rows of text, to move them from and to another store.

use std::collections::HashMap;

use quorum_core::seams::transfer::{
    BELONGINGS, Bundle, Bundles, DISCUSSIONS, Kind, Mark, Page, Row, Table, Totals,
};
use rusqlite::{Connection, OptionalExtension, params_from_iter, types::Value};
use uuid::Uuid;

use crate::{cache::parsed, error::JobError, write_context::WriteContext};

/// A column as text.
fn read_as(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Text | Kind::Id | Kind::List => name.to_owned(),
        Kind::Whole | Kind::Flag => format!("CAST({name} AS TEXT)"),
    }
}

/// The columns of the table `t` as text.
fn columns(table: &Table) -> String {
    let shown = |name: &str, kind| read_as(&format!("t.{name}"), kind);
    table.columns.iter().map(|it| shown(it.name, it.kind)).collect::<Vec<_>>().join(", ")
}

fn names(table: &Table) -> String {
    table.columns.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

fn order(table: &Table) -> String {
    table.order.split(", ").map(|it| format!("t.{it}")).collect::<Vec<_>>().join(", ")
}

/// The table under its name here.
fn name_of(table: &Table) -> &'static str {
    if table.name == "audit" { "deeds" } else { table.name }
}

/// The id of this store, which is made when it is asked for the first time.
pub(crate) fn identity(context: &mut WriteContext) -> Result<Uuid, JobError> {
    let found = context.connection.query_row("SELECT store FROM identity", [], |row| row.get::<_, String>(0));
    if let Some(id) = found.optional()?.and_then(|it| it.parse().ok()) {
        return Ok(id);
    }
    let id = Uuid::new_v4();
    context.connection.execute("INSERT INTO identity (store) VALUES (?1)", [id.to_string()])?;
    Ok(id)
}

/// How much there is.
pub(crate) fn totals(connection: &Connection) -> Result<Totals, JobError> {
    let sql = "SELECT (SELECT count(*) FROM discussions), (SELECT count(*) FROM facts),
               (SELECT count(*) FROM discussions WHERE run <> 'over'),
               ifnull((SELECT max(number) FROM discussions), 0)";
    let totals = |row: &rusqlite::Row<'_>| {
        let count = |column| row.get::<_, i64>(column).map(|it| it as u64);
        Ok(Totals { discussions: count(0)?, facts: count(1)?, unfinished: count(2)?, last: count(3)? })
    };
    Ok(connection.query_row(sql, [], totals)?)
}

/// Reads discussions in the order of their numbers.
pub(crate) fn bundles(connection: &Connection, wanted: &Bundles) -> Result<Vec<Bundle>, JobError> {
    let (condition, limit, values) = match wanted {
        Bundles::After(number, limit) => {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            ("t.number > ?".to_owned(), *limit, vec![Value::Integer(number)])
        }
        Bundles::Of(ids) => {
            let ids = ids.iter().map(|it| Value::Text(it.to_string()));
            (format!("t.id IN ({})", places(ids.len())), usize::MAX, ids.collect())
        }
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT t.number, t.id, {} FROM discussions AS t WHERE {condition} ORDER BY t.number LIMIT {limit}",
        columns(&DISCUSSIONS)
    );
    let mut statement = connection.prepare(&sql)?;
    let bundle = |row: &rusqlite::Row<'_>| {
        let number = row.get::<_, i64>(0)? as u64;
        let belongings = vec![Vec::new(); BELONGINGS.len()];
        Ok(Bundle { number, id: parsed(row, 1)?, discussion: cells(row, 2, &DISCUSSIONS)?, belongings })
    };
    let mut bundles: Vec<Bundle> =
        statement.query_map(params_from_iter(values), bundle)?.collect::<Result<_, _>>()?;
    for (place, table) in BELONGINGS.iter().enumerate() {
        add_belongings(connection, &mut bundles, place, table)?;
    }
    Ok(bundles)
}

/// Reads the rows of one table that belong to these discussions.
fn add_belongings(
    connection: &Connection,
    bundles: &mut [Bundle],
    place: usize,
    table: &Table,
) -> Result<(), JobError> {
    let (name, key) = (name_of(table), table.discussion.unwrap_or_default());
    // Facts go by the number of their discussion.
    let of_whom = if name == "facts" { "d.number" } else { "d.id" };
    let sql = format!(
        "SELECT d.number, {} FROM discussions AS d JOIN {name} AS t ON t.{key} = {of_whom}
         WHERE d.id IN ({}) ORDER BY d.number, {}",
        columns(table),
        places(bundles.len()),
        order(table),
    );
    let by_number: HashMap<u64, usize> =
        bundles.iter().enumerate().map(|(place, it)| (it.number, place)).collect();
    let ids: Vec<String> = bundles.iter().map(|it| it.id.to_string()).collect();
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(ids))?;
    while let Some(row) = rows.next()? {
        let number = row.get::<_, i64>(0)? as u64;
        if let Some(bundle) = by_number.get(&number).and_then(|it| bundles.get_mut(*it)) {
            bundle.belongings[place].push(cells(row, 1, table)?);
        }
    }
    Ok(())
}

fn places(count: usize) -> String {
    vec!["?"; count].join(", ")
}

fn cells(row: &rusqlite::Row<'_>, first: usize, table: &Table) -> rusqlite::Result<Row> {
    (first..first + table.columns.len()).map(|it| row.get(it)).collect()
}

/// Writes a discussion and its mark. It is over only once everything is written, because nothing is
/// added to a discussion that is.
pub(crate) fn import(context: &mut WriteContext, bundle: &Bundle, mark: &Mark) -> Result<(), JobError> {
    let mut open = bundle.clone();
    if let Some(run) = open.column_mut("run") {
        *run = Some("runnable".to_owned());
    }
    let connection = &context.connection;
    let sql = format!(
        "INSERT INTO discussions ({}, unindexed) VALUES ({}, {})",
        names(&DISCUSSIONS),
        places(DISCUSSIONS.columns.len()),
        i32::from(bundle.column("id") == bundle.column("root")),
    );
    connection.prepare_cached(&sql)?.execute(params_from_iter(&open.discussion))?;
    let number = connection.last_insert_rowid();
    for (table, rows) in BELONGINGS.iter().zip(&bundle.belongings) {
        let whose = match table.name {
            "facts" => Value::Integer(number),
            _ => Value::Text(bundle.id.to_string()),
        };
        insert(connection, table, rows, Some(&whose))?;
    }
    let run = bundle.column("run").unwrap_or("runnable");
    let sql = "UPDATE discussions SET run = ?2 WHERE number = ?1";
    connection.prepare_cached(sql)?.execute(rusqlite::params![number, run])?;
    write_mark(connection, mark)?;
    context.uncache(bundle.id);
    Ok(())
}

/// Inserts rows, with the discussion they belong to.
fn insert(
    connection: &Connection,
    table: &Table,
    rows: &[Row],
    whose: Option<&Value>,
) -> rusqlite::Result<()> {
    let key = table.discussion.map(|key| format!("{key}, ")).unwrap_or_default();
    let count = table.columns.len() + usize::from(whose.is_some());
    let sql = format!("INSERT INTO {} ({key}{}) VALUES ({})", name_of(table), names(table), places(count));
    let mut statement = connection.prepare_cached(&sql)?;
    let value = |cell: &Option<String>| cell.clone().map_or(Value::Null, Value::Text);
    for row in rows {
        statement.execute(params_from_iter(whose.cloned().into_iter().chain(row.iter().map(value))))?;
    }
    Ok(())
}

fn write_mark(connection: &Connection, mark: &Mark) -> rusqlite::Result<()> {
    let sql = "INSERT INTO moved (source, name, upto) VALUES (?1, ?2, ?3)
               ON CONFLICT (source, name) DO UPDATE SET upto = excluded.upto";
    let (source, upto) = (mark.source.to_string(), mark.upto as i64);
    connection.prepare_cached(sql)?.execute(rusqlite::params![source, mark.name, upto]).map(drop)
}

/// Reads a part of a table.
pub(crate) fn shelf(connection: &Connection, page: &Page) -> Result<Vec<Row>, JobError> {
    let Page { table, skip, limit } = page;
    let condition = match table.name {
        "reservations" => "WHERE NOT EXISTS (SELECT 1 FROM discussions WHERE id = t.discussion)",
        _ => "",
    };
    let sql = format!(
        "SELECT {} FROM {} AS t {condition} ORDER BY {} LIMIT {limit} OFFSET {skip}",
        columns(table),
        name_of(table),
        order(table),
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| cells(row, 0, table))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Writes a part of a table and the mark.
pub(crate) fn import_shelf(
    context: &mut WriteContext,
    table: &Table,
    rows: &[Row],
    mark: &Mark,
) -> Result<(), JobError> {
    insert(&context.connection, table, rows, None)?;
    Ok(write_mark(&context.connection, mark)?)
}

/// The marks of these names.
pub(crate) fn marks(
    connection: &Connection,
    source: Uuid,
    names: &[String],
) -> Result<Vec<(String, u64)>, JobError> {
    let sql = format!("SELECT name, upto FROM moved WHERE source = ? AND name IN ({})", places(names.len()));
    let mut statement = connection.prepare(&sql)?;
    let values = std::iter::once(source.to_string()).chain(names.iter().cloned());
    let mark = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
    Ok(statement.query_map(params_from_iter(values), mark)?.collect::<Result<_, _>>()?)
}

/// How many discussions did not come from this source.
pub(crate) fn strangers(connection: &Connection, source: Uuid) -> Result<u64, JobError> {
    let sql = "SELECT count(*) FROM discussions WHERE NOT EXISTS
               (SELECT 1 FROM moved WHERE source = ?1 AND name = discussions.id)";
    Ok(connection.query_row(sql, [source.to_string()], |row| row.get::<_, i64>(0))? as u64)
}
