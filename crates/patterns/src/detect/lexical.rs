//! Lexical similarity of two texts: a weighted cosine over words and over neighbouring words,
//! reduced where one text denies or reverses what the other says.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{JOINS, Sentence, Word, sentences};

/// The weight of words, compared with their order.
const WORDS: f64 = 0.6;

/// The weight of a function word, compared with a content word.
const GRAMMAR: f64 = 0.2;

/// The minimum word similarity; below it, two texts can't share enough trigrams to matter.
const HALF: f64 = 0.5;

/// The word similarity at which two sentences are about the same matter.
const SAME_MATTER: f64 = 0.75;

/// The maximum number of sentences that are compared one by one, so that a flood of text can't
/// block others.
const MOST_SENTENCES: usize = 200;

/// The maximum length of a sentence to check for reversal; a longer one is a list or a flood.
const MOST_WORDS: usize = 150;

/// How many content words on each side of a word belong to its sides.
const SIDE: usize = 4;

/// A text, prepared for comparison.
pub(crate) struct Profile {
    words: Features,
    pairs: Features,
    /// Sorted and unique.
    trigrams: Vec<u64>,
    sentences: Vec<Sentence>,
}

impl Profile {
    pub(crate) fn of(text: &str) -> Profile {
        let mut sentences = sentences(text);
        sentences.truncate(MOST_SENTENCES);
        let (mut words, mut pairs, mut trigrams) = (Vec::new(), Vec::new(), Vec::new());
        for sentence in &sentences {
            words.extend(sentence.0.iter().map(|it| (hash_of(&[it]), weight(it))));
            let content: Vec<&Word> = sentence.content().collect();
            let neighbours = content.windows(2).filter(|pair| pair[0].clause == pair[1].clause);
            pairs.extend(neighbours.map(|pair| (hash_of(pair), 1.0)));
            let all: Vec<&Word> = sentence.0.iter().collect();
            trigrams.extend(all.windows(3).map(hash_of));
        }
        trigrams.sort_unstable();
        trigrams.dedup();
        Profile { words: Features::of(words), pairs: Features::of(pairs), trigrams, sentences }
    }

    /// Whether they share enough words that a closer comparison is worthwhile.
    pub(crate) fn may_be_similar(&self, other: &Profile) -> bool {
        HALF <= self.words.cosine(&other.words)
    }

    /// The similarity, 0 to 1; exact only if it may reach `least`.
    pub(crate) fn similarity(&self, other: &Profile, least: f64) -> f64 {
        let words = self.words.cosine(&other.words);
        if WORDS * words + 1.0 - WORDS < least {
            return WORDS * words;
        }
        // Texts too short for word pairs have only their words.
        let short = self.pairs.counted.is_empty() && other.pairs.counted.is_empty();
        let order = if short { words } else { self.pairs.cosine(&other.pairs) };
        let alike = WORDS * words + (1.0 - WORDS) * order;
        alike * self.uncontradicted_share(other)
    }

    /// How much of one text the other doesn't contradict: 1 if nothing is denied or reversed.
    pub(crate) fn uncontradicted_share(&self, other: &Profile) -> f64 {
        if self.sentences == other.sentences {
            return 1.0;
        }
        let there = denied(&self.sentences, &other.sentences);
        1.0 - there.max(denied(&other.sentences, &self.sentences))
    }

    /// The share of all word trigrams that both texts have.
    pub(crate) fn trigram_overlap(&self, other: &Profile) -> f64 {
        let mut there = other.trigrams.iter().peekable();
        let mut is_there = |sign: &&u64| {
            while there.next_if(|it| it < sign).is_some() {}
            there.next_if(|it| it == sign).is_some()
        };
        let shared = self.trigrams.iter().filter(|it| is_there(it)).count();
        let all = self.trigrams.len() + other.trigrams.len() - shared;
        if all == 0 { 0.0 } else { shared as f64 / all as f64 }
    }
}

fn weight(word: &Word) -> f64 {
    if word.content { 1.0 } else { GRAMMAR }
}

