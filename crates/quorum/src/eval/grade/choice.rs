//! Which option an answer names: by its letter, its number or its text, in the styles in which
//! models answer questions with options.
//!
//! The clearest place counts: a JSON field, a box, an announced answer, a line with nothing else, a
//! sentence that chooses. A letter somewhere in the text counts only if no other option is named.

use serde_json::Value;

use super::plain::{final_answer, folded};
use crate::eval::letter_of;

/// The option that an answer names, by its place among those that were shown.
#[must_use]
pub fn letter(answer: &str, options: &[String]) -> Option<usize> {
    let answer = &plain_letters(answer);
    in_json(answer, options)
        .or_else(|| announced(answer, options))
        .or_else(|| alone_on_a_line(answer, options))
        .or_else(|| chosen(answer, options))
        .or_else(|| only_one(answer, options))
}

/// The option that a short text names: its letter, its number, or its text.
#[must_use]
pub fn option_named(text: &str, options: &[String]) -> Option<usize> {
    by_letter(text, options).or_else(|| by_text(text, options)).or_else(|| by_number(text, options))
}

/// Full-width, circled and bold letters as plain ones, without emphasis.
fn plain_letters(text: &str) -> String {
    let letter = |it: char| {
        let place = |first: char| u8::try_from(it as u32 - first as u32).unwrap_or_default();
        match it {
            'Ａ'..='Ｚ' => char::from(b'A' + place('Ａ')),
            'Ⓐ'..='Ⓩ' => char::from(b'A' + place('Ⓐ')),
            '🄰'..='🅉' => char::from(b'A' + place('🄰')),
            '🅰'..='🆉' => char::from(b'A' + place('🅰')),
            '𝐀'..='𝐙' => char::from(b'A' + place('𝐀')),
            '（' => '(',
            '）' => ')',
            '：' => ':',
            it => it,
        }
    };
    let text: String = text.chars().filter(|it| !"*`\u{fe0f}".contains(*it)).map(letter).collect();
    text.replace("__", "")
}

/// The keys of a JSON object that hold an answer.
const KEYS: [&str; 6] = ["answer", "final_answer", "finalAnswer", "choice", "option", "correct_answer"];

fn in_json(answer: &str, options: &[String]) -> Option<usize> {
    let (start, end) = (answer.find('{')?, answer.rfind('}')?);
    let object: Value = serde_json::from_str(answer.get(start..=end)?).ok()?;
    let value = KEYS.iter().find_map(|key| object.get(key))?;
    match value {
        Value::String(text) => option_named(text, options),
        Value::Number(number) => by_number(&number.to_string(), options),
        _ => None,
    }
}

/// The option of the last announced answer that names one.
fn announced(answer: &str, options: &[String]) -> Option<usize> {
    let mut text = answer;
    // An announcement may name no option: "The answer is clear. Answer: B. The answer is explained
    // below."
    for _ in 0..8 {
        let found = final_answer(text)?;
        if let Some(place) = option_said(found, options) {
            return Some(place);
        }
        // What comes before the announcement itself: its last word is the marker.
        let at = found.as_ptr() as usize - answer.as_ptr() as usize;
        let before = answer[..at].trim_end_matches(|it: char| !it.is_alphanumeric());
        let end = before.rfind(char::is_whitespace).unwrap_or_default();
        text = &answer[..end.min(text.len())];
    }
    None
}

/// The option that a phrase names: alone, or at its beginning with more after it.
fn option_said(phrase: &str, options: &[String]) -> Option<usize> {
    let phrase = phrase.trim();
    if let Some(place) = option_named(phrase, options) {
        return Some(place);
    }
    // "not A but B", "not A; it is B"
    let lower = phrase.to_lowercase();
    if lower.starts_with("not ") || lower.starts_with("neither ") {
        let rest = ["but ", "rather ", "instead ", "it is ", "it's "].iter().find_map(|it| {
            let at = lower.find(it)?;
            phrase.get(at + it.len()..)
        });
        return rest.and_then(|it| option_said(it, options));
    }
    let phrase = without_noun(phrase);
    leading_letter(phrase, options).or_else(|| leading_text(phrase, options))
}

