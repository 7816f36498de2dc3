//! Plans: who is asked in which order, and the maximum cost.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::sync::Arc;

use quorum::{
    Finished, Forking, Plan, Quorum, Request, Scope,
    model::{
        id::Tenant,
        money::{Price, Usd},
        participant::Participant,
        spec::{Simulation, Spec},
    },
    request::{Seating, Simulate},
    seams::{Voice, Voices},
    voices::{SimulatedVoices, simulated},
};
use serde_json::{Value, json};

fn scope() -> Scope {
    Quorum::builder().simulated().assigning_roles().build().unwrap().scope(Tenant::default(), "ann")
}

async fn plan(scope: &Scope, request: &Request) -> Plan {
    scope.plan(&scope.check(request).unwrap()).await.unwrap()
}

fn asking(pattern: &str, providers: &str) -> Request {
    let providers = Some(providers.split(',').map(str::to_owned).collect());
    let simulate = Some(Simulate { latency_ms: Some(0), stubbornness: Some(1.0), ..Simulate::default() });
    Request { pattern: Some(pattern.to_owned()), providers, simulate, ..Request::on("Tabs or spaces?") }
}

/// The same with these options.
fn with(request: Request, settings: &Value) -> Request {
    let settings = settings.as_object().unwrap().clone().into_iter().collect();
    Request { settings, ..request }
}

fn course(plan: &Plan) -> String {
    let round = |round: Option<u32>| round.map_or("*".to_owned(), |it| it.to_string());
    let line = |it: &quorum::PlannedPhase| {
        let groups: Vec<String> = it.asked.iter().map(|group| group.join("+")).collect();
        format!("{} {}: {}", round(it.round), it.phase, groups.join(" "))
    };
    plan.course.iter().map(line).collect::<Vec<_>>().join("\n")
}

async fn check(request: Request, expected: &str) {
    let plan = plan(&scope(), &request).await;
    assert_eq!(course(&plan), expected);
}

#[tokio::test]
async fn every_pattern_is_planned_as_it_runs() {
    check(asking("synthesis", "a,b"), "1 answering: a+b\n2 answering: a+b\n* deciding: a").await;
    check(asking("round-robin", "a,b"), "1 speaking: a b\n2 speaking: b a\n* deciding: a").await;
    let critique =
        "1 proposing: a\n1 critiquing: b+c\n1 refining: a\n2 critiquing: b+c\n2 refining: a\n2 checking: b";
    check(asking("critique", "a,b,c"), critique).await;
    let options = Some(vec!["tabs".to_owned(), "spaces".to_owned()]);
    let voting = Request { voting_options: options, ..asking("voting", "a,b") };
    check(voting, "1 voting: a+b\n2 voting: a+b").await;
    let dialogue = Request { rounds: Some(1), ..asking("dialogue", "a,b") };
    let expected =
        "1 model-a-turn: a\n1 model-b-turn: b\n1 consensus-check-a: a\n1 consensus-check-b: b\n* deciding: a";
    check(dialogue, expected).await;
    let debate = "0 casting: a\n1 awaiting-responses: b+c\n1 judging: a\n2 awaiting-responses: c b\n2 judging: a\n\
         3 awaiting-responses: b c\n3 judging: a a\n* deciding: a";
    check(asking("debate", "a,b,c"), debate).await;
}

#[tokio::test]
async fn a_limit_of_calls_without_room_for_a_single_speech_is_refused() {
    let scope = scope();
    let least = async |request: Request, least: u32, expected: &str| {
        let limited = |calls| scope.check(&Request { max_calls: Some(calls), ..request.clone() }).unwrap();
        let (planned, held) = (scope.plan(&limited(least - 1)).await, scope.start(limited(least - 1)).await);
        assert_eq!(planned.unwrap_err().to_string(), expected);
        assert_eq!(held.err().unwrap().to_string(), expected);
        assert!(scope.list(0, None).await.unwrap().is_empty(), "nothing was recorded");
        assert!(scope.plan(&limited(least)).await.is_ok());
    };
    let of_both = "maxCalls: must be at least 3: 2 for the first answers, 1 for the decision";
    least(asking("synthesis", "a,b"), 3, of_both).await;
    let of_one = "maxCalls: must be at least 2: 1 for the first answers, 1 for the decision";
    least(asking("round-robin", "a,b"), 2, of_one).await;
    // The positions are assigned before.
    let of_debate = "maxCalls: must be at least 4: 3 for the first answers, 1 for the decision";
    least(asking("debate", "a,b"), 4, of_debate).await;
    let options = Some(["tabs", "spaces"].map(str::to_owned).to_vec());
    let voting = Request { voting_options: options, ..asking("voting", "a,b,c") };
    least(voting, 3, "maxCalls: must be at least 3, which the first answers take").await;
}

