//! How much of past discussions fits into the prompts of an order.

use quorum_core::{
    call::tokens::Family,
    engine::services::Services,
    model::{
        participant::Participant,
        recall::{Recalled, Why},
        spec::Spec,
    },
};

use crate::text::clean;

/// The most tokens of everything that is recalled.
const MOST: u64 = 4_000;

/// The most tokens of one recalled discussion.
const MOST_EACH: u64 = 1_500;

/// The longest question that is shown where not everything fits, in characters.
const LONGEST_QUESTION: usize = 300;

/// The part of the smallest window that everything recalled may take: one tenth.
const RECALLED_PART: u64 = 10;

/// The part of the smallest window that followed discussions may take: one fifth.
const FOLLOWED_PART: u64 = 5;

/// The room for past discussions in the prompts of a panel.
pub(super) struct Room {
    /// The smallest window of the panel, in tokens.
    window: u64,
    /// How its models count tokens.
    families: Vec<Family>,
}

impl Room {
    pub(super) fn of(services: &Services, spec: &Spec) -> Room {
        let window = |who: &Participant| services.voices.voice(spec, who).map(|it| it.window);
        let models = || spec.participants.iter().filter(|it| !it.is_person());
        // An agent may turn out to speak through any of its candidates that has a voice.
        let others: Vec<Participant> =
            models().flat_map(other_seats).filter(|it| window(it).is_some()).collect();
        let seats = || models().chain(&others);
        let mut families: Vec<Family> = seats().map(Family::of).collect();
        families.sort();
        families.dedup();
        Room { window: seats().filter_map(window).min().unwrap_or(u64::MAX), families }
    }

    /// What is recalled, with the room divided evenly.
    pub(super) fn recalled(&self, sources: Vec<Recalled>) -> Vec<Recalled> {
        let all = MOST.min(self.window / RECALLED_PART);
        let each = MOST_EACH.min(all / (sources.len() as u64).max(1));
        self.fitted(sources, Why::Recalled, each)
    }

    /// What is followed, with the room divided evenly.
    pub(super) fn followed(&self, links: Vec<Recalled>) -> Vec<Recalled> {
        let each = self.window / FOLLOWED_PART / (links.len() as u64).max(1);
        self.fitted(links, Why::Followed, each)
    }

    fn fitted(&self, sources: Vec<Recalled>, why: Why, each: u64) -> Vec<Recalled> {
        let fitted = |it: Recalled| {
            let (whole, fits) = (it.text.len(), |text: &str| self.tokens(text) <= each);
            let text = match fits(&it.text) {
                true => it.text.clone(),
                false => cut(&with_short_question(&it), fits),
            };
            Recalled { tokens: self.tokens(&text), cut: it.cut || text.len() < whole, text, why, ..it }
        };
        sources.into_iter().map(fitted).collect()
    }

    /// The tokens of a text by the largest estimate of the panel.
    fn tokens(&self, text: &str) -> u64 {
        self.families.iter().map(|family| family.estimate(text)).max().unwrap_or_default()
    }
}

/// An agent's seat with each of its candidates.
fn other_seats(seat: &Participant) -> Vec<Participant> {
    let candidates = seat.agent.iter().flat_map(|it| &it.candidates);
    candidates.map(|it| seat.clone().through(it)).collect()
}

/// The text with a long question shortened, so that it leaves room for the answer.
fn with_short_question(of: &Recalled) -> String {
    let question = question(&of.topic);
    match of.text.strip_prefix(&question) {
        Some(rest) if LONGEST_QUESTION < question.chars().count() => {
            format!("{} …{rest}", cut(&question, |it| it.chars().count() <= LONGEST_QUESTION))
        }
        Some(_) | None => of.text.clone(),
    }
}

/// The line with the question of a discussion.
pub(super) fn question(topic: &str) -> String {
    clean(&format!("Question: {}", topic.trim()))
}

/// The longest beginning of a text that fits, up to the end of a sentence; up to the end of a word
/// if not even one sentence fits.
fn cut(text: &str, fits: impl Fn(&str) -> bool) -> String {
    if fits(text) {
        return text.to_owned();
    }
    let longest = |ends: Vec<usize>| {
        let fitting = ends.partition_point(|end| fits(&text[..*end]));
        fitting.checked_sub(1).map(|last| ends[last])
    };
    let end = longest(ends(text, ends_sentence)).or_else(|| longest(ends(text, ends_word)));
    text[..end.unwrap_or_default()].trim_end().to_owned()
}