/// The phrase without "option", "choice" and the like before the letter.
fn without_noun(phrase: &str) -> &str {
    const NOUNS: [&str; 12] = [
        "the correct option is",
        "definitely",
        "clearly",
        "most likely",
        "probably",
        "the option",
        "option",
        "choice",
        "letter",
        "answer",
        "number",
        "the",
    ];
    let mut rest = phrase.trim_start_matches([' ', ':', '-', '"', '\'', '“']);
    loop {
        let noun = NOUNS.iter().find(|it| {
            let head = rest.get(..it.len());
            let after = rest.get(it.len()..).and_then(|it| it.chars().next());
            head.is_some_and(|head| head.eq_ignore_ascii_case(it))
                && after.is_some_and(|it| " :".contains(it))
        });
        let Some(noun) = noun else { return rest };
        rest = rest[noun.len()..].trim_start_matches([' ', ':']);
    }
}

/// A letter at the beginning that can't be the word "a" or "I": in brackets, or before a sign, the
/// end, or a word that explains.
fn leading_letter(phrase: &str, options: &[String]) -> Option<usize> {
    let bare = phrase.trim_start_matches(['(', '[', '{', '"', '\'', '“', '<', ' ']);
    let is_bracketed = bare.len() < phrase.trim_start().len();
    let mut letters = bare.chars();
    let place = place_of(letters.next()?, options)?;
    let rest = letters.as_str();
    let two_named = rest.trim_start().to_lowercase();
    if ["or ", "and ", "/ ", "/", "& ", "|", ", "].iter().any(|it| two_named.starts_with(it))
        && names_letter(rest.trim_start(), options)
    {
        return None;
    }
    let ends = rest.is_empty()
        || rest.starts_with([
            ')', ']', '}', '.', ':', ',', ';', '"', '\'', '”', '>', '-', '–', '—', '\n', '!', '(',
        ]);
    let spaced = rest.strip_prefix(' ').map(str::trim_start);
    let explains = spaced.is_some_and(|it| {
        const EXPLAINING: [&str; 12] =
            ["because", "since", "as ", "is ", "(", "-", "–", "—", ":", "which", "for ", "with "];
        it.is_empty() || EXPLAINING.iter().any(|word| it.starts_with(word))
    });
    let followed_by_text = spaced.is_some_and(|it| begins_with(it, &options[place]));
    (ends || explains || followed_by_text || is_bracketed && rest.starts_with(char::is_whitespace))
        .then_some(place)
}

/// Whether a second letter follows "or" or "and".
fn names_letter(rest: &str, options: &[String]) -> bool {
    let after = rest.trim_start_matches(|it: char| !it.is_whitespace() && it != '(').trim_start();
    let after = after.trim_start_matches(['/', '|', '(', ' ']);
    let mut letters = after.chars();
    // In lower case it may be the word "a".
    let is_option =
        letters.next().is_some_and(|it| it.is_ascii_uppercase() && place_of(it, options).is_some());
    is_option && !letters.next().is_some_and(char::is_alphanumeric)
}

fn leading_text(phrase: &str, options: &[String]) -> Option<usize> {
    let begun: Vec<usize> = (0..options.len()).filter(|it| begins_with(phrase, &options[*it])).collect();
    // An option may begin like another one, so only the longest counts.
    begun.into_iter().max_by_key(|it| folded(&options[*it]).len())
}

/// Whether a text begins with an option, as whole words.
fn begins_with(text: &str, option: &str) -> bool {
    let (text, option) = (folded(text), folded(option));
    let after = text.strip_prefix(&option);
    !option.is_empty() && after.is_some_and(|it| it.is_empty() || it.starts_with(' '))
}

fn place_of(letter: char, options: &[String]) -> Option<usize> {
    let letter = letter.to_ascii_uppercase();
    (0..options.len()).find(|it| letter_of(*it) == letter)
}

