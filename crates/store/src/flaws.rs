//! Checks that the tables are as they must be: one query for each rule, which finds what breaks it.

use quorum_core::seams::transfer::{Flaw, Rule};
use rusqlite::Connection;

use crate::error::JobError;

/// How many examples are shown.
const EXAMPLES: usize = 10;

/// Queries for what breaks a rule, each with one column of text.
const CHECKS: &[(Rule, &str)] = &[
    (
        Rule::Numbers,
        "SELECT d.id FROM discussions d LEFT JOIN
             (SELECT discussion, count(*) AS n, min(seq) AS first, max(seq) AS last FROM facts GROUP BY discussion) f
             ON f.discussion = d.number
         WHERE f.n IS NULL OR f.first <> 1 OR f.last <> f.n",
    ),
    (
        Rule::Fences,
        "SELECT a.discussion FROM allowances a JOIN discussions d ON d.id = a.discussion WHERE a.fence > d.fence
         UNION SELECT id FROM discussions WHERE node IS NOT NULL AND fence < 1
         UNION SELECT id FROM discussions d WHERE claimed_at >
             (SELECT max(seq) FROM facts WHERE discussion = d.number)",
    ),
    (
        Rule::Over,
        "SELECT id FROM discussions WHERE run = 'over' AND (node IS NOT NULL OR status NOT IN
             ('completed', 'aborted', 'error'))
         UNION SELECT id FROM discussions WHERE run <> 'over' AND status IN ('completed', 'aborted')",
    ),
    (
        Rule::Held,
        "SELECT id FROM discussions WHERE node IS NOT NULL AND node NOT IN (SELECT id FROM nodes)
         UNION SELECT id FROM discussions WHERE node IS NOT NULL AND root <> id",
    ),
    (
        Rule::Orphans,
        "SELECT 'facts of number ' || discussion FROM (SELECT DISTINCT discussion FROM facts)
             WHERE discussion NOT IN (SELECT number FROM discussions)
         UNION ALL SELECT 'a command of ' || discussion FROM (SELECT DISTINCT discussion FROM commands)
             WHERE discussion NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'a participant of ' || project_id FROM discussion_participants
             WHERE project_id NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'the state of ' || project_id FROM discussion_state
             WHERE project_id NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'a log of ' || project_id FROM discussion_logs
             WHERE project_id NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'an outcome of ' || discussion FROM outcomes
             WHERE discussion NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'the sub-discussion ' || id FROM discussions
             WHERE root NOT IN (SELECT id FROM discussions)
         UNION ALL SELECT 'the session of ' || id FROM discussions
             WHERE session IS NOT NULL AND session NOT IN (SELECT id FROM sessions)",
    ),
];

/// The rules that are broken.
pub(crate) fn flaws(connection: &Connection) -> Result<Vec<Flaw>, JobError> {
    let mut flaws = Vec::new();
    for (rule, sql) in CHECKS {
        let mut statement = connection.prepare(&format!("SELECT * FROM ({sql}) LIMIT {EXAMPLES}"))?;
        let examples: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        if !examples.is_empty() {
            flaws.push(Flaw { rule: *rule, examples });
        }
    }
    Ok(flaws)
}
