//! `ax doctor`: whether all is well, and what to do where it is not.

use std::path::Path;

use quorum::{
    Config,
    doctor::{Finding, Health, Salvage, Salvaged, examine, salvage},
    setup::Machine,
    text::count,
};

use crate::{
    app::App,
    args::Doctor,
    exit::Exit,
    render::{
        line::{Colour, Line, PLAIN},
        print, print_json, room,
    },
};

/// Looks at everything; fails where something is to be put right.
pub(crate) fn doctor(app: &App, args: &Doctor) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.salvage {
        let salvage = runtime.block_on(salvage(&Config::load()?))?;
        print(&saved(&salvage))?;
        return Ok(Exit::Done);
    }
    let mut findings = runtime.block_on(examine(&Machine::this()));
    if args.live {
        let quorum = app.open(Config::load()?)?;
        findings.extend(runtime.block_on(quorum.health()));
    }
    if args.listed.json {
        print_json(&findings)?;
    } else {
        let columns = room();
        print(&findings.iter().map(|it| row(it, columns)).collect::<Vec<_>>().join("\n"))?;
    }
    let well = findings.iter().all(|it| it.state != Health::Wrong);
    Ok(if well { Exit::Done } else { Exit::Setup })
}

/// How much of a damaged database was saved, and how to use it.
fn saved(salvage: &Salvage) -> String {
    let Salvage { damaged, new, saved } = salvage;
    let Salvaged { discussions, cut_short, lost_discussions, facts, lost_facts } = *saved;
    let (saved, lost) = (count(discussions, "discussion"), count(lost_discussions, "discussion"));
    let mut lines = vec![format!(
        "Saved {saved} with {}, lost {lost} and {}.",
        count(facts, "fact"),
        count(lost_facts, "fact")
    )];
    if cut_short > 0 {
        let short = count(cut_short, "discussion");
        lines.push(format!("Of those saved, {short} lost the end; `ax resume ID` goes on from there."));
    }
    let (old, new) = (damaged.display(), new.display());
    lines.push(format!("{old} is as it was. To use {new} in its place, while nothing else runs:"));
    // A log that belongs to another database would damage the new one.
    let files = ["", "-wal", "-shm"].map(|ending| format!("{old}{ending}"));
    let there = files.iter().filter(|it| Path::new(it).exists());
    lines.extend(there.map(|it| format!("  mv {it} {it}.damaged")));
    lines.push(format!("  mv {new} {old}"));
    lines.join("\n")
}

/// What was found hangs beside what was looked at, or where that leaves too little room under it.
fn row(finding: &Finding, columns: usize) -> String {
    let state = match finding.state {
        Health::Well => "ok",
        Health::Note => "-",
        Health::Wrong => "wrong",
    };
    let (head, margin) = if columns < NARROW {
        (format!("{state:<6} {}\n{:UNDER$}", finding.what, ""), UNDER)
    } else {
        (format!("{state:<6} {:<14} ", finding.what), BESIDE)
    };
    let rows = Line::of(&finding.found, PLAIN).wrapped(columns - margin);
    let rows: Vec<String> = rows.iter().map(|it| it.rendered(Colour::Off)).collect();
    format!("{head}{}", rows.join(&format!("\n{:margin$}", "")))
}

/// Where what was found begins, and from which width on it has room there.
const UNDER: usize = 7;
const BESIDE: usize = 22;
const NARROW: usize = 56;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_hang_where_there_is_room_for_them() {
        let found = "0 of 15 can be asked; a discussion takes 2".to_owned();
        let finding = Finding { what: "providers".to_owned(), state: Health::Wrong, found };
        let check = |columns, expected: &str| assert_eq!(row(&finding, columns), expected);
        check(usize::MAX, "wrong  providers      0 of 15 can be asked; a discussion takes 2");
        check(60, "wrong  providers      0 of 15 can be asked; a discussion\n                      takes 2");
        check(40, "wrong  providers\n       0 of 15 can be asked; a\n       discussion takes 2");
    }
}
