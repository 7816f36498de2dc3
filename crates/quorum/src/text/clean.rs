//! Makes text from elsewhere harmless: a model must not move the cursor, set the title, or turn a line around.

use std::fmt::Write;

use quorum_providers::clean::without_sequences;

/// The text without control characters, escape sequences and marks that change the direction of writing.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut cleaned = without_sequences(text);
    cleaned.retain(is_harmless);
    cleaned
}

/// JSON as it was, with what JSON itself does not escape written as `\u…` as well. Such characters stand only in strings.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for next in json.chars() {
        if is_harmless(next) {
            escaped.push(next);
        } else {
            let _ = write!(escaped, "\\u{:04x}", u32::from(next));
        }
    }
    escaped
}

fn is_harmless(next: char) -> bool {
    let turns = matches!(next, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    matches!(next, '\n' | '\t') || !(next.is_control() || turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s7_escape_sequences_never_reach_a_terminal() {
        for (text, expected) in [
            ("plain\ttext\nof two lines – ünïcode 🙂", "plain\ttext\nof two lines – ünïcode 🙂"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[2J\u{1b}[1;1Hgone", "gone"),
            ("\u{1b}[?1049hother screen", "other screen"),
            ("\u{1b}]0;a title\u{7}text", "text"),
            ("\u{1b}]8;;https://bad.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]52;c;aGk=\u{9c}clipboard", "clipboard"),
            ("\u{1b}]0;never ended", "0;never ended"),
            ("\u{1b}P1$r0m\u{1b}\\dcs", "dcs"),
            ("\u{1b}(0box\u{1b}(B", "box"),
            ("\u{1b}creset", "reset"),
            ("\u{9b}31mred", "red"),
            ("\u{9d}0;title\u{9c}text", "text"),
            ("end\u{1b}", "end"),
            ("\u{1b}\u{1b}[31mtwice", "twice"),
            ("\u{1b}[31", "31"),
            ("\u{1b}[31\u{1b}[0mnested", "31nested"),
            ("over\rwritten", "overwritten"),
            ("dos\r\nlines", "dos\nlines"),
            ("bell\u{7} back\u{8} null\0 del\u{7f}", "bell back null del"),
            ("\u{202e}drawkcab\u{202c} \u{2066}isolated\u{2069} \u{200f}mark", "drawkcab isolated mark"),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn s7_every_control_character_is_stripped() {
        for code in (0..0x20).chain(0x7f..0xa0) {
            let next = char::from_u32(code).unwrap();
            let cleaned = clean(&format!("a{next}"));
            assert_eq!(cleaned.contains(next), matches!(next, '\n' | '\t'), "{code:#x}");
        }
    }

    #[test]
    fn json_keeps_its_meaning_and_loses_its_teeth() {
        let text = "\u{1b}[31m \u{9b} \u{202e} \u{7f} é \"quoted\"\n";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert!(json.chars().all(is_harmless), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
