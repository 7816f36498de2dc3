//! `ax watch`: a discussion or a run of another process, through the database they share.

use crate::user::User;

/// Starts a discussion in another process, and returns its id.
fn detached(user: &User, latency: &str, more: &[&str]) -> String {
    let simulate = format!("latency={latency}");
    let args = ["discuss", "Tabs or spaces?", "-p", "claude,gemini", "--detach", "--simulate", &simulate];
    let id = user.ax(&[&args[..], more].concat()).ends(0).out.trim().to_owned();
    user.wait_until(&id, "running");
    id
}

#[test]
fn a_discussion_of_another_process_is_watched_to_its_end() {
    let user = User::new();
    let id = detached(&user, "600ms", &[]);
    let said = user.ax(&["watch", &id]).ends(0);
    let said = said.says(&["Watching", "which ax (process", "claude answered in", "Deciding", "Done in"]);
    assert!(!said.out.trim().is_empty(), "the result is printed: {said:#?}");
    user.ax(&["attach", "last"]).ends(0).says(&["This discussion is over; here is its result."]);
}

#[test]
fn leaving_says_that_it_goes_on() {
    let user = User::new();
    let id = detached(&user, "5s", &["-r", "10"]);
    let mut watching = user.run(&["watch", &id]);
    watching.wait_for_line("Watching");
    watching.signal("-INT");
    let again = format!("; `ax watch {id}` shows it again.");
    watching.end().ends(0).says(&["Left. It goes on in ax (process", &again]).prints_nothing();
    user.ax(&["stop", &id]).ends(0);
    user.wait_for(&id);
}

#[test]
fn what_no_process_runs_says_how_to_go_on() {
    let user = User::new();
    let mut running = user.start(&["-r", "10"]);
    running.wait_for_line("answered in");
    running.signal("-KILL");
    let id = running.id.clone();
    running.end();
    user.ax(&["watch", &id]).ends(0).says(&[&format!("`ax resume {id}` continues it.")]);
    let table = ["discuss", "Now?", "--pattern", "roundtable", "--participants", "claude,gemini,me:person"];
    user.ax(&table).ends(0);
    user.ax(&["watch", "last"]).ends(0).says(&[
        "which waits for me",
        "Question: Now?",
        "Waiting for me",
        "`ax say ",
    ]);
}

#[test]
fn a_run_of_a_workflow_is_watched() {
    let user = User::new();
    let text = "workflowId: two\nversion: 1.0.0\nname: Two\nsteps:\n\
                \x20 - stepId: first\n    type: prompt\n    config:\n      prompt: Say one thing.\n\
                \x20 - stepId: second\n    type: prompt\n    config:\n      prompt: Say another.\n";
    user.write("two.yaml", text);
    let args = ["run", "two.yaml", "--offline", "--simulate", "latency=900ms", "--detach"];
    let id = user.ax(&args).ends(0).out.trim().to_owned();
    user.wait_until(&id, "running");
    user.ax(&["watch", &id]).ends(0).says(&["Watching", "second", "2 of 2 steps succeeded"]);
}

#[test]
fn the_one_before_the_last_is_found() {
    let user = User::new();
    let first = user.result(&["-p", "claude,gemini"])["discussionId"].clone();
    let second = user.result(&["-p", "claude,gemini"])["discussionId"].clone();
    let id = |given: &str| user.ax(&["show", given, "--json"]).ends(0).json()["discussionId"].clone();
    assert_eq!([id("last"), id("last~0"), id("last~1")], [second.clone(), second, first.clone()]);
    let missing = "there are only 2 discussions, so there is no last~2";
    user.ax(&["show", "last~2"]).ends(2).says(&[missing]);
    let args = ["discuss", "And now?", "--recall-from", "last~1", "--json"];
    assert_eq!(user.ax(&args).ends(0).json()["metadata"]["recalled"][0]["discussionId"], first);
}
