//! Answers as plain texts: what is compared, and where the final answer of a longer text is.

/// Words that announce a final answer, in lower case.
const MARKERS: &[&str] = &[
    "answer",
    "answers",
    "antwort",
    "lösung",
    "réponse",
    "respuesta",
    "risposta",
    "resposta",
    "odpowiedź",
    "ответ",
    "答案",
    "答え",
    "정답",
];

/// Whether an answer is one of the accepted texts: as a whole, by its announced answer, or by its
/// last line.
pub(super) fn is_one_of(answer: &str, accepted: &[String]) -> bool {
    let last = answer.lines().rev().find(|it| !it.trim().is_empty());
    // An announced answer is meant; the text around it is not looked at.
    let tried = match final_answer(answer) {
        Some(announced) => vec![announced],
        None => [Some(answer), last].into_iter().flatten().collect(),
    };
    let tried: Vec<String> = tried.into_iter().map(folded).collect();
    accepted.iter().map(|it| folded(it)).any(|it| tried.contains(&it))
}

/// The text that follows the last announcement of an answer: `Answer: Paris`, `#### 18`,
/// `\boxed{42}`, `<answer>B</answer>`.
#[must_use]
pub fn final_answer(text: &str) -> Option<&str> {
    let places = [boxed(text), tagged(text), hashed(text), announced(text)];
    let (_, answer) = places.into_iter().flatten().max_by_key(|it| it.0)?;
    let answer = trimmed(answer);
    (!answer.is_empty()).then_some(answer)
}

/// Where an answer begins, and its text.
type Place<'t> = Option<(usize, &'t str)>;

fn boxed(text: &str) -> Place<'_> {
    let at = text.rfind("boxed{")? + "boxed{".len();
    let mut depth = 1;
    for (place, letter) in text[at..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((at, without_macro(&text[at..at + place])));
        }
    }
    None
}

/// The text without `\text{…}` and the like around all of it.
fn without_macro(text: &str) -> &str {
    let inner = text.trim().strip_prefix('\\').and_then(|it| it.split_once('{'));
    let inner = inner.filter(|(name, _)| ["text", "textbf", "mathrm", "mathbf"].contains(name));
    inner.and_then(|(_, rest)| rest.strip_suffix('}')).unwrap_or(text)
}

fn tagged(text: &str) -> Place<'_> {
    let at = rfind_ignoring_case(text, "<answer>")? + "<answer>".len();
    let rest = &text[at..];
    Some((at, &rest[..rest.find('<').unwrap_or(rest.len())]))
}

fn hashed(text: &str) -> Place<'_> {
    let at = text.rfind("#### ")?;
    let begins_line = text[..at].trim_end_matches([' ', '\t']).is_empty() || text[..at].ends_with('\n');
    begins_line.then(|| (at + 5, first_line(&text[at + 5..])))
}

/// The text after the last marker that is followed by a colon, at the beginning of a sentence; and
/// after "the answer is".
fn announced(text: &str) -> Place<'_> {
    let lower = lowered(text);
    let found = MARKERS.iter().flat_map(|marker| lower.match_indices(marker).map(|it| it.0 + marker.len()));
    let mut ends: Vec<usize> = found.collect();
    ends.sort_unstable();
    ends.into_iter().rev().find_map(|end| after_marker(text, &lower, end))
}

fn after_marker<'t>(text: &'t str, lower: &str, end: usize) -> Place<'t> {
    let rest = &lower[end..];
    let skipped = rest.len() - rest.trim_start_matches(['*', '_', ' ', '\u{a0}', '`']).len();
    let rest = &rest[skipped..];
    let at = end + skipped + sign_length(rest, &text[end + skipped..])?;
    let after = text[at..].trim_start_matches(['*', '_', ' ', ':', '：']);
    let line = first_line(after.trim_start());
    (!line.trim().is_empty()).then_some((at, line))
}

/// Between a marker and the answer: a colon, or "is" as a word of its own.
const SIGNS: [&str; 9] = [":", "：", "=", "is", "ist", "est", "es", "は", "是"];

fn sign_length(lower: &str, text: &str) -> Option<usize> {
    let is_sign = |sign: &&&str| {
        let is_word = sign.chars().all(|it| it.is_ascii_alphabetic());
        let goes_on = text.get(sign.len()..).is_some_and(|it| it.starts_with(char::is_alphanumeric));
        lower.starts_with(**sign) && !(is_word && goes_on)
    };
    SIGNS.iter().find(is_sign).map(|it| it.len())
}

/// The text in lower case with every character at its place, so that positions stay the same.
fn lowered(text: &str) -> String {
    let lower = |it: char| {
        let mut lower = it.to_lowercase();
        let first = lower.next().unwrap_or(it);
        if lower.next().is_none() && first.len_utf8() == it.len_utf8() { first } else { it }
    };
    text.chars().map(lower).collect()
}

fn rfind_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    lowered(text).rfind(wanted)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn trimmed(text: &str) -> &str {
    text.trim().trim_matches(['*', '_', '`', '$']).trim().trim_end_matches(['.', ',', ';', '。', '，']).trim()
}

/// A text without what doesn't count: case, punctuation, and spaces beyond one. Signs that change
/// the meaning stay: `C++` is not `C`, and `-3` is not `3`.
#[must_use]
pub fn folded(text: &str) -> String {
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut kept = String::with_capacity(text.len());
    for (place, letter) in letters.iter().enumerate() {
        let next = letters.get(place + 1);
        match letter {
            it if it.is_alphanumeric() || "+#%/=<>&$@^€£".contains(*it) => kept.push(*it),
            '-' | '−' | '–' if is_sign(&letters, place) => kept.push('-'),
            '.' | ',' if is_inside_number(&letters, place) => kept.push(*letter),
            '\'' | '’' if next.is_some_and(|it| it.is_alphabetic()) => {}
            _ => kept.push(' '),
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_sign(letters: &[char], place: usize) -> bool {
    let begins = place == 0 || letters[place - 1].is_whitespace() || "(=".contains(letters[place - 1]);
    begins && letters.get(place + 1).is_some_and(char::is_ascii_digit)
}

fn is_inside_number(letters: &[char], place: usize) -> bool {
    let is_digit = |it: Option<&char>| it.is_some_and(char::is_ascii_digit);
    place > 0 && is_digit(letters.get(place - 1)) && is_digit(letters.get(place + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_space_and_punctuation_do_not_count() {
        let check = |text: &str, expected: &str| assert_eq!(folded(text), expected, "{text}");
        check("  The  Eiffel\nTower. ", "the eiffel tower");
        check("“Don't Panic!”", "dont panic");
        check("well-known", "well known");
        check("C++", "c++");
        check("-3", "-3");
        check("−3", "-3");
        check("3.14,", "3.14");
        check("Straße", "straße");
        check("", "");
    }

    #[test]
    fn the_announced_answer() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(final_answer(text), expected, "{text}");
        check("Because of this.\nAnswer: Paris.", Some("Paris"));
        check("**Answer:** Paris", Some("Paris"));
        check("The answer is Paris.", Some("Paris"));
        check("Answer: Rome? No.\nFinal answer: Paris", Some("Paris"));
        check("So \\boxed{\\text{Paris}}.", Some("Paris"));
        check("5 + 13 = 18\n#### 18", Some("18"));
        check("<answer>Paris</answer>", Some("Paris"));
        check("Answer:\n\nParis", Some("Paris"));
        check("Die Antwort ist Paris.", Some("Paris"));
        check("答案：巴黎", Some("巴黎"));
        check("The answer island is far.", None);
        check("Paris", None);
    }
}
