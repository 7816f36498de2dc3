//! Sub-discussion requests by models without tools: one line at the very end of the answer, fenced
//! with a per-call nonce so that no one else could have written it beforehand.

use quorum_core::call::{Call, Message};

/// The longest request in bytes. A longer line is passed through as text.
const MAX_REQUEST: usize = 4 << 10;

/// The instructions about the fence, if the call allows a sub-discussion.
#[must_use]
pub(crate) fn offer(call: &Call) -> Option<String> {
    let (open, close) = fence(&call.nonce);
    call.may_convene.then(|| {
        format!(
            "You may ask the others to discuss one narrower question first, only where your answer depends on it and talk can \
             settle it. It costs calls and time. Then end your answer with this line and nothing after it:\n\
             {open}the question, complete in itself{close}\nYou will be given what they found, and asked again."
        )
    })
}

/// The call with this text before its task. The system text stays the same for all requests to a
/// seat, and the last line of the task, with the length and the language, is still the last.
pub(crate) fn before_task(call: &Call, text: &str) -> Call {
    let mut messages = call.messages.clone();
    let task = messages.iter_mut().rev().find_map(|it| match it {
        Message::Ask(task) => Some(task),
        Message::Said { .. } | Message::Found { .. } => None,
    });
    match task {
        Some(task) => *task = format!("{text}\n\n{task}").into(),
        None => messages.push(Message::Ask(text.into())),
    }
    Call { messages, ..call.clone() }
}

fn fence(nonce: &str) -> (String, String) {
    (format!("<discuss-{nonce}>"), format!("</discuss-{nonce}>"))
}

/// Passes a streamed answer through, except for a request at its end. Only text that may be the
/// beginning of a request is held back.
#[derive(Debug)]
pub(crate) struct Filter {
    open: String,
    close: String,
    held: String,
    at_line_start: bool,
}

impl Filter {
    /// A filter for the answer to this call; `None` if the call allows no sub-discussion.
    #[must_use]
    pub(crate) fn of(call: &Call) -> Option<Self> {
        let (open, close) = fence(&call.nonce);
        call.may_convene.then(|| Filter { open, close, held: String::new(), at_line_start: true })
    }

    /// Adds a piece and returns the text that can no longer be part of a request.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let starts = self.held.match_indices('\n').map(|(at, _)| at + 1);
        let first = self.at_line_start.then_some(0);
        let request = first.into_iter().chain(starts).find(|at| self.may_be_request(&self.held[*at..]));
        let kept = self.held.split_off(request.unwrap_or(self.held.len()));
        let released = std::mem::replace(&mut self.held, kept);
        if let Some(last) = released.chars().last() {
            self.at_line_start = last == '\n';
        }
        released
    }

    /// Ends the answer. Returns the remaining text, and the topic of the requested sub-discussion
    /// if there is one.
    #[must_use]
    pub(crate) fn end(self) -> (String, Option<String>) {
        match self.topic() {
            Some(topic) => (String::new(), Some(topic)),
            None => (self.held, None),
        }
    }

    fn may_be_request(&self, line: &str) -> bool {
        let Some(inside) = line.strip_prefix(self.open.as_str()) else {
            return !line.is_empty() && self.open.starts_with(line);
        };
        let is_one_line = match inside.split_once(self.close.as_str()) {
            Some((topic, after)) => is_question(topic) && after.trim().is_empty(),
            None => !inside.contains('\n'),
        };
        is_one_line && line.len() <= MAX_REQUEST
    }

    fn topic(&self) -> Option<String> {
        let (topic, after) = self.held.strip_prefix(self.open.as_str())?.split_once(self.close.as_str())?;
        (is_question(topic) && after.trim().is_empty()).then(|| topic.trim().to_owned())
    }
}

fn is_question(topic: &str) -> bool {
    !topic.trim().is_empty() && !topic.contains('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> Filter {
        let (open, close) = fence("7f");
        Filter { open, close, held: String::new(), at_line_start: true }
    }

    /// The text passed through and the topic, with the answer cut into pieces of this many
    /// characters.
    fn filtered(answer: &str, each: usize) -> (String, Option<String>) {
        let mut filter = filter();
        let letters: Vec<char> = answer.chars().collect();
        let mut text: String =
            letters.chunks(each).map(|piece| filter.feed(&piece.iter().collect::<String>())).collect();
        let (rest, topic) = filter.end();
        text.push_str(&rest);
        (text, topic)
    }

    #[test]
    fn e01_a_request_counts_only_as_the_last_line_in_its_exact_form() {
        let check = |answer: &str, text: &str, topic: Option<&str>| {
            for each in [1, 2, 7, 1_000] {
                assert_eq!(filtered(answer, each), (text.to_owned(), topic.map(str::to_owned)), "{answer:?}");
            }
        };
        let unchanged = |answer: &str| check(answer, answer, None);
        check("Hm.\n<discuss-7f>Which store?</discuss-7f>", "Hm.\n", Some("Which store?"));
        check("Hm.\n<discuss-7f> Which – 1 < 2? </discuss-7f>\n \n", "Hm.\n", Some("Which – 1 < 2?"));
        check("<discuss-7f>Which?</discuss-7f>", "", Some("Which?"));
        check(
            "<discuss-7f>One?</discuss-7f>\n<discuss-7f>Two?</discuss-7f>",
            "<discuss-7f>One?</discuss-7f>\n",
            Some("Two?"),
        );
        unchanged("");
        unchanged("a < b\n<disc\n<");
        unchanged("Hm. <discuss-7f>Which?</discuss-7f>");
        unchanged("Hm.\n <discuss-7f>Which?</discuss-7f>");
        unchanged("<discuss-7f>Which?</discuss-7f>\nAnd so on.");
        unchanged("<discuss-7f>Two\nlines?</discuss-7f>");
        unchanged("<discuss-7f>  </discuss-7f>");
        unchanged("<discuss-7f>Which?</discuss-80>");
        unchanged("<discuss-80>Which?</discuss-80>");
        unchanged("<discuss-7f>never closed");
    }

    #[test]
    fn only_what_may_begin_a_request_is_held_back() {
        let mut filter = filter();
        let check =
            |filter: &mut Filter, piece: &str, expected: &str| assert_eq!(filter.feed(piece), expected);
        check(&mut filter, "One < two\n", "One < two\n");
        check(&mut filter, "<dis", "");
        check(&mut filter, "tant>\n<discuss-7f>W", "<distant>\n");
        let endless = "x".repeat(MAX_REQUEST);
        check(&mut filter, &endless, &format!("<discuss-7f>W{endless}"));
        assert_eq!(filter.end(), (String::new(), None));
    }
}
