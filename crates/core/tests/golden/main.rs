//! Golden lines of every kind of fact. Facts are a disk format, so old and new versions of the
//! program must both read them.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod agents;
mod callers;
mod clients;
mod forks;
mod recall;
mod sources;
mod spending_caps;
mod thinking;
mod windows;
mod working;

use std::sync::Arc;

use quorum_core::model::{
    command::{Command, CommandId, Note, Say},
    error::{Code, ErrorClass, Problem},
    event::{
        Abandoned, Absent, Ancestor, Awaited, Broken, Conclusion, Event, Fact, FailedTurn, Lineage, Noted,
        Placed, Retried, RetryPoint, SubConcluded, TalkEnd, UnreadReply, WindUp,
    },
    id::{DiscussionId, Seq, Step, Tenant},
    lifecycle::Lifecycle,
    likeness::{Comparison, Similarity},
    money::{Price, Spent, Usage, Usd},
    outcome::{Claim, Decision, Dissent, ResultKind, Standing, StoppingReason, Structure},
    participant::{Participant, Role},
    reading::{Reading, Source, Stance},
    ruling::{AwaitedChoice, Ruled, Ruling, RulingAwaited},
    settings::Settings,
    spec::{
        ConsensusSpec, Limits, Manner, Recursion, Simulation, Spec, TimeoutStrategy, Timing, Tolerance,
        WindowSpec,
    },
    time::Timestamp,
    transcript::{Bill, Finish, Turn},
};
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("facts.jsonl");

#[test]
fn every_kind_of_fact_is_written_as_its_golden_line() {
    let written: String = samples().iter().map(|fact| serde_json::to_string(fact).unwrap() + "\n").collect();
    if std::env::var_os("QUORUM_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/facts.jsonl");
        std::fs::write(path, &written).unwrap();
    }
    assert_eq!(written, GOLDEN);
}

#[test]
fn every_golden_line_is_read_as_its_fact() {
    let read: Vec<Fact> = GOLDEN.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, samples());
}

#[test]
fn every_kind_has_a_sample() {
    let mut kinds: Vec<&str> = samples().iter().map(|fact| kind(&fact.event)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 35, "{kinds:?}");
}

#[test]
fn an_unknown_kind_is_kept_and_passed_over() {
    let line = r#"{"seq":9,"at":0,"active_ms":0,"type":"telepathy","strength":3}"#;
    let fact: Fact = serde_json::from_str(line).unwrap();
    assert_eq!(fact.event, Event::Unknown);
}

/// The name of each kind. A new kind doesn't compile until it has a name here, and the count above
/// fails until it has a sample.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Opened { .. } => "opened",
        Event::LifecycleChanged { .. } => "lifecycle_changed",
        Event::PanelSeated { .. } => "panel_seated",
        Event::RoundOpened { .. } => "round_opened",
        Event::RoundClosed { .. } => "round_closed",
        Event::PhaseEntered { .. } => "phase_entered",
        Event::CallPlaced(_) => "call_placed",
        Event::CallFailed { .. } => "call_failed",
        Event::CallAbandoned { .. } => "call_abandoned",
        Event::TurnCompleted { .. } => "turn_completed",
        Event::TurnFailed(_) => "turn_failed",
        Event::GroupClosed { .. } => "group_closed",
        Event::ReplyRead { .. } => "reply_read",
        Event::ReplyUnread(_) => "reply_unread",
        Event::Noted(_) => "noted",
        Event::SubRequested { .. } => "sub_requested",
        Event::PersonAwaited(_) => "person_awaited",
        Event::SubConcluded(_) => "sub_concluded",
        Event::ChildConvened(_) => "child_convened",
        Event::ToolPlaced(_) => "tool_placed",
        Event::ToolUsed(_) => "tool_used",
        Event::CommandTaken { .. } => "command_taken",
        Event::WoundUp { .. } => "wound_up",
        Event::Decided { .. } => "decided",
        Event::Concluded(_) => "concluded",
        Event::Failed { .. } => "failed",
        Event::Retried(_) => "retried",
        Event::Unknown => "unknown",
        Event::OrderDrawn { .. } => "order_drawn",
        Event::Compared(_) => "compared",
        Event::RulingAwaited(_) => "ruling_awaited",
        Event::Ruled(_) => "ruled",
        Event::TalkEnded(_) => "talk_ended",
        Event::WindowTight(_) => "window_tight",
        Event::Summarised(_) => "summarised",
    }
}

