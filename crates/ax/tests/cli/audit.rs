//! Actions from a terminal are in the audit of a server on the same data.

use serde_json::Value;

use crate::{
    serve::{json, serve},
    user::User,
};

#[test]
fn everything_done_from_a_terminal_is_in_the_audit() {
    let user = User::new().with("LOGNAME", "ann");
    let args = ["discuss", "Tabs or spaces?", "--detach", "-r", "10", "--simulate", "latency=2s"];
    let id = user.ax(&args).ends(0).out.trim().to_owned();
    user.wait_until(&id, "running");
    user.ax(&["pause", &id]).ends(0);
    user.ax(&["note", &id, "Mind the diffs."]).ends(0);
    user.wait_until(&id, "paused");
    user.ax(&["stop", &id]).ends(0);
    user.wait_for(&id);
    user.ax(&["rate", &id, "4"]).ends(0);

    let (server, address) = serve(&user);
    let audit = json(&address, "/api/audit");
    let entry = |it: &Value| {
        let text = |field: &str| it[field].as_str().unwrap().to_owned();
        [text("who"), text("action"), text("discussionId"), text("result")]
    };
    let entries: Vec<[String; 4]> = audit.as_array().unwrap().iter().map(entry).collect();
    let newest_first =
        [("rate", "4"), ("stop", "done"), ("note", "done"), ("pause", "done"), ("start", "done")];
    let expected = newest_first.map(|(action, result)| ["ann", action, &id, result].map(str::to_owned));
    assert_eq!(entries, expected);
    server.signal("-TERM");
    server.end().ends(0);
}