/// A vote may carry in its first round; a plan counts the most.
#[tokio::test]
async fn a_vote_is_planned_to_its_last_round_whatever_the_method() {
    let options = Some(vec!["tabs".to_owned(), "spaces".to_owned()]);
    for method in ["voting", "majority", "unanimous", "synthesis"] {
        for threshold in [0.0, 0.5, 1.0] {
            let voting = Request {
                voting_options: options.clone(),
                rounds: Some(3),
                consensus: Some(method.to_owned()),
                ..with(asking("voting", "a,b,c"), &json!({ "threshold": threshold }))
            };
            let plan = plan(&scope(), &voting).await;
            let last = plan.course.iter().filter_map(|it| it.round).max();
            assert_eq!(last, Some(3), "{method} at {threshold}");
        }
    }
}

#[tokio::test]
async fn first_answers_redraws_and_baselines_are_planned() {
    let options = || Some(["tabs", "spaces"].map(str::to_owned).to_vec());
    let first = Request { voting_options: options(), ..asking("synthesis", "a,b") };
    let expected = "0 first: a+b\n1 answering: a+b\n2 answering: a+b\n* deciding: a";
    check(first.clone(), expected).await;
    check(with(first.clone(), &json!({ "noFirst": true })), expected.split_once('\n').unwrap().1).await;
    let drawn = plan(&scope(), &with(first.clone(), &json!({ "baseline": "self-consistency" }))).await;
    assert_eq!(drawn.usual.calls, plan(&scope(), &first).await.usual.calls + 7, "as many as the talk had");
    // A tie is asked about once more, and the most that it can cost has room for that in any case.
    let settled = |providers: &str| Request { voting_options: options(), ..asking("settle", providers) };
    check(settled("a,b,c,d"), "1 settling: a+b c d\n2 redraw: a+b c d").await;
    let three = plan(&scope(), &settled("a,b,c")).await;
    assert_eq!(course(&three), "1 settling: a+b c");
    let calls = three.most.calls / three.usual.calls;
    let vote = plan(&scope(), &Request { rounds: Some(1), ..settled("a,b,c") }).await;
    assert!(calls > vote.most.calls / vote.usual.calls, "{three:?}");
}

#[tokio::test]
async fn c02_a_vote_with_a_person_is_planned_to_its_last_round() {
    let seats = ["a", "b", "eva:person"].map(|it| Seating::Written(it.to_owned())).to_vec();
    let options = Some(vec!["tabs".to_owned(), "spaces".to_owned()]);
    let voting = Request {
        voting_options: options,
        participants: Some(seats),
        providers: None,
        consensus: Some("majority".to_owned()),
        ..asking("voting", "a,b")
    };
    check(voting, "1 voting: a+b eva\n2 voting: a+b eva").await;
}

/// A format that could end early is planned to its last round.
#[tokio::test]
async fn d06_several_judges_are_planned_to_judge_at_once() {
    let debate = Request { rounds: Some(2), ..asking("debate", "a,b,c,d") };
    let debate = with(debate, &json!({ "judges": ["c", "d"], "swapCheck": true }));
    let expected = "0 casting: c\n1 awaiting-responses: a+b\n1 judging: c+d c+d\n2 awaiting-responses: b a\n\
                    2 judging: c+d c+d c+d c+d\n* deciding: c";
    let plan = plan(&scope(), &debate).await;
    assert_eq!(course(&plan), expected);
    assert_eq!(plan.participants[2].calls, 8, "six judgements, the casting and the answer");
}

/// Yes or no, X or Y, which, how; in English, German and Japanese.
const QUESTIONS: [&str; 20] = [
    "Should we rewrite it in Rust?",
    "Is remote work better?",
    "Can a monolith scale?",
    "Do tests pay off?",
    "Tabs or spaces?",
    "Microservices vs Monolith",
    "Postgres or SQLite for one server?",
    "Buy, build or rent?",
    "Which database should we use?",
    "Which of the four seasons is the best?",
    "Who should own the on-call rota?",
    "How do we lower our latency?",
    "How much testing is enough?",
    "Why do rewrites fail?",
    "Sollen wir auf Rust umsteigen?",
    "Homeoffice oder Büro?",
    "Welche Datenbank passt zu uns?",
    "リモートワークを続けるべきですか？",
    "タブとスペースのどちらがよいですか？",
    "どのデータベースを使うべきですか？",
];

