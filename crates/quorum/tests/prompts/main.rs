//! The requests of every pattern as they would be sent: language, labels, blindness, repetition.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod questions;

use std::collections::{BTreeMap, BTreeSet};

use quorum::{Quorum, Request, Scope, SentRequest, model::id::Tenant, request::flags::list};

const PATTERNS: [&str; 8] =
    ["synthesis", "round-robin", "critique", "voting", "settle", "dialogue", "debate", "roundtable"];

/// The vendors and models that no prompt may name, whoever is seated.
const SEATED: [&str; 4] = ["claude", "gemini", "qwen", "glm"];

/// Questions of all kinds, each with the language that its answer is asked for in.
const QUESTIONS: [(&str, &str); 20] = [
    ("Should a team of five split its monolith into microservices?", "English"),
    ("Is remote work better than working in an office?", "English"),
    ("Tabs or spaces?", "English"),
    ("Which database should we use for a real-time app?", "English"),
    ("PostgreSQL or SQLite for a small shop?", "English"),
    ("How do we cut the time that our builds take by half?", "English"),
    ("Why did the release on Friday fail, and what should we do about it?", "English"),
    ("Should we rewrite the parser or repair the one that we have?", "English"),
    ("What would you tell me about a move to Google Cloud?", "English"),
    ("Is it a good idea to give everyone the right to deploy?", "English"),
    ("Soll unser Team auf vier Tage in der Woche umstellen?", "German"),
    ("Welche Datenbank ist die beste für eine kleine Firma?", "German"),
    ("Kaufen oder selbst bauen, und warum ist das eine besser als das andere?", "German"),
    ("Wie können wir die Kosten für den Betrieb halbieren?", "German"),
    ("Faut-il interdire les voitures dans le centre de la ville ?", "French"),
    ("¿Debería la empresa pagar el transporte de los empleados?", "Spanish"),
    ("週休三日制を導入すべきですか？", "Japanese"),
    ("小さな会社にはどのデータベースが最適ですか？", "Japanese"),
    ("PostgreSQLとSQLiteのどちらを選ぶべきですか？", "Japanese"),
    ("我们应该把单体拆成微服务吗？", "Chinese"),
];

fn scope() -> Scope {
    let quorum = Quorum::builder().assigning_roles().simulated().build().unwrap();
    quorum.scope(Tenant::default(), "a test")
}

fn request(topic: &str, pattern: &str) -> Request {
    let votes = ["voting", "settle"].contains(&pattern);
    let seats = if pattern == "dialogue" { "claude,gemini" } else { "claude,gemini,qwen,glm" };
    Request {
        pattern: Some(pattern.to_owned()),
        providers: Some(list(seats)),
        voting_options: votes.then(|| ["the first", "the second"].map(str::to_owned).to_vec()),
        rounds: Some(2),
        offline: Some(true),
        ..Request::on(topic)
    }
}

async fn sent(request: &Request) -> Vec<SentRequest> {
    let scope = scope();
    let spec = scope.check(request).unwrap();
    scope.rehearse(&spec).await.unwrap()
}

/// The requests of a discussion.
struct Held {
    pattern: &'static str,
    question: &'static str,
    language: &'static str,
    requests: Vec<SentRequest>,
}

/// Every question in every pattern.
async fn everything() -> Vec<Held> {
    let mut all = Vec::new();
    for (question, language) in QUESTIONS {
        for pattern in PATTERNS {
            let requests = sent(&request(question, pattern)).await;
            all.push(Held { pattern, question, language, requests });
        }
    }
    all
}

fn task(request: &SentRequest) -> &str {
    &request.messages.last().unwrap().text
}

/// The whole request as one text.
fn whole(request: &SentRequest) -> String {
    let messages: Vec<&str> = request.messages.iter().map(|it| it.text.as_str()).collect();
    format!("{}\n{}", request.system, messages.join("\n"))
}

/// Whether the seat has a system text of its own for this: it judges, casts or writes, or its view
/// of the others is drawn anew.
fn is_aside(request: &SentRequest) -> bool {
    matches!(request.form.as_deref(), Some("assessment" | "verdict" | "casting" | "synthesis"))
}

/// One test for all questions and patterns, because each of them is previewed once.
#[tokio::test]
async fn twenty_questions_are_put_fairly_in_every_pattern() {
    let all = everything().await;
    every_answer_is_asked_for_in_the_language_of_the_question(&all);
    a_seat_has_one_system_text_and_a_request_begins_like_the_last_one(&all);
    who_should_decide_alone_is_shown_nothing_of_the_others(&all);
    judges_and_writers_see_their_own_turns_like_those_of_others(&all);
    no_model_is_told_who_the_others_are(&all);
    our_words_push_nobody(&all);
    every_debater_is_given_a_position_of_its_own(&all);
}

