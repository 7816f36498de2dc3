//! The prompts for speeches, by pattern.

use quorum_core::{
    floor::ask::{Ask, CompactAsk, LineForm},
    model::{participant::Participant, spec::Spec},
};

use super::{
    fill,
    length::{Length, filled_form, with_length},
    mentioned, mentions,
    seat::{SystemText, one_a_line, question_again, system},
};
use crate::readers::confidence;

/// The limit of the reply to the critic's check: a few objections of 30 words.
const CHECK_TOKENS: u32 = 512;

/// Round-robin: one speaker after the other; the one that `opens` has read nothing yet.
pub(crate) fn build_on(spec: &Spec, who: &Participant, round: u32, opens: bool) -> Ask {
    let system = system(spec, who, include_str!("manner_robin.md"));
    let task = if round == 1 && opens { include_str!("answer_first.md") } else { include_str!("robin.md") };
    speech(spec, who, system, &of_rounds(spec, round, task), Length::of(120, 250))
}

/// Synthesis: at first everyone alone, then reacting to the rounds before.
pub(crate) fn answer(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let system = system(spec, who, include_str!("manner_talk.md"));
    let (task, length) = match round {
        1 => (include_str!("answer_first.md"), Length::of(150, 300)),
        _ => (include_str!("answer_later.md"), Length::of(120, 250)),
    };
    let ask = speech(spec, who, system, &of_rounds(spec, round, &with_confidence(spec, task)), length);
    // A stated confidence is for the organiser alone: it would sway the others.
    if spec.early_exit.is_some() { ask.shown_as(confidence::without_statement) } else { ask }
}

/// Critique: the first draft.
pub(crate) fn propose(spec: &Spec, who: &Participant) -> Ask {
    speech(spec, who, critique(spec, who), include_str!("propose.md"), Length::of(250, 500))
}

/// Critique: the criticism of this draft.
pub(crate) fn criticise(spec: &Spec, who: &Participant, draft: u32) -> Ask {
    let task = fill(include_str!("criticise.md"), &[("draft", &draft.to_string())]);
    speech(spec, who, critique(spec, who), &task, Length::of(100, 250))
}

/// Critique: the draft after this one.
pub(crate) fn refine(spec: &Spec, who: &Participant, draft: u32) -> Ask {
    let task = fill(include_str!("refine.md"), &[("draft", &draft.to_string())]);
    speech(spec, who, critique(spec, who), &task, Length::of(300, 600))
}

/// Critique: a critic's check of the last draft, as a form.
pub(crate) fn check(spec: &Spec, who: &Participant) -> Ask {
    let form = if who.is_person() { include_str!("check_words.md") } else { include_str!("check_form.md") };
    let filled = |form: &str| filled_form(spec, form, &[]);
    let form = FormText {
        usual: filled(form),
        compact: filled(include_str!("compact_check.md")),
        lines: Some((filled(include_str!("compact_check_lines.md")), CHECK_LINES)),
    };
    in_both_sizes(spec, critique(spec, who), form).temperature(0.3).max_tokens(CHECK_TOKENS)
}

/// The reminder for a check that was asked for as lines.
pub(super) const CHECK_LINES: &str = "Send it again as lines, in this order: a line `Open: …` for each objection that is still \
                                      open, then the line `Ready: yes` or `Ready: no`.";

fn critique(spec: &Spec, who: &Participant) -> SystemText {
    system(spec, who, include_str!("manner_critique.md"))
}

/// Roundtable: the next turn in a fixed order, with people among the speakers.
pub(crate) fn at_the_table(spec: &Spec, who: &Participant, round: u32) -> Ask {
    let role = match who.role.name() {
        "manager" => "You run the table: keep it to the question, and say what should happen next.",
        "leader" => "You lead your part of the work: say what it can carry and what it needs.",
        "specialist" => "You are here for what you know: add that, and leave the rest to others.",
        "user" => "It is held for you: say what you want, what you doubt, and what you decide.",
        _ => "Add what the others have not said.",
    };
    let people: Vec<&Participant> = spec.participants.iter().filter(|it| it.is_person()).collect();
    let someone = if people.is_empty() { "somebody" } else { "a person" };
    let people = match &people[..] {
        [] => String::new(),
        people => format!(", people among them: {}", mentions(people.iter().copied())),
    };
    let manner = fill(include_str!("manner_table.md"), &[("people", &people), ("role", role)]);
    let task = if who.is_person() { include_str!("table_words.md") } else { include_str!("table.md") };
    let task = of_rounds(spec, round, &fill(task, &[("someone", someone)]));
    speech(spec, who, system(spec, who, &manner), &task, Length::at_most(120))
}

/// Dialogue: the next turn of two partners. In the first round neither has read the other.
pub(crate) fn turn(spec: &Spec, who: &Participant, partner: &Participant, round: u32) -> Ask {
    let (task, length) = match round {
        1 => (include_str!("turn_first.md"), Length::of(200, 400)),
        _ => (include_str!("turn_later.md"), Length::of(150, 300)),
    };
    speech(spec, who, partners(spec, who, partner), &of_rounds(spec, round, task), length)
}

/// The system text of a dialogue's partner, for turns and checks alike.
pub(crate) fn partners(spec: &Spec, who: &Participant, partner: &Participant) -> SystemText {
    let manner = fill(include_str!("manner_dialogue.md"), &[("partner", &mentioned(partner))]);
    system(spec, who, &manner)
}

