//! `ax discuss --dry-run`: the plan, without any call.

use serde_json::json;

use crate::desk::Desk;

#[test]
fn a_plan_asks_no_model_and_records_nothing() {
    let desk = Desk::new();
    let said = desk.ax(&[
        "discuss",
        "Tabs or spaces?",
        "-p",
        "claude,gemini,qwen",
        "--pattern",
        "debate",
        "--dry-run",
    ]);
    let said = said.ends(0).says(&["No model was asked, and nothing was recorded."]);
    let expected = "\
Tabs or spaces?

debate, then synthesis, simulated: claude (judge), gemini (proponent), qwen (opponent)

Before the first round
  casting              claude

Round 1
  awaiting responses   gemini, qwen at once
  judging              claude

Round 2
  awaiting responses   qwen, then gemini
  judging              claude

Round 3
  awaiting responses   gemini, then qwen
  judging              claude, then claude

Deciding
  synthesis            claude
";
    assert!(said.out.starts_with(expected), "{}", said.out);
    desk.ax(&["history"]).ends(0).says(&["No discussions found"]);
}

#[test]
fn a_plan_is_a_document_with_figures() {
    let desk = Desk::new();
    let plan = desk.ax(&["discuss", "q", "-p", "claude,gemini", "--dry-run", "--json"]).ends(0).json();
    let result = desk.ax(&["discuss", "q", "-p", "claude,gemini", "--json"]).ends(0).json();
    let calls = &result["metadata"]["costSummary"]["totalCalls"];
    assert_eq!(&plan["usual"]["calls"], calls);
    assert!(plan["most"]["calls"].as_u64() > calls.as_u64());
    assert_eq!(plan["course"][0], json!({"round": 1, "phase": "answering", "asked": [["claude", "gemini"]]}));
    assert_eq!(
        plan["participants"][0],
        json!({"participant": "claude", "role": "speaker", "person": false, "calls": 3})
    );
}

#[test]
fn limits_are_kept_in_a_plan() {
    let desk = Desk::new();
    let args = ["discuss", "q", "--dry-run", "--json", "--max-calls", "7", "--max-tokens", "9000"];
    let plan = desk.ax(&args).ends(0).json();
    assert_eq!((&plan["most"]["calls"], &plan["most"]["tokens"]), (&json!(7), &json!(9_000)));
    let plan = desk.ax(&["discuss", "q", "--dry-run", "--json", "--recursive"]).ends(0).json();
    assert_eq!((&plan["most"]["calls"], &plan["subDiscussions"]), (&json!(20), &json!(true)));
}

#[test]
fn people_are_waited_for_and_cost_nothing() {
    let desk = Desk::new();
    let args =
        ["discuss", "q", "--dry-run", "--pattern", "roundtable", "--participants", "claude,gemini,me:person"];
    let said = desk.ax(&args).ends(0);
    assert!(said.out.contains("claude, then gemini, then me"), "{}", said.out);
    assert!(said.out.contains("It waits for 1 person to speak."), "{}", said.out);
}

#[test]
fn a_refused_request_has_no_plan() {
    let desk = Desk::new();
    desk.ax(&["discuss", "q", "--dry-run", "--rounds", "99"])
        .ends(2)
        .says(&["--rounds: must be"])
        .prints_nothing();
    desk.ax(&["discuss", "q", "--dry-run", "--detach"])
        .ends(2)
        .says(&["cannot be used with"])
        .prints_nothing();
}

#[test]
fn a_past_order_can_be_planned_again() {
    let desk = Desk::new();
    desk.result(&["-p", "claude,gemini"]);
    let plan = desk.ax(&["discuss", "--again", "last", "-r", "3", "--dry-run", "--json"]).ends(0).json();
    assert_eq!(plan["usual"]["calls"], 7);
}

#[test]
fn a_plan_of_a_debate_that_asks_about_its_judge_comes_to_an_end() {
    let desk = Desk::new();
    desk.ax(&["discuss", "Tabs?", "--pattern", "debate", "--judge-failure", "ask", "--dry-run"]).ends(0);
}
