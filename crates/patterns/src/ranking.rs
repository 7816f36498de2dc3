//! Ranks participants by how well their strengths match the topic (INV-DISC-203).

use std::{cmp::Reverse, collections::BTreeSet};

use quorum_core::model::participant::Participant;

/// The provider that wins ties.
const FAVOURITE: &str = "claude";

/// How many characters two words must share at the start to count as the same: *translate* and
/// *translation*.
const STEM: usize = 6;

/// Everyone, the strongest for this topic first; on ties claude, then seating order.
pub(crate) fn strongest_first(mut among: Vec<Participant>, topic: &str) -> Vec<Participant> {
    let wanted = words(topic);
    among.sort_by_key(|it| (Reverse(matches(it, &wanted)), it.provider != FAVOURITE));
    among
}

/// The participant with this name, or else the first one of the provider with this name.
pub(crate) fn named<'p>(among: &'p [Participant], name: &str) -> Option<&'p Participant> {
    let by_name = among.iter().find(|it| it.name == name);
    by_name.or_else(|| among.iter().find(|it| it.provider == name))
}

/// How many of its strengths match the words.
fn matches(who: &Participant, wanted: &BTreeSet<String>) -> usize {
    who.strengths.iter().filter(|tag| !words(tag).is_disjoint(wanted)).count()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| 2 < word.chars().count()).map(|word| stem(&word)).collect()
}

fn stem(word: &str) -> String {
    word.trim_end_matches('s').chars().take(STEM).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(provider: &str, strengths: &[&str]) -> Participant {
        let strengths = strengths.iter().map(|it| (*it).to_owned()).collect();
        Participant { strengths, ..Participant::of(provider) }
    }

    #[track_caller]
    fn check(topic: &str, expected: &[&str]) {
        let table = vec![
            seat("glm", &["agentic-coding", "code", "cost"]),
            seat("claude", &["synthesis", "nuanced reasoning"]),
            seat("qwen", &["translation", "ocr", "multilingual"]),
            seat("gemini", &["research", "long context"]),
        ];
        let order = strongest_first(table, topic);
        let order: Vec<&str> = order.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(order, expected, "{topic}");
    }

    #[test]
    fn inv_disc_203_the_strongest_for_the_task_goes_first() {
        check("Who can translate this text?", &["qwen", "claude", "glm", "gemini"]);
        check("Research on whales", &["gemini", "claude", "glm", "qwen"]);
        check("How much does agentic coding cost?", &["glm", "claude", "qwen", "gemini"]);
        check("Translations of code, with research", &["glm", "qwen", "gemini", "claude"]);
    }

    #[test]
    fn inv_disc_203_claude_goes_first_where_equal_then_the_seat() {
        check("Tabs or spaces?", &["claude", "glm", "qwen", "gemini"]);
        check("", &["claude", "glm", "qwen", "gemini"]);
    }

    #[test]
    fn a_seat_is_found_by_name_before_provider() {
        let sage = Participant { name: "glm".into(), ..Participant::of("claude") };
        let table =
            [sage, Participant::of("glm"), Participant { name: "ann".into(), ..Participant::of("qwen") }];
        assert_eq!(named(&table, "glm").map(|it| it.provider.as_str()), Some("claude"));
        assert_eq!(named(&table, "qwen").map(|it| it.name.as_str()), Some("ann"));
        assert_eq!(named(&table, "grok"), None);
    }
}
