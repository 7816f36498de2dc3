//! Debate: sides before a judge, in one of four formats; a look at each round, and a verdict at the end (requirement D).

use quorum_core::{
    craft::{Loss, Pattern},
    floor::{Floor, halt::Halt},
    model::{
        debate::{EndedBy, Judging, Part, TalkEnd},
        error::{Code, Refusal},
        outcome::Decision,
        participant::Role,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
};

use crate::{
    casting,
    detect::Course,
    formats,
    judge::Bench,
    prompts::{debating, listed},
};

const CASTING: Phase = Phase("casting");
const AWAITING_RESPONSES: Phase = Phase("awaiting-responses");
const JUDGING: Phase = Phase("judging");

const MOST_DEBATERS: usize = 4;

pub(crate) const PATTERN: Pattern = Pattern {
    name: "debate",
    summary: "Opposing sides before a judge",
    flow: 2,
    phases: PhaseTable {
        first: &[CASTING, AWAITING_RESPONSES],
        next: &[
            (CASTING, &[AWAITING_RESPONSES]),
            (AWAITING_RESPONSES, &[AWAITING_RESPONSES, JUDGING]),
            (JUDGING, &[AWAITING_RESPONSES, JUDGING]),
        ],
    },
    check,
    loss: Loss::TooFewProviders,
    run: |floor| Box::pin(run(floor)),
};

fn check(spec: &Spec) -> Vec<Refusal> {
    let refuse = |message| Refusal::new("roles", Code::InvalidRoles, message);
    let needed = [Role::Proponent, Role::Opponent, Role::Judge];
    let missing: Vec<&str> =
        needed.into_iter().filter(|role| spec.playing(*role).is_empty()).map(Role::name).collect();
    let (judges, debaters) = (spec.playing(Role::Judge).len(), spec.debaters().len());
    let mut refusals = Vec::new();
    if !missing.is_empty() {
        let missing = listed(&missing);
        refusals
            .push(refuse(format!("a debate needs a proponent, an opponent and a judge; missing: {missing}")));
    }
    if 1 < judges {
        refusals.push(refuse(format!("a debate has one judge, not {judges}")));
    }
    if MOST_DEBATERS < debaters {
        refusals.push(refuse(format!("a debate has at most {MOST_DEBATERS} debaters, not {debaters}")));
    }
    refusals.extend(formats::check(spec));
    refusals
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    if spec.debate.casting.is_some() {
        floor.enter(CASTING, 0).await?;
    }
    let parts = casting::cast(floor).await?;
    let mut bench = Bench::of(&spec, parts.clone());
    let Err(halt) = hold(floor, &parts, &mut bench).await else { return Ok(None) };
    // Stopped, or too few to go on: there is a verdict on what there is (D13).
    floor.last_word(halt)?;
    if !floor.transcript().is_empty() {
        floor.enter(JUDGING, floor.round()).await?;
        bench.last_word(floor).await?;
    }
    Ok(None)
}

/// Round after round, and the verdict.
async fn hold(floor: &mut Floor, parts: &[Part], bench: &mut Bench) -> Result<(), Halt> {
    let spec = floor.spec();
    let mut course = Course::default();
    for round in 1..=formats::limit(&spec) {
        // One side alone is no debate; the judge gets what there is (D13).
        if floor.present(&spec.debaters()).len() < 2 {
            floor.note_end(TalkEnd { round: round - 1, why: EndedBy::TooFewDebaters, detector: None });
            break;
        }
        floor.enter(AWAITING_RESPONSES, round).await?;
        speak(floor, parts, round, &mut course).await?;
        if spec.debate.judging == Judging::EveryRound {
            floor.enter(JUDGING, round).await?;
            judge(floor, bench, &mut course).await?;
        }
        if let Some(end) = end(&spec, bench, &course, round) {
            floor.note_end(end);
            break;
        }
    }
    if !floor.transcript().is_empty() {
        floor.enter(JUDGING, floor.round()).await?;
        bench.verdict(floor).await?;
    }
    Ok(())
}

/// Everyone speaks, in turn or at once, and it is noticed who repeats itself.
async fn speak(floor: &mut Floor, parts: &[Part], round: u32, course: &mut Course) -> Result<(), Halt> {
    let spec = floor.spec();
    let before = floor.transcript().len();
    let speakers = floor.present(&spec.speakers());
    if formats::at_once(&spec, round) {
        floor.ask_all(&speakers, |who| debating::speech(&spec, parts, who, round)).await?;
    } else {
        for speaker in &speakers {
            floor.ask(speaker, debating::speech(&spec, parts, speaker, round)).await?;
        }
    }
    let debaters = spec.debaters();
    let argues = |name: &str| debaters.iter().any(|it| it.name == name);
    floor.transcript()[before..]
        .iter()
        .filter(|it| argues(&it.participant))
        .for_each(|turn| course.hear(turn));
    if spec.debate.embeddings.is_some()
        && let Some(found) = floor.compare(&course.to_compare(round)).await?
    {
        course.compared(round, &found);
    }
    notice(floor, course);
    Ok(())
}

/// The judge looks at the round. Whatever comes of that, nobody has to speak again.
async fn judge(floor: &mut Floor, bench: &mut Bench, course: &mut Course) -> Result<(), Halt> {
    if let Some(assessment) = bench.assess(floor, course).await? {
        course.judge(floor.round(), assessment);
        notice(floor, course);
    }
    Ok(())
}

fn notice(floor: &mut Floor, course: &Course) {
    course.noticed().iter().for_each(|found| floor.note_detection(found));
}

/// Why it is over after this round, if not for want of rounds.
fn end(spec: &Spec, bench: &Bench, course: &Course, round: u32) -> Option<TalkEnd> {
    let lost = bench.ends_it().then_some(TalkEnd { round, why: EndedBy::JudgeLost, detector: None });
    lost.or_else(|| formats::end(spec, course, round))
}

#[cfg(test)]
mod tests {
    use quorum_core::model::participant::Participant;

    use super::*;
    use Role::{Judge, Moderator, Neutral, Opponent, Proponent, Speaker};

    #[track_caller]
    fn refuses(roles: &[Role], expected: &[&str]) {
        let seats =
            roles.iter().enumerate().map(|(seat, role)| Participant::of(&format!("p{seat}")).playing(*role));
        let spec = Spec { participants: seats.collect(), ..quorum_testkit::spec::spec("debate") };
        let refusals = check(&spec);
        let messages: Vec<&str> = refusals.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, expected, "{roles:?}");
        assert!(refusals.iter().all(|it| it.code == Code::InvalidRoles && it.field == "roles"));
    }

    #[test]
    fn inv_disc_008_a_debate_says_which_roles_are_missing() {
        refuses(&[Proponent, Opponent, Judge], &[]);
        let needs = "a debate needs a proponent, an opponent and a judge; missing:";
        refuses(&[Proponent, Opponent], &[&format!("{needs} judge")]);
        refuses(&[Speaker, Speaker], &[&format!("{needs} proponent, opponent and judge")]);
        refuses(&[Proponent, Neutral, Judge], &[&format!("{needs} opponent")]);
    }

    #[test]
    fn inv_disc_008_one_judge_and_at_most_four_debaters() {
        refuses(&[Proponent, Opponent, Judge, Judge], &["a debate has one judge, not 2"]);
        refuses(&[Proponent, Proponent, Opponent, Opponent, Judge], &[]);
        refuses(&[Proponent, Opponent, Neutral, Moderator, Judge], &[]);
        let five = [Proponent, Proponent, Proponent, Opponent, Opponent, Judge];
        refuses(&five, &["a debate has at most 4 debaters, not 5"]);
    }
}
