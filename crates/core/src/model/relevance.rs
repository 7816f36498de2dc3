//! Which past discussions are about a question: how questions and texts are read, and how matches
//! are ranked (INV-DISC-631).
//!
//! Every store uses this module, because SQLite and PostgreSQL fold accents and cut endings in
//! their own ways. A store keeps [`indexed`] texts and looks up the [`content_words`] of a
//! question.

mod fold;
mod function_words;
mod ranking;
mod stem;

use uuid::Uuid;

pub use ranking::{Corpus, Match, Rules, WEIGHTS, Weighted, bm25, looked_up, ranked};

/// The most content words of a question that are looked up; a longer question is known by its first
/// ones.
pub const MOST_WORDS: usize = 32;

/// The key that discussions with the same topic share (INV-DISC-630).
#[must_use]
pub fn key(topic: &str) -> String {
    format!("discussion:{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, topic.trim().as_bytes()).simple())
}

/// The words of a text as an index holds them: without case and accents, long ones without their
/// endings.
pub fn terms(text: &str) -> impl Iterator<Item = String> {
    fold::words(text).into_iter().map(|word| stem::term(&word))
}

/// The words of a text in order, without case and accents; pairs of characters where the script has
/// no blanks.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    fold::words(text)
}

/// Recognises the function words of a text, given all its [`words`].
pub fn function_words(words: &[String]) -> impl Fn(&str) -> bool {
    function_words::of(words)
}

/// The same as one text with blanks between the words.
#[must_use]
pub fn indexed(text: &str) -> String {
    terms(text).collect::<Vec<_>>().join(" ")
}

/// The words of a question that say what it is about, as an index holds them: each once, in order,
/// without function words.
#[must_use]
pub fn content_words(question: &str) -> Vec<String> {
    let words = fold::words(question);
    let is_function_word = function_words::of(&words);
    let mut content: Vec<String> = Vec::new();
    for term in words.iter().filter(|word| !is_function_word(word)).map(|word| stem::term(word)) {
        if content.len() < MOST_WORDS && !content.contains(&term) {
            content.push(term);
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: &[&str]) {
        assert_eq!(content_words(question), expected, "{question}");
    }

    #[test]
    fn inv_disc_631_function_words_of_four_languages_say_nothing() {
        check("Should we move billing to event sourcing?", &["move", "billing", "event", "sourc"]);
        check("Welche Farbe sollten wir für das Büro nehmen?", &["farbe", "buro", "nehme"]);
        check("Faut-il réécrire l'API en Rust ?", &["reecr", "api", "rust"]);
        check("¿Deberíamos migrar la base de datos este año?", &["migrar", "base", "dato", "ano"]);
        check("What should we do about it, and why?", &[]);
        check("¿Qué es mejor y por qué?", &[]);
        check("", &[]);
    }

    #[test]
    fn a_word_of_two_languages_counts_unless_its_language_is_spoken() {
        check("car insurance", &["car", "insur"]);
        check("Is the war over?", &["war"]);
        check("Warum war die Umstellung nötig?", &["umstell", "notig"]);
        check("C or Rust", &["c", "rust"]);
    }

    #[test]
    fn every_form_of_a_word_has_one_term() {
        let check = |forms: &[&str]| {
            let terms: Vec<String> = forms.iter().flat_map(|it| terms(it)).collect();
            assert!(terms.iter().all(|it| *it == terms[0]), "{forms:?}: {terms:?}");
        };
        check(&["migration", "Migrations", "migrate", "MIGRATING", "migrat"]);
        check(&["team", "teams"]);
        check(&["policy", "policies"]);
        check(&["database", "databases"]);
        check(&["Datenbank", "Datenbanken"]);
        check(&["Versicherung", "Versicherungen"]);
        check(&["migración", "migraciones", "MIGRACION"]);
        check(&["réunion", "reunions", "re\u{301}union"]);
        check(&["Straße", "STRASSE", "strasse"]);
        check(&["Zürich", "ZURICH", "Zu\u{308}rich"]);
    }

    #[test]
    fn words_with_different_meanings_stay_apart() {
        let check = |one: &str, other: &str| {
            assert_ne!(terms(one).next(), terms(other).next(), "{one}, {other}");
        };
        check("internal", "internet");
        check("paint", "pain");
        check("test", "tesla");
        check("bus", "bu");
        check("class", "clas");
    }

    #[test]
    fn scripts_without_blanks_are_read_in_pairs_of_characters() {
        check("データベースを移行すべきですか", &["テー", "ータ", "タヘ", "ヘー", "ース", "移行"]);
        check("数据库迁移", &["数据", "据库", "库迁", "迁移"]);
        check("タブ", &["タフ"]);
    }

    #[test]
    fn a_long_question_is_read_by_its_first_words() {
        let question: String = (0..5_000).map(|it| format!("w{it} ")).collect();
        let words = content_words(&question);
        assert_eq!((words.len(), words.last().unwrap().as_str()), (MOST_WORDS, "w31"));
    }

    #[test]
    fn topics_with_the_same_text_share_a_key() {
        assert_eq!(key(" tabs or spaces? "), key("tabs or spaces?"));
        assert_ne!(key("tabs or spaces?"), key("Tabs or spaces?"));
    }
}
