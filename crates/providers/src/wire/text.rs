//! Text helpers of the wires: parse a frame's JSON, put a model's name into a path.

use quorum_core::model::error::{ErrorClass, ProviderError};
use serde::Deserialize;

/// Parses a frame's data; borrows from it where possible.
pub(super) fn read<'d, T: Deserialize<'d>>(data: &'d str) -> Result<T, ProviderError> {
    serde_json::from_str(data).map_err(|error| {
        let message = format!("a frame of the answer could not be read: {error}");
        ProviderError::new(ErrorClass::InvalidResponse, message)
    })
}

/// A model's name as a part of a path. Slashes are kept; characters that would end or change a path
/// are percent-encoded.
pub(super) fn in_path(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b'@' => {
                path.push(char::from(byte));
            }
            _ => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_change_a_path() {
        let check = |name: &str, expected: &str| assert_eq!(in_path(name), expected);
        check("claude-opus-5-5", "claude-opus-5-5");
        check("tunedModels/mine_2.1", "tunedModels/mine_2.1");
        check("a?b#c d:e", "a%3Fb%23c%20d%3Ae");
        check("ä", "%C3%A4");
    }
}
