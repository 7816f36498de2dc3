//! Text that would drive the terminal.

use super::{Play, text};

#[test]
fn s7_hostile_text_is_harmless_on_the_screen() {
    let mut play = Play::of("round-robin", &[("ann", "speaker"), ("b\u{1b}[2Job\u{202e}", "speaker")]);
    let hostile = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31mred\u{202e}\r\n\u{1b}[?1049h";
    play.round(1, "speaking").asks("1/speaking/ann", 1).streams("1/speaking/ann", 1, hostile);
    play.screen.focus = Some(0);
    let shown = play.screen(80, 20);
    play.says("1/speaking/ann", hostile).drops("1/speaking/ann", hostile);
    for text in [shown, play.screen(80, 20), text(&play.above)] {
        assert!(
            text.chars()
                .all(|it| it == '\n' || !(it.is_control() || ('\u{202a}'..='\u{202e}').contains(&it))),
            "{text:?}"
        );
    }
}
