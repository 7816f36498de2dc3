//! The cache of prompts that vendors keep: some cache what a request marks, some find repeated
//! beginnings by themselves.

use std::collections::BTreeMap;

/// The smallest beginning that is cached, in tokens.
const LEAST: u64 = 1_024;

/// The steps in which repeated beginnings are found, in tokens.
const STEP: u64 = 128;

/// How many parts before a mark are searched for a cached beginning.
const LOOK_BACK: usize = 20;

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// Whether the request marks its end.
    pub(super) is_marked: bool,
}

/// A prompt as its vendor's cache sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Prompt {
    /// Only what stands before marks is cached.
    Marked(Vec<Part>),
    /// All of it is cached.
    Plain(String),
}

/// The tokens of a prompt that were read from the cache, and those written to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cached {
    pub(super) read: u64,
    pub(super) written: u64,
}

/// The cached beginnings of prompts, by model.
#[derive(Debug, Default)]
pub(super) struct PromptCache(BTreeMap<String, Vec<String>>);

impl PromptCache {
    /// What is cached of this prompt by now; it is cached from now on.
    pub(super) fn take(&mut self, model: &str, prompt: &Prompt) -> Cached {
        let known = self.0.entry(model.to_owned()).or_default();
        match prompt {
            Prompt::Marked(parts) => take_marked(known, parts),
            Prompt::Plain(text) => take_plain(known, text),
        }
    }
}

/// Vendors count tokens; four bytes are one here.
pub(super) fn tokens(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

fn take_marked(known: &mut Vec<String>, parts: &[Part]) -> Cached {
    let beginnings: Vec<String> =
        (1..=parts.len()).map(|to| parts[..to].iter().map(|it| it.text.as_str()).collect()).collect();
    let marks: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].is_marked).collect();
    let is_read = |at: &usize| known.contains(&beginnings[*at]);
    let found = marks.iter().flat_map(|mark| (0..=*mark).rev().take(LOOK_BACK).find(is_read)).max();
    let read = found.map_or(0, |at| tokens(&beginnings[at]));
    let large: Vec<usize> = marks.into_iter().filter(|it| LEAST <= tokens(&beginnings[*it])).collect();
    let end = large.last().map_or(0, |at| tokens(&beginnings[*at]));
    for at in large {
        if !known.contains(&beginnings[at]) {
            known.push(beginnings[at].clone());
        }
    }
    Cached { read, written: end.saturating_sub(read) }
}

fn take_plain(known: &mut Vec<String>, text: &str) -> Cached {
    let common = |it: &String| it.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count() as u64 / 4;
    let longest = known.iter().map(common).max().unwrap_or_default() / STEP * STEP;
    known.push(text.to_owned());
    Cached { read: if longest < LEAST { 0 } else { longest }, written: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sizes: &[(u64, bool)]) -> Prompt {
        let part = |(at, (size, is_marked)): (usize, &(u64, bool))| Part {
            text: char::from(b'a' + at as u8).to_string().repeat(4 * *size as usize),
            is_marked: *is_marked,
        };
        Prompt::Marked(sizes.iter().enumerate().map(part).collect())
    }

    #[test]
    fn what_is_marked_is_written_once_and_read_afterwards() {
        let mut cache = PromptCache::default();
        let mut check = |sizes: &[(u64, bool)], read: u64, written: u64| {
            assert_eq!(cache.take("m", &parts(sizes)), Cached { read, written }, "{sizes:?}");
        };
        check(&[(500, true), (500, false)], 0, 0);
        check(&[(500, true), (1_000, true), (9, false)], 0, 1_500);
        check(&[(500, true), (1_000, false), (700, true), (9, false)], 1_500, 700);
        check(&[(500, true), (1_000, false), (700, false), (9, true)], 2_200, 9);
        check(&[(500, false), (1_000, false), (700, false)], 0, 0);
        assert_eq!(cache.take("n", &parts(&[(2_000, true)])), Cached { read: 0, written: 2_000 });
    }

    #[test]
    fn a_repeated_beginning_is_found_without_marks_from_a_certain_size_on() {
        let mut cache = PromptCache::default();
        let mut check = |text: String, read: u64| {
            assert_eq!(cache.take("m", &Prompt::Plain(text)), Cached { read, written: 0 });
        };
        check("a".repeat(8_000), 0);
        check(format!("{}b", "a".repeat(8_000)), 1_920);
        check(format!("{}b", "a".repeat(4_000)), 0);
    }
}
