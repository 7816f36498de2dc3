//! Numbers in answers: fractions, percentages, thousands, decimal commas, powers of ten and units.

use super::plain::final_answer;

/// How far a number may be from the expected one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// This much, in the unit of the number.
    Absolute(f64),
    /// This share of the expected number.
    Relative(f64),
}

impl Tolerance {
    /// Only what computing in binary fractions may lose.
    pub const EXACT: Tolerance = Tolerance::Relative(1e-9);

    fn allows(self, expected: f64, found: f64) -> bool {
        let allowed = match self {
            Tolerance::Absolute(most) => most + 1e-9 * expected.abs(),
            Tolerance::Relative(share) => share.max(1e-9) * expected.abs(),
        };
        (expected - found).abs() <= allowed
    }
}

/// A number with its unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Amount {
    /// The number.
    pub value: f64,
    /// Whether it is a percentage.
    pub is_percent: bool,
    /// Its unit in lower case; empty if there is none.
    pub unit: String,
}

impl Amount {
    /// Reads a whole text as a number with or without a unit.
    #[must_use]
    pub fn read(text: &str) -> Option<Amount> {
        let found = amounts(text);
        match &found[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    /// Whether a stated number is this one. A percentage is compared as one and as the fraction it
    /// stands for; a unit counts only if both have one.
    #[must_use]
    pub fn is_met_by(&self, stated: &Amount, tolerance: Tolerance) -> bool {
        if !self.unit.is_empty() && !stated.unit.is_empty() && self.unit != stated.unit {
            return false;
        }
        let fits = |expected: f64, found: f64| tolerance.allows(expected, found);
        match (self.is_percent, stated.is_percent) {
            (true, true) | (false, false) => fits(self.value, stated.value),
            (false, true) => fits(self.value, stated.value / 100.0) || fits(self.value, stated.value),
            (true, false) => fits(self.value / 100.0, stated.value) || fits(self.value, stated.value),
        }
    }
}

/// The number that an answer states: the first of the announced answer, else the last of the text.
pub(super) fn stated(answer: &str) -> Option<Amount> {
    if let Some(announced) = final_answer(answer) {
        let found = amounts(announced);
        // `Answer: 6 · 7 = 42` states what comes after the sign.
        let result = announced.rsplit_once('=').and_then(|(_, after)| amounts(after).into_iter().next());
        if let Some(amount) = result.or_else(|| found.into_iter().next()) {
            return Some(amount);
        }
    }
    amounts(answer).pop()
}

const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// All numbers of a text, in order. A text that is a number in words is that number.
fn amounts(text: &str) -> Vec<Amount> {
    let word = text.trim().trim_matches(['.', '*', '"']).to_lowercase();
    if let Some(value) = WORDS.iter().position(|it| *it == word) {
        return vec![Amount { value: value as f64, is_percent: false, unit: String::new() }];
    }
    let letters: Vec<char> = plain_signs(text).chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        match amount_at(&letters, at) {
            Some((amount, end)) => {
                found.push(amount);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The text with one sign for each thing: minus, times, spaces between thousands, `\frac{1}{2}`.
fn plain_signs(text: &str) -> String {
    let text =
        fractions(text).replace("\\%", "%").replace("\\,", "").replace("\\cdot", "×").replace("\\times", "×");
    let sign = |it: char| match it {
        '−' | '–' | '﹣' | '－' => '-',
        '·' | '⋅' | '*' => '×',
        '\u{a0}' | '\u{202f}' | '\u{2009}' | '’' => '\'',
        '％' => '%',
        '０'..='９' => char::from_u32(it as u32 - '０' as u32 + '0' as u32).unwrap_or(it),
        it => it,
    };
    text.chars().map(sign).collect()
}

/// Replaces `\frac{1}{2}` with `1/2`, and vulgar fractions.
fn fractions(text: &str) -> String {
    const VULGAR: [(char, &str); 6] =
        [('½', " 1/2"), ('⅓', " 1/3"), ('⅔', " 2/3"), ('¼', " 1/4"), ('¾', " 3/4"), ('⅛', " 1/8")];
    let mut out = text.replace("\\dfrac", "\\frac").replace("\\tfrac", "\\frac");
    for (vulgar, written) in VULGAR {
        out = out.replace(vulgar, written);
    }
    while let Some(at) = out.find("\\frac{") {
        let parts = out[at + 6..].split_once("}{").and_then(|(top, rest)| Some((top, rest.split_once('}')?)));
        let Some((top, (bottom, rest))) = parts else { break };
        out = format!("{}{top}/{bottom}{rest}", &out[..at]);
    }
    out
}

/// The number that begins here, and where it ends.
fn amount_at(letters: &[char], at: usize) -> Option<(Amount, usize)> {
    let before = at.checked_sub(1).map(|it| letters[it]);
    let is_inside = before.is_some_and(|it| {
        it.is_alphanumeric() || it == '_' || it == '.' && at >= 2 && letters[at - 2].is_ascii_digit()
    });
    if is_inside {
        return None;
    }
    let (sign, start) = match letters[at] {
        // A minus after a digit or a letter is a hyphen or a difference.
        '-' if !before.is_some_and(char::is_alphanumeric) => (-1.0, at + 1),
        '+' => (1.0, at + 1),
        _ => (1.0, at),
    };
    let start = if matches!(letters.get(start), Some('$' | '€' | '£')) { start + 1 } else { start };
    let (value, end) = unsigned(letters, start)?;
    let (value, end) = mixed_number(letters, value, end);
    let (value, end) = power_of_ten(letters, value, end);
    let (is_percent, unit, end) = unit_at(letters, end);
    Some((Amount { value: sign * value, is_percent, unit }, end))
}

/// Digits with separators.
fn unsigned(letters: &[char], start: usize) -> Option<(f64, usize)> {
    let is_digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let begins = is_digit(start) || matches!(letters.get(start), Some('.')) && is_digit(start + 1);
    if !begins {
        return None;
    }
    let mut end = start;
    while is_digit(end) || is_separator(letters, start, end) {
        end += 1;
    }
    let written: String = letters[start..end].iter().collect();
    let value = read_digits(&written)?;
    Some(exponent(letters, value, end))
}

/// Whether a separator of thousands or decimals is here. A space separates only groups of three.
fn is_separator(letters: &[char], start: usize, at: usize) -> bool {
    let digits =
        |from: usize| letters[from.min(letters.len())..].iter().take_while(|it| it.is_ascii_digit()).count();
    match letters.get(at) {
        Some('.' | ',') => digits(at + 1) > 0,
        Some('\'' | ' ' | '_') => {
            at > start && at - start <= 3 + 4 * 5 && digits(at + 1) == 3 && group_before(letters, start, at)
        }
        _ => false,
    }
}

/// Whether one to three digits, or a group of three after a separator, come before.
fn group_before(letters: &[char], start: usize, at: usize) -> bool {
    let digits = letters[start..at].iter().rev().take_while(|it| it.is_ascii_digit()).count();
    digits == 3 || (1..3).contains(&digits) && digits == at - start
}

/// `1.234,5`, `1,234.5`, `1,234`, `12,5`, `0,125`, `1'234`.
fn read_digits(written: &str) -> Option<f64> {
    let bare: String = written.chars().filter(|it| !"' _".contains(*it)).collect();
    let commas = bare.matches(',').count();
    let dots = bare.matches('.').count();
    let plain = match (commas, dots) {
        (0, 0 | 1) => bare,
        (0, _) => bare.replace('.', ""),
        (_, 0) if commas > 1 || is_thousands(&bare) => bare.replace(',', ""),
        (_, 0) => bare.replace(',', "."),
        _ if bare.rfind(',') > bare.rfind('.') => bare.replace('.', "").replace(',', "."),
        _ => bare.replace(',', ""),
    };
    plain.parse().ok()
}

/// Whether the comma of a number without a dot separates thousands: `1,234`, but not `0,125`.
fn is_thousands(bare: &str) -> bool {
    bare.split_once(',').is_some_and(|(before, after)| {
        after.len() == 3 && !before.is_empty() && before.len() <= 3 && !before.starts_with('0')
    })
}

/// `3e8`
fn exponent(letters: &[char], value: f64, end: usize) -> (f64, usize) {
    if !matches!(letters.get(end), Some('e' | 'E')) {
        return (value, end);
    }
    let sign = usize::from(matches!(letters.get(end + 1), Some('+' | '-')));
    let digits: String = letters[end + 1 + sign..].iter().take_while(|it| it.is_ascii_digit()).collect();
    match digits.parse::<i32>() {
        Ok(power) if power <= 300 => {
            let power = if letters[end + 1] == '-' { -power } else { power };
            (value * 10_f64.powi(power), end + 1 + sign + digits.len())
        }
        _ => (value, end),
    }
}

/// `1/2`, and `1 1/2`.
fn mixed_number(letters: &[char], whole: f64, end: usize) -> (f64, usize) {
    let after = |at: usize| letters[at..].iter().take_while(|it| **it == ' ').count() + at;
    let slash = after(end);
    if letters.get(slash) == Some(&'/')
        && let Some((bottom, end)) = unsigned(letters, after(slash + 1)).filter(|it| it.0 != 0.0)
    {
        return (whole / bottom, end);
    }
    let next = after(end);
    if next == end || whole.fract() != 0.0 {
        return (whole, end);
    }
    let fraction = unsigned(letters, next).filter(|(_, end)| letters.get(*end) == Some(&'/'));
    let Some((top, slash)) = fraction else { return (whole, end) };
    match unsigned(letters, slash + 1) {
        Some((bottom, end)) if bottom != 0.0 => (whole + top / bottom, end),
        _ => (whole, end),
    }
}

/// `× 10^8`, `x 10⁸`
fn power_of_ten(letters: &[char], value: f64, end: usize) -> (f64, usize) {
    let rest: String = letters[end..].iter().take(16).collect();
    let compact = rest.trim_start();
    let Some(times) = compact.strip_prefix(['×', 'x', 'X']) else { return (value, end) };
    let Some(power) = times.trim_start().strip_prefix("10") else { return (value, end) };
    let written: String = power.trim_start_matches(['^', '{']).chars().map_while(raised).collect();
    let Ok(exponent) = written.parse::<i32>() else { return (value, end) };
    let used = rest.chars().count() - power.chars().count();
    let rest_of_power = power.chars().take_while(|it| "^{}".contains(*it) || raised(*it).is_some()).count();
    (value * 10_f64.powi(exponent.clamp(-300, 300)), end + used + rest_of_power)
}

fn raised(letter: char) -> Option<char> {
    const RAISED: [(char, char); 11] = [
        ('⁰', '0'),
        ('¹', '1'),
        ('²', '2'),
        ('³', '3'),
        ('⁴', '4'),
        ('⁵', '5'),
        ('⁶', '6'),
        ('⁷', '7'),
        ('⁸', '8'),
        ('⁹', '9'),
        ('⁻', '-'),
    ];
    let plain = RAISED.iter().find(|it| it.0 == letter).map(|it| it.1);
    plain.or((letter.is_ascii_digit() || letter == '-').then_some(letter))
}

/// Units that may follow a number. A word that is none of them is ignored: `40 people`.
const UNITS: &[&str] = &[
    "°c", "°f", "k", "m", "km", "cm", "mm", "µm", "nm", "g", "kg", "mg", "t", "s", "ms", "min", "h", "l",
    "ml", "j", "kj", "w", "kw", "v", "a", "n", "pa", "kpa", "hz", "khz", "mhz", "ev", "mol", "m/s", "km/h",
    "m²", "m³", "usd", "eur",
];

fn unit_at(letters: &[char], end: usize) -> (bool, String, usize) {
    let start = end + letters[end..].iter().take_while(|it| **it == ' ' || **it == '\'').count();
    let rest: String = letters[start..].iter().take(24).collect::<String>().to_lowercase();
    for percent in ["%", "percent", "per cent", "prozent"] {
        if rest.starts_with(percent) {
            return (true, String::new(), start + percent.chars().count());
        }
    }
    let word: String = rest.chars().take_while(|it| it.is_alphanumeric() || "°/²³µ".contains(*it)).collect();
    match UNITS.contains(&word.as_str()) {
        true => (false, word.clone(), start + word.chars().count()),
        false => (false, String::new(), end),
    }
}
