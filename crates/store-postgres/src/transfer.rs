//! Reads and writes whole discussions as rows of text, to move them from and to another store.

use std::{collections::HashMap, fmt::Write as _, sync::LazyLock};

use quorum_core::seams::transfer::{
    BELONGINGS, Bundle, Bundles, DISCUSSIONS, Kind, Mark, Page, Row, Table, Totals,
};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::{batch::text, connection::Connection, error::JobError};

/// A column as text.
fn read_as(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Text => name.to_owned(),
        Kind::Whole | Kind::Id => format!("{name}::text"),
        Kind::Flag => format!("{name}::int::text"),
        Kind::List => format!("to_json({name})::text"),
    }
}

/// Text as the value of a column.
fn write_as(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Text => name.to_owned(),
        Kind::Whole => format!("{name}::bigint"),
        Kind::Id => format!("{name}::uuid"),
        Kind::Flag => format!("{name}::int::boolean"),
        Kind::List => format!("ARRAY(SELECT jsonb_array_elements_text({name}::jsonb))"),
    }
}

fn columns(table: &Table, shown: fn(&str, Kind) -> String) -> String {
    table.columns.iter().map(|it| shown(it.name, it.kind)).collect::<Vec<_>>().join(", ")
}

fn names(table: &Table) -> String {
    table.columns.iter().map(|it| it.name).collect::<Vec<_>>().join(", ")
}

/// The id of this store.
pub(crate) async fn identity(connection: &mut Connection) -> Result<Uuid, JobError> {
    Ok(connection.query("SELECT store FROM schema", &[]).await?[0].get(0))
}

/// How much there is.
pub(crate) async fn totals(connection: &mut Connection) -> Result<Totals, JobError> {
    connection.batch("SET LOCAL statement_timeout = 0").await?;
    let sql = "SELECT (SELECT count(*) FROM discussions), (SELECT count(*) FROM facts),
               (SELECT count(*) FROM discussions WHERE run <> 'over'),
               coalesce((SELECT max(number) FROM discussions), 0)";
    let row = connection.query_slowly(sql).await?.remove(0);
    let count = |column| row.get::<_, i64>(column) as u64;
    Ok(Totals { discussions: count(0), facts: count(1), unfinished: count(2), last: count(3) })
}

/// Reads discussions in the order of their numbers.
pub(crate) async fn bundles(connection: &mut Connection, wanted: &Bundles) -> Result<Vec<Bundle>, JobError> {
    let own = columns(&DISCUSSIONS, read_as);
    let rows = match wanted {
        Bundles::After(number, limit) => {
            let sql = format!(
                "SELECT number, id, {own} FROM discussions WHERE number > $1 ORDER BY number LIMIT $2"
            );
            let (number, limit) =
                (i64::try_from(*number).unwrap_or(i64::MAX), i64::try_from(*limit).unwrap_or(i64::MAX));
            connection.query(&sql, &[&number, &limit]).await?
        }
        Bundles::Of(ids) => {
            let ids: Vec<Uuid> = ids.iter().map(|it| Uuid::from(*it)).collect();
            let sql =
                format!("SELECT number, id, {own} FROM discussions WHERE id = ANY ($1) ORDER BY number");
            connection.query(&sql, &[&ids]).await?
        }
    };
    let bundle = |row: &tokio_postgres::Row| Bundle {
        number: row.get::<_, i64>(0) as u64,
        id: row.get::<_, Uuid>(1).into(),
        discussion: cells(row, 2, &DISCUSSIONS),
        belongings: vec![Vec::new(); BELONGINGS.len()],
    };
    let mut bundles: Vec<Bundle> = rows.iter().map(bundle).collect();
    for (place, table) in BELONGINGS.iter().enumerate() {
        add_belongings(connection, &mut bundles, place, table).await?;
    }
    Ok(bundles)
}

