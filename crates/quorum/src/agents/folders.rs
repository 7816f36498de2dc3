//! The folders that profiles and abilities are read from.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    AgentError, Profile,
    ability::Ability,
    document::{self, ENDINGS, LARGEST},
    error::file_name,
    is_agent_id,
};
use crate::config::nearest;
use quorum_core::model::excerpt::in_short;

/// The most files of a folder that are looked at.
const MOST_FILES: usize = 1_000;

/// Whose folder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderKind {
    /// The project's: `.quorum` in the working directory, or above it in the same repository.
    Project,
    /// The user's: beside the configuration. The only one that is written to.
    User,
    /// Another program's: `.automatosx` in the working directory, or above it in the same
    /// repository.
    Other,
}

impl FolderKind {
    /// The name in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FolderKind::Project => "project",
            FolderKind::User => "user",
            FolderKind::Other => "automatosx",
        }
    }
}

/// A folder with `agents` and `abilities` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Whose folder it is.
    pub kind: FolderKind,
    /// The folder itself.
    pub path: PathBuf,
}

impl Folder {
    /// The folder of the profiles.
    #[must_use]
    pub fn agents(&self) -> PathBuf {
        self.path.join("agents")
    }

    /// The folder of the abilities.
    #[must_use]
    pub fn abilities(&self) -> PathBuf {
        self.path.join("abilities")
    }
}

/// All folders, in the order in which they are searched. Without any, no agent can be seated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders(Vec<Folder>);

/// A profile and where it was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) profile: Profile,
    pub(super) file: PathBuf,
    pub(super) kind: FolderKind,
}

impl Found {
    /// A remark about it that is not an error.
    pub(super) fn warning(&self) -> Option<String> {
        let stem = stem(&self.file);
        (stem != self.profile.id).then(|| format!("its file is named {stem}, and not {}", self.profile.id))
    }
}

/// An ability and where it was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundAbility {
    pub(super) ability: Ability,
    pub(super) file: PathBuf,
}

impl FoundAbility {
    /// A remark about it, as it was found for this id, that is not an error.
    fn warning(&self, id: &str) -> Option<String> {
        let (stem, own) = (stem(&self.file), &self.ability.id);
        if own != id {
            return Some(format!("the file {} of its ability {id} has the id {own}", file_name(&self.file)));
        }
        (stem != id).then(|| format!("the file of its ability {id} is named {stem}"))
    }

    /// The place of the file's format among those that are read, the newest last.
    fn format(&self) -> Option<usize> {
        let ending = document::ending(&self.file);
        ENDINGS.iter().position(|it| *it == ending)
    }
}

impl Folders {
    /// The folder beside this configuration file.
    #[must_use]
    pub fn beside(config: &Path) -> Self {
        let folder = config.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.map(|it| Folder { kind: FolderKind::User, path: it.to_owned() });
        Folders(folder.into_iter().collect())
    }

    /// The same with the project's folders, as seen from this directory.
    #[must_use]
    pub fn with_project(mut self, directory: &Path) -> Self {
        if let Some(path) = upwards(directory, ".quorum") {
            self.0.insert(0, Folder { kind: FolderKind::Project, path });
        }
        if let Some(path) = upwards(directory, ".automatosx") {
            self.0.push(Folder { kind: FolderKind::Other, path });
        }
        self
    }

    /// The folders in the order in which they are searched.
    #[must_use]
    pub fn all(&self) -> &[Folder] {
        &self.0
    }

    /// The folder that is written to.
    pub(super) fn own(&self) -> Result<&Folder, AgentError> {
        self.0.iter().find(|it| it.kind == FolderKind::User).ok_or(AgentError::NoFolder)
    }

    /// The profile of this agent, from the first folder that has it.
    pub(super) fn profile(&self, id: &str) -> Result<Found, AgentError> {
        if !is_agent_id(id) {
            return Err(AgentError::NotAnId { written: in_short(format_args!("{id:?}")) });
        }
        for folder in &self.0 {
            if let Some(found) = profile_in(folder, id)? {
                return Ok(found);
            }
        }
        let ids = self.ids();
        Err(AgentError::Unknown {
            id: id.to_owned(),
            nearest: nearest(id, ids.iter().map(String::as_str)).map(str::to_owned),
            meant: self.0.iter().find_map(|it| meant_in(it, id)),
            searched: self.0.iter().map(Folder::agents).collect(),
        })
    }

