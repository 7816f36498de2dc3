//! The correlation of voices' errors, and how many independent voices a panel is worth.

use std::collections::BTreeMap;

use super::KnownQuestion;

/// The half-width of a 90 % interval, in standard errors.
const NINETY_PER_CENT: f64 = 1.645;

/// The fewest common questions for which the correlation of two voices means anything.
const LEAST_COMMON: usize = 10;

/// The number of independent voices that a panel is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectiveVoices {
    /// The number of voices.
    pub voices: usize,
    /// The mean correlation of their errors, over all pairs.
    pub correlation: f64,
    /// The number of independent voices that would be worth as much: n / (1 + (n - 1) φ).
    pub effective: f64,
    /// The 90 % interval of that number.
    pub interval: (f64, f64),
    /// The number of questions it is known from.
    pub outcomes: usize,
}

/// The correlation of the errors of two voices.
#[derive(Debug, Clone, PartialEq)]
pub struct PairCorrelation {
    /// The two voices.
    pub voices: (String, String),
    /// Their correlation, -1 to 1.
    pub correlation: f64,
    /// The number of questions that both answered.
    pub outcomes: usize,
}

/// n / (1 + (n - 1) φ) (Kish), never below 1 and never above n.
#[must_use]
pub fn effective(voices: usize, correlation: f64) -> f64 {
    let voices = voices.max(1) as f64;
    let spread = 1.0 + (voices - 1.0) * correlation.max(0.0);
    (voices / spread).clamp(1.0, voices)
}

/// The correlation of errors for each pair of these voices that answered enough common questions,
/// in the order of the voices.
#[must_use]
pub fn pairs(questions: &[KnownQuestion], voices: &[String]) -> Vec<PairCorrelation> {
    let tables = tables(questions, voices);
    let of_pair = |((first, second), table): (&(usize, usize), &Table)| {
        let correlation = table.correlation().filter(|_| table.count >= LEAST_COMMON)?;
        let voices = (voices[*first].clone(), voices[*second].clone());
        Some(PairCorrelation { voices, correlation, outcomes: table.count })
    };
    tables.iter().filter_map(of_pair).collect()
}

/// The number of independent voices that these are worth; `None` for a single voice, or if no pair
/// has enough common questions.
#[must_use]
pub fn effective_voices(questions: &[KnownQuestion], voices: &[String]) -> Option<EffectiveVoices> {
    let tables = tables(questions, voices);
    let usable = || tables.iter().filter(|(_, it)| it.count >= LEAST_COMMON);
    let correlation = mean(usable().filter_map(|(_, it)| it.correlation()))?;
    let common = usable().map(|(_, it)| it.count).max().unwrap_or_default();
    let error = jackknife_error(questions, voices, &tables);
    let at = |errors: f64| effective(voices.len(), correlation + errors * NINETY_PER_CENT * error);
    Some(EffectiveVoices {
        voices: voices.len(),
        correlation,
        effective: at(0.0),
        interval: (at(1.0), at(-1.0)),
        outcomes: common,
    })
}

/// The standard error of the mean correlation, from its variation when each question is left out
/// once.
fn jackknife_error(questions: &[KnownQuestion], voices: &[String], tables: &Tables) -> f64 {
    let without = |question: &KnownQuestion| {
        let mut changed: BTreeMap<(usize, usize), Table> = BTreeMap::new();
        for (pair, wrong, weight) in errors(question, voices) {
            let table = tables.get(&pair).copied().unwrap_or_default();
            changed.insert(pair, table.without(wrong, weight));
        }
        let usable = tables.iter().filter(|(_, it)| it.count >= LEAST_COMMON);
        mean(usable.filter_map(|(pair, it)| changed.get(pair).unwrap_or(it).correlation()))
    };
    let estimates: Vec<f64> = questions.iter().filter_map(without).collect();
    let Some(middle) = mean(estimates.iter().copied()) else { return 0.0 };
    let spread: f64 = estimates.iter().map(|it| (it - middle).powi(2)).sum();
    let count = estimates.len() as f64;
    (spread * (count - 1.0) / count).sqrt()
}

/// The fourfold table of two voices' errors, by weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Table {
    count: usize,
    both: f64,
    first: f64,
    second: f64,
    neither: f64,
}

type Tables = BTreeMap<(usize, usize), Table>;

impl Table {
    fn cell(&mut self, wrong: (bool, bool)) -> &mut f64 {
        match wrong {
            (true, true) => &mut self.both,
            (true, false) => &mut self.first,
            (false, true) => &mut self.second,
            (false, false) => &mut self.neither,
        }
    }

    fn add(&mut self, wrong: (bool, bool), weight: f64) {
        self.count += 1;
        *self.cell(wrong) += weight;
    }

    fn without(mut self, wrong: (bool, bool), weight: f64) -> Self {
        self.count = self.count.saturating_sub(1);
        *self.cell(wrong) -= weight;
        self
    }

    /// The φ coefficient; `None` if one of the voices is always right or always wrong, because then
    /// it is undefined.
    fn correlation(&self) -> Option<f64> {
        let Table { both, first, second, neither, .. } = self;
        let spread = (both + first) * (second + neither) * (both + second) * (first + neither);
        (spread > 1e-12).then(|| ((both * neither - first * second) / spread.sqrt()).clamp(-1.0, 1.0))
    }
}