/// A prose task of this length; half of it for a small model.
pub(super) fn speech(spec: &Spec, who: &Participant, system: SystemText, task: &str, length: Length) -> Ask {
    let short = length.halved();
    let compact = CompactAsk {
        system: system.compact,
        prompt: with_length(spec, who, &one_a_line(task), short).into(),
        max_tokens: Some(short.tokens(spec)),
        lines: None,
    };
    let ask = Ask::new(system.usual, with_length(spec, who, task, length)).max_tokens(length.tokens(spec));
    ask.for_small_models(compact).repeating(question_again(spec))
}

/// The text that asks for a form: for most models, for a small one, and for a small one that
/// nothing holds to a schema, with the reminder for a reply that can't be read.
pub(super) struct FormText {
    pub(super) usual: String,
    pub(super) compact: String,
    pub(super) lines: Option<(String, &'static str)>,
}

/// Asks for a form, with the question again after much talk.
pub(super) fn in_both_sizes(spec: &Spec, system: SystemText, form: FormText) -> Ask {
    let FormText { usual, compact, lines } = form;
    let lines = lines.map(|(prompt, reminder)| LineForm { prompt: prompt.trim_end().into(), reminder });
    let compact =
        CompactAsk { system: system.compact, prompt: compact.trim_end().into(), max_tokens: None, lines };
    Ask::new(system.usual, usual.trim_end()).for_small_models(compact).repeating(question_again(spec))
}

fn of_rounds(spec: &Spec, round: u32, task: &str) -> String {
    format!("Round {round} of {}. {task}", spec.rounds)
}

/// With early exit on, the task also asks for a confidence.
fn with_confidence(spec: &Spec, task: &str) -> String {
    if spec.early_exit.is_none() {
        return task.to_owned();
    }
    let scale = include_str!("scale_open.md").trim_end();
    format!("{task}\n{}", fill(include_str!("confidence.md"), &[("scale", scale)]))
}

#[cfg(test)]
mod tests {
    use quorum_core::model::{
        id::DiscussionId,
        mention::resolve,
        recall::{Recalled, Why},
        time::Timestamp,
    };
    use quorum_testkit::spec::spec;

    use super::*;
    use crate::prompts::deciding;

    /// The whole prompt as one text.
    fn shown(ask: &Ask) -> String {
        resolve(&format!("{}\n\n{}", ask.system(), ask.prompt()), str::to_owned)
    }

    #[test]
    fn every_prompt_is_complete() {
        let debate = spec("debate");
        let [ann, bob, _] = debate.participants.clone().try_into().unwrap();
        let asks = [
            build_on(&debate, &ann, 1, true),
            build_on(&debate, &ann, 2, false),
            answer(&debate, &ann, 1),
            answer(&debate, &ann, 2),
            propose(&debate, &ann),
            criticise(&debate, &bob, 1),
            check(&debate, &bob),
            at_the_table(&debate, &ann, 1),
            refine(&debate, &ann, 1),
            check(&debate, &bob),
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
        assert!(opening.contains("You and bob are partners") && !opening.contains("opponent"), "{opening}");
        let after = |ask: &Ask| shown(ask).split("Round 1 of 2. ").nth(1).unwrap().to_owned();
        assert_eq!(
            after(&turn(&spec, &ann, &bob, 1)),
            after(&turn(&spec, &bob, &ann, 1)),
            "both are asked alike"
        );
    }

    #[test]
    fn a11_a_dialogues_first_turns_are_of_200_to_400_words() {
        let mut spec = spec("dialogue");
        spec.manner.max_tokens = 2_048;
        let [ann, bob] = spec.participants.clone().try_into().unwrap();
        assert!(shown(&turn(&spec, &ann, &bob, 1)).contains("Write 200 to 400 words in English."));
        assert!(shown(&turn(&spec, &ann, &bob, 2)).contains("Write 150 to 300 words in English."));
    }

    #[test]
    fn c02_a_person_is_told_no_length() {
        let spec = spec("roundtable");
        let eva = Participant::person("eva");
        let asked = shown(&at_the_table(&spec, &eva, 1));
        assert!(asked.contains("It is your turn.") && !asked.contains(" words in "), "{asked}");
    }

    #[test]
    fn c02_models_alone_are_not_told_of_questions_by_a_person() {
        let mut spec = spec("roundtable");
        let ann = spec.participants[0].clone();
        let asked = |spec: &Spec| shown(&at_the_table(spec, &ann, 1));
        assert!(asked(&spec).contains("If somebody asked you something, answer that first."));
        spec.participants[1] = Participant::person("eva");
        assert!(asked(&spec).contains("If a person asked you something, answer that first."));
    }

    #[test]
    fn c03_a_roundtable_is_told_to_cite_without_brackets() {
        let recalled = Recalled {
            id: DiscussionId::fresh(),
            key: "discussion:0".to_owned(),
            topic: "indentation?".to_owned(),
            ended_at: Timestamp(1_767_225_600_000_000),
            score: Some(1.0),
            text: "Answer: Four spaces.".to_owned(),
            cut: false,
            tokens: 20,
            why: Why::Recalled,
        };
        let followed = Recalled { why: Why::Followed, ..recalled.clone() };
        let of = |pattern: &str| Spec {
            recalled: Some(vec![followed.clone(), recalled.clone()]),
            ..spec(pattern)
        };
        let (table, talk) = (of("roundtable"), of("synthesis"));
        let ann = &table.participants[0];
        let speaker = shown(&at_the_table(&table, ann, 1));
        assert!(speaker.contains("like R1.\n") && speaker.contains("like F1.\n"), "{speaker}");
        let writer = shown(&deciding::synthesis(&table, ann, deciding::Writing::Synthesizer, &[]));
        for asked in [shown(&answer(&talk, ann, 1)), writer] {
            assert!(asked.contains("like [R1].\n") && asked.contains("like [F1].\n"), "{asked}");
        }
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
