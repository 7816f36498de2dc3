//! `ax watch`: a discussion or a run of another process, through the database they share.

use crate::desk::Desk;

/// Starts a discussion in another process, and returns its id.
fn detached(desk: &Desk, latency: &str, more: &[&str]) -> String {
    let simulate = format!("latency={latency}");
    let args = ["discuss", "Tabs or spaces?", "-p", "claude,gemini", "--detach", "--simulate", &simulate];
    let id = desk.ax(&[&args[..], more].concat()).ends(0).out.trim().to_owned();
    desk.wait_until(&id, "running");
    id
}

#[test]
fn a_discussion_of_another_process_is_watched_to_its_end() {
    let desk = Desk::new();
    let id = detached(&desk, "600ms", &[]);
    let said = desk.ax(&["watch", &id]).ends(0);
    let said = said.says(&["Watching", "which ax (process", "claude answered in", "Deciding", "Done in"]);
    assert!(!said.out.trim().is_empty(), "the result is printed: {said:#?}");
    desk.ax(&["attach", "last"]).ends(0).says(&["This discussion is over; here is its result."]);
}

#[test]
fn leaving_says_that_it_goes_on() {
    let desk = Desk::new();
    let id = detached(&desk, "5s", &["-r", "10"]);
    let mut watching = desk.run(&["watch", &id]);
    watching.hear("Watching");
    watching.signal("-INT");
    let again = format!("; `ax watch {id}` shows it again.");
    watching.end().ends(0).says(&["Left. It goes on in ax (process", &again]).prints_nothing();
    desk.ax(&["stop", &id]).ends(0);
    desk.wait_for(&id);
}

#[test]
fn what_no_process_runs_says_how_to_go_on() {
    let desk = Desk::new();
    let mut running = desk.start(&["-r", "10"]);
    running.hear("answered in");
    running.signal("-KILL");
    let id = running.id.clone();
    running.end();
    desk.ax(&["watch", &id]).ends(0).says(&[&format!("`ax resume {id}` continues it.")]);
    let table = ["discuss", "Now?", "--pattern", "roundtable", "--participants", "claude,gemini,me:person"];
    desk.ax(&table).ends(0);
    desk.ax(&["watch", "last"]).ends(0).says(&["Waiting for me", "`ax say "]);
}

#[test]
fn a_run_of_a_workflow_is_watched() {
    let desk = Desk::new();
    let text = "workflowId: two\nversion: 1.0.0\nname: Two\nsteps:\n\
                \x20 - stepId: first\n    type: prompt\n    config:\n      prompt: Say one thing.\n\
                \x20 - stepId: second\n    type: prompt\n    config:\n      prompt: Say another.\n";
    desk.write("two.yaml", text);
    let args = ["run", "two.yaml", "--offline", "--simulate", "latency=900ms", "--detach"];
    let id = desk.ax(&args).ends(0).out.trim().to_owned();
    desk.wait_until(&id, "running");
    desk.ax(&["watch", &id]).ends(0).says(&["Watching", "second", "2 of 2 steps succeeded"]);
}

#[test]
fn the_one_before_the_last_is_found() {
    let desk = Desk::new();
    let first = desk.result(&["-p", "claude,gemini"])["discussionId"].clone();
    let second = desk.result(&["-p", "claude,gemini"])["discussionId"].clone();
    let id = |given: &str| desk.ax(&["show", given, "--json"]).ends(0).json()["discussionId"].clone();
    assert_eq!([id("last"), id("last~0"), id("last~1")], [second.clone(), second, first.clone()]);
    desk.ax(&["show", "last~2"]).ends(2).says(&["last~2"]);
    let args = ["discuss", "And now?", "--recall-from", "last~1", "--json"];
    assert_eq!(desk.ax(&args).ends(0).json()["metadata"]["recalled"][0]["discussionId"], first);
}
