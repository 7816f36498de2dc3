//! The formats and modes of a debate, each as the steps it takes (D03).

use quorum_core::{
    call::Message,
    model::{error::ErrorClass, outcome::Outcome, spec::Spec},
    vocabulary::option::Named,
};
use quorum_patterns::debate::{DebateSpec, Format, Judging, Mode};
use quorum_testkit::{
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    results::{Results, ordered},
    table,
};

fn of(format: Format, round_limit: u32) -> DebateSpec {
    let round_limit = (format != Format::StructuredRounds).then_some(round_limit);
    DebateSpec { format, round_limit, ..DebateSpec::default() }
}

/// An assessment with these values and equal scores for everyone.
pub(crate) fn says(should_continue: bool, flags: &[&str]) -> String {
    let flag = |name: &str| flags.contains(&name);
    let of_one = |label: &str| json!({"participant": label, "strengths": [], "weaknesses": [], "score": 6});
    json!({
        "shouldContinue": should_continue, "qualityScore": 6, "assessments": [of_one("<ann>"), of_one("<bob>")],
        "flags": {
            "repetitive": flag("repetitive"), "drifting": flag("drifting"),
            "diminishingReturns": flag("diminishingReturns"), "convergenceReached": flag("convergenceReached"),
        },
        "reasoning": "<ann> and <bob> spoke", "recommendations": "see above",
    })
    .to_string()
}

async fn hold(panel: Panel, debate: DebateSpec) -> (Outcome, Table) {
    let table = table(&panel);
    let (outcome, _) = table.hold(ordered(&debate)).await;
    (outcome, table)
}

/// The steps without the deciding, abbreviated: c for casting, s for a speech, j for a judgement.
fn flow(table: &Table) -> String {
    let steps = table.panel.steps().into_iter().filter(|step| !step.contains("/deciding/"));
    let short = steps.map(|step| step.replace("awaiting-responses", "s").replace("judging", "j"));
    let short = short.map(|step| step.replace("casting", "c"));
    short.collect::<Vec<_>>().join(" ")
}

fn ended(outcome: &Outcome) -> Option<(u32, String)> {
    outcome.judging()?.ended.map(|it| (it.round, it.why))
}