#[tokio::test]
async fn d05_every_kind_of_question_is_planned_and_held_with_sides() {
    let scope = scope();
    for topic in QUESTIONS {
        let request = asking("debate", "claude,glm,qwen,gemini");
        let request = Request { topic: topic.to_owned(), rounds: Some(1), ..request };
        let plan = plan(&scope, &request).await;
        let playing = |role: &str| -> Vec<&str> {
            let seats = plan.participants.iter().filter(|it| it.role == role);
            seats.map(|it| it.participant.as_str()).collect()
        };
        let sides = ["proponent", "opponent", "judge", "writer"].map(playing);
        let [[pro], [contra], [judge], [writer]] = sides.each_ref().map(Vec::as_slice) else {
            panic!("{topic}: {sides:?}")
        };
        let mut debaters = [*pro, *contra];
        debaters.sort_by_key(|it| plan.participants.iter().position(|seat| seat.participant == *it));
        let [one, other] = debaters;
        let expected = format!(
            "0 casting: {judge}\n1 awaiting-responses: {one}+{other}\n1 judging: {judge} {judge}\n* deciding: {writer}"
        );
        assert_eq!(course(&plan), expected, "{topic}");
        let (_, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
        let outcome = handle.finished().await.unwrap().outcome();
        let positions = &outcome.fields["positions"];
        assert_eq!((&positions["origin"], &positions["by"]), (&json!("assigned"), &json!(judge)), "{topic}");
        let cast = positions["parts"].as_array().unwrap();
        let argued: Vec<&Value> = cast.iter().map(|it| &it["participant"]).collect();
        assert_eq!(argued, [one, other], "{topic}");
        assert_ne!(cast[0]["position"], cast[1]["position"], "{topic}");
    }
}

#[tokio::test]
async fn d15_the_plan_of_a_fork_says_how_many_answers_are_kept() {
    let scope = scope();
    let debate = Request { rounds: Some(2), ..asking("debate", "a,b,c") };
    let debate = with(debate, &json!({ "judge": "c" }));
    let (past, handle) = scope.start(scope.check(&debate).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    let before = scope.list(0, None).await.unwrap().len();
    let changes = with(Request::default(), &json!({ "judge": "d" }));
    let planned = async |at: &str| {
        let forking = Forking { at: at.to_owned(), without: Vec::new(), changes: changes.clone() };
        let plan = past.plan_fork(&forking).await.unwrap();
        (plan.kept, plan.usual.calls)
    };
    // A casting, four speeches, three judgements and a synthesis in all. What the judge does, the
    // new judge does again, but the positions stay.
    assert_eq!(planned("1/awaiting-responses/a").await, (Some(1), 7));
    assert_eq!(planned("1/awaiting-responses/b").await, (Some(2), 6));
    assert_eq!(planned("2/awaiting-responses/a").await, (Some(4), 4));
    assert_eq!(scope.list(0, None).await.unwrap().len(), before, "nothing was recorded");
}

#[tokio::test]
async fn the_plan_of_a_fork_with_another_judge_counted_a_casting_that_is_not_asked_for() {
    let scope = scope();
    let debate = Request { rounds: Some(2), ..asking("debate", "a,b,c") };
    let debate = with(debate, &json!({ "judge": "c" }));
    let (past, handle) = scope.start(scope.check(&debate).unwrap()).await.unwrap();
    handle.finished().await.unwrap();
    for (changes, at) in [
        (json!({ "judge": "d" }), "1/awaiting-responses/b"),
        (json!({ "judge": "d" }), "2/awaiting-responses/a"),
        (json!({ "swapCheck": true }), "2/awaiting-responses/b"),
    ] {
        let changes = with(Request::default(), &changes);
        let forking = Forking { at: at.to_owned(), without: Vec::new(), changes };
        let planned = past.plan_fork(&forking).await.unwrap();
        let (_, handle) = past.fork(&forking).await.unwrap();
        let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("nobody waits") };
        assert!(state.spent.calls <= planned.usual.calls, "{at}: {:?}", planned.usual);
        let first = planned.course.iter().find(|it| it.phase == "awaiting-responses").unwrap();
        assert_eq!(first.asked.concat().len(), 2, "{at}: answers that are kept stay in the course");
        let asks = |phase: &str| planned.course.iter().any(|it| it.phase == phase);
        assert!(!asks("casting") && asks("judging"), "{at}: {:?}", planned.course);
    }
}

#[tokio::test]
async fn no_talk_is_planned_to_end_early() {
    for format in ["free-form", "convergence-seeking", "round-limited"] {
        let settings = json!({ "debateFormat": format, "roundLimit": 7, "endOn": ["repetition"] });
        let debate = with(asking("debate", "a,b,c"), &settings);
        let plan = plan(&scope(), &debate).await;
        assert_eq!(plan.course.iter().filter_map(|it| it.round).max(), Some(7), "{format}");
    }
    let dialogue = Request { rounds: Some(9), ..asking("dialogue", "a,b") };
    let plan = plan(&scope(), &dialogue).await;
    assert_eq!((plan.usual.calls, plan.course.iter().filter_map(|it| it.round).max()), (37, Some(9)));
}

/// If nothing fails or ends the discussion early, it goes exactly as planned.
#[tokio::test]
async fn the_usual_figures_are_those_of_a_run() {
    for pattern in ["synthesis", "round-robin", "critique", "debate"] {
        for method in ["synthesis", "majority", "unanimous"] {
            let request =
                Request { consensus: Some(method.to_owned()), ..asking(pattern, "claude,gemini,qwen") };
            let scope = scope();
            let plan = plan(&scope, &request).await;
            let (_, handle) = scope.start(scope.check(&request).unwrap()).await.unwrap();
            let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("nobody waits") };
            assert_eq!(plan.usual.calls, state.spent.calls, "{pattern} {method}");
            assert!(state.spent.tokens <= plan.usual.tokens, "{pattern} {method}");
        }
    }
}

