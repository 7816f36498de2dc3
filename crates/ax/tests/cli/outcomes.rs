//! `ax resolve` and `ax calibration`.

use serde_json::json;

use crate::user::User;

const SETTLE: [&str; 4] = ["--pattern", "settle", "--options", "tabs,spaces"];

#[test]
fn a_right_answer_is_recorded_and_shown_in_the_calibration() {
    let user = User::new();
    user.ax(&["calibration"]).ends(0).says(&["No outcomes are recorded yet", "ax resolve"]).prints_nothing();
    user.result(&SETTLE);
    user.ax(&["resolve", "last", "tabs", "--by", "the review"])
        .ends(0)
        .says(&["Recorded tabs: the result was"]);
    user.ax(&["resolve", "last", "SPACES"]).ends(0).says(&["Recorded spaces", "both are kept"]);
    let json = user.ax(&["calibration", "--simulated", "--json"]).ends(0).json();
    assert_eq!((&json["outcomes"], &json["simulated"]), (&json!(1), &json!(true)));
    let shown = user.ax(&["calibration", "--simulated"]).ends(0);
    assert!(shown.out.contains("1 outcome of simulated voices"), "{shown:#?}");
    assert!(shown.out.contains("Votes are weighted by outcomes from 30 on."), "{shown:#?}");
    assert!(shown.out.contains("too few"), "{shown:#?}");
}

#[test]
fn calibration_did_not_say_where_the_outcomes_of_simulated_voices_are() {
    let user = User::new();
    user.result(&SETTLE);
    user.ax(&["resolve", "last", "tabs"]).ends(0);
    let said = user.ax(&["calibration"]).ends(0).prints_nothing();
    let expected = "No outcomes of real voices are recorded yet; \
                    `ax calibration --simulated` shows 1 outcome of simulated ones.";
    assert_eq!(said.err.trim_end(), expected);
}

#[test]
fn a_wrong_right_answer_is_refused() {
    let user = User::new();
    user.result(&SETTLE);
    user.ax(&["resolve", "last", "both"]).ends(2).says(&["none of the options `tabs`, `spaces`"]);
    user.ax(&["resolve", "last", ""]).ends(2);
    user.ax(&["resolve", "0197f6a0", "tabs"]).ends(2).says(&["ax history"]);
    user.ax(&["resolve", "last"]).ends(2);
}

#[test]
fn settling_says_what_it_did_not_ask() {
    let user = User::new();
    let result = user.result(&["--pattern", "settle", "--options", "tabs,spaces", "--seed", "5"]);
    assert!(result["firstAgreement"].is_number(), "{result:#}");
    let shown = user.ax(&["show", "last"]).ends(0);
    assert!(
        shown.out.contains("First answers alone") || shown.out.contains("first answers alone"),
        "{shown:#?}"
    );
}