/// Reads the rows of one table that belong to these discussions.
async fn add_belongings(
    connection: &mut Connection,
    bundles: &mut [Bundle],
    place: usize,
    table: &Table,
) -> Result<(), JobError> {
    let (name, key) = (table.name, table.discussion.unwrap_or_default());
    // Facts go by the number of their discussion.
    let of_whom = if name == "facts" { "d.number" } else { "d.id" };
    let order: Vec<String> = table.order.split(", ").map(|it| format!("t.{it}")).collect();
    let sql = format!(
        "SELECT d.number, {} FROM unnest($1::uuid[]) AS w (id) JOIN discussions AS d ON d.id = w.id
         JOIN {name} AS t ON t.{key} = {of_whom} ORDER BY d.number, {}",
        qualified(table),
        order.join(", "),
    );
    let ids: Vec<Uuid> = bundles.iter().map(|it| Uuid::from(it.id)).collect();
    let places: HashMap<i64, usize> =
        bundles.iter().enumerate().map(|(place, it)| (it.number as i64, place)).collect();
    for row in connection.query(&sql, &[&ids]).await? {
        if let Some(bundle) = places.get(&row.get(0)).and_then(|it| bundles.get_mut(*it)) {
            bundle.belongings[place].push(cells(&row, 1, table));
        }
    }
    Ok(())
}

/// The columns of the table `t` as text.
fn qualified(table: &Table) -> String {
    let shown = |name: &str, kind| read_as(&format!("t.{name}"), kind);
    table.columns.iter().map(|it| shown(it.name, it.kind)).collect::<Vec<_>>().join(", ")
}

fn cells(row: &tokio_postgres::Row, first: usize, table: &Table) -> Row {
    (first..first + table.columns.len()).map(|it| row.get(it)).collect()
}

/// The statement that writes a discussion: its row from the first parameters, then an array for
/// each column of its belongings, then the mark. It does nothing if the discussion is there: the
/// statement of a process that was killed may have gone on without it.
static IMPORT: LazyLock<String> = LazyLock::new(|| {
    let (mut next, mut sql) = (0, String::new());
    let mut parameters = |count: usize| {
        next += count;
        next - count + 1..=next
    };
    let values = DISCUSSIONS.columns.iter().zip(parameters(DISCUSSIONS.columns.len()));
    let values: Vec<String> =
        values.map(|(it, number)| write_as(&format!("${number}::text"), it.kind)).collect();
    let last = *parameters(3).start();
    let [last, last_at, last_command] = [last, last + 1, last + 2].map(|it| format!("${it}::bigint"));
    // Writing to a string can't fail.
    let _ = write!(
        sql,
        "WITH one AS (INSERT INTO discussions ({}, last, last_at, written_at, last_command, unindexed)
         SELECT {}, {last}, {last_at}, {last_at}, {last_command}, $1::text = $2::text
         ON CONFLICT (id) DO NOTHING RETURNING number, id)",
        names(&DISCUSSIONS),
        values.join(", "),
    );
    for table in BELONGINGS {
        let arrays: Vec<String> =
            parameters(table.columns.len()).map(|it| format!("${it}::text[]")).collect();
        let _ = write!(sql, ", {0}_written AS ({1})", table.name, insert(table, &arrays));
    }
    let source = *parameters(3).start();
    let (name, upto) = (source + 1, source + 2);
    let _ = write!(
        sql,
        ", marked AS (INSERT INTO moved (source, name, upto) SELECT ${source}::uuid, ${name}::text, \
         ${upto}::bigint FROM one) SELECT number FROM one"
    );
    sql
});

/// Inserts rows that are given as arrays of columns.
fn insert(table: &Table, arrays: &[String]) -> String {
    let aliases: Vec<String> = (0..arrays.len()).map(|it| format!("c{it}")).collect();
    let values: Vec<String> = table
        .columns
        .iter()
        .zip(&aliases)
        .map(|(it, alias)| write_as(&format!("r.{alias}"), it.kind))
        .collect();
    let (key, whose, from) = match table.discussion {
        Some(key) => {
            (format!("{key}, "), if table.name == "facts" { "one.number, " } else { "one.id, " }, "one, ")
        }
        None => (String::new(), "", ""),
    };
    format!(
        "INSERT INTO {} ({key}{}) SELECT {whose}{} FROM {from}unnest({}) WITH ORDINALITY AS r ({}, place) \
         ORDER BY place",
        table.name,
        names(table),
        values.join(", "),
        arrays.join(", "),
        aliases.join(", "),
    )
}

/// The rows of a table as columns, as PostgreSQL can hold them.
fn transposed(table: &Table, rows: &[Row]) -> Vec<Vec<Option<String>>> {
    let column = |place: usize| rows.iter().map(|row| cell(row, place)).collect();
    (0..table.columns.len()).map(column).collect()
}

fn cell(row: &Row, place: usize) -> Option<String> {
    Some(text(row.get(place)?.as_deref()?).into_owned())
}

