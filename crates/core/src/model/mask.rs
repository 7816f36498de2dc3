//! Masks: labels in place of participants' names, so that no model favours or follows anyone by
//! name.

mod citation;
mod cover;
mod product;
mod reveal;
mod self_named;
#[cfg(test)]
mod tests;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::model::{
    client::ClientOrder,
    labels,
    language::Language,
    mention::{mention, resolve},
    participant::Participant,
    spec::Spec,
    transcript::Turn,
};

use cover::{is_common, ordinary_names, role_in_profile};
pub(crate) use reveal::Revealed;
pub(crate) use words::has_word;
use words::{Word, longest_first, replaced};

/// Replaces a word that reveals a provider but not which participant is meant.
const SOMEONE: &str = "a participant";

/// Begins a line of a prompt that quotes participants or users.
const QUOTED: &str = "> ";

/// Labels for a whole panel. Masked text can be unmasked again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mask {
    /// Names and labels, in display order.
    labels: Vec<(String, String)>,
    /// The words that are covered where they stand alone.
    covers: Vec<Word>,
    /// The names of agents that are ordinary words, such as *editor*, and what agents are by their
    /// profiles, such as *security engineer*. They are covered only where a speaker calls itself
    /// that.
    roles: Vec<Word>,
    /// The words that are covered after `@`.
    mentioned: Vec<Word>,
    /// The names in citations, and what stands there in their place: their labels without `@`.
    cited: Vec<Word>,
    /// The labels without `@`, and the names behind them.
    codes: Vec<Word>,
    /// Labels that have no `@`, and the names behind them.
    worded: Vec<Word>,
    /// The words that the question itself has after `@`.
    asked_about: Vec<String>,
    /// Whether nouns have capitals in the language of the question.
    nouns_are_capitalised: bool,
}

impl Mask {
    /// A mask with a label for each participant, in this display order.
    #[must_use]
    pub fn new(labels: &[(&Participant, &str)]) -> Self {
        let providers = |who: &Participant| -> Vec<String> {
            let words = [&who.provider].into_iter().chain(&who.model).chain(&who.aliases);
            words.map(|it| it.to_lowercase()).collect()
        };
        let mut words = shared(labels, providers);
        let by_profile = shared(labels, |who| role_in_profile(who).into_iter().collect());
        let ordinary: BTreeSet<String> = labels.iter().flat_map(|(who, _)| ordinary_names(who)).collect();
        // A participant's own name wins over any other word spelled the same.
        words.extend(labels.iter().map(|(who, label)| (who.name.to_lowercase(), (*label).to_owned())));
        let pairs = labels.iter().map(|(who, label)| (who.name.clone(), (*label).to_owned()));
        let labels: Vec<(String, String)> = pairs.collect();
        let code = |label: &str| label.strip_prefix('@').map(str::to_owned);
        let cited = labels
            .iter()
            .map(|(name, label)| (name.to_lowercase(), code(label).unwrap_or_else(|| label.clone())));
        let cited = longest_first(cited);
        let coded = labels.iter().filter_map(|(name, label)| Some((name.clone(), code(label)?)));
        let coded: Vec<(String, String)> = coded.collect();
        let worded = labels.iter().filter(|it| code(&it.1).is_none());
        let (mut roles, others): (Vec<_>, Vec<_>) =
            words.clone().into_iter().partition(|(word, _)| ordinary.contains(word));
        roles.extend(by_profile.into_iter().filter(|(word, _)| !words.contains_key(word)));
        let covers = others.into_iter().filter(|(word, _)| !is_common(word));
        Mask {
            mentioned: longest_first(words.clone()),
            covers: longest_first(covers),
            roles: longest_first(roles),
            cited,
            codes: longest_first(coded.iter().map(|(name, code)| (code.to_lowercase(), name.clone()))),
            worded: longest_first(worded.map(|(name, label)| (label.to_lowercase(), name.clone()))),
            labels,
            asked_about: Vec::new(),
            nouns_are_capitalised: false,
        }
    }

