//! Keys, models, prices and the doctor: what is set up, what is missing, and that no key is ever
//! shown.

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use serde_json::{Value, json};

use crate::user::User;

const CANARY: &str = "sk-canary-4711";

fn lacks(models: &Value, name: &str) -> Value {
    models.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap()["lacks"].clone()
}

#[test]
fn tests_use_nothing_of_the_machine_they_run_on() {
    let models = User::new().ax(&["models", "--json"]).ends(0).json();
    let available: Vec<&Value> =
        models.as_array().unwrap().iter().filter(|it| it["available"] == true).collect();
    assert_eq!(available, Vec::<&Value>::new());
    User::new().ax(&["keys", "list"]).ends(0).says(&["There are no keys"]).prints_nothing();
}

#[test]
fn s1_a_stored_key_is_never_printed() {
    let user = User::new();
    user.ax_hearing(&["keys", "set", "anthropic"], format!("{CANARY}\n"))
        .ends(0)
        .says(&["Stored ANTHROPIC_API_KEY"]);
    let file = user.config().with_file_name("keys.toml");
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let listed = user.ax(&["keys", "list"]).ends(0);
    assert_eq!(listed.out, "claude       ANTHROPIC_API_KEY    keys.toml\n");
    for args in [
        &["models"][..],
        &["models", "--json"],
        &["prices"],
        &["doctor"],
        &["doctor", "--json"],
        &["keys", "list", "--json"],
    ] {
        let said = user.ax(args);
        assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:#?}");
    }
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    user.ax(&["discuss", "q"]).ends(3).says(&["can be read by others", "chmod 600"]);
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    user.ax(&["keys", "rm", "claude"]).ends(0).says(&["Removed ANTHROPIC_API_KEY"]);
    user.ax(&["keys", "rm", "claude"]).ends(2).says(&["nothing was changed"]);
}

#[test]
fn an_invalid_key_is_not_stored() {
    let user = User::new();
    user.ax_hearing(&["keys", "set", "claude"], "two words").ends(3).says(&["this can't be a key"]);
    user.ax_hearing(&["keys", "set", "cluade"], CANARY).ends(2).says(&["did you mean claude?"]);
    user.ax_hearing(&["keys", "set", "ollama"], CANARY).ends(2).says(&["ollama needs no key"]);
    std::fs::write(user.config().with_file_name("keys.toml"), format!("A = \n{CANARY}")).unwrap();
    let said = user.ax(&["keys", "list"]).ends(3);
    assert!(!said.err.contains("canary"), "{said:#?}");
}

#[test]
fn the_environment_comes_first() {
    let user = User::new().with("ANTHROPIC_API_KEY", CANARY);
    let said = user.ax_hearing(&["keys", "set", "claude"], "other").ends(0);
    said.says(&["The environment also has ANTHROPIC_API_KEY"]);
    let listed = user.ax(&["keys", "list", "--json"]).ends(0).json();
    assert_eq!(listed, json!([{ "provider": "claude", "name": "ANTHROPIC_API_KEY", "from": "environment" }]));
}

#[test]
fn models_say_what_they_lack() {
    let models = User::new().ax(&["models", "--json"]).ends(0).json();
    assert_eq!(lacks(&models, "glm"), "no key: set ZAI_API_KEY or ZHIPUAI_API_KEY, run `ax keys set glm`");
    let out = User::new().ax(&["models"]).ends(0).out;
    let openrouter = "openrouter  (no key: set OPENROUTER_API_KEY, run `ax keys set openrouter`)\n* \
                      openrouter/openrouter/auto             128k tokens  unpriced\n";
    assert!(out.contains(openrouter), "{out}");
}

