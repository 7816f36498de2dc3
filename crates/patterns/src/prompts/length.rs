//! The lengths that answers are asked for, and the token limits that follow from them.

use quorum_core::model::{participant::Participant, spec::Spec};

use super::{fill, language::Language};

/// The least token limit of a call, however few words are wanted.
const LEAST_TOKENS: u32 = 256;

/// Tokens of the limit per word asked for: languages differ, and a limit must not cut an answer.
const TOKENS_PER_WORD: u32 = 4;

/// Tokens that a word takes in most languages. Where the limit is tight, the length follows it.
const USUAL_TOKENS_PER_WORD: u32 = 2;

/// A length in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Length {
    least: Option<u32>,
    most: u32,
}

impl Length {
    pub(crate) const fn of(least: u32, most: u32) -> Self {
        Length { least: Some(least), most }
    }

    pub(crate) const fn at_most(most: u32) -> Self {
        Length { least: None, most }
    }

    /// Half of it, for a small model.
    pub(crate) fn halved(self) -> Self {
        Length { least: self.least.map(|it| it.div_ceil(2)), most: self.most.div_ceil(2) }
    }

    /// The last line of a prose task: the length and the language.
    pub(crate) fn line(self, spec: &Spec) -> String {
        self.within(spec.manner.max_tokens).told(&spec.topic)
    }

    /// The line for a question in this language, whatever the limit.
    pub(crate) fn told(self, question: &str) -> String {
        let language = Language::of(question);
        let (times, unit) = language.unit();
        let (least, most) = (self.least.map(|it| (it * times).to_string()), (self.most * times).to_string());
        let template = match least {
            Some(_) => include_str!("length.md"),
            None => include_str!("length_at_most.md"),
        };
        let least = least.unwrap_or_default();
        let values = [("least", &*least), ("most", &*most), ("unit", unit), ("language", language.told())];
        fill(template.trim_end(), &values)
    }

    /// The token limit of a call: enough for the length, and never more than the spec allows.
    pub(crate) fn tokens(self, spec: &Spec) -> u32 {
        (TOKENS_PER_WORD * self.most).max(LEAST_TOKENS).min(spec.manner.max_tokens)
    }

    /// The length that fits this token limit.
    fn within(self, tokens: u32) -> Length {
        let fitting = (tokens / USUAL_TOKENS_PER_WORD).max(1);
        if self.most <= fitting {
            return self;
        }
        Length { least: self.least.map(|it| it.min(fitting.div_ceil(2))), most: fitting }
    }
}

/// A prose task with the length and the language as its last line. People write as much as they
/// like.
pub(crate) fn with_length(spec: &Spec, who: &Participant, task: &str, length: Length) -> String {
    let task = task.trim_end();
    if who.is_person() { task.to_owned() } else { format!("{task}\n{}", length.line(spec)) }
}

/// A form with these values, the language of the question, and its lengths in words or characters.
pub(crate) fn filled_form(spec: &Spec, form: &str, values: &[(&str, &str)]) -> String {
    let language = Language::of(&spec.topic);
    let values: Vec<(&str, &str)> = values.iter().copied().chain([("language", language.told())]).collect();
    fill(&in_units(form, language), &values)
}

/// The form with its lengths, `{{80 words}}`, as they are told in this language.
fn in_units(form: &str, language: Language) -> String {
    let (times, unit) = language.unit();
    let mut out = String::with_capacity(form.len());
    let mut rest = form;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let length =
            after.split_once(" words}}").and_then(|(it, tail)| Some((it.parse::<u32>().ok()?, tail)));
        let (piece, tail) = match length {
            Some((words, tail)) => (format!("{} {unit}", words * times), tail),
            None => ("{{".to_owned(), after),
        };
        out.push_str(&piece);
        rest = tail;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use quorum_core::model::spec::Manner;
    use quorum_testkit::spec::spec;

    use super::*;

    fn asking(topic: &str, max_tokens: u32) -> Spec {
        let manner = Manner { temperature: 0.7, max_tokens };
        Spec { topic: topic.to_owned(), manner, ..spec("synthesis") }
    }

    #[test]
    fn a_length_is_told_in_words_or_characters_and_in_a_language() {
        let check = |topic: &str, tokens: u32, length: Length, expected: &str| {
            assert_eq!(length.line(&asking(topic, tokens)), expected);
        };
        let usual = Length::of(150, 300);
        check("tabs or spaces?", 2_048, usual, "Write 150 to 300 words in English.");
        check("tabs or spaces?", 700, Length::of(200, 350), "Write 200 to 350 words in English.");
        check("Tabs oder Leerzeichen?", 2_048, usual, "Write 150 to 300 words in German.");
        check(
            "タブとスペース、どちらがよいですか?",
            2_048,
            usual,
            "Write 300 to 600 characters in Japanese.",
        );
        check(
            "Microservices?",
            2_048,
            Length::at_most(120),
            "Write at most 120 words in the language of the question.",
        );
        // An answer has to fit its token limit.
        check("tabs or spaces?", 200, usual, "Write 50 to 100 words in English.");
        check("tabs or spaces?", 1, usual, "Write 1 to 1 words in English.");
    }

    #[test]
    fn forms_in_japanese_told_lengths_in_words() {
        let form = "{{who}}: at most {{80 words}}, {{x words}} in {{language}}; 3 words";
        let check = |topic: &str, expected: &str| {
            let user = [("who", "{{9 words}}")];
            assert_eq!(filled_form(&asking(topic, 2_048), form, &user), expected);
        };
        check("tabs or spaces?", "{{9 words}}: at most 80 words, {{x words}} in English; 3 words");
        check(
            "タブとスペース、どちらがよいですか?",
            "{{9 words}}: at most 160 characters, {{x words}} in Japanese; 3 words",
        );
    }

    #[test]
    fn the_token_limit_follows_the_length_and_never_exceeds_the_specs() {
        let tokens = |length: Length, limit| length.tokens(&asking("tabs or spaces?", limit));
        assert_eq!(tokens(Length::of(150, 300), 2_048), 1_200);
        assert_eq!(tokens(Length::at_most(20), 2_048), 256);
        assert_eq!(tokens(Length::of(300, 600), 2_048), 2_048);
        assert_eq!(tokens(Length::of(150, 300), 200), 200);
    }
}
