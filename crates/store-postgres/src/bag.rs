//! Bags: many small pieces of news in one payload of NOTIFY, which takes less than 8,000 bytes.
//!
//! A bag is lines of text. A line that a node can't read comes from a newer version, and is
//! skipped.

use quorum_core::model::{
    id::{DiscussionId, Seq},
    piece::Piece,
};

/// The largest payload.
const MOST_BYTES: usize = 7_900;

/// One piece of news for other processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Something may be claimable.
    Work,
    /// A discussion has commands.
    Commands(DiscussionId),
    /// A discussion has facts up to this one.
    Facts(DiscussionId, Seq),
    /// The process at this channel follows a discussion.
    Follow(DiscussionId, String),
    /// A provider asked to wait for this many milliseconds.
    Closed(String, u64),
    /// Text of a turn under way.
    Piece(Box<Piece>),
}

impl Line {
    /// The line as text; `None` if it is too long for any bag.
    fn written(&self) -> Option<String> {
        let line = match self {
            Line::Work => "w".to_owned(),
            Line::Commands(id) => format!("c{id}"),
            Line::Facts(id, last) => format!("f{id} {last}"),
            Line::Follow(id, channel) => format!("F{id} {channel}"),
            Line::Closed(lane, ms) => format!("l{ms} {}", lane.replace('\n', " ")),
            Line::Piece(piece) => format!("t{}", serde_json::to_string(piece).ok()?),
        };
        (line.len() <= MOST_BYTES).then_some(line)
    }

    fn read(line: &str) -> Option<Self> {
        let (kind, rest) = line.split_at_checked(1)?;
        match kind {
            "w" => Some(Line::Work),
            "c" => Some(Line::Commands(rest.parse().ok()?)),
            "f" => {
                let (id, last) = rest.split_once(' ')?;
                Some(Line::Facts(id.parse().ok()?, Seq(last.parse().ok()?)))
            }
            "F" => {
                let (id, channel) = rest.split_once(' ')?;
                Some(Line::Follow(id.parse().ok()?, channel.to_owned()))
            }
            "l" => {
                let (ms, lane) = rest.split_once(' ')?;
                Some(Line::Closed(lane.to_owned(), ms.parse().ok()?))
            }
            "t" => Some(Line::Piece(serde_json::from_str(rest).ok()?)),
            _ => None,
        }
    }
}

/// Packs lines into as few bags as possible, in order.
pub(crate) fn packed(lines: impl IntoIterator<Item = Line>) -> Vec<String> {
    let mut bags: Vec<String> = Vec::new();
    for line in lines.into_iter().flat_map(small).filter_map(|line| line.written()) {
        match bags.last_mut() {
            Some(bag) if bag.len() + 1 + line.len() <= MOST_BYTES => {
                bag.push('\n');
                bag.push_str(&line);
            }
            _ => bags.push(line),
        }
    }
    bags
}

/// The lines of a bag.
pub(crate) fn unpacked(bag: &str) -> impl Iterator<Item = Line> {
    bag.lines().filter_map(Line::read)
}

/// Splits text that is too long for a bag.
fn small(line: Line) -> Vec<Line> {
    let Line::Piece(piece) = line else { return vec![line] };
    let written = serde_json::to_string(&piece).map_or(0, |it| it.len());
    if written < MOST_BYTES || piece.text.len() < 2 {
        return vec![Line::Piece(piece)];
    }
    let middle = piece.text.floor_char_boundary(piece.text.len() / 2).max(1);
    let (first, rest) = piece.text.split_at(piece.text.floor_char_boundary(middle));
    if first.is_empty() {
        return vec![Line::Piece(piece)];
    }
    let second =
        Piece { offset: piece.offset + first.len(), text: rest.to_owned(), hidden: 0, ..(*piece).clone() };
    let first = Piece { text: first.to_owned(), ..*piece };
    [first, second].into_iter().flat_map(|it| small(Line::Piece(Box::new(it)))).collect()
}

#[cfg(test)]
mod tests {
    use quorum_core::model::id::Step;

    use super::*;

    fn piece(text: &str) -> Piece {
        Piece {
            discussion: DiscussionId::fresh(),
            step: Step::from("1/speaking/ann"),
            attempt: 1,
            participant: "ann".to_owned(),
            round: 1,
            offset: 5,
            text: text.to_owned(),
            hidden: 3,
        }
    }

    #[test]
    fn packed_news_is_unpacked_unchanged() {
        let id = DiscussionId::fresh();
        let lines = vec![
            Line::Work,
            Line::Commands(id),
            Line::Facts(id, Seq(12)),
            Line::Follow(id, "channel".to_owned()),
            Line::Closed("my provider".to_owned(), 30_000),
            Line::Piece(Box::new(piece("one\ntwo \"three\" \0 \u{1f642}"))),
        ];
        let bags = packed(lines.clone());
        assert_eq!(bags.len(), 1);
        assert_eq!(unpacked(&bags[0]).collect::<Vec<_>>(), lines);
        assert_eq!(unpacked("x of a newer version\nw\n\n").collect::<Vec<_>>(), [Line::Work]);
    }

    #[test]
    fn long_text_is_split_and_no_bag_is_too_large() {
        let text = "Ä\n\u{1f642}".repeat(9_000);
        let whole = piece(&text);
        let bags = packed([Line::Work, Line::Piece(Box::new(whole.clone()))]);
        assert!(
            bags.iter().all(|it| it.len() < 8_000),
            "{:?}",
            bags.iter().map(String::len).collect::<Vec<_>>()
        );
        let mut read = (String::new(), 0);
        for line in bags.iter().flat_map(|it| unpacked(it)) {
            if let Line::Piece(it) = line {
                assert_eq!(it.offset, whole.offset + read.0.len());
                read = (read.0 + &it.text, read.1 + it.hidden);
            }
        }
        assert!(read == (text, 3));
    }
}
