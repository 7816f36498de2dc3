//! `ax eval` with scripted models over HTTP: the judge, the budget, and outcomes afterwards.

use std::fs;

use quorum_testkit::server::{Asked, End, Fault, Script, Server, Used, server};
use serde_json::{Value, json};

use crate::user::User;

/// Two voices and a judge, all at a price.
fn user(vendor: &Server) -> User {
    let user = User::new();
    let row = |name: &str| {
        let base = format!("{}/v1", vendor.url());
        format!(
            "[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = '{name}-1'\n\
             price = {{ input = 1, output = 2 }}\n"
        )
    };
    let rows = ["alpha", "beta", "gamma"].map(row).concat();
    user.configure(&format!("[defaults]\nmax-tokens-per-turn = 300\n{rows}"));
    user
}

/// alpha is polite and beta is rude; to a question with options alpha is right and beta is not. The
/// judge finds politeness, but in one order only where the question says so.
fn script() -> Script {
    let answer = |polite: bool| {
        move |asked: &Asked| {
            let all = format!("{}\n{}", asked.system, asked.last());
            let asked = all.as_str();
            let words = if polite { "Gladly, dear friend." } else { "No, go away." };
            match asked.contains("Choose exactly one:") {
                true => {
                    json!({ "reasoning": "So it is.", "choice": option(asked, polite), "confidence": 0.8 })
                        .to_string()
                }
                false if asked.contains("`answer`") => {
                    json!({ "reasoning": "So it is.", "answer": words, "confidence": 0.8 }).to_string()
                }
                false => words.to_owned(),
            }
        }
    };
    let judge = |asked: &Asked| {
        let text = asked.last();
        let is_met = text.contains("Gladly");
        let answer_first = text.find("<answer-") < text.find("<description-");
        let is_fickle = text.contains("fickle") && answer_first;
        if is_met && !is_fickle { "Yes.".to_owned() } else { "no".to_owned() }
    };
    server().replies("alpha-1", answer(true)).replies("beta-1", answer(false)).replies("gamma-1", judge)
}

/// The letter of the right option, or of another one.
fn option(asked: &str, right: bool) -> String {
    let line =
        |word: &str| asked.lines().find(|it| it.ends_with(word)).and_then(|it| it.trim().chars().next());
    let found = if right { line("right") } else { line("wrong") };
    found.map(String::from).unwrap_or_default()
}

fn polite(user: &User, texts: &[&str]) -> String {
    let line = |(at, text): (usize, &&str)| {
        json!({ "id": format!("q{at}"), "question": text, "answer": "It is polite.", "grade": "judge" })
            .to_string()
    };
    let lines: Vec<String> = texts.iter().enumerate().map(line).collect();
    user.write("polite.jsonl", &lines.join("\n"))
}

fn choices(user: &User, count: usize) -> String {
    let line = |at: usize| {
        json!({ "id": format!("q{at}"), "question": format!("Which, in case {at}?"),
                "options": ["right", "wrong"], "answer": "right" })
        .to_string()
    };
    user.write("choices.jsonl", &(0..count).map(line).collect::<Vec<_>>().join("\n"))
}

/// The complete requests for this model.
fn asked(vendor: &Server, model: &str) -> Vec<String> {
    let requests = vendor.requests();
    let answered = requests.iter().filter(|it| it.end() == End::Complete);
    answered
        .filter_map(|it| it.asked())
        .filter(|it| it.model == model)
        .map(|it| it.last().to_owned())
        .collect()
}

const PANEL: [&str; 4] = ["--providers", "alpha,beta", "--protocols", "single:alpha,single:beta"];

fn protocol<'r>(report: &'r Value, name: &str) -> &'r Value {
    let all = report["protocols"].as_array().unwrap();
    all.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name}: {report:#}"))
}

