//! Ranks the discussions that match a question.

use crate::model::time::Timestamp;

/// The weights of a word in the topic, in the synthesis and in the turns.
pub const WEIGHTS: [f64; 3] = [10.0, 5.0, 1.0];

/// How many different content words of a question a discussion must have.
const FEWEST_WORDS: usize = 2;

/// From how many discussions on a word of more than half of them says nothing.
const FEWEST_DOCUMENTS: usize = 20;

/// The least score of what is recalled, as a share of the best one.
const LEAST_SHARE: f64 = 0.3;

const DAY_MICROSECONDS: f64 = 86_400_000_000.0;

/// After how many days half of the part that fades is gone.
const HALF_LIFE_DAYS: f64 = 30.0;

/// A discussion that matches a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<T> {
    /// The discussion.
    pub of: T,
    /// How many different content words of the question it has.
    pub words: usize,
    /// Its relevance by [`bm25`], or by the same formula of a database.
    pub relevance: f64,
    /// Whether its topic is the question itself.
    pub same_topic: bool,
    /// When it ended.
    pub ended_at: Timestamp,
}

/// The rules by which matches are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// How many content words the question has.
    pub words: usize,
    /// The time at which the past is asked for something to recall; `None` for a search, which
    /// finds everything of any age.
    pub recalled_at: Option<Timestamp>,
}

/// Which words of a question are looked up, given the number of documents that contain each. A word
/// of more than half of the documents does not distinguish them, so it is left out. If that leaves
/// no word, all are looked up.
#[must_use]
pub fn looked_up(with_word: &[usize], documents: usize) -> Vec<bool> {
    let is_rare = |with_it: &usize| documents < FEWEST_DOCUMENTS || with_it * 2 <= documents;
    let is_any = with_word.iter().any(|it| 0 < *it && is_rare(it));
    with_word.iter().map(|it| !is_any || is_rare(it)).collect()
}

/// The matches that are kept, best first, each with its score as a share of the best one. Equal
/// ones are ordered newest first.
#[must_use]
pub fn ranked<T>(matches: Vec<Match<T>>, rules: Rules) -> Vec<(T, f64)> {
    let enough = FEWEST_WORDS.min(rules.words.max(1));
    let scored = |it: Match<T>| (it.relevance * fading(it.ended_at, rules.recalled_at), it);
    let mut scored: Vec<(f64, Match<T>)> =
        matches.into_iter().filter(|it| it.same_topic || it.words >= enough).map(scored).collect();
    let best = scored.iter().map(|it| it.0).fold(0.0, f64::max);
    let share = |score: f64| if best > 0.0 { score / best } else { 1.0 };
    let is_kept = |score: f64, it: &Match<T>| {
        rules.recalled_at.is_none() || it.same_topic || share(score) >= LEAST_SHARE
    };
    scored.retain(|(score, it)| is_kept(*score, it));
    scored.sort_by(|(one, a), (other, b)| {
        let by_topic = b.same_topic.cmp(&a.same_topic);
        by_topic.then(other.total_cmp(one)).then(b.ended_at.cmp(&a.ended_at))
    });
    scored.into_iter().map(|(score, it)| (it.of, share(score))).collect()
}

/// The share of its relevance that a discussion still has: half of it fades with time.
fn fading(ended_at: Timestamp, recalled_at: Option<Timestamp>) -> f64 {
    let Some(now) = recalled_at else { return 1.0 };
    let days = now.0.saturating_sub(ended_at.0).max(0) as f64 / DAY_MICROSECONDS;
    0.5 + 0.5 * (-days / HALF_LIFE_DAYS).exp2()
}

/// A document's words with the weights of the places they stand in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Weighted {
    /// How many words it has.
    pub length: f64,
    /// For each word of the question, the sum of its weights; 0 if the document doesn't have it.
    pub words: Vec<f64>,
}

/// The figures of all documents together that BM25 needs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Corpus {
    /// How many documents there are.
    pub documents: f64,
    /// How many words they have on average.
    pub average: f64,
    /// For each word of the question, how many documents have it.
    pub with_word: Vec<f64>,
}

impl Corpus {
    /// The relevance of one of the documents by BM25, as SQLite's full-text index computes it.
    #[must_use]
    pub fn relevance(&self, document: &Weighted) -> f64 {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let rarity = |with_it: &f64| ((self.documents - with_it + 0.5) / (with_it + 0.5)).ln().max(1e-6);
        let longer = K1 * (1.0 - B + B * document.length / self.average.max(1.0));
        let terms = document.words.iter().zip(self.with_word.iter().map(rarity));
        terms.map(|(weight, rarity)| rarity * weight * (K1 + 1.0) / (weight + longer)).sum()
    }
}

