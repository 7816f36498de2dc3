//! The folder of an evaluation: what it was started with, and its report.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use quorum::{
    Scope,
    eval::{Report, digest, formats::LARGEST_FILE, report},
    export,
    model::id::DiscussionId,
    request::Simulate,
};
use serde::{Deserialize, Serialize};

use crate::{
    args::{Eval, input::unreadable},
    exit::Usage,
    render::wording::to_see_it_again,
};

const MANIFEST: &str = "eval.json";
const DISCUSSIONS: &str = "discussions";

/// The folder of an evaluation.
pub(super) struct Folder {
    pub(super) path: PathBuf,
}

/// What an evaluation was started with. Written before anything is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Settings {
    /// The id of the run, by which its discussions are found again.
    pub(super) run: String,
    /// A digest of the file of questions.
    pub(super) digest: String,
    pub(super) file: String,
    pub(super) protocols: Option<String>,
    pub(super) providers: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) seed: u64,
    pub(super) repeat: u32,
    pub(super) judge: Option<String>,
    #[serde(default)]
    pub(super) judge_on_panel: bool,
    pub(super) skip_bad: bool,
    pub(super) independent: bool,
    pub(super) allow_unpriced: bool,
    pub(super) offline: bool,
    pub(super) simulate: Option<Simulate>,
    pub(super) world: Option<String>,
    pub(super) max_cost: Option<f64>,
    /// The voice that did best in earlier outcomes when it was started, if one did.
    #[serde(default)]
    pub(super) known_best: Option<String>,
}

impl Settings {
    /// The name of the session that holds its discussions.
    pub(super) fn session_name(&self) -> String {
        let stem: String = self.file.chars().take(80).collect();
        format!("eval {stem} {}", &self.run[self.run.len().saturating_sub(8)..])
    }

    /// The settings of a new run with these arguments.
    fn new(args: &Eval, bytes: &[u8]) -> Settings {
        Settings {
            run: DiscussionId::fresh().to_string(),
            digest: digest(bytes),
            file: args.file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default(),
            protocols: args.protocols.clone(),
            providers: args.providers.clone(),
            limit: args.limit,
            seed: args.seed.unwrap_or(1),
            repeat: args.repeat.unwrap_or(1) as u32,
            judge: args.judge.clone(),
            judge_on_panel: args.judge_on_panel,
            skip_bad: args.skip_bad,
            independent: args.independent,
            allow_unpriced: args.allow_unpriced,
            offline: args.offline || args.simulate.is_some(),
            simulate: args.simulate.clone(),
            world: args.world.as_ref().map(ToString::to_string),
            max_cost: args.max_cost,
            known_best: None,
        }
    }

    /// The settings of an earlier run with the budget of these arguments; a flag that contradicts
    /// these settings is refused.
    fn resumed(self, args: &Eval, bytes: &[u8]) -> Result<Settings, Usage> {
        if self.digest != digest(bytes) {
            let message =
                format!("{} has changed since the evaluation was started; start another one", self.file);
            return Err(Usage(message));
        }
        let given = Settings::new(args, bytes);
        let changed = [
            ("--protocols", args.protocols.is_some() && given.protocols != self.protocols),
            ("--providers", args.providers.is_some() && given.providers != self.providers),
            ("--limit", args.limit.is_some() && given.limit != self.limit),
            ("--seed", args.seed.is_some() && given.seed != self.seed),
            ("--repeat", args.repeat.is_some() && given.repeat != self.repeat),
            ("--judge", args.judge.is_some() && given.judge != self.judge),
            ("--independent", args.independent && !self.independent),
            ("--skip-bad", args.skip_bad && !self.skip_bad),
            ("--offline", args.offline && !self.offline),
            ("--simulate", args.simulate.is_some() && given.simulate != self.simulate),
            ("--world", args.world.is_some() && given.world != self.world),
        ];
        if let Some((flag, _)) = changed.iter().find(|it| it.1) {
            let message = format!("{flag}: the evaluation was started with another value; leave it out");
            return Err(Usage(message));
        }
        Ok(Settings { max_cost: args.max_cost, ..self })
    }
}

