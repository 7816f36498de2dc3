//! Reads a secret from the terminal without echo, and restores the terminal on every exit path.

use std::io::{BufRead, Write, stdin};

use rustix::{
    stdio,
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};

const INTERRUPT: u8 = 0x03;
const END: u8 = 0x04;
const BACKSPACE: u8 = 0x08;
const ERASE_LINE: u8 = 0x15;
const DELETE: u8 = 0x7f;

/// The typed line; `None` after Ctrl-C. Standard input must be a terminal.
pub(crate) fn read_line(prompt: &str, longest: usize) -> std::io::Result<Option<String>> {
    let _hidden = Hidden::begin()?;
    eprint!("{prompt}");
    let typed = read(stdin().lock(), longest)?;
    // The Enter key that ended the line was not echoed either.
    eprintln!();
    std::io::stderr().flush()?;
    Ok(typed.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Reads byte by byte, handling Ctrl-C itself: signals are switched off along with the echo,
/// because one that killed the process would leave the terminal without echo.
fn read(input: impl BufRead, longest: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut typed = Vec::new();
    for byte in input.bytes() {
        match byte? {
            INTERRUPT => return Ok(None),
            b'\n' | b'\r' | END => break,
            BACKSPACE | DELETE => drop(typed.pop()),
            ERASE_LINE => typed.clear(),
            byte if typed.len() < longest => typed.push(byte),
            _ => {}
        }
    }
    Ok(Some(typed))
}

/// A terminal without echo, restored when this is dropped.
struct Hidden(Termios);

impl Hidden {
    fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(stdio::stdin())?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdio::stdin(), OptionalActions::Flush, &modes)?;
        Ok(Hidden(before))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // A closed terminal needs no restoring.
        let _ = tcsetattr(stdio::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_corrected_while_it_is_typed() {
        let check = |typed: &[u8], expected: Option<&str>| {
            let read = read(typed, 8).unwrap();
            assert_eq!(read.as_deref(), expected.map(str::as_bytes), "{typed:?}");
        };
        check(b"sk-1\n", Some("sk-1"));
        check(b"sk-1\rmore", Some("sk-1"));
        check(b"sx\x7fk-12\x08\n", Some("sk-1"));
        check(b"wrong\x15sk-1\n", Some("sk-1"));
        check(b"\x7f\n", Some(""));
        check(b"sk-1\x04", Some("sk-1"));
        check(b"sk-1", Some("sk-1"));
        check(b"sk-1\x03\n", None);
        check(b"123456789\n", Some("12345678"));
    }
}
