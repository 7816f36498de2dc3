//! What the database saw, written by triggers, and the ten invariants read from it.

use anyhow::{Result, anyhow};
use quorum_testkit::own_postgres::OwnPostgres;

/// Logs every claim, every fact with the process that wrote it, and every end. The row of a root is
/// locked by whatever is logged about it, so the numbers of the log are in its order.
const TRIGGERS: &str = "
CREATE TABLE watched (
    n bigint GENERATED ALWAYS AS IDENTITY, what text, root uuid, id uuid, seq bigint, fence bigint,
    writer text DEFAULT current_setting('application_name'), tx xid8 DEFAULT pg_current_xact_id(), body text
);
CREATE FUNCTION watch_discussion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.node IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.fence <> NEW.fence) THEN
        INSERT INTO watched (what, root, id, fence) VALUES ('claim', NEW.root, NEW.id, NEW.fence);
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.run = 'over' AND OLD.run <> 'over' THEN
        INSERT INTO watched (what, root, id) VALUES ('over', NEW.root, NEW.id);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION watch_fact() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO watched (what, root, id, seq, fence, body)
    SELECT 'fact', d.root, d.id, NEW.seq, r.fence, md5(NEW.body)
    FROM discussions d JOIN discussions r ON r.id = d.root WHERE d.number = NEW.discussion;
    RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER INSERT OR UPDATE ON discussions FOR EACH ROW EXECUTE FUNCTION watch_discussion();
CREATE TRIGGER watch AFTER INSERT ON facts FOR EACH ROW EXECUTE FUNCTION watch_fact();
";

/// Each invariant that can be read from the database, with a query that counts its violations.
const INVARIANTS: &[(u8, &str)] = &[
    // Every fact that was written is there with that content.
    (1, "SELECT count(*) FROM watched w JOIN discussions d ON d.id = w.id
         LEFT JOIN facts f ON f.discussion = d.number AND f.seq = w.seq
         WHERE w.what = 'fact' AND w.body IS DISTINCT FROM md5(f.body)"),
    // Numbers of a discussion: 1 to n.
    (2, "SELECT count(*) FROM (SELECT discussion FROM facts GROUP BY discussion
         HAVING min(seq) <> 1 OR max(seq) <> count(*)) AS it"),
    (3, "SELECT count(*) FROM (SELECT root, fence FROM watched WHERE what = 'claim'
         GROUP BY root, fence HAVING count(*) > 1) AS it"),
    (4, "SELECT count(*) FROM (SELECT fence < lag(fence) OVER (PARTITION BY id ORDER BY seq) AS back
         FROM watched WHERE what = 'fact') AS it WHERE back"),
    // A fact was written by the process that had the newest claim at that time.
    (5, "SELECT count(*) FROM watched f WHERE f.what = 'fact' AND f.seq > 3 AND f.writer IS DISTINCT FROM (
         SELECT c.writer FROM watched c WHERE c.what = 'claim' AND c.root = f.root AND (c.n < f.n OR c.tx = f.tx)
         ORDER BY c.n DESC LIMIT 1)"),
    (6, "SELECT count(*) FROM (SELECT id, seq FROM watched WHERE what = 'fact' GROUP BY id, seq
         HAVING count(*) > 1) AS it"),
    (7, "SELECT count(*) FROM watched o JOIN watched f ON f.what = 'fact' AND f.id = o.id AND f.n > o.n
         AND f.tx <> o.tx WHERE o.what = 'over'"),
    // Commands are taken once, in order, and all of them unless the discussion ended.
    (8, "SELECT count(*) FROM (
         SELECT d.id, d.run, d.last_command, array_agg((f.body::json->>'id')::bigint ORDER BY f.seq)
             FILTER (WHERE f.type = 'command_taken') AS taken
         FROM discussions d JOIN facts f ON f.discussion = d.number GROUP BY d.id, d.run, d.last_command) AS it
         WHERE taken <> (SELECT array_agg(n) FROM generate_series(1, cardinality(taken)::bigint) AS n)
            OR (run <> 'over' AND cardinality(taken) < last_command)"),
    (10, "SELECT count(*) FROM discussions WHERE node IS NOT NULL AND node NOT IN (SELECT id FROM nodes)"),
];

/// Begins to watch a database that has its tables.
pub(crate) fn watch(database: &OwnPostgres) -> Result<()> {
    database.sql(TRIGGERS).map(drop).map_err(|error| anyhow!("the triggers: {error}"))
}

/// The invariants that are broken, with the number of violations. The ninth is counted by each
/// check, because it depends on its fault.
pub(crate) fn broken(database: &OwnPostgres) -> Result<Vec<(u8, u64)>> {
    let mut broken = Vec::new();
    for (number, query) in INVARIANTS {
        let count = database.sql(query).map_err(|error| anyhow!("invariant {number}: {error}"))?;
        let count: u64 = count.parse()?;
        if 0 < count {
            broken.push((*number, count));
        }
    }
    Ok(broken)
}

/// How many answers of models are in the records.
pub(crate) fn needed(database: &OwnPostgres) -> Result<u64> {
    number(database, "SELECT count(*) FROM facts WHERE type = 'turn_completed'")
}

/// How many discussions are not over.
pub(crate) fn unfinished(database: &OwnPostgres) -> Result<u64> {
    number(database, "SELECT count(*) FROM discussions WHERE run <> 'over'")
}

pub(crate) fn number(database: &OwnPostgres, sql: &str) -> Result<u64> {
    let told = database.sql(sql).map_err(|error| anyhow!("{sql}: {error}"))?;
    told.parse().map_err(|_| anyhow!("{sql}: {told}"))
}
