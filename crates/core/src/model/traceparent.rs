//! The W3C `traceparent` of a caller: which span of which trace has asked for a discussion.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A valid `traceparent`: `00-TRACE-SPAN-FLAGS`, in lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Traceparent {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
}

/// A text that is no `traceparent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not a traceparent: 00-TRACE-SPAN-FLAGS, in lower-case hexadecimal digits")]
pub struct NotATraceparent;

impl Traceparent {
    /// The caller's trace.
    #[must_use]
    pub fn trace(&self) -> [u8; 16] {
        self.trace
    }

    /// The caller's span.
    #[must_use]
    pub fn span(&self) -> [u8; 8] {
        self.span
    }

    /// Whether the caller's trace is sampled, and the other flags.
    #[must_use]
    pub fn flags(&self) -> u8 {
        self.flags
    }
}

impl FromStr for Traceparent {
    type Err = NotATraceparent;

    fn from_str(text: &str) -> Result<Self, NotATraceparent> {
        let mut parts = text.trim().split('-');
        let [version] = bytes(parts.next())?;
        let (trace, span) = (bytes(parts.next())?, bytes(parts.next())?);
        let [flags] = bytes(parts.next())?;
        // A later version may append fields; version 255 is invalid.
        let is_known = version < u8::MAX && (version != 0 || parts.next().is_none());
        let is_set = trace != [0; 16] && span != [0; 8];
        (is_known && is_set).then_some(Traceparent { trace, span, flags }).ok_or(NotATraceparent)
    }
}

fn bytes<const N: usize>(digits: Option<&str>) -> Result<[u8; N], NotATraceparent> {
    let digits = digits.unwrap_or_default().as_bytes();
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotATraceparent),
    };
    if digits.len() != 2 * N {
        return Err(NotATraceparent);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Ok(bytes)
}

impl fmt::Display for Traceparent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (u128::from_be_bytes(self.trace), u64::from_be_bytes(self.span));
        write!(f, "00-{trace:032x}-{span:016x}-{:02x}", self.flags)
    }
}

impl TryFrom<String> for Traceparent {
    type Error = NotATraceparent;

    fn try_from(text: String) -> Result<Self, NotATraceparent> {
        text.parse()
    }
}

impl From<Traceparent> for String {
    fn from(parent: Traceparent) -> String {
        parent.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let read = given.parse::<Traceparent>().ok().map(|it| it.to_string());
        assert_eq!(read.as_deref(), expected, "{given}");
    }

    #[test]
    fn a_traceparent_is_read_as_the_w3c_defines_it() {
        let plain = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        check(plain, Some(plain));
        check(&format!(" {plain} "), Some(plain));
        check("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-comes-later", Some(plain));
        check(&format!("{plain}-more"), None);
        check("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None);
        check("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", None);
        check("00-00000000000000000000000000000000-b7ad6b7169203331-01", None);
        check("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None);
        check("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", None);
        check("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", None);
        check("", None);
        check("00-é", None);
    }
}
