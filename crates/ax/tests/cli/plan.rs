//! `ax discuss --dry-run`: the plan, without any call.

use serde_json::json;

use crate::user::User;

#[test]
fn a_plan_asks_no_model_and_records_nothing() {
    let user = User::new();
    let said = user.ax(&[
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

debate, decided by synthesis, simulated: claude (judge), gemini (proponent), qwen (opponent)

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
  judging              claude, then the verdict

Deciding
  synthesis            claude
";
    assert!(said.out.starts_with(expected), "{}", said.out);
    let mut lines = said.out.lines();
    assert!(lines.any(|it| it.starts_with("typically") && it.ends_with("  nothing")), "{}", said.out);
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
}

#[test]
fn a_plan_is_a_document_with_figures() {
    let user = User::new();
    let plan = user.ax(&["discuss", "q", "-p", "claude,gemini", "--dry-run", "--json"]).ends(0).json();
    let result = user.ax(&["discuss", "q", "-p", "claude,gemini", "--json"]).ends(0).json();
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
fn a_limit_of_one_call_is_refused() {
    let user = User::new();
    let expected = "--max-calls: must be at least 5: 4 for the first answers, 1 for the decision";
    for more in [&[][..], &["--dry-run"]] {
        let args = [&["discuss", "q", "--max-calls", "1"][..], more].concat();
        user.ax(&args).ends(2).says(&[expected, "Nothing was asked"]).prints_nothing();
    }
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
    let said = user.ax(&["discuss", "q", "--max-calls", "5"]).ends(5);
    assert!(!said.out.trim().is_empty(), "{said:#?}");
}

#[test]
fn a_judge_that_gives_the_verdict_is_planned_with_the_verdict() {
    let user = User::new();
    let debate = ["discuss", "q", "--dry-run", "--pattern", "debate", "-p", "claude,gemini,mistral"];
    let planned = |more: &[&str]| user.ax(&[&debate[..], more].concat()).ends(0).out;
    let out = planned(&["--judge", "mistral"]);
    assert!(out.contains("mistral, then the verdict\n"), "{out}");
    let out = planned(&["--judge", "mistral", "--swap-check"]);
    assert!(out.contains("mistral, then again in the other order\n"), "{out}");
    let last =
        "mistral, then again in the other order, then the verdict, then the verdict in the other order\n";
    assert!(out.contains(last), "{out}");
}

#[test]
fn limits_are_kept_in_a_plan() {
    let user = User::new();
    let args = ["discuss", "q", "--dry-run", "--json", "--max-calls", "7", "--max-tokens", "9000"];
    let plan = user.ax(&args).ends(0).json();
    assert_eq!((&plan["most"]["calls"], &plan["most"]["tokens"]), (&json!(7), &json!(9_000)));
    let plan = user.ax(&["discuss", "q", "--dry-run", "--json", "--recursive"]).ends(0).json();
    assert_eq!((&plan["most"]["calls"], &plan["subDiscussions"]), (&json!(20), &json!(true)));
}

#[test]
fn people_are_waited_for_and_cost_nothing() {
    let user = User::new();
    let args =
        ["discuss", "q", "--dry-run", "--pattern", "roundtable", "--participants", "claude,gemini,me:person"];
    let said = user.ax(&args).ends(0);
    assert!(said.out.contains("claude, then gemini, then me"), "{}", said.out);
    assert!(said.out.contains("It waits for 1 person to speak."), "{}", said.out);
}

#[test]
fn a_refused_request_has_no_plan() {
    let user = User::new();
    user.ax(&["discuss", "q", "--dry-run", "--rounds", "99"])
        .ends(2)
        .says(&["--rounds: must be"])
        .prints_nothing();
    user.ax(&["discuss", "q", "--dry-run", "--detach"])
        .ends(2)
        .says(&["cannot be used with"])
        .prints_nothing();
}

#[test]
fn a_past_order_can_be_planned_again() {
    let user = User::new();
    user.result(&["-p", "claude,gemini"]);
    let plan = user.ax(&["discuss", "--again", "last", "-r", "3", "--dry-run", "--json"]).ends(0).json();
    assert_eq!(plan["usual"]["calls"], 7);
}

#[test]
fn a_plan_of_a_debate_that_asks_about_its_judge_comes_to_an_end() {
    let user = User::new();
    user.ax(&["discuss", "Tabs?", "--pattern", "debate", "--judge-failure", "ask", "--dry-run"]).ends(0);
}

/// Two providers with prices, which are never asked.
const PRICED: &str = r#"
[providers.alpha]
wire = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "alpha-1"
price = { input = 3.0, output = 15.0 }
[providers.beta]
wire = "anthropic"
base_url = "http://127.0.0.1:9/v1"
model = "beta-1"
price = { input = 3.0, output = 15.0 }
"#;

#[test]
fn the_typical_cost_is_a_few_cents() {
    let user = User::new();
    user.configure(PRICED);
    let args = ["discuss", "Tabs or spaces?", "-p", "alpha,beta", "--dry-run"];
    let plan = user.ax(&[&args[..], &["--json"]].concat()).ends(0).json();
    let cost = |figures: &str| plan[figures]["costUsd"].as_f64().unwrap();
    assert!((0.02..0.2).contains(&cost("typical")), "{plan:#}");
    assert!(cost("typical") < cost("usual") && cost("usual") < cost("most"), "{plan:#}");
    let said = user.ax(&args).ends(0);
    let typical = format!("${:.4}", cost("typical"));
    let figures: Vec<&str> = said.out.lines().filter(|line| line.contains('$')).collect();
    assert!(
        matches!(figures[..], [one] if one.starts_with("typically") && one.ends_with(&typical)),
        "{said:#?}"
    );
    assert!(said.out.contains("No discussion of these models is recorded yet"), "{said:#?}");
    let said = user.ax(&[&args[..], &["--worst-case"]].concat()).ends(0);
    assert!(said.out.contains(&format!("${:.4}", cost("most"))), "{said:#?}");
    user.ax(&["discuss", "q", "--worst-case"]).ends(2).says(&["--dry-run"]);
}

#[test]
fn the_forecast_goes_by_past_discussions_of_the_same_models() {
    let user = User::new();
    let args = ["discuss", "Tabs or spaces?", "-p", "claude,gemini"];
    let planned = |args: &[&str]| user.ax(&[args, &["--dry-run", "--json"]].concat()).ends(0).json();
    assert_eq!(planned(&args)["typicalFrom"], 0);
    let result = user.ax(&[&args[..], &["--json"]].concat()).ends(0).json();
    let spent = result["metadata"]["costSummary"]["totalTokens"].as_f64().unwrap();
    let plan = planned(&args);
    let typical = plan["typical"]["tokens"].as_f64().unwrap();
    assert_eq!((&plan["typicalFrom"], &plan["typical"]["calls"]), (&json!(1), &json!(5)));
    assert!((spent * 0.7..spent * 1.3).contains(&typical), "{typical} of {spent}");
    assert_eq!(planned(&["discuss", "Tabs?", "-p", "qwen,glm"])["typicalFrom"], 0, "other models");
    let said = user.ax(&[&args[..], &["--dry-run"]].concat()).ends(0);
    assert!(said.out.contains("Typical answers are as long as in 1 past discussion."), "{said:#?}");
}

#[test]
fn a_workflow_is_forecast_like_its_steps() {
    let user = User::new();
    user.configure(PRICED);
    let step =
        |id: &str| format!("  - {{ stepId: {id}, type: prompt, config: {{ prompt: Say one thing. }} }}\n");
    let (one, two) = (step("one"), step("two"));
    let costs = |steps: &str| {
        user.write("steps.yaml", &format!("workflowId: steps\nversion: 1.0.0\nsteps:\n{steps}"));
        let plan = user.ax(&["run", "steps.yaml", "--dry-run", "--json"]).ends(0).json();
        plan["typicalCostUsd"].as_f64().unwrap()
    };
    let (of_one, of_two) = (costs(&one), costs(&format!("{one}{two}")));
    assert!((0.001..0.05).contains(&of_one), "{of_one}");
    assert!((of_two - 2.0 * of_one).abs() < 1e-6, "{of_two} {of_one}");
    let said = user.ax(&["run", "steps.yaml", "--dry-run"]).ends(0);
    assert!(said.out.contains("typically $0."), "{said:#?}");
}
