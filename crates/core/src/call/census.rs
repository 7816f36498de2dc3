//! Counts the features of a text that a tokenizer splits at (words, numbers, signs, scripts), in
//! one pass.

/// The number of features.
pub(crate) const FEATURES: usize = 20;

/// How many features, the first ones, are about Latin words. Words of languages other than English
/// make more tokens.
pub(crate) const WORD_FEATURES: usize = 6;

const WORDS: usize = 0;
const BEYOND_FOUR: usize = 1;
const BEYOND_EIGHT: usize = 2;
const BEYOND_TWELVE: usize = 3;
const ACCENTS: usize = 4;
const CAPITALS: usize = 5;
const SIGN_RUNS: usize = 6;
const SIGN_CHANGES: usize = 7;
const NUMBERS: usize = 8;
const GAPS: usize = 9;
const HAN: usize = 10;
const KANA: usize = 11;
const HANGUL: usize = 12;
const ALPHABETS: usize = 13;
const WIDE_SIGNS: usize = 14;
const KATAKANA: usize = 15;
const ALPHABET_WORDS: usize = 16;
const HAN_AMID_KANA: usize = 17;
const EMOJI: usize = 18;
const PICTOGRAPHS: usize = 19;

/// The feature counts of one text.
#[derive(Default)]
pub(crate) struct Census {
    pub(crate) counts: [f64; FEATURES],
    /// The number of short function words of English, and of other European languages.
    english: u32,
    foreign: u32,
    /// Han characters of the current line, and whether the line has kana.
    han_in_line: f64,
    kana_in_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Latin,
    Digit,
    Space,
    Line,
    Han,
    Kana,
    Katakana,
    Hangul,
    Alphabet,
    Sign,
    WideSign,
    Emoji,
    Pictograph,
}

impl Census {
    pub(crate) fn of(text: &str) -> Self {
        let mut census = Census::default();
        let mut start = 0;
        while let Some((class, mut end)) = class_at(text, start) {
            while let Some((_, next)) = class_at(text, end).filter(|it| it.0 == class) {
                end = next;
            }
            census.count_run(class, &text[start..end], &text[end..]);
            start = end;
        }
        census.end_line();
        census
    }

    /// Counts the Han characters of a line. Japanese gets fewer vocabulary entries per character
    /// than Chinese, so its kanji count separately.
    fn end_line(&mut self) {
        let feature = if self.kana_in_line { HAN_AMID_KANA } else { HAN };
        self.counts[feature] += std::mem::take(&mut self.han_in_line);
        self.kana_in_line = false;
    }

    /// Whether its Latin words are probably not English.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign > self.english
    }

    fn count_run(&mut self, class: Class, run: &str, after: &str) {
        if class == Class::Latin {
            return self.count_words(run);
        }
        let characters = run.chars().count() as f64;
        match class {
            Class::Latin => {}
            Class::Digit => self.counts[NUMBERS] += (characters / 3.0).ceil(),
            // A single space belongs to the word after it; several are a gap of their own.
            Class::Space => self.counts[GAPS] += f64::from(u8::from(characters > 1.0)),
            Class::Line => {
                self.counts[GAPS] += f64::from(u8::from(!after.is_empty()));
                self.end_line();
            }
            Class::Han => self.han_in_line += characters,
            Class::Kana => {
                self.counts[KANA] += characters;
                self.kana_in_line = true;
            }
            Class::Katakana => self.counts[KATAKANA] += characters,
            Class::Hangul => self.counts[HANGUL] += characters,
            Class::Alphabet => {
                self.counts[ALPHABETS] += characters;
                self.counts[ALPHABET_WORDS] += 1.0;
            }
            Class::WideSign => self.counts[WIDE_SIGNS] += characters,
            Class::Emoji => self.counts[EMOJI] += characters,
            Class::Pictograph => self.counts[PICTOGRAPHS] += characters,
            Class::Sign => {
                self.counts[SIGN_RUNS] += 1.0;
                let pairs = run.as_bytes().windows(2);
                self.counts[SIGN_CHANGES] += pairs.filter(|pair| pair[0] != pair[1]).count() as f64;
            }
        }
    }

    /// Counts a run of letters; `camelCase` is two words.
    fn count_words(&mut self, run: &str) {
        // A fast path for plain words: this runs over every turn.
        if run.is_ascii() && !run.bytes().skip(1).any(|it| it.is_ascii_uppercase()) {
            return self.count_word(run);
        }
        let mut start = 0;
        let mut was_lower = false;
        for (index, letter) in run.char_indices() {
            if was_lower && letter.is_uppercase() {
                self.count_word(&run[start..index]);
                start = index;
            }
            was_lower = letter.is_lowercase();
        }
        self.count_word(&run[start..]);
    }

    fn count_word(&mut self, word: &str) {
        let letters = if word.is_ascii() { word.len() } else { word.chars().count() };
        let beyond = |most: usize| letters.saturating_sub(most) as f64;
        self.counts[WORDS] += 1.0;
        self.counts[BEYOND_FOUR] += beyond(4);
        self.counts[BEYOND_EIGHT] += beyond(8);
        self.counts[BEYOND_TWELVE] += beyond(12);
        if letters != word.len() {
            self.counts[ACCENTS] += word.chars().filter(|it| !it.is_ascii()).count() as f64;
        }
        let after_first = word.bytes().skip(word.chars().next().map_or(0, char::len_utf8));
        self.counts[CAPITALS] += after_first.filter(u8::is_ascii_uppercase).count() as f64;
        if word.len() <= LONGEST_FUNCTION_WORD {
            match language_of(pack(word)) {
                Some(Language::English) => self.english += 1,
                Some(Language::Foreign) => self.foreign += 1,
                None => {}
            }
        }
    }
}

