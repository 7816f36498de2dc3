//! A move to another database leaves nothing behind.

use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::columns::{Columns, each_is_moved_or_left},
    postgres::Database,
};

#[test]
fn a_column_that_is_not_moved_is_noticed() {
    let database = Database::fresh();
    drop(PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap());
    let told = database.run(
        "SELECT table_name || ' ' || column_name FROM information_schema.columns
         WHERE table_schema = current_schema()",
    );
    let mut found = Columns::new();
    for (table, column) in told.lines().filter_map(|it| it.split_once(' ')) {
        found.entry(table.to_owned()).or_default().insert(column.to_owned());
    }
    each_is_moved_or_left(
        &found,
        &[
            // Numbers are given anew, in the same order.
            ("audit", &["number"]),
            ("memory", &["number"]),
            ("outcomes", &["number"]),
            // The first six follow from the facts and the commands, and nobody runs what is moved.
            (
                "discussions",
                &[
                    "number",
                    "last",
                    "last_at",
                    "last_command",
                    "written_at",
                    "unindexed",
                    "node",
                    "claimed_at",
                ],
            ),
            // What concerns running processes.
            (
                "nodes",
                &["id", "beat", "name", "version", "config", "lease_ms", "draining", "channel", "knows"],
            ),
            ("attached", &["discussion", "client", "node"]),
            ("lanes", &["name", "free_at", "closed_until"]),
            // Made of the record.
            ("search", &["discussion", "length", "words"]),
            // The database itself.
            ("schema", &["one", "version", "min_reader", "store"]),
            ("moved", &["source", "name", "upto"]),
        ],
    );
}