#[tokio::test(start_paused = true)]
async fn d03_each_format_takes_its_steps() {
    let (_, structured) = hold(panel(), of(Format::StructuredRounds, 0)).await;
    assert_eq!(flow(&structured), "0/c/cyd 1/s/ann 1/s/bob 1/j/cyd 2/s/bob 2/s/ann 2/j/cyd 2/j/cyd/verdict");
    let (outcome, limited) = hold(panel(), of(Format::RoundLimited, 1)).await;
    assert_eq!(flow(&limited), "0/c/cyd 1/s/ann 1/s/bob 1/j/cyd 1/j/cyd/verdict");
    assert_eq!(ended(&outcome), None, "it ran its rounds");
    let enough = panel().writes_in("cyd", 2, "assessment", &says(false, &[]));
    let (outcome, free) = hold(enough, of(Format::FreeForm, 10)).await;
    assert_eq!(flow(&free), "0/c/cyd 1/s/ann 1/s/bob 1/j/cyd 2/s/bob 2/s/ann 2/j/cyd 2/j/cyd/verdict");
    assert_eq!(ended(&outcome), Some((2, "judge".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn d03_free_form_ends_at_its_limit_when_the_judge_never_ends_it() {
    let (outcome, _) = hold(panel(), of(Format::FreeForm, 4)).await;
    assert_eq!((outcome.rounds.len(), ended(&outcome)), (4, None));
}

#[tokio::test(start_paused = true)]
async fn d03_a_round_limited_debate_has_exactly_its_rounds_whatever_the_judge_says() {
    let impatient =
        panel().writes("cyd", "assessment", &says(false, &["convergenceReached", "diminishingReturns"]));
    let (outcome, _) = hold(impatient, of(Format::RoundLimited, 5)).await;
    assert_eq!((outcome.rounds.len(), ended(&outcome)), (5, None));
}

#[tokio::test(start_paused = true)]
async fn d03_a_structured_debate_opens_rebuts_and_closes_whatever_the_judge_says() {
    let impatient = panel().writes("cyd", "assessment", &says(false, &["convergenceReached"]));
    let table = table(&impatient);
    let (outcome, _) = table.hold(Spec { rounds: 3, ..spec("debate") }).await;
    assert_eq!(outcome.rounds.len(), 3);
    let tasks: Vec<String> = (1..=3)
        .map(|round| {
            let step = format!("{round}/awaiting-responses/bob");
            let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step).unwrap();
            let Some(Message::Ask(text)) = asked.call.messages.last() else { panic!("nothing was asked") };
            // The judge's hints come before.
            let task = text.rsplit("\n\n").next().unwrap();
            task.split(['.', ':']).nth(1).unwrap().trim().to_owned()
        })
        .collect();
    assert_eq!(tasks, ["Opening", "Rebuttal", "Closing"]);
}

#[tokio::test(start_paused = true)]
async fn d03_convergence_seeking_ends_on_convergence_or_diminishing_returns() {
    for (flag, why) in [("convergenceReached", "convergence"), ("diminishingReturns", "diminishing-returns")]
    {
        let meeting = panel().writes_in("cyd", 3, "assessment", &says(true, &[flag]));
        let (outcome, _) = hold(meeting, of(Format::ConvergenceSeeking, 10)).await;
        assert_eq!((outcome.rounds.len(), ended(&outcome)), (3, Some((3, why.to_owned()))));
        assert!(outcome.success && outcome.verdict().is_some());
    }
    let (outcome, _) = hold(
        panel().writes("cyd", "assessment", &says(false, &["repetitive", "drifting"])),
        of(Format::ConvergenceSeeking, 3),
    )
    .await;
    assert_eq!((outcome.rounds.len(), ended(&outcome)), (3, None), "nothing else ends it");
}

#[tokio::test(start_paused = true)]
async fn d03_simultaneous_speakers_do_not_hear_each_other_and_take_no_longer_than_one() {
    for (mode, heard, seconds) in [(Mode::Sequential, 3, 6), (Mode::Simultaneous, 2, 5)] {
        let began = Instant::now();
        let debate = DebateSpec { mode, judging: Judging::VerdictOnly, ..DebateSpec::default() };
        let (_, table) = hold(panel().takes("*", 1_000), debate).await;
        // The casting, two parallel openings, two more speeches, the verdict and the synthesis.
        assert_eq!(began.elapsed().as_secs(), seconds, "{mode:?}");
        let last = table
            .panel
            .asked()
            .into_iter()
            .find(|it| it.step.as_str() == "2/awaiting-responses/ann")
            .unwrap();
        let said = last.call.messages.iter().filter(|it| matches!(it, Message::Said { .. })).count();
        assert_eq!(said, heard, "{mode:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn d03_in_a_free_form_debate_the_second_speaker_answers_the_first_from_the_start() {
    let (_, table) = hold(panel(), of(Format::FreeForm, 1)).await;
    let bob =
        table.panel.asked().into_iter().find(|it| it.step.as_str() == "1/awaiting-responses/bob").unwrap();
    assert_eq!(bob.call.messages.iter().filter(|it| matches!(it, Message::Said { .. })).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn d06_a_debate_can_be_judged_only_at_its_end() {
    let debate = DebateSpec { judging: Judging::VerdictOnly, ..DebateSpec::default() };
    let (outcome, table) = hold(panel(), debate).await;
    assert_eq!(flow(&table), "0/c/cyd 1/s/ann 1/s/bob 2/s/bob 2/s/ann 2/j/cyd/verdict");
    assert!(outcome.verdict().is_some() && outcome.judging().is_none());
}

#[tokio::test(start_paused = true)]
async fn d13_a_debate_continues_while_each_side_has_a_speaker_in_every_format() {
    let mut four = spec("debate");
    let mut dan = four.participants[1].clone();
    dan.name = "dan".to_owned();
    four.participants.insert(2, dan);
    for (format, _) in Format::ALL.iter().copied() {
        let table = table(&panel().fails("bob", ErrorClass::Validation));
        let (outcome, _) =
            table.hold(Spec { settings: of(format, 3).settings(), rounds: 3, ..four.clone() }).await;
        assert!(outcome.success && outcome.integrity.degraded, "{format:?}: {:?}", outcome.error);
        assert_eq!((outcome.rounds.len(), ended(&outcome)), (3, None), "{format:?}");
        let judged = &outcome.judging().unwrap().rounds[2].assessment.assessments;
        assert_eq!(judged.iter().map(|it| it.participant.as_str()).collect::<Vec<_>>(), ["ann", "dan"]);
    }
}

#[tokio::test(start_paused = true)]
async fn d02_an_invalid_debate_is_refused_with_all_its_problems() {
    let debate = DebateSpec { end_on: vec!["boredom".into()], ..of(Format::RoundLimited, 0) };
    let debate = DebateSpec { round_limit: None, ..debate };
    let refused = table(&panel()).open(ordered(&debate)).await.unwrap_err();
    let told = refused.to_string();
    assert!(
        told.contains("needs a round limit") && told.contains("endOn: there is no \"boredom\""),
        "{told}"
    );
}

#[tokio::test(start_paused = true)]
async fn d17_a_complete_debate_of_three_rounds() {
    let (outcome, _) = hold(panel(), of(Format::RoundLimited, 3)).await;
    let speeches = |who: &str| {
        let responses = outcome.rounds.iter().flat_map(|it| &it.responses);
        responses.filter(|it| it.provider == who && it.phase == "awaiting-responses").count()
    };
    assert_eq!((speeches("ann"), speeches("bob")), (3, 3));
    let judging = outcome.judging().unwrap();
    assert!(judging.rounds.iter().all(|it| it.assessment.assessments.len() == 2));
    assert_eq!((judging.rounds.len(), outcome.verdict().is_some(), outcome.success), (3, true, true));
}
