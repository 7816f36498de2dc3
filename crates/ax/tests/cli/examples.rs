//! Runs every example in the README and in the help as it is printed, in an environment prepared
//! for it.

use std::{collections::BTreeSet, fs, path::Path};

use crate::user::User;

/// Voices are simulated although two providers are available, which makes `ax doctor` succeed.
const CONFIG: &str = r#"
[defaults]
simulate = "latency=0ms"
[presets.architecture]
pattern = "debate"
judge = "qwen"
[providers.alpha]
wire = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "alpha-1"
price = { input = 1.0, output = 2.0 }
[providers.beta]
wire = "anthropic"
base_url = "http://127.0.0.1:9/v1"
model = "beta-1"
price = { input = 1.0, output = 2.0 }
"#;

const PRICES: &str =
    r#"{"m-1":{"litellm_provider":"openai","input_cost_per_token":1e-6,"output_cost_per_token":2e-6}}"#;

/// Examples that can't run here: they need a terminal, a network, a free port, or a server. In the
/// README such an example ends with `# needs …`; help is for people, and has no such marks.
const UNABLE: [&str; 5] =
    ["ax keys set claude", "ax doctor --live", "ax serve", "ax serve --port 8080 --offline", "curl -N "];

/// Questions to evaluate protocols on.
const QUESTIONS: &str = r#"{"id":"1","question":"Which is a prime?","options":["4","7"],"answer":"7"}
{"id":"2","question":"Which is even?","options":["4","7"],"answer":"4"}
"#;

/// A workflow to run, check and show.
const REVIEW: &str = "workflowId: review
version: 1.0.0
steps:
  - { stepId: summarise, type: prompt, config: { prompt: 'Summarise {{input}} for {{area}}.' } }
  - { stepId: weigh, type: prompt, config: { prompt: 'Weigh {{steps.summarise.output}}.' } }
";

/// An environment with what examples use: files, a session, providers.
pub(crate) fn user() -> User {
    let user = User::new();
    user.configure(CONFIG);
    for name in ["notes.md", "todo.md", "answer.md"] {
        user.write(name, "Something worth knowing.\n");
    }
    user.write("reviewer.md", "---\nagentId: reviewer\n---\nRead the diff before its description.\n");
    user.write("review.yaml", REVIEW);
    user.write("request.json", "{ \"topic\": \"events\" }\n");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workflows");
    let folder = user.config().parent().unwrap().join("workflows");
    std::os::unix::fs::symlink(examples, folder).unwrap();
    user.write("key.txt", "not-a-real-key\n");
    user.write("questions.jsonl", QUESTIONS);
    user.write("model_prices_and_context_window.json", PRICES);
    user.ax(&["sessions", "create", "Travel"]).ends(0);
    user
}

/// Makes the folder of examples reachable as it is from the repository.
pub(crate) fn link_examples(user: &User) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::os::unix::fs::symlink(examples, user.home().join("examples")).unwrap();
}

