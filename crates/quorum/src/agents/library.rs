//! The verbs about agents: list, show, register, remove and import.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use quorum_core::{
    call::tokens::Family,
    model::{
        agent::{Agent, Candidate, LeftOut, Reason},
        participant::Participant,
    },
};
use serde::Serialize;

use super::{
    AgentError, Folders, Profile,
    ability::Ability,
    document::{self, ENDINGS, LARGEST, ending_of},
    folders::{self, Found, read_text},
    resolve::{Situation, seat_of},
};
use crate::{
    Quorum,
    request::{Request, Voicing},
};

/// An agent in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentEntry {
    /// The agent's id.
    pub id: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What it is, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it is for, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The provider it would speak through; absent if none of its providers can be asked here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaks_through: Option<String>,
    /// Why this provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The weight of its vote.
    pub weight: f64,
    /// Whether it may be seated.
    pub enabled: bool,
    /// The tasks it knows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// Whose folder it is from: `project`, `user` or `automatosx`.
    pub folder: &'static str,
    /// Warnings about the profile and its abilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// An agent as it would be seated for a topic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The entry in the list.
    #[serde(flatten)]
    pub entry: AgentEntry,
    /// The text of its profile and abilities, which precedes our own in every system text.
    pub text: String,
    /// Its tokens, counted for the provider it would speak through.
    pub tokens: u64,
    /// The abilities in it.
    pub abilities: Vec<ShownAgentAbility>,
    /// The abilities that the profile names and that were not found.
    pub missing: Vec<String>,
    /// The abilities that are left out.
    pub left_out: Vec<LeftOut>,
    /// All providers it may speak through, in the order in which they are tried.
    pub candidates: Vec<String>,
    /// The profile.
    #[serde(skip)]
    pub file: PathBuf,
}

/// An ability with its size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownAgentAbility {
    /// The ability.
    pub id: String,
    /// A hash of its file's text.
    pub digest: String,
    /// Its tokens.
    pub tokens: u64,
}

/// A file that was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The id.
    pub id: String,
    /// Where it is kept.
    pub file: PathBuf,
}

/// Everything that was imported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The agents.
    pub agents: Vec<Registered>,
    /// The abilities.
    pub abilities: Vec<Registered>,
}

impl Quorum {
    /// All agents, and the errors of profiles that can't be used.
    #[must_use]
    pub fn agents(&self) -> (Vec<AgentEntry>, Vec<AgentError>) {
        self.agents_with(self.usual_voicing())
    }

    /// The same for orders with these voices.
    #[must_use]
    pub fn agents_with(&self, voicing: Voicing) -> (Vec<AgentEntry>, Vec<AgentError>) {
        let situation = self.situation(voicing, "");
        let (mut entries, mut wrong) = (Vec::new(), Vec::new());
        for profile in self.setting().agents.profiles() {
            match profile.and_then(|found| Ok((seat_of(&found.profile, &situation)?, found))) {
                Ok((seat, found)) => entries.push(agent_entry(&found, &seat, &situation)),
                Err(error) => wrong.push(error),
            }
        }
        (entries, wrong)
    }

    /// An agent as it would be seated for this topic.
    pub fn agent(&self, id: &str, topic: &str) -> Result<Shown, AgentError> {
        let found = self.setting().agents.profile(id)?;
        let situation = self.situation(self.usual_voicing(), topic);
        let seat = seat_of(&found.profile, &situation)?;
        let family = Family::of(&seat);
        let entry = agent_entry(&found, &seat, &situation);
        let agent = seat.agent.as_deref().cloned().unwrap_or_default();
        let behind = agent.behind(&seat);
        let shown = behind.map(|it| it.abilities.as_slice()).unwrap_or_default();
        let abilities = shown.iter().filter_map(|id| agent.abilities.iter().find(|it| it.id == *id));
        let abilities = abilities.map(|it| ShownAgentAbility {
            id: it.id.clone(),
            digest: it.digest.clone(),
            tokens: family.estimate(&it.text),
        });
        let text = agent.standing_text(&seat);
        Ok(Shown {
            tokens: family.estimate(&text),
            text,
            abilities: abilities.collect(),
            left_out: behind.map(|it| it.left_out.clone()).unwrap_or_default(),
            candidates: agent.candidates.iter().map(Candidate::written).collect(),
            missing: agent.missing.clone(),
            file: found.file,
            entry,
        })
    }

    /// Remarks about an agent's files that are not errors.
    pub(crate) fn agent_warnings(&self, agent: &Agent) -> Vec<String> {
        let Ok(found) = self.folders().profile(&agent.id) else { return Vec::new() };
        warnings(&found, agent, self.folders())
    }

