//! Makes a seat of a profile: the abilities for the topic, the providers in their order, and the
//! texts, all as they will be recorded.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use quorum_core::{
    call::tokens::Family,
    model::{
        agent::{self, AGENT_WEIGHT, Agent, Candidate, LeftOut},
        participant::Participant,
    },
};
use quorum_patterns::agent_text;
use quorum_providers::{
    affinity::Wish,
    catalog::{self, DEFAULT_PANEL},
};

use crate::request::Setting;

use super::{AgentError, Folders, MOST_ABILITY_TOKENS, Profile, ability::Ability};

/// The providers that are simulated where any may be asked.
static USUAL: LazyLock<Vec<String>> =
    LazyLock::new(|| DEFAULT_PANEL.iter().map(|it| (*it).to_owned()).collect());

/// The data that a seat depends on besides its profile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Situation<'s> {
    pub(crate) folders: &'s Folders,
    pub(crate) topic: &'s str,
    /// The task that the order names.
    pub(crate) task: Option<&'s str>,
    /// The providers that can be asked here, in their order; of simulated ones, the usual ones.
    pub(crate) available: &'s [String],
    /// Whether a provider of any name has a voice, as all simulated ones do.
    pub(crate) any_name: bool,
    /// The providers' strengths as configured by the user.
    pub(crate) strengths: &'s BTreeMap<String, Vec<String>>,
    /// Whether the order has a temperature, which takes precedence over that of a profile.
    pub(crate) has_temperature: bool,
}

impl<'s> Situation<'s> {
    /// The situation of an order without a topic in this setting.
    pub(crate) fn of(setting: &'s Setting, is_simulated: bool) -> Self {
        let knows_none = setting.available.is_empty() && setting.lacking.is_empty();
        Situation {
            folders: &setting.agents,
            topic: "",
            task: None,
            available: if is_simulated { &USUAL } else { &setting.available },
            any_name: is_simulated || knows_none,
            strengths: &setting.strengths,
            has_temperature: false,
        }
    }

    /// Whether this provider can be asked here.
    pub(super) fn has_voice(&self, provider: &str) -> bool {
        self.any_name || self.available.iter().any(|it| it == provider)
    }
}

/// The seat of the agent with this id, planned to speak through the first of its candidates that
/// can be asked here.
pub(crate) fn seat(id: &str, situation: &Situation<'_>) -> Result<(Participant, Profile), AgentError> {
    let found = situation.folders.profile(id)?;
    if !found.profile.enabled {
        return Err(AgentError::Disabled { id: id.to_owned(), file: found.file });
    }
    let seat = seat_of(&found.profile, situation)?;
    Ok((seat, found.profile))
}

/// The seat of the agent with this profile.
pub(super) fn seat_of(profile: &Profile, situation: &Situation<'_>) -> Result<Participant, AgentError> {
    let mut abilities: Vec<Ability> = Vec::new();
    let mut missing = Vec::new();
    let named = named_abilities(profile, situation);
    for (id, found) in named.iter().zip(situation.folders.abilities(&named)?) {
        match found {
            Some(found) => abilities.push(Ability { id: (*id).to_owned(), ..found.ability }),
            None => missing.push((*id).to_owned()),
        }
    }
    let wishes = profile.affinity.candidates(task(profile, situation), situation.available);
    let candidates: Vec<Candidate> =
        wishes.into_iter().map(|wish| candidate(profile, wish, &abilities, situation)).collect();
    let is_shown = |it: &Ability| candidates.iter().any(|candidate| candidate.abilities.contains(&it.id));
    let shown = abilities.iter().filter(|it| is_shown(it));
    let recorded =
        |it: &Ability| agent::Ability { id: it.id.clone(), digest: it.digest.clone(), text: it.text.clone() };
    let agent = Agent {
        id: profile.id.clone(),
        display_name: profile.display_name.clone(),
        role: profile.role.clone(),
        text: agent_text::profile(&agent_text::Profile {
            name: profile.display_name.as_deref(),
            role: profile.role.as_deref(),
            personality: profile.personality.as_deref(),
            text: &profile.system_prompt,
        }),
        rest: agent_text::rest(),
        abilities: shown.map(recorded).collect(),
        missing,
        max_tokens: profile.max_tokens,
        writer: profile.affinity.writer(),
        candidates,
    };
    let seat = Participant {
        name: profile.id.clone(),
        weight: profile.weight.unwrap_or(AGENT_WEIGHT),
        ..Participant::of(&profile.id)
    };
    Ok(planned(seat, agent, situation))
}

/// The seat with this agent, planned to speak through the first of its candidates that can be asked
/// here.
fn planned(seat: Participant, agent: Agent, situation: &Situation<'_>) -> Participant {
    let is_available = |it: &&Candidate| situation.has_voice(&it.provider);
    let planned = agent.candidates.iter().find(is_available).or(agent.candidates.first()).cloned();
    let seat = Participant { agent: Some(Arc::new(agent)), ..seat };
    match planned {
        Some(candidate) => seat.through(&candidate),
        None => seat,
    }
}

