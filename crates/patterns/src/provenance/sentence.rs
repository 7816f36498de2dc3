//! The sources and the level of each sentence of an answer.

use std::collections::BTreeSet;

use quorum_core::model::outcome::{FoundBy, SentenceSource, SourcedSentence, Support};

use super::{
    Answer, PARTLY, SUPPORTED, Said, Talk,
    index::{Index, Pick},
    markers::{self, Cited},
    numbers::KnownNumbers,
    quotes::{Quote, quotes},
    scan::{Term, Vocabulary, Word, each_once},
    units::{Kind, Unit, units},
};
use crate::detect::words;

/// A sentence with fewer content words can't be compared.
const LEAST_WORDS: usize = 5;

/// The least share of a sentence that one other must cover, for a contradiction between them to
/// mean anything.
const SAME_MATTER: f64 = 0.5;

/// The longest sentence, in bytes, that is checked for a contradiction; a longer one is a list.
const LONGEST: usize = 2_000;

pub(super) fn sources(answer: Answer<'_>, talk: &Talk<'_>) -> Vec<SourcedSentence> {
    let units = units(answer.text);
    let mut vocabulary = Vocabulary::of([answer.text].into_iter(), talk.names());
    let record = Record::of(talk, &mut vocabulary);
    let part = |unit: &Unit| &answer.text[unit.bytes.clone()];
    let mut read = |unit: &Unit| {
        let (words, terms) = vocabulary.read(part(unit));
        (words, each_once(&terms))
    };
    let read: Vec<(Vec<Word>, Vec<Term>)> = units.iter().map(&mut read).collect();
    let words: Vec<&[Word]> = read.iter().map(|it| &*it.0).collect();
    let mut quoted: Vec<Option<Quote>> = vec![None; units.len()];
    for quote in quotes(&words, &record.index.words) {
        let sentence = quote.sentence;
        quoted[sentence] = Some(quote);
    }
    let cited = markers::by_unit(answer.text, answer.markers, &units, &talk.turns);
    let all = units.iter().zip(read).zip(quoted).zip(cited);
    let sourced = all.map(|(((unit, (_, terms)), quote), cited)| {
        let sentence = Compared { text: part(unit), unit, terms, quote, cited };
        sentence.sourced(&record)
    });
    sourced.collect()
}

/// What the sentences of an answer are compared with.
struct Record<'t> {
    turns: &'t [Said<'t>],
    index: Index,
    numbers: KnownNumbers,
    participants: usize,
}

impl<'t> Record<'t> {
    fn of(talk: &'t Talk<'t>, vocabulary: &mut Vocabulary) -> Record<'t> {
        let said = talk.turns.iter().map(|it| &*it.text);
        let given = talk.given.iter().map(|it| &**it);
        let names: BTreeSet<&str> = talk.turns.iter().map(|it| &*it.participant).collect();
        Record {
            turns: &talk.turns,
            index: Index::of(&talk.turns, vocabulary),
            numbers: KnownNumbers::of(said.chain(given)),
            participants: names.len(),
        }
    }

    /// A sentence of the talk, as a source.
    fn source(&self, entry: usize, score: f64, by: FoundBy) -> SentenceSource {
        let entry = &self.index.entries[entry];
        let said = &self.turns[entry.turn];
        SentenceSource {
            participant: said.participant.clone().into_owned(),
            round: said.round,
            step: said.step.clone(),
            start: entry.unit.chars.start,
            end: entry.unit.chars.end,
            score: rounded(score),
            by,
        }
    }

    fn text_of(&self, entry: usize) -> &str {
        let entry = &self.index.entries[entry];
        &self.turns[entry.turn].text[entry.unit.bytes.clone()]
    }
}

/// A sentence of an answer that is compared with the record.
struct Compared<'a> {
    text: &'a str,
    unit: &'a Unit,
    terms: Vec<Term>,
    quote: Option<Quote>,
    cited: Vec<Cited<'a>>,
}

/// The sources that were found.
#[derive(Default)]
struct FoundSources {
    sources: Vec<SentenceSource>,
    /// The share of the sentence that they cover together.
    coverage: f64,
    /// The sentence of the talk that covers most, and its share.
    best: Option<Pick>,
    unconfirmed: Vec<String>,
}

