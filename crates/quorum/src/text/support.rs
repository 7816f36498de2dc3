//! The sources of an answer, in words: how many of its sentences have one, and who said what.

use std::collections::BTreeMap;

use quorum_core::model::outcome::{
    DroppedView, Outcome, SentenceSource, SourcedSentence, Support, SupportCount,
};

use super::count;

/// One line without a full stop: how many sentences of the answer have a source in the discussion,
/// and whose dissent it leaves out. `None` if nothing is known about its sources.
#[must_use]
pub fn support(outcome: &Outcome) -> Option<String> {
    let counted = supported(SupportCount::of(&outcome.provenance));
    let dropped = dropped(&outcome.consensus.dropped).map(|it| format!("left out: {it}"));
    let parts: Vec<String> = counted.into_iter().chain(dropped).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn supported(found: SupportCount) -> Option<String> {
    let SupportCount { all, supported, partly, unsupported, contradicted } = found;
    let have = if supported == 1 { "has" } else { "have" };
    let first = format!("{supported} of {} {have} a source in the discussion", count(all as u64, "sentence"));
    let others =
        [(partly, "a partial one"), (unsupported, "none"), (contradicted, "may contradict its source")];
    let others = others.iter().filter(|it| 0 < it.0).map(|(number, how)| format!("{number} {how}"));
    (0 < all).then(|| std::iter::once(first).chain(others).collect::<Vec<_>>().join(", "))
}

/// Whose views were dropped: `glm's objection and qwen's 2 objections`.
fn dropped(views: &[DroppedView]) -> Option<String> {
    let mut holders: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for view in views {
        *counts.entry(&view.participant).or_default() += 1;
        if !holders.contains(&view.participant.as_str()) {
            holders.push(&view.participant);
        }
    }
    let told = holders.iter().map(|name| match counts[name] {
        1 => format!("{name}'s objection"),
        several => format!("{name}'s {several} objections"),
    });
    (!holders.is_empty()).then(|| told.collect::<Vec<_>>().join(", "))
}

/// The sources of a sentence: `claude R2, glm R1`; `None` where nothing is compared.
#[must_use]
pub fn source_note(sentence: &SourcedSentence) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for SentenceSource { participant, round, .. } in &sentence.sources {
        let name = format!("{participant} R{round}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names = names.join(", ");
    match sentence.level {
        // These are not counted either.
        Support::Own => None,
        Support::Quoted | Support::Supported => Some(names),
        Support::Partly => Some(format!("partly {names}")),
        Support::Unsupported if names.is_empty() => Some("no source".to_owned()),
        Support::Unsupported => Some(format!("not from {names}")),
        Support::Contradicted => Some(format!("contradicts {names}?")),
    }
}

/// The answer as Markdown with a note after each sentence: `Tabs adapt. [claude R2]`.
#[must_use]
pub fn with_sources(outcome: &Outcome) -> String {
    let notes = outcome.provenance.iter().map(|it| {
        let note = source_note(it).map(|note| format!("[{note}]")).unwrap_or_default();
        (it, note)
    });
    annotated(&outcome.synthesis, notes)
}

/// The text with these notes after its sentences. A code block or a table is followed by its note
/// in a paragraph of its own.
pub(crate) fn annotated<'s>(
    text: &str,
    notes: impl Iterator<Item = (&'s SourcedSentence, String)>,
) -> String {
    let (mut out, mut rest, mut at) = (String::with_capacity(text.len()), text, 0);
    for (sentence, note) in notes.filter(|it| !it.1.is_empty()) {
        let part = taken(&mut rest, sentence.end.saturating_sub(at));
        let start = part.char_indices().nth(sentence.start.saturating_sub(at)).map_or(part.len(), |it| it.0);
        let gap = if is_block(&part[start..]) { "\n\n" } else { " " };
        at = at.max(sentence.end);
        out.extend([part, gap, &note]);
    }
    out + rest
}

/// Whether a sentence is a code block or a table.
pub(crate) fn is_block(text: &str) -> bool {
    ["```", "~~~", "|"].iter().any(|it| text.trim_start().starts_with(it))
}

/// The first characters of a text; the text begins after them.
fn taken<'t>(text: &mut &'t str, length: usize) -> &'t str {
    let end = text.char_indices().nth(length).map_or(text.len(), |it| it.0);
    let (part, rest) = text.split_at(end);
    *text = rest;
    part
}

#[cfg(test)]
mod tests {
    use quorum_core::model::{id::Step, outcome::FoundBy};

    use super::*;

    fn sentence(place: (usize, usize), level: Support, who: &[(&str, u32)]) -> SourcedSentence {
        let source = |(name, round): &(&str, u32)| SentenceSource {
            participant: (*name).to_owned(),
            round: *round,
            step: Step::new(*round, "speaking", name),
            start: 0,
            end: 4,
            score: 0.8,
            by: FoundBy::Words,
        };
        let sources = who.iter().map(source).collect();
        SourcedSentence { start: place.0, end: place.1, level, sources, unconfirmed: Vec::new() }
    }

    fn view(participant: &str) -> DroppedView {
        DroppedView { participant: participant.to_owned(), round: 2, text: "No.".to_owned() }
    }

    #[test]
    fn the_line_counts_sentences_and_names_whose_objections_are_dropped() {
        let all = SupportCount { all: 11, supported: 9, partly: 1, unsupported: 1, contradicted: 0 };
        let line = "9 of 11 sentences have a source in the discussion, 1 a partial one, 1 none";
        assert_eq!(supported(all).as_deref(), Some(line));
        let one = SupportCount { all: 1, supported: 1, ..SupportCount::default() };
        assert_eq!(supported(one).as_deref(), Some("1 of 1 sentence has a source in the discussion"));
        assert_eq!(supported(SupportCount::default()), None);
        let views = [view("glm"), view("qwen"), view("glm")];
        assert_eq!(dropped(&views).as_deref(), Some("glm's 2 objections, qwen's objection"));
        assert_eq!(dropped(&[]), None);
    }

    #[test]
    fn a_note_stands_after_its_sentence() {
        let text = "# Ä\n\nTabs – adapt. Own. Bad.\n\n```\ncode\n```\nEnd.";
        let sentences = [
            sentence((0, 3), Support::Own, &[]),
            sentence((5, 18), Support::Partly, &[("ann", 1), ("bob", 2), ("ann", 1)]),
            sentence((19, 23), Support::Own, &[("ann", 1)]),
            sentence((24, 28), Support::Unsupported, &[]),
            sentence((30, 42), Support::Supported, &[("ann", 2)]),
            sentence((43, 47), Support::Contradicted, &[("bob", 1)]),
        ];
        let notes = sentences
            .iter()
            .map(|it| (it, source_note(it).map(|note| format!("[{note}]")).unwrap_or_default()));
        let expected = "# Ä\n\nTabs – adapt. [partly ann R1, bob R2] Own. Bad. [no source]\n\n\
                        ```\ncode\n```\n\n[ann R2]\nEnd. [contradicts bob R1?]";
        assert_eq!(annotated(text, notes), expected);
    }
}