#[test]
fn the_judge_is_asked_in_both_orders_and_its_own_cost_is_shown() {
    let vendor = script().on_thread();
    let user = user(&vendor);
    let file = polite(&user, &["Greet me.", "Greet a fickle judge."]);
    let out = user.home().join("out").display().to_string();
    let line = [&["eval", &file, "--judge", "gamma", "--out", &out, "--json"][..], &PANEL].concat();
    let plan = user.ax(&[&line[..], &["--dry-run"]].concat()).ends(0).json();
    // Two answers to each of two questions, each in two orders; the writer of the discussion that
    // has the first answers is not asked for a grade.
    assert_eq!((&plan["grader"]["name"], &plan["grader"]["calls"]), (&json!("gamma"), &json!(8)));
    assert_eq!((asked(&vendor, "gamma-1").len(), asked(&vendor, "alpha-1").len()), (0, 0));

    let report = user.ax(&line).ends(0).json();
    let judged = asked(&vendor, "gamma-1");
    assert_eq!(judged.len(), 8, "{judged:#?}");
    let answer_first = judged.iter().filter(|it| it.find("<answer-") < it.find("<description-")).count();
    assert_eq!(answer_first, 4, "each answer in both orders");
    assert!(judged.iter().all(|it| it.contains("It is polite.") && it.contains("<question-")), "{judged:#?}");
    let judge = &report["grader"];
    assert_eq!(
        (&judge["name"], &judge["answers"], &judge["calls"], &judge["disagreed"]),
        (&json!("gamma"), &json!(4), &json!(8), &json!(1)),
        "{report:#}"
    );
    let (own, all) = (judge["usd"].as_f64().unwrap(), report["spentUsd"].as_f64().unwrap());
    assert!(0.0 < own && own < all, "{own} of {all}");
    // One order alone does not make an answer right.
    assert_eq!(protocol(&report, "single:alpha")["accuracy"], 0.5, "{report:#}");
    assert_eq!(protocol(&report, "single:beta")["accuracy"], 0.0, "{report:#}");
    let text = fs::read_to_string(user.home().join("out/report.txt")).unwrap();
    assert!(text.contains("The grader gamma graded 4 answers with 8 calls for $"), "{text}");
    assert!(text.contains("In 1 grading the two orders disagreed"), "{text}");

    // Nothing that was paid is asked again, and the costs are the same.
    let again = user.ax(&["eval", &file, "--resume", "--out", &out, "--json"]).ends(0).json();
    assert_eq!(asked(&vendor, "gamma-1").len(), 8);
    assert_eq!((&again["grader"], &again["spentUsd"]), (&report["grader"], &report["spentUsd"]));
    assert_eq!(again["protocols"], report["protocols"]);
}

#[test]
fn a_simulated_judge_grades_too_and_says_so() {
    let user = User::new();
    let file = polite(&user, &["Greet me.", "Greet them."]);
    let out = user.home().join("out").display().to_string();
    let line = ["eval", &file, "--offline", "--providers", "claude,glm", "--judge", "gemini", "--out", &out];
    let report = user.ax(&[&line[..], &["--protocols", "synthesis:1", "--json"]].concat()).ends(0).json();
    assert_eq!((&report["complete"], &report["simulated"]), (&json!(2), &json!(true)), "{report:#}");
    assert!(report["grader"]["calls"].as_u64().unwrap() >= 4, "{report:#}");
    assert_eq!(protocol(&report, "synthesis:1")["unread"], 0, "{report:#}");
    assert_eq!(user.ax(&["calibration", "--json"]).ends(0).json()["outcomes"], 0);
}

/// A voice that is down for a while: its discussions fail, the report says what is missing, and
/// they are held again from what was answered.
#[test]
fn a_provider_that_dies_in_mid_run_is_asked_again_and_nothing_paid_is_repeated() {
    let vendor = script().fault_from("beta-1", 9, Fault::Status(401)).on_thread();
    let user = user(&vendor);
    let (file, out) = (choices(&user, 12), user.home().join("out").display().to_string());
    let line =
        ["eval", &file, "--providers", "alpha,beta", "--protocols", "voting:2", "--out", &out, "--json"];
    let part = user.ax(&line).json();
    assert!(part["complete"].as_u64().unwrap() < 12, "{part:#}");
    assert!(part["failed"].as_array().is_some_and(|it| !it.is_empty()), "{part:#}");
    let text = fs::read_to_string(user.home().join("out/report.txt")).unwrap();
    assert!(text.contains(" of 12 questions are graded.") && text.contains("Incomplete: "), "{text}");
    let before = asked(&vendor, "beta-1").len();
    vendor.follow(script());
    let whole = user.ax(&["eval", &file, "--resume", "--out", &out, "--json"]).ends(0).json();
    assert_eq!((&whole["complete"], &whole["failed"]), (&json!(12), &Value::Null), "{whole:#}");
    // Of the first answers of beta, eight were answers and the rest refusals.
    let of_beta = 8 + asked(&vendor, "beta-1").len() - before;
    assert_eq!(whole["calls"], asked(&vendor, "alpha-1").len() + of_beta, "every answer was paid once");
}

