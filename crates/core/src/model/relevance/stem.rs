//! Cuts the endings of words, in the same way for all languages.

/// The fewest letters that are left of a word.
const SHORTEST: usize = 5;

/// The fewest letters of a word whose plural ending is cut.
const SHORTEST_PLURAL: usize = 4;

/// Endings of English, German, French and Spanish, without accents; the longest that leaves enough
/// is cut.
const ENDINGS: &[&str] = &[
    "ization", "isation", "aciones", "ements", "ations", "iendo", "ation", "acion", "ciones", "ments",
    "ement", "mente", "ungen", "keit", "heit", "lich", "ness", "ment", "ando", "ados", "adas", "ions",
    "cion", "ance", "ings", "isch", "ung", "ing", "ion", "ies", "ern", "ado", "ada", "ees", "est", "aux",
    "ers", "en", "er", "es", "em", "ed", "ly", "os", "as", "ar", "ir", "ez", "e", "n", "a", "o", "y",
];

/// The form of a word that all its inflections share, if enough of it is left.
pub(super) fn term(word: &str) -> String {
    // Only the letters of these languages have these endings.
    if !word.is_ascii() || word.bytes().any(|it| it.is_ascii_digit()) {
        return word.to_owned();
    }
    let mut left = word;
    while let Some(shorter) = shortened(left).or_else(|| singular(left)) {
        left = shorter;
    }
    left.to_owned()
}

fn shortened(word: &str) -> Option<&str> {
    let mut endings = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending));
    endings.find(|left| left.len() >= SHORTEST)
}

fn singular(word: &str) -> Option<&str> {
    let is_plural = word.len() >= SHORTEST_PLURAL && !["ss", "us", "is"].iter().any(|it| word.ends_with(it));
    word.strip_suffix('s').filter(|_| is_plural)
}
