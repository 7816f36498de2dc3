//! The seats of a debate: equal sides, who speaks when, who is judged, who votes and who writes the
//! answer.

use quorum_core::{
    call::{Message, MessageRole},
    model::{
        error::ErrorClass,
        outcome::Outcome,
        participant::{Participant, Role},
        settings::Settings,
        spec::{Limits, Spec},
    },
    registry::{MissingRoles, Seating},
};
use quorum_patterns::{
    debate::{DebateSpec, Format, Mode},
    registry,
    roles::{JUDGE, MODERATOR, NEUTRAL, OPPONENT, PROPONENT, WRITER},
};
use quorum_testkit::{
    panel::{AskedCall, Panel, panel},
    spec::{deciding_by, spec},
    table::Table,
};

use crate::{results::Results, table};

/// A debate of these participants in these roles.
pub(crate) fn seated(seats: &[(&str, Role)]) -> Spec {
    let seat = |(name, role): &(&str, Role)| Participant {
        name: (*name).to_owned(),
        aside: [JUDGE, WRITER].contains(role),
        ..Participant::of("scripted").playing(role.clone())
    };
    Spec { participants: seats.iter().map(seat).collect(), ..spec("debate") }
}

/// Two against two before eve, with fay to write.
pub(crate) fn two_against_two() -> Spec {
    seated(&[
        ("ann", PROPONENT),
        ("bob", OPPONENT),
        ("cyd", PROPONENT),
        ("dan", OPPONENT),
        ("eve", JUDGE),
        ("fay", WRITER),
    ])
}

/// A debate of these providers, whose roles are assigned.
fn assigned(names: &str) -> Spec {
    let mut participants: Vec<Participant> = names.split(' ').map(Participant::of).collect();
    let registry = registry();
    let pattern = registry.pattern("debate").unwrap();
    let (settings, topic, missing) = (&Settings::default(), "tabs or spaces?", MissingRoles::Assign);
    let table = &mut Seating { participants: &mut participants, settings, topic, missing };
    assert_eq!((pattern.seat)(table), []);
    participants.iter_mut().for_each(|it| it.provider = "scripted".to_owned());
    Spec { participants, rounds: pattern.defaults.rounds, ..spec("debate") }
}

/// All steps, abbreviated: c for casting, s for a speech, j for a judgement, d for the decision.
fn flow(table: &Table) -> String {
    let short = [("casting", "c"), ("awaiting-responses", "s"), ("judging", "j"), ("deciding", "d")];
    let shorten = |step: String| short.iter().fold(step, |step, (long, short)| step.replace(long, short));
    table.panel.steps().into_iter().map(shorten).collect::<Vec<_>>().join(" ")
}

async fn hold(panel: &Panel, order: Spec) -> (Outcome, Table) {
    let table = table(panel);
    let (outcome, _) = table.hold(order).await;
    (outcome, table)
}

fn asked(table: &Table, step: &str) -> AskedCall {
    let asked = table.panel.asked().into_iter().find(|it| it.step.as_str() == step);
    asked.unwrap_or_else(|| panic!("{step} was not asked: {}", flow(table)))
}

#[tokio::test(start_paused = true)]
async fn inv_disc_008_two_to_six_providers_debate_judge_and_write() {
    for (names, expected) in [
        (
            "a b",
            "0/c/a-judge 1/s/a 1/s/b 1/j/a-judge 2/s/b 2/s/a 2/j/a-judge 3/s/a 3/s/b 3/j/a-judge \
             3/j/a-judge/verdict 3/d/a-judge",
        ),
        ("a b c", "0/c/a 1/s/b 1/s/c 1/j/a 2/s/c 2/s/b 2/j/a 3/s/b 3/s/c 3/j/a 3/j/a/verdict 3/d/a"),
        ("a b c d", "0/c/b 1/s/c 1/s/d 1/j/b 2/s/d 2/s/c 2/j/b 3/s/c 3/s/d 3/j/b 3/j/b/verdict 3/d/a"),
        (
            "a b c d e",
            "0/c/a 1/s/b 1/s/c 1/s/d 1/s/e 1/j/a 2/s/c 2/s/d 2/s/e 2/s/b 2/j/a 3/s/d 3/s/e 3/s/b 3/s/c 3/j/a \
             3/j/a/verdict 3/d/a",
        ),
        (
            "a b c d e f",
            "0/c/b 1/s/c 1/s/d 1/s/e 1/s/f 1/j/b 2/s/d 2/s/e 2/s/f 2/s/c 2/j/b 3/s/e 3/s/f 3/s/c 3/s/d 3/j/b \
             3/j/b/verdict 3/d/a",
        ),
    ] {
        let (outcome, table) = hold(&panel(), assigned(names)).await;
        assert_eq!(flow(&table), expected, "{names}");
        assert!(outcome.success && !outcome.integrity.degraded, "{names}: {:?}", outcome.error);
        assert_eq!(outcome.fields.get("writerRemark"), None, "{names}: no debater writes");
    }
}

