//! Protocols: the ways to answer a question that an evaluation compares.

use quorum_core::registry::Registry;
use quorum_patterns::protocols::{BASELINE, USUAL};

use super::question::Posed;
use crate::request::limits::ROUNDS;

/// A protocol under the name it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    /// The name, as it was written.
    pub name: String,
    /// What it does.
    pub way: Way,
    /// Whether it is a vote, which needs options.
    pub needs_options: bool,
}

impl Protocol {
    /// The plain vote on first answers. Without options, the most frequent first answer counts.
    #[must_use]
    pub fn baseline() -> Protocol {
        Protocol { name: BASELINE.name.to_owned(), way: Way::Baseline, needs_options: false }
    }

    /// Whether a question can be put to it.
    #[must_use]
    pub fn fits(&self, posed: &Posed) -> bool {
        !self.needs_options || !posed.letters.is_empty()
    }
}

/// A way to answer a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// The first answer of one voice: the one named, or the best.
    Single(Option<String>),
    /// The plain vote on the first answers.
    Baseline,
    /// Several blind answers of one voice: the one named, or the best.
    SelfConsistency {
        /// The voice.
        voice: Option<String>,
        /// How many; as many as the panel has voices, if not given.
        draws: Option<u32>,
    },
    /// A discussion.
    Discussion {
        /// The preset it is from.
        preset: Option<String>,
        /// The pattern.
        pattern: Option<String>,
        /// The number of rounds.
        rounds: Option<u32>,
        /// The consensus method.
        method: Option<String>,
    },
}

impl Way {
    /// Whether participants answer blind; such protocols show what is possible without any talk.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        matches!(self, Way::Single(_) | Way::Baseline | Way::SelfConsistency { .. })
    }

    /// Whether it needs a discussion beyond the first answers.
    #[must_use]
    pub fn needs_discussion(&self) -> bool {
        matches!(self, Way::SelfConsistency { .. } | Way::Discussion { .. })
    }
}

const SINGLE: &str = "single";
const SELF_CONSISTENCY: &str = "self-consistency";

/// Reads a list of protocols; the default ones if there is none. The plain vote on first answers is
/// always among them, because everything is compared with it.
pub fn protocols(
    list: Option<&str>,
    registry: &Registry,
    is_preset: impl Fn(&str) -> bool,
) -> Result<Vec<Protocol>, String> {
    let written = list.map_or_else(|| default_protocols(registry).join(","), str::to_owned);
    let mut protocols: Vec<Protocol> = Vec::new();
    for name in written.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        if protocols.iter().any(|it| it.name == name) {
            return Err(format!("`{name}` is given twice"));
        }
        let way = way(name, registry, &is_preset)?;
        let needs_options = is_vote(&way, registry);
        protocols.push(Protocol { name: name.to_owned(), way, needs_options });
    }
    if !protocols.iter().any(|it| it.way == Way::Baseline) {
        protocols.insert(0, Protocol::baseline());
    }
    Ok(protocols)
}

fn is_vote(way: &Way, registry: &Registry) -> bool {
    match way {
        Way::Single(_) | Way::Baseline => false,
        Way::SelfConsistency { .. } => true,
        Way::Discussion { pattern, .. } => {
            pattern.as_ref().and_then(|it| registry.pattern(it)).is_some_and(|it| it.votes)
        }
    }
}

/// The default protocols whose patterns this registry has.
fn default_protocols(registry: &Registry) -> Vec<&'static str> {
    let is_known = |it: &&&str| {
        let name = it.split(':').next().unwrap_or_default();
        [SINGLE, BASELINE.name, SELF_CONSISTENCY].contains(&name) || registry.pattern(name).is_some()
    };
    USUAL.iter().filter(is_known).copied().collect()
}

fn way(name: &str, registry: &Registry, is_preset: &impl Fn(&str) -> bool) -> Result<Way, String> {
    if name == BASELINE.name {
        return Ok(Way::Baseline);
    }
    if is_preset(name) {
        return Ok(Way::Discussion {
            preset: Some(name.to_owned()),
            pattern: None,
            rounds: None,
            method: None,
        });
    }
    let (head, rest) = name.split_once(':').map_or((name, None), |(head, rest)| (head, Some(rest)));
    match head {
        SINGLE => Ok(Way::Single(rest.map(str::to_owned))),
        it if it == SELF_CONSISTENCY || it.starts_with("self-consistency*") => self_consistency(name),
        _ => discussion(name, registry),
    }
}