/// The seat of a past discussion's agent for another question: its texts and abilities as its
/// profile has them now; its provider, if the profile still allows it, and its weight as they were.
/// `None` if it has no profile any more.
pub(crate) fn seat_again(
    past: &Participant,
    agent: &Agent,
    situation: &Situation<'_>,
) -> Result<Option<(Participant, Profile)>, AgentError> {
    // A temperature that was not recorded with the agent is that of the order, which goes on.
    let has_temperature =
        situation.has_temperature || agent.candidates.iter().all(|it| it.temperature.is_none());
    let (fresh, profile) = match seat(&agent.id, &Situation { has_temperature, ..*situation }) {
        Err(AgentError::Unknown { .. }) => return Ok(None),
        found => found?,
    };
    let mut agent = fresh.agent.as_deref().cloned().unwrap_or_default();
    let spoke = |it: &Candidate| (&it.provider, &it.model) == (&past.provider, &past.model);
    if let Some(place) = agent.candidates.iter().position(spoke) {
        agent.candidates[..=place].rotate_right(1);
    }
    let seat = Participant {
        name: past.name.clone(),
        role: past.role.clone(),
        weight: past.weight,
        brief: past.brief.clone(),
        aside: past.aside,
        ..fresh
    };
    Ok(Some((planned(seat, agent, situation), profile)))
}

/// The task that decides about the provider: the one the order names, else the first in the
/// profile's mapping that the topic is about.
fn task<'p>(profile: &'p Profile, situation: &Situation<'p>) -> Option<&'p str> {
    let mapping = &profile.affinity.task_mapping;
    let named = situation.task.filter(|it| mapping.contains_key(*it));
    named.or_else(|| mapping.keys().map(String::as_str).find(|it| is_about(situation.topic, it)))
}

/// The core abilities in their order, then those of the tasks at hand; each once.
fn named_abilities<'p>(profile: &'p Profile, situation: &Situation<'_>) -> Vec<&'p str> {
    let is_at_hand = |task: &str| situation.task == Some(task) || is_about(situation.topic, task);
    let for_tasks = profile.task_abilities.iter().filter(|(task, _)| is_at_hand(task));
    let all = profile.core_abilities.iter().chain(for_tasks.flat_map(|it| it.1));
    let mut named: Vec<&str> = Vec::new();
    for id in all {
        if !named.contains(&id.as_str()) {
            named.push(id);
        }
    }
    named
}

/// Whether the topic has the words of this task's name, whole and in this order.
fn is_about(topic: &str, task: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (topic, task) = (words(topic), words(task));
    !task.is_empty() && topic.windows(task.len()).any(|it| it == task)
}

fn candidate(profile: &Profile, wish: Wish, abilities: &[Ability], situation: &Situation<'_>) -> Candidate {
    let Wish { provider, model, reason } = wish;
    let row = catalog::row(&provider);
    let strengths = situation.strengths.get(&provider).cloned();
    // Local models go by common words, which identify no vendor.
    let known = row.filter(|row| !row.local).into_iter();
    let known = known.flat_map(|row| row.aliases.iter().chain(&row.model).cloned());
    let voice = Participant { model: model.clone(), ..Participant::of(&provider) };
    let (abilities, left_out) = fitting(&profile.id, abilities, Family::of(&voice));
    let own = profile.affinity.temperature(&provider).or(profile.temperature);
    Candidate {
        aliases: known.chain(profile.display_name.clone()).collect(),
        strengths: strengths.or_else(|| Some(row?.strengths.clone())).unwrap_or_default(),
        reason,
        abilities,
        left_out,
        temperature: own.filter(|_| !situation.has_temperature),
        provider,
        model,
    }
}