impl Folder {
    /// The folder that the arguments name, or one named after the file.
    pub(super) fn of(args: &Eval) -> Folder {
        let stem = args.file.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        Folder { path: args.out.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}-eval"))) }
    }

    /// The settings of the run: new ones, or those that it was started with.
    pub(super) fn settings(&self, args: &Eval, bytes: &[u8]) -> anyhow::Result<Settings> {
        let manifest = self.path.join(MANIFEST);
        let (shown, is_there) = (self.path.display(), manifest.exists());
        if !args.resume {
            if is_there && !args.dry_run {
                let message = format!(
                    "there is an evaluation in {shown} already; --resume continues it, and --out takes another folder"
                );
                return Err(Usage(message).into());
            }
            return Ok(Settings::new(args, bytes));
        }
        if !is_there {
            let message = format!("there is no evaluation in {shown} to continue; leave out --resume");
            return Err(Usage(message).into());
        }
        let text = std::fs::read_to_string(&manifest)?;
        let settings: Settings = serde_json::from_str(&text)
            .map_err(|error| Usage(format!("{} can't be read: {error}", manifest.display())))?;
        Ok(settings.resumed(args, bytes)?)
    }

    /// Writes what the run is started with. A resumed run has it already.
    pub(super) fn begin(&self, settings: &Settings) -> anyhow::Result<()> {
        self.written(MANIFEST, &serde_json::to_string_pretty(settings)?)
    }

    /// Writes the report in all its forms, and the discussions that it links.
    pub(super) async fn write(&self, scope: &Scope, report: &Report) -> anyhow::Result<()> {
        let mut linked: Vec<&str> =
            report.differing.iter().flat_map(|it| &it.answers).map(|it| it.discussion.as_str()).collect();
        linked.sort_unstable();
        linked.dedup();
        for id in &linked {
            let Ok(id) = id.parse::<DiscussionId>() else { continue };
            let discussion = scope.discussion(id).await?;
            if let Some(format) = export::named("html") {
                let page = discussion.export(format, &to_see_it_again(id)).await?;
                self.written(&format!("{DISCUSSIONS}/{id}.html"), &page)?;
            }
        }
        let link = |id: &str| Some(format!("{DISCUSSIONS}/{id}.html"));
        self.written("report.html", &report::html(report, &link))?;
        self.written("report.txt", &report::text(report))?;
        self.written("report.json", &(serde_json::to_string_pretty(report)? + "\n"))
    }

    /// Writes a file of the folder as a whole: a process that dies leaves the old one.
    fn written(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let file = self.path.join(name);
        let wrong =
            |error: std::io::Error| Usage(format!("can't write {}: {error}; choose --out", file.display()));
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).map_err(wrong)?;
        }
        let draft = file.with_extension("part");
        std::fs::write(&draft, text).map_err(wrong)?;
        std::fs::rename(&draft, &file).map_err(wrong)?;
        Ok(())
    }
}

/// Reads a file of questions. It reads one byte more than allowed, to find out whether the file is
/// too large.
pub(super) fn read_file(file: &Path) -> anyhow::Result<Vec<u8>> {
    let wrong = |error: std::io::Error| Usage(format!("{}: {}", file.display(), unreadable(&error)));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(wrong)?;
    let length = opened.metadata().map(|it| it.len()).unwrap_or_default();
    if length > LARGEST_FILE as u64 {
        let (has, most) = (length / 1_000_000, LARGEST_FILE / 1_000_000);
        return Err(
            Usage(format!("{}: the file has {has} MB; at most {most} MB are read", file.display())).into()
        );
    }
    opened.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes).map_err(wrong)?;
    Ok(bytes)
}