/// `self-consistency`, `self-consistency:claude`, `self-consistency:claude*5`, `self-consistency*5`
fn self_consistency(name: &str) -> Result<Way, String> {
    let rest = &name[SELF_CONSISTENCY.len()..];
    let (voice, draws) = rest.rsplit_once('*').map_or((rest, None), |(voice, draws)| (voice, Some(draws)));
    let voice = voice.strip_prefix(':').map(str::to_owned).filter(|it| !it.is_empty());
    let draws = draws.map(|it| it.parse::<u32>().ok().filter(|it| (2..=6).contains(it)));
    match draws {
        Some(None) => Err(format!("`{name}`: draws must be from 2 to 6")),
        draws => Ok(Way::SelfConsistency { voice, draws: draws.flatten() }),
    }
}

/// `pattern[:rounds][/method]`
fn discussion(name: &str, registry: &Registry) -> Result<Way, String> {
    let (talk, method) = name.split_once('/').map_or((name, None), |(talk, method)| (talk, Some(method)));
    let (pattern, rounds) = talk.split_once(':').map_or((talk, None), |(it, rounds)| (it, Some(rounds)));
    if registry.pattern(pattern).is_none() {
        let patterns: Vec<&str> = registry.patterns().iter().map(|it| it.name).collect();
        return Err(format!(
            "`{pattern}` is neither a preset nor one of {SINGLE}, {}, {SELF_CONSISTENCY}, {}",
            BASELINE.name,
            patterns.join(", ")
        ));
    }
    let rounds = match rounds.map(str::parse::<u32>) {
        None => None,
        Some(Ok(rounds)) if ROUNDS.contains(&rounds) => Some(rounds),
        Some(_) => {
            return Err(format!("`{name}`: rounds must be from {} to {}", ROUNDS.start(), ROUNDS.end()));
        }
    };
    if let Some(method) = method.filter(|it| registry.method(it).is_none()) {
        let methods: Vec<&str> = registry.methods().iter().map(|it| it.name).collect();
        return Err(format!("`{method}` is not one of the methods {}", methods.join(", ")));
    }
    let (pattern, method) = (Some(pattern.to_owned()), method.map(str::to_owned));
    Ok(Way::Discussion { preset: None, pattern, rounds, method })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> Result<Vec<Way>, String> {
        let registry = quorum_patterns::registry();
        let found = protocols(Some(list), &registry, |it| it == "review")?;
        Ok(found.into_iter().map(|it| it.way).collect())
    }

    #[test]
    fn every_kind_of_protocol() {
        let held =
            |preset: Option<&str>, pattern: Option<&str>, rounds, method: Option<&str>| Way::Discussion {
                preset: preset.map(str::to_owned),
                pattern: pattern.map(str::to_owned),
                rounds,
                method: method.map(str::to_owned),
            };
        let several =
            |voice: Option<&str>, draws| Way::SelfConsistency { voice: voice.map(str::to_owned), draws };
        let list = "majority,single,single:claude,self-consistency,self-consistency:claude/opus*5,\
                    self-consistency*3,voting:2,debate:3/unanimous,synthesis,review";
        let expected = vec![
            Way::Baseline,
            Way::Single(None),
            Way::Single(Some("claude".into())),
            several(None, None),
            several(Some("claude/opus"), Some(5)),
            several(None, Some(3)),
            held(None, Some("voting"), Some(2), None),
            held(None, Some("debate"), Some(3), Some("unanimous")),
            held(None, Some("synthesis"), None, None),
            held(Some("review"), None, None, None),
        ];
        assert_eq!(read(list), Ok(expected));
    }

    #[test]
    fn the_baseline_is_always_there_and_mistakes_name_what_there_is() {
        assert_eq!(read("synthesis").map(|it| it[0].clone()), Ok(Way::Baseline));
        let wrong = |list: &str, expected: &str| {
            let found = read(list).unwrap_err();
            assert!(found.contains(expected), "{found}");
        };
        wrong("synthesis,synthesis", "`synthesis` is given twice");
        wrong(
            "votes",
            "`votes` is neither a preset nor one of single, majority, self-consistency, synthesis",
        );
        wrong("voting:0", "rounds must be from 1 to 10");
        wrong("voting:x", "rounds must be from 1 to 10");
        wrong("voting/dice", "`dice` is not one of the methods");
        wrong("self-consistency:claude*9", "draws must be from 2 to 6");
    }

    #[test]
    fn the_usual_protocols_without_a_list() {
        let registry = quorum_patterns::registry();
        let found = protocols(None, &registry, |_| false).unwrap();
        let names: Vec<&str> = found.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(&names[..5], ["single", "majority", "self-consistency", "voting:2", "synthesis:2"]);
    }
}