/// Prepares what the example refers to, such as a past or a waiting discussion.
fn prepare(user: &User, line: &str) {
    let verb = line.split("ax ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
    if line.contains("reviewer") {
        user.ax(&["agents", "register", "reviewer.md"]).ends(0);
    }
    if line.contains("sceptic") || line.contains("examples/") {
        link_examples(user);
        user.ax(&["agents", "import", "examples/agents"]).ends(0);
    }
    match verb {
        "agents" => {}
        "say" => {
            let table = "claude,gemini,me:person";
            user.ax(&["discuss", "Now?", "--pattern", "roundtable", "--participants", table, "-r1"]).ends(0);
        }
        "attach" | "show" => {
            let seats = ["discuss", "Events for billing?", "-p", "claude,gemini"];
            (0..2).for_each(|_| drop(user.ax(&seats).ends(0)));
        }
        "judge" => {
            let table = ["--pattern", "debate", "-p", "claude,glm,gemini,qwen", "--judge", "qwen"];
            let lost = ["--judge-failure", "ask", "--simulate", "latency=0ms,dead=qwen"];
            user.ax(&[&["discuss", "Now?"], &table[..], &lost[..]].concat()).ends(0);
        }
        "keys" => drop(user.shell("ax keys set claude < key.txt").ends(0)),
        "note" | "pause" | "stop" | "abort" => {
            let mut running = user.start(&["-r", "10"]);
            running.wait_for_line("answered in");
            running.signal("-KILL");
            running.end();
        }
        _ => {
            let seats = "claude,gemini,qwen";
            user.ax(&["discuss", "Events for billing?", "--pattern", "debate", "-p", seats]).ends(0);
        }
    }
}

fn run(line: &str) {
    let user = user();
    prepare(&user, line);
    let said = user.shell(line);
    let requires = line.contains("--require-consensus") || line.contains("--require-support");
    let refused = requires && said.code == 6;
    assert!(said.code == 0 || refused, "{line}: {said:#?}");
    assert!(!said.err.contains("error:") && !said.err.contains("panicked"), "{line}: {said:#?}");
    if line.contains("--detach") {
        user.wait_for(said.out.trim());
    }
}

/// Runs the examples that can be run, and counts the others.
fn run_all(lines: &BTreeSet<String>) -> usize {
    let (unable, able): (Vec<&String>, Vec<&String>) =
        lines.iter().partition(|line| line.contains("# needs ") || is_unable(line));
    able.into_iter().for_each(|line| run(line));
    unable.len()
}

fn is_unable(line: &str) -> bool {
    UNABLE.iter().any(|it| line == *it || (it.ends_with(' ') && line.starts_with(it)))
}

/// The lines after `Examples:`.
fn examples(help: &str) -> BTreeSet<String> {
    let after = help.split("Examples:\n").nth(1).unwrap_or_default();
    after.lines().take_while(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned()).collect()
}

fn verbs(user: &User) -> Vec<String> {
    let help = user.ax(&["help"]).ends(0).out;
    let commands = help.split("Usage: ").nth(1).unwrap().split("Options:\n").next().unwrap().to_owned();
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_example_in_the_help_runs() {
    let user = User::new();
    let mut lines = examples(&user.ax(&["--help"]).ends(0).out);
    let verbs = verbs(&user);
    assert!(verbs.len() >= 17, "{verbs:?}");
    for verb in verbs {
        let own = examples(&user.ax(&[&verb, "--help"]).ends(0).out);
        assert!(!own.is_empty(), "{verb} has no examples");
        lines.extend(own);
    }
    let marked: Vec<&String> = lines.iter().filter(|line| line.contains("# needs")).collect();
    assert_eq!(marked, Vec::<&String>::new(), "help is for people");
    assert_eq!(run_all(&lines), UNABLE.len());
}

/// The command lines of the README.
fn of_readme() -> BTreeSet<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let blocks = readme.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).map(|line| line.trim_start_matches("$ "));
    let lines = lines.map(|line| line.replace("cargo run -- ", "ax "));
    lines.filter(|line| line.starts_with("ax ") || line.contains("| ax ")).collect()
}

#[test]
fn every_example_in_the_readme_runs() {
    let lines = of_readme();
    assert!(lines.len() > 15, "{lines:?}");
    assert!(run_all(&lines) <= 3);
}

#[test]
fn the_readmes_orders_run_without_a_key() {
    let is_order =
        |line: &&String| ["ax \"", "ax ask \"", "ax discuss \""].iter().any(|it| line.contains(it));
    let orders: Vec<String> = of_readme().iter().filter(is_order).cloned().collect();
    assert!(orders.len() > 10, "{orders:?}");
    let online: Vec<&String> = orders.iter().filter(|it| !it.contains(" --offline")).collect();
    assert_eq!(online, Vec::<&String>::new());
    let user = User::new();
    user.configure("");
    user.shell(orders.iter().find(|it| it.starts_with("ax \"Should we move")).unwrap()).ends(0);
}