fn samples() -> Vec<Fact> {
    let step = Step::new(1, "speaking", "ann");
    let events = opening()
        .into_iter()
        .chain(calls(&step))
        .chain(readings(&step))
        .chain(ending())
        .chain(forks::forks())
        .chain(talks())
        .chain(people())
        .chain(windows::windows())
        .chain(rulings())
        .chain(comparing())
        .chain(broken(&step))
        .chain(tenants())
        .chain(spending_caps::spending_caps())
        .chain(agents::agents())
        .chain(recall::recall())
        .chain(clients::clients())
        .chain(working::working())
        .chain(sources::sources())
        .chain(thinking::only_thoughts(&step))
        .chain(clients::responses())
        .chain(callers::callers())
        .chain(clients::continued_responses())
        .chain(agents::in_roles())
        .chain(recall::other_pattern());
    let number = |(index, (step, event)): (usize, (Option<Step>, Event))| Fact {
        seq: Seq(index as u64 + 1),
        at: Timestamp(1_767_225_600_000_000 + index as i64),
        active_ms: 10 * index as u64,
        step,
        event,
    };
    events.enumerate().map(number).collect()
}

fn id(text: &str) -> DiscussionId {
    text.parse().unwrap()
}

const OPPONENT: Role = Role::named("opponent");

/// One option of each type: a text, a number, a whole number, a boolean, a list, an object.
fn settings() -> Settings {
    Settings::default()
        .with("synthesizer", "ann")
        .with("threshold", 0.5)
        .with("minRoundsBeforeConsensus", 1)
        .with("requireBothConsensus", true)
        .with("endOn", json!(["drift"]))
        .with("stopSequences", json!({ "ann": ["END"] }))
}

fn spec() -> Arc<Spec> {
    let ann =
        Participant { model: Some("ann-1".into()), brief: Some("be brief".into()), ..Participant::of("ann") };
    Arc::new(Spec {
        topic: "tabs or spaces?".into(),
        background: Some("a team of five".into()),
        pattern: "debate".into(),
        rounds: 2,
        participants: vec![
            ann,
            Participant { strengths: vec!["code".into()], ..Participant::of("bob").playing(OPPONENT) },
            Participant::of("cyd").playing(Role::named("judge")).aside(),
        ],
        options: vec!["tabs".into()],
        consensus: ConsensusSpec { method: "moderator".into(), include_dissent: true },
        manner: Manner { temperature: 0.7, max_tokens: 2_048 },
        timing: Timing { step_ms: 60_000, total_ms: 180_000, reserve_ms: 10_000 },
        tolerance: Tolerance { go_on: true, min_providers: 2 },
        limits: Limits {
            calls: Some(20),
            tokens: Some(9_999),
            usd: Usd::from_dollars(0.25),
            allow_unpriced: true,
        },
        recursion: Some(Recursion { max_depth: 2, strategy: TimeoutStrategy::Cascade }),
        early_exit: Some(0.9),
        settings: settings(),
        window: WindowSpec { strategy: "slide".into(), overflow: "truncate".into() },
        session: Some("01890000-0000-7000-8000-0000000000ff".parse().unwrap()),
        tenant: Tenant::default(),
        account: None,
        show_names: true,
        simulation: Some(Simulation {
            seed: 7,
            latency_ms: 5,
            failure: 0.1,
            stubbornness: 0.5,
            dead: vec!["glm".into()],
            world: None,
        }),
        recall: None,
        follows: None,
        recalled: None,
        client: None,
        retry: None,
        graded: false,
        known_voices: None,
        plan: None,
    })
}

fn turn(step: &Step) -> Arc<Turn> {
    let price = Price::new(Usd::from_dollars(3.0).unwrap(), Usd::from_dollars(15.0).unwrap());
    let usage = Usage::new(100, 20);
    Arc::new(Turn {
        step: step.clone(),
        participant: "ann".into(),
        round: 1,
        phase: "speaking".into(),
        form: None,
        text: "tabs".into(),
        prose: None,
        started_at: Timestamp(1_767_225_600_000_000),
        duration_ms: 42,
        finish: Finish::Stop,
        bill: Bill { usage, estimated: true, price: Some(price), cost: Some(price.of(usage)) },
        model: Some("ann-1".into()),
        answered_by: Some("ann-1-20260102".into()),
        reused: true,
    })
}

type Sample = (Option<Step>, Event);