    /// Every profile or what is wrong with it, by folder and file. A profile that an earlier folder
    /// has too is left out; an id that several files have is one error in place of all of them.
    pub(super) fn profiles(&self) -> Vec<Result<Found, AgentError>> {
        let mut all: Vec<Result<Found, AgentError>> = Vec::new();
        for folder in &self.0 {
            let earlier = all.len();
            for file in files(&folder.agents()) {
                let read = read_profile(folder, &file);
                let known = all.iter().position(|it| id_of(it).is_some() && id_of(it) == id_of(&read));
                match known {
                    Some(place) if place < earlier => {}
                    Some(place) => {
                        if let Ok(Found { profile, file: first, .. }) = &all[place] {
                            all[place] = Err(twice_in(&profile.id, first, &file));
                        }
                    }
                    None => all.push(read),
                }
            }
        }
        all
    }

    /// The abilities with these ids, each from the first folder that has it.
    pub(super) fn abilities(&self, ids: &[&str]) -> Result<Vec<Option<FoundAbility>>, AgentError> {
        let mut found: Vec<Option<FoundAbility>> = ids.iter().map(|_| None).collect();
        for folder in self.0.iter().map(Folder::abilities) {
            let mut all: Option<Vec<FoundAbility>> = None;
            for (id, place) in ids.iter().zip(&mut found).filter(|it| it.1.is_none()) {
                *place = match ability_named(&folder, id)? {
                    Some(named) => Some(named),
                    None => ability_with(id, all.get_or_insert_with(|| all_abilities(&folder)))?,
                };
            }
        }
        Ok(found)
    }

    /// Remarks about the files of these abilities that are not errors.
    pub(super) fn ability_warnings(&self, ids: &[&str]) -> Vec<String> {
        let found = self.abilities(ids).unwrap_or_default();
        ids.iter().zip(found).filter_map(|(id, found)| found?.warning(id)).collect()
    }

    /// The ids of all profiles that can be read.
    fn ids(&self) -> Vec<String> {
        self.profiles().into_iter().flatten().map(|it| it.profile.id).collect()
    }
}

/// The nearest folder of this name that is in the directory or above it, up to the root of its
/// repository. Outside of a repository, only the directory itself counts.
fn upwards(directory: &Path, name: &str) -> Option<PathBuf> {
    let root = directory.ancestors().find(|it| it.join(".git").exists());
    let last = root.unwrap_or(directory);
    let inside = directory.ancestors().take_while(|it| it.starts_with(last));
    inside.map(|it| it.join(name)).find(|it| it.is_dir())
}

/// The profile of a folder with this id: by the name of its file, else by its content. No other
/// file of the folder may have the same id.
fn profile_in(folder: &Folder, id: &str) -> Result<Option<Found>, AgentError> {
    let files = files(&folder.agents());
    let (named, others): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(|it| stem(it) == id);
    if let [first, second, ..] = named[..] {
        return Err(twice_in(id, first, second));
    }
    let named = named.first().map(|it| read_profile(folder, it)).transpose()?;
    let others = others.into_iter().filter_map(|it| read_profile(folder, it).ok());
    let mut with_id = named.into_iter().chain(others).filter(|it| it.profile.id == id);
    match (with_id.next(), with_id.next()) {
        (Some(first), Some(second)) => Err(twice_in(id, &first.file, &second.file)),
        (found, _) => Ok(found),
    }
}

/// A file of the folder that was probably meant by this id, and why it isn't that agent: it has
/// another id, or it mentions the id and is broken.
fn meant_in(folder: &Folder, id: &str) -> Option<String> {
    files(&folder.agents()).iter().find_map(|file| match read_profile(folder, file) {
        Ok(found) if stem(file) == id => {
            Some(format!("the file {} has the id {}", file_name(file), found.profile.id))
        }
        Ok(_) => None,
        Err(error) => {
            read_inside(&folder.agents(), file).is_ok_and(|text| text.contains(id)).then(|| error.to_string())
        }
    })
}

