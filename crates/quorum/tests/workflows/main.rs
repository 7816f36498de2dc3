//! Checks of workflow files, every mistake at once and hostile files in bounds; and runs with
//! agents and recall.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod runs;

use std::fmt::Write;

use quorum::{
    Quorum, Request,
    model::id::Tenant,
    patterns::workflow::plan::Action,
    workflow::{Checked, RunError, RunOrder, Wrong, schema::schema},
};
use quorum_testkit::stopwatch::Stopwatch;
use serde_json::{Value, json};

fn checked(text: impl AsRef<[u8]>) -> Result<Checked, Wrong> {
    let quorum = Quorum::builder().simulated().build().unwrap();
    let order = RunOrder {
        file: "w.yaml".to_owned(),
        text: text.as_ref().to_vec(),
        input: json!({}),
        request: Request { offline: Some(true), ..Request::default() },
        ..RunOrder::default()
    };
    quorum.scope(Tenant::default(), "ann").check_workflow(&order).map_err(|error| match error {
        RunError::Wrong(wrong) => wrong,
        RunError::Quorum(error) => panic!("{error}"),
    })
}

#[track_caller]
fn wrong(text: impl AsRef<[u8]>) -> Vec<String> {
    let wrong = checked(text).unwrap_err();
    wrong.mistakes.iter().map(|(it, _)| format!("{}:{}: {}", it.line(), it.column(), it.message)).collect()
}

fn with_steps(steps: &str) -> String {
    format!("workflowId: w\nversion: 1.0.0\nsteps:\n{steps}")
}

#[track_caller]
fn refuses(steps: &str, expected: &[&str]) {
    assert_eq!(wrong(with_steps(steps)), expected, "{steps}");
}

#[test]
fn b11_mistakes_have_their_place_and_come_all_at_once() {
    let text = "workflowId: Bad\nversion: 1.0\nsteps:\n  - stepId: a\n    type: promt\n    dependencies: [nobody]\n  - stepId: a\n    type: prompt\n    config:\n      prompt: {{input}}\n      promt: x\n";
    assert_eq!(
        wrong(text),
        [
            "1:13: workflowId must be a lowercase letter, then letters, digits and hyphens, at most 64; not Bad",
            "2:10: version must be three numbers, like \"1.0.0\"; not 1.0",
            "5:11: there is no step type promt; did you mean prompt?",
            "6:20: there is no step nobody beside a",
            "7:13: there is another step a, in line 4",
            "10:15: write prompt: \"{{…}}\" in quotes",
            "11:7: a prompt's config has no field promt; did you mean prompt?",
        ]
    );
    let wrong = checked(text).expect_err("it has mistakes");
    assert_eq!(
        wrong.lines()[2],
        "w.yaml:5:11: there is no step type promt; did you mean prompt?\n        type: promt"
    );
}

#[test]
fn b11_circles_late_references_and_duplicate_keys_are_refused() {
    refuses(
        "  - { stepId: a, type: prompt, dependencies: [b], config: { prompt: x } }\n  - { stepId: b, type: prompt, dependencies: [a], config: { prompt: x } }\n",
        &["4:15: these steps wait for each other: a, b"],
    );
    refuses(
        "  - { stepId: a, type: prompt, dependencies: [a], config: { prompt: x } }\n",
        &["4:47: a depends on itself"],
    );
    refuses(
        "  - { stepId: a, type: prompt, config: { prompt: \"{{steps.b.output}}\" } }\n  - { stepId: b, type: prompt, config: { prompt: x } }\n",
        &["4:15: a uses steps.b, which can't be over by then; name it in dependencies"],
    );
    refuses(
        "  - { stepId: a, type: prompt, config: { prompt: \"{{steps.x.output}}\" } }\n",
        &["4:15: a uses steps.x, and there is no such step"],
    );
    refuses(
        "  - { stepId: a, stepId: b, type: prompt, config: { prompt: x } }\n",
        &["4:18: stepId is given twice in a step"],
    );
    refuses(
        "  - { stepId: a, type: tool, tool: guard_check }\n",
        &["4:5: guard_check is no tool here; declare [tools.guard_check] in the configuration"],
    );
    refuses(
        "  - { stepId: a, type: conditional, config: { condition: \"a ==\", then: [] } }\n",
        &[
            "4:45: condition is missing or can't be read",
            "4:58: condition: write {{a}} for a value, or 'a' for a text",
        ],
    );
}

#[test]
fn inv_disc_008_a_debate_in_a_workflow_needs_roles() {
    let debate = |roles: &str| {
        format!(
            "  - stepId: a\n    type: discuss\n    config:\n      pattern: debate\n      providers: [claude, gemini, codex]\n      prompt: x\n{roles}"
        )
    };
    let found = wrong(with_steps(&debate("")));
    assert!(found.len() == 1 && found[0].contains("a debate needs a proponent"), "{found:?}");
    let roles = "      roles: { claude: proponent, gemini: opponent, codex: judge }\n";
    assert!(checked(with_steps(&debate(roles))).is_ok());
}

