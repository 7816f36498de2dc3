//! Discussions as traces: the spans that a collector gets, whatever happens to the processes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{StreamExt, future::BoxFuture};
use quorum::{
    Quorum, Request, Signal,
    memory::MemoryStore,
    model::{
        command::Say,
        error::ErrorClass,
        event::{Event, Fact, ToolError},
        id::{DiscussionId, Tenant},
        participant::Participant,
        retry_policy::RetryPolicy,
        spec::{Recursion, Spec, TimeoutStrategy, Timing, Tolerance},
    },
    seams::{Release, Store, Telemetry, ToolUse, Tools},
};
use quorum_patterns::{
    debate::{DebateSpec, Format},
    registry,
    workflow::plan::{Action, Plan, PlanStep, PromptAction, ToolAction},
};
use quorum_telemetry::{Content, Tracing};
use quorum_testkit::{
    collector::{CollectedSpan, Collector},
    embedder::ScriptedEmbedder,
    faulty::Faulty,
    panel::{Panel, panel},
    spec::spec,
    table::Table,
};
use serde_json::{Value, json};
use tokio::time::{advance, sleep};

/// The attributes that trees of spans show.
const SHOWN: &[&str] = &[
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.response.model",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.response.finish_reasons",
    "quorum.round",
    "quorum.phase",
    "quorum.attempt",
    "quorum.success",
    "quorum.stopping_reason",
    "error.type",
];

fn tracing(collector: &Collector, content: Content) -> Arc<Tracing> {
    Arc::new(Tracing::sending_to(&collector.traces(), content).unwrap())
}