/// The id of a profile, or the one that several files have.
fn id_of(read: &Result<Found, AgentError>) -> Option<&str> {
    match read {
        Ok(found) => Some(&found.profile.id),
        Err(AgentError::Twice { id, .. }) => Some(id),
        Err(_) => None,
    }
}

/// Whether a file of the folder is the profile with this id, by its name or its content.
pub(super) fn is_of(folder: &Folder, file: &Path, id: &str) -> bool {
    stem(file) == id || read_profile(folder, file).is_ok_and(|it| it.profile.id == id)
}

fn twice_in(id: &str, first: &Path, second: &Path) -> AgentError {
    AgentError::Twice { id: id.to_owned(), files: Box::new((first.to_owned(), second.to_owned())) }
}

fn read_profile(folder: &Folder, file: &Path) -> Result<Found, AgentError> {
    let text = read_inside(&folder.agents(), file)?;
    let profile = Profile::of(file, document::read(file, &text)?)?;
    Ok(Found { profile, file: file.to_owned(), kind: folder.kind })
}

fn read_ability(folder: &Path, file: &Path) -> Result<FoundAbility, AgentError> {
    let text = read_inside(folder, file)?;
    let ability = Ability::of(file, document::read(file, &text)?, &text)?;
    Ok(FoundAbility { ability, file: file.to_owned() })
}

/// The ability whose file is named after this id.
fn ability_named(folder: &Path, id: &str) -> Result<Option<FoundAbility>, AgentError> {
    // Where one id has two files, Markdown is the newer format.
    let mut files = ENDINGS.iter().rev().map(|ending| folder.join(format!("{id}.{ending}")));
    let file = files.find(|file| fs::symlink_metadata(file).is_ok());
    file.map(|file| read_ability(folder, &file)).transpose()
}

/// Every ability of a folder that can be read.
fn all_abilities(folder: &Path) -> Vec<FoundAbility> {
    files(folder).iter().filter_map(|file| read_ability(folder, file).ok()).collect()
}

/// The ability whose content has this id, in the newest format. No other file of that format may
/// have the same id.
fn ability_with(id: &str, all: &[FoundAbility]) -> Result<Option<FoundAbility>, AgentError> {
    let with_id = || all.iter().filter(|it| it.ability.id == id);
    let newest = with_id().map(FoundAbility::format).max();
    let mut files = with_id().filter(|it| Some(it.format()) == newest);
    match (files.next(), files.next()) {
        (Some(first), Some(second)) => Err(twice_in(id, &first.file, &second.file)),
        (found, _) => Ok(found.cloned()),
    }
}

/// Whether a file of the folder is the ability with this id, by its name or its content.
pub(super) fn is_of_ability(folder: &Folder, file: &Path, id: &str) -> bool {
    stem(file) == id || read_ability(&folder.abilities(), file).is_ok_and(|it| it.ability.id == id)
}

/// The files of a folder that may be profiles or abilities, by name.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let is_read = |it: &PathBuf| {
        let is_guide = stem(it).eq_ignore_ascii_case("readme");
        document::is_read(it) && !is_guide && !it.is_dir()
    };
    let mut files: Vec<PathBuf> = entries.filter(is_read).take(MOST_FILES).collect();
    files.sort();
    files
}

pub(super) fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The text of a file that is really in this folder and not too large.
pub(super) fn read_inside(folder: &Path, file: &Path) -> Result<String, AgentError> {
    let wrong = |message: String| AgentError::File { file: file.to_owned(), message };
    let resolved = |path: &Path| path.canonicalize().map_err(|error| wrong(error.to_string()));
    if !resolved(file)?.starts_with(resolved(folder)?) {
        return Err(wrong("leads out of its folder".to_owned()));
    }
    read_text(file)
}