fn every_answer_is_asked_for_in_the_language_of_the_question(all: &[Held]) {
    for Held { pattern, question, language, requests } in all {
        for request in requests {
            let asked = task(request);
            let step = &request.step;
            assert!(asked.contains(&format!("in {language}")), "{pattern} on {question}, {step}:\n{asked}");
        }
    }
}

fn a_seat_has_one_system_text_and_a_request_begins_like_the_last_one(all: &[Held]) {
    for Held { pattern, question, requests, .. } in all {
        let mut last: BTreeMap<&str, &SentRequest> = BTreeMap::new();
        for request in requests.iter().filter(|it| !is_aside(it)) {
            if let Some(before) = last.insert(&request.participant, request) {
                assert_eq!(request.system, before.system, "{pattern} on {question}, {}", request.step);
                let turns = &before.messages[..before.messages.len() - 1];
                // A check is shown the last draft alone.
                let is_check = request.step.contains("/checking/");
                let begins = request.messages.starts_with(turns) || is_check;
                assert!(begins, "{pattern} on {question}, {}", request.step);
            }
        }
    }
}

fn who_should_decide_alone_is_shown_nothing_of_the_others(all: &[Held]) {
    let blind = |pattern: &str, request: &SentRequest| match pattern {
        "synthesis" | "dialogue" | "debate" => request.round == 1 && request.form.is_none(),
        "voting" | "settle" => request.round == 1 && request.form.as_deref() == Some("ballot"),
        _ => false,
    };
    let mut checked = 0;
    for Held { pattern, question, requests, .. } in all {
        for request in
            requests.iter().filter(|it| blind(pattern, it) || it.form.as_deref() == Some("casting"))
        {
            checked += 1;
            assert_eq!(request.messages.len(), 1, "{pattern} on {question}, {}", request.step);
            assert!(!task(request).contains("<said-"), "{pattern} on {question}, {}", request.step);
        }
    }
    assert!(QUESTIONS.len() * 10 < checked, "{checked}");
}

fn judges_and_writers_see_their_own_turns_like_those_of_others(all: &[Held]) {
    for Held { pattern, question, requests, .. } in all {
        for request in requests.iter().filter(|it| is_aside(it)) {
            let own = request.messages.iter().filter(|it| it.role == "assistant").count();
            assert_eq!(own, 0, "{pattern} on {question}, {}", request.step);
        }
    }
}

/// The least share of input tokens that repeats the beginning of an earlier request of the same
/// seat in discussions of five rounds, in per cent. `ax prompts PATTERN --rounds 5` prints the
/// share.
const REPEATED: [(&str, u64); 7] = [
    ("synthesis", 48),
    ("round-robin", 54),
    ("critique", 58),
    ("voting", 39),
    ("dialogue", 46),
    ("debate", 34),
    ("roundtable", 53),
];

#[tokio::test]
async fn most_of_what_a_seat_is_sent_in_a_long_discussion_was_sent_to_it_before() {
    let mut measured = Vec::new();
    for (pattern, least) in REPEATED {
        let mut order = Request { rounds: Some(5), ..request("Tabs or spaces?", pattern) };
        // Otherwise the first vote decides, or the first agreement.
        let longer = [("voting", "threshold", 1), ("dialogue", "minRoundsBeforeConsensus", 5)];
        for (_, name, value) in longer.into_iter().filter(|it| it.0 == pattern) {
            order.settings.insert(name.to_owned(), value.into());
        }
        let requests = sent(&order).await;
        let tokens: u64 = requests.iter().map(|it| it.tokens).sum();
        let repeated: u64 = requests.iter().map(|it| it.repeated_tokens).sum();
        let share = 100 * repeated / tokens;
        println!("{pattern}: {} requests, {tokens} tokens, {share} % repeat", requests.len());
        measured.push((pattern, share, least));
    }
    let short: Vec<_> = measured.into_iter().filter(|(_, share, least)| share < least).collect();
    assert_eq!(short, []);
}

/// The words of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase).collect()
}

fn no_model_is_told_who_the_others_are(all: &[Held]) {
    for Held { pattern, question, requests, .. } in all {
        for request in requests {
            let words = words(&whole(request));
            let named = SEATED.into_iter().chain(["anthropic", "openai", "alibaba", "zhipu"]);
            let told: Vec<&str> = named.filter(|name| words.iter().any(|it| it == name)).collect();
            assert_eq!(told, [""; 0], "{pattern} on {question}, {}:\n{}", request.step, whole(request));
        }
    }
}

