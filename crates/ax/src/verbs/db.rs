//! `ax db`: updates, checks and moves a database as a whole.

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use quorum::{
    Config, Error,
    database::{self, Database, Location, Moved, Moving, Purpose, Sample, Sound},
    text::{count, grouped},
};
use serde_json::json;

use crate::{
    app::App,
    args::{CheckDatabase, Db, DbVerb, MoveDatabase, OneDatabase},
    exit::{Exit, Setup, Usage},
    render::{note, print, print_json},
};

/// How often progress is printed.
const EVERY: Duration = Duration::from_secs(1);

/// `ax db`
pub(crate) fn db(app: &App, args: &Db) -> anyhow::Result<Exit> {
    let config = app.config()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let exit = runtime.block_on(async {
        match &args.verb {
            DbVerb::Migrate(args) => migrate(&config, args),
            DbVerb::Check(args) => check(&config, args).await,
            DbVerb::Move(args) => relocate(&config, args).await,
        }
    });
    runtime.shutdown_background();
    exit
}

fn location(text: &str) -> Result<Location, Usage> {
    Location::parse(text).map_err(Usage)
}

fn open(config: &Config, args: &OneDatabase, purpose: Purpose) -> anyhow::Result<Database> {
    let location = match &args.database {
        Some(text) => location(text)?,
        None => Location::configured(config),
    };
    Ok(Database::open(&location, purpose).map_err(Error::Store)?)
}

fn migrate(config: &Config, args: &OneDatabase) -> anyhow::Result<Exit> {
    let database = open(config, args, Purpose::Migrate)?;
    let (before, after) = database.versions();
    if args.listed.json {
        print_json(&json!({ "database": database.to_string(), "before": before, "after": after }))?;
    } else if before == after {
        print(&format!("{database} is up to date, at version {after}."))?;
    } else if before == 0 {
        print(&format!("Created the tables of {database}, at version {after}."))?;
    } else {
        print(&format!("Updated {database} from version {before} to {after}."))?;
    }
    Ok(Exit::Done)
}

async fn check(config: &Config, args: &CheckDatabase) -> anyhow::Result<Exit> {
    let database = open(config, &args.one, Purpose::Read)?;
    let sample = if args.all { Sample::All } else { Sample::Of(args.sample) };
    let sound = database::check(&database, sample).await.map_err(Error::Store)?;
    if args.one.listed.json {
        print_json(&checked_json(&database, &sound))?;
    } else {
        print(&checked(&database, &sound))?;
    }
    Ok(if sound.flaws.is_empty() { Exit::Done } else { Exit::Setup })
}

fn checked_json(database: &Database, sound: &Sound) -> serde_json::Value {
    let flaw =
        |it: &quorum::seams::transfer::Flaw| json!({ "rule": it.rule.summary(), "examples": it.examples });
    let flaws: Vec<_> = sound.flaws.iter().map(flaw).collect();
    json!({
        "database": database.to_string(),
        "discussions": sound.totals.discussions,
        "facts": sound.totals.facts,
        "sampled": sound.sampled,
        "flaws": flaws,
    })
}

fn checked(database: &Database, sound: &Sound) -> String {
    let (discussions, facts) = (sound.totals.discussions, sound.totals.facts);
    let (discussions, facts) = (count(discussions, "discussion"), count(facts, "fact"));
    let derived = format!("lists and tables were derived again for {}", grouped(sound.sampled));
    let mut lines = vec![format!("{database} has {discussions} with {facts}; {derived}.")];
    if sound.flaws.is_empty() {
        lines.push("Nothing is wrong.".to_owned());
    }
    for flaw in &sound.flaws {
        lines.push(format!("wrong: this rule is broken: {}:", flaw.rule.summary()));
        lines.extend(flaw.examples.iter().map(|it| format!("  {it}")));
    }
    lines.join("\n")
}

