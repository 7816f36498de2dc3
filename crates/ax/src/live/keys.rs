//! What the keys mean while a discussion runs.

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// Hold, or go on.
    Pause,
    /// Ask nobody else, and conclude.
    Stop,
    /// Leave the discussion as it is.
    Quit,
    /// Show all that this seat says, from 0.
    Follow(usize),
    /// Show everyone alike again.
    All,
    /// Show or hide what the keys are.
    Help,
}

/// The keys in what was typed. Arrows and the like are several bytes and mean nothing.
pub(super) fn read(mut bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let [first, rest @ ..] = bytes {
        bytes = if *first == 0x1b { after_sequence(rest) } else { rest };
        keys.extend(key(*first));
    }
    keys
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

/// After `[1;5A` or `OP`.
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
}
