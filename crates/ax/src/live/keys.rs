//! The keys that work while a discussion runs.

/// A key with a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Pause, or resume.
    Pause,
    /// Ask no further participant, and conclude.
    Stop,
    /// Leave the discussion as it is.
    Quit,
    /// Show everything this seat says. Seats count from 0.
    Follow(usize),
    /// Show all participants alike again.
    All,
    /// Show or hide the list of keys.
    Help,
}

/// The most keys that a person types between two frames.
const MOST_PRESSED: usize = 4;

/// The keys in the typed bytes. Arrows and other escape sequences are skipped.
pub(super) fn read(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let [first, rest @ ..] = bytes {
        bytes = if *first == 0x1b { after_sequence(rest) } else { rest };
        keys.extend(key(*first));
    }
    keys
}

/// Whether these bytes were pasted: more keys than a person presses between two frames. An answer
/// pasted a moment before it is asked for must not stop the discussion.
pub(super) fn is_pasted(mut bytes: &[u8]) -> bool {
    let mut pressed = 0;
    while let [first, rest @ ..] = bytes {
        bytes = if *first == 0x1b { after_sequence(rest) } else { rest };
        pressed += 1;
    }
    MOST_PRESSED < pressed
}

fn key(byte: u8) -> Option<Key> {
    match byte {
        b'p' | b'P' | b' ' => Some(Key::Pause),
        b's' | b'S' => Some(Key::Stop),
        b'q' | b'Q' => Some(Key::Quit),
        b'1'..=b'9' => Some(Key::Follow(usize::from(byte - b'1'))),
        b'0' | b'\t' => Some(Key::All),
        b'?' | b'h' => Some(Key::Help),
        _ => None,
    }
}

/// The bytes after an escape sequence such as `[1;5A` or `OP`.
fn after_sequence(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|it| (b'@'..=b'~').contains(it)).map_or(rest.len(), |at| at + 1);
            &rest[end..]
        }
        [b'O', _, rest @ ..] => rest,
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_arrows_passed_over() {
        let arrows = b"\x1b[A\x1bOPs\x1b[1;5Dq\x1b[3~";
        for (typed, expected) in [
            (&b""[..], &[][..]),
            (b"p?", &[Key::Pause, Key::Help]),
            (b"19x0\t", &[Key::Follow(0), Key::Follow(8), Key::All, Key::All]),
            (arrows, &[Key::Stop, Key::Quit]),
            (b"\x1b", &[]),
            (b"\x1b[", &[]),
            ("p\u{fc}".as_bytes(), &[Key::Pause]),
        ] {
            assert_eq!(read(typed), expected, "{typed:?}");
        }
    }

    #[test]
    fn pasted_text_is_not_read_as_keys() {
        for (typed, pasted) in
            [(&b""[..], false), (b"pps?", false), (b"\x1b[A\x1b[A\x1b[B\x1b[B", false), (b"stop it", true)]
        {
            assert_eq!(is_pasted(typed), pasted, "{typed:?}");
        }
    }
}