fn opening() -> Vec<Sample> {
    let root = id("01890000-0000-7000-8000-000000000001");
    let chain = vec![Ancestor { id: root, topic: "indentation".into() }];
    let lineage = Some(Lineage { root, parent: root, depth: 1, chain, level_ms: 45_000 });
    let absent = vec![Absent {
        participant: "cyd".into(),
        class: ErrorClass::Authentication,
        message: "no key".into(),
    }];
    let models = [("ann".to_owned(), "ann-1".to_owned())].into();
    let labels = vec![("KX".to_owned(), "ann".to_owned()), ("QV".to_owned(), "bob".to_owned())];
    let agents = Default::default();
    vec![
        (None, Event::Opened { spec: spec(), flow: 1, lineage, fork: None, caller: None }),
        (None, Event::LifecycleChanged { from: Lifecycle::Ready, to: Lifecycle::Initializing }),
        (
            None,
            Event::PanelSeated { seated: vec!["ann".into(), "bob".into()], absent, models, labels, agents },
        ),
        (None, Event::RoundOpened { round: 1 }),
        (None, Event::RoundClosed { round: 1 }),
        (Some(Step::new(1, "speaking", "*")), Event::PhaseEntered { phase: "speaking".into(), round: 1 }),
    ]
}

fn calls(step: &Step) -> Vec<Sample> {
    let reserved = Spent { calls: 1, tokens: 500, usd: Usd::from_dollars(0.01).unwrap() };
    let placed = Placed {
        attempt: 2,
        participant: "ann".into(),
        provider: "ann".into(),
        model: Some("ann-1".into()),
        form: Some("synthesis".into()),
        price: Some(Price::new(Usd::from_dollars(3.0).unwrap(), Usd::from_dollars(15.0).unwrap())),
        reserved,
        nonce: "000000ff".into(),
        digest: Some("cbf29ce484222325".into()),
        repeats: true,
        labels: vec![("ZJ".into(), "bob".into()), ("JQ".into(), "cyd".into())],
        unheard: 3,
        shortened: 2,
        counted: 0,
        max_tokens: 0,
    };
    let failed = FailedTurn {
        participant: "bob".into(),
        round: 1,
        phase: "speaking".into(),
        class: ErrorClass::Timeout,
        message: "no answer".into(),
        attempts: 3,
        duration_ms: 60_000,
        broken: None,
    };
    let (participant, message) = ("ann".to_owned(), "busy".to_owned());
    let class = ErrorClass::RateLimit;
    let at = || Some(step.clone());
    let sub = Some(step.purpose("sub1"));
    let concluded = SubConcluded {
        participant: "ann".into(),
        child: Some(id("01890000-0000-7000-8000-000000000002")),
        synthesis: Some("both".into()),
        problem: Some(Problem::new(Code::CallBudgetExceeded, "spent")),
        spent: reserved,
        ran_ms: 77,
    };
    vec![
        (at(), Event::CallPlaced(placed)),
        (
            at(),
            Event::CallFailed {
                attempt: 2,
                participant: participant.clone(),
                class,
                message,
                limit: None,
                only_thoughts: false,
                retry_in_ms: Some(1_000),
                broken: None,
            },
        ),
        (at(), Event::CallAbandoned { attempt: 3, participant, why: Abandoned::Enough, written: 12 }),
        (at(), Event::TurnCompleted { turn: turn(step) }),
        (Some(Step::new(1, "speaking", "bob")), Event::TurnFailed(failed)),
        (
            Some(step.purpose("closed")),
            Event::GroupClosed { taken: vec!["ann".into()], dropped: vec!["bob".into()] },
        ),
        (sub.clone(), Event::SubRequested { turn: turn(step), topic: "eight or four?".into() }),
        (sub, Event::SubConcluded(concluded)),
    ]
}

/// Answers that broke off.
fn broken(step: &Step) -> Vec<Sample> {
    let usage = Usage { cached: 40, reasoning: 5, ..Usage::new(100, 20) };
    let half = Broken { text: "half a wo".into(), bill: Bill { usage, ..turn(step).bill } };
    let failed = Event::CallFailed {
        attempt: 3,
        participant: "ann".into(),
        class: ErrorClass::Network,
        message: "broke off".into(),
        limit: None,
        only_thoughts: false,
        retry_in_ms: None,
        broken: Some(half.clone()),
    };
    let out = FailedTurn {
        participant: "cyd".into(),
        round: 1,
        phase: "speaking".into(),
        class: ErrorClass::Network,
        message: "broke off".into(),
        attempts: 1,
        duration_ms: 70,
        broken: Some(half),
    };
    vec![(Some(step.clone()), failed), (Some(Step::new(1, "speaking", "cyd")), Event::TurnFailed(out))]
}

