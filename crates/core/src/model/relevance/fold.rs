//! Splits text into words, without case and accents.

/// The words of the text in order. Scripts without blanks between words give pairs of characters.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    text.chars().flat_map(char::to_lowercase).for_each(|it| reader.read(it));
    reader.end_word();
    reader.words
}

#[derive(Default)]
struct Reader {
    words: Vec<String>,
    word: String,
    /// The character before, if both belong to a script without blanks.
    before: Option<char>,
    /// Whether the character before stood in a pair.
    paired: bool,
}

impl Reader {
    fn read(&mut self, letter: char) {
        if is_combining(letter) {
            return;
        }
        if is_unspaced(letter) {
            self.read_unspaced(unvoiced(letter));
        } else if letter.is_alphanumeric() {
            self.end_run();
            fold(letter, &mut self.word);
        } else {
            self.end_word();
        }
    }

    fn read_unspaced(&mut self, letter: char) {
        self.push_word();
        if let Some(before) = self.before {
            // Pairs of hiragana are grammar.
            if !(is_hiragana(before) || is_hiragana(letter)) {
                self.words.push([before, letter].iter().collect());
            }
            self.paired = true;
        }
        self.before = Some(letter);
    }

    fn end_word(&mut self) {
        self.push_word();
        self.end_run();
    }

    /// A single character of such a script is a word.
    fn end_run(&mut self) {
        if let Some(alone) = self.before.take().filter(|it| !self.paired && !is_hiragana(*it)) {
            self.words.push(alone.to_string());
        }
        self.paired = false;
    }

    fn push_word(&mut self) {
        if !self.word.is_empty() {
            self.words.push(std::mem::take(&mut self.word));
        }
    }
}

/// An accent that is a character of its own.
fn is_combining(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

fn is_hiragana(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{309f}')
}

fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}')
        && letter != '・'
}

/// The kana without its voicing mark, as it would be read from two characters.
fn unvoiced(letter: char) -> char {
    const VOICED: &str = "ガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポ";
    const PLAIN: &str = "カキクケコサシスセソタチツテトハヒフヘホハヒフヘホ";
    VOICED.chars().zip(PLAIN.chars()).find(|it| it.0 == letter).map_or(letter, |it| it.1)
}

/// Adds a lower-case letter without its accent.
fn fold(letter: char, word: &mut String) {
    let plain = match letter {
        'æ' => "ae",
        'œ' => "oe",
        'ß' => "ss",
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        other => return word.push(other),
    };
    word.push_str(plain);
}
