//! Checks that every decision has a status, and that the index lists exactly the decisions.

use super::Finding;
use super::tree::{File, Tree};
use anyhow::Result;

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/README.md";
const STATUS: &str = "Status: ";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let Some(index) = tree.file(INDEX) else { return Ok(Vec::new()) };
    let decisions: Vec<Decision<'_>> = tree.files.iter().filter(is_topic).flat_map(decisions).collect();
    let rows: Vec<(usize, &str)> =
        (1..).zip(index.text.lines()).filter(|(_, line)| line.starts_with("| [")).collect();
    let faulty = decisions.iter().filter_map(|it| it.fault(&rows));
    let stale =
        rows.iter().filter(|(_, row)| decisions.iter().all(|it| it.row() != **row)).map(|(line, _)| {
            Finding::error(
                INDEX,
                *line,
                "no decision has this heading, address and status; remove or correct it",
            )
        });
    Ok(faulty.chain(stale).collect())
}

fn is_topic(file: &&File) -> bool {
    file.path.starts_with(FOLDER) && file.path != INDEX && file.path.ends_with(".md")
}

/// A heading of the second level in one of the topics.
struct Decision<'t> {
    path: &'t str,
    line: usize,
    heading: &'t str,
    /// The status on the line after the heading.
    status: Option<&'t str>,
}

fn decisions(file: &File) -> impl Iterator<Item = Decision<'_>> {
    let following = file.text.lines().skip(1).chain([""]);
    let lines = (1..).zip(file.text.lines().zip(following));
    lines.filter_map(|(line, (text, next))| {
        let heading = text.strip_prefix("## ")?;
        let status = next.strip_prefix(STATUS).filter(|it| !it.is_empty());
        Some(Decision { path: &file.path, line, heading, status })
    })
}

impl Decision<'_> {
    fn fault(&self, rows: &[(usize, &str)]) -> Option<Finding> {
        let advice = match self.status {
            None => format!("needs the line `{STATUS}…` right after its heading"),
            Some(_) if rows.iter().any(|(_, row)| *row == self.row()) => return None,
            Some(_) => format!("is missing from {INDEX}; add the row\n{}", self.row()),
        };
        Some(Finding::error(self.path, self.line, advice))
    }

    /// Its row in the index.
    fn row(&self) -> String {
        let file = self.path.trim_start_matches(FOLDER);
        let status = self.status.unwrap_or_default();
        format!("| [{}]({file}#{}) | {status} |", self.heading, anchor(self.heading))
    }
}

/// The address of a heading within its page, as GitHub derives it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    kept.flat_map(char::to_lowercase).map(|it| if it == ' ' { '-' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::expect;

    const TOPIC: &str = "# Calls\n\n## Lanes can't wait\nStatus: accepted\n\nBecause.\n";

    #[test]
    fn a_listed_decision_with_a_status_is_fine() {
        let index = "| [Lanes can't wait](calls.md#lanes-cant-wait) | accepted |\n";
        expect(check, &[("docs/decisions/calls.md", TOPIC), (INDEX, index)], &[]);
    }

    #[test]
    fn a_decision_needs_a_status() {
        let topic = "# Calls\n\n## Lanes can't wait\n\nBecause.\n";
        let expected = "docs/decisions/calls.md:3: error: needs the line `Status: …` right after its heading";
        expect(check, &[("docs/decisions/calls.md", topic), (INDEX, "")], &[expected]);
    }

    #[test]
    fn a_decision_must_be_in_the_index() {
        let expected = "docs/decisions/calls.md:3: error: is missing from docs/decisions/README.md; add the row\n\
                        | [Lanes can't wait](calls.md#lanes-cant-wait) | accepted |";
        expect(check, &[("docs/decisions/calls.md", TOPIC), (INDEX, "")], &[expected]);
    }

    #[test]
    fn a_row_without_its_decision_is_stale() {
        let index = "| [Lanes can't wait](calls.md#lanes-cant-wait) | accepted |\n\
                     | [Lanes may wait](calls.md#lanes-may-wait) | accepted |\n";
        let expected = "docs/decisions/README.md:2: error: no decision has this heading, address and status; \
                        remove or correct it";
        expect(check, &[("docs/decisions/calls.md", TOPIC), (INDEX, index)], &[expected]);
    }
}
