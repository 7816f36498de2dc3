//! `ax fork` of a run, and what `ax show` and `ax export` show of its steps.

use serde_json::{Value, json};

use crate::user::{Said, User};

const QUICK: [&str; 3] = ["--offline", "--simulate", "latency=0ms"];

/// Three prompts, of which the last two use another field of the input, and a tool that counts.
const THREE: &str = "workflowId: three
version: 1.0.0
name: Three steps
steps:
  - { stepId: gather, type: prompt, config: { prompt: 'Gather {{input.topic}}' } }
  - { stepId: keep, type: tool, tool: memory_store, config: { key: k, value: '{{input.kept}}' } }
  - stepId: both
    type: parallel
    config:
      steps:
        - { stepId: loud, type: prompt, config: { prompt: 'Loudly {{input.tone}} {{steps.gather.output}}' } }
        - { stepId: calm, type: prompt, config: { prompt: 'Calmly {{steps.gather.output}}' } }
  - { stepId: end, type: prompt, config: { prompt: 'End {{steps.loud.output}}' } }
";

struct Past {
    user: User,
    id: String,
    result: Value,
}

fn past() -> Past {
    let user = User::new();
    let file = user.write("three.yaml", THREE);
    let given = ["--set", "topic=tabs", "--set", "tone=sharp", "--set", "kept=1", "--json"];
    let line: Vec<&str> = ["run", &file].into_iter().chain(QUICK).chain(given).collect();
    let result = user.ax(&line).ends(0).json();
    let id = result["runId"].as_str().unwrap().to_owned();
    Past { user, id, result }
}

impl Past {
    fn fork(&self, more: &[&str]) -> Said {
        let line: Vec<&str> = ["fork", &self.id].iter().chain(more).copied().collect();
        self.user.ax(&line)
    }
}

fn output(result: &Value, id: &str) -> Value {
    let steps = result["stepResults"].as_array().unwrap();
    steps.iter().find(|it| it["stepId"] == id).unwrap()["output"].clone()
}

#[test]
fn b11_a_fork_of_a_run_keeps_every_step_that_is_equal() {
    let past = past();
    let forked = past.fork(&["--at", "gather", "--set", "tone=kind", "--json"]).ends(0);
    assert!(forked.err.contains("Kept from"), "{forked:#?}");
    let result = forked.json();
    assert_eq!(result["costSummary"]["totalCalls"], json!(2), "loud and end are asked again: {result:#}");
    for kept in ["gather", "keep", "calm"] {
        assert_eq!(output(&result, kept), output(&past.result, kept), "{kept}");
    }
    assert_ne!(output(&result, "loud"), output(&past.result, "loud"));
    let again = past.user.ax(&["show", result["runId"].as_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(again, result);
}

#[test]
fn b11_a_dry_run_of_a_fork_counts_what_is_kept_and_what_is_asked() {
    let past = past();
    let planned = ["--at", "gather", "--set", "tone=kind", "--dry-run", "--json"];
    let plan = past.fork(&planned).ends(0).json();
    let expected = (json!(["gather", "keep", "calm"]), json!(["loud"]), json!(2));
    assert_eq!((plan["kept"].clone(), plan["again"].clone(), plan["maxCalls"].clone()), expected, "{plan:#}");
    let said = past.fork(&planned[..5]).ends(0);
    let lines = "3 steps kept. The first to be done again: loud.\nAt most 2 calls if nothing is retried. Nothing was asked.\n";
    assert!(said.out.ends_with(lines), "{said:#?}");
    assert_eq!(past.user.ax(&["history", "--json"]).ends(0).json().as_array().unwrap().len(), 1);
}

#[test]
fn b11_a_fork_uses_no_tool_again_unless_told_to() {
    let past = past();
    let change = ["--at", "gather", "--set", "kept=2", "--json"];
    let result = past.fork(&change).ends(7).json();
    assert_eq!(result["error"]["code"], json!("TOOL_NOT_RERUN"), "{result:#}");
    let again: Vec<&str> = change.iter().copied().chain(["--rerun-tools"]).collect();
    let result = past.fork(&again).ends(0).json();
    assert_eq!(output(&result, "keep")["version"], json!(2));
    assert_eq!(result["costSummary"]["totalCalls"], json!(0), "{result:#}");
}

#[test]
fn b11_a_fork_takes_a_changed_workflow() {
    let past = past();
    let changed = past.user.write("other.yaml", &THREE.replace("End {{", "Finish with {{"));
    let result = past.fork(&["--at", "both", "--workflow", &changed, "--json"]).ends(0).json();
    assert_eq!(result["costSummary"]["totalCalls"], json!(1), "{result:#}");
    let wrong = past.user.write("wrong.yaml", &THREE.replace("type: parallel", "type: parallell"));
    past.fork(&["--at", "both", "--workflow", &wrong]).ends(2).says(&["there is no step type parallell"]);
}

#[test]
fn b11_a_fork_of_a_run_that_changes_nothing_or_names_no_step_is_refused() {
    let past = past();
    past.fork(&["--at", "gather"]).ends(2).says(&["nothing is changed"]);
    past.fork(&["--at", "nowhere", "--set", "tone=kind"])
        .ends(2)
        .says(&["no step nowhere has ended in this run; there are calm, end, gather, keep, loud"]);
    past.fork(&["--at", "gather", "--rounds", "3"]).ends(2).says(&["a run has no participants, rounds"]);
    past.user.ax(&["discuss", "Tabs?", "--offline", "-r1"]).ends(0);
    past.user
        .ax(&["fork", "last", "--at", "1/answering/claude", "--set", "a=b"])
        .ends(2)
        .says(&["--set: applies only to workflow runs"]);
}

#[test]
fn b11_show_and_exports_of_a_run_show_its_steps() {
    let past = past();
    let shown = past.user.ax(&["show", &past.id]).ends(0).out;
    for line in ["| gather | prompt | done |", "| ↳ loud | prompt | done |"] {
        assert!(shown.contains(line), "{line} is not in {shown}");
    }
    let exported = |format: &str| past.user.ax(&["export", &past.id, "--as", format]).ends(0).out;
    let markdown = exported("markdown");
    assert!(markdown.contains("## Steps") && markdown.contains("| keep | tool | done |"), "{markdown}");
    let page = exported("html");
    assert!(page.contains("<svg class=\"steps\"") && page.contains(">gather</text>"), "{page}");
    assert_eq!(page.matches("class=\"edge\"").count(), 3, "gather, keep, both, end follow one another");
    let document: Value = serde_json::from_str(&exported("json")).unwrap();
    let states: Vec<&Value> = document["steps"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(states, ["done"; 4]);
    let lines = exported("jsonl");
    let steps = lines.lines().filter(|it| it.contains("\"step-completed\"")).count();
    assert_eq!(steps, 6, "{lines}");
}
