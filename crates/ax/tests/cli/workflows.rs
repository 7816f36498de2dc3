//! `ax run` and `ax workflow`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::user::User;

/// The workflow of the seed, as printed there.
const SEED: &str = r#"workflowId: architecture-decision
version: "1.0.0"
name: Architecture Decision Workflow

steps:
  - stepId: gather-requirements
    type: prompt
    config:
      prompt: "Summarize the key requirements for: {{input}}"

  - stepId: discuss-options
    type: discuss
    dependencies: [gather-requirements]
    config:
      pattern: debate
      providers: [claude, gemini, codex]
      rounds: 2
      prompt: |
        Based on these requirements:
        {{steps.gather-requirements.output}}

        Debate the best architecture approach.
      roles:
        claude: proponent
        gemini: opponent
        codex: judge
      consensus:
        method: moderator
        synthesizer: codex

  - stepId: document-decision
    type: prompt
    dependencies: [discuss-options]
    config:
      prompt: |
        Create an ADR based on this discussion:
        {{steps.discuss-options.output.synthesis}}
"#;

const QUICK: [&str; 3] = ["--offline", "--simulate", "latency=0ms"];

fn run<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    ["run", file].into_iter().chain(QUICK).chain(more.iter().copied()).collect()
}

#[test]
fn the_lines_of_a_step_begin_with_its_name_and_its_type() {
    let user = User::new();
    let file = user.write("seed.yaml", SEED);
    let planned = user.ax(&["run", &file, "--input", "a chat service", "--offline", "--dry-run"]).ends(0).out;
    assert!(planned.contains("discuss-options (discuss)"), "{planned}");
    let said = user.ax(&run(&file, &["--input", "a chat service"])).ends(0);
    let said =
        said.says(&["  gather-requirements begins (prompt)\n", "  discuss-options begins (discuss)\n"]);
    let below = said.err.lines().filter_map(|it| it.strip_prefix("    ")?.split_once(": "));
    let mut steps: Vec<&str> = below.map(|it| it.0).collect();
    steps.dedup();
    assert_eq!(steps, ["gather-requirements", "discuss-options", "document-decision"], "{said:#?}");
}

#[test]
fn b11_the_workflow_of_the_seed_runs_as_printed() {
    let user = User::new();
    let file = user.write("seed.yaml", SEED);
    user.ax(&["workflow", "check", &file]).ends(0);
    let result = user.ax(&run(&file, &["--input", "a chat service", "--json"])).ends(0).json();
    let steps: Vec<(&Value, &Value)> =
        result["stepResults"].as_array().unwrap().iter().map(|it| (&it["stepId"], &it["status"])).collect();
    let done = json!("done");
    let ids = ["gather-requirements", "discuss-options", "document-decision"].map(Value::from);
    assert_eq!(steps, ids.iter().map(|id| (id, &done)).collect::<Vec<_>>());
    assert_eq!((&result["success"], &result["workflowId"]), (&json!(true), &json!("architecture-decision")));
    let id = result["runId"].as_str().unwrap();
    assert_eq!(user.ax(&["show", id, "--json"]).ends(0).json(), result);
    user.ax(&["export", id]).ends(0);
}

#[test]
fn b11_the_text_of_the_last_step_is_printed() {
    let user = User::new();
    let file = user.write("seed.yaml", SEED);
    let said = user.ax(&run(&file, &["--input", "a chat service"])).ends(0);
    assert!(said.out.contains("Create an ADR based on this discussion"), "{said:#?}");
}

/// Six prompts, one after the other.
fn six(user: &User) -> String {
    let mut text = "workflowId: six\nversion: 1.0.0\nsteps:\n".to_owned();
    for number in 1..=6 {
        writeln!(
            text,
            "  - {{ stepId: p{number}, type: prompt, config: {{ prompt: 'Question {number}' }} }}"
        )
        .unwrap();
    }
    user.write("six.yaml", &text)
}

#[test]
fn b11_a_budget_of_three_calls_ends_a_run_of_six_with_what_it_has() {
    let user = User::new();
    let file = six(&user);
    let result = user.ax(&run(&file, &["--max-calls", "3", "--json"])).ends(5).json();
    assert_eq!(result["costSummary"]["totalCalls"], json!(3));
    assert_eq!(result["error"]["code"], json!("DISCUSSION_CALL_BUDGET_EXCEEDED"));
    assert!(result["output"]["content"].is_string());
    let said = user.ax(&run(&file, &["--dry-run"])).ends(0);
    assert!(said.out.contains("At most 6 calls"), "{said:#?}");
}

