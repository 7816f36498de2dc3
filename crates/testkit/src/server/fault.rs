//! Faults of an answer: changed content, or another response instead. Faults of the transport are
//! in `stage.rs`.

use super::{
    answer::{Said, pieces},
    speak::{Answer, Refusal, Speech, Why},
};

/// A fault of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It hangs there, with the connection open.
    Hang(Place),
    /// The body comes byte by byte, this many milliseconds apart.
    Trickle(u64),
    /// Every byte comes in its own packet, so that characters are split.
    Bytewise,
    /// It is cut in the middle.
    Cut(At, Break),
    /// The stream contains noise.
    Noise(Noise),
    /// This status with the vendor's error body: 500, 503, 529.
    Status(u16),
    /// Status 429 with how long to wait.
    RateLimited(RetryAfter),
    /// The vendor's error for a request that is too long for the model.
    TooLong,
    /// The key is rejected, and the error quotes it in full.
    EchoesKey,
    /// A login page with status 200.
    Html,
    /// The vendor's error with status 200 and no stream.
    ErrorBody,
    /// The vendor's error in the middle of the stream, which it ends.
    ErrorEvent,
    /// A redirect with this status and target.
    Redirect(u16, String),
    /// A compressed body that decompresses to this many bytes.
    Gzip(u64),
    /// This many bytes of text in well-formed frames, then a regular end.
    Endless(u64),
    /// This many bytes in one line.
    OneLine(u64),
    /// This many pieces of one character each.
    Tiny(u64),
    /// Hostile text in every field: see [`Fault::HOSTILE`].
    Hostile,
    /// It comes late: `first_ms` to the first piece, `chunk_ms` between the others.
    Slow {
        /// Milliseconds to the first piece.
        first_ms: u64,
        /// Milliseconds between the others.
        chunk_ms: u64,
    },
}

/// Where an answer hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the response.
    Head,
    /// After the head.
    FirstChunk,
    /// In the middle of the text.
    Between,
    /// After the end marker, but before the end of the body.
    End,
}

/// Where an answer is cut. Bytes are counted in the body, before any transfer encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// After this many bytes, at most at the end.
    Byte(usize),
    /// At a pseudo-random position, from this seed and the request's number.
    Anywhere(u64),
    /// Just before the last frame, which is the vendor's end marker.
    EndMarker,
}

/// How an answer is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The connection is reset.
    Reset,
    /// The connection is closed before the end of the body.
    Fin,
    /// The body ends early, but correctly in terms of HTTP.
    Clean,
}

/// Noise in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// A frame in the middle that is not JSON.
    BrokenFrame,
    /// Events of unknown kinds between all others.
    UnknownEvents,
    /// Lines end with CR and LF.
    CrLf,
    /// Lines end with CR.
    Cr,
    /// The stream begins with a byte order mark.
    ByteOrderMark,
    /// NULs between the frames.
    Nul,
    /// Comments between the frames, as gateways send them.
    Comments,
    /// Empty lines, ids, retry hints and pings between the frames.
    KeepAlives,
    /// No space after the colon.
    NoSpace,
}

/// How a 429 reports how long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// Not at all.
    Unsaid,
    /// `retry-after: 7`.
    Seconds(u64),
    /// `retry-after` with a date this many seconds ahead.
    Date(u64),
    /// `retry-after-ms: 300`.
    Millis(u64),
    /// In the body, in the vendor's format.
    Body(u64),
}

/// A placeholder for bytes that are not UTF-8.
pub(super) const NO_TEXT: char = '\u{e000}';
/// A placeholder for an escaped lone surrogate.
pub(super) const LONE_SURROGATE: char = '\u{e001}';

impl Fault {
    /// The text in every field of a hostile answer, as a reader sees it that replaces invalid
    /// bytes: bytes that are not UTF-8, a lone surrogate, right-to-left and zero-width characters,
    /// NUL, escape sequences, markup.
    pub const HOSTILE: &str =
        "\u{fffd}\u{fffd}\u{202e}evil\u{202c}\u{200b}\u{200d}\u{feff}\0\u{1b}[31m</script>\u{fffd}";

