//! Adds a table to the end of a TOML file, whose text stays as it is.

use toml::{Table, Value};

use crate::verbs::mcp::{client::ENTRY, install::Edit};

/// The text with this table, which is below `servers` under our name.
pub(super) fn with_table(text: &str, servers: &str, table: &str) -> Edit {
    let before: Table = match text.parse() {
        Ok(before) => before,
        Err(error) => return Edit::Refused(format!("is not readable as TOML ({})", first_line(&error))),
    };
    let ours = |document: &Table| document.get(servers).and_then(|it| it.get(ENTRY)).cloned();
    let wanted: Option<Value> = table.parse::<Table>().ok().as_ref().and_then(ours);
    match ours(&before) {
        there @ Some(_) if there == wanted => return Edit::Present,
        Some(_) => return Edit::Refused(format!("has another entry named {ENTRY}")),
        None => {}
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let after = format!("{text}{gap}{table}");
    // Servers may be written in a form that takes no further table.
    match after.parse::<Table>().ok().as_ref().and_then(ours) == wanted {
        true => Edit::Added(after),
        false => Edit::Refused(format!("lists {servers} in a form that can't be added to")),
    }
}

fn first_line(error: &toml::de::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "[mcp_servers.quorum]\ncommand = \"/bin/ax\"\nargs = [\"mcp\"]\n";

    #[track_caller]
    fn check(text: &str, expected: &Edit) {
        assert_eq!(with_table(text, "mcp_servers", TABLE), *expected);
    }

    #[test]
    fn b10_a_table_is_added_once_and_the_rest_stays_as_it_was() {
        let kept = "# mine\nmodel = 'x' # why\n\n[mcp_servers.other]\ncommand = \"o\"";
        let added = format!("{kept}\n\n{TABLE}");
        check(kept, &Edit::Added(added.clone()));
        check(&added, &Edit::Present);
        check("", &Edit::Added(TABLE.to_owned()));
        check("[mcp_servers.quorum]\ncommand = \"mine\"\n", &refused("has another entry named quorum"));
        check("mcp_servers = {}\n", &refused("lists mcp_servers in a form that can't be added to"));
        assert!(matches!(with_table("[", "mcp_servers", TABLE), Edit::Refused(it) if it.contains("TOML")));
    }

    fn refused(reason: &str) -> Edit {
        Edit::Refused(reason.to_owned())
    }
}
