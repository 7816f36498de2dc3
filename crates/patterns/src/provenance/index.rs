//! The sentences of a talk by their content words, weighted by how rare each word is in it, and the
//! sentences that cover most of another one.

use std::ops::Range;

use super::{
    Said,
    scan::{Term, Vocabulary, Word},
    units::{Unit, units},
};

/// The most sentences of the talk that one sentence rests on.
const MOST_PICKS: usize = 3;

/// The least share of a sentence that a further pick must add.
const LEAST_SHARE: f64 = 0.12;

/// A sentence of the talk.
#[derive(Debug)]
pub(super) struct Entry {
    /// The index of its turn.
    pub(super) turn: usize,
    pub(super) unit: Unit,
    /// Its content words, sorted, each once.
    terms: Vec<Term>,
}

/// A sentence of the talk that covers a part of another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pick {
    /// The index of the entry.
    pub(super) entry: usize,
    /// The share that it adds to those before it.
    pub(super) share: f64,
}

/// The sentences of a talk by their content words.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) entries: Vec<Entry>,
    /// The words of each turn, for quotations.
    pub(super) words: Vec<Vec<Word>>,
    /// The entries of each turn.
    of_turn: Vec<Range<usize>>,
    /// For each content word, the entries that have it.
    postings: Vec<Vec<usize>>,
}

impl Index {
    pub(super) fn of(talk: &[Said<'_>], vocabulary: &mut Vocabulary) -> Index {
        let postings = vec![Vec::new(); vocabulary.len()];
        let mut index = Index { entries: Vec::new(), words: Vec::new(), of_turn: Vec::new(), postings };
        for (turn, said) in talk.iter().enumerate() {
            let (words, terms) = vocabulary.read(&said.text);
            let from = index.entries.len();
            index.add_turn(turn, units(&said.text), &terms);
            index.of_turn.push(from..index.entries.len());
            index.words.push(words);
        }
        index
    }

    /// Adds the sentences of a turn. Its words are in order, and so are its sentences.
    fn add_turn(&mut self, turn: usize, units: Vec<Unit>, words: &[(usize, Term)]) {
        let mut words = words.iter().peekable();
        for unit in units {
            while words.next_if(|it| it.0 < unit.chars.start).is_some() {}
            let mut terms = Vec::new();
            while let Some((_, term)) = words.next_if(|it| it.0 < unit.chars.end) {
                terms.push(*term);
            }
            terms.sort_unstable();
            terms.dedup();
            let entry = self.entries.len();
            terms.iter().for_each(|term| self.postings[*term as usize].push(entry));
            self.entries.push(Entry { turn, unit, terms });
        }
    }

    /// The weight of a content word: the fewer sentences of the talk have it, the higher.
    pub(super) fn weight(&self, term: Term) -> f64 {
        let (all, having) = (self.entries.len() as f64, self.postings[term as usize].len() as f64);
        (1.0 + (all + 0.5) / (having + 0.5)).ln()
    }

    pub(super) fn mass(&self, terms: &[Term]) -> f64 {
        terms.iter().map(|term| self.weight(*term)).sum()
    }

    /// The sentences of the allowed turns that cover most of these content words together, each
    /// with the share that it adds. On a tie, the one that was said first.
    pub(super) fn picks(&self, terms: &[Term], is_allowed: impl Fn(usize) -> bool) -> Vec<Pick> {
        self.picked(terms, |left| self.best(left, &is_allowed))
    }

    /// The same for the sentences of one turn.
    pub(super) fn picks_in(&self, turn: usize, terms: &[Term]) -> Vec<Pick> {
        self.picked(terms, |left| {
            let mass = |entry: usize| {
                let has = |term: &&Term| self.entries[entry].terms.binary_search(term).is_ok();
                left.iter().filter(has).map(|term| self.weight(*term)).sum::<f64>()
            };
            most(self.of_turn[turn].clone().map(|entry| (entry, mass(entry))))
        })
    }

    fn picked(&self, terms: &[Term], best: impl Fn(&[Term]) -> Option<(usize, f64)>) -> Vec<Pick> {
        let all = self.mass(terms);
        let (mut left, mut picks): (Vec<Term>, Vec<Pick>) = (terms.to_vec(), Vec::new());
        while picks.len() < MOST_PICKS && 0.0 < all {
            let Some((entry, mass)) = best(&left) else { break };
            let share = mass / all;
            if share < LEAST_SHARE {
                break;
            }
            picks.push(Pick { entry, share });
            left.retain(|term| self.entries[entry].terms.binary_search(term).is_err());
        }
        picks
    }

    /// The allowed sentence that has most of these content words.
    fn best(&self, terms: &[Term], is_allowed: &impl Fn(usize) -> bool) -> Option<(usize, f64)> {
        let mut sums = vec![0.0; self.entries.len()];
        for term in terms {
            let weight = self.weight(*term);
            self.postings[*term as usize].iter().for_each(|entry| sums[*entry] += weight);
        }
        most(sums.into_iter().enumerate().filter(|it| is_allowed(self.entries[it.0].turn)))
    }
}

/// The first of the entries with the highest sum.
fn most(sums: impl Iterator<Item = (usize, f64)>) -> Option<(usize, f64)> {
    let best = sums.reduce(|best, it| if best.1 + TIE < it.1 { it } else { best });
    best.filter(|it| 0.0 < it.1)
}

/// Sums that differ by less are equal.
const TIE: f64 = 1e-9;