#[tokio::test]
async fn hundreds_of_rounds_are_planned_in_time() {
    let debate = Request { max_tokens_per_turn: Some(20_000), ..asking("debate", "a,b,c") };
    let debate = with(debate, &json!({ "debateFormat": "round-limited", "roundLimit": 200 }));
    let plan = plan(&scope(), &debate).await;
    assert_eq!(plan.usual.calls, 603);
    // Late in the discussion every window is full.
    assert!(plan.usual.tokens > 580 * 128_000, "{:?}", plan.usual);
}

/// Simulated voices with a price, except for one.
struct Priced(SimulatedVoices);

impl Voices for Priced {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let dollars = |it: f64| Usd::from_dollars(it).unwrap();
        let price = (who.provider != "glm").then(|| Price::new(dollars(1.0), dollars(10.0)));
        let simulation = Simulation {
            seed: 1,
            latency_ms: 0,
            failure: 0.0,
            stubbornness: 1.0,
            dead: Vec::new(),
            world: None,
        };
        let simulated = Spec { simulation: Some(simulation), ..spec.clone() };
        Some(Voice { price, ..self.0.voice(&simulated, who)? }).filter(|_| who.provider != "nobody")
    }
}

#[tokio::test]
async fn cost_is_counted_and_unpriced_participants_are_named() {
    let quorum = Quorum::builder().voices(Arc::new(Priced(simulated()))).build().unwrap();
    let scope = quorum.scope(Tenant::default(), "ann");
    let asking = |providers: &str| Request { simulate: None, ..asking("synthesis", providers) };
    let counted = plan(&scope, &asking("claude,gemini")).await;
    // Two answers of 1,200 tokens, two of 1,000 and a synthesis of 3,072 at 10 USD per million, and
    // their input.
    assert!((0.0747..0.12).contains(&counted.usual.cost_usd), "{:?}", counted.usual);
    assert!(counted.most.cost_usd > counted.usual.cost_usd && counted.unpriced.is_empty());
    let named = plan(&scope, &asking("claude,gemini,glm,nobody")).await;
    assert_eq!((named.unpriced, named.unavailable), (vec!["glm".to_owned()], vec!["nobody".to_owned()]));
    let capped = plan(&scope, &Request { max_cost: Some(0.05), ..asking("claude,gemini") }).await;
    assert_eq!((capped.usual.cost_usd, capped.most.cost_usd), (0.05, 0.05));
}

