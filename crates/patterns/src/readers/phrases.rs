//! Infers a vote from a reply without markers (A08), by phrases of agreement and disagreement. A
//! denied agreement is never a yes.

use std::collections::BTreeSet;

use crate::readers::ConsensusVote;

const AGREEING: &[&str] = &[
    "we have reached consensus",
    "i agree with",
    "we agree that",
    "consensus has been reached",
    "i concur",
    "the solution is",
    "our agreed solution",
];

const DISAGREEING: &[&str] = &[
    "i disagree",
    "we have not reached",
    "no consensus",
    "still need to discuss",
    "further discussion needed",
    "i think differently",
    "not agree",
    "n't agree",
    "cannot agree",
    "not reached consensus",
    "n't reached consensus",
];

/// Words before an agreement that deny it, doubt it, or attribute it to somebody else.
const BEFORE: &[&str] = &[
    "if", "whether", "unless", "until", "once", "what", "would", "could", "might", "claims", "claimed",
    "says", "said", "thinks", "believes", "suggests", "asserts", "assumes", "argues", "wrote", "writes",
    "pretends",
];

const DENIALS: &[&str] = &[
    "not", "no", "never", "cannot", "nor", "neither", "none", "nothing", "nobody", "hardly", "barely",
    "scarcely", "unable", "without", "refuse", "refuses", "fail", "failed", "doubt", "far", "little", "dont",
    "cant", "wont", "isnt", "havent", "didnt",
];

/// Words right after an agreement that take it back.
const OPEN: &[&str] =
    &["unclear", "open", "undecided", "unresolved", "incomplete", "missing", "unknown", "still"];

/// Stems that a later denial must concern in order to deny the agreement itself.
const ACCORD: &[&str] = &["agree", "consensus", "converge", "settle", "decid", "resolv"];

/// Phrases that introduce a solution.
const SOLUTIONS: &[&str] = &[
    "the solution is",
    "we agree on",
    "we agree that",
    "we agreed on",
    "we agreed that",
    "our final answer is",
];

/// The length up to which a solution is ignored.
const TOO_SHORT: usize = 20;

/// The vote that the voter's own words imply; `None` if they contain none of the phrases.
pub(crate) fn infer(own: &str) -> Option<ConsensusVote> {
    let plain = without_quotes(&own.to_ascii_lowercase().replace('’', "'"));
    let (mut for_it, mut against): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    for sentence in sentences(&plain) {
        for (phrase, denied) in agreements(&sentence) {
            if denied {
                against.insert(phrase)
            } else {
                for_it.insert(phrase)
            };
        }
        against.extend(DISAGREEING.iter().filter(|phrase| sentence.contains(*phrase)));
    }
    let begins_with_no = matches!(words(&plain).next(), Some("no" | "not"));
    if begins_with_no {
        against.insert("no");
    }
    if for_it.is_empty() && against.is_empty() {
        return None;
    }
    let agrees = !begins_with_no && against.len() < for_it.len();
    let confidence = 50 + 10 * (for_it.len() as i32 - against.len() as i32);
    Some(ConsensusVote {
        agrees,
        confidence: confidence.clamp(30, 70) as u8,
        reasoning: "Inferred from the wording; the answer did not have the form asked for.".to_owned(),
        solution: agrees.then(|| solution(own)).flatten(),
    })
}

/// Each agreement in a sentence, and whether the sentence denies it.
fn agreements(sentence: &str) -> Vec<(&'static str, bool)> {
    let in_sentence = |phrase: &&'static str| {
        let phrase = *phrase;
        let places = sentence.match_indices(phrase).map(move |(at, _)| (at, phrase));
        places.collect::<Vec<_>>()
    };
    let places = AGREEING.iter().flat_map(in_sentence);
    let parts = places.map(|(at, phrase)| (phrase, &sentence[..at], &sentence[at + phrase.len()..]));
    let whole_words = parts.filter(|(_, before, after)| {
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    });
    whole_words.map(|(phrase, before, after)| (phrase, is_denied(before, after))).collect()
}

fn is_denied(before: &str, after: &str) -> bool {
    let before = words(before).any(|word| is_denial(word) || BEFORE.contains(&word));
    let at_once = words(after).take(2).any(|word| is_denial(word) || OPEN.contains(&word));
    let later = words(after)
        .skip_while(|word| !is_denial(word))
        .any(|word| ACCORD.iter().any(|stem| word.starts_with(stem)));
    before || at_once || later
}

fn is_denial(word: &str) -> bool {
    word.ends_with("n't") || DENIALS.contains(&word)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || it == '\'')).filter(|it| !it.is_empty())
}

