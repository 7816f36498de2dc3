//! Workflow files in all the shapes that users have, checked and run offline as they are.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::user::User;

const QUICK: [&str; 4] = ["--offline", "--simulate", "latency=0ms", "--json"];

/// Checks and runs a file with this input. Returns the result.
#[track_caller]
fn runs(file: &str, input: &Value) -> Value {
    let user = User::new();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let agents = tests.join("../../examples/agents");
    user.ax(&["agents", "import", agents.to_str().unwrap()]).ends(0);
    let written = fs::read_to_string(tests.join("tests/cli/flows").join(file)).unwrap();
    let file = user.write(file, &written);
    user.ax(&["workflow", "check", &file]).ends(0);
    let input = input.to_string();
    let line: Vec<&str> = ["run", &file, "--input", &input].into_iter().chain(QUICK).collect();
    let result = user.ax(&line).ends(0).json();
    assert_eq!(result["success"], json!(true), "{result:#}");
    result
}

/// The ends of all steps, as `path:status`.
fn ends(result: &Value) -> String {
    let steps = result["stepResults"].as_array().unwrap().iter();
    let end = |it: &Value| format!("{}:{}", it["path"].as_str().unwrap(), it["status"].as_str().unwrap());
    steps.map(end).collect::<Vec<_>>().join(" ")
}

/// The output of a step.
fn output<'r>(result: &'r Value, path: &str) -> &'r Value {
    let steps = result["stepResults"].as_array().unwrap();
    &steps.iter().find(|it| it["path"] == path).unwrap_or_else(|| panic!("no step {path}"))["output"]
}

#[test]
fn b11_files_in_the_style_of_the_standard_library_run() {
    let given = json!({ "audience": "managers", "text": "We sell tea." });
    let result = runs("std-summary.yaml", &given);
    assert_eq!(ends(&result), "summarise:done improve:done");
    assert_eq!(result["unresolved"], json!([]));
    let result = runs("std-json.json", &json!({ "what": "a rewrite" }));
    assert_eq!((ends(&result).as_str(), &result["unresolved"]), ("ask:done weigh:done", &json!([])));
}

#[test]
fn b11_parallel_steps_run_and_their_outputs_are_found() {
    let result = runs("parallel-review.yaml", &json!({ "change": "a cache" }));
    assert_eq!(
        ends(&result),
        "outline:done reviews:done security:done performance:done naming:done merge:done"
    );
    assert_eq!(result["unresolved"], json!([]));
    let providers = ["security", "performance"].map(|it| output(&result, it)["provider"].clone());
    assert_eq!(providers, ["claude", "gemini"].map(Value::from));
    let result = runs("graph.yaml", &json!({ "topic": "tea" }));
    assert_eq!(ends(&result), "facts:done figures:done both:done aside:done end:done");
    let result = runs("nested-all.yaml", &json!({ "topic": "tea" }));
    let expected = "sides:done loops:done loops/0/pick:done loops/0/yes:done loops/0/no:skipped \
                    loops/1/pick:done loops/1/yes:skipped loops/1/no:done talk:done end:done";
    assert_eq!((ends(&result).as_str(), &result["unresolved"]), (expected, &json!([])));
}

#[test]
fn b11_conditions_choose_a_branch() {
    let with = |action: &str| {
        ends(&runs("conditional-promote.yaml", &json!({ "release": "2.0", "action": action })))
    };
    assert_eq!(with("PROMOTE"), "decide:done act:done promote:done announce:done log:done");
    assert_eq!(with("HOLD"), "decide:done act:done promote:done announce:skipped log:done");
    assert_eq!(with("NO_ACTION"), "decide:done act:done promote:skipped announce:skipped log:done");
    let result = runs("discuss-vote.yaml", &json!({ "app": "a shop" }));
    assert_eq!(ends(&result), "v:done adopt:done plan-it:done explain:skipped");
    let winner = output(&result, "v")["consensus"]["winner"].as_str().unwrap();
    assert!(["postgres", "sqlite"].contains(&winner), "{winner}");
}

#[test]
fn b11_memory_tools_keep_find_and_fetch() {
    let result = runs("memory-notes.yaml", &json!({ "topic": "Green Tea" }));
    assert_eq!(ends(&result), "draft:done keep:done look:done fetch:done tell:done");
    let key = output(&result, "keep")["key"].as_str().unwrap();
    assert!(key.starts_with("insight-green-tea-20"), "{key}");
    let fetched = &output(&result, "fetch")["value"];
    let kept = (&fetched["topic"], &fetched["text"]);
    assert_eq!(kept, (&json!("Green Tea"), &output(&result, "draft")["content"]));
    assert_eq!(result["unresolved"], json!([]));
    let result = runs("may-fail.yaml", &json!({ "topic": "tea" }));
    assert_eq!(ends(&result), "fetch:failed ask:done");
}

#[test]
fn b11_bare_names_and_filters_are_filled_and_the_unknown_is_listed() {
    let result = runs("bare-names.yaml", &json!({ "domain": "Order Intake" }));
    assert_eq!(ends(&result), "plan:done name:done");
    assert_eq!(result["unresolved"], json!(["{{not_given}}"]));
}

#[test]
fn b11_agents_take_tasks_and_loops_go_through_items() {
    let result = runs("agent-tasks.yaml", &json!({ "feature": "search" }));
    assert_eq!(ends(&result), "design:done attack:done answer:done");
    let result = runs("loop-items.yaml", &json!({ "files": ["a.rs", "b.rs", "c.rs"] }));
    let turns =
        (0..3).map(|it| format!("each/{it}/read:done each/{it}/rate:done")).collect::<Vec<_>>().join(" ");
    assert_eq!(
        ends(&result),
        format!("each:done {turns} again:done again/0/refine:done again/1/refine:done")
    );
}
