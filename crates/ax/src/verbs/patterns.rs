//! `ax patterns`: lists the patterns and the consensus methods.

use serde_json::{Value, json};

use crate::{
    app::{App, Choice},
    args::Listed,
    exit::Exit,
    render::{print, print_json},
};

/// `ax patterns`
pub(crate) fn patterns(app: &App, listed: &Listed) -> anyhow::Result<Exit> {
    if listed.json {
        print_json(&document(app))?;
    } else {
        print(&text(app))?;
    }
    Ok(Exit::Done)
}

fn document(app: &App) -> Value {
    let list = |choices: &[Choice]| -> Vec<Value> {
        choices.iter().map(|it| json!({ "name": it.name, "summary": it.summary })).collect()
    };
    json!({ "patterns": list(&app.patterns), "consensus": list(&app.methods) })
}

fn text(app: &App) -> String {
    let list = |choices: &[Choice]| -> String {
        choices.iter().map(|it| format!("  {:<12} {}\n", it.name, it.summary)).collect()
    };
    let (patterns, methods) = (list(&app.patterns), list(&app.methods));
    format!("Patterns (--pattern)\n{patterns}\nConsensus methods (--consensus)\n{methods}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_builds_own_parts_are_listed() {
        let app = App {
            patterns: vec![Choice { name: "acme-talk", summary: "One" }],
            methods: vec![Choice { name: "acme-vote", summary: "Two" }],
            ..App::built_in()
        };
        let listed = [
            "Patterns (--pattern)",
            "  acme-talk    One",
            "",
            "Consensus methods (--consensus)",
            "  acme-vote    Two",
        ];
        assert_eq!(text(&app).lines().collect::<Vec<_>>(), listed);
        let item = |name, summary| json!([{ "name": name, "summary": summary }]);
        let expected = json!({ "patterns": item("acme-talk", "One"), "consensus": item("acme-vote", "Two") });
        assert_eq!(document(&app), expected);
    }
}
