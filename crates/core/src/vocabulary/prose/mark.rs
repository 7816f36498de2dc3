//! The mark between prose and structure, in all its spellings.

/// A mark with its spellings: models that write Markdown put backslashes before brackets and
/// underscores.
#[derive(Debug)]
pub(super) struct Mark {
    spellings: [String; 4],
}

impl Mark {
    pub(super) fn new(mark: &str) -> Self {
        let brackets = |text: &str| text.replace('[', "\\[").replace(']', "\\]");
        let underscores = |text: &str| text.replace('_', "\\_");
        let spellings = [mark.to_owned(), brackets(mark), underscores(mark), brackets(&underscores(mark))];
        Mark { spellings }
    }

    /// The bytes of the longest spelling.
    pub(super) fn longest(&self) -> usize {
        self.spellings.iter().map(String::len).max().unwrap_or_default()
    }

    /// Where the first mark in this text begins.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        self.spellings.iter().filter_map(|it| text.find(it)).min()
    }

    /// Whether the text begins with the mark.
    pub(super) fn begins(&self, text: &str) -> bool {
        self.spellings.iter().any(|it| text.starts_with(it))
    }

    /// Whether the text is the beginning of a mark.
    pub(super) fn may_begin(&self, text: &str) -> bool {
        self.spellings.iter().any(|it| it.starts_with(text))
    }

    /// The length of the longest beginning of a mark at the end of this text.
    pub(super) fn held_back(&self, text: &str) -> usize {
        let held = |mark: &String| {
            let longest = mark.len().min(text.len());
            (1..=longest).rev().find(|length| text.ends_with(&mark[..*length]))
        };
        self.spellings.iter().filter_map(held).max().unwrap_or_default()
    }
}
