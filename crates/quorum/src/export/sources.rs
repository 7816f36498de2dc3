//! The sources of an answer in a document: numbers after its sentences, and marks around the words
//! of the turns that they rest on.
//!
//! Both are put into the text as private-use characters, because cleaning and rendering a text
//! changes its length; each format replaces them last. A text of others loses such characters
//! first.

use std::fmt::Write;

use quorum_core::model::outcome::{Outcome, Response, SourcedSentence, Support};

use crate::text::{annotated, is_block, source_note};

/// The first of the characters that stand for notes, and the last.
const NOTES: std::ops::RangeInclusive<char> = '\u{100000}'..='\u{10effd}';

/// Around the words of a turn that a sentence rests on.
const MARK: char = '\u{10f000}';
const END_MARK: char = '\u{10f001}';

/// A note after a sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How much of the sentence its sources cover.
    pub level: Support,
    /// The numbers of the turns that it rests on, from 1.
    pub turns: Vec<usize>,
    /// Who said it: `claude R2`.
    pub told: String,
}

/// A turn that an answer rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CitedTurn {
    pub(super) participant: String,
    pub(super) round: u32,
    phase: String,
    /// The places of the words, in order, in Unicode scalar values.
    spans: Vec<(usize, usize)>,
    /// The words.
    pub(super) words: String,
}

/// The turns that an answer rests on, and the notes after its sentences.
#[derive(Debug, Default)]
pub(super) struct Citations {
    pub(super) turns: Vec<CitedTurn>,
    pub(super) notes: Vec<Option<Note>>,
}

impl Citations {
    pub(super) fn of(outcome: &Outcome) -> Citations {
        let mut citations = Citations::default();
        for sentence in &outcome.provenance {
            let note = citations.note(sentence);
            citations.notes.push(note);
        }
        let responses: Vec<&Response> = outcome.rounds.iter().flat_map(|it| &it.responses).collect();
        for turn in &mut citations.turns {
            let said = responses.iter().find(|it| turn.is(it)).map_or("", |it| it.content.as_str());
            turn.spans = merged(std::mem::take(&mut turn.spans));
            let words =
                turn.spans.iter().map(|(start, end)| said.chars().skip(*start).take(end - start).collect());
            turn.words = words.collect::<Vec<String>>().join(" … ");
        }
        citations
    }

    fn note(&mut self, sentence: &SourcedSentence) -> Option<Note> {
        let told = source_note(sentence)?;
        let mut numbers: Vec<usize> = Vec::new();
        for source in &sentence.sources {
            let phase = source.step.as_str().split('/').nth(1).unwrap_or_default();
            let known = self.turns.iter().position(|it| {
                (it.participant.as_str(), it.round, it.phase.as_str())
                    == (source.participant.as_str(), source.round, phase)
            });
            let number = known.unwrap_or_else(|| {
                self.turns.push(CitedTurn {
                    participant: source.participant.clone(),
                    round: source.round,
                    phase: phase.to_owned(),
                    spans: Vec::new(),
                    words: String::new(),
                });
                self.turns.len() - 1
            });
            self.turns[number].spans.push((source.start, source.end));
            if !numbers.contains(&(number + 1)) {
                numbers.push(number + 1);
            }
        }
        Some(Note { level: sentence.level, turns: numbers, told })
    }

    /// The number of the turn that this response is, from 1, if the answer rests on it.
    pub(super) fn number(&self, response: &Response) -> Option<usize> {
        self.turns.iter().position(|it| it.is(response)).map(|it| it + 1)
    }

    /// The answer with a character for each note.
    pub(super) fn answer(&self, outcome: &Outcome) -> String {
        let character = |(at, note): (usize, &Option<Note>)| {
            let is_told = note.is_some() && at < 0xe000;
            let letter = is_told.then(|| char::from_u32(u32::from(*NOTES.start()) + at as u32)).flatten();
            letter.map(String::from).unwrap_or_default()
        };
        let notes = self.notes.iter().enumerate().map(character);
        annotated(&without_marks(&outcome.synthesis), outcome.provenance.iter().zip(notes))
    }

