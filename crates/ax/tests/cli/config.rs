//! The configuration: where it is, the effective values, whether they are valid, and presets.

use crate::user::User;

const PRESETS: &str = "\
[defaults]
simulate = \"latency=0ms\"
rounds = 1

[presets.architecture]
pattern = \"debate\"
rounds = 3
judge = \"qwen\"
usage = true

[presets.document]
output-format = \"json\"
";

#[test]
fn each_thing_has_its_own_place() {
    let user = User::new();
    let path = |args: &[&str]| user.ax(&[&["config", "path"], args].concat()).ends(0).out.trim().to_owned();
    assert_eq!(path(&[]), user.config().display().to_string());
    assert_eq!(path(&["data"]), user.data().display().to_string());
    assert_eq!(path(&["state"]), user.home().join(".local/state/quorum").display().to_string());
    assert_eq!(path(&["cache"]), user.home().join(".cache/quorum").display().to_string());
    let xdg = |name: &str, place: &str| {
        let mut command = user.command(&["config", "path", place]);
        command.env_remove("AX_CONFIG").env_remove("AX_DATA_DIR").env(name, "/xdg");
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert_eq!(xdg("XDG_CONFIG_HOME", "config"), "/xdg/quorum/config.toml\n");
    assert_eq!(xdg("XDG_DATA_HOME", "data"), "/xdg/quorum\n");
    assert_eq!(xdg("XDG_STATE_HOME", "state"), "/xdg/quorum\n");
    assert_eq!(xdg("XDG_CACHE_HOME", "cache"), "/xdg/quorum\n");
}

#[test]
fn effective_values_are_shown_with_their_origin() {
    let user = User::new();
    user.configure("[retention]\ndays = 7\n[presets.quick]\nrounds = 1");
    let expected = format!(
        "# {}\n\n[retention]\ndays = 7\n\n[features]\ndiscussions = true  # default\n\n[store]\nlease = 15  # default\n\n[presets.quick]\nrounds = 1\n",
        user.config().display()
    );
    let out = user.ax(&["config", "show"]).ends(0).out;
    assert!(out.starts_with(&expected), "{out}");
    // The output is itself a valid configuration.
    user.configure(&out);
    user.ax(&["config", "check"]).ends(0).says(&["is fine"]);
    user.configure(
        "[retention]\ndays = 7\n[providers.claude]\nmodel = 'm'\nprice = { input = 1.5, output = 2 }\n\
         [providers.mine]\ncommand = ['prog', '--token=sk-canary-4711']",
    );
    let out = user.ax(&["config", "show"]).ends(0).out;
    let providers = "\n[providers.claude]\nmodel = \"m\"\nprice = { input = 1.5, output = 2 }\n\n\
                     [providers.mine]\ncommand = [\"prog\", \"…\"]\n";
    assert!(out.contains(providers) && !out.contains("canary"), "{out}");
    let json = user.ax(&["config", "show", "--json"]).ends(0).json();
    assert_eq!(
        json["values"][0],
        serde_json::json!({"section": "retention", "key": "days", "value": 7, "from": "file"})
    );
}

#[test]
fn the_store_is_shown_without_its_password() {
    let user = User::new();
    user.configure(
        "[store]\nlease = 20\nurl = \"postgres://ann:hidden-word@db.example/panel?sslmode=disable\"",
    );
    let said = user.ax(&["config", "show"]).ends(0);
    assert!(
        said.out.contains("\n[store]\nlease = 20\nurl = \"postgres://ann@db.example:5432/panel\"\n"),
        "{said:#?}"
    );
    let other = user.with("AX_DATABASE_URL", "postgres://bob:hidden-word@[::1]/panel");
    let said = other.ax(&["config", "show"]).ends(0);
    let line = "url = \"postgres://bob@[::1]:5432/panel\"  # from AX_DATABASE_URL\n";
    assert!(said.out.contains(line) && !said.out.contains("hidden-word"), "{said:#?}");
    let shown = other.ax(&["config", "show", "--json"]).ends(0).json();
    let values = shown["values"].as_array().unwrap();
    let from = values.iter().find(|it| it["key"] == "url").map(|it| it["from"].clone());
    assert_eq!(from, Some("environment".into()));
}

#[test]
fn all_mistakes_are_listed_at_once_with_exit_code_3() {
    let user = User::new();
    user.configure("[defaults]\nround = 3\nbudget = 3\n[zzz]");
    let said = user.ax(&["config", "check"]).ends(3).prints_nothing();
    said.says(&["did you mean rounds?", "defaults.budget: must be a time", "no section named zzz"]);
    // `config path` works even with an invalid configuration.
    user.ax(&["config", "path"]).ends(0);
    user.configure("[defaults]\nrounds = 99\n[presets.a]\nthreshold = 7\n");
    let said = user.ax(&["config", "check"]).ends(3).prints_nothing();
    said.says(&["defaults.rounds: must be from 1 to 10", "presets.a.threshold: must be from 0 to 1"]);
}

#[test]
fn a_token_in_a_variable_that_is_not_set_kept_every_verb_from_working() {
    let user = User::new();
    user.configure("[server]\ntokens = [{ name = \"a\", env = \"N1\" }, { name = \"b\", env = \"N2\" }]");
    user.ax(&["history"]).ends(0).says(&["No discussions found"]);
    let unset = ["a: the variable N1 is not set", "b: the variable N2 is not set"];
    for verb in [&["config", "check"][..], &["serve", "--port", "0"]] {
        user.ax(verb).ends(3).says(&unset).prints_nothing();
    }
    let found = user.ax(&["doctor"]).ends(3).out;
    assert!(found.contains("N1 is not set; `ax serve`"), "{found}");
    // Every mistake is told, not only the first.
    user.configure("[server]\ntokens = [{ name = \"a\", token = \"short\" }, { name = \"b\" }]");
    let expected = ["a's token must have 16 characters or more", "b needs either token or env"];
    user.ax(&["config", "check"]).ends(3).says(&expected);
}

#[test]
fn flags_count_before_presets_and_presets_before_defaults() {
    let user = User::new();
    user.configure(PRESETS);
    let rounds = |args: &[&str]| {
        let result = user.ax(&[&["discuss", "q", "--json"], args].concat()).ends(0).json();
        (result["pattern"].as_str().unwrap().to_owned(), result["rounds"].as_array().unwrap().len())
    };
    assert_eq!(rounds(&[]), ("synthesis".to_owned(), 1));
    assert_eq!(rounds(&["--preset", "architecture"]), ("debate".to_owned(), 3));
    assert_eq!(rounds(&["--preset", "architecture", "-r", "2"]), ("debate".to_owned(), 2));
    assert_eq!(
        rounds(&["--preset", "architecture", "--pattern", "round-robin"]),
        ("round-robin".to_owned(), 3)
    );
    let again = user.ax(&["discuss", "--again", "last", "--preset", "architecture", "--json"]).ends(0).json();
    assert_eq!(again["pattern"], "debate");
}

#[test]
fn presets_say_how_results_are_shown_as_well() {
    let user = User::new();
    user.configure(PRESETS);
    user.ax(&["discuss", "q", "--preset", "architecture"]).ends(0).says(&["written", "all "]);
    user.ax(&["discuss", "q", "--preset", "document"]).ends(0).json();
    let said = user.ax(&["discuss", "q", "--preset", "document", "--output-format", "text"]).ends(0);
    assert!(!said.out.starts_with('{'));
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest_name() {
    let user = User::new();
    user.configure(PRESETS);
    let said = user.ax(&["discuss", "q", "--preset", "architectur"]).ends(2).prints_nothing();
    said.says(&["--preset: there is no preset named architectur; did you mean architecture?"]);
    user.configure("[presets.bad]\nrounds = 77");
    let said = user.ax(&["discuss", "q", "--preset", "bad"]).ends(3).prints_nothing();
    said.says(&["error: rounds: must be from 1 to 10, not 77 (from [presets.bad] in "]);
}

#[test]
fn every_complaint_is_an_error_of_its_own_in_plain_words() {
    let user = User::new();
    user.configure("[defaults]\nmax-cost = \"much\"\n[presets.x]\nrounds = 3.5\n");
    let file = user.config().display().to_string();
    let said = user.ax(&["config", "check"]).ends(3).prints_nothing();
    let expected = [
        format!("error: {file}: defaults.max-cost: must be a number, not \"much\"\n"),
        format!("error: {file}: presets.x.rounds: must be a whole number, not 3.5\n"),
    ];
    assert_eq!(said.err, expected.concat());
}

#[test]
fn values_out_of_range_are_told_together_with_wrong_types() {
    let user = User::new();
    user.configure(
        "[defaults]\nmax-cost = \"much\"\ntemperature = 9\n[presets.x]\nrounds = 77\nthreshold = \"all\"\nseed = \"x\"\n[serve]\n",
    );
    let file = user.config().display().to_string();
    let said = user.ax(&["config", "check"]).ends(3).prints_nothing();
    let expected = [
        "defaults.max-cost: must be a number, not \"much\"",
        "presets.x.seed: must be a whole number, not \"x\"",
        "presets.x.threshold: must be a number from 0 to 1, not \"all\"",
        "there is no section named serve; did you mean server?",
        "defaults.temperature: must be from 0 to 2, not 9",
        "presets.x.rounds: must be from 1 to 10, not 77",
    ];
    let expected: String = expected.map(|it| format!("error: {file}: {it}\n")).concat();
    assert_eq!(said.err, expected);
}

#[test]
fn the_demo_runs_with_a_broken_configuration() {
    let user = User::new();
    user.configure("[broken");
    let said = user.ax(&["demo", "--fast"]).ends(0);
    assert!(!said.out.is_empty());
    let told = ["The demo costs nothing", "ax \"Your question?\"", "Your configuration has an error"];
    let places: Vec<Option<usize>> = told.iter().map(|it| said.err.find(it)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{said:#?}");
}
