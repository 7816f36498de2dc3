//! Checks that the README's tables of patterns and methods match the descriptors.

use super::Finding;
use super::tree::Tree;
use anyhow::Result;

const README: &str = "README.md";

pub(super) fn check(tree: &Tree) -> Result<Vec<Finding>> {
    let patterns = quorum_patterns::PATTERNS.iter().map(|it| (it.name, it.summary)).collect::<Vec<_>>();
    let methods = quorum_patterns::CONSENSUS.iter().map(|it| (it.name, it.summary)).collect::<Vec<_>>();
    let text = tree.file(README).map(|file| file.text.as_str()).unwrap_or_default();
    let stale = [("patterns", patterns), ("consensus", methods)].into_iter().filter_map(|(name, rows)| {
        let table = table(&rows);
        let (line, is) = section(text, name);
        (is != table).then(|| {
            let message =
                format!("the table between `<!-- {name} -->` and `<!-- /{name} -->` should be\n{table}");
            Finding::error(README, line, message)
        })
    });
    Ok(stale.collect())
}

fn table(rows: &[(&str, &str)]) -> String {
    let rows = rows.iter().map(|(name, summary)| format!("| `{name}` | {summary} |\n"));
    format!("| name | what it does |\n|---|---|\n{}", rows.collect::<String>())
}

/// The text between the markers, and the line of the first one.
fn section<'t>(text: &'t str, name: &str) -> (usize, &'t str) {
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let Some((before, rest)) = text.split_once(&open) else { return (1, "") };
    let inside = rest.split_once(&close).map_or("", |(inside, _)| inside);
    (before.lines().count() + 1, inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_found_between_its_markers() {
        let text = "a\n<!-- patterns -->\nrow\n<!-- /patterns -->\n";
        assert_eq!(section(text, "patterns"), (2, "row\n"));
        assert_eq!(section(text, "consensus"), (1, ""));
    }

    #[test]
    fn a_table_has_a_row_for_each() {
        assert_eq!(table(&[("a", "first")]), "| name | what it does |\n|---|---|\n| `a` | first |\n");
    }
}
