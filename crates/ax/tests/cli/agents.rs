//! `ax agents`, and agents in `ax discuss`.

use std::path::Path;

use crate::user::User;

const REVIEWER: &str = "---\nagentId: reviewer\ndisplayName: Ada\nrole: reviewer\nabilities: {core: [gone]}\n\
                        providerAffinity: {preferred: [glm, gemini], taskMapping: {triage: qwen}}\n---\nTrust nothing.\n";

fn user() -> User {
    let user = User::new();
    user.write("reviewer.md", REVIEWER);
    user.ax(&["agents", "register", "reviewer.md"]).ends(0).says(&["Registered reviewer: "]).prints_nothing();
    user
}

#[test]
fn b08_agents_are_registered_listed_shown_and_removed() {
    let user = user();
    let listed = user.ax(&["agents"]).ends(0);
    let expected = "reviewer             Ada, reviewer\n                     through glm (preferred), from the user folder\n";
    assert_eq!(listed.out, expected);
    assert_eq!(user.ax(&["agents", "list", "--json"]).ends(0).json()[0]["speaksThrough"], "glm");
    let shown = user.ax(&["agents", "show", "reviewer", "--topic", "a triage"]).ends(0);
    let text =
        "# Your profile\n\nYour profile is that of Ada: reviewer.\n\nTrust nothing.\n\n# The discussion\n";
    assert!(shown.out.starts_with(text), "{shown:#?}");
    let shown = shown.says(&["not found: gone", "weight 1.5", "through qwen (for the task triage)"]);
    assert!(shown.err.contains("qwen, glm, gemini, claude"), "{shown:#?}");
    user.write("reviewer.md", &REVIEWER.replace("Trust nothing.", "Trust all."));
    user.ax(&["agents", "register", "reviewer.md"]).ends(2).says(&["already", "--force replaces it"]);
    user.ax(&["agents", "register", "reviewer.md", "--force"]).ends(0);
    user.ax_hearing(&["agents", "register", "-"], "{ \"agentId\": \"piped\" }").ends(0);
    user.ax(&["agents", "rm", "reviewer"]).ends(0).says(&["Removed reviewer"]);
    user.ax(&["agents", "show", "reviewer"])
        .ends(2)
        .says(&["there is no agent named reviewer", "searched in "]);
}

#[test]
fn b08_an_agent_speaks_and_the_user_is_told_through_whom() {
    let user = user();
    let panel = ["--participants", "claude,qwen,reviewer:agent", "--simulate", "latency=0ms,dead=glm"];
    let result = user.result(&[&panel[..], &["--agent-weight", "2"]].concat());
    let agent = &result["agents"][0];
    assert_eq!((&agent["provider"], &agent["weight"]), (&"gemini".into(), &2.0.into()));
    assert_eq!(agent["passedOver"][0]["candidate"], "glm");
    let told = user.ax(&[&["discuss", "Tabs or spaces?"], &panel[..]].concat()).ends(0);
    told.says(&["reviewer speaks through gemini (preferred; not glm: "]);
    let plan =
        user.ax(&[&["discuss", "Tabs or spaces?", "--dry-run", "--task", "triage"], &panel[..2]].concat());
    let line = "  reviewer             through qwen (for the task triage), weight 1.5; not found: gone";
    assert!(plan.out.contains(line), "{plan:#?}");
    let shown = user.ax(&["show", "last"]).ends(0);
    for word in ["Agents", "Ada", "through", "gemini", "preferred", "1.5", "abilities not found: gone"] {
        assert!(shown.out.contains(word), "{word} is not in {shown:#?}");
    }
}

#[test]
fn b08_a_plan_says_that_none_of_an_agents_providers_is_available() {
    let user = user();
    user.write("excl.yaml", "agentId: excl\nproviderAffinity: {preferred: [glm], exclude: [glm, claude]}\n");
    user.ax(&["agents", "register", "excl.yaml"]).ends(0);
    let plan =
        user.ax(&["discuss", "Tabs or spaces?", "--dry-run", "--participants", "claude,qwen,excl:agent"]);
    let lines =
        ["  excl                 none of its providers is available, weight 1.5", "available for excl."];
    assert!(lines.iter().all(|it| plan.out.contains(it)), "{plan:#?}");
}

#[test]
fn b08_mistakes_at_the_command_line_are_worded_for_it() {
    let user = user();
    let said = user.ax(&["discuss", "x", "--providers", "claude,reviewer:agent"]).ends(2);
    said.says(&["reviewer:agent is an agent, and not a provider; name the whole panel with --participants"]);
    user.ax(&["agents", "import", "/nonexist"]).ends(2).says(&["error: nonexist: does not exist (in /)"]);
    let said = user.ax_hearing(&["agents", "register", "-"], "").ends(2).says(&["input.yaml: is empty"]);
    assert!(!said.err.contains("(in )"), "{said:#?}");
}

#[test]
fn b08_a_projects_agents_come_first_and_bad_names_are_refused_before_anything_is_spent() {
    let user = user();
    let project = user.home().join(".quorum/agents");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("reviewer.yaml"), "agentId: reviewer\nweight: 3\n").unwrap();
    let listed = user.ax(&["agents", "--json"]).ends(0).json();
    assert_eq!((&listed[0]["folder"], &listed[0]["weight"]), (&"project".into(), &3.0.into()));
    let refused =
        |seat: &str| user.ax(&["discuss", "x", "--participants", &format!("claude,{seat}")]).ends(2);
    refused("reviwer:agent").says(&[
        "did you mean reviewer?",
        ".quorum/agents",
        "`ax agents` lists all agents",
    ]);
    refused("agent:reviewer").says(&["written reviewer:agent"]);
    refused("../x:agent").says(&["is not an agent's id"]);
    std::fs::write(project.join("reviewer.yaml"), "agentId: reviewer\nweight: 9\n").unwrap();
    refused("reviewer:agent")
        .says(&["reviewer.yaml: weight must be from 0.5 to 3", ".quorum/agents/reviewer.yaml"]);
    assert!(user.ax(&["history"]).ends(0).out.is_empty());
}

#[test]
fn b08_the_examples_are_imported_with_one_command() {
    let user = User::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agents");
    let examples = examples.to_str().unwrap();
    user.ax(&["agents", "import", examples]).ends(0).says(&["Imported 6 agents and 12 abilities."]);
    let listed = user.ax(&["agents"]).ends(0).says(&["No provider is available here", "simulated"]);
    let names =
        listed.out.lines().step_by(2).map(|it| it.split_whitespace().skip(1).collect::<Vec<_>>().join(" "));
    let expected = [
        "Architect, software architect",
        "Data analyst",
        "Editor",
        "Product manager",
        "Sceptic, professional doubter",
        "Security reviewer, security engineer",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let panel = "architect:agent,security-reviewer:agent,sceptic:agent";
    let result = user.result(&["--participants", panel]);
    assert_eq!(result["participatingProviders"].as_array().unwrap().len(), 3);
    user.write("bad.json", "{ \"agentId\": \"x\", \"weight\": 9 }");
    let folder = user.home().join("bad");
    std::fs::create_dir_all(folder.join("agents")).unwrap();
    std::fs::write(folder.join("agents/x.json"), "{ \"agentId\": \"x\", \"weight\": 9 }").unwrap();
    let said = user.ax(&["agents", "import", folder.to_str().unwrap()]).ends(2);
    said.says(&["x.json: weight must be from 0.5 to 3, not 9", "nothing was imported; 1 mistake to fix"]);
}
