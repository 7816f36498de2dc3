//! Recall: what participants are shown of past discussions, only if the user asks for it.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{id::DiscussionId, time::Timestamp};

/// The discussions to recall.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    /// At most this many discussions; the archive is searched for those that are not named. `None`
    /// searches for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// Discussions by id, or `last`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    /// Searches this session only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Uuid>,
}

/// A past discussion as it is shown to participants: a copy, made before the discussion began. It
/// is part of the record, so nothing is looked up again when the discussion is resumed, replayed or
/// forked (INV-DISC-630).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recalled {
    /// The past discussion.
    pub id: DiscussionId,
    /// The key it shares with discussions of the same topic.
    pub key: String,
    /// Its topic.
    pub topic: String,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Its relevance as a share of the best match; absent if it was named or is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The text that is shown: question, agreement, answer, dissent and open points.
    pub text: String,
    /// Whether that is only the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How many tokens the text has by the largest estimate of the panel.
    pub tokens: u64,
    /// Why it is shown.
    #[serde(default, skip_serializing_if = "Why::is_recalled")]
    pub why: Why,
}

/// The letters of the numbers under which past discussions are shown.
const FOLLOWED: char = 'F';
const RECALLED: char = 'R';

/// The past discussions with the numbers under which they are shown: `F1` for those that are
/// followed, `R1` for those that were recalled.
pub fn numbered(shown: &[Recalled]) -> impl Iterator<Item = (String, &Recalled)> {
    let (mut followed, mut recalled) = (0, 0);
    shown.iter().map(move |it| {
        let (letter, count) = match it.why {
            Why::Followed => (FOLLOWED, &mut followed),
            Why::Recalled => (RECALLED, &mut recalled),
        };
        *count += 1;
        (format!("{letter}{count}"), it)
    })
}

/// Whether a text is the number of a past discussion: `F1`, `R12`.
pub(crate) fn is_number(text: &str) -> bool {
    after_letter(text).is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

/// What follows the letter at the start of a text that may be, or become, such a number.
pub(crate) fn after_letter(text: &str) -> Option<&str> {
    text.strip_prefix([FOLLOWED, RECALLED])
}

/// Why a past discussion is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It was recalled: found or named.
    #[default]
    Recalled,
    /// The discussion follows it.
    Followed,
}

impl Why {
    fn is_recalled(&self) -> bool {
        *self == Why::Recalled
    }
}

/// The discussion that this one follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follows {
    /// The discussion.
    pub id: DiscussionId,
    /// Participants whose provider is not available any more, and who has their seats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
    /// The pattern of that discussion, if this one has another because it has no options to vote
    /// on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// A participant with another one in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The name in the discussion that is followed.
    pub seat: String,
    /// The model in its place.
    pub by: String,
}