fn tables(questions: &[KnownQuestion], voices: &[String]) -> Tables {
    let mut tables = Tables::new();
    for (pair, wrong, weight) in questions.iter().flat_map(|it| errors(it, voices)) {
        tables.entry(pair).or_default().add(wrong, weight);
    }
    tables
}

/// The places of two voices, whether each was wrong, and the weight of the question.
type PairErrors = ((usize, usize), (bool, bool), f64);

/// For each pair of these voices that answered a question: whether each was wrong, and the
/// question's weight.
fn errors(question: &KnownQuestion, voices: &[String]) -> Vec<PairErrors> {
    let place = |name: &str| voices.iter().position(|it| it == name);
    let answered = question.answers.iter().filter_map(|it| Some((place(&it.voice)?, !it.is_right)));
    let mut answered: Vec<(usize, bool)> = answered.collect();
    answered.sort_unstable();
    let later = |at: usize| answered.iter().skip(at + 1);
    let pairs = answered.iter().enumerate().flat_map(|(at, first)| {
        later(at).map(move |second| ((first.0, second.0), (first.1, second.1), question.weight))
    });
    pairs.collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), it| (sum + it, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::KnownAnswer;

    fn question(right: &[(&str, bool)]) -> KnownQuestion {
        let answer = |(voice, is_right): &(&str, bool)| KnownAnswer {
            voice: (*voice).to_owned(),
            choice: is_right.to_string(),
            confidence: 0.5,
            is_right: *is_right,
        };
        KnownQuestion { weight: 1.0, options: 2, answers: right.iter().map(answer).collect() }
    }

    /// Questions of two voices, by count: both right, only ann, only bob, neither.
    fn two(both: usize, ann: usize, bob: usize, neither: usize) -> Vec<KnownQuestion> {
        let cases =
            [(both, (true, true)), (ann, (true, false)), (bob, (false, true)), (neither, (false, false))];
        cases
            .into_iter()
            .flat_map(|(count, (ann, bob))| vec![question(&[("ann", ann), ("bob", bob)]); count])
            .collect()
    }

    fn named(names: &[&str]) -> Vec<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn four_voices_by_kish() {
        near(effective(4, 0.0), 4.0);
        near(effective(4, 1.0), 1.0);
        near(effective(4, 0.13), 4.0 / 1.39);
        near(effective(4, -0.2), 4.0);
        near(effective(1, 0.5), 1.0);
        near(effective(0, 0.5), 1.0);
    }

    #[test]
    fn the_correlation_of_a_fourfold_table() {
        let correlation = |cases: Vec<KnownQuestion>| pairs(&cases, &named(&["ann", "bob"]))[0].correlation;
        near(correlation(two(25, 25, 25, 25)), 0.0);
        near(correlation(two(50, 0, 0, 50)), 1.0);
        near(correlation(two(0, 50, 50, 0)), -1.0);
        near(correlation(two(40, 10, 20, 30)), 1_000.0 / (50.0_f64 * 50.0 * 60.0 * 40.0).sqrt());
    }

    #[test]
    fn a_voice_that_is_always_right_and_few_questions_say_nothing() {
        assert_eq!(pairs(&two(30, 10, 0, 0), &named(&["ann", "bob"])), []);
        assert_eq!(pairs(&two(3, 2, 2, 2), &named(&["ann", "bob"])), []);
        assert_eq!(effective_voices(&two(3, 2, 2, 2), &named(&["ann", "bob"])), None);
        assert_eq!(effective_voices(&two(30, 10, 10, 10), &named(&["ann"])), None);
    }

    #[test]
    fn two_voices_and_the_interval_of_their_number() {
        let found = effective_voices(&two(40, 10, 10, 40), &named(&["ann", "bob"])).unwrap();
        near(found.correlation, 0.6);
        near(found.effective, 2.0 / 1.6);
        assert_eq!((found.voices, found.outcomes), (2, 100));
        // φ = .6 of 100 has a standard error of (1 - φ²) / √n = .08 for equal margins.
        let (low, high) = found.interval;
        assert!((low - 2.0 / (1.0 + 0.6 + 1.645 * 0.0805)).abs() < 0.01, "{found:?}");
        assert!((high - 2.0 / (1.0 + 0.6 - 1.645 * 0.0805)).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn voices_without_common_questions_count_by_the_other_pairs() {
        let mut questions = two(25, 25, 25, 25);
        questions.extend(vec![question(&[("bob", true), ("cyd", true)]); 20]);
        questions.extend(vec![question(&[("bob", false), ("cyd", false)]); 20]);
        let found = pairs(&questions, &named(&["ann", "bob", "cyd"]));
        let told: Vec<(&str, &str, f64, usize)> = found
            .iter()
            .map(|it| (it.voices.0.as_str(), it.voices.1.as_str(), it.correlation, it.outcomes))
            .collect();
        assert_eq!(told, [("ann", "bob", 0.0, 100), ("bob", "cyd", 1.0, 40)]);
        let all = effective_voices(&questions, &named(&["ann", "bob", "cyd"])).unwrap();
        near(all.correlation, 0.5);
        near(all.effective, 1.5);
    }
}
