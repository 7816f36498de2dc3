//! Arguments of `ax follow`.

use clap::Args;

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
    /// The same as a discussion that follows another. A single text is the question.
    pub(crate) fn into_discuss(self) -> Discuss {
        let Follow { mut discuss, question } = self;
        let (source, topic) = match question {
            Some(question) => (discuss.topic.take(), Some(question)),
            None => (None, discuss.topic.take()),
        };
        discuss.topic = topic;
        discuss.past.follows = Some(source.unwrap_or_else(|| LAST.to_owned()));
        discuss
    }
}