#[tokio::test(start_paused = true)]
async fn d03_the_order_rotates_only_where_debaters_speak_in_turn() {
    let order = |format, mode| {
        let round_limit = (format != Format::StructuredRounds).then_some(3);
        let debate = DebateSpec { format, mode, round_limit, no_casting: true, ..DebateSpec::default() };
        Spec { settings: debate.settings(), rounds: 3, ..two_against_two() }
    };
    for (format, mode, expected) in [
        (
            Format::StructuredRounds,
            Mode::Sequential,
            ["ann bob cyd dan", "bob cyd dan ann", "cyd dan ann bob"],
        ),
        (Format::FreeForm, Mode::Sequential, ["ann bob cyd dan", "bob cyd dan ann", "cyd dan ann bob"]),
        (Format::RoundLimited, Mode::Simultaneous, ["ann bob cyd dan"; 3]),
    ] {
        let (outcome, _) = hold(&panel(), order(format, mode)).await;
        let spoke = outcome.rounds.iter().map(|round| {
            let speeches = round.responses.iter().filter(|it| it.phase == "awaiting-responses");
            speeches.map(|it| it.provider.as_str()).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(spoke.collect::<Vec<_>>(), expected, "{format:?} {mode:?}");
    }
    let lost = panel().fails_at("cyd", "2/awaiting-responses/cyd", ErrorClass::Validation);
    let (_, table) = hold(&lost, order(Format::FreeForm, Mode::Sequential)).await;
    let third: Vec<String> =
        table.panel.steps().into_iter().filter(|it| it.starts_with("3/awaiting")).collect();
    let expected = ["dan", "ann", "bob"].map(|it| format!("3/awaiting-responses/{it}"));
    assert_eq!(third, expected, "a seat that is lost is skipped, and the others keep their places");
}

#[tokio::test(start_paused = true)]
async fn d06_the_judge_is_told_who_could_answer_whom() {
    let (_, table) = hold(&panel().says("ann", "tabs").says("bob", "spaces"), spec("debate")).await;
    let told = |step: &str| asked(&table, step).call.system.to_string();
    let first = "\n\nIn round 1 nobody could answer anyone.";
    assert!(told("1/judging/cyd").contains(first), "{}", told("1/judging/cyd"));
    for step in ["2/judging/cyd", "2/judging/cyd/verdict"] {
        let call = asked(&table, step).call;
        let label = |of: &str| {
            call.messages.iter().find_map(|it| match it {
                Message::Said { turn, .. } => (&*turn.text == of).then(|| turn.participant.clone()),
                Message::Found { .. } | Message::Ask(_) => None,
            })
        };
        let (ann, bob) = (label("tabs").unwrap(), label("spaces").unwrap());
        let second = format!("\n\nIn round 1 nobody could answer anyone; in round 2 {ann} had read {bob}.");
        assert!(call.system.contains(&second), "{second} is missing in {}", call.system);
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_debate_ends_when_a_side_is_empty_whoever_else_is_there() {
    let side = |role: Role, more: Role| {
        seated(&[("ann", PROPONENT), ("bob", OPPONENT), ("cyd", JUDGE), ("dan", role), ("eve", more)])
    };
    for (order, ended) in [
        (side(PROPONENT, NEUTRAL), Some((1, "side-empty"))),
        (side(NEUTRAL, MODERATOR), Some((1, "side-empty"))),
        (side(OPPONENT, NEUTRAL), None),
    ] {
        let order = Spec { rounds: 3, ..order };
        let (outcome, _) = hold(&panel().fails("bob", ErrorClass::Validation), order.clone()).await;
        let end = outcome.ended.as_ref().map(|it| (it.round, it.why.as_str()));
        assert_eq!(end, ended, "{:?}", order.participants);
        assert!(outcome.verdict().is_some(), "a verdict on what there is");
        assert_eq!(outcome.success, ended.is_none(), "{:?}", outcome.error);
    }
}

#[tokio::test(start_paused = true)]
async fn d13_a_side_that_never_came_is_not_cast() {
    let (outcome, table) = hold(&panel().away("bob"), spec("debate")).await;
    assert_eq!((flow(&table).as_str(), outcome.success), ("", false));
    assert_eq!(outcome.ended.map(|it| (it.round, it.why)), Some((0, "side-empty".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn d06_a_neutral_seat_speaks_and_is_judged_and_does_not_write() {
    let order = seated(&[("ann", PROPONENT), ("bob", OPPONENT), ("cyd", JUDGE), ("gus", NEUTRAL)]);
    let (outcome, table) = hold(&panel(), order.clone()).await;
    let judged = outcome.judging().unwrap().rounds;
    let names: Vec<&str> =
        judged[0].assessment.assessments.iter().map(|it| it.participant.as_str()).collect();
    assert_eq!(names, ["ann", "bob", "gus"]);
    assert!(flow(&table).ends_with(" 2/d/cyd"), "{}", flow(&table));
    let cast = outcome.positions().unwrap().parts;
    assert_eq!(cast.len(), 2, "it has no side to be cast for: {cast:?}");
    let settings = order.settings.clone().with("synthesizer", "gus");
    let (_, table) = hold(&panel(), Spec { settings, ..order }).await;
    assert!(flow(&table).ends_with(" 2/d/gus"), "unless it is named: {}", flow(&table));
}

#[tokio::test(start_paused = true)]
async fn d13_a_writer_that_fails_is_replaced_by_those_without_a_side_first() {
    let order = seated(&[
        ("ann", PROPONENT),
        ("bob", OPPONENT),
        ("mia", MODERATOR),
        ("cyd", JUDGE),
        ("dan", JUDGE),
        ("eve", WRITER),
    ]);
    let everyone = ["eve", "cyd", "dan", "mia", "ann", "bob"];
    for failing in 0..everyone.len() {
        let failing = &everyone[..failing];
        let panel = failing.iter().fold(panel(), |panel, who| {
            panel.fails_at(who, &format!("2/deciding/{who}"), ErrorClass::Validation)
        });
        let (outcome, table) = hold(&panel, order.clone()).await;
        let writer = everyone[failing.len()];
        assert_eq!(outcome.consensus.synthesizer.as_deref(), Some(writer), "{}", flow(&table));
        let remark = outcome.field::<String>("writerRemark");
        let argued = ["ann", "bob"].contains(&writer);
        let expected =
            argued.then(|| format!("Written by {writer}, who argued for this position: what {writer} holds"));
        assert_eq!(remark, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn b02_a_debater_named_as_synthesizer_writes_out_of_role_and_the_result_says_so() {
    for (settings, remark) in [
        (Settings::default(), "Written by bob, who argued for this position: what bob holds"),
        (
            Settings::default().with("noCasting", true),
            "Written by bob, who argued against what the question proposes.",
        ),
    ] {
        let settings = settings.with("synthesizer", "bob");
        let (outcome, table) = hold(&panel(), Spec { settings, ..two_against_two() }).await;
        assert!(outcome.success && !outcome.integrity.degraded, "{:?}", outcome.error);
        assert_eq!(outcome.field::<String>("writerRemark").as_deref(), Some(remark));
        let writing = asked(&table, "2/deciding/bob").call;
        assert!(writing.render().iter().all(|it| it.0 == MessageRole::User), "no turn is its own");
        let said = writing.messages.iter().filter(|it| matches!(it, Message::Said { own: false, .. }));
        assert_eq!(said.count(), 8, "its own turns are among them");
        for part in ["Positions were assigned", "You spoke in it", "you take no side"] {
            assert!(writing.system.contains(part), "{part} is missing in {}", writing.system);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn inv_disc_012_the_writer_hears_everyone_in_alphabetical_order_and_that_positions_were_given_out() {
    let (_, table) = hold(&panel(), two_against_two()).await;
    let asked = asked(&table, "2/deciding/fay");
    let writing = &asked.call;
    let said: Vec<String> = writing
        .messages
        .iter()
        .filter_map(|it| match it {
            Message::Said { turn, .. } => Some(format!("{}{}", asked.name(&turn.participant), turn.round)),
            Message::Found { .. } | Message::Ask(_) => None,
        })
        .collect();
    assert_eq!(said, ["ann1", "bob1", "cyd1", "dan1", "ann2", "bob2", "cyd2", "dan2"]);
    assert!(writing.system.contains("Positions were assigned, so conviction in a speech is no evidence."));
    assert!(!writing.system.contains("You spoke in it"));
}

#[tokio::test(start_paused = true)]
async fn b02_a_vote_after_a_debate_is_out_of_role_and_includes_judge_and_writer() {
    let options = vec!["tabs".to_owned(), "spaces".to_owned()];
    for method in ["voting", "majority", "unanimous"] {
        for options in [options.clone(), Vec::new()] {
            let order = deciding_by(two_against_two(), method);
            let (outcome, table) = hold(&panel(), Spec { options: options.clone(), ..order.clone() }).await;
            let votes = outcome.voting_results().unwrap().vote_records;
            let voters: Vec<&str> = votes.iter().map(|it| it.provider.as_str()).collect();
            assert_eq!(voters, ["ann", "bob", "cyd", "dan", "eve", "fay"], "{method}");
            let vote = asked(&table, "2/deciding/bob/vote").call;
            let Some(Message::Ask(asked)) = vote.messages.last() else { panic!("nothing was asked") };
            let released = "You are no longer bound to any position you were given";
            assert!(asked.contains(released), "{asked}");
            let is_ballot =
                |it: &&AskedCall| it.call.shape.as_ref().is_some_and(|it| it.form.kind == "ballot");
            let named = table.panel.asked();
            let named = named.iter().filter(is_ballot).map(|it| it.call.system.lines().next());
            // No voter is told of a role, whether it argues, judges or writes.
            let roles: Vec<&str> = named.flatten().filter(|it| it.contains('(')).collect();
            assert_eq!(roles, [""; 0], "{method}");
            // Everything that was needed fits, and one call less does not.
            let needed = table.panel.steps().len() as u32;
            for (calls, success) in [(needed, true), (needed - 1, false)] {
                let limits = Limits { calls: Some(calls), ..Limits::default() };
                let order = Spec { options: options.clone(), limits, ..order.clone() };
                let (outcome, limited) = hold(&panel(), order).await;
                assert_eq!(outcome.success, success, "{method} with {calls} calls: {}", flow(&limited));
                let cast = outcome.voting_results().unwrap().vote_records;
                assert_eq!(cast.len(), 6, "{method}: the votes were kept back");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn with_two_providers_a_named_synthesizer_is_the_second_seat_and_not_the_debater() {
    let seat = |name: &str, provider: &str, role: Role| Participant {
        name: name.to_owned(),
        aside: role == JUDGE,
        ..Participant::of(provider).playing(role)
    };
    let participants = vec![
        seat("scripted-a", "scripted-a", PROPONENT),
        seat("scripted-b", "scripted-b", OPPONENT),
        seat("scripted-b-judge", "scripted-b", JUDGE),
    ];
    for method in ["synthesis", "moderator"] {
        for (named, writer, is_sided) in [
            ("scripted-b", "scripted-b-judge", false),
            ("scripted-b-judge", "scripted-b-judge", false),
            ("scripted-a", "scripted-a", true),
        ] {
            let mut order =
                deciding_by(Spec { participants: participants.clone(), ..spec("debate") }, method);
            order.settings.set("synthesizer", named);
            let (outcome, table) = hold(&panel(), order).await;
            assert_eq!(outcome.consensus.synthesizer.as_deref(), Some(writer), "{method}: {named}");
            assert_eq!(outcome.fields.contains_key("writerRemark"), is_sided, "{method}: {named}");
            asked(&table, &format!("2/deciding/{writer}"));
        }
    }
}
