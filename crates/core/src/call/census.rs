//! Where a tokenizer would cut a text: a census of words, numbers, signs and scripts, made in one pass.

/// What is counted.
pub(crate) const KINDS: usize = 18;

/// The first so many kinds are of Latin words, which are longer than their tokens in other languages than English.
pub(crate) const OF_WORDS: usize = 6;

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

/// The census of one text.
#[derive(Default)]
pub(crate) struct Census {
    pub(crate) counts: [f64; KINDS],
    /// Little words of English, and of its neighbours.
    english: u32,
    foreign: u32,
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
}

impl Census {
    pub(crate) fn of(text: &str) -> Self {
        let mut census = Census::default();
        let mut start = 0;
        while let Some((class, mut end)) = class_at(text, start) {
            while let Some((_, next)) = class_at(text, end).filter(|it| it.0 == class) {
                end = next;
            }
            census.take(class, &text[start..end], &text[end..]);
            start = end;
        }
        // Japanese has characters and readings of its own, for which the vocabularies have less room.
        if census.counts[KANA] > 0.0 {
            census.counts.swap(HAN, HAN_AMID_KANA);
        }
        census
    }

    /// Whether its Latin words are rather not English.
    pub(crate) fn is_foreign(&self) -> bool {
        self.foreign > self.english
    }

    fn take(&mut self, class: Class, run: &str, after: &str) {
        if class == Class::Latin {
            return self.words(run);
        }
        let characters = run.chars().count() as f64;
        match class {
            Class::Latin => {}
            Class::Digit => self.counts[NUMBERS] += (characters / 3.0).ceil(),
            // One space belongs to the word after it; more of them are a gap of their own.
            Class::Space => self.counts[GAPS] += f64::from(u8::from(characters > 1.0)),
            Class::Line => self.counts[GAPS] += f64::from(u8::from(!after.is_empty())),
            Class::Han => self.counts[HAN] += characters,
            Class::Kana => self.counts[KANA] += characters,
            Class::Katakana => self.counts[KATAKANA] += characters,
            Class::Hangul => self.counts[HANGUL] += characters,
            Class::Alphabet => {
                self.counts[ALPHABETS] += characters;
                self.counts[ALPHABET_WORDS] += 1.0;
            }
            Class::WideSign => self.counts[WIDE_SIGNS] += characters,
            Class::Sign => {
                self.counts[SIGN_RUNS] += 1.0;
                let pairs = run.as_bytes().windows(2);
                self.counts[SIGN_CHANGES] += pairs.filter(|pair| pair[0] != pair[1]).count() as f64;
            }
        }
    }

    /// A run of letters; `camelCase` is two words.
    fn words(&mut self, run: &str) {
        // Most words are plain, and this is done for everything that is said.
        if run.is_ascii() && !run.bytes().skip(1).any(|it| it.is_ascii_uppercase()) {
            return self.word(run);
        }
        let mut start = 0;
        let mut was_lower = false;
        for (index, letter) in run.char_indices() {
            if was_lower && letter.is_uppercase() {
                self.word(&run[start..index]);
                start = index;
            }
            was_lower = letter.is_lowercase();
        }
        self.word(&run[start..]);
    }

    fn word(&mut self, word: &str) {
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
        if word.len() <= LITTLE {
            match little(pack(word)) {
                Some(Tongue::English) => self.english += 1,
                Some(Tongue::Foreign) => self.foreign += 1,
                None => {}
            }
        }
    }
}

/// The longest of the little words, in bytes.
const LITTLE: usize = 5;

/// A little word as a number: comparing texts took most of the time of a census.
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

/// Whose little word something is.
#[derive(Clone, Copy)]
enum Tongue {
    English,
    Foreign,
}

/// Where a little word is to be found: at its place, or behind it up to the next gap.
const LITTLE_WORDS: [(u64, Tongue); PLACES] = {
    let mut table = [(0, Tongue::English); PLACES];
    let mut index = 0;
    while index < ENGLISH.len() + FOREIGN.len() {
        let (word, tongue) = if index < ENGLISH.len() {
            (ENGLISH[index], Tongue::English)
        } else {
            (FOREIGN[index - ENGLISH.len()], Tongue::Foreign)
        };
        let mut place = place_of(word);
        while table[place].0 != 0 {
            place = (place + 1) % PLACES;
        }
        table[place] = (word, tongue);
        index += 1;
    }
    table
};

const PLACES: usize = 256;

const fn place_of(word: u64) -> usize {
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

fn little(word: u64) -> Option<Tongue> {
    let mut place = place_of(word);
    while LITTLE_WORDS[place].0 != 0 {
        if LITTLE_WORDS[place].0 == word {
            return Some(LITTLE_WORDS[place].1);
        }
        place = (place + 1) % PLACES;
    }
    None
}

/// The class of the character at this byte, and where the next one begins; `None` at the end.
fn class_at(text: &str, at: usize) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() {
        return Some((PLAIN[usize::from(byte)], at + 1));
    }
    let character = text[at..].chars().next()?;
    Some((class_of(character), at + character.len_utf8()))
}

/// The classes of ASCII, since nearly everything is.
const PLAIN: [Class; 128] = {
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

/// The class of what is not ASCII.
fn class_of(character: char) -> Class {
    match character {
        '\u{c0}'..='\u{24f}' => Class::Latin,
        '\u{3041}'..='\u{309f}' => Class::Kana,
        '\u{30a0}'..='\u{30ff}' => Class::Katakana,
        '\u{ac00}'..='\u{d7a3}' => Class::Hangul,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => Class::Han,
        _ if character.is_alphabetic() => Class::Alphabet,
        _ => Class::WideSign,
    }
}
