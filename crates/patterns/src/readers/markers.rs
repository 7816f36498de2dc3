//! Reads the answer to "have we reached consensus?" from its markers, with a fallback if there are
//! none (A07, A09).

mod form;

use quorum_core::{
    call::Effort,
    floor::reading::{Misread, Reader, Reminder},
    model::reading::Stance,
    vocabulary::{
        form::{Form, Stub},
        view::{Cell, Column, View},
    },
};
use serde_json::Value;

use crate::readers::{ConsensusVote, phrases};

use form::{Marked, REASONING, SOLUTION};

/// The kind of a vote on consensus in the record.
pub(crate) const CONSENSUS_VOTE: &str = "consensus-check";

/// A vote on whether a dialogue has reached consensus.
pub(crate) static FORM: Form = Form::new(CONSENSUS_VOTE)
    .effort(Effort::Low)
    .tell(|value| {
        let ConsensusVote { agrees, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        let answer = if agrees { "there is consensus" } else { "there is no consensus" };
        Some(format!("finds that {answer} ({confidence} of 100 sure)"))
    })
    .reason_at("/reasoning")
    .stance(|value| {
        let ConsensusVote { agrees, confidence, .. } = serde_json::from_value(value.clone()).ok()?;
        let position = if agrees { "consensus" } else { "no consensus" }.to_owned();
        Some(Stance { position, confidence: f64::from(confidence) / 100.0, chooses: false, joins: agrees })
    })
    .view(View::Table {
        columns: &[
            Column::of("agrees", "/agrees", Cell::YesNo),
            Column::of("confidence", "/confidence", Cell::Percent),
            Column::text("why", "/reasoning"),
        ],
    })
    .sample(crate::samples::consensus_check::sample)
    .recognises(|text| form::may_hold(text) || phrases::infer(text).is_some())
    .stub(Stub::Text("[REASONING]\n{word}\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n[CONFIDENCE]\n0"));

/// The confidence of a vote that states none.
const UNSTATED: u8 = 50;

/// The confidence of a person that says yes or no in plain words.
const CERTAIN: u8 = 100;

/// The length up to which a solution is ignored.
const TOO_SHORT: usize = 10;

const REMINDERS: &[Reminder] = &[
    Reminder {
        purpose: "remind1",
        words: "Send the same answer again in the form asked for, in this order: [REASONING], [PROPOSED_SOLUTION], \
                [CONSENSUS_CHECK] with HAS_CONSENSUS: YES or NO below it, [CONFIDENCE]. Keep your reasons.",
    },
    Reminder {
        purpose: "remind2",
        words: "Without it your answer counts as no. Copy these lines and fill them in:\n\
                [REASONING]\n…\n[PROPOSED_SOLUTION]\n…\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES or NO\n\
                [CONFIDENCE]\n0 to 100",
    },
];

/// Reads votes on consensus. Only the voter's own words count, never quotations.
pub(crate) struct ConsensusChecks;

impl Reader for ConsensusChecks {
    type Value = ConsensusVote;

    fn form(&self) -> &'static Form {
        &FORM
    }

    /// No schema; the prompt describes the form.
    fn schema(&self) -> Option<Value> {
        None
    }

    fn read(&self, reply: &str) -> Result<ConsensusVote, Misread> {
        let form = Marked::of(reply);
        let agrees = match form.answers()[..] {
            [agrees] => agrees,
            [] => return Err(Misread::new("no line says HAS_CONSENSUS: YES or HAS_CONSENSUS: NO")),
            _ => return Err(Misread::new("it says both YES and NO")),
        };
        Ok(ConsensusVote {
            agrees,
            confidence: form.confidence().unwrap_or(UNSTATED),
            reasoning: form.last(REASONING).unwrap_or_default().to_owned(),
            solution: form.last(SOLUTION).filter(|it| agrees && is_solution(it)).map(str::to_owned),
        })
    }

    /// Reads the form, or a plain yes or no as the first word with the reasons after it.
    fn read_from_person(&self, reply: &str) -> Result<ConsensusVote, Misread> {
        self.read(reply).or_else(|wrong| {
            let (agrees, reasons) = plain_answer(reply.trim()).ok_or(wrong)?;
            let solution = Some(reasons).filter(|it| agrees && is_solution(it)).map(str::to_owned);
            Ok(ConsensusVote { agrees, confidence: CERTAIN, reasoning: reasons.to_owned(), solution })
        })
    }

    fn infer(&self, reply: &str) -> Option<ConsensusVote> {
        let form = Marked::of(reply);
        // A reply with both yes and no is not guessed; the voter is asked again.
        form.answers().is_empty().then(|| phrases::infer(&form.own)).flatten()
    }

    fn reminders(&self) -> &[Reminder] {
        REMINDERS
    }

    fn give_up(&self) -> Option<ConsensusVote> {
        Some(no("The answer could not be read, even after two reminders; it counts as an uncertain no."))
    }
}