/// Where to move from and to.
fn ends(config: &Config, args: &MoveDatabase) -> anyhow::Result<(Location, Location)> {
    let file = || Ok(Location::configured_file(config));
    let shared = || {
        match &config.store.url {
        Some(url) => Ok(Location::Shared(url.clone())),
        None => Err(Usage(
            "no PostgreSQL database is configured; set AX_DATABASE_URL or [store] url, or give --from and --to"
                .to_owned(),
        )),
    }
    };
    let given = |text: &Option<String>| text.as_deref().map(location).transpose();
    let (from, to) = (given(&args.from)?, given(&args.to)?);
    let from = from.map_or_else(|| if args.back { shared() } else { file() }, Ok)?;
    let to = to.map_or_else(|| if args.back { file() } else { shared() }, Ok)?;
    Ok((from, to))
}

async fn relocate(config: &Config, args: &MoveDatabase) -> anyhow::Result<Exit> {
    let (from, to) = ends(config, args)?;
    if from == to {
        return Err(Usage("both databases are the same; nothing was moved".to_owned()).into());
    }
    let from = Database::open(&from, Purpose::Read).map_err(Error::Store)?;
    let to = Database::open(&to, Purpose::Use).map_err(Error::Store)?;
    let mut progress = MoveProgress::default();
    let moved = database::relocate(&from, &to, &mut |moving| progress.print(moving)).await;
    let moved = moved.map_err(|error| match error {
        database::Error::Store(error) => anyhow::Error::from(Error::Store(error)),
        other => Setup(other.to_string()).into(),
    })?;
    if args.listed.json {
        print_json(&moved_json(&from, &to, &moved))?;
    } else {
        print(&report(&from, &to, &moved))?;
    }
    Ok(Exit::Done)
}

/// Progress for a person at a terminal.
struct MoveProgress(Instant);

impl Default for MoveProgress {
    fn default() -> Self {
        MoveProgress(Instant::now())
    }
}

impl MoveProgress {
    fn print(&mut self, moving: Moving) {
        if self.0.elapsed() < EVERY || !stderr().is_terminal() {
            return;
        }
        self.0 = Instant::now();
        note(&match moving {
            Moving::Writing { done, all } => format!("Moved {} of {}.", grouped(done), grouped(all)),
            Moving::Comparing { done, all } => format!("Compared {} of {}.", grouped(done), grouped(all)),
        });
    }
}

fn facts_per_second(moved: &Moved) -> u64 {
    (moved.facts as f64 / moved.writing.as_secs_f64().max(0.001)) as u64
}

fn moved_json(from: &Database, to: &Database, moved: &Moved) -> serde_json::Value {
    json!({
        "from": from.to_string(),
        "to": to.to_string(),
        "written": moved.written,
        "known": moved.known,
        "facts": moved.facts,
        "rows": moved.rows,
        "unfinished": moved.unfinished,
        "factsPerSecond": facts_per_second(moved),
    })
}

fn report(from: &Database, to: &Database, moved: &Moved) -> String {
    let (written, facts) = (count(moved.written, "discussion"), count(moved.facts, "fact"));
    let seconds = moved.writing.as_secs_f64();
    let mut lines = vec![format!(
        "Moved {written} with {facts} and {} in {seconds:.1} s ({} facts a second), from {from} to {to}.",
        count(moved.rows, "other row"),
        grouped(facts_per_second(moved)),
    )];
    if 0 < moved.known {
        lines.push(format!("An earlier move had already copied {}.", count(moved.known, "discussion")));
    }
    lines.push("Both sides were compared and are the same; the source is unchanged.".to_owned());
    if 0 < moved.unfinished {
        lines.push(format!(
            "{} not over and could be run from both; use only {to} from now on.",
            match moved.unfinished {
                1 => "1 discussion is".to_owned(),
                more => format!("{} discussions are", grouped(more)),
            }
        ));
    }
    lines.join("\n")
}