#[test]
fn b03_a_discuss_step_has_the_fields_and_bounds_of_the_requirement() {
    let step = |field: &str| {
        with_steps(&format!(
            "  - stepId: a\n    type: discuss\n    config:\n      providers: [claude, gemini]\n      prompt: x\n      {field}\n"
        ))
    };
    for (field, expected) in [
        ("rounds: 11", "rounds"),
        ("temperature: 3", "temperature"),
        ("minProviders: 3", "minProviders"),
        ("providerTimeout: 10", "providerTimeout"),
        ("rouns: 2", "rouns"),
        ("sessionId: x", "sessionId"),
    ] {
        let found = wrong(step(field));
        assert!(found.len() == 1 && found[0].contains(expected), "{field}: {found:?}");
    }
    let long = format!("prompt: {}", "x".repeat(10_001));
    let text = step("rounds: 1").replace("prompt: x", &long);
    assert!(wrong(text)[0].contains("prompt may have 10000 characters; this has 10001"));
    let fine = "rounds: 3\n      consensus: { method: voting, threshold: 0.6 }\n      votingOptions: [a, b]";
    let plan = checked(step(fine)).expect("it is in order").plan;
    let Action::Discuss(action) = &plan.steps[0].action else { panic!("it is a discussion") };
    assert_eq!((action.spec.rounds, action.spec.consensus.method.as_str()), (3, "voting"));
    assert_eq!(action.spec.options, ["a", "b"]);
}

#[test]
fn b11_the_order_of_steps_follows_the_file_or_the_dependencies() {
    let text = with_steps(
        "  - { stepId: a, type: prompt, config: { prompt: x } }\n  - { stepId: b, type: prompt, config: { task: x } }\n  - { stepId: c, type: prompt, dependencies: [a], timeoutMs: 5000, config: { prompt: x } }\n  - { stepId: d, type: prompt, dependencies: [], config: { prompt: x } }\n",
    );
    let plan = checked(text).expect("it is in order").plan;
    let after: Vec<Vec<String>> = plan.steps.iter().map(|it| it.after.clone()).collect();
    assert_eq!(after, [vec![], vec!["a".to_owned()], vec!["a".to_owned()], vec![]]);
    assert_eq!(plan.steps[2].timeout_ms, Some(5_000));
}

#[test]
fn b11_a_workflow_has_at_most_200_steps_and_five_levels() {
    let mut steps = String::new();
    for number in 0..201 {
        writeln!(steps, "  - {{ stepId: s{number}, type: prompt, config: {{ prompt: x }} }}").unwrap();
    }
    refuses(&steps, &["204:5: a workflow may have at most 200 steps, including nested ones"]);
    let nested = |levels: usize| {
        let inner = (1..levels)
            .fold("{ stepId: s0, type: prompt, config: { prompt: x } }".to_owned(), |it, level| {
                format!("{{ stepId: s{level}, type: parallel, config: {{ steps: [{it}] }} }}")
            });
        with_steps(&format!("  - {inner}\n"))
    };
    assert!(checked(nested(5)).is_ok());
    let found = wrong(nested(6));
    assert!(found.len() == 1 && found[0].contains("nested 5 levels deep"), "{found:?}");
}

/// Files that would take much time or memory if they were read without bounds.
#[test]
fn b11_bombs_are_refused_in_one_sentence_and_at_once() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        writeln!(laughs, "a{level}: &a{level} [{}]", before.trim_end_matches(", ")).unwrap();
    }
    let deep = format!("steps: {}{}", "[".repeat(20_000), "]".repeat(20_000));
    let many = format!("steps: [{}]", "1,".repeat(120_000));
    let large = "#".repeat(300 * 1024);
    let two_million = format!("steps: [{}]", "1,".repeat(2_000_000));
    let bombs: [(&str, Vec<u8>); 7] = [
        ("laughs", laughs.into_bytes()),
        ("deep", deep.into_bytes()),
        ("many", many.into_bytes()),
        ("two million", two_million.into_bytes()),
        ("large", large.into_bytes()),
        ("nul", b"workflowId: a\0b".to_vec()),
        ("latin", b"workflowId: \xe4".to_vec()),
    ];
    // What is read once for every check does not count.
    assert!(!wrong("workflowId: a").is_empty());
    let before = memory("VmRSS");
    for (name, bomb) in bombs {
        let began = Stopwatch::start();
        let found = wrong(&bomb);
        let took = began.took().own;
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert!(found[0].len() < 200 && !found[0].contains('\n'), "{name}: {found:?}");
        assert!(!found[0].contains("breached"), "{name}: {found:?}");
        let grown = memory("VmHWM").saturating_sub(before);
        println!("{name}: {took:?}, at most {grown} KiB more so far: {}", found[0]);
        assert!(took.as_millis() < 200, "{name} took {took:?}");
        assert!(grown < 50 * 1024, "{name} took {grown} KiB");
    }
}

/// A figure of this process's memory in KiB, as Linux counts it. Each test is a process of its own.
fn memory(figure: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with(figure)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn b11_json_is_read_too_and_n_is_a_text() {
    let text = r#"{"workflowId": "w", "version": "1.0.0", "variables": {"a": [1, null]},
        "steps": [{"stepId": "n", "type": "prompt", "config": {"prompt": "x"}}]}"#;
    let plan = checked(text).expect("it is in order").plan;
    assert_eq!(plan.variables["a"], json!([1, null]));
    let yaml = with_steps("  - { stepId: n, type: prompt, config: { prompt: n } }\n");
    assert_eq!(checked(yaml).expect("it is in order").plan.steps[0].id, "n");
}

#[test]
fn b11_the_schema_knows_every_type_of_step() {
    let schema = schema();
    let types = schema["$defs"]["step"]["properties"]["type"]["oneOf"].as_array().unwrap();
    let names: Vec<&str> = types.iter().filter_map(|it| it["const"].as_str()).collect();
    assert_eq!(names, ["prompt", "discuss", "tool", "parallel", "conditional", "loop", "delegate"]);
    assert_eq!(schema["$schema"], Value::from("https://json-schema.org/draft/2020-12/schema"));
}

#[test]
fn b11_every_example_is_in_order() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/workflows");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        if let Err(wrong) = checked(text) {
            panic!("{}: {wrong}", path.display());
        }
        count += 1;
    }
    assert_eq!(count, 8);
}
