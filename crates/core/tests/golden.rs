//! Facts are a disk format: every kind has a golden line, which old and new programs must both understand.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::sync::Arc;

use quorum_core::model::{
    assessment::{Assessment, Criteria, Flags, Rated},
    ballot::{Ballot, Confidence, ConsensusVote, Source},
    command::{Command, CommandId, Note, Say},
    debate::{
        Cast, CastOrigin, DebateSpec, Detection, Diversity, EndedBy, Format, JudgeChange, JudgeFailure,
        Judging, Mode, Part, TalkEnd,
    },
    error::{Code, ErrorClass, Problem},
    event::{
        Abandoned, Absent, Ancestor, Awaited, Broken, Check, Conclusion, Event, Fact, FailedTurn, Fork,
        Lineage, Placed, Reading, SubConcluded, Summarised, Tight, WindUp,
    },
    id::{DiscussionId, Seq, Step, Tenant},
    judgement::{CastList, Claim, Dissent, Synthesis, Verdict},
    lifecycle::Lifecycle,
    likeness::{Comparison, Similarity},
    money::{Price, Spent, Usage, Usd},
    outcome::{Decision, StoppingReason},
    participant::{Participant, Role},
    spec::{
        ConsensusSpec, Dialogue, Limits, Manner, Overflow, Recursion, Simulation, Spec, TimeoutStrategy,
        Timing, Tolerance, WindowSpec,
    },
    time::Timestamp,
    transcript::{Bill, Finish, Turn},
    vacancy::{Ruling, Vacancy},
};

const GOLDEN: &str = include_str!("golden/facts.jsonl");

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
    assert_eq!(kinds.len(), 33, "{kinds:?}");
}

#[test]
fn an_unknown_kind_is_kept_and_passed_over() {
    let line = r#"{"seq":9,"at":0,"active_ms":0,"type":"telepathy","strength":3}"#;
    let fact: Fact = serde_json::from_str(line).unwrap();
    assert_eq!(fact.event, Event::Unknown);
}

/// A new kind does not compile here until it has a name, and the count above until it has a sample.
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
        Event::ConsensusChecked(_) => "consensus_checked",
        Event::SubRequested { .. } => "sub_requested",
        Event::PersonAwaited(_) => "person_awaited",
        Event::SubConcluded(_) => "sub_concluded",
        Event::CommandTaken { .. } => "command_taken",
        Event::WoundUp { .. } => "wound_up",
        Event::Decided { .. } => "decided",
        Event::Concluded(_) => "concluded",
        Event::Failed { .. } => "failed",
        Event::Retried => "retried",
        Event::Unknown => "unknown",
        Event::OrderDrawn { .. } => "order_drawn",
        Event::PartsCast(_) => "parts_cast",
        Event::Compared(_) => "compared",
        Event::Detected(_) => "detected",
        Event::JudgeAwaited(_) => "judge_awaited",
        Event::JudgeChanged(_) => "judge_changed",
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
        .chain(debating())
        .chain(people())
        .chain(windows())
        .chain(vacant())
        .chain(comparing())
        .chain(broken(&step))
        .chain(tenants());
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
            Participant { strengths: vec!["code".into()], ..Participant::of("bob").playing(Role::Opponent) },
        ],
        options: vec!["tabs".into()],
        consensus: ConsensusSpec {
            method: "moderator".into(),
            synthesizer: Some("ann".into()),
            threshold: 0.5,
            include_dissent: true,
            prompt: Some("in one line".into()),
        },
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
        dialogue: Dialogue { both_must_agree: true, min_rounds: 1 },
        debate: DebateSpec::default(),
        window: WindowSpec::default(),
        session: Some("01890000-0000-7000-8000-0000000000ff".parse().unwrap()),
        tenant: Tenant::default(),
        simulation: Some(Simulation {
            seed: 7,
            latency_ms: 5,
            failure: 0.1,
            stubbornness: 0.5,
            dead: vec!["glm".into()],
        }),
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
        text: "tabs".into(),
        started_at: Timestamp(1_767_225_600_000_000),
        duration_ms: 42,
        finish: Finish::Stop,
        bill: Bill { usage, estimated: true, price: Some(price), cost: Some(price.of(usage)) },
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
    vec![
        (None, Event::Opened { spec: spec(), flow: 1, lineage, fork: None }),
        (None, Event::LifecycleChanged { from: Lifecycle::Ready, to: Lifecycle::Initializing }),
        (None, Event::PanelSeated { seated: vec!["ann".into(), "bob".into()], absent }),
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
        reserved,
        nonce: "00000000000000ff".into(),
        digest: Some("cbf29ce484222325".into()),
        repeats: true,
        unheard: 3,
        counted: 0,
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
                retry_in_ms: Some(1_000),
                broken: None,
            },
        ),
        (at(), Event::CallAbandoned { attempt: 3, participant, why: Abandoned::Enough }),
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

