//! Makes untrusted text harmless: it must not move the cursor, set the title, reverse the writing
//! direction, or contain invisible text.

use std::fmt::Write;

use quorum_providers::clean::without_sequences;

use super::hidden::{named, placed};

/// The text without control characters, escape sequences and direction marks, and with hidden
/// characters shown as `<U+200B>`.
#[must_use]
pub fn clean(text: &str) -> String {
    let cleaned = without_escapes(text);
    if cleaned.is_ascii() {
        return cleaned;
    }
    let mut shown = String::with_capacity(cleaned.len());
    for it in placed(&cleaned) {
        match it.is_hidden {
            true => shown += &named(it.letter),
            false => shown.push(it.letter),
        }
    }
    shown
}

/// The text without control characters, escape sequences and direction marks, for storing: what a
/// person said, and nothing that a terminal sent along with it.
#[must_use]
pub fn without_escapes(text: &str) -> String {
    let mut cleaned = without_sequences(text);
    cleaned.retain(is_harmless);
    cleaned
}

/// Escapes characters of a JSON text as `\u…` that JSON itself does not escape: controls, direction
/// marks, hidden characters. Such characters occur only in strings.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for it in placed(json) {
        if it.is_hidden || !is_harmless(it.letter) {
            it.letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(escaped, "\\u{unit:04x}");
            });
        } else {
            escaped.push(it.letter);
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

    #[test]
    fn hidden_characters_are_shown_as_such() {
        for (text, expected) in [
            ("pay\u{200b}pal", "pay<U+200B>pal"),
            ("a\u{200c}b\u{200d}c", "a<U+200C>b<U+200D>c"),
            ("\u{feff}begin\u{2060}ning", "<U+FEFF>begin<U+2060>ning"),
            ("one\u{2028}two\u{2029}three", "one<U+2028>two<U+2029>three"),
            ("hi\u{e0068}\u{e0069}\u{e007f}", "hi<U+E0068><U+E0069><U+E007F>"),
            // A flag that belongs to no country, and bytes hidden behind an emoji.
            ("\u{1f3f4}\u{e0068}\u{e0069}\u{e007f}", "\u{1f3f4}<U+E0068><U+E0069><U+E007F>"),
            ("🙂\u{fe0f}\u{fe00}\u{e0101}", "🙂\u{fe0f}<U+FE00><U+E0101>"),
            ("a\u{e0101} \u{fe0f}", "a<U+E0101> <U+FE0F>"),
            ("👩\u{200d}x \u{200d}👩", "👩<U+200D>x <U+200D>👩"),
            ("می\u{200c}\u{200c}خواهم", "می\u{200c}<U+200C>خواهم"),
            (
                "\u{3164}\u{115f}\u{34f}\u{fff9}\u{180e}\u{2064}",
                "<U+3164><U+115F><U+034F><U+FFF9><U+180E><U+2064>",
            ),
        ] {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }

    #[test]
    fn characters_that_scripts_and_emoji_need_stay() {
        for text in [
            "می\u{200c}خواهم",
            "क्\u{200d}ष श्री\u{200c}मान്",
            "ശില്\u{200d} ",
            "👩\u{200d}💻 👨\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}\u{200d}🔥 🧑🏽\u{200d}⚕\u{fe0f}",
            "1\u{fe0f}\u{20e3} ☎\u{fe0e} 葛\u{e0100}城",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} won",
            "weiches Trenn\u{ad}zeichen, geschützter\u{a0}Abstand",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn json_keeps_hidden_characters_and_shows_them() {
        let text = "pay\u{200b}pal \u{2028} \u{e0068} 👩\u{200d}💻";
        let json = escaped(&serde_json::to_string(text).unwrap());
        assert_eq!(json, "\"pay\\u200bpal \\u2028 \\udb40\\udc68 👩\u{200d}💻\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
