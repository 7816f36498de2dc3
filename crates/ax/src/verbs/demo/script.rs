//! Reads the hand-written debate: one reply for each step, under a heading that names the step.

use std::collections::BTreeMap;

use quorum::{call::Call, model::mask::Mask};

const TEXT: &str = include_str!("debate.txt");

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

    /// What is replied to this call; `None` if the debate has no such step.
    pub(super) fn reply(&self, call: &Call) -> Option<String> {
        let written = self.0.get(call.step.as_str())?;
        let mark = call.mark.as_deref().unwrap_or_default();
        Some(labelled(written, &call.labels).replace("{mark}", mark))
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }
}

/// The text with labels in place of names, as a model would write it.
fn labelled(written: &str, labels: &Mask) -> String {
    labels.labels().iter().fold(written.to_owned(), |text, (label, name)| {
        text.replace(&format!("@{name}"), &format!("@{label}")).replace(&format!("{{{name}}}"), label)
    })
}
