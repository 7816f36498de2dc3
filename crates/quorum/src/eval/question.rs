//! Questions with known answers, and how they are put to a panel.

use super::{
    grade::{Check, Key, Test},
    lots::Lots,
};

/// A question with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Its id, unique in the file.
    pub id: String,
    /// The line of the file where it begins.
    pub line: usize,
    /// The question.
    pub text: String,
    /// Background for the panel.
    pub context: Option<String>,
    /// The options, as they were given; empty for an open question.
    pub options: Vec<String>,
    /// The right answer.
    pub key: Key,
}

/// A question as it is put to the panel: with its options in the order that the seed gave them.
#[derive(Debug, Clone, PartialEq)]
pub struct Posed {
    /// The question's id.
    pub id: String,
    /// The whole topic: the question, its options by letter, and how to answer.
    pub topic: String,
    /// Background for the panel.
    pub context: Option<String>,
    /// The letters of the options: what is voted on.
    pub letters: Vec<String>,
    /// The options in the order in which they are shown.
    pub shown: Vec<String>,
    /// For each option shown, its place in the file.
    pub order: Vec<usize>,
    /// The right answer among the options shown.
    pub key: Key,
}

impl Question {
    /// The question with its options in the order that this seed gives them.
    #[must_use]
    pub fn posed(&self, seed: u64) -> Posed {
        let order = Lots::of(seed, &["options", &self.id]).order(self.options.len());
        let shown: Vec<String> = order.iter().map(|it| self.options[*it].clone()).collect();
        let letters: Vec<String> = (0..shown.len()).map(|it| super::letter_of(it).to_string()).collect();
        let key = match &self.key {
            Key::Choice(right) => Key::Choice(order.iter().position(|it| it == right).unwrap_or_default()),
            Key::Checks(checks) => Key::Checks(checks.clone()),
        };
        let topic = topic(&self.text, &letters, &shown, &key);
        Posed { id: self.id.clone(), topic, context: self.context.clone(), letters, shown, order, key }
    }

    /// Whether a model must grade its answers.
    #[must_use]
    pub fn needs_model(&self) -> bool {
        let is_rubric = |it: &Check| matches!(it.test, Test::Rubric(_));
        matches!(&self.key, Key::Checks(checks) if checks.iter().any(is_rubric))
    }
}

/// How many characters a question with these options becomes when it is put.
pub(super) fn length(text: &str, options: &[String]) -> usize {
    let letters: Vec<String> = (0..options.len()).map(|it| super::letter_of(it).to_string()).collect();
    topic(text, &letters, options, &Key::Choice(0)).chars().count()
}

fn topic(text: &str, letters: &[String], shown: &[String], key: &Key) -> String {
    let options: Vec<String> =
        letters.iter().zip(shown).map(|(letter, it)| format!("{letter}) {it}")).collect();
    let ending = match key {
        Key::Choice(_) => "End with a line like `Answer: A`, with the letter of the right option.",
        Key::Checks(checks) if checks.iter().any(|it| matches!(it.test, Test::Number(..))) => {
            "End with a line like `Answer: 42`, with the number alone."
        }
        Key::Checks(checks) if checks.iter().any(|it| matches!(it.test, Test::Exact(_))) => {
            "End with a line like `Answer: …`, with the answer alone, in as few words as possible."
        }
        Key::Checks(_) => "",
    };
    let parts = [text.trim(), &options.join("\n"), ending];
    parts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            id: "q1".into(),
            line: 1,
            text: "Which is the capital of France?".into(),
            context: None,
            options: ["Rome", "Paris", "Bonn", "Oslo"].map(str::to_owned).to_vec(),
            key: Key::Choice(1),
        }
    }

    #[test]
    fn options_are_shuffled_by_seed_and_the_right_one_moves_along() {
        let orders: Vec<Vec<usize>> = (0..8).map(|seed| question().posed(seed).order).collect();
        assert_eq!(question().posed(3), question().posed(3));
        assert!(orders.iter().any(|it| *it != orders[0]), "{orders:?}");
        for seed in 0..8 {
            let posed = question().posed(seed);
            let Key::Choice(right) = posed.key else { panic!("a choice") };
            assert_eq!(posed.shown[right], "Paris");
        }
    }

    #[test]
    fn the_topic_has_the_options_by_letter_and_says_how_to_answer() {
        let posed = question().posed(1);
        let expected = format!(
            "Which is the capital of France?\n\nA) {}\nB) {}\nC) {}\nD) {}\n\n\
             End with a line like `Answer: A`, with the letter of the right option.",
            posed.shown[0], posed.shown[1], posed.shown[2], posed.shown[3]
        );
        assert_eq!(posed.topic, expected);
        assert_eq!(posed.letters, ["A", "B", "C", "D"]);
    }
}