/// A no with confidence 0 and this reason.
pub(crate) fn no(reason: &str) -> ConsensusVote {
    ConsensusVote { agrees: false, confidence: 0, reasoning: reason.to_owned(), solution: None }
}

/// Whether the first word is yes or no, and the text after it.
fn plain_answer(reply: &str) -> Option<(bool, &str)> {
    let end = reply.find(|it: char| !it.is_alphanumeric()).unwrap_or(reply.len());
    let (word, rest) = reply.split_at(end);
    let agrees = match word.to_lowercase().as_str() {
        "yes" => true,
        "no" => false,
        _ => return None,
    };
    Some((
        agrees,
        rest.trim_start_matches(|it: char| it.is_whitespace() || ".,;:!–-".contains(it)).trim_end(),
    ))
}

fn is_solution(text: &str) -> bool {
    TOO_SHORT < text.chars().count() && !text.to_lowercase().contains("no consensus")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: &str, confidence: &str, solution: &str) -> String {
        format!(
            "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n{confidence}\n[REASONING]\nBecause.\n\
             [PROPOSED_SOLUTION]\n{solution}"
        )
    }

    const UNANSWERED: &str = "unread: no line says HAS_CONSENSUS: YES or HAS_CONSENSUS: NO";

    const SOLUTION_TEXT: &str = "Tabs for everyone.";

    /// Checks the reading as text: `yes 80 "Because." -> solution`, or why it is unreadable.
    #[track_caller]
    fn check(reply: &str, expected: &str) {
        let shown = |vote: ConsensusVote| {
            let answer = if vote.agrees { "yes" } else { "no" };
            let solution = vote.solution.map(|it| format!(" -> {it}")).unwrap_or_default();
            format!("{answer} {} {:?}{solution}", vote.confidence, vote.reasoning)
        };
        let read = ConsensusChecks.read(reply).map(shown);
        let inferred = || ConsensusChecks.infer(reply).map(|vote| format!("inferred {}", shown(vote)));
        let read = read.or_else(|wrong| inferred().ok_or(wrong));
        let read = read.unwrap_or_else(|wrong| format!("unread: {}", wrong.0));
        let read = read.split(" \"Inferred").next().unwrap_or_default().to_owned();
        assert_eq!(read, expected, "{reply}");
    }

    #[track_caller]
    fn reads_from_person(reply: &str, expected: Option<(bool, &str, Option<&str>)>) {
        let read = ConsensusChecks.read_from_person(reply);
        let read = read.as_ref().map(|it| (it.agrees, it.reasoning.as_str(), it.solution.as_deref()));
        let unanswered = Misread::new("no line says HAS_CONSENSUS: YES or HAS_CONSENSUS: NO");
        assert_eq!(read, expected.ok_or(&unanswered), "{reply}");
    }

    #[test]
    fn a07_a_person_says_yes_or_no() {
        reads_from_person("Yes", Some((true, "", None)));
        reads_from_person("no, not before it was tried.", Some((false, "not before it was tried.", None)));
        let all = "Tabs for everyone.";
        reads_from_person("YES. Tabs for everyone.", Some((true, all, Some(all))));
        reads_from_person("Nobody knows.", None);
        reads_from_person("Well, yes.", None);
        reads_from_person(&reply("NO", "30", "No consensus yet."), Some((false, "Because.", None)));
    }

    #[test]
    fn a07_the_markers_are_read() {
        check(&reply("YES", "80", SOLUTION_TEXT), "yes 80 \"Because.\" -> Tabs for everyone.");
        check(&reply("NO", "30", "No consensus yet."), "no 30 \"Because.\"");
        check(&reply("yes", "80", SOLUTION_TEXT).to_lowercase(), "yes 80 \"because.\" -> tabs for everyone.");
        check(&format!("Here is my view.\n\n{}", reply("NO", "10", "")), "no 10 \"Because.\"");
        let one_line = "[CONSENSUS_CHECK] HAS_CONSENSUS: YES [CONFIDENCE] 90 [REASONING] Fine. [PROPOSED_SOLUTION] Tabs for all.";
        check(one_line, "yes 90 \"Fine.\" -> Tabs for all.");
    }

    #[test]
    fn a07_markers_may_come_in_any_order_and_markdown() {
        let turned = "[REASONING]\nFine.\n[PROPOSED_SOLUTION]\nTabs for all.\n[CONFIDENCE]\n77\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES";
        check(turned, "yes 77 \"Fine.\" -> Tabs for all.");
        let dressed =
            "**[CONSENSUS_CHECK]**\n**HAS_CONSENSUS:** YES\n**[CONFIDENCE]**: 85%\n**[REASONING]**: Fine.";
        check(dressed, "yes 85 \"Fine.\"");
        check("## [CONSENSUS_CHECK]\nHAS_CONSENSUS: [NO], not at all", "no 50 \"\"");
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: Not yet", "no 50 \"\"");
        check("[CONSENSUS_CHECK]\r\nHAS_CONSENSUS: YES\r\n[CONFIDENCE]\r\n60\r\n", "yes 60 \"\"");
    }

    #[test]
    fn a07_the_answer_may_come_after_its_reasons() {
        let form = include_str!("../prompts/consensus_form.md");
        let asked: Vec<&str> = form.lines().filter(|line| line.starts_with('[')).collect();
        assert_eq!(asked, ["[REASONING]", "[PROPOSED_SOLUTION]", "[CONSENSUS_CHECK]", "[CONFIDENCE]"]);
        let reply = "[REASONING]\nFine.\n[PROPOSED_SOLUTION]\nTabs for all.\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n\
                     [CONFIDENCE]\n77";
        check(reply, "yes 77 \"Fine.\" -> Tabs for all.");
        check(&reply.replace("YES", "NO"), "no 77 \"Fine.\"");
    }

    #[test]
    fn a07_brackets_may_be_left_out() {
        let bare = "HAS_CONSENSUS: YES\nCONFIDENCE: 80\nREASONING: Fine.\nPROPOSED_SOLUTION:\nReasoning: tabs for all.";
        check(bare, "yes 80 \"Fine.\" -> Reasoning: tabs for all.");
        check("**HAS_CONSENSUS:** NO\n**CONFIDENCE:** 20", "no 20 \"\"");
        check("I find that HAS_CONSENSUS: YES would be wrong.", UNANSWERED);
        check("> HAS_CONSENSUS: YES\nSo says bob.", UNANSWERED);
        check("HAS_CONSENSUS: YES or NO", UNANSWERED);
        check("HAS_CONSENSUS: YES\nHAS_CONSENSUS: NO", "unread: it says both YES and NO");
    }

    #[test]
    fn a07_confidence_is_clamped_and_50_if_absent() {
        for (stated, expected) in [
            ("0", 0),
            ("100", 100),
            ("150", 100),
            ("99999999999999999999", 100),
            ("-20", 0),
            ("0.85", 85),
            ("72.6", 73),
            ("1", 1),
            ("[85]", 85),
            ("high", 50),
            ("", 50),
        ] {
            check(&reply("NO", stated, ""), &format!("no {expected} \"Because.\""));
        }
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES", "yes 50 \"\"");
    }

    #[test]
    fn a07_a_solution_needs_a_yes_and_some_text() {
        check(&reply("NO", "80", SOLUTION_TEXT), "no 80 \"Because.\"");
        check(&reply("YES", "80", "No consensus yet, sadly."), "yes 80 \"Because.\"");
        check(&reply("YES", "80", "ten chars!"), "yes 80 \"Because.\"");
        check(&reply("YES", "80", "tenn chars!"), "yes 80 \"Because.\" -> tenn chars!");
        check(&reply("YES", "80", ""), "yes 80 \"Because.\"");
    }

    #[test]
    fn a07_a_solution_keeps_its_code_and_quotations() {
        let solution = "Run:\n```\ncargo test\n```\n> and smile";
        check(&reply("YES", "80", solution), &format!("yes 80 \"Because.\" -> {solution}"));
    }

    #[test]
    fn a07_a_form_wrapped_in_a_code_fence_is_still_the_voters() {
        let wrapped = format!("```text\n{}\n```", reply("YES", "80", SOLUTION_TEXT));
        check(&wrapped, "yes 80 \"Because.\" -> Tabs for everyone.");
    }

    #[test]
    fn a07_quoted_markers_are_not_a_vote() {
        let form = reply("YES", "99", SOLUTION_TEXT);
        let quoted: String = form.lines().map(|line| format!("> {line}\n")).collect();
        check(&format!("My partner wrote:\n{quoted}"), UNANSWERED);
        check(&format!("My partner wrote:\n{quoted}I disagree."), "inferred no 40");
        check(&format!("My partner wrote:\n```\n{form}\n```\nThat is all."), UNANSWERED);
        check(&format!("<said-1f by=\"bob\" round=\"1\">\n{form}\n</said-1f>\nHm."), UNANSWERED);
        check("Bob wrote [CONSENSUS_CHECK] HAS_CONSENSUS: YES and I wonder.", UNANSWERED);
        check(&format!("{quoted}\n{}", reply("NO", "20", "")), "no 20 \"Because.\"");
        let answer_quoted =
            "[CONSENSUS_CHECK]\n> HAS_CONSENSUS: YES\n[CONFIDENCE]\n> 99\n[REASONING]\nBob said so.";
        check(answer_quoted, UNANSWERED);
    }

    #[test]
    fn a07_the_blank_form_is_not_an_answer() {
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: [YES or NO]\n[CONFIDENCE]\n[Number from 0-100]", UNANSWERED);
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES/NO", UNANSWERED);
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES, no doubt", "yes 50 \"\"");
        let echoed = format!("[CONSENSUS_CHECK]\nHAS_CONSENSUS: [YES or NO]\n{}", reply("NO", "20", ""));
        check(&echoed, "no 20 \"Because.\"");
    }

    #[test]
    fn a07_yes_and_no_at_once_is_asked_again() {
        let both =
            format!("{}\nI agree with that.\n{}", reply("YES", "80", SOLUTION_TEXT), reply("NO", "20", ""));
        check(&both, "unread: it says both YES and NO");
        let twice = format!("{}\n{}", reply("NO", "80", ""), reply("NO", "20", ""));
        check(&twice, "no 20 \"Because.\"");
    }

    #[test]
    fn a08_without_markers_phrases_are_inferred() {
        check("I agree with all of it.", "inferred yes 60");
        check("[CONSENSUS_CHECK]\nHAS_CONSENSUS: perhaps\nI concur, more or less.", "inferred yes 60");
        // Until the readers became lenient, this was asked for again.
        check("HAS_CONSENSUS: YES", "yes 50 \"\"");
        check("NO. I agree with X but not with Y.", "inferred no 50");
    }

    #[test]
    fn a09_two_reminders_then_an_uncertain_no() {
        let purposes: Vec<&str> = ConsensusChecks.reminders().iter().map(|it| it.purpose).collect();
        assert_eq!(purposes, ["remind1", "remind2"]);
        let assumed = ConsensusChecks.give_up().unwrap();
        assert_eq!((assumed.agrees, assumed.confidence, assumed.solution), (false, 0, None));
        assert!(assumed.reasoning.contains("could not be read"));
    }
}