fn readings(step: &Step) -> Vec<Sample> {
    let vote = ConsensusVote {
        agrees: true,
        confidence: 80,
        reasoning: "we agree".into(),
        solution: Some("tabs it is".into()),
    };
    let dissent = vec![Dissent { participant: "bob".into(), position: "spaces".into() }];
    let claims = vec![Claim {
        text: "tabs adapt".into(),
        supported_by: vec!["ann".into()],
        attacked_by: vec!["bob".into()],
        unanswered: true,
    }];
    let readings = [
        Reading::Ballot(Ballot {
            choice: "tabs".into(),
            confidence: Confidence::clamped(0.8),
            reasoning: "they adapt".into(),
        }),
        Reading::ConsensusVote(vote.clone()),
        Reading::Verdict(Verdict { summary: "close".into(), quality_score: 70.0, ..Verdict::default() }),
        Reading::Synthesis(Synthesis {
            synthesis: "tabs".into(),
            agreement: Some(0.5),
            agreements: vec!["it matters".into()],
            dissent,
            claims,
        }),
    ];
    let read = readings.into_iter().map(|reading| {
        let event = Event::ReplyRead { participant: "ann".into(), round: 1, source: Source::Stated, reading };
        (Some(step.purpose("read")), event)
    });
    let check = Check {
        round: 1,
        agreed: true,
        skipped: false,
        votes: vec![("ann".into(), vote)],
        solution: Some("tabs".into()),
    };
    read.chain([(Some(Step::from("1/consensus-check/result")), Event::ConsensusChecked(check))]).collect()
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

/// What came with a word about the judge's seat.
fn vacant() -> Vec<Sample> {
    let answers = Step::from("2/judging/*judge after cyd");
    let vacancy = Vacancy {
        lost: "cyd".into(),
        answers: answers.clone(),
        round: 2,
        reason: "no such key".into(),
        candidates: vec!["dan".into(), "ann".into()],
    };
    let taken =
        |id: u64, ruling| (None, Event::CommandTaken { id: CommandId(id), command: Command::Judge(ruling) });
    vec![
        (Some(answers.purpose("awaited")), Event::JudgeAwaited(vacancy)),
        taken(5, Ruling::Swap { to: "dan".into() }),
        taken(6, Ruling::GoWithout),
        taken(7, Ruling::End),
    ]
}

/// What came with comparing by meaning.
fn comparing() -> Vec<Sample> {
    let model = "openai/text-embedding-3-small";
    let debate = DebateSpec { embeddings: Some(model.into()), ..DebateSpec::default() };
    let spec = Arc::new(Spec { debate, ..(*spec()).clone() });
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
        (None, Event::Opened { spec, flow: 2, lineage: None, fork: None }),
        (Some(Step::comparison(2)), Event::Compared(found)),
        (Some(Step::comparison(3)), Event::Compared(failed)),
    ]
}

/// What came with a server that several share.
fn tenants() -> Vec<Sample> {
    let spec = Arc::new(Spec { tenant: Tenant::named("acme"), ..(*spec()).clone() });
    let note = Note { text: "mind the budget".into() };
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None }),
        (None, Event::CommandTaken { id: CommandId(5), command: Command::Note(note) }),
    ]
}

