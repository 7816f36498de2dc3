//! How long discussions are kept, with a correct clock and with a wrong one.

use crate::user::{Said, User, output_of};

/// Runs the command with the clock set to this day; `None` if there is no program to do that.
fn on(user: &User, day: &str, args: &[&str]) -> Option<Said> {
    let faketime = ["/usr/bin/faketime", "/usr/local/bin/faketime"];
    let Some(faketime) = faketime.into_iter().find(|it| std::path::Path::new(it).exists()) else {
        eprintln!("SKIPPED: there is no program `faketime` to set the clock with");
        return None;
    };
    let mut all = vec!["-f", day, env!("CARGO_BIN_EXE_ax")];
    all.extend(args);
    Some(output_of(user.program(faketime, &all).env("PATH", "/usr/bin:/bin").spawn().unwrap()))
}

fn topics(user: &User, verb: &str) -> Vec<String> {
    let listed = user.ax(&[verb, "--json"]).ends(0).json();
    let topic = |it: &serde_json::Value| it["topic"].as_str().unwrap().to_owned();
    listed.as_array().unwrap().iter().map(topic).collect()
}

#[test]
fn f9_a_clock_that_leaps_forward_removes_nothing_and_says_so() {
    let user = User::new();
    let discuss = |day: &str, topic: &str| on(&user, day, &["discuss", topic]);
    let Some(first) = discuss("@2026-11-01 12:00:00", "one") else { return };
    first.ends(0);
    let leapt = discuss("@2036-11-01 12:00:00", "two").unwrap();
    leapt.ends(0).says(&[
        "the clock says 2036-11-01",
        "the newest record is of 2026-11-01",
        "no discussion was",
    ]);
    assert_eq!(topics(&user, "history"), ["two", "one"]);
    // Run under the wrong clock, the second makes the first look old: it is hidden, but not
    // removed.
    let hid = discuss("@2036-11-01 13:00:00", "three").unwrap();
    hid.ends(0).says(&["Hid 1 discussion that ended more than 30 days ago", "in 7 days", "`ax restore`"]);
    assert_eq!(
        (topics(&user, "history"), topics(&user, "restore")),
        (vec!["three".to_owned(), "two".to_owned()], vec!["one".to_owned()],)
    );
    // With the correct clock, it is back.
    let back = discuss("@2026-11-02 12:00:00", "four").unwrap();
    back.ends(0).says(&["Showing 1 discussion again"]);
    assert_eq!((topics(&user, "history").len(), topics(&user, "restore").len()), (4, 0));
}

#[test]
fn inv_disc_632_an_old_discussion_is_hidden_restored_hidden_again_and_removed() {
    let user = User::new();
    let discuss = |day: &str, topic: &str| on(&user, day, &["discuss", topic]);
    let Some(first) = discuss("@2026-01-01 12:00:00", "xylophones") else { return };
    first.ends(0);
    for day in ["@2026-01-20 12:00:00", "@2026-02-05 12:00:00"] {
        discuss(day, "young").unwrap().ends(0);
    }
    let id = user.ax(&["restore", "--json"]).ends(0).json();
    assert_eq!(id, serde_json::json!([]), "the newest record was of January when that was decided");
    discuss("@2026-02-05 13:00:00", "young").unwrap().ends(0).says(&["Hid 1 discussion"]);
    let hidden = user.ax(&["restore", "--json"]).ends(0).json();
    let id = hidden[0]["discussionId"].as_str().unwrap();
    let listed = user.ax(&["restore"]).ends(0).says(&["`ax restore ID` brings one back"]);
    assert!(listed.out.contains(id) && listed.out.contains("xylophones"), "{listed:?}");
    assert_eq!(user.ax(&["history", "xylophones"]).ends(0).out, "");
    let told = user.ax(&["doctor"]).out;
    assert!(told.contains("1 discussion is hidden") && told.contains("`ax restore`"), "{told}");

    let restored = on(&user, "@2026-02-05 14:00:00", &["restore", &id[..13]]).unwrap();
    restored.ends(0).says(&["Restored discussion", id, "Kept for another 30 days."]);
    assert!(topics(&user, "history").contains(&"xylophones".to_owned()));
    discuss("@2026-02-06 12:00:00", "young").unwrap().ends(0);
    assert!(
        topics(&user, "history").contains(&"xylophones".to_owned()),
        "it is kept for a whole period again"
    );
    user.ax(&["restore", "ffff"]).ends(2).says(&["ffff"]);
    user.ax(&["restore", id, "--all"]).ends(2);

    for day in ["@2026-03-01 12:00:00", "@2026-03-10 12:00:00", "@2026-03-10 13:00:00"] {
        discuss(day, "young").unwrap().ends(0);
    }
    assert!(topics(&user, "restore").contains(&"xylophones".to_owned()));
    discuss("@2026-03-17 14:00:00", "young").unwrap().ends(0);
    let gone = discuss("@2026-03-17 15:00:00", "young").unwrap().ends(0);
    assert!(gone.err.contains("for good after 7 days of being hidden."), "{gone:?}");
    user.ax(&["show", id]).ends(2);
}

#[test]
fn deleting_stays_immediate() {
    let user = User::new();
    user.ax(&["discuss", "one"]).ends(0);
    user.ax(&["delete", "last", "--yes"]).ends(0);
    assert_eq!((topics(&user, "history").len(), topics(&user, "restore").len()), (0, 0));
}