#[test]
fn d10_prices_are_imported_as_litellm_writes_them() {
    let user = User::new();
    let table = json!({
        "claude-sonnet-5": { "litellm_provider": "anthropic", "mode": "chat",
            "input_cost_per_token": 7e-6, "output_cost_per_token": 8e-6 },
        "gpt-unheard-of": { "litellm_provider": "openai", "mode": "chat",
            "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "max_input_tokens": 9_000 },
        "picture": { "litellm_provider": "openai", "mode": "image_generation" },
        "odd": 3,
    });
    let file = user.write("table.json", &table.to_string());
    let said = user.ax(&["prices", "import", &file]).ends(0);
    said.says(&["Imported the prices of 2 models.", "not for chat: 1.", "could not be read: odd."]);
    let out = user.ax(&["prices"]).ends(0).out;
    assert!(out.contains("claude/claude-sonnet-5                   1M tokens  $7 / $8\n"), "{out}");
    assert!(out.contains("openai/gpt-unheard-of                    9k tokens  $1 / $2\n"), "{out}");
    for (name, text, expected) in [
        ("broken.json", "{\"a\":", "is not a price table"),
        ("empty.json", "{}", "no model in it has a price"),
        ("long.json", &" ".repeat(33 * 1024 * 1024), "is larger than 32 MiB, so it is not a price table"),
    ] {
        let file = user.write(name, text);
        user.ax(&["prices", "import", &file]).ends(2).says(&[expected]);
    }
    user.ax(&["prices", "import", "https://x/y.json"]).ends(2).says(&["it is an address; download it first"]);
    user.ax(&["prices", "import", "nowhere.json"]).ends(2).says(&["there is no such file"]);
    assert_eq!(user.ax(&["prices"]).ends(0).out, out);
}

#[test]
fn the_doctor_says_what_to_fix() {
    let user = User::new();
    let said = user.ax(&["doctor"]).ends(3);
    for line in [
        "ok     database",
        "ok     clock",
        "ok     data",
        "wrong  providers",
        "-      claude         no key: set ANTHROPIC_API_KEY",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    user.configure("[providers.claude]\nmodle = 'x'");
    assert!(user.ax(&["doctor"]).ends(3).out.contains("did you mean model?"));
}

#[test]
fn models_did_not_say_what_their_prices_mean_or_which_is_asked_by_default() {
    let said = User::new().ax(&["models"]).ends(0);
    let said = said.says(&[
        "USD per million tokens: input / output / cached. * marks the model that is asked if none is named.",
    ]);
    let json = User::new().ax(&["models", "--json"]).ends(0).json();
    for provider in json.as_array().unwrap() {
        let (name, model) = (provider["name"].as_str().unwrap(), provider["model"].as_str().unwrap());
        let of_it = |it: &&str| it.trim_start_matches(['*', ' ']).starts_with(&format!("{name}/"));
        let marked: Vec<&str> = said.out.lines().filter(of_it).filter(|it| it.starts_with("* ")).collect();
        let listed = provider["models"].as_array().unwrap().iter().any(|it| it["name"] == model);
        assert_eq!(marked.len(), usize::from(listed), "{name}: {marked:?}");
        assert!(marked.iter().all(|it| it.starts_with(&format!("* {name}/{model} "))), "{marked:?}");
    }
}

#[test]
fn the_doctor_put_all_mistakes_of_the_configuration_in_one_line_and_stopped() {
    let user = User::new();
    user.configure("[defaults]\nround = 3\nthreshold = 7\n[providers.claude]\nmodle = 'x'\n[zzz]");
    let found = user.ax(&["doctor", "--json"]).ends(3).json();
    let of = |what: &str| -> Vec<String> {
        let rows = found.as_array().unwrap().iter().filter(|it| it["what"] == what);
        rows.map(|it| it["found"].as_str().unwrap().to_owned()).collect()
    };
    let (file, told) = (user.config().display().to_string(), of("configuration"));
    let expected =
        ["did you mean rounds?", "did you mean model?", "no section named zzz", "must be from 0 to 1"];
    for mistake in expected {
        let lines = told.iter().filter(|it| it.starts_with(&file) && it.contains(mistake));
        assert_eq!(lines.count(), 1, "{mistake}: {told:#?}");
    }
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for what in ["data", "database", "clock", "port", "prices", "providers"] {
        assert_eq!(of(what).len(), 1, "{what}: {found:#}");
    }
    let user = User::new();
    user.configure("[broken");
    let said = user.ax(&["doctor", "--live"]).ends(3);
    assert!(said.out.contains("line 1") && said.out.contains("ok     data"), "{said:#?}");
    assert!(!user.database().exists(), "which database is meant is unknown");
}

/// A server that answers every request alike.
fn server(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The request is small, and its content doesn't matter.
            let _read = stream.read(&mut [0; 4_096]).unwrap();
            let _left = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn s1_a_server_on_this_machine_is_never_asked_through_a_proxy() {
    let user = User::new().with("HTTP_PROXY", "http://127.0.0.1:9").with("http_proxy", "http://127.0.0.1:9");
    let base = server("HTTP/1.1 404 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    user.configure(&format!("[providers.alpha]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = 'm'"));
    let out = user.ax(&["doctor", "--live"]).out;
    assert!(out.contains("ok     alpha (live)   would answer"), "{out}");
}

#[test]
fn the_doctor_says_how_to_fix_a_provider_that_does_not_answer() {
    let user = User::new().with("ALPHA_KEY", CANARY);
    let base = server(
        "HTTP/1.1 401 No\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n\
         {\"error\":{\"message\":\"bad key sk-canary-4711\"}}",
    );
    let row = |name: &str, base: &str| {
        format!(
            "[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = 'm'\nkey_env = 'ALPHA_KEY'\n"
        )
    };
    user.configure(&format!("{}{}", row("alpha", &base), row("gone", "http://127.0.0.1:9/v1")));
    let out = user.ax(&["doctor", "--live"]).ends(3).out;
    for line in [
        "wrong  alpha (live)   bad key [key] (401); check the provider's API key or login",
        "wrong  gone (live)    it can't be reached: Connection refused (os error 111); check the connection",
        "ok     prices         built-in; `ax prices import FILE` imports newer ones",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(out.contains(" port ") && !out.contains("canary"), "{out}");
}

#[test]
fn an_unknown_provider_is_an_error_unless_voices_are_simulated() {
    let user = User::new();
    user.configure("");
    let typo = "--providers: there is no provider named cluade; did you mean claude?";
    user.ax(&["discuss", "q", "-p", "cluade,gemini"]).ends(2).says(&[typo]);
    user.ax(&["discuss", "q", "-p", "cluade,gemini", "--simulate", "latency=0ms"]).ends(0);
}

/// A user on whose path is one coding CLI, and who has no key.
fn with_a_program() -> User {
    let user = User::new();
    let program = user.write("claude", "#!/bin/sh\n");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let folder = std::path::Path::new(&program).parent().unwrap().to_str().unwrap().to_owned();
    let user = user.with("PATH", &folder);
    user.configure("");
    user
}

#[test]
fn one_coding_cli_is_enough() {
    let user = with_a_program();
    let said = user.ax(&["discuss", "q", "--dry-run", "--json"]).ends(0);
    let plan = said.json();
    let seats: Vec<_> =
        plan["participants"].as_array().unwrap().iter().map(|it| &it["participant"]).collect();
    assert_eq!(seats, ["claude", "claude-2"]);
    let line = "Only claude is available, so it takes 2 seats: a panel of one family. \
                `ax models` shows what the others lack.\n";
    assert!(said.err.starts_with(line), "{said:#?}");
    let found = user.ax(&["doctor"]).ends(0).out;
    let line = "providers      1 of 15 is available, and takes 2 seats; other vendors bring other views\n";
    assert!(found.contains(line), "{found}");
}

#[test]
fn the_exit_code_for_unavailable_providers_depended_on_others_that_are_not_named() {
    let user = with_a_program();
    let glm = "--providers: glm is not available: there is no key in ZAI_API_KEY or ZHIPUAI_API_KEY; \
               set ZAI_API_KEY or ZHIPUAI_API_KEY, run `ax keys set glm`; \
               `--offline` uses simulated voices";
    user.ax(&["discuss", "q", "-p", "claude,glm"]).ends(4).says(&[glm]).prints_nothing();
    user.ax(&["discuss", "q", "-p", "claude,claude,glm"]).ends(2).says(&[glm]).prints_nothing();
    user.ax(&["discuss", "q", "--simulate", "latency=0ms"]).ends(0);
}

#[test]
fn doctor_lists_what_is_wrong_first() {
    let user = User::new();
    let said = user.ax(&["doctor"]).ends(3);
    let is_wrong: Vec<bool> =
        said.out.lines().filter(|it| !it.starts_with(' ')).map(|it| it.starts_with("wrong")).collect();
    assert!(is_wrong[0] && is_wrong.contains(&false), "{said:#?}");
    assert!(is_wrong.is_sorted_by(|one, next| one >= next), "{said:#?}");
}