/// What came with windows.
fn windows() -> Vec<Sample> {
    let window = WindowSpec { strategy: "hybrid".into(), summaries: true, overflow: Overflow::End };
    let spec = Arc::new(Spec { window, ..(*spec()).clone() });
    let summary = Step::from("summary/13");
    let placed = Placed {
        attempt: 1,
        participant: "ann".into(),
        provider: "ann".into(),
        model: None,
        reserved: Spent::default(),
        nonce: "00000000000000ff".into(),
        digest: None,
        repeats: false,
        unheard: 0,
        counted: 12_345,
    };
    let full = WindUp::WindowFull { participant: "ann".into() };
    vec![
        (None, Event::Opened { spec, flow: 1, lineage: None, fork: None }),
        (
            Some(Step::from("window/ann")),
            Event::WindowTight(Tight { participant: "ann".into(), percent: 83 }),
        ),
        (Some(summary.clone()), Event::CallPlaced(placed)),
        (
            Some(summary.clone()),
            Event::Summarised(Summarised { covers: 13, heard: 25, turn: Some(turn(&summary)) }),
        ),
        (Some(Step::from("summary/26")), Event::Summarised(Summarised { covers: 26, heard: 50, turn: None })),
        (Some(Step::from("9/speaking/ann/wound-up")), Event::WoundUp { reason: full }),
    ]
}

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
    let end =
        Conclusion { success: false, stopping: StoppingReason::ModelUnavailable, degraded: true, problem };
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
        (None, Event::Retried),
        (None, Event::Unknown),
    ]
}

/// What came with judged debates; at the end, so that the lines above stay as they were.
fn debating() -> Vec<Sample> {
    let part = Part {
        participant: "ann".into(),
        position: "tabs adapt".into(),
        persona: "a typesetter".into(),
        key_arguments: vec!["every reader has eyes".into()],
    };
    let debate = DebateSpec {
        format: Format::ConvergenceSeeking,
        mode: Mode::Simultaneous,
        round_limit: Some(12),
        judging: Judging::EveryRound,
        judge_failure: JudgeFailure::Swap,
        swap_check: true,
        end_on: vec!["drift".into()],
        embeddings: None,
        positions: vec![part.clone()],
        casting: Some(Diversity::Spectrum),
    };
    let spec = Arc::new(Spec { debate, ..(*spec()).clone() });
    let judging = Step::new(2, "judging", "cyd");
    let detection = Detection {
        round: 2,
        detector: "repetition".into(),
        measure: "lexical".into(),
        value: 0.91,
        participant: Some("ann".into()),
    };
    let change =
        JudgeChange { round: 2, from: "cyd".into(), to: Some("dan".into()), rule: JudgeFailure::Swap };
    let end = TalkEnd { round: 2, why: EndedBy::Detector, detector: Some("drift".into()) };
    let reasoning = Some("they differ".to_owned());
    let cast = Cast {
        parts: vec![part.clone()],
        origin: CastOrigin::Assigned,
        by: Some("cyd".into()),
        reasoning: reasoning.clone(),
    };
    let read = |step: Step, reading| {
        let event = Event::ReplyRead { participant: "cyd".into(), round: 2, source: Source::Stated, reading };
        (Some(step.purpose("read")), event)
    };
    let fork = Fork { of: id("01890000-0000-7000-8000-000000000003"), at: Step::new(1, "speaking", "ann") };
    vec![
        (None, Event::Opened { spec, flow: 2, lineage: None, fork: Some(fork) }),
        (Some(judging.purpose("order")), Event::OrderDrawn { order: vec![1, 0] }),
        (Some(Step::from("0/casting/*cast")), Event::PartsCast(cast)),
        (Some(Step::from("2/detected/ann/repetition/lexical")), Event::Detected(detection)),
        (Some(Step::from("2/judging/*judge after cyd")), Event::JudgeChanged(change)),
        (Some(Step::from("2/judging/*end")), Event::TalkEnded(end)),
        read(judging, Reading::Assessment(assessment())),
        read(Step::new(0, "casting", "cyd"), Reading::Casting(CastList { parts: vec![part], reasoning })),
    ]
}

fn assessment() -> Assessment {
    let criteria =
        Criteria { logic: 8.0, evidence: 6.0, engagement: 7.0, novelty: 4.0, clarity: 9.0, relevance: 10.0 };
    Assessment {
        should_continue: true,
        quality_score: 7.5,
        assessments: vec![Rated {
            participant: "ann".into(),
            strengths: vec!["clear".into()],
            weaknesses: vec!["thin".into()],
            score: criteria.score(),
            criteria: Some(criteria),
        }],
        flags: Flags {
            repetitive: true,
            drifting: false,
            diminishing_returns: false,
            convergence_reached: false,
        },
        reasoning: "a fair round".into(),
        recommendations: "go on".into(),
    }
}
