//! The ready-made orders of our patterns. The order in words names the pattern and says what else
//! to hand over; which tool takes it is up to the client.

use quorum_core::vocabulary::starter::{Blank, Starter};

/// Two sides argue about a statement.
pub(crate) const DEBATE: Starter = Starter {
    name: "debate",
    summary: "Have models argue for and against a statement before a judge",
    blanks: &[Blank { name: "proposition", summary: "The statement to argue about" }],
    words: "Hold a discussion with the pattern debate on this proposition:\n\n{proposition}\n\n\
            Then tell me the verdict, the strongest argument of each side, and what was left unanswered.",
};

/// A text is criticised and rewritten.
pub(crate) const CRITIQUE: Starter = Starter {
    name: "critique",
    summary: "Have models criticise a draft and improve it",
    blanks: &[Blank { name: "draft", summary: "The text to be criticised" }],
    words: "Hold a discussion with the pattern critique. Its topic is to improve the draft below; hand \
            over the draft itself as context.\n\n{draft}\n\nThen show me the improved text and the \
            objections that remain.",
};

/// A vote on options.
pub(crate) const DECIDE: Starter = Starter {
    name: "decide",
    summary: "Have models vote on the options of a decision",
    blanks: &[
        Blank { name: "question", summary: "The question to be decided" },
        Blank { name: "options", summary: "The options, separated by commas" },
    ],
    words: "Hold a discussion with the pattern voting on this question:\n\n{question}\n\nThe voting \
            options are: {options}\n\nThen tell me how the vote went, the reasons for the winner, and \
            who disagreed and why.",
};

/// Blind answers to a question with options, as many as are needed.
pub(crate) const SETTLE: Starter = Starter {
    name: "settle",
    summary: "Have models answer a question with options blind, as many as are needed",
    blanks: &[
        Blank { name: "question", summary: "The question to be decided" },
        Blank { name: "options", summary: "The options, separated by commas" },
    ],
    words: "Hold a discussion with the pattern settle on this question:\n\n{question}\n\nThe voting \
            options are: {options}\n\nThen tell me the answer, how many were asked and why no more, and \
            who disagreed and why.",
};