/// Readings with every optional field, and with none.
fn readings(step: &Step) -> Vec<Sample> {
    let chosen = Stance { position: "tabs".into(), confidence: 0.8, chooses: true, joins: true };
    let ballot = Reading {
        kind: "ballot".into(),
        version: 1,
        value: json!({ "choice": "tabs", "confidence": 0.8, "reasoning": "they adapt" }),
        told: Some("voted for tabs (confidence 0.80)".into()),
        reason_at: Some("/reasoning".into()),
        stance: Some(chosen),
    };
    let apart = Stance { position: "no consensus".into(), confidence: 0.6, chooses: false, joins: false };
    let vote = Reading {
        kind: "consensus-check".into(),
        version: 2,
        value: json!({ "agrees": false, "confidence": 60, "reasoning": "we differ" }),
        told: Some("finds that there is no consensus (60 of 100 sure)".into()),
        stance: Some(apart),
        ..ballot.clone()
    };
    let plain = Reading {
        kind: "year".into(),
        version: 1,
        value: json!(1989),
        told: None,
        reason_at: None,
        stance: None,
    };
    let sources = [Source::Stated, Source::Inferred, Source::Assumed];
    let read = [ballot, vote, plain].into_iter().zip(sources).map(|(reading, source)| {
        let event = Event::ReplyRead { participant: "ann".into(), round: 1, source, reading };
        (Some(step.purpose("read")), event)
    });
    let form = Some("ballot".to_owned());
    let prose = Some("only the prose".into());
    let formal = Arc::new(Turn { form, prose, reused: false, ..(*turn(step)).clone() });
    let unread = UnreadReply {
        participant: "bob".into(),
        round: 1,
        kind: "ballot".into(),
        wrong: "there is no JSON object with a choice in it".into(),
    };
    let unread = (Some(step.purpose("read")), Event::ReplyUnread(unread));
    read.chain([unread, (Some(step.clone()), Event::TurnCompleted { turn: formal })]).collect()
}

fn people() -> Vec<Sample> {
    let answers = Step::new(2, "speaking", "eva");
    let awaited = Awaited {
        digest: Some("00ff".into()),
        participant: "eva".into(),
        answers: answers.clone(),
        round: 2,
        phase: "speaking".into(),
        prompt: "It is your turn.".into(),
        shape: Some("ballot".into()),
    };
    let say = Say { participant: "eva".into(), text: "both".into() };
    vec![
        (Some(answers.purpose("awaited")), Event::PersonAwaited(awaited)),
        (None, Event::CommandTaken { id: CommandId(4), command: Command::Say(say) }),
    ]
}

/// Decisions of people: awaited, sent, recorded.
fn rulings() -> Vec<Sample> {
    let answers = Step::from("2/judging/*judge after cyd");
    let choice = |name: &str, takes_candidate| AwaitedChoice { name: name.to_owned(), takes_candidate };
    let awaited = RulingAwaited {
        kind: "judge".into(),
        about: "cyd".into(),
        answers: answers.clone(),
        round: 2,
        reason: "no such key".into(),
        choices: vec![choice("swap", true), choice("end", false)],
        candidates: vec!["dan".into(), "ann".into()],
    };
    let ruling = |choice: &str, candidate: Option<&str>| Ruling {
        kind: "judge".into(),
        choice: choice.into(),
        candidate: candidate.map(str::to_owned),
    };
    let (swap, end) = (ruling("swap", Some("dan")), ruling("end", None));
    let taken =
        |id, ruling| (None, Event::CommandTaken { id: CommandId(id), command: Command::Rule(ruling) });
    let ruled =
        |ruling| (Some(answers.clone()), Event::Ruled(Ruled { about: "cyd".into(), round: 2, ruling }));
    vec![
        (Some(answers.purpose("awaited")), Event::RulingAwaited(awaited)),
        taken(5, swap.clone()),
        ruled(swap),
        taken(6, end.clone()),
        ruled(end),
    ]
}

/// Facts added with comparing by meaning.
fn comparing() -> Vec<Sample> {
    let model = "openai/text-embedding-3-small";
    let settings = Settings::default().with("embeddings", model);
    let spec = Arc::new(Spec { settings, ..(*spec()).clone() });
    let found = Comparison {
        round: 2,
        model: model.into(),
        similarities: vec![Similarity { participant: "ann".into(), value: 0.91 }],
        usage: Usage::new(120, 0),
        cost: Usd::from_dollars(0.000_002),
        problem: None,
    };
    let failed = Comparison {
        round: 3,
        similarities: Vec::new(),
        usage: Usage::default(),
        cost: None,
        problem: Some("no embeddings in time".into()),
        ..found.clone()
    };
    vec![
        (None, Event::Opened { spec, flow: 2, lineage: None, fork: None, caller: None }),
        (Some(Step::comparison(2)), Event::Compared(found)),
        (Some(Step::comparison(3)), Event::Compared(failed)),
    ]
}

