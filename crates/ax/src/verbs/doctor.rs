//! `ax doctor`: checks the setup, and says what to do about each problem.

use std::path::Path;

use quorum::{
    CapEntry, Checked, Unanswered,
    doctor::{Exposure, Finding, Health, LEAST_PROVIDERS, Reached, Salvage, Salvaged, examine, salvage},
    model::error::ErrorClass,
    setup::{KeyFrom, Machine},
    text::{count, grouped, local_of_iso},
};
use serde::Serialize;

use crate::{
    app::{App, WithoutProviders},
    args::Doctor,
    exit::Exit,
    render::{
        line::{Colour, Line, PLAIN},
        print, print_json, room, wording,
    },
    verbs::telemetry,
};

/// Runs all checks; fails if something has to be fixed.
pub(crate) fn doctor(app: &App, args: &Doctor) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.salvage {
        let salvage = runtime.block_on(salvage(&app.config()?))?;
        print(&saved(&salvage))?;
        return Ok(Exit::Done);
    }
    let mut findings = runtime.block_on(examine(&Machine::this(), &app.registry));
    // With mistakes in the configuration, which are listed, nobody can be asked.
    if args.live
        && let Ok(config) = app.config()
    {
        let health = runtime.block_on(app.open(config, WithoutProviders::Refuse)?.health());
        findings.extend(health.into_iter().map(|(name, checked)| Finding::Live { name, checked }));
    }
    let mut rows: Vec<Row> = findings.iter().map(Row::of).collect();
    rows.sort_by_key(|it| it.state != WRONG);
    if args.listed.json {
        print_json(&rows)?;
    } else {
        let columns = room();
        print(&rows.iter().map(|it| it.wrapped(columns)).collect::<Vec<_>>().join("\n"))?;
    }
    let well = findings.iter().all(|it| it.health() != Health::Wrong);
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
        lines.push(format!("Of those saved, {short} lost the end; `ax resume ID` continues from there."));
    }
    let (old, new) = (damaged.display(), new.display());
    lines.push(format!("{old} is unchanged. To replace it with {new}, while no other ax runs:"));
    // The write-ahead log of another database would damage the new one.
    let files = ["", "-wal", "-shm"].map(|ending| format!("{old}{ending}"));
    let there = files.iter().filter(|it| Path::new(it).exists());
    lines.extend(there.map(|it| format!("  mv {it} {it}.damaged")));
    lines.push(format!("  mv {new} {old}"));
    lines.join("\n")
}

/// The state of what has to be fixed. Such findings come first.
const WRONG: &str = "wrong";

/// A finding as it is printed.
#[derive(Debug, Serialize)]
struct Row {
    what: String,
    state: &'static str,
    found: String,
}

impl Row {
    fn of(finding: &Finding) -> Row {
        let state = match finding.health() {
            Health::Well => "well",
            Health::Note => "note",
            Health::Wrong => WRONG,
        };
        Row { what: subject(finding), state, found: found(finding) }
    }

    /// Puts the finding beside its subject, or on a narrow terminal below it.
    fn wrapped(&self, columns: usize) -> String {
        let state = match self.state {
            "well" => "ok",
            "note" => "-",
            other => other,
        };
        let (head, margin) = if columns < NARROW {
            (format!("{state:<6} {}\n{:UNDER$}", self.what, ""), UNDER)
        } else {
            (format!("{state:<6} {:<14} ", self.what), BESIDE)
        };
        let rows = Line::of(&self.found, PLAIN).wrapped(columns - margin);
        let rows: Vec<String> = rows.iter().map(|it| it.rendered(Colour::Off)).collect();
        format!("{head}{}", rows.join(&format!("\n{:margin$}", "")))
    }
}

fn subject(finding: &Finding) -> String {
    match finding {
        Finding::Configuration { .. }
        | Finding::BadConfiguration(_)
        | Finding::Mistake { .. }
        | Finding::UnsetToken { .. } => "configuration".to_owned(),
        Finding::Data { .. } | Finding::ExposedData { .. } => "data".to_owned(),
        Finding::Database { .. }
        | Finding::SharedDatabase { .. }
        | Finding::ExposedDatabase { .. }
        | Finding::BadDatabase(_) => "database".to_owned(),
        Finding::Hidden { .. } => "retention".to_owned(),
        Finding::Spending { .. } => "spending".to_owned(),
        Finding::Node { .. } => "node".to_owned(),
        Finding::Queue { .. } => "queue".to_owned(),
        Finding::Clock | Finding::EarlyClock | Finding::ClockOff { .. } => "clock".to_owned(),
        Finding::Port { .. } => "port".to_owned(),
        Finding::Prices { .. } => "prices".to_owned(),
        Finding::Tracing(_) => "tracing".to_owned(),
        Finding::BadSetup(_) => "keys and prices".to_owned(),
        Finding::Providers { .. } => "providers".to_owned(),
        Finding::Provider { name, .. } | Finding::Lacking { name, .. } => name.clone(),
        Finding::Live { name, .. } => format!("{name} (live)"),
    }
}

