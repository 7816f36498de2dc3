//! Checks that the tables are as they must be: one query for each rule, which finds what breaks it.

use quorum_core::seams::transfer::{Flaw, Rule};

use crate::{connection::Connection, error::JobError};

/// How many examples are shown.
const EXAMPLES: i64 = 10;

/// Queries for what breaks a rule, each with one column of text.
const CHECKS: &[(Rule, &str)] = &[
    (
        Rule::Numbers,
        "SELECT d.id::text FROM discussions d LEFT JOIN
             (SELECT discussion, count(*) AS n, min(seq) AS first, max(seq) AS last FROM facts GROUP BY discussion) f
             ON f.discussion = d.number
         WHERE f.n IS NULL OR f.first <> 1 OR f.last <> f.n OR d.last <> f.last",
    ),
    (
        Rule::Fences,
        "SELECT a.discussion::text FROM allowances a JOIN discussions d ON d.id = a.discussion WHERE a.fence > d.fence
         UNION SELECT id::text FROM discussions WHERE node IS NOT NULL AND fence < 1
         UNION SELECT id::text FROM discussions WHERE claimed_at > last",
    ),
    (
        Rule::Over,
        "SELECT id::text FROM discussions WHERE run = 'over' AND (node IS NOT NULL OR status NOT IN
             ('completed', 'aborted', 'error'))
         UNION SELECT id::text FROM discussions WHERE run <> 'over' AND status IN ('completed', 'aborted')",
    ),
    (
        Rule::Held,
        "SELECT id::text FROM discussions WHERE node IS NOT NULL AND NOT EXISTS
             (SELECT FROM nodes WHERE nodes.id = node)
         UNION SELECT id::text FROM discussions WHERE node IS NOT NULL AND root <> id",
    ),
    (
        Rule::Orphans,
        "SELECT 'facts of number ' || discussion FROM (SELECT DISTINCT discussion FROM facts) f
             WHERE NOT EXISTS (SELECT FROM discussions WHERE number = f.discussion)
         UNION ALL SELECT 'a command of ' || discussion FROM (SELECT DISTINCT discussion FROM commands) c
             WHERE NOT EXISTS (SELECT FROM discussions WHERE id = c.discussion)
         UNION ALL SELECT 'a participant of ' || project_id FROM discussion_participants p
             WHERE NOT EXISTS (SELECT FROM discussions WHERE id = p.project_id)
         UNION ALL SELECT 'the state of ' || project_id FROM discussion_state s
             WHERE NOT EXISTS (SELECT FROM discussions WHERE id = s.project_id)
         UNION ALL SELECT 'a log of ' || project_id FROM discussion_logs l
             WHERE NOT EXISTS (SELECT FROM discussions WHERE id = l.project_id)
         UNION ALL SELECT 'an outcome of ' || discussion FROM outcomes o
             WHERE NOT EXISTS (SELECT FROM discussions WHERE id = o.discussion)
         UNION ALL SELECT 'search words of number ' || discussion FROM search w
             WHERE NOT EXISTS (SELECT FROM discussions WHERE number = w.discussion)
         UNION ALL SELECT 'the sub-discussion ' || id FROM discussions d
             WHERE NOT EXISTS (SELECT FROM discussions r WHERE r.id = d.root)
         UNION ALL SELECT 'the session of ' || id FROM discussions d
             WHERE session IS NOT NULL AND NOT EXISTS (SELECT FROM sessions WHERE id = d.session)",
    ),
];

/// The rules that are broken.
pub(crate) async fn flaws(connection: &mut Connection) -> Result<Vec<Flaw>, JobError> {
    // The largest tables are read as a whole.
    connection.batch("SET LOCAL statement_timeout = 0").await?;
    let mut flaws = Vec::new();
    for (rule, sql) in CHECKS {
        let rows = connection.query_slowly(&format!("SELECT * FROM ({sql}) AS it LIMIT {EXAMPLES}")).await?;
        let examples: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        if !examples.is_empty() {
            flaws.push(Flaw { rule: *rule, examples });
        }
    }
    Ok(flaws)
}
