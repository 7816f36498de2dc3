//! Tokens: read from a header, never from a URL, and compared in constant time.

use axum::http::{HeaderMap, header};
use quorum::config::server::Token;
use subtle::ConstantTimeEq;

const API_KEY: &str = "x-api-key";

/// The token sent: a bearer token, or a basic-auth password, which browsers can ask for by
/// themselves.
pub(super) fn presented(headers: &HeaderMap) -> Option<String> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(first), second) = (all.next(), all.next()) else {
        // Anthropic's clients send the key under this name.
        return headers.get(API_KEY)?.to_str().ok().map(|it| it.trim().to_owned());
    };
    let given = first.to_str().ok().filter(|_| second.is_none())?;
    let (scheme, rest) = given.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| decoded(rest.trim())).flatten()?;
    String::from_utf8(decoded).ok()?.split_once(':').map(|(_, password)| password.to_owned())
}

/// The matching token. All are compared, whether or not one has matched.
pub(super) fn known<'t>(tokens: &'t [Token], presented: Option<&str>) -> Option<&'t Token> {
    let presented = presented?.as_bytes();
    let mut found = None;
    for token in tokens {
        if bool::from(token.secret.expose().as_bytes().ct_eq(presented)) {
            found = Some(token);
        }
    }
    found
}

/// Decodes base64, as browsers encode passwords.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
    for byte in text.trim_end_matches('=').bytes() {
        bits = (bits << 6 | u32::from(value(byte)?)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(given).unwrap());
        assert_eq!(presented(&headers).as_deref(), expected);
    }

    #[test]
    fn s2_a_token_comes_as_bearer_or_password() {
        check("Bearer abc", Some("abc"));
        check("bearer  abc ", Some("abc"));
        check("Basic YW5uOjAxMjM0NTY3ODlhYmNkZWY=", Some("0123456789abcdef"));
        check("Basic OmE=", Some("a"));
        check("Basic YW5u", None);
        check("Basic %%%", None);
        check("Digest abc", None);
        check("abc", None);
    }
}