/// The abilities that a model of this family is shown, in their order, and those that are left out.
/// Each is shown whole or not at all; where there is not room for all, those with a higher priority
/// come first, then those whose id comes first.
fn fitting(agent: &str, abilities: &[Ability], family: Family) -> (Vec<String>, Vec<LeftOut>) {
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut leave_out = |it: &Ability, why: String| left_out.push(LeftOut { id: it.id.clone(), why });
    let mut by_priority: Vec<&Ability> = abilities.iter().collect();
    by_priority.sort_by(|one, other| other.priority.cmp(&one.priority).then_with(|| one.id.cmp(&other.id)));
    let mut shown: Vec<&Ability> = Vec::new();
    let mut used = 0;
    for ability in by_priority {
        let clashes = |other: &&&Ability| {
            other.conflicts.contains(&ability.id) || ability.conflicts.contains(&other.id)
        };
        let tokens = family.estimate(&ability.text);
        let room = MOST_ABILITY_TOKENS - used;
        if let Some(why) = ability.unfit_for(agent) {
            leave_out(ability, why);
        } else if let Some(other) = shown.iter().find(clashes) {
            leave_out(ability, format!("it conflicts with {}", other.id));
        } else if room < tokens {
            leave_out(ability, format!("it has {tokens} tokens; of {MOST_ABILITY_TOKENS}, {room} are left"));
        } else {
            used += tokens;
            shown.push(ability);
        }
    }
    // An ability whose requirement was left out may itself be one that others require.
    while let Some(place) = shown.iter().position(|it| lacks(it, &shown).is_some()) {
        let ability = shown.remove(place);
        let required = lacks(ability, &shown).unwrap_or_default();
        leave_out(ability, format!("it requires {required}, which is not shown"));
    }
    let is_shown = |it: &&Ability| shown.iter().any(|shown| shown.id == it.id);
    (abilities.iter().filter(is_shown).map(|it| it.id.clone()).collect(), left_out)
}

/// A required ability that is not among those shown.
fn lacks<'a>(ability: &'a Ability, shown: &[&Ability]) -> Option<&'a str> {
    let is_shown = |id: &str| shown.iter().any(|it| it.id == id);
    ability.requires.iter().map(String::as_str).find(|it| !is_shown(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ability(id: &str, tokens: usize, priority: i64) -> Ability {
        // A word and its space are one token, and a little more for most families.
        Ability { id: id.to_owned(), text: "word ".repeat(tokens), priority, ..Ability::default() }
    }

    #[track_caller]
    fn check(abilities: &[Ability], expected: &[&str], left_out: &[&str]) {
        let (shown, out) = fitting("ann", abilities, Family::O200k);
        let out: Vec<&str> = out.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(
            (shown.iter().map(String::as_str).collect::<Vec<_>>(), out),
            (expected.to_vec(), left_out.to_vec())
        );
    }

    #[test]
    fn inv_disc_641_abilities_are_whole_or_left_out_within_10_000_tokens() {
        check(&[ability("b", 100, 0), ability("a", 100, 9)], &["b", "a"], &[]);
        check(&[ability("big", 12_000, 9), ability("small", 100, 0)], &["small"], &["big"]);
        let tight =
            [ability("c", 4_000, 0), ability("b", 4_000, 0), ability("a", 4_000, 0), ability("d", 4_000, 7)];
        check(&tight, &["a", "d"], &["b", "c"]);
        let (_, out) = fitting("ann", &[ability("big", 12_000, 0)], Family::O200k);
        assert!(out[0].why.ends_with("tokens; of 10000, 10000 are left"), "{}", out[0].why);
    }

    #[test]
    fn inv_disc_641_the_tokens_are_counted_for_the_speakers_family() {
        let text = "word ".repeat(9_500);
        let many = Ability { id: "many".into(), text, ..Ability::default() };
        let shown = |family| fitting("ann", std::slice::from_ref(&many), family).0.len();
        let tokens = |family: Family| family.estimate(&many.text);
        assert!(tokens(Family::O200k) <= MOST_ABILITY_TOKENS && MOST_ABILITY_TOKENS < tokens(Family::Claude));
        assert_eq!((shown(Family::O200k), shown(Family::Claude)), (1, 0));
    }

    #[test]
    fn b08_what_an_ability_requires_conflicts_with_or_is_for_is_honoured() {
        let with = |id: &str, change: fn(&mut Ability)| {
            let mut ability = ability(id, 10, 0);
            change(&mut ability);
            ability
        };
        let plain = ability("plain", 10, 0);
        let needs = with("needs", |it| it.requires = vec!["gone".into()]);
        let also = with("also", |it| it.requires = vec!["needs".into()]);
        check(&[plain.clone(), also, needs], &["plain"], &["needs", "also"]);
        let fits = with("fits", |it| it.requires = vec!["plain".into()]);
        check(&[fits, plain.clone()], &["fits", "plain"], &[]);
        let clash = with("zed", |it| it.conflicts = vec!["plain".into()]);
        check(&[clash, plain.clone()], &["plain"], &["zed"]);
        let other = with("other", |it| it.applicable_to = vec!["bob".into()]);
        let barred = with("barred", |it| it.exclude_from = vec!["ann".into()]);
        check(&[other, barred, plain], &["plain"], &["barred", "other"]);
    }

    #[test]
    fn b08_a_task_is_named_by_whole_words_of_the_topic() {
        let check =
            |topic: &str, task: &str, expected: bool| assert_eq!(is_about(topic, task), expected, "{topic}");
        check("Do a code review of this", "code-review", true);
        check("A Code-Review?", "code-review", true);
        check("Review the code", "code-review", false);
        check("Is it secure?", "secur", false);
        check("security first", "security", true);
        check("anything", "--", false);
    }
}