    /// Stores a profile or an ability in the user's folder, under its id. `name` is the name of its
    /// file; without one that says its format, the format is recognised by the content.
    pub fn register(&self, name: Option<&Path>, text: &str, replace: bool) -> Result<Registered, AgentError> {
        let name = name.unwrap_or(Path::new("input"));
        let file = match document::is_read(name) {
            true => name.to_owned(),
            false => name.with_extension(ending_of(text)),
        };
        if LARGEST < text.len() as u64 {
            let message = format!("is larger than {} KiB", LARGEST / 1024);
            return Err(AgentError::File { file, message });
        }
        let part = AgentFile::of(&file, text)?;
        part.check_place(self.folders(), replace)?;
        part.store(self.folders())
    }

    /// Reads a file and stores it like [`Quorum::register`].
    pub fn register_file(&self, file: &Path, replace: bool) -> Result<Registered, AgentError> {
        self.register(Some(file), &read_text(file)?, replace)
    }

    /// Removes an agent from the user's folder, but not its abilities, which other agents may
    /// share.
    pub fn remove_agent(&self, id: &str) -> Result<PathBuf, AgentError> {
        let own = self.folders().own()?.clone();
        let beside = Folders::beside(&own.path.join("config.toml"));
        let found = beside.profile(id)?;
        let gone = fs::remove_file(&found.file);
        gone.map_err(|error| AgentError::File { file: found.file.clone(), message: error.to_string() })?;
        Ok(found.file)
    }

    /// Stores all profiles and abilities of a folder, or none if one has mistakes, and returns the
    /// mistakes. They are in its `agents` and `abilities`, or in the folder itself.
    pub fn import_agents(&self, folder: &Path, replace: bool) -> Result<Imported, Vec<AgentError>> {
        let places = [folder.to_owned(), folder.join("agents"), folder.join("abilities")];
        let beside = folder.parent().filter(|_| folder.ends_with("agents")).map(|it| it.join("abilities"));
        let files: Vec<(PathBuf, PathBuf)> = places
            .into_iter()
            .chain(beside)
            .flat_map(|place| folders::files(&place).into_iter().map(move |file| (place.clone(), file)))
            .collect();
        if !folder.is_dir() {
            let message = if folder.exists() { "is not a folder" } else { "does not exist" };
            return Err(vec![AgentError::File { file: folder.to_owned(), message: message.to_owned() }]);
        }
        let mut wrong: Vec<AgentError> = Vec::new();
        let mut parts: Vec<AgentFile> = Vec::new();
        for (place, file) in &files {
            match folders::read_inside(place, file).and_then(|text| AgentFile::of(file, &text)) {
                Ok(part) => match parts.iter_mut().find(|it| it.is_same(&part)) {
                    Some(first) if first.profile.is_some() => wrong.push(AgentError::Twice {
                        id: part.id.clone(),
                        files: Box::new((first.file.clone(), part.file.clone())),
                    }),
                    Some(first) => first.prefer_newer(part),
                    None => parts.push(part),
                },
                Err(error) => wrong.push(error),
            }
        }
        let places = parts.iter().map(|it| it.check_place(self.folders(), replace));
        wrong.extend(places.filter_map(Result::err));
        if files.is_empty() {
            let message = "has no profiles and no abilities".to_owned();
            wrong.push(AgentError::File { file: folder.to_owned(), message });
        }
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut imported = Imported::default();
        for part in parts {
            let kept = part.store(self.folders()).map_err(|error| vec![error])?;
            let list = if part.profile.is_some() { &mut imported.agents } else { &mut imported.abilities };
            list.push(kept);
        }
        Ok(imported)
    }

    fn folders(&self) -> &Folders {
        &self.setting().agents
    }

    fn situation<'s>(&'s self, voicing: Voicing, topic: &'s str) -> Situation<'s> {
        Situation { topic, ..Situation::of(self.setting(), voicing == Voicing::Simulated) }
    }

    /// The voices of an order that doesn't name any.
    fn usual_voicing(&self) -> Voicing {
        let usual = self.config().fill(&Request::default()).0;
        if usual.wants_simulation() { Voicing::Simulated } else { self.setting().voicing }
    }
}

/// Remarks about the files of an agent and its abilities.
fn warnings(found: &Found, agent: &Agent, folders: &Folders) -> Vec<String> {
    let abilities: Vec<&str> = agent.abilities.iter().map(|it| it.id.as_str()).collect();
    found.warning().into_iter().chain(folders.ability_warnings(&abilities)).collect()
}

