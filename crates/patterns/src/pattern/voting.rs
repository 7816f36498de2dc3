//! Voting: everyone votes in parallel, round by round, and sees after each round how the others
//! voted and why.

use quorum_core::{
    floor::{Floor, halt::Halt},
    model::{
        error::Refusal,
        outcome::Decision,
        phase::{Phase, PhaseTable},
        spec::Spec,
    },
    registry::{Pattern, Usual},
};

use crate::{
    pattern::two_speakers,
    prompts::deciding,
    readers::{
        Ballot,
        ballot::{self, Ballots},
        confidence,
    },
};

const VOTING: Phase = Phase("voting");

pub(crate) const PATTERN: Pattern = Pattern {
    name: "voting",
    summary: "Everyone votes on the options, with a confidence",
    usual: Usual { method: "voting", ..Usual::PLAIN },
    forms: &[&ballot::FORM],
    phases: PhaseTable { first: &[VOTING], next: &[(VOTING, &[VOTING])] },
    check,
    votes: true,
    run: |floor| Box::pin(run(floor)),
    ..Pattern::PLAIN
};

fn check(spec: &Spec) -> Vec<Refusal> {
    [two_speakers(spec), ballot::check(&spec.options)].concat()
}

/// A vote can't be changed within its round (INV-DISC-014): each voter has one step per round, and
/// a step happens once.
async fn run(floor: &mut Floor) -> Result<Option<Decision>, Halt> {
    let spec = floor.spec();
    let ballots = Ballots::on(&spec.options);
    for round in 1..=spec.rounds {
        floor.enter(VOTING, round).await?;
        let before = floor.readings(round - 1);
        let voters = floor.speakers();
        let vote = |who: &_| deciding::ballot(&spec, who, &before);
        floor.ask_until_for(&voters, vote, &ballots, |votes| is_enough(&spec, votes)).await?;
    }
    Ok(None)
}

fn is_enough(spec: &Spec, votes: &[Ballot]) -> bool {
    let stated: Vec<_> = votes.iter().map(|it| Some(it.confidence)).collect();
    confidence::is_enough(spec, &stated)
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use super::*;

    #[test]
    fn b05_a_vote_without_options_is_refused() {
        let spec = Spec { options: Vec::new(), ..spec("voting") };
        let fields: Vec<String> = check(&spec).into_iter().map(|it| it.field).collect();
        assert_eq!(fields, ["votingOptions"]);
    }
}
