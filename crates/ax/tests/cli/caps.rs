//! S14: spending caps of the command.

use crate::user::User;

/// Two programs that answer with what they are asked, at a price.
const PROGRAMS: &str = "\
    [providers.one]\ncommand = [\"cat\"]\nprice = { input = 3, output = 15 }\n\
    [providers.two]\ncommand = [\"cat\"]\nprice = { input = 3, output = 15 }\n";

const ASK: [&str; 6] = ["discuss", "Tabs or spaces?", "-p", "one,two", "--rounds", "1"];

fn user(limits: &str) -> User {
    let user = User::new().with("PATH", "/usr/bin:/bin");
    user.configure(&format!("{PROGRAMS}[limits]\n{limits}\n"));
    user
}

#[test]
fn s14_a_spent_cap_refuses_with_exit_code_5_what_is_left_and_when_it_renews() {
    let user = user("max_cost_per_day = 0.001");
    user.ax(&ASK).ends(5).prints_nothing().says(&[
        "error: the spending cap of $0.0010 a day is reached: $0.0000 is spent, $0.0010 is left, and up to $",
        "T00:00:00Z; max_cost_per_day under [limits] in the configuration sets it",
    ]);
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
    let plan = user.ax(&[&ASK[..], &["--dry-run"]].concat()).ends(0).out;
    let told = "It does not fit the spending cap, which will end it early or refuse it: $0.0000 of $0.0010 a day spent, \
                $0.0010 left; it renews at ";
    assert!(plan.contains(told), "{plan}");
    user.ax(&[&ASK[..], &["--offline"]].concat()).ends(0);
}

#[test]
fn s14_what_was_spent_is_kept_and_shown_by_the_doctor() {
    let user = user("max_cost_per_day = 5\nmax_cost_per_month = 50");
    let result = user.ax(&[&ASK[..], &["--json"]].concat()).ends(0).json();
    let spent = result["metadata"]["estimatedCost"].as_f64().unwrap();
    assert!(spent > 0.0, "{result}");
    let found = user.ax(&["doctor", "--json"]).json();
    let row = found.as_array().unwrap().iter().find(|it| it["what"] == "spending").unwrap();
    let told = row["found"].as_str().unwrap();
    assert!(told.starts_with(&format!("this command: ${spent:.4} of $5.0000 a day spent, $")), "{told}");
    assert!(told.contains("of $50.0000 a month spent"), "{told}");
    assert_eq!(row["state"], "well");
    let plan = user.ax(&[&ASK[..], &["--dry-run"]].concat()).ends(0).out;
    assert!(plan.contains("The spending cap may be reached, and end it early: "), "{plan}");
}

#[test]
fn s14_a_mistake_in_a_cap_names_the_right_key() {
    user("max_cost_per_wek = 1")
        .ax(&ASK)
        .ends(3)
        .says(&["there is no key in [limits] named max_cost_per_wek"]);
    user("max_cost_per_day = \"5\"")
        .ax(&ASK)
        .ends(3)
        .says(&["limits.max_cost_per_day must be an amount in USD from 0 to 1000000, not \"5\""]);
}
