//! The length of the talk and of each speaker's part in it, for each family of models.

use std::collections::BTreeMap;

use crate::{call::tokens::Family, floor::window::FENCE, model::transcript::Turn};

/// The length of the talk, by family. Updated with every turn, so that the talk is not counted
/// again.
#[derive(Default)]
pub(crate) struct Lengths {
    talks: BTreeMap<Family, Talk>,
    empty: Talk,
}

/// The sizes of all turns as one family of models counts them, fences included.
pub(crate) struct Talk {
    /// The total size of the first 0, 1, 2 … turns.
    pub(crate) sums: Vec<u64>,
    /// The speakers, in the order of their first turns.
    pub(crate) speakers: Vec<Speaker>,
}

/// One speaker's turns.
pub(crate) struct Speaker {
    pub(crate) name: String,
    /// Their places in the transcript.
    pub(crate) turns: Vec<usize>,
    /// The total size of its first 0, 1, 2 … turns.
    pub(crate) sums: Vec<u64>,
}

impl Default for Talk {
    fn default() -> Self {
        Talk { sums: vec![0], speakers: Vec::new() }
    }
}

impl Talk {
    /// Adds a turn of this size.
    pub(crate) fn add(&mut self, name: &str, size: u64) {
        let turn = self.turns();
        self.sums.push(self.size(0, turn) + size);
        let known = self.speakers.iter().position(|it| it.name == name);
        let place = known.unwrap_or_else(|| {
            self.speakers.push(Speaker { name: name.to_owned(), turns: Vec::new(), sums: vec![0] });
            self.speakers.len() - 1
        });
        let speaker = &mut self.speakers[place];
        speaker.turns.push(turn);
        speaker.sums.push(speaker.sums.last().copied().unwrap_or_default() + size);
    }

    pub(crate) fn turns(&self) -> usize {
        self.sums.len() - 1
    }

    /// The size of the turns from `from` up to, but not including, `to`.
    pub(crate) fn size(&self, from: usize, to: usize) -> u64 {
        self.sums.get(to).zip(self.sums.get(from)).map_or(0, |(to, from)| to - from)
    }
}

impl Speaker {
    /// The size of one of its turns.
    pub(crate) fn size(&self, place: usize) -> u64 {
        self.sums[place + 1] - self.sums[place]
    }
}

impl Lengths {
    /// Adds a turn, for every family on the panel.
    pub(crate) fn add_turn(&mut self, families: impl Iterator<Item = Family>, turn: &Turn) {
        let turns = self.talks.values().map(Talk::turns).max().unwrap_or_default();
        for family in families {
            let talk = self.talks.entry(family).or_default();
            if talk.turns() == turns {
                talk.add(&turn.participant, FENCE + family.estimate(&turn.text));
            }
        }
    }

    /// The talk as this family counts it.
    pub(crate) fn talk(&self, family: Family) -> &Talk {
        self.talks.get(&family).unwrap_or(&self.empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{id::Step, transcript::sample_turn};

    #[test]
    fn lengths_are_kept_for_each_family_once() {
        let mut lengths = Lengths::default();
        let table = || [Family::O200k, Family::Claude, Family::O200k].into_iter();
        let turn = |text| sample_turn(Step::from("1/speaking/ann"), (1, "speaking"), "ann", text);
        lengths.add_turn(table(), &turn("one two three"));
        lengths.add_turn(table(), &turn("four"));
        let talk = lengths.talk(Family::O200k);
        assert_eq!(talk.turns(), 2);
        assert_eq!(talk.size(1, 2), FENCE + Family::O200k.estimate("four"));
        assert_eq!(talk.speakers[0].turns, [0, 1]);
        assert_eq!(talk.speakers[0].size(1), talk.size(1, 2));
        assert_eq!((lengths.talk(Family::Claude).turns(), lengths.talk(Family::Gemini).turns()), (2, 0));
    }
}
