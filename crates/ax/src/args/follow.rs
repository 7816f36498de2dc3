//! Arguments of `ax follow`.

use clap::Args;
use quorum::model::id::DiscussionId;

use crate::args::Discuss;

/// The newest discussion.
const LAST: &str = "last";

#[derive(Debug, Args)]
pub(crate) struct Follow {
    #[command(flatten)]
    pub(super) discuss: Discuss,
    /// The next question; `-` reads it from standard input
    #[arg(value_name = "QUESTION")]
    question: Option<String>,
}

impl Follow {
    /// The same as a discussion that follows another. A single text is the question, unless it is
    /// what the other one is called: then the question is missing.
    pub(crate) fn into_discuss(self) -> Discuss {
        let Follow { mut discuss, question } = self;
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

/// Whether this is a whole id or the newest discussion, and no question.
fn names_a_discussion(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case(LAST) || text.trim().parse::<DiscussionId>().is_ok()
}