#[test]
fn b11_a_failed_step_ends_with_exit_code_7() {
    let user = User::new();
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - { stepId: bad, type: loop, config: { items: '{{input.x}}', steps: [{ stepId: s, type: prompt, config: { prompt: x } }] } }\n  - { stepId: late, type: prompt, config: { prompt: x } }\n";
    let file = user.write("w.yaml", text);
    let result = user.ax(&run(&file, &["--json"])).ends(7).json();
    assert_eq!(result["error"]["failedStepId"], json!("bad"));
    assert_eq!(result["error"]["code"], json!("LOOP_NOT_A_LIST"));
    assert_eq!(result["stepResults"][1]["status"], json!("skipped"));
}

#[test]
fn b11_mistakes_are_printed_with_their_lines_and_nothing_is_asked() {
    let user = User::new();
    let file =
        user.write("w.yaml", "workflowId: w\nversion: 1.0.0\nsteps:\n  - stepId: a\n    type: promt\n");
    let said = user.ax(&run(&file, &[])).ends(2);
    let place = format!("error: {file}:5:11: there is no step type promt");
    said.says(&[&place, "    type: promt", "Nothing was asked"]).prints_nothing();
    user.ax(&run("nothing.yaml", &[])).ends(2).says(&["there is no workflow nothing.yaml"]);
    let six = six(&user);
    user.ax(&run(&six, &["--input", "{no"])).ends(2).says(&["--input: is not valid JSON"]);
    user.ax(&run(&six, &["--set", "x"])).ends(2).says(&["--set: must be KEY=VALUE"]);
    let said = user.ax(&run(&six, &["--input", "@nothing.json"])).ends(2);
    assert_eq!(said.err, "error: --input @nothing.json: there is no such file\n");
}

#[test]
fn the_place_of_a_mistake_is_printed_once() {
    let user = User::new();
    let file = user.write("prose.md", "# Title\n\nOne: two: three\n");
    let said = user.ax(&["run", &file]).ends(2).prints_nothing();
    let expected = format!(
        "error: {file}:3:9: mapping values are not allowed in this context\n    One: two: three\n\
         Nothing was asked and nothing was spent.\n"
    );
    assert_eq!(said.err, expected);
}

/// A workflow of one prompt with this configuration.
fn one_prompt(user: &User, config: &str) -> String {
    let step = format!("  - {{ stepId: one, type: prompt, config: {{ {config} }} }}\n");
    user.write("one.yaml", &format!("workflowId: one\nversion: 1.0.0\nsteps:\n{step}"))
}

#[test]
fn a_run_without_the_input_that_it_uses_asked_about_an_empty_object() {
    let user = User::new();
    let refused = "error: --input: is missing, and the step one uses {{input}}; a file can have a default for \
                   it: {{input | default: 'TEXT'}}\n";
    for config in ["prompt: 'Say {{input}}'", "system: Be brief."] {
        let file = one_prompt(&user, config);
        user.ax(&run(&file, &[])).ends(2).says(&[refused]).prints_nothing();
        user.ax(&["workflow", "check", &file]).ends(0);
        user.ax(&run(&file, &["--input", "tabs"])).ends(0);
    }
    let file = one_prompt(&user, "prompt: \"Say {{input | default: 'hello'}}\"");
    let said = user.ax(&run(&file, &["--json"])).ends(0).json();
    assert!(said["output"]["content"].as_str().is_some_and(|it| it.contains("ay hello")), "{said:#}");
    let file = one_prompt(&user, "prompt: 'Say {{input.what}}'");
    let warning = "the workflow uses fields of its input, and none is given; they stay as written";
    user.ax(&run(&file, &[])).ends(0).says(&[warning]);
}

#[test]
fn a_run_without_providers_is_refused_like_a_discussion() {
    let user = User::new();
    user.configure("");
    let file = six(&user);
    let said = user.ax(&["run", &file]).ends(4).prints_nothing();
    let refused = user.ax(&["discuss", "q"]).ends(4).prints_nothing();
    assert_eq!(said.err.replace("`ax run --help`", "`ax discuss --help`"), refused.err);
    let file = one_prompt(&user, "prompt: x, provider: claude");
    let said = user.ax(&["run", &file]).ends(4).prints_nothing();
    said.says(&[":4:42: providers: claude is not available: there is no key in ANTHROPIC_API_KEY\n"]);
}

