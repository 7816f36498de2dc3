//! Reads the hand-written debate: one reply for each step, under a heading that names the step.

use std::collections::BTreeMap;

use quorum::{
    call::{Call, Message},
    model::mask::Mask,
};

const TEXT: &str = include_str!("debate.txt");

/// The phase in which the debaters speak, and their number.
const SPEAKING: &str = "awaiting-responses";
const DEBATERS: usize = 2;

/// The steps after the last round. What is written for them is about whole rounds.
const CLOSING: [&str; 2] = ["judging/gemini/verdict", "deciding/"];

/// The replies of the debate by step.
#[derive(Debug)]
pub(super) struct Script(BTreeMap<&'static str, &'static str>);

impl Script {
    /// The debate of the demo.
    pub(super) fn of_the_demo() -> Script {
        Script::read(TEXT)
    }

    fn read(text: &'static str) -> Script {
        let sections = text.split("\n## ").skip(1);
        Script(
            sections
                .filter_map(|it| it.split_once('\n'))
                .map(|(step, said)| (step.trim(), said.trim()))
                .collect(),
        )
    }

    /// What is replied to this call; `None` if nothing was written for it.
    pub(super) fn reply(&self, call: &Call) -> Option<String> {
        let written = self.0.get(&*heading(call)?)?;
        let mark = call.mark.as_deref().unwrap_or_default();
        Some(labelled(written, &call.labels).replace("{mark}", mark))
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }

    #[cfg(test)]
    pub(super) fn text(&self, step: &str) -> &'static str {
        self.0[step]
    }
}

/// The heading for this call. A debate that is stopped within a round ends with the lines for the
/// last whole round.
fn heading(call: &Call) -> Option<String> {
    let (round, step) = call.step.as_str().split_once('/')?;
    let round: u32 = round.parse().ok()?;
    let is_closing = CLOSING.iter().any(|it| step.starts_with(it));
    let round = if is_closing && !is_whole(call, round) { round.checked_sub(1)? } else { round };
    Some(format!("{round}/{step}"))
}

/// Whether both debaters spoke in this round.
fn is_whole(call: &Call, round: u32) -> bool {
    let of_round = |it: &&Message| match it {
        Message::Said { turn, .. } => turn.round == round && turn.phase == SPEAKING,
        Message::Found { .. } | Message::Ask(_) => false,
    };
    call.messages.iter().filter(of_round).count() >= DEBATERS
}

/// The text with labels in place of names, as a model would write it.
fn labelled(written: &str, labels: &Mask) -> String {
    labels.labels().iter().fold(written.to_owned(), |text, (label, name)| {
        text.replace(&format!("@{name}"), &format!("@{label}")).replace(&format!("{{{name}}}"), label)
    })
}
