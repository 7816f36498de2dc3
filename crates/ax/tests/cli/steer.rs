//! Steering from another process, interrupting, killing, and resuming.

use crate::user::{Running, User};

/// Long enough to be steered after the first answer, short enough to be waited for.
const SOME: &[&str] = &["-r", "5"];
/// For discussions that are not waited for.
const MANY: &[&str] = &["-r", "10"];

fn answered(user: &User, args: &[&str]) -> Running {
    let mut running = user.start(args);
    running.wait_for_line("answered in");
    running
}

#[test]
fn paused_from_elsewhere_and_resumed() {
    let user = User::new();
    let running = answered(&user, SOME);
    let id = running.id.clone();
    user.ax(&["pause", &id]).ends(0).says(&["Sent the pause to ax (process"]);
    running.end().ends(0).prints_nothing().says(&["Paused.", &format!("ax resume {id}")]);
    assert_eq!(user.ax(&["show", &id, "--json"]).ends(0).json()["status"], "paused");
    user.ax(&["pause", &id]).ends(0).says(&["is already paused"]);
    let result = user.ax(&["resume", &id, "--json"]).ends(0).json();
    assert_eq!(result["status"], "completed");
    assert_eq!(result["success"], true);
    assert_eq!(result["integrity"]["repeatedCalls"], 0);
}

#[test]
fn a_stop_from_another_process_concludes_where_it_runs() {
    let user = User::new();
    let running = answered(&user, MANY);
    user.ax(&["stop", &running.id]).ends(0).says(&["Sent the stop to ax (process"]).prints_nothing();
    let said = running.end().ends(0).says(&["it was stopped by a person", "it was stopped early"]);
    assert!(!said.out.trim().is_empty());
}

#[test]
fn a_discussion_aborted_from_elsewhere_ends_at_once() {
    let user = User::new();
    let running = answered(&user, MANY);
    let id = running.id.clone();
    user.ax(&["abort", &id]).ends(0).says(&["Sent the abort to ax (process"]);
    let said = running.end().ends(130).says(&["Aborted in"]);
    let told = "Degraded: it was aborted; no synthesis was written, and the text is what ";
    assert!(said.out.contains(told) && said.out.contains("\n\n## Last words of "), "{said:#?}");
    user.ax(&["resume", &id]).ends(130).says(&["is over"]);
    user.ax(&["stop", &id]).ends(2).says(&["is over"]);
}

#[test]
fn the_first_ctrl_c_concludes_and_the_second_aborts() {
    let user = User::new();
    let mut running = answered(&user, MANY);
    running.signal("-INT");
    running.wait_for_line("Stopping: only a verdict, the answer and votes are still asked for.");
    let said = running.end().ends(130).says(&["Done in"]);
    assert!(!said.out.trim().is_empty());
    let mut running = answered(&user, MANY);
    running.signal("-INT");
    running.wait_for_line("Stopping");
    running.signal("-INT");
    running.wait_for_line("Aborting");
    running.end().ends(130).says(&["Aborted in"]);
}

#[test]
fn f13_a_terminated_command_exits_and_its_discussion_can_be_resumed() {
    let user = User::new();
    let running = answered(&user, SOME);
    let id = running.id.clone();
    running.signal("-TERM");
    running.end().ends(130).says(&["Left.", &format!("ax resume {id}")]).prints_nothing();
    user.ax(&["resume", &id]).ends(0).says(&["Done in"]);
}

/// The recorded calls without an answer.
fn unanswered(user: &User) -> Vec<String> {
    let database = rusqlite::Connection::open(user.database()).unwrap();
    let sql = "SELECT step FROM facts placed WHERE type = 'call_placed' AND NOT EXISTS
        (SELECT 1 FROM facts WHERE discussion = placed.discussion AND type = 'turn_completed' AND step = placed.step)";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn f13_a_terminated_command_records_the_answers_under_way_before_it_exits() {
    for args in [&["-r", "3", "--pattern", "synthesis"][..], &["-r", "3", "--pattern", "round-robin"][..]] {
        let user = User::new();
        let running = user.start(args);
        let id = running.id.clone();
        running.signal("-TERM");
        let said = running.end().ends(130).says(&["Leaving once the calls under way are recorded", "Left."]);
        assert_eq!(unanswered(&user), Vec::<String>::new(), "{said:?}");
        let database = rusqlite::Connection::open(user.database()).unwrap();
        let run: String = database.query_row("SELECT run FROM discussions", [], |row| row.get(0)).unwrap();
        assert_eq!(run, "runnable", "the next process continues it");
        user.ax(&["resume", &id]).ends(0).says(&["Done in"]);
    }
}

#[test]
fn f13_a_command_terminated_twice_exits_at_once() {
    let user = User::new();
    let mut running = user.begin(&["discuss", "q", "--simulate", "latency=300s"]);
    let began = std::time::Instant::now();
    running.signal("-TERM");
    running.wait_for_line("A second signal leaves at once.");
    running.signal("-TERM");
    running.end().ends(130).says(&["Left."]).prints_nothing();
    // Far less than the calls under way take, and enough for a busy machine.
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn f1_a_resume_after_a_kill_asks_nothing_twice() {
    let user = User::new();
    let undisturbed = user.result(&[&["--simulate", "latency=400ms"], SOME].concat());
    let running = answered(&user, SOME);
    let id = running.id.clone();
    running.signal("-KILL");
    running.end();
    let resumed = user.ax(&["resume", "last", "--json"]).ends(0).json();
    assert_eq!(resumed["discussionId"].as_str(), Some(id.as_str()));
    assert_eq!(resumed["synthesis"], undisturbed["synthesis"]);
    let calls =
        |result: &serde_json::Value| result["metadata"]["costSummary"]["totalCalls"].as_u64().unwrap();
    let repeated = resumed["integrity"]["repeatedCalls"].as_u64().unwrap();
    assert_eq!(calls(&resumed), calls(&undisturbed) + repeated);
    let again = user.ax(&["resume", &id]).ends(0).says(&["is over; here is its result"]);
    assert_eq!(again.out, user.ax(&["show", &id]).ends(0).out);
}

#[test]
fn two_processes_never_run_one_discussion() {
    let user = User::new();
    let running = answered(&user, MANY);
    let shown = user.ax(&["show", &running.id]).ends(0).says(&["This discussion is running"]);
    assert!(shown.out.contains("### "), "{shown:#?}");
    user.ax(&["resume", &running.id]).ends(3).says(&["is being run by ax (process"]).prints_nothing();
    user.ax(&["stop", &running.id]).ends(0);
    running.end().ends(0);
}

#[test]
fn a_discussion_left_behind_can_be_stopped_or_aborted_here() {
    let user = User::new();
    for (verb, code, expected) in [("stop", 0, "Done in"), ("abort", 0, "Aborted.")] {
        let running = answered(&user, MANY);
        let id = running.id.clone();
        running.signal("-KILL");
        running.end();
        user.ax(&["pause", &id]).ends(0).says(&["the pause is recorded"]);
        let said = user.ax(&[verb, &id]).ends(code).says(&[expected]);
        assert_eq!(verb == "stop", !said.out.trim().is_empty(), "{said:#?}");
    }
}

#[test]
fn after_an_error_resuming_tries_again() {
    let user = User::new();
    let args = ["discuss", "q", "-p", "claude,glm", "--simulate", "latency=0ms,dead=glm"];
    user.ax(&args).ends(4).says(&["ax resume"]);
    user.ax(&["resume", "last"]).ends(4).says(&["Retrying", "Failed in"]);
}