#[test]
fn b11_a_declared_tool_needs_permission_and_gets_data_on_its_standard_input() {
    let user = User::new();
    user.configure("[tools.shout]\ncommand = [\"/usr/bin/tr\", \"a-z\", \"A-Z\"]\n");
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - { stepId: loud, type: tool, tool: shout, config: { args: { say: '{{input.what}} $(touch x)' } } }\n";
    let file = user.write("w.yaml", text);
    let what = "what=$(touch x); `touch x`";
    user.ax(&run(&file, &["--set", what])).ends(2).says(&["--allow-tools shout"]);
    let allowed = ["--set", what, "--set", "$(touch x)=`touch x`", "--allow-tools", "shout", "--json"];
    let result = user.ax(&run(&file, &allowed)).ends(0).json();
    assert_eq!(result["output"], json!({ "SAY": "$(TOUCH X); `TOUCH X` $(TOUCH X)" }));
    assert!(!user.home().join("x").exists());
}

#[test]
fn b11_memory_is_kept_in_versions_between_runs() {
    let user = User::new();
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - { stepId: keep, type: tool, tool: memory_store, config: { key: k, value: { n: '{{input.n}}' } } }\n  - { stepId: find, type: tool, tool: memory_retrieve, config: { key: k } }\n";
    let file = user.write("w.yaml", text);
    for n in 1..=2 {
        let set = format!("n={n}");
        let result = user.ax(&run(&file, &["--set", &set, "--json"])).ends(0).json();
        assert_eq!(
            (&result["output"]["version"], &result["output"]["value"]),
            (&json!(n), &json!({ "n": n }))
        );
    }
}

#[test]
fn b11_workflows_are_found_by_name_and_the_schema_is_printed() {
    let user = User::new();
    let folder = user.config().parent().unwrap().join("workflows");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("decide.yaml"), SEED).unwrap();
    assert!(user.ax(&["workflow", "list"]).ends(0).out.contains("decide"));
    user.ax(&["workflow", "check", "decide"]).ends(0);
    assert!(user.ax(&["workflow", "show", "decide"]).ends(0).out.contains("gather-requirements"));
    assert_eq!(user.ax(&["workflow", "schema"]).ends(0).json()["title"], "Workflow");
}

/// A tool that leaves a mark and then hangs, unless there was one before.
fn marking(user: &User, more: &str) -> String {
    let marks = user.home().join("marks");
    let marks = marks.display();
    let script = format!(
        "echo mark >> {marks}\nif [ $(wc -l < {marks}) -gt 1 ]; then echo '{{\"marks\": 2}}'; exit; fi\nexec sleep 60\n"
    );
    let script = user.write("mark.sh", &script);
    user.configure(&format!("[tools.mark]\ncommand = [\"/bin/sh\", \"{script}\"]\n{more}"));
    let text = "workflowId: w\nversion: 1.0.0\nsteps:\n  - { stepId: mark, type: tool, tool: mark }\n  - { stepId: late, type: prompt, config: { prompt: x } }\n";
    user.write("w.yaml", text)
}

/// Starts the run, kills it while its tool is under way, and returns its id.
fn killed_in_a_tool(user: &User, file: &str) -> String {
    let running = user.begin(&run(file, &["--allow-tools", "mark"]));
    for _ in 0..400 {
        if user.home().join("marks").exists() {
            break;
        }
        // It sleeps because the tool is no child of this process.
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    running.signal("-KILL");
    let id = running.id.clone();
    running.end().ends(-1);
    id
}

fn marks(user: &User) -> usize {
    std::fs::read_to_string(user.home().join("marks")).unwrap().lines().count()
}

#[test]
fn b11_a_tool_that_was_under_way_at_a_kill_is_not_used_again() {
    let user = User::new();
    let file = marking(&user, "");
    let id = killed_in_a_tool(&user, &file);
    let result = user.ax(&["resume", &id, "--json"]).ends(7).json();
    assert_eq!(result["error"]["code"], json!("TOOL_INTERRUPTED"), "{result:#}");
    assert_eq!(result["stepResults"][1]["status"], json!("skipped"));
    assert_eq!(marks(&user), 1);
}

#[test]
fn b11_a_tool_that_is_declared_repeatable_is_used_again_after_a_kill() {
    let user = User::new();
    let file = marking(&user, "repeatable = true\n");
    let id = killed_in_a_tool(&user, &file);
    let result = user.ax(&["resume", &id, "--json"]).ends(0).json();
    assert_eq!(result["stepResults"][0]["output"], json!({ "marks": 2 }), "{result:#}");
    assert_eq!(marks(&user), 2);
}
