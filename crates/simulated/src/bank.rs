//! The phrase bank of simulated voices: one file of sentence templates for each language.

use std::{collections::BTreeMap, sync::LazyLock};

use quorum_core::model::language::Language;
use serde::Deserialize;

/// Everything that can be said in one language.
#[derive(Debug, Deserialize)]
pub(super) struct Bank {
    /// The separator before the last item of a list.
    pub(super) and: String,
    /// Function words that identify the language; empty for the fallback language.
    pub(super) known_by: Vec<String>,
    /// Whether hiragana, in which its particles are written, identify the language instead.
    #[serde(default)]
    pub(super) known_by_hiragana: bool,
    /// What stands between two sentences.
    #[serde(default = "one_space")]
    pub(super) space: String,
    /// The line that states a position; voices recognise each other's positions by it.
    pub(super) position: String,
    /// The template for the topic of a sub-discussion.
    pub(super) on: String,
    /// Replaces a quotation if there is nothing to quote.
    pub(super) nothing: String,
    /// The template for a position that isn't a name, within a sentence.
    pub(super) view: String,
    /// Beginnings of sentences that make little sense without the one before.
    pub(super) dangling: Vec<String>,
    pub(super) begins: Begins,
    pub(super) alternatives: Alternatives,
    pub(super) subject: Vec<Rewrite>,
    pub(super) should: Vec<Stance>,
    pub(super) open: Vec<Stance>,
    pub(super) whether: Vec<Stance>,
    pub(super) explain: Vec<Stance>,
    pub(super) sides: Sides,
    pub(super) option: Reasons,
    pub(super) lens: Vec<Lens>,
    pub(super) tails: Vec<Tail>,
    pub(super) speech: Speech,
    pub(super) critique: Critique,
    /// Sentences for forms, by section and name.
    phrases: BTreeMap<String, BTreeMap<String, Phrases>>,
}

fn one_space() -> String {
    " ".to_owned()
}

/// How each kind of question begins.
#[derive(Debug, Deserialize)]
pub(super) struct Begins {
    pub(super) open: Vec<String>,
    pub(super) should: Vec<String>,
    pub(super) whether: Vec<String>,
    pub(super) explain: Vec<String>,
}

/// How alternatives are found in a question.
#[derive(Debug, Deserialize)]
pub(super) struct Alternatives {
    /// Separators between alternatives.
    pub(super) between: Vec<String>,
    /// Words before the first alternative that aren't part of it.
    pub(super) leads: Vec<String>,
    /// Words that end the last alternative.
    pub(super) tails: Vec<String>,
    /// Phrases that are not alternatives: "or not".
    pub(super) no: Vec<String>,
}

/// How a question becomes a noun phrase: "Should we go?" becomes "whether to go".
#[derive(Debug, Deserialize)]
pub(super) struct Rewrite {
    pub(super) begins: String,
    pub(super) becomes: String,
}

/// A position and arguments for it.
#[derive(Debug, Deserialize)]
pub(super) struct Stance {
    pub(super) position: String,
    pub(super) because: Vec<String>,
}

/// The sides of a debate.
#[derive(Debug, Deserialize)]
pub(super) struct Sides {
    pub(super) favour: Stance,
    pub(super) against: Stance,
    pub(super) weigh: Stance,
}

/// Arguments for any alternative that a topic may name.
#[derive(Debug, Deserialize)]
pub(super) struct Reasons {
    pub(super) because: Vec<String>,
}

/// What a participant with these strengths looks at.
#[derive(Debug, Deserialize)]
pub(super) struct Lens {
    pub(super) tags: Vec<String>,
    pub(super) words: Vec<String>,
}

/// A narrower question and its possible answers.
#[derive(Debug, Deserialize)]
pub(super) struct Tail {
    pub(super) question: String,
    pub(super) answers: Vec<String>,
}