/// The relevance of each of these documents, which are all there are.
#[must_use]
pub fn bm25(documents: &[Weighted]) -> Vec<f64> {
    let count = documents.len() as f64;
    let words = documents.first().map_or(0, |it| it.words.len());
    let with_word = |word: usize| documents.iter().filter(|it| it.words[word] > 0.0).count() as f64;
    let corpus = Corpus {
        documents: count,
        average: documents.iter().map(|it| it.length).sum::<f64>() / count.max(1.0),
        with_word: (0..words).map(with_word).collect(),
    };
    documents.iter().map(|it| corpus.relevance(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    fn found(of: &'static str, relevance: f64, words: usize, days_ago: i64) -> Match<&'static str> {
        Match { of, words, relevance, same_topic: false, ended_at: Timestamp(-days_ago * DAY) }
    }

    const RECALL: Rules = Rules { words: 3, recalled_at: Some(Timestamp(0)) };

    #[test]
    fn inv_disc_631_of_two_equal_texts_the_newer_is_first_and_the_older_has_faded() {
        let kept = ranked(vec![found("old", 8.0, 2, 60), found("new", 8.0, 2, 1)], RECALL);
        let names: Vec<&str> = kept.iter().map(|it| it.0).collect();
        assert_eq!(names, ["new", "old"]);
        assert_eq!(format!("{:.4} {:.4}", kept[0].1, kept[1].1), "1.0000 0.6322");
    }

    #[test]
    fn inv_disc_631_one_word_of_several_and_a_third_of_the_best_are_not_enough() {
        let all = vec![
            found("best", 10.0, 3, 0),
            found("one word", 9.0, 1, 0),
            found("weak", 2.9, 2, 0),
            found("just enough", 3.0, 2, 0),
        ];
        let names = |it: Vec<(&'static str, f64)>| it.into_iter().map(|it| it.0).collect::<Vec<_>>();
        assert_eq!(names(ranked(all.clone(), RECALL)), ["best", "just enough"]);
        let search = Rules { recalled_at: None, ..RECALL };
        assert_eq!(names(ranked(all, search)), ["best", "just enough", "weak"]);
        let single = Rules { words: 1, ..RECALL };
        assert_eq!(names(ranked(vec![found("one word", 1.0, 1, 0)], single)), ["one word"]);
    }

    #[test]
    fn inv_disc_631_the_same_question_comes_first_whatever_its_score() {
        let same = Match { same_topic: true, words: 0, ..found("same", 0.0, 0, 300) };
        let kept = ranked(vec![found("best", 10.0, 3, 0), same], RECALL);
        assert_eq!(kept, [("same", 0.0), ("best", 1.0)]);
    }

    #[test]
    fn inv_disc_631_ties_go_to_the_newer() {
        // A clock that was set back doesn't make anything more relevant than new.
        let kept = ranked(vec![found("today", 1.0, 2, 0), found("tomorrow", 1.0, 2, -1)], RECALL);
        assert_eq!(kept, [("tomorrow", 1.0), ("today", 1.0)]);
    }

    #[test]
    fn a_word_of_more_than_half_of_twenty_documents_says_nothing() {
        assert_eq!(looked_up(&[19, 3], 19), [true, true]);
        assert_eq!(looked_up(&[10, 11, 0], 20), [true, false, true]);
        // A team whose discussions are all about billing still finds them by that word.
        assert_eq!(looked_up(&[20, 11, 0], 20), [true, true, true]);
    }

    #[test]
    fn a_rare_word_counts_more_and_a_long_document_less() {
        let document = |length: f64, words: &[f64]| Weighted { length, words: words.to_vec() };
        let all = [
            document(10.0, &[10.0, 0.0]),
            document(10.0, &[0.0, 10.0]),
            document(90.0, &[0.0, 10.0]),
            document(10.0, &[0.0, 0.0]),
            document(10.0, &[0.0, 0.0]),
        ];
        let scores = bm25(&all);
        assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > 0.0, "{scores:?}");
        assert_eq!(&scores[3..], [0.0, 0.0]);
        assert_eq!(bm25(&[]), [0.0; 0]);
    }
}