/// What was found, and what to do about it.
fn found(finding: &Finding) -> String {
    match finding {
        Finding::Configuration { file, exists: true } => format!("{} is fine", file.display()),
        Finding::Configuration { file, exists: false } => {
            format!("{} does not exist, which is fine", file.display())
        }
        Finding::BadConfiguration(error) | Finding::BadSetup(error) => wording::config(error).join("\n"),
        Finding::Mistake { file, mistake } => format!("{}: {}", file.display(), wording::mistake(mistake)),
        Finding::UnsetToken { file, mistake } => {
            format!("{}: {}; `ax serve` needs it", file.display(), wording::mistake(mistake))
        }
        Finding::Data { directory, trouble: None } => format!("{} is writable", directory.display()),
        Finding::Data { directory, trouble: Some(trouble) } => format!(
            "{} is not writable: {trouble}; set AX_DATA_DIR to a writable directory",
            directory.display()
        ),
        Finding::ExposedData { directory, exposure } => exposed(directory, *exposure),
        Finding::ExposedDatabase { file } => format!(
            "{0} is intact, but other users can read it; run `chmod 600 {0}` as its owner",
            file.display()
        ),
        Finding::Hidden { discussions, days } => hidden(*discussions, *days),
        Finding::SharedDatabase { address } => format!("{address} can be used"),
        Finding::Database { file, damage: None } => format!("{} is intact", file.display()),
        Finding::Database { file, damage: Some(damage) } => format!(
            "{} is damaged: {damage}; `ax doctor --salvage` saves what can be read into a new one",
            file.display()
        ),
        Finding::BadDatabase(error) => wording::store(error),
        Finding::Spending { name, tenant, caps } => spending(name, tenant, caps),
        Finding::Node { name, version, held, draining, differs } => {
            let what = if *draining { "is ending and still runs" } else { "runs" };
            let differs = if *differs { "; its configuration differs from this one" } else { "" };
            format!("{name}, version {version}, {what} {}{differs}", count(*held, "discussion"))
        }
        Finding::Queue { queued, stuck } => queue(*queued, *stuck),
        Finding::Tracing(status) => telemetry::told(status),
        Finding::Clock => "it is later than every record".to_owned(),
        Finding::ClockOff { behind_ms } => {
            let side = if *behind_ms < 0 { "ahead of" } else { "behind" };
            let seconds = grouped(behind_ms.unsigned_abs() / 1_000);
            format!("it is {seconds} s {side} that of the database; set the machine's clock, best by NTP")
        }
        Finding::EarlyClock => "it is earlier than the newest record; set the machine's clock".to_owned(),
        Finding::Port { address, trouble: None } => format!("{address} is free for `ax serve`"),
        Finding::Port { address, trouble: Some(trouble) } => format!(
            "{address} can't be listened on: {trouble}; if that is not an `ax serve`, choose another with --port \
             or [server] listen"
        ),
        Finding::Prices { imported: 0 } => "built-in; `ax prices import FILE` imports newer ones".to_owned(),
        Finding::Prices { imported } => format!("imported for {}", count(*imported as u64, "model")),
        Finding::Providers { available, known, voices, is_program } => {
            providers((*available, *known), *voices, *is_program)
        }
        Finding::Provider { reached, priced, .. } => provider(reached, *priced),
        Finding::Lacking { name, missing } => wording::lacks(name, missing),
        Finding::Live { checked: Ok(checked), .. } => answering(checked).to_owned(),
        Finding::Live { checked: Err(trouble), .. } => unanswered(trouble),
    }
}

fn queue(queued: u64, stuck: u64) -> String {
    let waiting = format!("{} for a process; `ax serve` runs them", waits(queued));
    let aside = format!(
        "{} put aside because every run failed without progress; `ax history` lists them as stuck, and \
         `ax resume ID` tries again",
        count(stuck, "discussion")
    );
    let parts = [(queued, waiting), (stuck, aside)];
    parts.into_iter().filter(|it| 0 < it.0).map(|it| it.1).collect::<Vec<_>>().join(". ")
}

fn waits(queued: u64) -> String {
    format!("{} {}", count(queued, "discussion"), if queued == 1 { "waits" } else { "wait" })
}