fn agent_entry(found: &Found, seat: &Participant, situation: &Situation<'_>) -> AgentEntry {
    let Found { profile, kind, .. } = found;
    let agent = seat.agent.as_deref();
    let warnings = agent.map(|it| warnings(found, it, situation.folders)).unwrap_or_default();
    let behind = agent.and_then(|it| it.behind(seat));
    let behind = behind.filter(|it| situation.has_voice(&it.provider));
    let tasks: BTreeMap<&str, ()> = profile.tasks().map(|it| (it, ())).collect();
    AgentEntry {
        id: profile.id.clone(),
        display_name: profile.display_name.clone(),
        role: profile.role.clone(),
        description: profile.description.clone(),
        speaks_through: behind.map(Candidate::written),
        reason: behind.map(|it| it.reason.clone()),
        weight: seat.weight,
        enabled: profile.enabled,
        tasks: tasks.into_keys().map(str::to_owned).collect(),
        folder: kind.name(),
        warning: Some(warnings.join("; ")).filter(|it| !it.is_empty()),
    }
}

/// A checked profile or ability with the text of its file.
struct AgentFile {
    id: String,
    file: PathBuf,
    text: String,
    /// `None` for an ability.
    profile: Option<Profile>,
}

impl AgentFile {
    /// The profile or ability in this text. An ability is known by its id's field, or by its
    /// folder.
    fn of(file: &Path, text: &str) -> Result<Self, AgentError> {
        let read = document::read(file, text)?;
        let in_abilities = file.parent().is_some_and(|it| it.ends_with("abilities"));
        let is_ability = !read.fields.contains_key("agentId")
            && (in_abilities || read.fields.contains_key("abilityId") || read.fields.contains_key("prompts"));
        let (file, text) = (file.to_owned(), text.to_owned());
        if is_ability {
            let id = Ability::of(&file, read, &text)?.id;
            return Ok(AgentFile { id, file, text, profile: None });
        }
        let profile = Profile::of(&file, read)?;
        Ok(AgentFile { id: profile.id.clone(), file, text, profile: Some(profile) })
    }

    fn is_same(&self, other: &AgentFile) -> bool {
        (&self.id, self.profile.is_some()) == (&other.id, other.profile.is_some())
    }

    /// Keeps the one of two files in the newer format, as a search in the folders does.
    fn prefer_newer(&mut self, other: AgentFile) {
        let format = |it: &AgentFile| ENDINGS.iter().position(|ending| *ending == it.ending());
        if format(self) < format(&other) {
            *self = other;
        }
    }

    fn ending(&self) -> String {
        document::ending(&self.file)
    }

    fn folder(&self, folders: &Folders) -> Result<PathBuf, AgentError> {
        let own = folders.own()?;
        Ok(if self.profile.is_some() { own.agents() } else { own.abilities() })
    }

    /// The files of the user's folder with the same id, by their name or their content.
    fn present(&self, folders: &Folders) -> Result<Vec<PathBuf>, AgentError> {
        let own = folders.own()?;
        let is_same = |it: &PathBuf| match self.profile {
            Some(_) => folders::is_of(own, it, &self.id),
            None => folders::is_of_ability(own, it, &self.id),
        };
        Ok(folders::files(&self.folder(folders)?).into_iter().filter(is_same).collect())
    }

    /// Refuses to overwrite a file that differs.
    fn check_place(&self, folders: &Folders, replace: bool) -> Result<(), AgentError> {
        let differs = |it: &PathBuf| fs::read_to_string(it).map_or(true, |text| text != self.text);
        match self.present(folders)?.into_iter().find(differs) {
            Some(file) if !replace => Err(AgentError::Exists { id: self.id.clone(), file }),
            _ => Ok(()),
        }
    }

    /// Writes the file, whole or not at all, and removes one of another format.
    fn store(&self, folders: &Folders) -> Result<Registered, AgentError> {
        let folder = self.folder(folders)?;
        let ending = self.ending();
        let file = folder.join(format!("{}.{ending}", self.id));
        let part = folder.join(format!("{}.{ending}.part", self.id));
        let wrong =
            |error: std::io::Error| AgentError::File { file: file.clone(), message: error.to_string() };
        crate::config::make_directory(&folder).map_err(wrong)?;
        fs::write(&part, &self.text).map_err(wrong)?;
        fs::rename(&part, &file).map_err(wrong)?;
        for other in self.present(folders)?.into_iter().filter(|it| *it != file) {
            fs::remove_file(&other).map_err(wrong)?;
        }
        Ok(Registered { id: self.id.clone(), file })
    }
}