#[test]
fn a_member_of_the_panel_judges_only_if_it_is_told_to() {
    let vendor = script().on_thread();
    let user = user(&vendor);
    let file = polite(&user, &["Greet me."]);
    let line = [&["eval", &file, "--judge", "alpha", "--json"][..], &PANEL].concat();
    user.ax(&line).ends(2).says(&["--judge: alpha is on the panel", "--judge-on-panel"]).prints_nothing();
    assert_eq!(vendor.requests().iter().filter_map(|it| it.asked()).count(), 0, "nothing was asked");
    let allowed = user.ax(&[&line[..], &["--judge-on-panel"]].concat()).ends(0).json();
    assert_eq!(allowed["grader"]["name"], "alpha");
    let out = user.home().join("other").display().to_string();
    user.ax(&["eval", &file, "--judge", "delta", "--out", &out]).ends(2).says(&["delta"]);
}

#[test]
fn a_judge_that_can_not_be_asked_leaves_answers_ungraded_and_not_wrong() {
    let broken = || script().fault("gamma-1", Fault::Status(401));
    let vendor = broken().on_thread();
    let user = user(&vendor);
    let (file, out) = (polite(&user, &["Greet me."]), user.home().join("out").display().to_string());
    let line = [&["eval", &file, "--judge", "gamma", "--out", &out, "--json"][..], &PANEL].concat();
    let report = user.ax(&line).json();
    assert_eq!((&report["complete"], &report["questions"]), (&json!(0), &json!(1)), "{report:#}");
    assert_eq!(protocol(&report, "single:alpha")["missing"], 1, "{report:#}");
    assert!(report["failed"][0][1].as_str().is_some_and(|it| it.starts_with("grading: ")), "{report:#}");
    let before = asked(&vendor, "alpha-1").len();
    vendor.follow(script());
    let report = user.ax(&["eval", &file, "--resume", "--out", &out, "--json"]).ends(0).json();
    assert_eq!(
        (&report["complete"], &protocol(&report, "single:alpha")["accuracy"]),
        (&json!(1), &json!(1.0))
    );
    assert_eq!(asked(&vendor, "alpha-1").len(), before, "what was answered is not asked again");
}

/// A budget for about half of the evaluation: the report says how much was graded, and more money
/// continues it without paying anything twice.
#[test]
fn a_budget_reached_in_mid_run_grades_a_part_and_resuming_pays_nothing_twice() {
    // Answers that cost about as much as they may.
    let used = Used { prompt: 600, completion: 150, ..Used::default() };
    let vendor = script().uses("*", used).on_thread();
    let whole = user(&vendor);
    let of = |user: &User, more: &[&str]| {
        let (file, out) = (choices(user, 30), user.home().join("out").display().to_string());
        let line = ["eval", &file, "--out", &out, "--json"];
        user.ax(&[&line[..], more].concat())
    };
    let run = ["--providers", "alpha,beta", "--protocols", "voting:2"];
    let undisturbed = of(&whole, &run).ends(0).json();
    let (cost, calls) = (undisturbed["spentUsd"].as_f64().unwrap(), vendor.requests().len());
    let count = || asked(&vendor, "alpha-1").len() + asked(&vendor, "beta-1").len();
    let calls_of_all = count();
    assert!(cost > 0.0 && calls > 0);

    let user = user(&vendor);
    let half = format!("{:.6}", cost / 2.0);
    let said = of(&user, &[&run[..], &["--max-cost", &half]].concat()).ends(5);
    let part = said.says(&["The budget was used up", "--resume"]).json();
    let (graded, spent) = (part["complete"].as_u64().unwrap(), part["spentUsd"].as_f64().unwrap());
    assert_eq!((&part["stopped"], &part["questions"]), (&json!("budget"), &json!(30)));
    assert!(0 < graded && graded < 30, "{part:#}");
    assert!(spent <= cost / 2.0, "{spent} of {half}");
    assert!(spent > cost / 4.0, "most of the budget is used: {spent} of {half}");
    let text = fs::read_to_string(user.home().join("out/report.txt")).unwrap();
    assert!(
        text.contains(&format!("{graded} of 30 questions are graded: the budget was used up.")),
        "{text}"
    );
    assert!(text.contains("Incomplete: "), "{text}");
    // No outcomes are recorded before everything is graded.
    assert_eq!(user.ax(&["calibration", "--json"]).ends(0).json()["outcomes"], 0);

    // The same budget again adds nothing and forgets nothing.
    let again = of(&user, &["--resume", "--max-cost", &half]).ends(5).json();
    assert_eq!((&again["complete"], &again["spentUsd"]), (&part["complete"], &part["spentUsd"]));
    let more = format!("{:.6}", cost * 3.0);
    let finished = of(&user, &["--resume", "--max-cost", &more]).ends(0).json();
    assert_eq!(finished["protocols"][1]["accuracy"], undisturbed["protocols"][1]["accuracy"]);
    assert_eq!((&finished["complete"], &finished["calls"]), (&json!(30), &undisturbed["calls"]));
    assert!((finished["spentUsd"].as_f64().unwrap() - cost).abs() < 1e-9, "{finished:#}");
    assert_eq!(count(), 2 * calls_of_all, "as many calls as undisturbed");
}

