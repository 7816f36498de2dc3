//! Tests of the written debate: as a whole, stopped in every place, and left and resumed.

use std::collections::{BTreeMap, BTreeSet};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::BoxStream};
use quorum::{
    Discussion, Handle,
    call::Call,
    model::{
        command::Command,
        error::ProviderError,
        event::{Event, Fact},
        lifecycle::Lifecycle,
        participant::Participant,
    },
    seams::{Chunk, Provider, Voice, Voices},
};
use tokio::sync::Notify;

use super::*;

const SPEAKERS: [&str; 4] = ["claude", "gemini", "qwen", "mistral"];

fn written() -> WrittenVoices {
    WrittenVoices::new(Script::of_the_demo(), Pace::INSTANT)
}

fn with_voices(voices: impl Voices + 'static) -> Quorum {
    Quorum::builder().simulated_by(Arc::new(voices)).assigning_roles().build().unwrap()
}

fn quorum() -> Quorum {
    with_voices(written())
}

/// A command that is sent while the voice of one step speaks. That voice ends only after the
/// discussion has taken the command.
struct Interruption {
    step: String,
    speaking: Notify,
    sent: Notify,
}

impl Interruption {
    fn at(step: &str) -> Arc<Interruption> {
        Arc::new(Interruption { step: step.to_owned(), speaking: Notify::new(), sent: Notify::new() })
    }

    fn quorum(self: &Arc<Self>) -> Quorum {
        with_voices(InterruptedVoices { voices: written(), at: self.clone() })
    }

    async fn send(&self, discussion: &Discussion, command: Command) {
        self.speaking.notified().await;
        discussion.send(command).await.unwrap();
        let is_taken = |it: &Fact| matches!(it.event, Event::CommandTaken { .. });
        while !discussion.facts(Seq::START).await.unwrap().iter().any(is_taken) {
            tokio::task::yield_now().await;
        }
        self.sent.notify_one();
    }
}

struct InterruptedVoices {
    voices: WrittenVoices,
    at: Arc<Interruption>,
}

impl Voices for InterruptedVoices {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.voices.voice(spec, who)?;
        let provider = InterruptedSpeaker { speaker: voice.provider.clone(), at: self.at.clone() };
        Some(Voice { provider: Arc::new(provider), ..voice })
    }
}

struct InterruptedSpeaker {
    speaker: Arc<dyn Provider>,
    at: Arc<Interruption>,
}

impl Provider for InterruptedSpeaker {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let reply = self.speaker.reply(call.clone());
        if call.step.as_str() != self.at.step {
            return reply;
        }
        let at = self.at.clone();
        let interrupted = async move {
            at.speaking.notify_one();
            at.sent.notified().await;
            reply
        };
        interrupted.flatten_stream().boxed()
    }

    fn check<'a>(&'a self, who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        self.speaker.check(who)
    }
}

async fn start(quorum: &Quorum) -> (Discussion, Handle) {
    let scope = local::scope(quorum);
    scope.start(scope.check(&request()).unwrap()).await.unwrap()
}

/// What was said, by step.
fn spoken(facts: &[Fact]) -> BTreeMap<String, String> {
    let turns = facts.iter().filter_map(|it| match &it.event {
        Event::TurnCompleted { turn } => Some((turn.step.as_str().to_owned(), turn.text.to_string())),
        _ => None,
    });
    turns.collect()
}

fn steps(facts: &[Fact]) -> BTreeSet<String> {
    spoken(facts).into_keys().collect()
}

#[track_caller]
fn nobody_failed(facts: &[Fact]) {
    let failed = |it: &&Fact| {
        matches!(it.event, Event::CallFailed { .. } | Event::TurnFailed(_) | Event::ReplyUnread(_))
    };
    assert_eq!(facts.iter().find(failed).map(|it| &it.event), None);
}

