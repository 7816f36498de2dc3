//! Finds where a speaker calls itself by a word: *as the editor, I …*, *I am an editor*, or a line
//! that begins with *Editor:*.

/// Articles that may stand before the word.
const ARTICLES: [&str; 9] = ["the", "a", "an", "your", "this", "der", "die", "das", "ein"];

/// Articles of something that is known, as the speaker is.
const DEFINITE: [&str; 5] = ["the", "your", "der", "die", "das"];

/// Ends of the text before the word, in lower case, that alone make it the speaker's own.
const OPENINGS: [&str; 22] = [
    "i am",
    "i'm",
    "i\u{2019}m",
    "i,",
    "speaking as",
    "i speak as",
    "i write as",
    "my name is",
    "my role as",
    "my view as",
    "my perspective as",
    "my capacity as",
    "signed,",
    "signed:",
    "signed by",
    "regards,",
    "ich bin",
    "ich,",
    "spreche als",
    "mein name ist",
    "meine rolle als",
    "meiner rolle als",
];

/// Ends that do if the sentence ends after the word, or goes on with a greeting.
const INTRODUCTIONS: [&str; 3] = ["this is", "hier ist", "hier spricht"];

/// Ends that do if the speaker says *I* right after the word, or after a second word for itself.
const COMPARISONS: [&str; 2] = ["as", "als"];

/// Ends that do if the speaker says *I* after the word and a comma.
const ADDITIONS: [&str; 3] = [",", "and", "und"];

/// The longest second word, in bytes.
const LONGEST_ADDITION: usize = 60;

/// Words by which a speaker that has given its name goes on.
const GREETINGS: [&str; 3] = ["here", "speaking", "hier"];

/// Titles of what a speaker says: *Editor's view:*
const OWNED: [&str; 9] =
    ["answer", "assessment", "opinion", "perspective", "position", "response", "verdict", "view", "vote"];

/// Marks of Markdown, quotes and dashes that may stand right before the word.
const MARKS: [char; 20] =
    [' ', '\t', '*', '_', '#', '[', '(', '>', '-', '–', '—', '+', '•', '`', '~', '"', '“', '„', '«', '\''];

/// Marks that may stand right after the word.
const CLOSING: [char; 9] = ['*', '_', ']', ')', '`', '~', '"', '”', '»'];

/// Whether the word between these texts is what the speaker calls itself.
pub(super) fn is_self_named(before: &str, after: &str) -> bool {
    // A text that is nothing but the word answers a question.
    if before.trim().is_empty() && after.trim().is_empty() {
        return false;
    }
    let before = tail(before);
    let after = after.split('\n').next().unwrap_or_default();
    is_named_in_sentence(&before, after) || is_named_at_start(&before, after)
}

/// Whether the speaker names itself in a sentence: *as the editor, I …*
fn is_named_in_sentence(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(MARKS);
    let (bare, known) = (without(&ARTICLES, before), without(&DEFINITE, before));
    let rest = after.trim_start_matches(CLOSING).trim_start_matches([',', ' ']);
    let has_comma = after[..after.len() - rest.len()].contains(',');
    let says_i = is_first_person(rest);
    let says_i_later = after_addition(rest).is_some_and(is_first_person);
    let says_my = ["my", "mein", "meine"].contains(&first_word(rest));
    ends_with_any(bare, &OPENINGS)
        || (ends_with_any(known, &INTRODUCTIONS)
            && (ends_clause(after) || goes_on(after.trim_start_matches(CLOSING))))
        || ((says_i || says_i_later) && ends_with_any(bare, &COMPARISONS))
        || (says_i && has_comma && ends_with_any(bare, &ADDITIONS))
        || (says_my && has_comma && ends_with_any(known, &COMPARISONS))
}

