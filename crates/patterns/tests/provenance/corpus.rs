//! Reads the constructed set.

use quorum_patterns::provenance::{Talk, View, Views};

use super::said;

/// A made-up discussion with syntheses of it.
pub(crate) struct Discussion {
    topic: &'static str,
    turns: Vec<(&'static str, u32, &'static str)>,
    pub(crate) syntheses: Vec<Synthesis>,
}

/// A hand-written synthesis.
#[derive(Default)]
pub(crate) struct Synthesis {
    pub(crate) sentences: Vec<Sentence>,
    /// Disputed views with their holders, and whether the synthesis mentions them.
    pub(crate) views: Vec<(&'static str, &'static str, bool)>,
}

/// A sentence of a synthesis, and what it rests on.
pub(crate) struct Sentence {
    pub(crate) kind: char,
    pub(crate) rests_on: Vec<(&'static str, u32)>,
    pub(crate) text: &'static str,
}

impl Sentence {
    /// Whether it says what somebody said.
    pub(crate) fn is_true_to_talk(&self) -> bool {
        "vpm".contains(self.kind)
    }
}

impl Discussion {
    pub(crate) fn talk(&self) -> Talk<'static> {
        let turns = self.turns.iter().map(|(name, round, text)| said(name, *round, text)).collect();
        Talk { turns, given: vec![self.topic.into()] }
    }
}

impl Synthesis {
    /// All of it as one text, each sentence with this after it.
    pub(crate) fn text(&self, marker: impl Fn(usize, &Sentence) -> String) -> String {
        let sentences = self.sentences.iter().enumerate();
        sentences.map(|(at, it)| format!("{}{}", it.text, marker(at, it))).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn views(&self) -> Views {
        let view = |(holder, text, _): &(&str, &str, bool)| View {
            holder: Some((*holder).to_owned()),
            text: (*text).to_owned(),
        };
        Views { held: self.views.iter().map(view).collect(), reported: Vec::new() }
    }
}

/// Every discussion of the set.
pub(crate) fn all() -> Vec<Discussion> {
    const FILES: &[&str] = &[
        include_str!("corpus/en_buses.txt"),
        include_str!("corpus/en_remote.txt"),
        include_str!("corpus/en_database.txt"),
        include_str!("corpus/en_week.txt"),
        include_str!("corpus/en_phones.txt"),
        include_str!("corpus/en_energy.txt"),
        include_str!("corpus/de_tempo.txt"),
        include_str!("corpus/de_mensa.txt"),
        include_str!("corpus/de_cloud.txt"),
        include_str!("corpus/de_bibliothek.txt"),
    ];
    FILES.iter().map(|file| read(file)).collect()
}

fn read(file: &'static str) -> Discussion {
    let mut discussion = Discussion { topic: "", turns: Vec::new(), syntheses: Vec::new() };
    for line in file.lines() {
        let (mark, rest) = line.split_once(' ').unwrap();
        match mark {
            "#" => discussion.topic = rest,
            "=" => {
                let (name, round) = rest.split_once(' ').unwrap();
                discussion.turns.push((name, round.parse().unwrap(), ""));
            }
            "==" => discussion.syntheses.push(Synthesis::default()),
            _ => match discussion.syntheses.last_mut() {
                None => discussion.turns.last_mut().unwrap().2 = line,
                Some(synthesis) => add_line(synthesis, mark, rest),
            },
        }
    }
    discussion
}

fn add_line(synthesis: &mut Synthesis, mark: &str, rest: &'static str) {
    let (who, text) = rest.split_once(" | ").unwrap();
    if let "+" | "-" = mark {
        return synthesis.views.push((who, text, mark == "+"));
    }
    let turns = who.split(',').filter_map(|it| it.split_once(':'));
    let rests_on = turns.map(|(name, round)| (name, round.parse().unwrap())).collect();
    synthesis.sentences.push(Sentence { kind: mark.chars().next().unwrap(), rests_on, text });
}