/// `B`, `(b)`, `B.`, `[B]`, `B) Paris`, `Option B: Paris`
fn by_letter(text: &str, options: &[String]) -> Option<usize> {
    let bare =
        without_noun(text.trim()).trim_matches(['(', '[', '{', '"', '\'', ' ', '“', '”', '<', '>', '$']);
    let mut letters = bare.chars();
    let place = place_of(letters.next()?, options)?;
    let rest = letters.as_str().trim_start();
    let sign = rest.trim_start_matches([')', ']', '}', '.', ':', ',', ';', '-', '–', '—', '!', '"', '\'']);
    if sign.trim().is_empty() {
        return Some(place);
    }
    let is_set_off = sign.len() < rest.len() && begins_with(sign, &options[place]);
    is_set_off.then_some(place)
}

/// The option whose text this is.
fn by_text(text: &str, options: &[String]) -> Option<usize> {
    let exact = options.iter().position(|it| it.trim() == text.trim());
    exact.or_else(|| {
        let wanted = folded(text);
        let mut alike = (0..options.len()).filter(|it| !wanted.is_empty() && folded(&options[*it]) == wanted);
        let only = alike.next();
        only.filter(|_| alike.next().is_none())
    })
}

/// `2`, `(2)`, `Option 2`: the second option, unless options are numbers themselves.
fn by_number(text: &str, options: &[String]) -> Option<usize> {
    let bare = without_noun(text.trim()).trim_matches(['(', ')', '[', ']', '.', '"', '\'', '#', ' ']);
    let are_numbers = options.iter().any(|it| it.trim().parse::<f64>().is_ok());
    let number: usize = bare.parse().ok().filter(|_| !are_numbers)?;
    (1..=options.len()).contains(&number).then(|| number - 1)
}

/// The first or the last line, if it names an option and nothing else.
fn alone_on_a_line(answer: &str, options: &[String]) -> Option<usize> {
    let lines: Vec<&str> = answer.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let heading = |line: &&str| line.trim_matches(['#', ' ', '-', '>', '✅', '→', '•']).to_owned();
    let last = lines.last().map(heading);
    let first = lines.first().map(heading);
    let named = |line: Option<String>| line.and_then(|it| short_line(&it, options));
    named(last).or_else(|| named(first))
}

fn short_line(line: &str, options: &[String]) -> Option<usize> {
    option_named(line, options).or_else(|| {
        // "B, because …" and "B: …", but not "A good question": the letter must be set off.
        let is_capital = line.trim_start_matches(['(', '[']).starts_with(|it: char| it.is_ascii_uppercase());
        let set_off = line
            .trim_start_matches(['(', '['])
            .chars()
            .nth(1)
            .is_none_or(|it| !it.is_alphanumeric() && it != ' ' && it != '\'');
        let because = line.get(1..).is_some_and(|it| {
            it.starts_with(" because")
                || it.starts_with(" is ")
                || it.starts_with(" - ")
                || it.starts_with(" – ")
                || it.starts_with(" (")
        });
        (is_capital && (set_off || because) && !is_question(line))
            .then(|| leading_letter(line, options))
            .flatten()
    })
}

fn is_question(line: &str) -> bool {
    line.trim_end().ends_with('?')
}

/// Beginnings of sentences that choose, in lower case.
const CHOOSING: &[&str] = &[
    "i choose",
    "i would choose",
    "i'd choose",
    "i pick",
    "i'd pick",
    "i would pick",
    "i select",
    "i'd select",
    "i would select",
    "i'd go with",
    "i would go with",
    "i'll go with",
    "i go with",
    "going with",
    "i vote for",
    "my choice is",
    "my pick is",
    "it is",
    "it's",
    "it must be",
    "it should be",
    "that leaves",
    "this leaves",
    "leaving",
    "correct option is",
    "correct choice is",
    "right option is",
    "right choice is",
    "best option is",
    "best choice is",
    "best option would be",
    "correct one is",
    "answer would be",
    "answer should be",
    "answer must be",
    "choose",
    "select",
    "correct answer",
    "answer",
    "choice",
    "correct option",
    "selected option",
    "therefore",
    "thus",
    "hence",
    "so",
];

/// Ends of sentences after the option, in lower case.
const CHOSEN: &[&str] = &[
    "is correct",
    "is right",
    "is the correct",
    "is the right",
    "is the best",
    "is the answer",
    "is my answer",
    "it is",
    "is true",
    "must be correct",
    "must be right",
    "seems correct",
    "would be correct",
    "is the one",
    "fits best",
];