/// Whether this step is part of the debate without interruption.
fn is_uninterrupted(step: &str) -> bool {
    step.starts_with('4') || !["/verdict", "/vote", "/deciding/claude"].iter().any(|it| step.ends_with(it))
}

#[tokio::test]
async fn every_line_of_the_script_is_spoken_and_none_is_missing() {
    let (discussion, handle) = start(&quorum()).await;
    handle.finished().await.unwrap();
    let facts = discussion.facts(Seq::START).await.unwrap();
    let script = Script::of_the_demo();
    let written = script.steps().into_iter().filter(|it| is_uninterrupted(it)).map(str::to_owned);
    assert_eq!(steps(&facts), written.collect());
    nobody_failed(&facts);
}

/// The demo, stopped as soon as this step has spoken.
async fn stopped_after(step: &str) -> (Discussion, Vec<Fact>) {
    let at = Interruption::at(step);
    let (discussion, handle) = start(&at.quorum()).await;
    at.send(&discussion, Command::Stop).await;
    handle.finished().await.unwrap();
    let facts = discussion.facts(Seq::START).await.unwrap();
    (discussion, facts)
}

#[tokio::test]
async fn a_stop_broke_the_demo() {
    let script = Script::of_the_demo();
    let debating = script.steps().into_iter().filter(|it| is_uninterrupted(it) && !it.starts_with('4'));
    let mut reached = BTreeSet::new();
    for step in debating {
        let (discussion, facts) = stopped_after(step).await;
        nobody_failed(&facts);
        let state = discussion.state().await.unwrap();
        assert_eq!(state.lifecycle, Lifecycle::Completed, "{step}");
        assert!(!state.outcome().synthesis.is_empty(), "{step}");
        let closing = crate::render::closing::lines(&state.outcome());
        assert!(!closing[0].contains("nobody spoke"), "{step}: {closing:?}");
        for closing in steps(&facts).into_iter().filter(|it| it.contains("deciding")) {
            reached.insert(closing);
        }
        let judges = facts.iter().filter_map(|it| match &it.event {
            Event::TurnCompleted { turn } if turn.phase == "judging" => Some(turn.participant.as_str()),
            _ => None,
        });
        assert!(judges.into_iter().all(|it| it == "gemini"), "{step}");
    }
    for round in 1..=3 {
        for who in SPEAKERS {
            let vote = format!("{round}/deciding/{who}/vote");
            assert!(reached.contains(&vote), "{vote} of {reached:?}");
        }
    }
}

#[tokio::test]
async fn a_stop_after_a_round_gets_the_lines_written_for_it() {
    for round in 1..=3 {
        let (_, facts) = stopped_after(&format!("{round}/judging/gemini")).await;
        let spoken = spoken(&facts);
        let script = Script::of_the_demo();
        let closing = script.steps().into_iter().filter(|it| !is_uninterrupted(it));
        for step in closing.filter(|it| it.starts_with(&round.to_string())) {
            let label = script.text(step).split_whitespace().next().unwrap();
            let said = spoken.get(step).unwrap_or_else(|| panic!("{step} of {:?}", spoken.keys()));
            assert!(said.starts_with(label), "{step}: {said}");
        }
    }
}

#[tokio::test]
async fn a_demo_that_is_left_continues_with_the_same_words() {
    let at = Interruption::at("2/awaiting-responses/mistral");
    let (discussion, handle) = start(&at.quorum()).await;
    at.send(&discussion, Command::Pause).await;
    handle.finished().await.unwrap();
    let state = discussion.state().await.unwrap();
    assert_eq!(state.lifecycle, Lifecycle::Paused);
    assert!(is_demo(&state.spec));
    discussion.resume_here().await.unwrap().finished().await.unwrap();
    let whole = start(&quorum()).await;
    whole.1.finished().await.unwrap();
    let resumed = discussion.facts(Seq::START).await.unwrap();
    nobody_failed(&resumed);
    assert_eq!(steps(&resumed), steps(&whole.0.facts(Seq::START).await.unwrap()));
}