/// Sentences of a free speech.
#[derive(Debug, Deserialize)]
pub(super) struct Speech {
    pub(super) opening: Vec<String>,
    pub(super) doubt: Vec<String>,
    pub(super) firm: Vec<String>,
    pub(super) agree: Vec<String>,
    pub(super) disagree: Vec<String>,
    pub(super) notice: Vec<String>,
    pub(super) changed: Vec<String>,
    pub(super) kept: Vec<String>,
    pub(super) united: Vec<String>,
    pub(super) found: Vec<String>,
    pub(super) convene: Vec<String>,
}

/// Sentences for proposing, criticising and refining.
#[derive(Debug, Deserialize)]
pub(super) struct Critique {
    pub(super) propose: Vec<String>,
    /// Things that can be done, for when all reasons have been given.
    pub(super) plan: Vec<String>,
    /// The same for questions where nothing has to be done.
    pub(super) inquiry: Vec<String>,
    pub(super) objection: Vec<String>,
    pub(super) praise: Vec<String>,
    pub(super) took: Vec<String>,
    pub(super) repair: Vec<String>,
    pub(super) revised: Vec<String>,
    pub(super) unmoved: String,
}

/// One sentence, or several to choose from.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Phrases {
    One(String),
    Several(Vec<String>),
}

#[expect(clippy::expect_used, reason = "the files are part of the program and a test reads them")]
static BANKS: LazyLock<[Bank; 3]> = LazyLock::new(|| {
    [include_str!("bank/en.toml"), include_str!("bank/de.toml"), include_str!("bank/ja.toml")]
        .map(|text| toml::from_str(text).expect("the bank is readable"))
});

impl Bank {
    /// All languages, the fallback first.
    pub(super) fn all() -> &'static [Bank] {
        &*BANKS
    }

    /// The bank for the language of this topic, identified by its function words or its script.
    pub(super) fn for_topic(topic: &str) -> &'static Bank {
        let words: Vec<String> =
            topic.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase).collect();
        let particles = topic.chars().filter(|it| ('\u{3041}'..='\u{309f}').contains(it)).count();
        let is_unspaced = !Language::of(topic).has_spaces;
        let known = |bank: &&Bank| {
            let of_words = words.iter().filter(|it| bank.known_by.contains(it)).count();
            let is_script = bank.known_by_hiragana && is_unspaced;
            (if is_script { particles } else { of_words }) >= 2
        };
        Bank::all().iter().find(known).unwrap_or(&Bank::all()[0])
    }

    /// The sentences under this key: `section.name`, or `section.name.2` for the third of several.
    pub(super) fn phrases(&self, key: &str) -> &[String] {
        let mut parts = key.split('.');
        let (section, name, number) = (parts.next(), parts.next(), parts.next());
        let Some((section, name)) = section.zip(name) else {
            return if key == "nothing" { std::slice::from_ref(&self.nothing) } else { &[] };
        };
        let all = match self.phrases.get(section).and_then(|it| it.get(name)) {
            Some(Phrases::One(sentence)) => std::slice::from_ref(sentence),
            Some(Phrases::Several(sentences)) => sentences,
            None => &[],
        };
        match number.map(str::parse::<usize>) {
            Some(number) => number.ok().and_then(|it| all.get(it..=it)).unwrap_or_default(),
            None => all,
        }
    }

    /// The names as a list: "ann, bob and cyd".
    pub(super) fn list(&self, names: &[&str]) -> String {
        match names {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{}{}{last}", first.join(", "), self.and),
        }
    }

    /// Whether this sentence only introduces an argument and so isn't worth quoting.
    pub(super) fn is_frame(sentence: &str) -> bool {
        FRAMES.iter().any(|(begins, ends)| sentence.starts_with(begins) && sentence.ends_with(ends))
    }

    /// Whether this sentence is one for when all reasons have been given.
    pub(super) fn is_afterthought(sentence: &str) -> bool {
        let after = |bank: &'static Bank| bank.critique.plan.iter().chain(&bank.critique.inquiry);
        Bank::all().iter().flat_map(after).any(|it| it == sentence)
    }

    /// Whether this sentence makes little sense without the one before.
    pub(super) fn is_dangling(sentence: &str) -> bool {
        Bank::all().iter().flat_map(|bank| &bank.dangling).any(|start| sentence.starts_with(start))
    }

    fn frames(&self) -> impl Iterator<Item = &String> {
        let (speech, critique) = (&self.speech, &self.critique);
        let lists = [
            &speech.opening,
            &speech.doubt,
            &speech.firm,
            &speech.agree,
            &speech.disagree,
            &speech.notice,
            &speech.changed,
            &speech.kept,
            &speech.united,
            &speech.found,
            &speech.convene,
            &critique.propose,
            &critique.praise,
            &critique.took,
            &critique.revised,
        ];
        lists.into_iter().flatten()
    }
}