impl Compared<'_> {
    fn sourced(&self, record: &Record<'_>) -> SourcedSentence {
        let is_own = self.unit.kind == Kind::Heading || self.terms.len() < LEAST_WORDS;
        let mut found =
            if self.unit.kind == Kind::Heading { FoundSources::default() } else { self.find(record, is_own) };
        let level = if is_own { Support::Own } else { self.level(record, &found) };
        found.sources.sort_by(|one, other| other.score.total_cmp(&one.score));
        if !is_own && let Some(quote) = &self.quote {
            self.put_first(record, quote, &mut found.sources);
        }
        SourcedSentence {
            start: self.unit.chars.start,
            end: self.unit.chars.end,
            level,
            sources: found.sources,
            unconfirmed: found.unconfirmed,
        }
    }

    /// The sources by the writer's markers, or else by words.
    fn find(&self, record: &Record<'_>, is_own: bool) -> FoundSources {
        let mut found = FoundSources::default();
        let mut turns: Vec<usize> = Vec::new();
        for cited in &self.cited {
            match self.confirmed(record, cited) {
                Some((turn, _)) if turns.contains(&turn) => {}
                Some((turn, source)) => {
                    turns.push(turn);
                    found.sources.push(source);
                }
                None if found.unconfirmed.iter().any(|it| it == cited.written) => {}
                None => found.unconfirmed.push(cited.written.to_owned()),
            }
        }
        if is_own {
            return found;
        }
        let is_cited = |turn: usize| turns.is_empty() || turns.contains(&turn);
        let picks = record.index.picks(&self.terms, is_cited);
        found.coverage = picks.iter().map(|it| it.share).sum();
        found.best = picks.first().copied();
        if turns.is_empty() && PARTLY <= found.coverage {
            let source = |it: &Pick| record.source(it.entry, it.share, FoundBy::Words);
            found.sources = picks.iter().map(source).collect();
        }
        found
    }

    /// The turn that a marker cites, if it covers enough of the sentence.
    fn confirmed(&self, record: &Record<'_>, cited: &Cited<'_>) -> Option<(usize, SentenceSource)> {
        let covering = cited.turns.iter().filter_map(|turn| {
            let picks = record.index.picks_in(*turn, &self.terms);
            let share: f64 = picks.iter().map(|it| it.share).sum();
            Some((*turn, picks.first()?.entry, share))
        });
        let best = covering.reduce(|best, it| if best.2 < it.2 { it } else { best });
        let (turn, entry, share) = best.filter(|it| PARTLY <= it.2)?;
        Some((turn, record.source(entry, share, FoundBy::Marker)))
    }

    fn level(&self, record: &Record<'_>, found: &FoundSources) -> Support {
        if record.numbers.lack_one_of(self.text, record.participants) {
            return Support::Unsupported;
        }
        let best = found.best.filter(|it| SAME_MATTER <= it.share);
        if best.is_some_and(|it| contradict(self.text, record.text_of(it.entry))) {
            return Support::Contradicted;
        }
        match found.coverage {
            _ if self.quote.is_some() => Support::Quoted,
            share if SUPPORTED <= share => Support::Supported,
            share if PARTLY <= share => Support::Partly,
            _ => Support::Unsupported,
        }
    }

    /// Puts the turn that a sentence quotes before its other sources, with the quoted words.
    fn put_first(&self, record: &Record<'_>, quote: &Quote, sources: &mut Vec<SentenceSource>) {
        let said = &record.turns[quote.turn];
        let known = sources.iter().position(|it| it.step == said.step);
        let (start, end) = (quote.chars.start, quote.chars.end);
        let source = match known.map(|at| sources.remove(at)) {
            Some(source) => SentenceSource { start, end, ..source },
            None => {
                let picks = record.index.picks_in(quote.turn, &self.terms);
                let share: f64 = picks.iter().map(|it| it.share).sum();
                SentenceSource {
                    participant: said.participant.clone().into_owned(),
                    round: said.round,
                    step: said.step.clone(),
                    start,
                    end,
                    score: rounded(share),
                    by: FoundBy::Words,
                }
            }
        };
        sources.insert(0, source);
    }
}

/// Two decimals say all there is.
fn rounded(share: f64) -> f64 {
    (share * 100.0).round() / 100.0
}

/// Whether two sentences on the same matter differ in a negation or an opposite.
fn contradict(one: &str, other: &str) -> bool {
    let read = |text: &str| words::Sentence(words::sentences(text).into_iter().flat_map(|it| it.0).collect());
    one.len().max(other.len()) <= LONGEST && read(one).denies(&read(other))
}