#[test]
fn the_judge_spends_from_the_same_budget() {
    let vendor = script().on_thread();
    let user = user(&vendor);
    let texts: Vec<String> = (0..12).map(|it| format!("Greet person {it}.")).collect();
    let file = polite(&user, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let out = |name: &str| user.home().join(name).display().to_string();
    let line = [&["eval", &file, "--judge", "gamma", "--json"][..], &PANEL].concat();
    let whole = user.ax(&[&line[..], &["--out", &out("whole")]].concat()).ends(0).json();
    let (all, judge) = (whole["spentUsd"].as_f64().unwrap(), whole["grader"]["usd"].as_f64().unwrap());
    // Enough for the answers, and for half of the grades.
    let most = format!("{:.6}", all - judge / 2.0);
    let part = user.ax(&[&line[..], &["--out", &out("part"), "--max-cost", &most]].concat()).json();
    assert!(part["spentUsd"].as_f64().unwrap() <= all - judge / 2.0, "{part:#}");
    let graded = part["complete"].as_u64().unwrap();
    assert!(part["stopped"] == "budget" && graded < 12, "{part:#}");
    let (judged, out) = (asked(&vendor, "gamma-1").len(), out("part"));
    let rest = user.ax(&["eval", &file, "--resume", "--out", &out, "--json"]).ends(0).json();
    let accuracies = |report: &Value| {
        ["majority", "single:alpha", "single:beta"].map(|name| protocol(report, name)["accuracy"].clone())
    };
    assert_eq!((&rest["complete"], accuracies(&rest)), (&json!(12), accuracies(&whole)));
    let of_part = part["grader"]["calls"].as_u64().unwrap_or_default();
    let of_whole = whole["grader"]["calls"].as_u64().unwrap();
    assert_eq!(asked(&vendor, "gamma-1").len() - judged, (of_whole - of_part) as usize);
}

#[test]
fn outcomes_are_recorded_when_everything_is_graded_and_settle_learns_from_them() {
    let vendor = script().on_thread();
    let user = user(&vendor);
    let file = choices(&user, 40);
    let out = user.home().join("out").display().to_string();
    let line = ["eval", &file, "--providers", "alpha,beta", "--protocols", "single:alpha", "--out", &out];
    user.ax(&line).ends(0).says(&["40 outcomes recorded", "ax calibration"]);
    let known = user.ax(&["calibration", "--json"]).ends(0).json();
    assert_eq!((&known["outcomes"], &known["simulated"]), (&json!(40), &json!(false)));
    let accuracy = |name: &str| {
        let all = known["voices"].as_array().unwrap();
        all.iter().find(|it| it["voice"].as_str().unwrap().starts_with(name)).unwrap()["accuracy"].clone()
    };
    assert_eq!((accuracy("alpha"), accuracy("beta")), (json!(1.0), json!(0.0)), "{known:#}");
    assert_eq!(user.ax(&["calibration", "--simulated", "--json"]).ends(0).json()["outcomes"], 0);
    // Continuing records nothing twice.
    user.ax(&["eval", &file, "--resume", "--out", &out]).ends(0);
    assert_eq!(user.ax(&["calibration", "--json"]).ends(0).json()["outcomes"], 40);
    // The next evaluation knows its best voice beforehand, and a vote weighs what it is worth.
    let next = user.home().join("next").display().to_string();
    let line = ["eval", &file, "--providers", "alpha,beta", "--protocols", "single,settle", "--out", &next];
    let report = user.ax(&[&line[..], &["--json"]].concat()).ends(0).json();
    assert_eq!(protocol(&report, "single")["note"], "alpha, best by earlier outcomes", "{report:#}");
    assert_eq!(protocol(&report, "settle")["accuracy"], 1.0, "{report:#}");
}