/// The minimum number of fixed characters; a shorter template would match anyone's sentence.
const SHORTEST_FRAME: usize = 8;

/// What ends a sentence of a template, or begins or ends a quotation in it.
const FRAME_ENDS: [char; 8] = ['.', '?', '”', '“', '。', '？', '「', '」'];

/// The fixed beginnings and ends of introducing sentences, before the first and after the last
/// placeholder.
static FRAMES: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let templates = Bank::all().iter().flat_map(Bank::frames);
    let sentences = templates.flat_map(|it| it.split_inclusive(FRAME_ENDS)).map(str::trim);
    let fixed = sentences.map(|it| match (it.split_once('{'), it.rsplit_once('}')) {
        (Some((begins, _)), Some((_, ends))) => (begins, ends),
        _ => (it, ""),
    });
    fixed.filter(|(begins, ends)| begins.len() + ends.len() >= SHORTEST_FRAME).collect()
});

/// Fills the placeholders of a template. Braces in the values are not filled.
pub(super) fn fill(template: &str, with: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, from)) = rest.split_once('{') {
        let Some((key, after)) = from.split_once('}') else { break };
        out.push_str(before);
        out.push_str(with.iter().find(|(name, _)| *name == key).map_or("", |(_, value)| value));
        rest = after;
    }
    out.push_str(rest);
    // Names keep their capitalisation, even at the start.
    if template.starts_with("{name") { out } else { capitalised(&out) }
}

/// The text with a capital at the start, unless the first word contains capitals (iOS, gRPC).
fn capitalised(text: &str) -> String {
    let first_word = text.split_whitespace().next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !first_word.chars().any(char::is_uppercase) => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_can_be_read() {
        assert_eq!(Bank::all().len(), 3);
    }

    #[test]
    fn languages_are_identified_by_function_words() {
        let position = |topic: &str| &*Bank::for_topic(topic).position;
        assert_eq!(position("Sollten wir auf Rust umstellen?"), "Meine Position: {position}.");
        assert_eq!(position("Should we die in Rust?"), "My position: {position}.");
        assert_eq!(position("Rust と Go のどちらを選ぶべきですか？"), "私の立場：{position}。");
        assert_eq!(position("東京か大阪か"), "私の立場：{position}。");
        assert_eq!(position("What does カイゼン mean for us?"), "My position: {position}.");
    }

    #[test]
    fn every_language_has_the_same_phrases_for_forms() {
        let keys = |bank: &Bank| -> Vec<String> {
            let sections = bank.phrases.iter();
            sections
                .flat_map(|(section, it)| it.keys().map(move |name| format!("{section}.{name}")))
                .collect()
        };
        let [english, others @ ..] = Bank::all() else { panic!("there is a first language") };
        for other in others {
            assert_eq!(keys(english), keys(other), "{}", other.position);
        }
        assert_eq!(english.phrases("judge.advice.1").len(), 1);
        assert_eq!(english.phrases("judge.nonsense"), [""; 0]);
    }

    #[test]
    fn placeholders_are_filled_once() {
        assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "c")]), "{b} and c");
        assert_eq!(fill("{a} is fast", &[("a", "gRPC")]), "gRPC is fast");
        assert_eq!(fill("{a} is fast", &[("a", "walking")]), "Walking is fast");
    }
}