    /// One GiB, for the faults that have a size.
    pub const GIB: u64 = 1 << 30;

    /// Applies a fault of the content.
    pub(super) fn change_content(&self, said: &mut Said) {
        match self {
            Fault::Hostile => {
                let hostile = Fault::HOSTILE.trim_matches('\u{fffd}');
                let hostile = format!("{NO_TEXT}{hostile}{LONE_SURROGATE}");
                for field in [&mut said.id, &mut said.model, &mut said.thoughts] {
                    field.push_str(&hostile);
                }
                said.pieces.push(hostile.clone());
                if let Some(tool) = &mut said.tool {
                    tool.arguments = serde_json::json!({ "topic": hostile }).to_string();
                }
            }
            // The last one stays as it is, since one vendor's end marker is part of it.
            Fault::Endless(_) => {
                said.pieces = vec!["All work and no play. ".repeat(186), "The end.".to_owned()];
            }
            Fault::Tiny(_) => said.pieces = vec!["x".to_owned(), "y".to_owned()],
            Fault::Slow { .. } => said.pieces = pieces(&said.text(), None),
            _ => {}
        }
    }

    /// The response sent instead, for faults that replace the answer.
    pub(super) fn instead(&self, speech: &Speech, key: Option<&str>) -> Option<Answer> {
        let refused = |why: Why| Some(Answer::refused(speech, &Refusal::of(why)));
        match self {
            Fault::Status(status) => refused(Why::Status(*status)),
            Fault::TooLong => refused(Why::TooLong),
            Fault::RateLimited(RetryAfter::Body(ms)) => {
                let refusal = Refusal { retry_in_ms: Some(*ms), ..Refusal::of(Why::RateLimited) };
                Some(Answer::refused(speech, &refusal))
            }
            Fault::RateLimited(after) => {
                let answer = Answer::refused(speech, &Refusal::of(Why::RateLimited));
                Some(answer.with(after.header()))
            }
            Fault::EchoesKey => {
                let message = format!("the key {} is not known here", key.unwrap_or("(none)"));
                let refusal = Refusal { message, ..Refusal::of(Why::EchoedKey) };
                Some(Answer::refused(speech, &refusal))
            }
            Fault::Html => Some(Answer::whole(200, "text/html; charset=utf-8", LOGIN_PAGE.to_owned())),
            Fault::ErrorBody => refused(Why::Status(500)).map(|answer| Answer { status: 200, ..answer }),
            Fault::Redirect(status, to) => {
                let answer = Answer::whole(*status, "text/plain", "elsewhere".to_owned());
                Some(answer.with(Some(("location", to.clone()))))
            }
            _ => None,
        }
    }
}

const LOGIN_PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form action=\"/login\">\
     <input name=\"user\"><input name=\"password\" type=\"password\"></form></body></html>\n";

impl RetryAfter {
    fn header(self) -> Option<(&'static str, String)> {
        match self {
            RetryAfter::Unsaid | RetryAfter::Body(_) => None,
            RetryAfter::Seconds(seconds) => Some(("retry-after", seconds.to_string())),
            RetryAfter::Date(ahead) => Some(("retry-after", http_date(now() + ahead))),
            RetryAfter::Millis(ms) => Some(("retry-after-ms", ms.to_string())),
        }
    }
}

fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A date in HTTP's format: `Sun, 15 Nov 2026 12:00:30 GMT`.
fn http_date(seconds: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let is_leap =
        |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let (mut year, mut day) = (1970, days);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[month]);
    format!("{weekday}, {:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f5_dates_are_written_as_http_wants_them() {
        let check = |seconds, expected: &str| assert_eq!(http_date(seconds), expected);
        check(0, "Thu, 01 Jan 1970 00:00:00 GMT");
        check(951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT");
        check(1_794_744_030, "Sun, 15 Nov 2026 12:00:30 GMT");
    }
}
