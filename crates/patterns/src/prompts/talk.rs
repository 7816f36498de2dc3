//! The prompts for speeches, by pattern.

use quorum_core::{
    floor::ask::Ask,
    model::{participant::Participant, spec::Spec},
};

use super::{fill, system};

/// Round-robin: one speaker after the other.
pub(crate) fn build_on(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let manner = "Everyone speaks in turn, round after round, having heard all that was said before. Take up what is good, \
                  correct what is not, and add what is missing; do not repeat. Write 150 to 400 words.";
    let first = spec.speakers().first().is_some_and(|it| it.name == who.name);
    let task = match (round, first) {
        (1, true) => "You open: give your answer to the question and your reasons.",
        (1, false) => "Give your answer to the question, building on what was said before you.",
        _ => "Having heard everyone, go on: what do you now hold, and what brings the answer further?",
    };
    Ask::new(system(spec, who, manner), of_rounds(spec, round, task))
}

/// Synthesis: at first everyone alone, then reacting to the rounds before.
pub(crate) fn answer(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let task = if round == 1 {
        "Give your own answer to the question with your reasons. You do not know yet what the others say."
    } else {
        "You have heard the earlier rounds. Say where the others convinced you and where they did not, answer what was said \
         against you, and give the answer you hold now."
    };
    Ask::new(system(spec, who, PERSPECTIVES), of_rounds(spec, round, &with_confidence(spec, task)))
}

const PERSPECTIVES: &str = "Everyone answers at the same time; nobody hears the others' answers before the round is over. What \
                            is wanted is your own perspective, with what only you would see. Write 150 to 400 words.";

/// Critique: the first draft.
pub(crate) fn propose(spec: &Spec, who: &Participant) -> Ask {
    let task = "You are the author. Write a complete proposal that answers the question; the others will criticise it.";
    Ask::new(system(spec, who, CRITIQUE), task)
}

/// Critique: the criticism.
pub(crate) fn criticise(spec: &Spec, who: &Participant, author: &Participant, round: u32) -> Ask {
    let task = format!(
        "Criticise the latest version of {}'s proposal. Name what is wrong, missing or unclear, worst first, say why it \
         matters and what would be better. Say what is good only where it must not be lost.",
        author.name
    );
    Ask::new(system(spec, who, CRITIQUE), of_rounds(spec, round, &task))
}

/// Critique: the next draft.
pub(crate) fn refine(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let task = "The proposal is in your hands. Write it anew and in full in the light of the criticism; below it, say for each \
                objection whether you took it up, and if not, why not.";
    Ask::new(system(spec, who, CRITIQUE), of_rounds(spec, round, task))
}

const CRITIQUE: &str = "One participant writes a proposal, the others criticise it, and the author refines it, round after \
                        round. Criticism is about the proposal, never about its author, and is meant to make it better.";

/// Roundtable: the next turn in a fixed order, with people among the speakers.
pub(crate) fn at_the_table(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let part = match who.role.name() {
        "manager" => "You run the table: keep it to the question, and say what should happen next.",
        "leader" => "You lead your part of the work: say what it can carry and what it needs.",
        "specialist" => "You are here for what you know: add that, and leave the rest to others.",
        "user" => "It is held for you: say what you want, what you doubt, and what you decide.",
        _ => "Add what the others have not said.",
    };
    let manner = format!(
        "Everyone at the table speaks in turn, one at a time, people among them; answer them by name where they asked \
         something. {part} Speak for yourself only, in one paragraph of plain text, and never write what another says."
    );
    Ask::new(system(spec, who, &manner), of_rounds(spec, round, "It is your turn."))
}

/// Dialogue: the next turn of two partners.
pub(crate) fn turn(spec: &Spec, who: &Participant, partner: &Participant, round: u32) -> Ask {
    let opener = spec.speakers().first().map(|it| it.name.clone()).unwrap_or_default();
    let opens = who.name == opener;
    let values = [("partner", partner.name.as_str()), ("opener", if opens { "you" } else { &opener })];
    let manner = fill(include_str!("dialogue.md"), &values);
    let task = match (round, opens) {
        (1, true) => "You open the talk: set out how you would answer the question.",
        (1, false) => {
            "Your partner has made a start. Give your view of it: what you share, what you see differently, what you would add."
        }
        _ => {
            "Go on from what your partner said: take up what is right, answer what was asked or doubted, offer what is still \
             missing, and bring the two of you closer to one answer you can both stand by."
        }
    };
    Ask::new(system(spec, who, &manner), of_rounds(spec, round, task))
}

fn of_rounds(spec: &Spec, round: u32, task: &str) -> String {
    format!("Round {round} of {}. {task}", spec.rounds)
}

/// With early exit on, the task also asks for a confidence.
fn with_confidence(spec: &Spec, task: &str) -> String {
    let sure = "\n\nEnd with a line of its own that says how sure you are, from 0 to 1, like this:\nConfidence: 0.75";
    format!("{task}{}", if spec.early_exit.is_some() { sure } else { "" })
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    /// The whole prompt as one text.
    fn shown(ask: &Ask) -> String {
        format!("{ask:?}")
    }

    #[test]
    fn every_prompt_is_complete() {
        let debate = spec("debate");
        let [ann, bob, _] = debate.participants.clone().try_into().unwrap();
        let asks = [
            build_on(&debate, &ann, 1),
            answer(&debate, &ann, 1),
            answer(&debate, &ann, 2),
            propose(&debate, &ann),
            criticise(&debate, &bob, &ann, 1),
            refine(&debate, &ann, 1),
            turn(&debate, &ann, &bob, 1),
            turn(&debate, &bob, &ann, 2),
        ];
        for ask in asks.iter().map(shown) {
            assert!(!ask.contains("{{") && !ask.contains("}}"), "a place was left open in {ask}");
            assert!(ask.contains("tabs or spaces?"), "the question is missing in {ask}");
        }
    }

    #[test]
    fn a11_a_dialogue_is_between_partners() {
        let spec = spec("dialogue");
        let [ann, bob] = spec.participants.clone().try_into().unwrap();
        let opening = shown(&turn(&spec, &ann, &bob, 1));
        assert!(opening.contains("You and bob are partners") && opening.contains("you opened"));
        assert!(opening.contains("200 to 400 words") && !opening.contains("opponent"));
        assert!(shown(&turn(&spec, &bob, &ann, 1)).contains("ann opened"));
    }

    #[test]
    fn inv_disc_622_confidence_is_asked_for_only_when_it_counts() {
        let plain = spec("synthesis");
        let ann = plain.participants[0].clone();
        let sure = Spec { early_exit: Some(0.9), ..plain.clone() };
        assert!(!shown(&answer(&plain, &ann, 1)).contains("Confidence: 0.75"));
        assert!(shown(&answer(&sure, &ann, 1)).contains("Confidence: 0.75"));
        assert!(shown(&answer(&sure, &ann, 2)).contains("Confidence: 0.75"));
    }
}
