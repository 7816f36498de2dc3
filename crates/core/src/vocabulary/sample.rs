//! What a form's sample reply is made from: a simulated voice as the form sees it.

use serde_json::Value;

/// A simulated voice that fills in a form. Everything it says follows from its seed, its name, the
/// topic and what it heard.
pub trait Mind {
    /// The position it holds, as a short text.
    fn position(&self) -> String;

    /// Its best argument for that position.
    fn argument(&self) -> String;

    /// How sure it is, 0 to 1.
    fn confidence(&self) -> f64;

    /// How rarely it changes its mind, 0 (always open) to 1 (never).
    fn stubbornness(&self) -> f64;

    /// A number from 0 up to 1 that is always the same for the same purpose at the same step.
    fn chance(&self, purpose: &str) -> f64;

    /// The round it is asked in.
    fn round(&self) -> u32;

    /// The others, in the order of their first words.
    fn others(&self) -> Vec<Voice>;

    /// What it is asked now.
    fn asked(&self) -> String;

    /// A sentence from its phrase book under this key, with the places filled in. Empty where the
    /// phrase book has none.
    fn phrase(&self, key: &str, with: &[(&str, &str)]) -> String;

    /// The value with everything the schema demands beyond it, made up.
    fn completed(&self, value: Value, schema: Option<&Value>) -> Value;
}

/// Another participant as a simulated voice heard it.
#[derive(Debug, Clone, PartialEq)]
pub struct Voice {
    /// What it is called here.
    pub name: String,
    /// The position it stated last.
    pub position: Option<String>,
    /// The position it stated first.
    pub first_position: Option<String>,
    /// Its main point, in its own words.
    pub point: Option<String>,
    /// Everything it said, in order.
    pub said: Vec<String>,
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