    /// What was said in the turn with this number, with marks around the words that were used. A
    /// code block or a table gets none.
    pub(super) fn said(&self, number: usize, content: &str) -> String {
        let content = without_marks(content);
        let mut out = String::with_capacity(content.len());
        let spans = &self.turns[number - 1].spans;
        let is_marked = |it: &&(usize, usize)| {
            !is_block(&content.chars().skip(it.0).take(it.1 - it.0).collect::<String>())
        };
        let spans: Vec<&(usize, usize)> = spans.iter().filter(is_marked).collect();
        let mut next = spans.into_iter().peekable();
        for (at, letter) in content.chars().enumerate() {
            if next.peek().is_some_and(|it| it.1 == at) {
                out.push(END_MARK);
                next.next();
            }
            if next.peek().is_some_and(|it| it.0 == at) {
                out.push(MARK);
            }
            out.push(letter);
        }
        if next.peek().is_some() {
            out.push(END_MARK);
        }
        out
    }
}

impl CitedTurn {
    fn is(&self, response: &Response) -> bool {
        (self.participant.as_str(), self.round, self.phase.as_str())
            == (response.provider.as_str(), response.round, response.phase.as_str())
    }
}

/// The places in order, with those that meet as one.
fn merged(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

/// A text in which nothing passes for a note or a mark; as many characters as before.
fn without_marks(text: &str) -> String {
    let is_ours = |it: char| NOTES.contains(&it) || it == MARK || it == END_MARK;
    if !text.contains(is_ours) {
        return text.to_owned();
    }
    text.chars().map(|it| if is_ours(it) { char::REPLACEMENT_CHARACTER } else { it }).collect()
}

/// The note that a character stands for.
fn note_of(letter: char, notes: &[Option<Note>]) -> Option<&Note> {
    let at = u32::from(letter).checked_sub(u32::from(*NOTES.start()))?;
    notes.get(at as usize)?.as_ref()
}

/// The text as Markdown, with notes in brackets; without notes if `notes` is empty.
pub(super) fn in_markdown(text: &str, notes: &[Option<Note>], write: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if let Some(note) = note_of(letter, notes) {
            out.push_str(&write(&format!("[{}]", note.told)));
        } else if NOTES.contains(&letter) {
            out.truncate(out.trim_end_matches(' ').len());
        } else if letter != MARK && letter != END_MARK {
            out.push(letter);
        }
    }
    out
}

/// Replaces the characters in HTML by numbers that lead to the turns, and by marks. A mark ends
/// before every tag and begins again after it, so that elements stay nested.
pub(super) fn in_html(html: &str, notes: &[Option<Note>], escape: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(html.len());
    let (mut is_marked, mut is_open, mut is_tag) = (false, false, false);
    for letter in html.chars() {
        if is_tag {
            out.push(letter);
            is_tag = letter != '>';
            continue;
        }
        let ends = letter == '<' || letter == END_MARK || NOTES.contains(&letter);
        if is_open && ends {
            out.push_str("</mark>");
            is_open = false;
        }
        match letter {
            MARK => is_marked = true,
            END_MARK => is_marked = false,
            '<' => {
                is_tag = true;
                out.push(letter);
            }
            _ if NOTES.contains(&letter) => {
                out.truncate(out.trim_end_matches(' ').len());
                if let Some(note) = note_of(letter, notes) {
                    write_note(note, &mut out, &escape);
                }
            }
            _ => {
                if is_marked && !is_open && !letter.is_whitespace() {
                    out.push_str("<mark>");
                    is_open = true;
                }
                out.push(letter);
            }
        }
    }
    if is_open {
        out.push_str("</mark>");
    }
    out
}