/// The places after which a text can be cut.
fn ends(text: &str, is_end: fn(char, Option<char>) -> bool) -> Vec<usize> {
    let mut letters = text.char_indices().peekable();
    let mut ends = Vec::new();
    while let Some((at, letter)) = letters.next() {
        if is_end(letter, letters.peek().map(|it| it.1)) {
            ends.push(at + letter.len_utf8());
        }
    }
    ends
}

/// A full stop within 3.5 or example.com doesn't end a sentence.
fn ends_sentence(letter: char, next: Option<char>) -> bool {
    matches!(letter, '。' | '！' | '？' | '\n')
        || (matches!(letter, '.' | '!' | '?') && next.is_none_or(char::is_whitespace))
}

fn ends_word(letter: char, next: Option<char>) -> bool {
    !letter.is_whitespace() && next.is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, most: usize, expected: &str) {
        assert_eq!(cut(text, |it| it.chars().count() <= most), expected, "{text} to {most}");
    }

    #[test]
    fn a_text_is_cut_after_a_sentence() {
        let text = "Question: tabs?\nAnswer: Tabs 3.5 times. Because they adapt! Really.";
        check(text, 100, text);
        check(text, 60, "Question: tabs?\nAnswer: Tabs 3.5 times. Because they adapt!");
        check(text, 40, "Question: tabs?\nAnswer: Tabs 3.5 times.");
        check(text, 38, "Question: tabs?");
        check("タブです。速いです。", 6, "タブです。");
    }

    #[test]
    fn a_long_sentence_is_cut_after_a_word() {
        check("one two three", 8, "one two");
        check("onetwothree", 5, "");
    }

    fn recalled(topic: &str, text: String) -> Recalled {
        Recalled {
            id: quorum_core::model::id::DiscussionId::fresh(),
            key: String::new(),
            topic: topic.to_owned(),
            ended_at: Default::default(),
            score: None,
            text,
            cut: false,
            tokens: 0,
            why: Why::Recalled,
        }
    }

    #[test]
    fn inv_disc_630_a_long_question_leaves_room_for_the_answer() {
        let topic = "So many words are in this question. ".repeat(130);
        let answer = "Answer: PostgreSQL. Because it is there.";
        let source = || recalled(&topic, format!("{}\n{answer}", question(&topic)));
        let room = |window| Room { window, families: vec![Family::Cl100k] };
        let whole = &room(1_000_000).recalled(vec![source()])[0];
        assert!(!whole.cut && whole.text.ends_with(answer) && whole.tokens > 1_000, "{}", whole.tokens);
        let short = &room(4_000).recalled(vec![source()])[0];
        assert!(short.cut && short.tokens <= 400, "{}", short.tokens);
        assert!(short.text.ends_with(&format!("question. …\n{answer}")), "{}", short.text);
    }

    #[test]
    fn what_is_recalled_keeps_to_its_limits() {
        let source = |words: usize| recalled("t", "So many words here. ".repeat(words));
        let room = |window| Room { window, families: vec![Family::Cl100k, Family::Claude] };
        let check = |window: u64, count: usize, each: u64| {
            let shown = room(window).recalled((0..count).map(|_| source(2_000)).collect());
            let most = shown.iter().map(|it| it.tokens).max().unwrap();
            assert!(shown.iter().all(|it| it.cut && it.text.ends_with('.')), "{window} {count}");
            assert!(most <= each && each - most < 10, "{window} {count}: {most} of {each}");
        };
        check(1_000_000, 1, 1_500);
        check(1_000_000, 2, 1_500);
        check(1_000_000, 10, 400);
        check(8_000, 1, 800);
        check(8_000, 4, 200);
        let followed = room(8_000).followed(vec![source(2_000), source(1)]);
        assert!(followed[0].tokens <= 800 && followed[0].cut && !followed[1].cut);
        assert!(followed.iter().all(|it| it.why == Why::Followed));
    }
}