/// The option of the last sentence that chooses one.
fn chosen(answer: &str, options: &[String]) -> Option<usize> {
    let sentences: Vec<&str> = sentences(answer).collect();
    sentences.into_iter().rev().find_map(|it| in_sentence(it, options))
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '!', '?', ';'])
        .flat_map(|line| line.split_inclusive(". "))
        .map(str::trim)
        .filter(|it| !it.is_empty() && !it.ends_with('?'))
}

fn in_sentence(sentence: &str, options: &[String]) -> Option<usize> {
    let lower = sentence.to_lowercase();
    if lower.len() != sentence.len() {
        return None;
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for phrase in CHOOSING {
        for (at, _) in lower.match_indices(phrase) {
            let begins = lower[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric());
            let after = sentence[at + phrase.len()..].trim_start_matches([',', ':', ' ']);
            let is_whole = sentence[at + phrase.len()..].starts_with([',', ':', ' ']);
            if begins
                && is_whole
                && let Some(place) = option_said(after, options)
            {
                found.push((at, place));
            }
        }
    }
    for phrase in CHOSEN {
        for (at, _) in lower.match_indices(phrase) {
            found.extend(trailing_option(&sentence[..at], options).map(|place| (at, place)));
        }
    }
    found.into_iter().max_by_key(|it| it.0).map(|it| it.1)
}

/// The option right before this place: `(B)`, `option B`, `B) Paris`.
fn trailing_option(before: &str, options: &[String]) -> Option<usize> {
    let before = before.trim_end_matches([' ', ',', ')', ']', '"']);
    let word = before.rsplit([' ', '(', '[', '"']).next()?;
    let mut letters = word.chars();
    let is_letter = letters.clone().count() == 1;
    let by_letter = letters.next().filter(|it| is_letter && it.is_ascii_uppercase());
    // "A is correct" is about the option; "such a is correct" is not English.
    let place = by_letter.and_then(|it| place_of(it, options));
    place.or_else(|| {
        let text = folded(before);
        let ends = |it: &usize| {
            let option = folded(&options[*it]);
            !option.is_empty() && (text == option || text.ends_with(&format!(" {option}")))
        };
        (0..options.len()).filter(ends).max_by_key(|it| options[*it].len())
    })
}

/// The only option that a text names in brackets, as "option B", or by its text.
fn only_one(answer: &str, options: &[String]) -> Option<usize> {
    let marked: Vec<usize> = (0..options.len()).filter(|it| is_marked(answer, letter_of(*it))).collect();
    if let [only] = marked[..] {
        return Some(only);
    }
    if !marked.is_empty() {
        return None;
    }
    let text = format!(" {} ", folded(answer));
    let named = |it: &usize| {
        let option = folded(&options[*it]);
        !option.is_empty() && text.contains(&format!(" {option} "))
    };
    let named: Vec<usize> = (0..options.len()).filter(named).collect();
    // "Paris" also occurs in "Paris, Texas": the longest one covers the others.
    let longest = named.iter().max_by_key(|it| options[**it].len()).copied()?;
    let covers = |it: &usize| folded(&options[longest]).contains(&folded(&options[*it]));
    named.iter().all(covers).then_some(longest)
}

fn is_marked(answer: &str, letter: char) -> bool {
    let lower = answer.to_lowercase();
    let small = letter.to_ascii_lowercase();
    let after = |text: &str, end: usize| text[end..].chars().next().is_none_or(|it| !it.is_alphanumeric());
    let bracketed = [format!("({letter})"), format!("[{letter}]")].iter().any(|it| answer.contains(it));
    let named = ["option ", "choice ", "letter ", "option (", "choice ("].iter().any(|noun| {
        let wanted = format!("{noun}{small}");
        lower.match_indices(&wanted).any(|(at, it)| after(&lower, at + it.len()))
    });
    let listed = format!("{letter})");
    let begins = |at: usize| answer[..at].chars().next_back().is_none_or(|it| !it.is_alphanumeric());
    bracketed || named || answer.match_indices(&listed).any(|(at, _)| begins(at))
}