    /// Names instead of labels, in this display order. Nothing is covered.
    #[must_use]
    pub fn names<'n>(shown: impl IntoIterator<Item = &'n Participant>) -> Self {
        let labels = shown.into_iter().map(|it| (it.name.clone(), it.name.clone())).collect();
        Mask { labels, ..Mask::default() }
    }

    /// Mentions instead of labels: covers names in a text that becomes part of a prompt.
    #[must_use]
    pub fn mentions(spec: &Spec) -> Self {
        let mentions: Vec<String> = spec.participants.iter().map(|it| mention(&it.name)).collect();
        let labels = spec.participants.iter().zip(mentions.iter().map(String::as_str));
        Mask::new(&labels.collect::<Vec<_>>()).sparing(spec)
    }

    /// Labels for a panel, drawn with these lots, in this display order. Words that the user gave
    /// with the question stay as they are.
    pub(crate) fn drawn(
        spec: &Spec,
        models: &BTreeMap<String, String>,
        order: &[String],
        lots: impl FnMut() -> u64,
    ) -> Self {
        Mask::of(spec, models, &labels::draw(spec, lots), order)
    }

    /// The mask of a panel with these labels, each with the name behind it, in this display order.
    pub(crate) fn of(
        spec: &Spec,
        models: &BTreeMap<String, String>,
        labels: &[(String, String)],
        order: &[String],
    ) -> Self {
        let labelled = labels
            .iter()
            .filter_map(|(label, name)| Some((with_model(spec.seat(name)?, models), format!("@{label}"))));
        let mut labelled: Vec<(Participant, String)> = labelled.collect();
        let place = |name: &str| order.iter().position(|it| it == name).unwrap_or(usize::MAX);
        labelled.sort_by_key(|it| place(&it.0.name));
        Mask::new(&labelled.iter().map(|it| (&it.0, it.1.as_str())).collect::<Vec<_>>()).sparing(spec)
    }

    /// The mask for a text of this panel that others are shown later: `participant 1` for the first
    /// seat, and so on. The exact models are those that answered for the seats.
    #[must_use]
    pub fn numbered(spec: &Spec, models: &BTreeMap<String, String>) -> Self {
        let seats: Vec<Participant> = spec.participants.iter().map(|it| with_model(it, models)).collect();
        let labels: Vec<String> = (1..=seats.len()).map(|number| format!("participant {number}")).collect();
        let labelled = seats.iter().zip(labels.iter().map(String::as_str));
        Mask::new(&labelled.collect::<Vec<_>>()).sparing(spec)
    }

    /// Leaves the words alone that the user gave with the question.
    fn sparing(mut self, spec: &Spec) -> Self {
        let given = [&spec.topic].into_iter().chain(&spec.background).chain(&spec.options);
        let client = spec.client.iter().flat_map(ClientOrder::given);
        let given: Vec<&str> = given.map(String::as_str).chain(client).collect();
        let has = |word: &str| given.iter().any(|text| has_word(text, word));
        self.covers.retain(|it| !has(&it.text()));
        self.roles.retain(|it| !has(&it.text()));
        let has_sign = |word: &str| given.iter().any(|text| has_word(text, &format!("@{word}")));
        self.nouns_are_capitalised = Language::of(&spec.topic).capitalises_nouns();
        self.asked_about = self.mentioned.iter().map(Word::text).filter(|it| has_sign(it)).collect();
        self
    }

    /// The labels in display order, without `@`, each with the name behind it.
    #[must_use]
    pub fn labels(&self) -> Vec<(String, String)> {
        let code = |label: &str| label.strip_prefix('@').unwrap_or(label).to_owned();
        self.labels.iter().map(|(name, label)| (code(label), name.clone())).collect()
    }

    /// The label of this name.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// The name behind this label, with or without its `@`, ignoring case.
    #[must_use]
    pub fn name(&self, label: &str) -> Option<&str> {
        let code = |label: &str| label.strip_prefix('@').unwrap_or(label).to_lowercase();
        let label = code(label.trim());
        self.labels.iter().find(|it| code(&it.1) == label).map(|it| it.0.as_str())
    }

    /// The participant of this name, ignoring case.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        self.labels.iter().find(|it| it.0.to_lowercase() == name).map(|it| it.0.as_str())
    }

    /// A masked text with the same label everywhere, so that its length in tokens doesn't depend on
    /// the draw.
    pub(crate) fn measured(&self, text: &str) -> String {
        if !text.contains(['@', '[']) {
            return text.to_owned();
        }
        let codes = self.codes.iter().map(|it| it.text().to_uppercase());
        codes.fold(text.to_owned(), |text, code| {
            let text = text.replace(&format!("@{code}"), "@KX");
            if text.contains('[') { text.replace(&format!("{code}:"), "KX:") } else { text }
        })
    }

    /// The position of this name in display order.
    #[must_use]
    pub fn place(&self, name: &str) -> usize {
        self.labels.iter().position(|it| it.0 == name).unwrap_or(usize::MAX)
    }

    /// A text of ours with labels in place of mentions, and of names in what it quotes.
    #[must_use]
    pub fn shown(&self, text: &str) -> String {
        let text = resolve(text, |name| self.label(name).unwrap_or(name).to_owned());
        let lines = text.split('\n').map(|line| match line.starts_with(QUOTED) {
            true => self.cover_quoted(line),
            false => self.cover_signs(line),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The turn with masked speaker and text. Authors that are not participants stay.
    pub(crate) fn over(&self, turn: &Turn) -> Arc<Turn> {
        let participant = self.label(&turn.participant).unwrap_or(&turn.participant).to_owned();
        let text = self.cover(&resolve(&turn.text, |name| self.label(name).unwrap_or(name).to_owned()));
        // Most turns name no participant; those are kept in memory once.
        let text = if *text == *turn.text { turn.text.clone() } else { text.into() };
        Arc::new(Turn { participant, text, ..turn.clone() })
    }
}

/// The participant with the exact model that answers for it as a further alias.
fn with_model(who: &Participant, models: &BTreeMap<String, String>) -> Participant {
    let model = models.get(&who.name).cloned().filter(|it| who.model.as_ref() != Some(it));
    Participant { aliases: who.aliases.iter().cloned().chain(model).collect(), ..who.clone() }
}

/// The labels of the participants by these words of theirs.
fn shared(
    labels: &[(&Participant, &str)],
    words_of: impl Fn(&Participant) -> Vec<String>,
) -> BTreeMap<String, String> {
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for (who, label) in labels {
        for word in words_of(who) {
            let becomes = words.entry(word).or_insert_with(|| (*label).to_owned());
            // Two participants of one provider: the word doesn't say which of them is meant.
            if becomes != label {
                SOMEONE.clone_into(becomes);
            }
        }
    }
    words
}

/// The text with names in place of these labels, as older versions recorded them: words such as
/// `Debater A`. Replies with labels of today are recorded with names.
#[must_use]
pub fn reveal(text: &str, labels: &[(String, String)]) -> String {
    let is_word = |label: &str| label.contains(|it: char| !it.is_ascii_uppercase());
    let words = labels.iter().filter(|it| is_word(&it.0));
    let words = words.map(|(label, name)| (label.to_lowercase(), name.clone()));
    replaced(text, &longest_first(words), |_, _, _| false)
}
