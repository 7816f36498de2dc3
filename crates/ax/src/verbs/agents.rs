//! `ax agents`: lists agents, shows the text that one would get, and registers, imports or removes
//! them.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use quorum::{
    Quorum,
    agents::{AgentEntry, AgentError, Registered, Shown},
    text::{count, grouped, line, reason},
};

use crate::{
    app::App,
    args::{AgentVerb, Agents, Listed, Registering},
    exit::{Exit, Usage},
    render::{note, note_always, print, print_json, room, wording},
};

/// The most characters of a role in the list.
const ROLE: usize = 60;

/// The most of standard input that is read, in bytes; more is refused by its size.
const MOST_INPUT: u64 = 1 << 20;

/// `ax agents`
pub(crate) fn agents(app: &App, args: &Agents) -> anyhow::Result<Exit> {
    let quorum = app.open_without_store(app.config()?)?;
    match &args.verb {
        None => list(&quorum, &args.listed),
        Some(AgentVerb::List(listed)) => list(&quorum, listed),
        Some(AgentVerb::Show { id, topic, listed }) => show(&quorum, id, topic, listed),
        Some(AgentVerb::Register(args)) => register(&quorum, args),
        Some(AgentVerb::Remove { id }) => remove(&quorum, id),
        Some(AgentVerb::Import { folder, force }) => import(&quorum, folder, *force),
    }
}

fn list(quorum: &Quorum, listed: &Listed) -> anyhow::Result<Exit> {
    let (agents, wrong) = quorum.agents();
    if listed.json {
        print_json(&agents)?;
    } else if agents.is_empty() {
        note("There are no agents yet; `ax agents register FILE` adds one.");
    } else {
        let columns = room();
        print(&agents.iter().map(|it| row(it, columns)).collect::<Vec<_>>().join("\n"))?;
    }
    wrong.iter().for_each(|it| note(&format!("left out: {}", worded(it))));
    if !agents.is_empty() && quorum.setup().sources().is_empty() {
        note(
            "No provider is available here, so these voices would be simulated; `ax doctor` says what is missing.",
        );
    }
    Ok(Exit::Done)
}

/// The width from which the rest is beside the id.
const BESIDE: usize = 64;

/// The id, the name and role, through whom it would speak, and where it is from. On a narrow
/// terminal, each has a line of its own.
fn row(agent: &AgentEntry, columns: usize) -> String {
    let name = agent.display_name.as_deref();
    // Many profiles have the same words for both.
    let is_new = |role: &&str| name.is_none_or(|name| !name.eq_ignore_ascii_case(role));
    let role = agent.role.as_deref().filter(is_new);
    let name = name.into_iter().chain(role).collect::<Vec<_>>().join(", ");
    let through = match (&agent.speaks_through, &agent.reason) {
        _ if !agent.enabled => "switched off".to_owned(),
        (Some(provider), Some(why)) => format!("through {provider} ({})", reason(why)),
        _ => "none of its providers is available".to_owned(),
    };
    let odd = agent.warning.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    let (id, name) = (&agent.id, line(&name, ROLE));
    let through = format!("{through}, from the {} folder{odd}", agent.folder);
    match columns {
        BESIDE.. => format!("{id:<20} {name}\n{:20} {through}", ""),
        _ if name.is_empty() => format!("{id}\n  {through}"),
        _ => format!("{id}\n  {name}\n  {through}"),
    }
}

fn show(quorum: &Quorum, id: &str, topic: &str, listed: &Listed) -> anyhow::Result<Exit> {
    let shown = quorum.agent(id, topic).map_err(|it| usage(&it))?;
    if listed.json {
        print_json(&shown)?;
    } else {
        print(&shown.text)?;
        note(&summary(&shown));
    }
    Ok(Exit::Done)
}

/// Everything about an agent but the text.
fn summary(shown: &Shown) -> String {
    let Shown { entry, tokens, abilities, missing, left_out, candidates, file, .. } = shown;
    let mut lines = vec![row(entry, room()), format!("Its file is {}.", file.display())];
    let abilities: Vec<String> =
        abilities.iter().map(|it| format!("{} ({} tokens)", it.id, grouped(it.tokens))).collect();
    lines.push(format!("{} tokens in all, weight {}.", grouped(*tokens), entry.weight));
    if !abilities.is_empty() {
        lines.push(format!("Abilities: {}.", abilities.join(", ")));
    }
    if !missing.is_empty() {
        lines.push(format!("Abilities that were not found: {}.", missing.join(", ")));
    }
    lines.extend(left_out.iter().map(|it| format!("Left out: {}, because {}.", it.id, it.why)));
    lines.push(format!("Providers in the order in which they are tried: {}.", candidates.join(", ")));
    lines.join("\n")
}

fn register(quorum: &Quorum, args: &Registering) -> anyhow::Result<Exit> {
    for file in &args.files {
        let registered = if file.as_os_str() == "-" {
            quorum.register(None, &piped()?, args.force)
        } else {
            quorum.register_file(file, args.force)
        };
        report_registered(&registered.map_err(|it| usage(&it))?);
    }
    Ok(Exit::Done)
}

fn piped() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().take(MOST_INPUT).read_to_string(&mut text)?;
    Ok(text)
}

fn report_registered(registered: &Registered) {
    note(&format!("Registered {}: {}", registered.id, registered.file.display()));
}

fn remove(quorum: &Quorum, id: &str) -> anyhow::Result<Exit> {
    let file: PathBuf = quorum.remove_agent(id).map_err(|it| usage(&it))?;
    note(&format!("Removed {id}: {}", file.display()));
    Ok(Exit::Done)
}

fn import(quorum: &Quorum, folder: &Path, force: bool) -> anyhow::Result<Exit> {
    match quorum.import_agents(folder, force) {
        Ok(imported) => {
            let (agents, abilities) = (&imported.agents, &imported.abilities);
            agents.iter().for_each(report_registered);
            let (agents, abilities) = (agents.len() as u64, abilities.len() as u64);
            let abilities = count(abilities, "ability").replace("abilitys", "abilities");
            note(&format!("Imported {} and {abilities}.", count(agents, "agent")));
            Ok(Exit::Done)
        }
        Err(wrong) => {
            wrong.iter().for_each(|it| note_always(&format!("error: {}", worded(it))));
            let all = wrong.len() as u64;
            Err(Usage(format!("nothing was imported; {} to fix", count(all, "mistake"))).into())
        }
    }
}

fn usage(error: &AgentError) -> Usage {
    Usage(worded(error))
}

/// An error with its folder and what to do next.
fn worded(error: &AgentError) -> String {
    let folder = error.file().and_then(Path::parent).filter(|it| !it.as_os_str().is_empty());
    let folder = folder.map(|it| format!(" (in {})", it.display()));
    let searched = error.searched();
    let advice = match error {
        AgentError::Unknown { .. } if searched.is_empty() => "; `ax agents` lists all agents".to_owned(),
        AgentError::Unknown { .. } => {
            format!("; {}; `ax agents` lists all agents", wording::searched_in(searched))
        }
        AgentError::Exists { .. } => "; --force replaces it".to_owned(),
        _ => String::new(),
    };
    format!("{error}{}{advice}", folder.unwrap_or_default())
}
