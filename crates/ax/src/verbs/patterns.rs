//! `ax patterns`: lists the patterns and the consensus methods.

use quorum::Quorum;
use serde_json::json;

use crate::{
    args::Listed,
    exit::Exit,
    render::{print, print_json},
};

/// `ax patterns`
pub(crate) fn patterns(listed: &Listed) -> anyhow::Result<Exit> {
    let patterns: Vec<_> = Quorum::patterns().iter().map(|it| (it.name, it.summary)).collect();
    let methods: Vec<_> = Quorum::methods().iter().map(|it| (it.name, it.summary)).collect();
    if listed.json {
        let list = |items: &[(&str, &str)]| -> Vec<_> {
            items.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect()
        };
        print_json(&json!({ "patterns": list(&patterns), "consensus": list(&methods) }))?;
    } else {
        let list = |items: &[(&str, &str)]| -> String {
            items.iter().map(|(name, summary)| format!("  {name:<12} {summary}\n")).collect()
        };
        print(&format!(
            "Patterns (--pattern)\n{}\nConsensus methods (--consensus)\n{}",
            list(&patterns),
            list(&methods)
        ))?;
    }
    Ok(Exit::Done)
}