fn write_note(note: &Note, out: &mut String, escape: &impl Fn(&str) -> String) {
    let class = match note.level {
        Support::Quoted | Support::Supported | Support::Own => "sure",
        Support::Partly => "partly",
        Support::Unsupported | Support::Contradicted => "unsure",
    };
    let told = escape(&note.told);
    // Writing to a string does not fail.
    let _ = write!(out, "<sup class=\"{class}\" title=\"{told}\">");
    for (at, number) in note.turns.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let _ = write!(out, "{comma}<a href=\"#said-{number}\">{number}</a>");
    }
    let sign = match note.level {
        Support::Unsupported | Support::Contradicted => "?",
        Support::Quoted | Support::Supported | Support::Partly | Support::Own => "",
    };
    let _ = write!(out, "{sign}</sup>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::escape::{escape, html};

    fn note(level: Support, turns: &[usize], told: &str) -> Option<Note> {
        Some(Note { level, turns: turns.to_vec(), told: told.to_owned() })
    }

    #[test]
    fn a_number_after_a_sentence_leads_to_its_turn() {
        let notes = [
            note(Support::Supported, &[1, 2], "ann R1, <b> R2"),
            note(Support::Unsupported, &[], "no source"),
            None,
        ];
        let text = "Tabs **adapt.** \u{100000} Bad. \u{100001} Own.";
        let expected = "<p>Tabs <strong>adapt.</strong><sup class=\"sure\" title=\"ann R1, &lt;b&gt; R2\">\
                        <a href=\"#said-1\">1</a>,<a href=\"#said-2\">2</a></sup> Bad.\
                        <sup class=\"unsure\" title=\"no source\">?</sup> Own.</p>\n";
        assert_eq!(in_html(&html(text), &notes, escape), expected);
        let in_brackets = "Tabs **adapt.** [ann R1, <b> R2] Bad. [no source] Own.";
        assert_eq!(in_markdown(text, &notes, str::to_owned), in_brackets);
        assert_eq!(in_markdown(text, &[], str::to_owned), "Tabs **adapt.** Bad. Own.");
    }

    #[test]
    fn marks_never_cross_an_element() {
        let text = format!("One {MARK}two **three{END_MARK} four** five");
        let expected = "<p>One <mark>two </mark><strong><mark>three</mark> four</strong> five</p>\n";
        assert_eq!(in_html(&html(&text), &[], escape), expected);
        let open = format!("{MARK}One\n\n- two");
        let expected = "<p><mark>One</mark></p>\n<ul>\n<li><mark>two</mark></li>\n</ul>\n";
        assert_eq!(in_html(&html(&open), &[], escape), expected);
    }

    #[test]
    fn a_text_of_others_can_not_pass_for_a_note() {
        assert_eq!(without_marks("a\u{100000}\u{10f000}b"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn p5_notes_in_html_stand_after_their_sentences_for_10_000_random_texts() {
        let mut random = Random(11);
        for _ in 0..10_000 {
            let parts: Vec<String> = (0..3).map(|_| random.text()).collect();
            let text = parts.join(" ");
            let mut end = 0;
            let sentences: Vec<SourcedSentence> = parts
                .iter()
                .map(|part| {
                    let start = end;
                    end = start + part.chars().count();
                    let sentence = SourcedSentence {
                        start,
                        end,
                        level: Support::Unsupported,
                        sources: Vec::new(),
                        unconfirmed: Vec::new(),
                    };
                    end += 1;
                    sentence
                })
                .collect();
            let letters = (0..).map(|at| String::from(char::from_u32(0x10_0000 + at).unwrap()));
            let noted = annotated(&without_marks(&text), sentences.iter().zip(letters));
            let notes = vec![note(Support::Unsupported, &[], "no source"); 3];
            let page = in_html(&html(&noted), &notes, escape);
            let pieces: Vec<&str> = page.split("<sup class=\"unsure\" title=\"no source\">?</sup>").collect();
            assert_eq!(pieces.len(), 4, "{text:?}\n{page}");
            for (part, piece) in parts.iter().zip(pieces) {
                assert!(ends_alike(part, piece), "{part:?} and {piece:?}");
            }
        }
    }

    /// Whether the last word of both is the same, without tags and entities.
    fn ends_alike(text: &str, html: &str) -> bool {
        let is_letter = |it: char| it.is_alphabetic();
        let last = |text: &str| {
            let text = text.trim_end_matches(|it| !is_letter(it));
            text.rsplit(|it| !is_letter(it)).next().unwrap_or_default().to_owned()
        };
        let mut plain = html.to_owned();
        while let Some((start, length)) = plain.find('<').and_then(|at| Some((at, plain[at..].find('>')?))) {
            plain.replace_range(start..=start + length, " ");
        }
        for entity in ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"] {
            plain = plain.replace(entity, " ");
        }
        last(text).is_empty() || last(&plain).ends_with(&last(text)) || last(text).ends_with(&last(&plain))
    }

    /// Deterministic pseudo-random texts.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % end as u64) as usize
        }

        /// Words, punctuation and awkward characters; ends with a word.
        fn text(&mut self) -> String {
            const PARTS: &[&str] = &[
                "tabs",
                "Ärzte",
                "標準",
                "👩‍👩‍👧",
                "e\u{301}te",
                "שלום",
                "ไทย",
                "<b>",
                "&",
                "\"",
                "'",
                "_",
                "*x*",
                "`y`",
                "1.5",
                "—",
                "\u{10fffd}",
                "\u{100000}",
                "ß",
                "İ",
                "\u{a0}",
                "(z)",
                "a*b",
            ];
            let length = 1 + self.below(6);
            let words: Vec<&str> = (0..length).map(|_| PARTS[self.below(PARTS.len())]).collect();
            format!("{} word{}.", words.join(" "), ["", "ly", "s"][self.below(3)])
        }
    }
}
