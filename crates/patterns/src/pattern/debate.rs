//! Debate: openings at once, rebuttals in turn, closings; then the judge's verdict.

use quorum_core::{
    craft::{Loss, Pattern},
    floor::{Floor, halt::Halt},
    model::{
        error::{Code, Refusal},
        outcome::Decision,
        participant::{Participant, Role},
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
};

use crate::{
    prompts::{deciding, listed, talk},
    verdict::Verdicts,
};

const AWAITING_RESPONSES: Phase = Phase("awaiting-responses");
const JUDGING: Phase = Phase("judging");

const MOST_DEBATERS: usize = 4;

pub(crate) const PATTERN: Pattern = Pattern {
    name: "debate",
    summary: "Opposing sides before a judge",
    flow: 1,
    phases: PhaseTable {
        first: &[AWAITING_RESPONSES],
        next: &[(AWAITING_RESPONSES, &[AWAITING_RESPONSES, JUDGING])],
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
    let (judges, debaters) = (spec.playing(Role::Judge).len(), debaters(spec).len());
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
    refusals
}

async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let debaters = debaters(&spec);
    for round in 1..=spec.rounds {
        // One side alone is no debate; the judge gets what there is (D13).
        if floor.present(&debaters).len() < 2 {
            break;
        }
        floor.enter(AWAITING_RESPONSES, round).await?;
        let speakers = floor.present(&spec.speakers());
        if round == 1 {
            floor.ask_all(&speakers, |who| talk::speech(&spec, who, round)).await?;
        } else {
            for speaker in &speakers {
                floor.ask(speaker, talk::speech(&spec, speaker, round)).await?;
            }
        }
    }
    if !floor.transcript().is_empty() {
        judge(floor, &spec, &debaters).await?;
    }
    Ok(None)
}

/// Without a judge, or without a verdict that can be read, the debate is concluded all the same.
async fn judge(floor: &mut Floor, spec: &Spec, debaters: &[Participant]) -> Result<(), Halt> {
    floor.enter(JUDGING, floor.round()).await?;
    for judge in spec.playing(Role::Judge) {
        let ask = deciding::verdict(spec, &judge, debaters);
        floor.ask_for(&judge, ask, &Verdicts::on(debaters)).await?;
    }
    Ok(())
}

fn debaters(spec: &Spec) -> Vec<Participant> {
    let sides = [Role::Proponent, Role::Opponent];
    spec.participants.iter().filter(|it| sides.contains(&it.role)).cloned().collect()
}

#[cfg(test)]
mod tests {
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