/// The length of the longest function word in bytes.
const LONGEST_FUNCTION_WORD: usize = 5;

/// A short word packed into an integer, because comparing strings took most of the time.
const fn pack(word: &str) -> u64 {
    let bytes = word.as_bytes();
    let (mut packed, mut index) = (0, 0);
    while index < bytes.len() {
        packed = packed << 8 | bytes[index] as u64;
        index += 1;
    }
    packed
}

const fn packed<const N: usize>(words: &[&str; N]) -> [u64; N] {
    let (mut all, mut index) = ([0; N], 0);
    while index < N {
        all[index] = pack(words[index]);
        index += 1;
    }
    all
}

const ENGLISH: [u64; 30] = packed(&[
    "the", "of", "and", "to", "is", "that", "it", "for", "with", "this", "be", "are", "if", "not", "or",
    "by", "we", "you", "The", "It", "This", "If", "what", "can", "will", "would", "which", "they", "have",
    "from",
]);
const FOREIGN: [u64; 56] = packed(&[
    "der", "die", "das", "und", "ist", "nicht", "ein", "eine", "zu", "den", "mit", "von", "für", "auf", "im",
    "dem", "sich", "wird", "Die", "Der", "Das", "le", "la", "les", "et", "est", "une", "que", "pas", "pour",
    "dans", "du", "des", "el", "los", "las", "una", "por", "con", "para", "del", "il", "di", "che", "um",
    "os", "het", "een", "van", "niet", "dat", "och", "att", "det", "som", "nie",
]);

/// The language of a function word.
#[derive(Clone, Copy)]
enum Language {
    English,
    Foreign,
}

/// A hash table of the function words, with linear probing.
const FUNCTION_WORDS: [(u64, Language); SLOTS] = {
    let mut table = [(0, Language::English); SLOTS];
    let mut index = 0;
    while index < ENGLISH.len() + FOREIGN.len() {
        let (word, language) = if index < ENGLISH.len() {
            (ENGLISH[index], Language::English)
        } else {
            (FOREIGN[index - ENGLISH.len()], Language::Foreign)
        };
        let mut slot = slot_of(word);
        while table[slot].0 != 0 {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = (word, language);
        index += 1;
    }
    table
};

const SLOTS: usize = 256;

const fn slot_of(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

fn language_of(word: u64) -> Option<Language> {
    let mut slot = slot_of(word);
    while FUNCTION_WORDS[slot].0 != 0 {
        if FUNCTION_WORDS[slot].0 == word {
            return Some(FUNCTION_WORDS[slot].1);
        }
        slot = (slot + 1) % SLOTS;
    }
    None
}

/// The class of the character at this byte, and the index of the next one; `None` at the end.
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some((ASCII[usize::from(byte)], at + 1));
    }
    let character = text[at..].chars().next()?;
    Some((class_of(character), at + character.len_utf8()))
}

/// The classes of ASCII characters, as a table because nearly all text is ASCII.
const ASCII: [Class; 128] = {
    let mut table = [Class::Sign; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Latin,
            b'0'..=b'9' => Class::Digit,
            b'\n' | b'\r' => Class::Line,
            b' ' | b'\t' => Class::Space,
            _ => Class::Sign,
        };
        byte += 1;
    }
    table
};

/// The class of a non-ASCII character.
fn class_of(character: char) -> Class {
    match character {
        '\u{c0}'..='\u{24f}' => Class::Latin,
        '\u{3041}'..='\u{309f}' => Class::Kana,
        '\u{30a0}'..='\u{30ff}' => Class::Katakana,
        '\u{ac00}'..='\u{d7a3}' => Class::Hangul,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Han,
        '\u{20000}'..='\u{3ffff}' => Class::Han,
        '\u{1f000}'..='\u{1faff}' => Class::Emoji,
        // Older symbols such as a check mark, and the joiners and selectors between emoji.
        '\u{200d}' | '\u{fe0f}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' => Class::Pictograph,
        _ if character.is_alphabetic() => Class::Alphabet,
        _ => Class::WideSign,
    }
}