/// Whether the speaker's name stands at the start of a line, as in a script or a signature:
/// `**Editor:** No.`, `# Editor`, `— The editor`, `[Editor] No.`, `Editor here.`
fn is_named_at_start(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.trim_start_matches(CLOSING).trim_start();
    if !is_blank(line) {
        let clause = line.rsplit(['.', '!', '?', ',']).next().unwrap_or_default();
        return is_blank(clause) && is_greeting(rest);
    }
    let is_in_brackets = line.ends_with('[') && after.starts_with(']') && !after.starts_with("](");
    let separated = after.trim_start_matches(CLOSING).trim_start_matches([',', ' ', '-', '–', '—']);
    let separator = after[..after.len() - separated.len()].trim();
    let says_i = !separator.is_empty() && is_first_person(separated);
    let is_alone = !line.contains(char::is_alphanumeric);
    let greets = is_greeting(rest) || (is_alone && goes_on(rest));
    ends_title(rest) || is_in_brackets || says_i || greets || is_own_title(after)
}

/// Whether the text is the rest of a title of what the speaker says: `'s view:`
fn is_own_title(text: &str) -> bool {
    let text = text.trim_start_matches(CLOSING);
    let rest = ["'s ", "\u{2019}s "].iter().find_map(|it| text.strip_prefix(it)).unwrap_or_default();
    let word = first_word(rest);
    OWNED.contains(&&*word.to_lowercase()) && ends_title(rest[word.len()..].trim_start_matches(CLOSING))
}

/// Whether a title ends before this text: with its line, or a colon.
fn ends_title(text: &str) -> bool {
    text.trim().is_empty() || text.starts_with([':', '：'])
}

/// Whether nothing stands there but marks, a label and an article: `— @KX, the `.
fn is_blank(text: &str) -> bool {
    let text = text.trim_start_matches(|it: char| !it.is_alphanumeric() && it != '@');
    let text = without(&DEFINITE, text.trim_end_matches(MARKS)).trim_end_matches([',', ' ']);
    let is_plain = |it: &str| it.chars().all(char::is_alphanumeric);
    let is_label = text.strip_prefix('@').or_else(|| text.strip_prefix("participant ")).is_some_and(is_plain);
    text.is_empty() || is_label
}

/// Whether the text begins with a greeting: *here*, *speaking*.
fn goes_on(text: &str) -> bool {
    GREETINGS.contains(&first_word(text.trim_start()))
}

/// Whether the text is a greeting that ends its sentence: the editor *here* is no speaker.
fn is_greeting(text: &str) -> bool {
    goes_on(text) && ends_clause(text[first_word(text).len()..].trim_start_matches(','))
}

/// Whether a clause ends before this text.
fn ends_clause(text: &str) -> bool {
    let rest = text.trim_start_matches(CLOSING).trim_start();
    rest.is_empty() || rest.starts_with(['.', ',', ':', ';', '!', '?', '…', '–', '—'])
}

fn is_first_person(text: &str) -> bool {
    ["I", "ich"].contains(&first_word(text))
}

/// What follows a second word for the speaker: *and engineer, …*
fn after_addition(text: &str) -> Option<&str> {
    let rest = ["and ", "und "].iter().find_map(|it| text.strip_prefix(it))?;
    let (added, rest) = rest.split_once(',')?;
    let is_word = added.len() <= LONGEST_ADDITION && !added.contains(['.', '!', '?']);
    is_word.then_some(rest.trim_start())
}

fn ends_with_any(text: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| {
        let rest = text.strip_suffix(end);
        rest.is_some_and(|it| *end == "," || !it.ends_with(char::is_alphanumeric))
    })
}

/// The last characters of a text in lower case: no opening is longer.
fn tail(text: &str) -> String {
    let from = text.char_indices().rev().nth(39).map_or(0, |it| it.0);
    text[from..].to_lowercase()
}

/// The text without one of these articles at its end.
fn without<'t>(articles: &[&str], text: &'t str) -> &'t str {
    let bare = |article: &&str| text.strip_suffix(*article);
    let rest = articles.iter().filter_map(bare).find(|it| !it.ends_with(char::is_alphanumeric));
    rest.unwrap_or(text).trim_end_matches(MARKS)
}

fn first_word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}