/// A process with this script, whose spans go to the collector.
fn process(owner: &str, store: Arc<dyn Store>, panel: &Panel, tracing: &Arc<Tracing>) -> Table {
    Table::over(store, panel, registry()).reported_to(owner, tracing.clone())
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Everyone answers, one after the other in virtual time, so that spans have an order.
fn in_order() -> Panel {
    panel().takes("ann", 10).takes("bob", 20).takes("cyd", 30)
}

async fn held(panel: &Panel, spec: Spec, content: Content) -> (DiscussionId, Collector) {
    let collector = Collector::start();
    let tracing = tracing(&collector, content);
    let table = process("one", memory(), panel, &tracing);
    let id = table.open(spec).await.unwrap();
    table.run(id).await.unwrap();
    tracing.flush().await.unwrap();
    (id, collector)
}

#[tokio::test(start_paused = true)]
async fn a_debate_is_one_trace_of_its_steps_and_attempts() {
    let panel = in_order().fails_first("bob", ErrorClass::Network, 1).answers_as("ann", "scripted-2");
    let one_round = Spec { rounds: 1, ..spec("debate") };
    let (id, collector) = held(&panel.uses("*", 120, 30), one_round, Content::LeftOut).await;
    assert_eq!(collector.tree(SHOWN), include_str!("golden/debate.spans").trim_end());
    let spans = collector.spans();
    let plain = id.to_string().replace('-', "");
    assert!(spans.iter().all(|it| it.trace == plain), "the trace is not that of the discussion");
    let conversation = id.to_string();
    assert!(spans.iter().all(|it| it.attributes["gen_ai.conversation.id"] == conversation));
    let operation = |it: &CollectedSpan| it.attributes["gen_ai.operation.name"].clone();
    assert!(spans.iter().all(|it| it.is_client == (operation(it) == "chat")));
    assert_eq!(spans[0].resource["service.name"], "quorum");
}

#[tokio::test(start_paused = true)]
async fn a_sub_discussion_is_below_the_step_that_asked_for_it() {
    let recursion = Some(Recursion { max_depth: 1, strategy: TimeoutStrategy::Fixed });
    let spec = Spec { recursion, rounds: 1, ..spec("round-robin") };
    let panel = in_order().convenes("ann", "what do tabs cost?");
    let (id, collector) = held(&panel, spec, Content::LeftOut).await;
    assert_eq!(
        collector.tree(&["quorum.step", "quorum.attempt"]),
        include_str!("golden/recursive.spans").trim_end()
    );
    let conversations: BTreeSet<String> =
        collector.spans().iter().map(|it| it.attributes["gen_ai.conversation.id"].clone()).collect();
    let child = id.derived("1/speaking/ann/sub1").to_string();
    assert_eq!(conversations, BTreeSet::from([id.to_string(), child]));
}

#[tokio::test(start_paused = true)]
async fn content_is_left_out_unless_it_is_asked_for() {
    let panel = in_order().says("ann", "the secret opinion of ann");
    let one_round = Spec { rounds: 1, topic: "the secret question?".to_owned(), ..spec("round-robin") };
    let (_, plain) = held(&panel, one_round.clone(), Content::LeftOut).await;
    let bytes: Vec<u8> = plain.requests().into_iter().flat_map(|it| it.body).collect();
    assert!(!bytes.is_empty());
    for secret in ["secret question", "secret opinion"] {
        assert!(!String::from_utf8_lossy(&bytes).contains(secret), "{secret} was sent");
    }
    let (_, whole) = held(&panel.anew(), one_round, Content::Captured).await;
    let spans = whole.spans();
    let of = |name: &str, attribute: &str| {
        let span = spans.iter().find(|it| it.name.starts_with(name)).unwrap();
        span.attributes.get(attribute).cloned().unwrap_or_default()
    };
    assert_eq!(
        of("invoke_workflow", "gen_ai.input.messages"),
        r#"[{"role":"user","parts":[{"type":"text","content":"the secret question?"}]}]"#
    );
    assert_eq!(
        of("chat", "gen_ai.output.messages"),
        r#"[{"role":"assistant","parts":[{"type":"text","content":"the secret opinion of ann"}],"finish_reason":"stop"}]"#
    );
}

/// Checks the spans of a discussion against its record: each attempt has one span, which has ended,
/// all are in one trace, and each is below another that has arrived.
#[track_caller]
fn check(facts: &[Fact], spans: &[CollectedSpan], name: &str) {
    let mut placed: Vec<(String, String)> = Vec::new();
    for fact in facts {
        if let (Event::CallPlaced(placement), Some(step)) = (&fact.event, &fact.step) {
            placed.push((step.to_string(), placement.attempt.to_string()));
        }
    }
    let attempt = |it: &CollectedSpan| {
        let value = |name: &str| it.attributes.get(name).cloned().unwrap_or_default();
        (value("quorum.step"), value("quorum.attempt"))
    };
    let mut called: Vec<(String, String)> = spans.iter().filter(|it| it.is_client).map(attempt).collect();
    placed.sort();
    called.sort();
    assert_eq!(called, placed, "{name}: attempts");
    let mut by_id: BTreeMap<&str, u32> = BTreeMap::new();
    spans.iter().for_each(|it| *by_id.entry(&it.id).or_default() += 1);
    let twice: Vec<_> = by_id.iter().filter(|it| *it.1 != 1).collect();
    assert!(twice.is_empty(), "{name}: spans that came twice: {twice:?}");
    let roots: Vec<_> = spans.iter().filter(|it| it.parent.is_empty()).collect();
    assert_eq!(roots.len(), 1, "{name}: roots");
    let lost: Vec<_> =
        spans.iter().filter(|it| !it.parent.is_empty() && !by_id.contains_key(it.parent.as_str())).collect();
    assert!(lost.is_empty(), "{name}: spans without the one above: {lost:?}");
    assert!(spans.iter().all(|it| it.trace == roots[0].trace), "{name}: one trace");
    assert!(spans.iter().all(|it| it.time.0 <= it.time.1), "{name}: a span ends before it begins");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_takes_over_ends_the_spans_of_one_that_was_killed() {
    let spec = spec("debate");
    let mut interrupted = 0;
    for writes in 1.. {
        let (collector, store) = (Collector::start(), memory());
        let first = tracing(&collector, Content::LeftOut);
        let dying: Arc<dyn Store> = Arc::new(Faulty::dying_after(store.clone(), writes));
        let table = process("one", dying, &in_order(), &first);
        let id = table.open(spec.clone()).await.unwrap();
        let died = table.run(id).await.is_err();
        first.flush().await.unwrap();
        let before = collector.spans().len();
        let second = tracing(&collector, Content::LeftOut);
        let table = process("one", store, &in_order(), &second);
        table.run(id).await.unwrap();
        second.flush().await.unwrap();
        let (facts, spans) = (table.facts(id).await, collector.spans());
        check(&facts, &spans, &format!("killed after write {writes}"));
        let is_cut_off =
            |it: &&CollectedSpan| it.attributes.get("error.type").is_some_and(|it| it == "interrupted");
        interrupted += spans[before..].iter().filter(is_cut_off).count();
        if !died {
            assert!(8 < writes, "it was killed {writes} times only");
            break;
        }
    }
    assert!(4 < interrupted, "only {interrupted} spans of a dead process were ended");
}

#[tokio::test(start_paused = true)]
async fn two_nodes_over_one_store_make_one_trace() {
    let (collector, store) = (Collector::start(), memory());
    let (here, there) = (tracing(&collector, Content::LeftOut), tracing(&collector, Content::LeftOut));
    let one = process("one", store.clone(), &in_order(), &here);
    let two = process("two", store, &in_order(), &there);
    let id = one.open(Spec { rounds: 2, ..spec("round-robin") }).await.unwrap();
    let handle = one.engine.run(id).await.unwrap();
    let mut signals = Box::pin(handle.signals());
    while let Some(signal) = signals.next().await {
        if matches!(&signal, Signal::Fact { fact, .. } if matches!(fact.event, Event::TurnCompleted { .. })) {
            one.engine.release(id, Release::Now);
        }
    }
    drop(signals);
    handle.finished().await.unwrap();
    here.flush().await.unwrap();
    let of_the_first = collector.spans().len();
    two.run(id).await.unwrap();
    there.flush().await.unwrap();
    let spans = collector.spans();
    assert!(0 < of_the_first && of_the_first < spans.len(), "{of_the_first} of {}", spans.len());
    check(&two.facts(id).await, &spans, "two nodes");
}

#[tokio::test(start_paused = true)]
async fn the_span_of_a_caller_is_recorded_and_linked() {
    let collector = Collector::start();
    let tracing = tracing(&collector, Content::LeftOut);
    let built = Quorum::builder().voices(Arc::new(panel())).telemetry(tracing.clone());
    let quorum = built.build().unwrap();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let scope = quorum.scope(Tenant::default(), "ann").called_by(parent.parse().unwrap());
    let providers = Some(["scripted-one", "scripted-two"].map(str::to_owned).to_vec());
    let spec = scope.check(&Request { providers, ..Request::on("tabs or spaces?") }).unwrap();
    let (discussion, handle) = scope.start(spec).await.unwrap();
    handle.finished().await.unwrap();
    quorum.flush_telemetry().await.unwrap();
    let facts = discussion.facts(quorum::model::id::Seq::START).await.unwrap();
    let Event::Opened { caller, .. } = &facts[0].event else { panic!("the first fact") };
    assert_eq!(caller.map(|it| it.to_string()).as_deref(), Some(parent));
    let linked: Vec<CollectedSpan> =
        collector.spans().into_iter().filter(|it| !it.links.is_empty()).collect();
    assert_eq!(linked.len(), 1);
    assert!(linked[0].name.starts_with("invoke_workflow"));
    assert_eq!(linked[0].links, ["0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331"]);
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_collector_is_reported_and_changes_nothing_else() {
    // Nothing listens on a port that was given back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tracing =
        Arc::new(Tracing::sending_to(&format!("http://{free}/v1/traces"), Content::LeftOut).unwrap());
    let table = process("one", memory(), &in_order(), &tracing);
    let (outcome, _) = table.hold(Spec { rounds: 1, ..spec("round-robin") }).await;
    assert!(outcome.success);
    assert_eq!(tracing.flush().await, Err("Operation failed: HTTP export failed: network error".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_given_up_and_participants_that_fail_have_spans_with_their_errors() {
    let timing = Timing { step_ms: 60_000, total_ms: 75_000, reserve_ms: 30_000 };
    let spec = Spec { timing, rounds: 1, ..spec("synthesis") };
    let panel = in_order().fails("bob", ErrorClass::Validation).hangs("cyd");
    let (_, collector) = held(&panel, spec, Content::LeftOut).await;
    let expected = [
        "invoke_workflow synthesis type=DISCUSSION_TIMEOUT ERROR",
        "  invoke_agent ann",
        "    chat scripted",
        "  invoke_agent bob type=validation ERROR",
        "    chat scripted type=validation ERROR",
        "  invoke_agent cyd abandoned=deadline type=timeout ERROR",
        "    chat scripted abandoned=deadline type=timeout ERROR",
        "  invoke_agent ann",
        "    chat scripted",
    ];
    assert_eq!(collector.tree(&["quorum.abandoned", "error.type"]), expected.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_persons_step_lasts_from_the_question_to_the_answer() {
    let (collector, mut spec) = (Collector::start(), Spec { rounds: 1, ..spec("round-robin") });
    spec.participants[1] = Participant::person("bob");
    let tracing = tracing(&collector, Content::LeftOut);
    let table = process("one", memory(), &in_order(), &tracing);
    let id = table.open(spec).await.unwrap();
    table.run(id).await.unwrap();
    advance(Duration::from_secs(60)).await;
    let say = Say { participant: "bob".to_owned(), text: "Spaces.".to_owned() };
    table.engine.say(id, say, None).await.unwrap();
    table.run(id).await.unwrap();
    tracing.flush().await.unwrap();
    let expected = [
        "invoke_workflow round-robin",
        "  invoke_agent ann phase=speaking",
        "    chat scripted",
        "  invoke_agent bob phase=speaking",
        "  invoke_agent cyd phase=speaking",
        "    chat scripted",
        "  invoke_agent ann phase=deciding",
        "    chat scripted",
    ];
    assert_eq!(collector.tree(&["quorum.phase"]), expected.join("\n"));
    let spans = collector.spans();
    let bob = spans.iter().find(|it| it.name == "invoke_agent bob").unwrap();
    assert!(60_000_000_000 <= bob.time.1 - bob.time.0, "{:?}", bob.time);
}

#[tokio::test(start_paused = true)]
async fn comparing_speeches_by_meaning_is_a_call_of_the_discussion() {
    let debate = DebateSpec {
        format: Format::RoundLimited,
        round_limit: Some(2),
        embeddings: Some("acme/embed-1".to_owned()),
        ..DebateSpec::default()
    };
    let panel = in_order().embeds(ScriptedEmbedder::default());
    let spec = Spec { settings: debate.settings(), ..spec("debate") };
    let (_, collector) = held(&panel, spec, Content::LeftOut).await;
    let tree = collector.tree(&["quorum.step"]);
    // The speeches of round 1 have nothing before them to be compared with.
    let compared: Vec<&str> = tree.lines().filter(|it| it.contains("embeddings")).collect();
    assert_eq!(compared, ["  embeddings embed-1 step=2/comparing/*"], "{tree}");
}

/// A tool that fails at its first use.
#[derive(Default)]
struct Flaky(AtomicBool);

impl Tools for Flaky {
    fn use_tool(&self, _: ToolUse) -> BoxFuture<'static, Result<Value, ToolError>> {
        let has_failed = self.0.swap(true, Ordering::Relaxed);
        Box::pin(async move {
            sleep(Duration::from_millis(100)).await;
            if has_failed { Ok(json!("marked")) } else { Err(ToolError::new("BUSY", "once").transient()) }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn tools_and_discussions_of_a_workflow_are_below_its_run() {
    let retry = RetryPolicy { max_attempts: 2, backoff_ms: 100, multiplier: 1.0, on: Vec::new() };
    let mark =
        ToolAction { tool: "mark".to_owned(), arguments: json!({}), repeatable: true, retry: Some(retry) };
    let ask =
        PromptAction { prompt: Some("Why?".to_owned()), system: None, json: false, spec: spec("prompt") };
    let step = |id: &str, step_type: &str, after: &[&str], action: Action| PlanStep {
        id: id.to_owned(),
        step_type: step_type.to_owned(),
        after: after.iter().map(|it| (*it).to_owned()).collect(),
        timeout_ms: None,
        may_fail: false,
        action,
    };
    let plan = Plan {
        workflow: "test".to_owned(),
        version: "1.0.0".to_owned(),
        name: "Test".to_owned(),
        steps: vec![
            step("mark", "tool", &[], Action::Tool(mark)),
            step("ask", "prompt", &["mark"], Action::Prompt(Box::new(ask))),
        ],
        input: json!({}),
        variables: serde_json::Map::new(),
        concurrency: 1,
        rerun_tools: false,
        first_run: None,
    };
    let run = Spec {
        pattern: "workflow".to_owned(),
        participants: Vec::new(),
        tolerance: Tolerance { go_on: true, min_providers: 0 },
        plan: Some(Arc::new(serde_json::to_value(plan).unwrap())),
        ..spec("prompt")
    };
    let collector = Collector::start();
    let tracing = tracing(&collector, Content::LeftOut);
    let table = Table::over(memory(), &in_order(), registry()).using(Arc::new(Flaky::default()));
    let table = table.reported_to("one", tracing.clone());
    assert!(table.hold(run).await.0.success);
    tracing.flush().await.unwrap();
    let expected = [
        "invoke_workflow workflow",
        "  execute_tool mark attempt=1 type=BUSY ERROR",
        "  execute_tool mark attempt=2",
        "  invoke_workflow prompt",
        "    invoke_agent ann",
        "      chat scripted attempt=1",
    ];
    assert_eq!(collector.tree(&["quorum.attempt", "error.type"]), expected.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_retried_discussion_is_a_span_of_its_own_in_the_same_trace() {
    let (collector, store) = (Collector::start(), memory());
    let tracing = tracing(&collector, Content::LeftOut);
    let one_round = Spec { rounds: 1, ..spec("round-robin") };
    let failing = in_order().fails("bob", ErrorClass::Network).fails("cyd", ErrorClass::Network);
    let table = process("one", store.clone(), &failing, &tracing);
    let id = table.open(one_round).await.unwrap();
    table.run(id).await.unwrap();
    let table = process("one", store, &in_order(), &tracing);
    table.run(id).await.unwrap();
    tracing.flush().await.unwrap();
    let spans = collector.spans();
    let runs = spans.iter().filter(|it| it.name == "invoke_workflow round-robin");
    let ended: BTreeMap<&str, &str> = runs
        .map(|it| (it.attributes["quorum.success"].as_str(), it.attributes.get("error.type")))
        .map(|(success, error)| (success, error.map_or("", String::as_str)))
        .collect();
    assert_eq!(ended, BTreeMap::from([("false", "DISCUSSION_INSUFFICIENT_PROVIDERS"), ("true", "")]));
    assert!(spans.iter().all(|it| it.trace == spans[0].trace));
}
