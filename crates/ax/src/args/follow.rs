//! Arguments of `ax follow`.

use clap::Args;
use quorum::model::id::DiscussionId;

use crate::args::Discuss;

/// The newest discussion.
const LAST: &str = "last";

/// A text with fewer characters is not taken for the beginning of an id.
const SHORTEST_ID: usize = 6;

#[derive(Debug, Args)]
pub(crate) struct Follow {
    #[command(flatten)]
    pub(super) discuss: Discuss,
    /// The next question; `-` reads it from standard input
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
}

impl Follow {
    /// Converts these arguments to those of a discussion that follows another. A single text is the
    /// question, unless it names a discussion: then the question is missing.
    pub(crate) fn into_discuss(self) -> Discuss {
        let Follow { mut discuss, question } = self;
        discuss.is_follow = true;
        let (source, topic) = match (discuss.topic.take(), question) {
            (source, Some(question)) => (source, Some(question)),
            (Some(source), None) if names_a_discussion(&source) => (Some(source), None),
            (topic, None) => (None, topic),
        };
        discuss.topic = topic;
        discuss.past.follows = Some(source.unwrap_or_else(|| LAST.to_owned()));
        discuss
    }
}

/// Whether the text is the name of a discussion and not a question: an id, the beginning of one,
/// `last` or `last~1`.
fn names_a_discussion(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    let is_id = || text.parse::<DiscussionId>().is_ok();
    back_from_last(&text) || begins_an_id(&text) || is_id()
}

fn back_from_last(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(LAST) else { return false };
    let is_number = |digits: &str| digits.bytes().all(|it| it.is_ascii_digit());
    rest.is_empty() || rest.strip_prefix('~').is_some_and(is_number)
}

/// Whether this may be the beginning of an id. It needs a digit, so words such as `decade` don't
/// count.
fn begins_an_id(text: &str) -> bool {
    let is_of_id = |it: char| it.is_ascii_hexdigit() || it == '-';
    SHORTEST_ID <= text.len() && text.chars().all(is_of_id) && text.contains(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_names_a_discussion_is_no_question() {
        for name in ["last", "LAST ", "last~1", "last~12", "0198a1", "0198A1E7-1", "01890000-0000-7000"] {
            assert!(names_a_discussion(name), "{name}");
        }
        for question in
            ["lasting?", "last~x", "last one?", "decade", "0198a", "0198a1 why", "-----", "", "Why?"]
        {
            assert!(!names_a_discussion(question), "{question}");
        }
    }
}