/// A hash of these words in order, including negation (FNV-1a). Integers are faster to compare than
/// strings.
fn hash_of(words: &[&Word]) -> u64 {
    let bytes = words.iter().flat_map(|it| it.form.bytes().chain([if it.negated { 1 } else { 0 }]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |sign, byte| (sign ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Weighted features of a text, by hash.
struct Features {
    counted: Vec<(u64, f64)>,
    size: f64,
}

impl Features {
    fn of(mut found: Vec<(u64, f64)>) -> Features {
        found.sort_by_key(|it| it.0);
        let mut features: Vec<(u64, f64)> = Vec::with_capacity(found.len());
        for (sign, weight) in found {
            match features.last_mut() {
                Some(last) if last.0 == sign => last.1 += weight,
                _ => features.push((sign, weight)),
            }
        }
        // The tenth occurrence says less than the first.
        features.iter_mut().for_each(|it| it.1 = if it.1 <= 1.0 { it.1 } else { 1.0 + it.1.ln() });
        let size = features.iter().map(|it| it.1 * it.1).sum::<f64>().sqrt();
        Features { counted: features, size }
    }

    fn cosine(&self, other: &Features) -> f64 {
        let sizes = self.size * other.size;
        if sizes == 0.0 { 0.0 } else { self.product(other) / sizes }
    }

    /// The dot product; both are sorted, so one pass is enough.
    fn product(&self, other: &Features) -> f64 {
        let mut there = other.counted.iter().peekable();
        let shared = self.counted.iter().filter_map(|(sign, weight)| {
            while there.next_if(|it| it.0 < *sign).is_some() {}
            there.next_if(|it| it.0 == *sign).map(|it| weight * it.1)
        });
        shared.sum()
    }
}

/// The share of what is said here that is only denied or reversed there.
fn denied(here: &[Sentence], there: &[Sentence]) -> f64 {
    let said = |it: &Sentence| it.content().count() as f64;
    let all: f64 = here.iter().map(said).sum();
    let matters: Vec<Features> = there.iter().map(Sentence::matter).collect();
    let against = here.iter().filter(|one| {
        let matter = one.matter();
        let same = |other: &&Features| SAME_MATTER <= matter.cosine(other);
        let mut met = there.iter().zip(&matters).filter(|it| same(&it.1)).map(|it| it.0).peekable();
        met.peek().is_some() && met.all(|other| one.denies(other) || one.reverses(other))
    });
    let against: f64 = against.map(said).sum();
    if all == 0.0 { 0.0 } else { against / all }
}

impl Sentence {
    fn content(&self) -> impl Iterator<Item = &Word> {
        self.0.iter().filter(|it| it.content)
    }

    /// What it is about, regardless of negation.
    fn matter(&self) -> Features {
        let plain = self.content().map(|it| Word { negated: false, ..it.clone() });
        Features::of(plain.map(|it| (hash_of(&[&it]), 1.0)).collect())
    }

    /// Whether a word of both is negated in only one of them.
    pub(crate) fn denies(&self, other: &Sentence) -> bool {
        let mut signs: BTreeMap<&str, [BTreeSet<bool>; 2]> = BTreeMap::new();
        for (side, sentence) in [self, other].into_iter().enumerate() {
            for word in sentence.content() {
                signs.entry(&word.form).or_default()[side].insert(word.negated);
            }
        }
        signs.values().any(|[here, there]| !here.is_empty() && !there.is_empty() && here.is_disjoint(there))
    }

    /// Whether two things have swapped sides around a common word: *tabs beat spaces*, *spaces beat
    /// tabs*.
    fn reverses(&self, other: &Sentence) -> bool {
        if MOST_WORDS < self.0.len().max(other.0.len()) {
            return false;
        }
        self.0.iter().enumerate().any(|(place, pivot)| {
            let Some((before, after)) = self.sides(place, pivot) else { return false };
            let same = other.0.iter().position(|it| it.form == pivot.form);
            let sides = same.and_then(|place| other.sides(place, pivot));
            let Some((other_before, other_after)) = sides else { return false };
            !before.is_disjoint(&other_after) && !after.is_disjoint(&other_before)
        })
    }

    /// The words only before and only after the word at this index; `None` if it joins equals or
    /// occurs twice.
    fn sides(&self, place: usize, pivot: &Word) -> Option<(BTreeSet<&str>, BTreeSet<&str>)> {
        let alone = self.0.iter().filter(|it| it.form == pivot.form).count() == 1;
        if !alone || JOINS.contains(&pivot.form.as_str()) {
            return None;
        }
        let form = |it: &'_ &Word| it.content;
        let before: BTreeSet<&str> =
            self.0[..place].iter().rev().filter(form).take(SIDE).map(|it| it.form.as_str()).collect();
        let after: BTreeSet<&str> =
            self.0[place + 1..].iter().filter(form).take(SIDE).map(|it| it.form.as_str()).collect();
        let only_before = before.difference(&after).copied().collect();
        let only_after = after.difference(&before).copied().collect();
        Some((only_before, only_after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: f64 = 0.85;

    #[track_caller]
    fn check(one: &str, other: &str, alike: bool) {
        let (one_profile, other_profile) = (Profile::of(one), Profile::of(other));
        let there = one_profile.similarity(&other_profile, LEAST);
        let back = other_profile.similarity(&one_profile, LEAST);
        assert_eq!(LEAST <= there, alike, "{there:.3}\n  {one}\n  {other}");
        assert!((there - back).abs() < 1e-9, "similarity is symmetric");
        let standing = one_profile.uncontradicted_share(&other_profile);
        assert!(!alike || LEAST <= standing, "{standing:.3}\n  {one}\n  {other}");
        let overlap = one_profile.trigram_overlap(&other_profile);
        assert!(alike || overlap < 0.6, "{overlap:.3} of the trigrams\n  {one}\n  {other}");
    }

    /// Checks that the two texts contradict each other, which also corrects an embedding model that
    /// finds them similar.
    #[track_caller]
    fn against(one: &str, other: &str) {
        check(one, other, false);
        let standing = Profile::of(one).uncontradicted_share(&Profile::of(other));
        assert!(standing < LEAST, "{standing:.3}\n  {one}\n  {other}");
    }

    #[test]
    fn d08_hard_pairs_that_mean_the_same() {
        check("Tabs adapt to every reader.", "tabs adapt to every reader!!", true);
        check("We should not adopt tabs.", "We shouldn't adopt tabs.", true);
        check("We cannot afford a second rewrite now.", "We can't afford a second rewrite now.", true);
        check("Tabs are worse than spaces here.", "Tabs aren't better than spaces here.", true);
        check("Because they adapt, tabs are better.", "Tabs are better because they adapt.", true);
        check("In the long run a monolith costs less.", "A monolith costs less in the long run.", true);
        check("Tabs and spaces both have a cost.", "Spaces and tabs both have a cost.", true);
        check(
            "Remote work saves the commute, and that hour goes into the work itself.",
            "Indeed, remote work saves the commute, and that hour clearly goes into the work itself.",
            true,
        );
        check(
            "Privacy is a right. A right is not for sale. So consent forms are no answer.",
            "A right is not for sale. So consent forms are no answer. Privacy is a right.",
            true,
        );
        check("Les tabulations ne sont pas meilleures.", "Les tabulations ne sont pas meilleures !", true);
        check("标签让每个读者选择宽度", "标签让每个读者选择宽度。", true);
        check("ÄRZTE BRAUCHEN ZEIT", "Ärzte brauchen Zeit.", true);
    }

    #[test]
    fn d08_hard_pairs_that_deny_each_other() {
        against(
            "We should adopt tabs across the whole code base.",
            "We should not adopt tabs across the whole code base.",
        );
        against("Tabs are better than spaces.", "Tabs aren't better than spaces.");
        against("Tabs are better than spaces for teams.", "Tabs are worse than spaces for teams.");
        against("Everyone agrees that this plan will succeed.", "Nobody agrees that this plan will succeed.");
        against("The law would increase rents in the city.", "The law would reduce rents in the city.");
        against(
            "The committee supports the merger of both firms.",
            "The committee opposes the merger of both firms.",
        );
        against(
            "There is evidence that the drug works in adults.",
            "There is no evidence that the drug works in adults.",
        );
        against("I think the risk is worth it.", "I never think the risk is worth it.");
        against("Die Steuer ist gerecht und einfach.", "Die Steuer ist nicht gerecht und einfach.");
        against("La taxe est juste et simple.", "La taxe n'est pas juste et simple.");
        against("这个方案很好", "这个方案不很好");
        against(
            "Costs fell for three years. Quality rose in the same time. Staff stayed. We should keep the reform.",
            "Costs fell for three years. Quality rose in the same time. Staff stayed. We should not keep the reform.",
        );
    }

    #[test]
    fn d08_hard_pairs_with_swapped_sides() {
        against("Tabs beat spaces.", "Spaces beat tabs.");
        against(
            "Remote work is better than office work for productivity.",
            "Office work is better than remote work for productivity.",
        );
        against(
            "We should replace tabs with spaces in every file.",
            "We should replace spaces with tabs in every file.",
        );
        against("Poverty causes crime in most cities.", "Crime causes poverty in most cities.");
        against(
            "The state must protect the citizen from the firm.",
            "The state must protect the firm from the citizen.",
        );
        against("Mars should come before the climate.", "The climate should come before Mars.");
        against("Das Volk regiert den Kanzler.", "Den Kanzler regiert das Volk nicht.");
    }

    #[test]
    fn d08_other_topics_are_not_similar() {
        check("Tabs adapt to every reader.", "Rents rose in every city.", false);
        check("Tabs adapt to every reader.", "", false);
        check("", "", false);
    }

    #[test]
    fn a_flood_of_text_is_compared_quickly() {
        let flood = "Not this, but that! ".repeat(50_000);
        let profile = Profile::of(&flood);
        assert!(profile.similarity(&Profile::of(&flood), LEAST) > 0.99);
        let breathless: String = (0..100_000).map(|word| format!("w{word} ")).collect();
        assert!(Profile::of(&breathless).similarity(&Profile::of(&breathless), LEAST) > 0.99);
    }
}