/// The sentences, each on one line. A blank line ends a sentence; a single line break doesn't.
fn sentences(text: &str) -> Vec<String> {
    let paragraphs = text.split("\n\n");
    let sentences = paragraphs.flat_map(|it| it.split(['.', '!', '?', ';']));
    sentences.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The text without quotations in double quotation marks.
fn without_quotes(text: &str) -> String {
    let straight = text.replace(['“', '”'], "\"");
    straight.split('"').step_by(2).collect::<Vec<_>>().join(" ")
}

/// The sentence that states a solution, if any.
fn solution(own: &str) -> Option<String> {
    let lower = own.to_ascii_lowercase();
    SOLUTIONS.iter().find_map(|phrase| {
        let rest = &own[lower.find(phrase)? + phrase.len()..];
        let rest = rest.strip_prefix([':', ' ', '\n'])?.trim_start_matches([':', ' ', '\n']);
        let stated = rest[..=rest.find('.')?].trim();
        (TOO_SHORT < stated.chars().count()).then(|| stated.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks an inference: `Some(true)` is an inferred yes, `None` means nothing was inferred.
    #[track_caller]
    fn check(reply: &str, expected: Option<bool>) {
        assert_eq!(infer(reply).map(|it| it.agrees), expected, "{reply}");
    }

    #[test]
    fn a08_agreement_is_inferred_from_phrases() {
        check("I agree with Bob's plan.", Some(true));
        check("We have reached consensus! I concur.", Some(true));
        check("On the whole we agree that tabs are better.", Some(true));
        check("I agree with Bob that we should not use spaces.", Some(true));
        check("Consensus has been reached.\n\nNo objections remain.", Some(true));
        check("Our agreed solution follows below", Some(true));
    }

    #[test]
    fn a08_disagreement_is_inferred_from_phrases() {
        check("I disagree.", Some(false));
        check("I think differently about this", Some(false));
        check("There is no consensus, and further discussion needed.", Some(false));
        check("I agree with the aim. But I disagree on the way.", Some(false));
        check("We agree that tabs matter; we have not reached the rest.", Some(false));
    }

    #[test]
    fn a08_a_denied_agreement_is_never_a_yes() {
        for reply in [
            "I do not agree with Bob.",
            "I don't agree with Bob.",
            "I don’t agree with Bob.",
            "I cannot agree with Bob.",
            "I can't say I concur.",
            "I can't honestly say\nthat I concur.",
            "We have not reached consensus.",
            "We haven't reached consensus.",
            "It is not true that we have reached consensus.",
            "Nobody could claim that consensus has been reached.",
            "I doubt that consensus has been reached.",
            "I agree with nothing Bob said.",
            "I agree with almost none of it.",
            "We agree that there is no agreement here.",
            "We agree that we don't have a consensus.",
            "The solution is not clear.",
            "The solution is still open.",
            "If we agree that tabs win, we are done.",
            "The question is whether I agree with Bob.",
            "Bob claims that we have reached consensus.",
            "Hardly anyone would say our agreed solution works.",
        ] {
            check(reply, Some(false));
        }
    }

    #[test]
    fn a08_a_reply_that_begins_with_no_is_a_no() {
        check("NO. I agree with X but we have reached consensus on nothing else, I concur.", Some(false));
        check("**No**, though I agree with much and the solution is near.", Some(false));
        check("Not yet. I agree with X.", Some(false));
        check("Now I agree with X.", Some(true));
    }

    #[test]
    fn a08_without_a_phrase_nothing_is_inferred() {
        check("", None);
        check("Yes.", None);
        check("I concurrently ran both.", None);
        check("Bob wrote \"I agree with you, we have reached consensus\" and that was that.", None);
        check("Bob wrote “I concur” there", None);
    }

    #[test]
    fn a08_inferred_confidence_stays_within_30_and_70() {
        let confidence = |reply| infer(reply).map(|it| it.confidence);
        assert_eq!(confidence("I agree with it."), Some(60));
        assert_eq!(
            confidence("I agree with it. I concur. We have reached consensus. We agree that X."),
            Some(70)
        );
        assert_eq!(confidence("I disagree."), Some(40));
        assert_eq!(confidence("No. I disagree. No consensus. I think differently."), Some(30));
        assert_eq!(confidence("I agree with it. I disagree."), Some(50));
    }

    #[test]
    fn a08_a_stated_solution_keeps_the_voters_capitalisation() {
        let solution = |reply| infer(reply).and_then(|it| it.solution);
        let stated = solution("I concur. The Solution is: Tabs of Width 8 for everyone. Done.");
        assert_eq!(stated.as_deref(), Some("Tabs of Width 8 for everyone."));
        assert_eq!(solution("I concur, and the solution is tabs. Done."), None);
        assert_eq!(solution("I disagree: the solution is tabs of width 8 for everyone."), None);
        assert_eq!(solution("I concur. The solution is a half sentence without an end"), None);
    }
}
