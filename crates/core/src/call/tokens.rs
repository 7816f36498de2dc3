//! Token counts of texts, for context windows, budgets and providers that report none.
//!
//! A family's estimate is a weighted sum of text features: words by length, signs, numbers,
//! characters by script. The weights were fitted to OpenAI's own tokenizers on prose, messages and
//! code in eleven languages, and `tests/tokens.rs` measures them against those. Anthropic's and
//! Google's tokenizers aren't available offline, so their estimates are OpenAI's times a factor
//! that is not measured. While a discussion runs, the counts that a provider reports correct its
//! estimates.

use crate::{
    call::census::{Census, FEATURES, WORD_FEATURES},
    model::participant::Participant,
};

/// An estimate for voices of no known family: four bytes per token.
#[must_use]
pub fn estimate(text: &str) -> u64 {
    estimate_bytes(text.len())
}

/// The same for a text of which only the length is known.
pub(crate) fn estimate_bytes(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4)
}

/// A cautious estimate, for the worst-case cost.
#[must_use]
pub fn at_worst(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3)
}

/// Models with similar tokenizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// OpenAI's newer models; measured.
    O200k,
    /// OpenAI's older models; measured.
    Cl100k,
    /// Anthropic's models; the estimate for OpenAI's older ones times a factor.
    Claude,
    /// Google's models; the estimate for OpenAI's newer ones times a factor.
    Gemini,
    /// All others; most have smaller vocabularies than OpenAI's.
    Other,
}

/// Parts of model and provider names that tell the family; the first match counts.
const NAMES: &[(&str, Family)] = &[
    ("claude", Family::Claude),
    ("anthropic", Family::Claude),
    ("gemini", Family::Gemini),
    ("google", Family::Gemini),
    ("gpt-4o", Family::O200k),
    ("gpt-4.", Family::O200k),
    ("gpt-4", Family::Cl100k),
    ("gpt-3.5", Family::Cl100k),
    ("gpt", Family::O200k),
    ("o1", Family::O200k),
    ("o3", Family::O200k),
    ("o4", Family::O200k),
    ("codex", Family::O200k),
    ("openai", Family::O200k),
];

impl Family {
    /// The family of this participant's model, by the model's name, else by the provider's.
    #[must_use]
    pub fn of(who: &Participant) -> Family {
        let names = who.model.iter().chain([&who.provider]);
        let families = names.filter_map(|name| family_of_name(&name.to_lowercase()));
        families.into_iter().next().unwrap_or(Family::Other)
    }

    /// The estimated number of tokens of a text for a model of this family.
    #[must_use]
    pub fn estimate(self, text: &str) -> u64 {
        let (weights, factor) = match self {
            Family::O200k => (&O200K, 1.0),
            Family::Cl100k => (&CL100K, 1.0),
            // Cautious and not measured: its counts are only known from its bills.
            Family::Claude => (&CL100K, 1.2),
            Family::Gemini => (&O200K, 1.05),
            Family::Other => (&CL100K, 1.1),
        };
        (weights.of(&Census::of(text)) * factor).round() as u64
    }
}

fn family_of_name(name: &str) -> Option<Family> {
    NAMES.iter().find(|(part, _)| name.contains(part)).map(|it| it.1)
}

/// The weight of each feature in tokens.
struct Weights {
    plain: [f64; FEATURES],
    /// Replacements for the first weights, if the words are not English.
    foreign: [f64; WORD_FEATURES],
}

const O200K: Weights = Weights {
    plain: [
        0.968, 0.05, 0.049, 0.709, 0.492, 0.194, 0.709, 0.273, 1.281, 0.674, 0.768, 0.621, 0.734, 0.128,
        0.54, 0.527, 1.002, 1.215, 1.8, 1.3,
    ],
    foreign: [1.1, 0.04, 0.242, 0.445, -0.063, 0.031],
};

const CL100K: Weights = Weights {
    plain: [
        0.96, 0.087, -0.022, 0.234, 0.822, 0.124, 0.719, 0.343, 1.344, 0.475, 1.157, 0.77, 1.17, 0.336,
        0.817, 0.836, 0.843, 1.859, 2.7, 1.6,
    ],
    foreign: [1.204, 0.01, 0.669, 0.197, 0.129, -0.171],
};

impl Weights {
    fn of(&self, census: &Census) -> f64 {
        let mut weights = self.plain;
        if census.is_foreign() {
            weights[..WORD_FEATURES].copy_from_slice(&self.foreign);
        }
        let tokens: f64 = census.counts.iter().zip(weights).map(|(count, weight)| count * weight).sum();
        tokens.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d10_a_family_is_known_by_model_then_by_provider() {
        let check = |provider: &str, model: Option<&str>, expected: Family| {
            let who = Participant { model: model.map(str::to_owned), ..Participant::of(provider) };
            assert_eq!(Family::of(&who), expected, "{provider} {model:?}");
        };
        check("openai", None, Family::O200k);
        check("openai", Some("gpt-4-turbo"), Family::Cl100k);
        check("openai", Some("gpt-4.1-mini"), Family::O200k);
        check("openrouter", Some("anthropic/claude-sonnet-4"), Family::Claude);
        check("claude", None, Family::Claude);
        check("Google", Some("some-model"), Family::Gemini);
        check("qwen", Some("qwen3-max"), Family::Other);
    }

    #[test]
    fn an_empty_text_has_no_tokens() {
        assert_eq!([Family::O200k, Family::Cl100k, Family::Other].map(|it| it.estimate("")), [0; 3]);
    }
}