/// Facts added with servers that several tenants share.
fn tenants() -> Vec<Sample> {
    let spec = Arc::new(Spec { tenant: Tenant::named("acme"), ..(*spec()).clone() });
    let note = Note { text: "mind the budget".into() };
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None, caller: None }),
        (None, Event::CommandTaken { id: CommandId(5), command: Command::Note(note) }),
    ]
}

/// Facts added with context windows.
fn ending() -> Vec<Sample> {
    let problem = Some(Problem {
        participant: Some("bob".into()),
        round: Some(1),
        ..Problem::new(Code::TurnTimeout, "too slow")
    });
    let decision = Decision {
        synthesis: "tabs".into(),
        synthesizer: Some("ann".into()),
        agreement: Some(0.5),
        ..Decision::default()
    };
    let stopping = StoppingReason::MODEL_UNAVAILABLE;
    let end = Conclusion { success: false, stopping, degraded: true, problem };
    vec![
        (None, Event::CommandTaken { id: CommandId(3), command: Command::Stop }),
        (
            Some(Step::from("1/speaking/ann/wound-up")),
            Event::WoundUp { reason: WindUp::TooFew { left: 1, needed: 2 } },
        ),
        (None, Event::Decided { decision: Arc::new(decision) }),
        (None, Event::Concluded(end)),
        (
            None,
            Event::Failed {
                absent: vec![Absent {
                    participant: "bob".into(),
                    class: ErrorClass::Network,
                    message: "gone".into(),
                }],
                problem: Problem::new(Code::InsufficientProviders, "nobody there"),
            },
        ),
        (None, Event::Retried(retried())),
        (None, Event::Unknown),
    ]
}

fn retried() -> Retried {
    let from = Some(RetryPoint { round: 2, phase: "speaking".into() });
    Retried { reseated: vec!["bob".into()], kept: 3, from }
}

/// A decision with every optional field.
fn full_decision() -> Decision {
    let claim = Claim {
        text: "tabs adapt".into(),
        supported_by: vec!["ann".into()],
        attacked_by: vec!["bob".into()],
        unanswered: true,
    };
    let tally = json!({ "votes": { "spaces": 0, "tabs": 2 }, "winner": "tabs" });
    Decision {
        stand_in: Some("bob".to_owned()),
        synthesis: "tabs".into(),
        synthesizer: Some("ann".into()),
        standing: Standing::voted(ResultKind::Adopted, 2, 3),
        agreement: Some(0.5),
        agreements: vec!["it matters".into()],
        structure: Structure::Unreadable,
        dissent: vec![Dissent { participant: "bob".into(), position: "spaces".into() }],
        claims: vec![claim],
        provenance: Vec::new(),
        dropped: Vec::new(),
        found: [("tally".to_owned(), tally)].into_iter().collect(),
        problem: Some(Problem::new(Code::ConsensusFailed, "a tie")),
        degraded: true,
    }
}

/// What patterns and methods record in their own terms.
fn talks() -> Vec<Sample> {
    let note = |kind: &str, value: Value, told: Option<&str>| {
        let told = told.map(str::to_owned);
        Event::Noted(Noted { kind: kind.to_owned(), round: 2, value, told })
    };
    let found = json!({ "detector": "repetition", "measure": "lexical", "value": 0.91 });
    let completed = StoppingReason::COMPLETED;
    let noticed =
        TalkEnd { round: 2, why: "detector".into(), detail: Some("drift".into()), stopping: completed };
    let stopping = StoppingReason::named("consensus_reached");
    let agreed = TalkEnd { round: 2, why: "consensus-reached".into(), detail: None, stopping };
    vec![
        (
            Some(Step::from("2/noted/*detection ann repetition lexical")),
            note("detection", found, Some("repetition: ann in round 2")),
        ),
        (Some(Step::from("2/noted/*tempo")), note("tempo", json!(["andante", 72]), None)),
        (Some(Step::from("2/judging/*end")), Event::TalkEnded(noticed)),
        (Some(Step::from("2/consensus-check-b/*end")), Event::TalkEnded(agreed)),
        (None, Event::Decided { decision: Arc::new(full_decision()) }),
    ]
}
