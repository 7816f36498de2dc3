//! Turns labels in a reply back into names, while it arrives.

use super::{
    Mask,
    citation::{Found, citation_at},
    words::{is_joined, replaced},
};

/// Stands in place of a seat's own nonce in its reply.
const REMOVED: &str = "…";

/// A shorter nonce would be found in ordinary text.
const SHORTEST_NONCE: usize = 8;

/// A reply that arrives: the text for others so far.
#[derive(Debug, Default)]
pub(crate) struct Revealed {
    shown: String,
    /// How much of the reply is decided.
    taken: usize,
    /// The last character that was decided.
    last: Option<char>,
}

impl Revealed {
    /// Takes the reply so far, and returns the new text: with names in place of labels, and without
    /// this nonce. What may be the beginning of a label waits for the rest.
    pub(crate) fn push(&mut self, mask: &Mask, nonce: &str, reply: &str, is_complete: bool) -> &str {
        let from = self.shown.len();
        while let Some(rest) = reply.get(self.taken..).filter(|it| !it.is_empty()) {
            let (plain, rest) = rest.split_at(plain_length(rest, nonce));
            self.push_plain(plain);
            let Some(letter) = rest.chars().next() else { break };
            let place = Place { nonce, last: self.last, is_complete };
            match mask.found_at(rest, place) {
                Found::Unfinished if !is_complete => break,
                Found::Replace(length, becomes) => {
                    self.shown.push_str(&becomes);
                    self.taken += length;
                    self.last = becomes.chars().last();
                }
                Found::Unfinished | Found::Nothing => {
                    self.shown.push(letter);
                    self.taken += letter.len_utf8();
                    self.last = Some(letter);
                }
            }
        }
        &self.shown[from..]
    }

    fn push_plain(&mut self, text: &str) {
        self.shown.push_str(text);
        self.taken += text.len();
        self.last = text.chars().next_back().or(self.last);
    }

    /// The text for others so far.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

impl Mask {
    /// The text with names in place of labels: `@KX` becomes `@ann`, and `[KX:2]` becomes
    /// `[ann:2]`. A bare `KX` stays.
    #[must_use]
    pub fn reveal(&self, text: &str) -> String {
        let words = replaced(text, &self.worded, |_, _, _| false);
        self.received(&words, "")
    }

    /// The reply for others: with names in place of labels, and without this nonce.
    pub(crate) fn received(&self, reply: &str, nonce: &str) -> String {
        let mut revealed = Revealed::default();
        revealed.push(self, nonce, reply, true);
        revealed.shown
    }

    /// The same for data: a value that is a label alone, however it is spelled, becomes the name
    /// alone.
    pub(crate) fn received_data(&self, reply: &str, nonce: &str) -> String {
        let mut out = String::with_capacity(reply.len());
        let mut rest = reply;
        while let Some((before, after)) = rest.split_once('"') {
            out.push_str(before);
            let value = after.split_once('"').and_then(|(value, after)| Some((self.value(value)?, after)));
            match value {
                Some((name, after)) => {
                    out.push_str(&serde_json::Value::from(name).to_string());
                    rest = after;
                }
                None => {
                    out.push('"');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        self.received(&out, nonce)
    }

    /// The name behind a value: `@KX`, `kx`, `Speaker KX`.
    fn value(&self, value: &str) -> Option<&str> {
        let value = value.trim();
        let last = value.rsplit_once(' ').filter(|(title, _)| is_title(title)).map_or(value, |it| it.1);
        let code = last.strip_prefix('@').unwrap_or(last);
        let code = self.codes.iter().find(|it| it.text().eq_ignore_ascii_case(code))?;
        Some(&code.becomes)
    }

    /// The label to replace at the start of this text, after this character.
    fn found_at(&self, text: &str, place: Place<'_>) -> Found {
        let Some(letter) = text.chars().next() else { return Found::Nothing };
        match letter {
            '@' | '＠' if !self.codes.is_empty() && place.last.is_none_or(|it| !is_joined(it, 'x')) => {
                self.label_at(&text[letter.len_utf8()..], letter.len_utf8(), place.is_complete)
            }
            '[' | '［' | '【' if !self.codes.is_empty() => citation_at(text, &self.codes),
            _ => nonce_at(text, place),
        }
    }

    /// The label at the start of this text, which follows an `@` of this many bytes.
    fn label_at(&self, text: &str, sign: usize, is_complete: bool) -> Found {
        let longest = self.codes.iter().map(|it| it.text().len() + 1).max().unwrap_or_default();
        if !is_complete && text.len() <= longest {
            let begun = text.to_lowercase();
            let may_follow = |code: &str| code.starts_with(&begun) || format!("{code}s") == begun;
            if self.codes.iter().any(|it| may_follow(&it.text())) {
                return Found::Unfinished;
            }
        }
        let whole = self.codes.iter().find_map(|it| Some((it.length_inflected(text)?, it)));
        whole.map_or(Found::Nothing, |(length, it)| Found::Replace(sign + length, format!("@{}", it.becomes)))
    }
}

/// How many bytes at the start of this text begin neither a label nor a citation nor this nonce.
/// Most of a reply is such text, and every piece of every reply is looked at.
fn plain_length(text: &str, nonce: &str) -> usize {
    // The last two begin the wide forms of `@` and `[`.
    let begins = |byte: u8| match byte {
        b'@' | b'[' | 0xe3 | 0xef => true,
        _ => nonce.as_bytes().first().is_some_and(|it| it.eq_ignore_ascii_case(&byte)),
    };
    text.bytes().position(begins).unwrap_or(text.len())
}

/// Where in a reply something is looked for.
#[derive(Clone, Copy)]
struct Place<'n> {
    nonce: &'n str,
    /// The character before.
    last: Option<char>,
    /// Whether nothing more will come.
    is_complete: bool,
}

fn nonce_at(text: &str, Place { nonce, is_complete, .. }: Place<'_>) -> Found {
    let length = text.len().min(nonce.len());
    let begins = text.as_bytes()[..length].eq_ignore_ascii_case(&nonce.as_bytes()[..length]);
    match begins {
        _ if nonce.len() < SHORTEST_NONCE => Found::Nothing,
        true if length == nonce.len() => Found::Replace(length, REMOVED.to_owned()),
        true if !is_complete => Found::Unfinished,
        _ => Found::Nothing,
    }
}

/// Whether a participant may be called this in front of its label.
fn is_title(word: &str) -> bool {
    let titles = ["participant", "speaker", "seat", "guest", "label"];
    titles.iter().any(|it| it.eq_ignore_ascii_case(word.trim()))
}