/// Writes a discussion and its mark, in one statement.
pub(crate) async fn import(
    connection: &mut Connection,
    bundle: &Bundle,
    mark: &Mark,
) -> Result<(), JobError> {
    let own: Vec<Option<String>> =
        (0..DISCUSSIONS.columns.len()).map(|it| cell(&bundle.discussion, it)).collect();
    let last = |table: usize, column: usize| -> i64 {
        let row = bundle.belongings.get(table).and_then(|rows| rows.last());
        row.and_then(|row| row.get(column)?.as_ref()?.parse().ok()).unwrap_or_default()
    };
    // The number and the time of the last fact, and the number of the last command.
    let lasts = [last(0, 0), last(0, 1), last(1, 0)];
    let belongings: Vec<Vec<Option<String>>> =
        BELONGINGS.iter().zip(&bundle.belongings).flat_map(|(table, rows)| transposed(table, rows)).collect();
    let (name, upto) = (text(&mark.name), mark.upto as i64);
    let mut parameters: Vec<&(dyn ToSql + Sync)> = Vec::new();
    parameters.extend(own.iter().map(|it| it as &(dyn ToSql + Sync)));
    parameters.extend(lasts.iter().map(|it| it as &(dyn ToSql + Sync)));
    parameters.extend(belongings.iter().map(|it| it as &(dyn ToSql + Sync)));
    parameters.extend([&mark.source as &(dyn ToSql + Sync), &name, &upto]);
    connection.execute(&IMPORT, &parameters).await?;
    Ok(())
}

/// The condition on rows that belong to no discussion.
fn shelf_condition(table: &Table) -> &'static str {
    match table.name {
        "reservations" => "WHERE NOT EXISTS (SELECT FROM discussions WHERE id = reservations.discussion)",
        _ => "",
    }
}

/// Reads a part of a table.
pub(crate) async fn shelf(connection: &mut Connection, page: &Page) -> Result<Vec<Row>, JobError> {
    let Page { table, skip, limit } = page;
    let sql = format!(
        "SELECT {} FROM {} {} ORDER BY {} OFFSET $1 LIMIT $2",
        columns(table, read_as),
        table.name,
        shelf_condition(table),
        table.order
    );
    let (skip, limit) = (*skip as i64, i64::try_from(*limit).unwrap_or(i64::MAX));
    let rows = connection.query(&sql, &[&skip, &limit]).await?;
    Ok(rows.iter().map(|row| cells(row, 0, table)).collect())
}

/// Writes a part of a table and the mark, in one transaction, unless a process that was killed has
/// just done so.
pub(crate) async fn import_shelf(
    connection: &mut Connection,
    table: &Table,
    rows: &[Row],
    mark: &Mark,
) -> Result<(), JobError> {
    let name = text(&mark.name);
    let sql = "INSERT INTO moved (source, name, upto) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING";
    connection.execute(sql, &[&mark.source, &name]).await?;
    let sql = "SELECT upto FROM moved WHERE source = $1 AND name = $2 FOR UPDATE";
    let upto: i64 = connection.query(sql, &[&mark.source, &name]).await?[0].get(0);
    if upto as u64 + rows.len() as u64 != mark.upto {
        return Ok(());
    }
    let columns = transposed(table, rows);
    let arrays: Vec<String> = (1..=columns.len()).map(|it| format!("${it}::text[]")).collect();
    let parameters: Vec<&(dyn ToSql + Sync)> = columns.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
    connection.execute(&insert(table, &arrays), &parameters).await?;
    let sql = "UPDATE moved SET upto = $3 WHERE source = $1 AND name = $2";
    connection.execute(sql, &[&mark.source, &name, &(mark.upto as i64)]).await?;
    Ok(())
}

/// The marks of these names.
pub(crate) async fn marks(
    connection: &mut Connection,
    source: Uuid,
    names: &[String],
) -> Result<Vec<(String, u64)>, JobError> {
    let sql = "SELECT name, upto FROM moved WHERE source = $1 AND name = ANY ($2)";
    let rows = connection.query(sql, &[&source, &names]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get::<_, i64>(1) as u64)).collect())
}

/// How many discussions did not come from this source.
pub(crate) async fn strangers(connection: &mut Connection, source: Uuid) -> Result<u64, JobError> {
    let sql = "SELECT count(*) FROM discussions WHERE NOT EXISTS
               (SELECT FROM moved WHERE source = $1 AND name = discussions.id::text)";
    Ok(connection.query(sql, &[&source]).await?[0].get::<_, i64>(0) as u64)
}
