//! `ax discuss --detach`: the discussion is recorded here and run by another process.

use crate::user::User;

#[test]
fn a_detached_discussion_goes_on_by_itself() {
    let user = User::new();
    let said = user.ax(&["discuss", "Tabs or spaces?", "--detach", "--usage"]).ends(0);
    let id = said.out.trim().to_owned();
    let log = user.home().join(format!(".local/state/quorum/runs/{id}.log"));
    let said = said.says(&[log.to_str().unwrap(), &format!("`ax show {id}`")]);
    assert!(!said.err.contains("is asked"), "{said:#?}");
    assert_eq!(user.wait_for(&id)["success"], true);
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.contains("claude is asked"), "{told}");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn detach_prints_the_id_and_the_log_file_as_json() {
    let user = User::new();
    let started = user.ax(&["discuss", "Tabs or spaces?", "--detach", "--json"]).ends(0).json();
    user.wait_for(started["discussionId"].as_str().unwrap());
    assert!(std::path::Path::new(started["log"].as_str().unwrap()).exists());
}

#[test]
fn a_detached_discussion_can_be_steered_like_any_other() {
    let user = User::new();
    let args = ["discuss", "Tabs or spaces?", "--detach", "-r", "10", "--simulate", "latency=2s"];
    let id = user.ax(&args).ends(0).out.trim().to_owned();
    user.wait_until(&id, "running");
    user.ax(&["stop", &id]).ends(0);
    user.wait_for(&id);
}

#[test]
fn a_refused_request_is_not_started() {
    let user = User::new();
    user.ax(&["discuss", "", "--detach"]).ends(2).says(&["<topic>: is empty"]).prints_nothing();
    let args = ["discuss", "q", "--detach", "--require-consensus"];
    user.ax(&args).ends(2).says(&["cannot be used with"]).prints_nothing();
    std::fs::write(user.home().join(".local"), "no folder").unwrap();
    user.ax(&["discuss", "q", "--detach"]).ends(3).says(&["XDG_STATE_HOME"]).prints_nothing();
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
}