/// Priced voices that think, and whose provider may charge more for what it caches.
struct Thoughtful(Priced, u32, Option<Usd>);

impl Voices for Thoughtful {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.0.voice(spec, who)?;
        let price = voice.price.map(|it| Price { written: self.2, ..it });
        Some(Voice { thinking: self.1, price, ..voice })
    }
}

async fn planned_with(thinking: u32, written: Option<Usd>) -> Plan {
    let voices = Thoughtful(Priced(simulated()), thinking, written);
    let quorum = Quorum::builder().voices(Arc::new(voices)).build().unwrap();
    let request = Request { simulate: None, ..asking("synthesis", "claude,gemini") };
    plan(&quorum.scope(Tenant::default(), "ann"), &request).await
}

#[tokio::test]
async fn a_plan_has_room_for_one_more_attempt_with_twice_the_thinking() {
    let (plain, thoughtful) = (planned_with(0, None).await, planned_with(4_096, None).await);
    assert_eq!(plain.most.calls, thoughtful.most.calls);
    // One call, 13 retries, one more if it was too long, and one more if it was all thinking.
    let questions = u64::from(plain.most.calls / 16);
    assert_eq!(questions * 16, u64::from(plain.most.calls));
    // Models that aren't known to think may get the usual room in that last attempt.
    let more = questions * (15 * 4_096 + 8_192 - 4_096);
    assert_eq!(thoughtful.most.tokens - plain.most.tokens, more);
}

#[tokio::test]
async fn a_plan_reserves_what_writing_to_a_cache_costs() {
    let (plain, cached) = (planned_with(0, None).await, planned_with(0, Usd::from_dollars(1.25)).await);
    let more = |of: fn(&Plan) -> f64| of(&cached) - of(&plain);
    assert!(more(|it| it.usual.cost_usd) > 0.0 && more(|it| it.most.cost_usd) > 0.0);
    assert!(more(|it| it.typical.cost_usd).abs() < 1e-9, "what is typical is not written");
    assert_eq!(plain.most.tokens, cached.most.tokens);
}

/// Simulated voices of which glm has this window.
struct Small(Priced, u64);

impl Voices for Small {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        let voice = self.0.voice(spec, who)?;
        let window = if who.provider == "glm" { self.1 } else { voice.window };
        Some(Voice { window, ..voice })
    }
}

fn with_window(window: u64) -> Scope {
    let quorum = Quorum::builder().voices(Arc::new(Small(Priced(simulated()), window))).build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

fn of_six() -> Request {
    let request = asking("round-robin", "claude,gemini,glm,qwen,mistral,grok");
    Request { simulate: None, ..request }
}

#[tokio::test]
async fn an_order_that_no_window_has_room_for_is_refused() {
    let scope = with_window(2_700);
    let order = scope.check(&of_six()).unwrap();
    let refused = scope.plan(&order).await.unwrap_err().to_string();
    let begins = "glm has a window of 2700 tokens. By round 2 its context window is too small for this discussion: what has to be \
                  shown needs at least ";
    let advice = "Use a model with a larger window, fewer participants, or less context";
    assert!(refused.contains(begins) && refused.contains(advice), "{refused}");
    assert_eq!(
        scope.start(order).await.map(drop).unwrap_err().to_string(),
        refused,
        "a start is refused alike"
    );
    assert_eq!(scope.list(10, None).await.unwrap(), [], "nothing was begun");
    for window in [6_000, 100_000] {
        let scope = with_window(window);
        assert!(scope.plan(&scope.check(&of_six()).unwrap()).await.is_ok(), "{window}");
    }
}

#[tokio::test]
async fn summaries_are_allowed_for() {
    let plain = plan(&scope(), &asking("synthesis", "a,b")).await;
    let summarised = Request { window_strategy: Some("summarise".to_owned()), ..asking("synthesis", "a,b") };
    let summarised = plan(&scope(), &summarised).await;
    assert!(summarised.most.calls > plain.most.calls && summarised.usual == plain.usual);
    let asked = Request { window_overflow: Some("ask".to_owned()), ..asking("synthesis", "a,b") };
    assert_eq!(plan(&scope(), &asked).await.most.calls, summarised.most.calls, "people may choose a summary");
}

#[tokio::test]
async fn a_plan_leaves_no_trace() {
    let scope = scope();
    plan(&scope, &asking("synthesis", "a,b")).await;
    assert_eq!(scope.list(10, None).await.unwrap(), []);
}