fn exposed(directory: &Path, exposure: Exposure) -> String {
    let name = directory.display();
    let what = match exposure {
        Exposure::Readable => "is writable; other users can list its files",
        Exposure::Writable => "is writable by other users, who could replace its files",
    };
    format!("{name} {what}; run `chmod 700 {name}`")
}

/// What is left of each cap of an account.
fn spending(name: &str, tenant: &str, caps: &[CapEntry]) -> String {
    let caps: Vec<String> = caps.iter().map(cap).collect();
    let whose = match (name, tenant) {
        ("", _) => "this command".to_owned(),
        (name, "") => format!("token {name}"),
        (name, tenant) => format!("token {name} of {tenant}"),
    };
    format!("{whose}: {}", caps.join("; "))
}

/// One spending cap in words.
pub(crate) fn cap(cap: &CapEntry) -> String {
    let CapEntry { period, cap_usd, spent_usd, reserved_usd, left_usd, renews_at } = cap;
    let reserved = if *reserved_usd > 0.0 {
        format!(", ${reserved_usd:.4} set aside for running discussions")
    } else {
        String::new()
    };
    format!(
        "${spent_usd:.4} of ${cap_usd:.4} a {period} spent{reserved}, ${left_usd:.4} left; it renews at {}",
        local_of_iso(renews_at)
    )
}

fn hidden(discussions: u64, days: u64) -> String {
    let (number, are) = (count(discussions, "discussion"), if discussions == 1 { "is" } else { "are" });
    format!(
        "{number} {are} hidden and removed for good {days} days after that; `ax restore` lists them and \
         brings them back"
    )
}

fn providers((available, known): (usize, usize), voices: usize, is_program: bool) -> String {
    let are = if available == 1 { "is" } else { "are" };
    let found = format!("{available} of {known} {are} available");
    if available >= LEAST_PROVIDERS {
        return found;
    }
    if voices >= LEAST_PROVIDERS {
        return format!("{found}, and {voices} of its models discuss; other vendors bring other views");
    }
    if is_program {
        return format!("{found}, and takes {LEAST_PROVIDERS} seats; other vendors bring other views");
    }
    format!(
        "{found}; a discussion takes {LEAST_PROVIDERS} voices; set a key as shown below. Until then, \
         `--offline` uses simulated voices"
    )
}

fn provider(reached: &Reached, priced: bool) -> String {
    let way = match reached {
        Reached::Http { base, key } => format!("at {base}, {}", key_from(key.as_ref())),
        Reached::Command(program) => wording::program(program),
    };
    if priced {
        return way;
    }
    let advice = "`ax prices import FILE`, or price in config.toml, makes --max-cost possible";
    format!("{way}; unpriced: {advice}")
}

fn key_from(key: Option<&KeyFrom>) -> String {
    match key {
        Some(KeyFrom::Environment(name)) => format!("key from {name}"),
        Some(KeyFrom::File(name)) => format!("key from keys.toml ({name})"),
        None => "without a key".to_owned(),
    }
}

fn answering(checked: &Checked) -> &str {
    match checked {
        Checked::Answers => "would answer",
        Checked::Noticed(noticed) => noticed,
        Checked::LoggedIn => "is logged in and ready",
        Checked::Installed => "is installed; its login is checked with its first answer",
    }
}

fn unanswered(trouble: &Unanswered) -> String {
    let advice = match trouble {
        Unanswered::NoVoice => return trouble.to_string(),
        // The error for an invalid response names its likely cause itself.
        Unanswered::Failed(error) if error.class == ErrorClass::InvalidResponse => return error.to_string(),
        Unanswered::Failed(error) if error.class != ErrorClass::Timeout => wording::advice(error.class),
        // The usual advice on timeouts, to allow more time, doesn't apply to this check.
        Unanswered::Failed(_) | Unanswered::Late => "check that it is running, and try again",
    };
    format!("{trouble}; {advice}")
}

/// The margins of a finding below and beside its subject, and the width from which it goes beside.
const UNDER: usize = 7;
const BESIDE: usize = 22;
const NARROW: usize = 56;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_indented_if_there_is_room() {
        let found = "0 of 15 are available; a discussion takes 2".to_owned();
        let row = Row { what: "providers".to_owned(), state: "wrong", found };
        let check = |columns, expected: &str| assert_eq!(row.wrapped(columns), expected);
        check(usize::MAX, "wrong  providers      0 of 15 are available; a discussion takes 2");
        check(60, "wrong  providers      0 of 15 are available; a discussion\n                      takes 2");
        check(40, "wrong  providers\n       0 of 15 are available; a\n       discussion takes 2");
    }
}