#[tokio::test]
async fn words_of_the_question_stay_as_they_are() {
    let question = "Should Claude, a tool from Google Cloud or something else write it for me?";
    for pattern in PATTERNS {
        let order = Request {
            context: Some("We have a contract with Google Cloud and Qwen.".to_owned()),
            ..request(question, pattern)
        };
        for request in sent(&order).await {
            let text = whole(&request);
            assert!(text.contains(question), "{pattern}, {}:\n{text}", request.step);
            assert!(text.contains("We have a contract with Google Cloud and Qwen."), "{pattern}:\n{text}");
        }
    }
}

/// The labels in a text: `@` and two capital letters.
fn labels(text: &str) -> BTreeSet<String> {
    let after = text.split('@').skip(1);
    let label = after.filter_map(|it| it.get(..2)).filter(|it| it.bytes().all(|it| it.is_ascii_uppercase()));
    label.map(str::to_owned).collect()
}

#[tokio::test]
async fn everyone_has_one_label_all_along() {
    for pattern in PATTERNS {
        let requests = sent(&request("Tabs or spaces?", pattern)).await;
        let mut own: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for request in requests.iter().filter(|it| !is_aside(it)) {
            let label = request.system.split_once("You are @").map(|it| it.1[..2].to_owned()).unwrap();
            own.entry(&request.participant).or_default().insert(label);
        }
        let all: BTreeSet<&String> = own.values().flatten().collect();
        assert!(own.values().all(|it| it.len() == 1), "{pattern}: {own:?}");
        assert_eq!(all.len(), own.len(), "{pattern}: {own:?}");
        for request in &requests {
            assert!(labels(&whole(request)).len() <= 6, "{pattern}, {}", request.step);
        }
    }
}

#[tokio::test]
async fn names_are_shown_where_they_are_asked_for() {
    let mut order = request("Tabs or spaces?", "round-robin");
    order.settings.insert("showNames".to_owned(), true.into());
    let requests = sent(&order).await;
    assert!(requests.iter().all(|it| labels(&whole(it)).is_empty()));
    assert!(requests[0].system.starts_with("You are claude"), "{}", requests[0].system);
}

/// What we wrote of a request: not what others said, which is quoted.
fn ours(request: &SentRequest) -> String {
    let text = format!("{}\n{}", request.system, task(request));
    let lines = text.lines().filter(|it| !it.starts_with('>'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Words that a prompt may not have.
const FORBIDDEN: [&str; 20] = [
    "step by step",
    "take a deep breath",
    "you are an expert",
    "as an ai",
    "helpful assistant",
    "great point",
    "acknowledge",
    "appreciate",
    "common ground",
    "stand firm",
    "build on",
    "majority",
    "most of you",
    "best in the world",
    "be concise",
    "be brief",
    "MUST",
    "NEVER",
    "IMPORTANT",
    "CRITICAL",
];

fn our_words_push_nobody(all: &[Held]) {
    for Held { pattern, question, requests, .. } in all {
        for request in requests {
            let ours = ours(request);
            for word in FORBIDDEN {
                let text =
                    if word.chars().all(char::is_uppercase) { ours.clone() } else { ours.to_lowercase() };
                assert!(
                    !text.contains(word),
                    "{word:?} in {pattern} on {question}, {}:\n{ours}",
                    request.step
                );
            }
            // A writer is told what the partners of a dialogue found.
            let may_name_it = ["consensus-check", "synthesis"].map(Some).contains(&request.form.as_deref());
            assert!(
                may_name_it || !ours.to_lowercase().contains("consensus"),
                "{pattern}, {}:\n{ours}",
                request.step
            );
            assert!(!ours.contains("{{") && !ours.contains("}}"), "{pattern}, {}:\n{ours}", request.step);
            assert!(
                !format!("{}\n{}", request.system, task(request)).contains("\n\n\n"),
                "{pattern}, {}:\n{ours}",
                request.step
            );
            assert!(ours.lines().all(|it| it.chars().count() <= 600), "{pattern}, {}:\n{ours}", request.step);
        }
    }
}

fn every_debater_is_given_a_position_of_its_own(all: &[Held]) {
    for Held { question, requests, .. } in all.iter().filter(|it| it.pattern == "debate") {
        assert_eq!(requests[0].form.as_deref(), Some("casting"), "{question}");
        let systems: BTreeSet<&str> =
            requests.iter().filter(|it| it.form.is_none()).map(|it| it.system.as_str()).collect();
        assert_eq!(systems.len(), 2, "four providers: two debaters, a judge and a writer on {question}");
    }
}
