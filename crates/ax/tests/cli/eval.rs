//! `ax eval` from outside: plan, run, resume, reports and refusals.

use std::fs;

use serde_json::{Value, json};

use crate::user::User;

/// A file of this many questions with four options.
fn questions(user: &User, count: usize) -> String {
    let options = ["first", "second", "third", "fourth"];
    let line = |number: usize| {
        json!({
            "id": format!("q{number}"), "question": format!("Which, in case {number}?"),
            "options": options, "answer": options[number % 4],
        })
        .to_string()
    };
    written(user, "questions.jsonl", &(0..count).map(line).collect::<Vec<_>>().join("\n"))
}

fn written(user: &User, name: &str, text: &str) -> String {
    let file = user.home().join(name);
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn folder(user: &User) -> String {
    user.home().join("out").display().to_string()
}

#[test]
fn a_plan_says_what_it_would_cost_and_asks_nobody() {
    let user = User::new();
    let file = questions(&user, 12);
    let plan = user.ax(&["eval", &file, "--world", "martingale", "--dry-run", "--json"]).ends(0).json();
    assert_eq!((&plan["questions"], &plan["simulated"]), (&json!(12), &json!(true)));
    let calls = |name: &str| {
        let all = plan["protocols"].as_array().unwrap();
        let found = all.iter().find(|it| it["name"] == name).unwrap();
        (found["callsEach"].as_f64().unwrap(), found["calls"].as_u64().unwrap())
    };
    assert_eq!(calls("majority"), (4.0, 0));
    assert_eq!(calls("voting:2"), (8.0, 48));
    assert_eq!(calls("settle"), (8.0, 48));
    assert!(plan["most"]["calls"].as_u64() < plan["withoutSharing"]["calls"].as_u64(), "{plan:#}");
    assert!(!user.home().join("out").exists());
    let listed = user.ax(&["history", "--json"]).ends(0).json();
    assert_eq!(listed.as_array().map_or(0, Vec::len), 0, "{listed:#}");
}

#[test]
fn an_evaluation_makes_no_more_calls_than_its_plan_has_at_most() {
    let user = User::new();
    let choice = json!({ "question": "Capital of France?", "options": ["Paris", "Lyon"], "answer": "Paris" });
    let open = json!({ "question": "2+2?", "answer": "4" });
    let file = written(&user, "mixed.jsonl", &format!("{choice}\n{open}\n"));
    let out = folder(&user);
    // The seed changes which first answers differ, and so how much is asked after them.
    for seed in ["1", "2"] {
        let line = ["eval", &file, "--offline", "--seed", seed, "--out", &out, "--json"];
        let plan = user.ax(&[&line[..], &["--dry-run"]].concat()).ends(0).json();
        let report = user.ax(&line).ends(0).json();
        let (made, planned) = (report["calls"].as_u64().unwrap(), plan["most"]["calls"].as_u64().unwrap());
        assert!(made <= planned, "{made} calls, planned were at most {planned}");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn an_evaluation_reports_in_three_forms_and_goes_on_without_asking_again() {
    let user = User::new();
    let (file, out) = (questions(&user, 20), folder(&user));
    let run = ["eval", &file, "--world", "truth-wins", "--protocols", "voting:2,settle", "--out", &out];
    let ran = user.ax(&run).ends(0).says(&["20 questions in 60 discussions", "report.html"]);
    assert!(ran.out.contains("settle") && ran.out.contains("nothing follows for real models"), "{ran:#?}");
    let read = |name: &str| fs::read_to_string(user.home().join("out").join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!((&report["questions"], &report["complete"]), (&json!(20), &json!(20)));
    let names: Vec<&str> =
        report["protocols"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["majority", "voting:2", "settle"]);
    // First answers are shared: a fork asks only what is new.
    assert!(report["calls"].as_u64() < report["callsAlone"].as_u64(), "{report:#}");
    let page = read("report.html");
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("src="), "{page}");
    assert!(read("report.txt").contains("against majority") || read("report.txt").contains("than majority"));
    // Nothing is left to ask.
    let again = user.ax(&["eval", &file, "--resume", "--out", &out, "--json"]).ends(0).json();
    assert_eq!((&again["calls"], &again["protocols"]), (&report["calls"], &report["protocols"]));
}

#[test]
fn what_does_not_fit_the_folder_is_refused() {
    let user = User::new();
    let (file, out) = (questions(&user, 4), folder(&user));
    let run = |more: &[&str]| {
        let line = ["eval", file.as_str(), "--out", out.as_str(), "--protocols", "majority"];
        user.ax(&[&line, more].concat())
    };
    user.ax(&["eval", &file, "--resume", "--out", &out])
        .ends(2)
        .says(&["no evaluation", "leave out --resume"]);
    run(&["--world", "martingale"]).ends(0);
    run(&["--world", "martingale"]).ends(2).says(&["there is an evaluation", "--resume"]);
    run(&["--resume", "--seed", "2"]).ends(2).says(&["--seed", "another value"]);
    questions(&user, 5);
    user.ax(&["eval", &file, "--resume", "--out", &out]).ends(2).says(&["has changed"]);
}

#[test]
fn bad_files_are_refused_before_anything_is_asked() {
    let user = User::new();
    let check = |name: &str, text: &str, said: &[&str]| {
        let file = written(&user, name, text);
        user.ax(&["eval", &file, "--offline"]).ends(2).says(said);
    };
    check("empty.jsonl", "", &["line 1: there is no question", "Nothing was asked"]);
    check("none.jsonl", "{\"question\":\"Q?\"}", &["line 1, answer: is missing", "--skip-bad"]);
    check("one.jsonl", "{\"question\":\"Q?\",\"options\":[\"a\"],\"answer\":\"a\"}", &["2 to 10 options"]);
    check(
        "polite.yaml",
        "- vars: {question: Hi}\n  assert: [{type: llm-rubric, value: polite}]\n",
        &["--judge"],
    );
    let good = "{\"question\":\"Q?\",\"answer\":1}";
    check("mark.jsonl", &format!("\u{feff}{good}\n"), &["line 1, byte-order mark", "Nothing was asked"]);
    check("windows.jsonl", &format!("{good}\n{good}\r\n"), &["line 2, line end", "Nothing was asked"]);
    let bytes = user.home().join("bytes.jsonl");
    fs::write(&bytes, b"{\"question\":\"\xff\",\"answer\":1}\n").unwrap();
    let bytes = bytes.display().to_string();
    user.ax(&["eval", &bytes, "--offline"])
        .ends(2)
        .says(&["line 1, question: is not UTF-8", "Nothing was asked"]);
    let listed = user.ax(&["history", "--json"]).ends(0).json();
    assert_eq!(listed.as_array().map_or(0, Vec::len), 0, "{listed:#}");
    let file = questions(&user, 2);
    user.ax(&["eval", &file, "--offline", "--protocols", "dice"]).ends(2).says(&["--protocols: `dice`"]);
    user.ax(&["eval", &file, "--world", "utopia"]).ends(2).says(&["`utopia` is not one of martingale"]);
    user.ax(&["eval", "/nowhere/questions.jsonl"]).ends(2).says(&["/nowhere/questions.jsonl"]);
}

#[test]
fn bad_records_are_skipped_and_counted_and_one_question_tells_nothing() {
    let user = User::new();
    let good = json!({ "question": "Which?", "options": ["a", "b"], "answer": "b" });
    let file = written(&user, "mixed.jsonl", &format!("{good}\n{{\"question\":\"Q?\"}}\n"));
    let out = folder(&user);
    let line = [
        "eval",
        &file,
        "--skip-bad",
        "--world",
        "martingale",
        "--protocols",
        "settle",
        "--out",
        &out,
        "--json",
    ];
    let report = user.ax(&line).ends(0).says(&["Left out", "line 2, answer: is missing"]).json();
    assert_eq!((&report["questions"], &report["skipped"]), (&json!(1), &json!(1)));
    let settle = &report["protocols"][1];
    assert_eq!((&settle["versus"]["conclusion"], &settle["ece"]), (&json!("cannot-tell"), &Value::Null));
    assert_eq!(settle["versus"]["p"], 1.0);
}