/// The text of a file that is not too large.
pub(super) fn read_text(file: &Path) -> Result<String, AgentError> {
    let wrong = |message: String| AgentError::File { file: file.to_owned(), message };
    let is_file = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.is_file();
    if !is_file {
        return Err(wrong("is not a file".to_owned()));
    }
    let opened = File::open(file).map_err(|error| wrong(error.to_string()))?;
    let mut bytes = Vec::new();
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    if LARGEST < bytes.len() as u64 {
        return Err(wrong(format!("is larger than {} KiB", LARGEST / 1024)));
    }
    String::from_utf8(bytes).map_err(|_| wrong("is not UTF-8 text".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn folders(root: &Path) -> Folders {
        Folders::beside(&root.join("config/quorum/config.toml")).with_project(&root.join("repo/deep/down"))
    }

    /// A repository with a directory two levels down.
    fn repository() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("repo/.git")).unwrap();
        fs::create_dir_all(root.path().join("repo/deep/down")).unwrap();
        root
    }

    fn weight_of(folders: &Folders, id: &str) -> Result<(Option<f64>, &'static str), String> {
        let found = folders.profile(id).map_err(|error| error.to_string())?;
        Ok((found.profile.weight, found.kind.name()))
    }

    #[test]
    fn b08_the_first_folder_that_has_an_agent_wins() {
        let root = repository();
        let at = |path: &str, weight: f64| {
            write(&root.path().join(path), &format!("{{\"agentId\": \"ann\", \"weight\": {weight}}}"));
        };
        at("repo/.automatosx/agents/ann.json", 1.0);
        assert_eq!(weight_of(&folders(root.path()), "ann"), Ok((Some(1.0), "automatosx")));
        at("config/quorum/agents/ann.json", 2.0);
        assert_eq!(weight_of(&folders(root.path()), "ann"), Ok((Some(2.0), "user")));
        at("repo/.quorum/agents/ann.json", 2.5);
        assert_eq!(weight_of(&folders(root.path()), "ann"), Ok((Some(2.5), "project")));
        at("repo/deep/.quorum/agents/ann.json", 3.0);
        assert_eq!(weight_of(&folders(root.path()), "ann"), Ok((Some(3.0), "project")));
        // Nothing above the repository is the project's.
        at(".quorum/agents/bob.json", 1.0);
        assert!(weight_of(&folders(root.path()), "bob").is_err());
        let listed: Vec<f64> =
            folders(root.path()).profiles().into_iter().filter_map(|it| it.ok()?.profile.weight).collect();
        assert_eq!(listed, [3.0]);
    }

    #[test]
    fn b08_an_unknown_agent_is_refused_with_the_nearest_name_and_the_folders() {
        let root = repository();
        write(&root.path().join("config/quorum/agents/reviewer.json"), r#"{"agentId": "reviewer"}"#);
        let error = folders(root.path()).profile("reviwer").unwrap_err();
        assert_eq!(error.to_string(), "there is no agent named reviwer; did you mean reviewer?");
        assert_eq!(error.searched(), [root.path().join("config/quorum/agents")]);
        let error = folders(root.path()).profile("../x").unwrap_err().to_string();
        assert!(error.starts_with("\"../x\" is not an agent's id"), "{error}");
    }

    #[test]
    fn b08_an_unknown_agent_is_refused_with_the_file_that_was_meant() {
        let root = repository();
        let agents = root.path().join("config/quorum/agents");
        let refused = |id: &str| folders(root.path()).profile(id).unwrap_err().to_string();
        write(&agents.join("named.json"), r#"{"agentId": "other"}"#);
        assert_eq!(refused("named"), "there is no agent named named; the file named.json has the id other");
        write(&agents.join("review.yaml"), "agentId: reviewer\nweight: 9\n");
        let expected = "there is no agent named reviewer; review.yaml: weight must be from 0.5 to 3, not 9";
        assert_eq!(refused("reviewer"), expected);
        assert_eq!(refused("othr"), "there is no agent named othr; did you mean other?");
    }

    #[test]
    fn b08_two_files_with_one_id_in_one_folder_are_refused() {
        let root = repository();
        let agents = root.path().join("config/quorum/agents");
        write(&agents.join("ann.json"), r#"{"agentId": "ann"}"#);
        write(&agents.join("ann.yaml"), "agentId: ann");
        let error = folders(root.path()).profile("ann").unwrap_err().to_string();
        assert_eq!(error, "two files have the id ann: ann.json and ann.yaml");
        fs::remove_file(agents.join("ann.json")).unwrap();
        // An id may differ from the name of its file, which is told.
        write(&agents.join("else.md"), "---\nagentId: bob\n---\nBe brief.");
        let found = folders(root.path()).profile("bob").unwrap();
        assert_eq!(found.warning().as_deref(), Some("its file is named else, and not bob"));
        write(&agents.join("other.json"), r#"{"agentId": "bob"}"#);
        assert!(folders(root.path()).profile("bob").is_err());
        let listed = || -> Vec<Result<String, String>> {
            let all = folders(root.path()).profiles().into_iter();
            all.map(|it| it.map(|it| it.profile.id).map_err(|it| it.to_string())).collect()
        };
        let twice = Err("two files have the id bob: else.md and other.json".to_owned());
        let expected = vec![Ok("ann".to_owned()), twice];
        assert_eq!(listed(), expected);
        // Neither does a third file, nor one of a later folder, make it usable.
        write(&agents.join("third.json"), r#"{"agentId": "bob"}"#);
        write(&root.path().join("repo/.automatosx/agents/bob.json"), r#"{"agentId": "bob"}"#);
        assert_eq!(listed(), expected);
    }

    #[test]
    fn b08_a_copy_of_a_profile_under_another_file_name_is_refused() {
        let root = repository();
        let agents = root.path().join("config/quorum/agents");
        write(&agents.join("ann.json"), r#"{"agentId": "ann"}"#);
        write(&agents.join("ann-copy.json"), r#"{"agentId": "ann", "weight": 3}"#);
        // What else is in the folder may be broken.
        write(&agents.join("broken.json"), "{");
        let error = folders(root.path()).profile("ann").unwrap_err().to_string();
        assert_eq!(error, "two files have the id ann: ann.json and ann-copy.json");
    }

    #[test]
    fn b08_an_ability_in_a_file_of_another_name_is_found() {
        let root = repository();
        let abilities = root.path().join("config/quorum/abilities");
        let text_of = |id: &str| -> Result<Option<String>, String> {
            let found = folders(root.path()).abilities(&[id]).map_err(|error| error.to_string())?;
            Ok(found.into_iter().flatten().map(|it| it.ability.text).next())
        };
        let found = |heading: &str, text: &str| Ok(Some(format!("# Ability: {heading}\n\n{text}")));
        let warnings = |ids: &[&str]| folders(root.path()).ability_warnings(ids);
        write(&abilities.join("guide.md"), "---\nabilityId: diffs\n---\nTests first.");
        write(&abilities.join("broken.md"), "no front matter: diffs");
        assert_eq!(text_of("diffs"), found("diffs", "Tests first."));
        assert_eq!(text_of("gone"), Ok(None));
        assert_eq!(warnings(&["gone", "diffs"]), ["the file of its ability diffs is named guide"]);
        // The newer format wins; two files of one format are a mistake.
        write(&abilities.join("a.json"), r#"{"abilityId": "diffs", "content": "Older."}"#);
        assert_eq!(text_of("diffs"), found("diffs", "Tests first."));
        write(&abilities.join("other.md"), "---\nabilityId: diffs\n---\nTwice.");
        assert_eq!(text_of("diffs"), Err("two files have the id diffs: guide.md and other.md".to_owned()));
        // The name of a file wins.
        write(&abilities.join("diffs.json"), r#"{"abilityId": "deltas", "content": "By name."}"#);
        assert_eq!(text_of("diffs"), found("deltas", "By name."));
        assert_eq!(warnings(&["diffs"]), ["the file diffs.json of its ability diffs has the id deltas"]);
        // So does an earlier folder.
        write(&root.path().join("repo/.quorum/abilities/x.md"), "---\nabilityId: diffs\n---\nMine.");
        assert_eq!(text_of("diffs"), found("diffs", "Mine."));
    }

    #[test]
    fn b08_a_file_that_is_too_large_or_elsewhere_is_refused() {
        let root = repository();
        let agents = root.path().join("config/quorum/agents");
        write(&agents.join("big.json"), &" ".repeat(1024 * 1024));
        let error = folders(root.path()).profile("big").unwrap_err().to_string();
        assert_eq!(error, "big.json: is larger than 256 KiB");
        #[cfg(unix)]
        {
            write(&root.path().join("secret.json"), r#"{"agentId": "ann"}"#);
            std::os::unix::fs::symlink(root.path().join("secret.json"), agents.join("ann.json")).unwrap();
            let error = folders(root.path()).profile("ann").unwrap_err().to_string();
            assert_eq!(error, "ann.json: leads out of its folder");
        }
    }
}
