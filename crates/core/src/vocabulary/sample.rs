//! What a form's sample reply is made from: a simulated voice as the form sees it.

use serde_json::Value;

/// A simulated voice that fills in a form. Everything it says follows from its seed, its name, the
/// topic and what it heard.
pub trait Mind {
    /// Its name at the table.
    fn name(&self) -> &str;

    /// The question of the discussion.
    fn topic(&self) -> &str;

    /// The round it is asked in.
    fn round(&self) -> u32;

    /// What it is asked now.
    fn asked(&self) -> &str;

    /// The answers to the question that it knows of.
    fn answers(&self) -> Vec<Answer>;

    /// The one of these answers that it holds.
    fn holds(&self) -> usize;

    /// The answer that a participant is bound to by its role, if it is.
    fn bound(&self, participant: &str) -> Option<usize>;

    /// Its best argument for the answer it holds.
    fn argument(&self) -> String;

    /// How sure it is, 0 to 1.
    fn confidence(&self) -> f64;

    /// How rarely it changes its mind, 0 (always open) to 1 (never).
    fn stubbornness(&self) -> f64;

    /// A number from 0 up to 1 for this purpose, the same whenever this step is taken.
    fn chance(&self, purpose: &str) -> f64;

    /// A number from 0 up to 1 for this purpose, the same in every step.
    fn conviction(&self, purpose: &str) -> f64;

    /// The others who spoke, in the order of their first words.
    fn others(&self) -> Vec<Voice>;

    /// What it said itself, where it took a position.
    fn own(&self) -> Option<Voice>;

    /// A sentence from its phrase book under this key, with the places filled in; empty where the
    /// phrase book has none.
    fn phrase(&self, key: &str, with: &[(&str, &str)]) -> String;

    /// A way to look at the question; another one for another number.
    fn lens(&self, number: usize) -> String;

    /// Names as a list in its language: `ann, bob and cyd`.
    fn list(&self, names: &[&str]) -> String;

    /// The value with everything the schema demands beyond it, made up.
    fn completed(&self, value: Value, schema: Option<&Value>) -> Value;
}

/// An answer to the question of a discussion.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// In a few words.
    pub position: String,
    /// As a view that somebody holds.
    pub view: String,
    /// What speaks for it.
    pub because: Vec<String>,
    /// How strong everyone finds it, 0 to 1.
    pub strength: f64,
}

/// A participant as a simulated voice heard it.
#[derive(Debug, Clone, PartialEq)]
pub struct Voice {
    /// What it is called here.
    pub name: String,
    /// Everything it said, in order.
    pub said: Vec<String>,
    /// The answer it holds, as far as it said so.
    pub holds: Option<usize>,
    /// The position it stated last.
    pub position: Option<String>,
    /// The position it stated first.
    pub first_position: Option<String>,
    /// Its main point, in its own words.
    pub point: Option<String>,
    /// Everything it said that can stand alone.
    pub points: Vec<String>,
}

impl Voice {
    /// Whether it spoke of this one by name.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        let is_part = |it: char| it.is_alphanumeric() || "-_./".contains(it);
        let is_name = |word: &str| word.trim_matches(['.', '-']).trim_end_matches("'s") == name;
        self.said.iter().any(|text| text.split(|it: char| !is_part(it)).any(is_name))
    }
}

/// Makes a sample reply; the schema is the one the reply was asked for with.
pub type Sample = fn(&dyn Mind, Option<&Value>) -> String;
