//! Sample replies for forms, and the interface of the simulated voices that give them.

use serde_json::Value;

/// A simulated voice that fills in a form. Everything it says is determined by its seed, its name,
/// the topic and the talk so far.
pub trait Mind {
    /// Its name in this prompt, like those of the others.
    fn name(&self) -> &str;

    /// The topic of the discussion.
    fn topic(&self) -> &str;

    /// The current round.
    fn round(&self) -> u32;

    /// The current question.
    fn asked(&self) -> &str;

    /// The possible answers to the topic that it knows.
    fn answers(&self) -> Vec<Answer>;

    /// The index of the answer that it supports.
    fn holds(&self) -> usize;

    /// The index of the answer that this participant's role binds it to, if any.
    fn bound(&self, participant: &str) -> Option<usize>;

    /// Its best argument for its answer.
    fn argument(&self) -> String;

    /// Its confidence, 0 to 1.
    fn confidence(&self) -> f64;

    /// How rarely it changes its mind, 0 (always open) to 1 (never).
    fn stubbornness(&self) -> f64;

    /// A pseudo-random number in 0..1 for this purpose, the same whenever this step is replayed.
    fn chance(&self, purpose: &str) -> f64;

    /// A pseudo-random number in 0..1 for this purpose, the same in every step.
    fn conviction(&self, purpose: &str) -> f64;

    /// The other participants that spoke, in the order of their first turns.
    fn others(&self) -> Vec<Voice>;

    /// Its own turns so far, if it took a position.
    fn own(&self) -> Option<Voice>;

    /// A sentence from its phrase bank under this key, with the placeholders filled in; empty if
    /// the bank has none.
    fn phrase(&self, key: &str, with: &[(&str, &str)]) -> String;

    /// An aspect of the topic to discuss; a different one for each number.
    fn lens(&self, number: usize) -> String;

    /// The names as a list in its language: `ann, bob and cyd`.
    fn list(&self, names: &[&str]) -> String;

    /// The value, completed with everything else that the schema requires; a new one for `null`.
    fn completed(&self, value: Value, schema: Option<&Value>) -> Value;
}

/// A possible answer to the topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer in a few words.
    pub position: String,
    /// The answer as an opinion.
    pub view: String,
    /// Arguments for it.
    pub because: Vec<String>,
    /// How convincing it is to everyone, 0 to 1.
    pub strength: f64,
}

/// A participant as a simulated voice perceives it.
#[derive(Debug, Clone, PartialEq)]
pub struct Voice {
    /// Its name in this prompt.
    pub name: String,
    /// Its turns, in order.
    pub said: Vec<String>,
    /// The index of the answer that it supports, if it stated one.
    pub holds: Option<usize>,
    /// The last position it stated.
    pub position: Option<String>,
    /// The first position it stated.
    pub first_position: Option<String>,
    /// Its main point, quoted.
    pub point: Option<String>,
    /// Its sentences that can be quoted on their own.
    pub points: Vec<String>,
}

impl Voice {
    /// Whether it mentions this participant by name.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        let is_part = |it: char| it.is_alphanumeric() || "-_./@".contains(it);
        let is_name = |word: &str| word.trim_matches(['.', '-']).trim_end_matches("'s") == name;
        self.said.iter().any(|text| text.split(|it: char| !is_part(it)).any(is_name))
    }
}

/// Makes a sample reply. The schema is the one given with the question.
pub type Sample = fn(&dyn Mind, Option<&Value>) -> String;
