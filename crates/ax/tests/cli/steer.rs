//! Steering from another process, interrupting, killing, and resuming.

use crate::desk::{Desk, Running};

/// Long enough to be steered after the first answer, short enough to be waited for.
const SOME: &[&str] = &["-r", "5"];
/// For discussions that are not waited for.
const MANY: &[&str] = &["-r", "10"];

fn answered(desk: &Desk, args: &[&str]) -> Running {
    let mut running = desk.start(args);
    running.hear("answered in");
    running
}

#[test]
fn paused_from_elsewhere_and_resumed() {
    let desk = Desk::new();
    let running = answered(&desk, SOME);
    let id = running.id.clone();
    desk.ax(&["pause", &id]).ends(0).says(&["Sent the pause to ax (process"]);
    running.end().ends(0).prints_nothing().says(&["Paused.", &format!("ax resume {id}")]);
    assert_eq!(desk.ax(&["show", &id, "--json"]).ends(0).json()["status"], "paused");
    desk.ax(&["pause", &id]).ends(0).says(&["is already paused"]);
    let result = desk.ax(&["resume", &id, "--json"]).ends(0).json();
    assert_eq!(result["status"], "completed");
    assert_eq!(result["success"], true);
    assert_eq!(result["integrity"]["repeatedCalls"], 0);
}

#[test]
fn a_stop_from_another_process_concludes_where_it_runs() {
    let desk = Desk::new();
    let running = answered(&desk, MANY);
    desk.ax(&["stop", &running.id]).ends(0).says(&["Sent the stop to ax (process"]).prints_nothing();
    let said = running.end().ends(0).says(&["it was stopped by a person", "it was stopped early"]);
    assert!(!said.out.trim().is_empty());
}

#[test]
fn aborted_from_elsewhere_it_ends_at_once() {
    let desk = Desk::new();
    let running = answered(&desk, MANY);
    let id = running.id.clone();
    desk.ax(&["abort", &id]).ends(0).says(&["Sent the abort to ax (process"]);
    let said = running.end().ends(130).says(&["Aborted in"]);
    let told = "Degraded: it was aborted; no synthesis was written, and the text is what ";
    assert!(said.out.contains(told) && said.out.contains("\n\n## Last words of "), "{said:#?}");
    desk.ax(&["resume", &id]).ends(130).says(&["is over"]);
    desk.ax(&["stop", &id]).ends(2).says(&["is over"]);
}

#[test]
fn the_first_ctrl_c_concludes_and_the_second_aborts() {
    let desk = Desk::new();
    let mut running = answered(&desk, MANY);
    running.signal("-INT");
    running.hear("Stopping");
    let said = running.end().ends(130).says(&["Done in"]);
    assert!(!said.out.trim().is_empty());
    let mut running = answered(&desk, MANY);
    running.signal("-INT");
    running.hear("Stopping");
    running.signal("-INT");
    running.hear("Aborting");
    running.end().ends(130).says(&["Aborted in"]);
}

#[test]
fn f13_terminated_it_leaves_and_can_be_resumed() {
    let desk = Desk::new();
    let running = answered(&desk, SOME);
    let id = running.id.clone();
    running.signal("-TERM");
    running.end().ends(130).says(&["Left.", &format!("ax resume {id}")]).prints_nothing();
    desk.ax(&["resume", &id]).ends(0).says(&["Done in"]);
}

/// The recorded calls without an answer.
fn unanswered(desk: &Desk) -> Vec<String> {
    let database = rusqlite::Connection::open(desk.database()).unwrap();
    let sql = "SELECT step FROM facts placed WHERE type = 'call_placed' AND NOT EXISTS
        (SELECT 1 FROM facts WHERE discussion = placed.discussion AND type = 'turn_completed' AND step = placed.step)";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn f13_terminated_it_records_the_answers_under_way_before_it_leaves() {
    for args in [&["-r", "3", "--pattern", "synthesis"][..], &["-r", "3", "--pattern", "round-robin"][..]] {
        let desk = Desk::new();
        let running = desk.start(args);
        let id = running.id.clone();
        running.signal("-TERM");
        let said = running.end().ends(130).says(&["Leaving once the calls under way are recorded", "Left."]);
        assert_eq!(unanswered(&desk), Vec::<String>::new(), "{said:?}");
        let database = rusqlite::Connection::open(desk.database()).unwrap();
        let run: String = database.query_row("SELECT run FROM discussions", [], |row| row.get(0)).unwrap();
        assert_eq!(run, "runnable", "the next process continues it");
        desk.ax(&["resume", &id]).ends(0).says(&["Done in"]);
    }
}

#[test]
fn f13_terminated_twice_it_leaves_at_once() {
    let desk = Desk::new();
    let mut running = desk.begin(&["discuss", "q", "--simulate", "latency=300s"]);
    let began = std::time::Instant::now();
    running.signal("-TERM");
    running.hear("A second signal leaves at once.");
    running.signal("-TERM");
    running.end().ends(130).says(&["Left."]).prints_nothing();
    // Far less than the calls under way take, and enough for a busy machine.
    assert!(began.elapsed() < std::time::Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn f1_a_resume_after_a_kill_asks_nothing_twice() {
    let desk = Desk::new();
    let undisturbed = desk.result(&[&["--simulate", "latency=400ms"], SOME].concat());
    let running = answered(&desk, SOME);
    let id = running.id.clone();
    running.signal("-KILL");
    running.end();
    let resumed = desk.ax(&["resume", "last", "--json"]).ends(0).json();
    assert_eq!(resumed["discussionId"].as_str(), Some(id.as_str()));
    assert_eq!(resumed["synthesis"], undisturbed["synthesis"]);
    let calls =
        |result: &serde_json::Value| result["metadata"]["costSummary"]["totalCalls"].as_u64().unwrap();
    let repeated = resumed["integrity"]["repeatedCalls"].as_u64().unwrap();
    assert_eq!(calls(&resumed), calls(&undisturbed) + repeated);
    let again = desk.ax(&["resume", &id]).ends(0).says(&["is over; here is its result"]);
    assert_eq!(again.out, desk.ax(&["show", &id]).ends(0).out);
}

#[test]
fn two_processes_never_run_one_discussion() {
    let desk = Desk::new();
    let running = answered(&desk, MANY);
    let shown = desk.ax(&["show", &running.id]).ends(0).says(&["This discussion is running"]);
    assert!(shown.out.contains("### "), "{shown:#?}");
    desk.ax(&["resume", &running.id]).ends(3).says(&["is being run by ax (process"]).prints_nothing();
    desk.ax(&["stop", &running.id]).ends(0);
    running.end().ends(0);
}

#[test]
fn left_behind_it_can_be_stopped_or_aborted_here() {
    let desk = Desk::new();
    for (verb, code, expected) in [("stop", 0, "Done in"), ("abort", 0, "Aborted.")] {
        let running = answered(&desk, MANY);
        let id = running.id.clone();
        running.signal("-KILL");
        running.end();
        desk.ax(&["pause", &id]).ends(0).says(&["the pause is recorded"]);
        let said = desk.ax(&[verb, &id]).ends(code).says(&[expected]);
        assert_eq!(verb == "stop", !said.out.trim().is_empty(), "{said:#?}");
    }
}

#[test]
fn after_an_error_resuming_tries_again() {
    let desk = Desk::new();
    let args = ["discuss", "q", "-p", "claude,glm", "--simulate", "latency=0ms,dead=glm"];
    desk.ax(&args).ends(4).says(&["ax resume"]);
    desk.ax(&["resume", "last"]).ends(4).says(&["Retrying", "Failed in"]);
}
