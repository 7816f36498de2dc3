//! Tests of the setup on fake machines: no variable, program or port of the real one is used.

use secrecy::{ExposeSecret, SecretString};

use super::*;
use crate::prices::Dollars;

/// A setup with these variables and programs, and ollama's port open or not.
fn setup(
    overrides: &[Overrides],
    keys: &Keys,
    variables: &[(&str, &str)],
    programs: &[&str],
    open: bool,
) -> Setup {
    let variable =
        |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
    let program = |name: &str| programs.contains(&name).then(|| PathBuf::from(format!("/bin/{name}")));
    let machine = Machine { variable: &variable, program: &program, listens: &|_| open, ..Machine::bare() };
    Setup::of(&SetupInput { overrides, keys, prices: &Prices::default() }, &machine)
}

/// A price in dollars per million tokens.
fn price_of(input: f64, output: f64) -> Option<Price> {
    Dollars { input, output, cached: None, written: None }.price()
}

fn transport(setup: &Setup, name: &str) -> String {
    let provider = setup.provider(name).unwrap();
    match &provider.transport {
        Ok(Transport::Http(endpoint)) => {
            let key = endpoint.key.as_ref().map_or("no key", |key| key.expose_secret());
            format!("{} with {key}", endpoint.base)
        }
        Ok(Transport::Command(program)) => format!("{} speaking {}", program.path.display(), program.dialect),
        Err(missing) => missing.to_string(),
    }
}

#[track_caller]
fn check(name: &str, variables: &[(&str, &str)], programs: &[&str], expected: &str) {
    assert_eq!(transport(&setup(&[], &Keys::default(), variables, programs, false), name), expected);
}

#[test]
fn d14_a_key_makes_its_provider_available_and_else_a_program_does() {
    let claude = "https://api.anthropic.com/v1";
    check("claude", &[("ANTHROPIC_API_KEY", " k\n")], &["claude"], &format!("{claude} with k"));
    check("claude", &[("ANTHROPIC_API_KEY", "  ")], &["claude"], "/bin/claude speaking claude");
    check("claude", &[], &[], "there is no key in ANTHROPIC_API_KEY");
    check("glm", &[], &[], "there is no key in ZAI_API_KEY or ZHIPUAI_API_KEY");
    let gemini = "https://generativelanguage.googleapis.com/v1beta";
    let both = [("GEMINI_API_KEY", "second"), ("GOOGLE_API_KEY", "first")];
    check("gemini", &both, &[], &format!("{gemini} with first"));
    check("gemini", &both[..1], &[], &format!("{gemini} with second"));
}

#[test]
fn the_environment_comes_before_the_file() {
    let keys = Keys::default().with("ZAI_API_KEY", SecretString::from("kept"));
    let of = |variables: &[(&str, &str)]| setup(&[], &keys, variables, &[], false);
    let kept = of(&[]);
    assert_eq!(kept.provider("glm").unwrap().key, Some(KeyFrom::File("ZAI_API_KEY".to_owned())));
    let set = of(&[("ZHIPUAI_API_KEY", "set")]);
    assert_eq!(set.provider("glm").unwrap().key, Some(KeyFrom::Environment("ZHIPUAI_API_KEY".to_owned())));
    assert_eq!(kept.sources().len(), 1);
    assert!(!format!("{kept:?}").contains("kept"), "a key is shown");
}

#[test]
fn addresses_come_from_the_vendors_variables() {
    let with = |name: &'static str, address: &'static str| [("ANTHROPIC_API_KEY", "k"), (name, address)];
    check("claude", &with("ANTHROPIC_BASE_URL", "https://x/a/"), &[], "https://x/a/v1 with k");
    check("claude", &with("ANTHROPIC_BASE_URL", "https://x/v1"), &[], "https://x/v1 with k");
    let gemini = |address: &'static str| [("GOOGLE_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", address)];
    check("gemini", &gemini("https://x"), &[], "https://x/v1beta with k");
    check("gemini", &gemini("https://x/v1"), &[], "https://x/v1 with k");
    check("gemini", &gemini("https://x/vertex"), &[], "https://x/vertex/v1beta with k");
    let plain = "the address in ANTHROPIC_BASE_URL is not encrypted and not on this machine, so others could \
                 read the traffic; use https, or set insecure = true";
    check("claude", &with("ANTHROPIC_BASE_URL", "http://x"), &[], plain);
    for (host, expected) in [
        ("127.0.0.1", "http://127.0.0.1:11434/ with no key"),
        ("0.0.0.0:99", "http://127.0.0.1:99/ with no key"),
        ("localhost:99", "http://localhost:99/ with no key"),
        ("https://far.example", "https://far.example/ with no key"),
    ] {
        check("ollama", &[("OLLAMA_HOST", host)], &[], expected);
    }
    check("lmstudio", &[("LMSTUDIO_HOST", "localhost:5")], &[], "http://localhost:5/v1 with no key");
    check("vllm", &[("VLLM_HOST", "localhost")], &[], "no model is named");
}

#[test]
fn f16_a_supervisor_is_given_to_every_program() {
    let setup = setup(&[], &Keys::default(), &[("OPENAI_API_KEY", "k")], &["claude", "gemini"], false);
    let supervisor = Supervisor::new(PathBuf::from("/bin/mine"));
    let supervised = setup.supervised_by(&supervisor);
    let of = |name: &str| match &supervised.provider(name).unwrap().transport {
        Ok(Transport::Command(program)) => program.supervisor.clone(),
        Ok(Transport::Http(_)) | Err(_) => None,
    };
    let given = Some(supervisor.clone());
    assert_eq!((of("claude"), of("gemini"), of("openai")), (given.clone(), given, None));
}

#[test]
fn d10_a_program_that_reports_its_cost_has_the_highest_price_reserved() {
    let setup = setup(&[], &Keys::default(), &[], &["claude", "codex"], false);
    let price = |name: &str| {
        let provider = setup.provider(name).unwrap();
        provider.model_info(&provider.model).price
    };
    let dearest = Dollars { input: 10.0, output: 50.0, cached: None, written: Some(12.5) }.price();
    assert_eq!((price("claude"), price("codex")), (dearest, None));
    let program = |name: &str| setup.provider(name).unwrap().program();
    let expected = |path: &str, cost| Some(LocalProgram { path: PathBuf::from(path), cost });
    assert_eq!(program("claude"), expected("/bin/claude", CostSource::Program));
    assert_eq!(program("codex"), expected("/bin/codex", CostSource::Unknown));
    assert_eq!(program("glm"), None);
}

#[test]
fn d14_fields_that_only_v1beta_knows_are_not_sent_to_geminis_v1() {
    let quirks = |overrides: &[Overrides], base: &str| {
        let variables = [("GOOGLE_API_KEY", "k"), ("GOOGLE_GEMINI_BASE_URL", base)];
        let setup = setup(overrides, &Keys::default(), &variables, &[], false);
        let gemini = setup.provider("gemini").unwrap();
        let of = |model: &str| gemini.model_info(model).quirks;
        assert_eq!(of("gemini-unheard-of"), of("gemini-3.8-flash"));
        let Quirks { system, tools, schema, .. } = of("gemini-3.8-flash");
        (system, tools, schema)
    };
    assert_eq!(quirks(&[], "https://x"), (true, true, Schema::Strict));
    assert_eq!(quirks(&[], "https://x/v1beta"), (true, true, Schema::Strict));
    let overrides = |quirks: QuirkOverrides| Overrides {
        name: "gemini".to_owned(),
        base_url: Some("https://x/v1".parse().unwrap()),
        quirks,
        ..Overrides::default()
    };
    assert_eq!(quirks(&[overrides(QuirkOverrides::default())], ""), (false, false, Schema::Prompt));
    let knows = QuirkOverrides { tools: Some(true), ..QuirkOverrides::default() };
    assert_eq!(quirks(&[overrides(knows)], ""), (false, true, Schema::Prompt));
}

#[test]
fn a_local_server_is_found_by_its_port_or_the_configuration() {
    let none = "no server was found";
    check("ollama", &[], &[], none);
    let of = |overrides: &[Overrides], variables: &[(&str, &str)], open| {
        transport(&setup(overrides, &Keys::default(), variables, &[], open), "ollama")
    };
    let there = "http://127.0.0.1:11434/ with no key";
    assert_eq!(of(&[], &[], true), there);
    assert_eq!(of(&[], &[("OLLAMA_HOST", "")], true), none);
    assert_eq!(of(&[Overrides { name: "ollama".to_owned(), ..Overrides::default() }], &[], false), there);
}

#[test]
fn d14_a_server_on_this_machine_gets_one_call_at_a_time() {
    let check = |base: &str, set: Option<usize>, expected: usize| {
        let base_url = Some(base.parse().unwrap());
        let overrides =
            Overrides { name: "alpha".to_owned(), base_url, concurrency: set, ..Overrides::default() };
        let setup = setup(&[overrides], &Keys::default(), &[], &[], false);
        assert_eq!(setup.provider("alpha").unwrap().width.concurrency, expected, "{base}");
    };
    check("http://127.0.0.1:9000/v1", None, 1);
    check("http://localhost:9000/v1", None, 1);
    check("http://127.0.0.1:9000/v1", Some(3), 3);
    check("https://far.example/v1", None, 4);
}

#[test]
fn d10_a_price_of_the_user_comes_before_an_imported_one_and_that_before_the_catalogue() {
    let (configured, imported) = (price_of(1.0, 2.0).unwrap(), price_of(3.0, 4.0).unwrap());
    let text = serde_json::json!({ "anthropic": {
        "claude-opus-5": { "price": imported }, "claude-new": { "price": imported, "window": 7 } } });
    let prices: Prices = serde_json::from_value(text).unwrap();
    let rows = [Overrides {
        name: "claude".to_owned(),
        models: [("claude-sonnet-5".to_owned(), ModelOverrides { price: Some(configured), window: None })]
            .into(),
        ..Overrides::default()
    }];
    let machine = Machine::bare();
    let setup =
        Setup::of(&SetupInput { overrides: &rows, keys: &Keys::default(), prices: &prices }, &machine);
    let claude = setup.provider("anthropic").unwrap();
    let of = |model: &str| claude.model_info(model).price;
    assert_eq!(
        (of("claude-sonnet-5"), of("claude-opus-5"), of("claude-new")),
        (Some(configured), Some(imported), Some(imported))
    );
    assert_eq!(
        of("claude-sonnet-5-5"),
        Dollars { input: 2.0, output: 10.0, cached: Some(0.2), written: Some(2.5) }.price()
    );
    assert_eq!((of("claude-unheard-of"), claude.model_info("claude-new").window), (None, 7));
    assert_eq!(setup.provider("ollama").unwrap().model_info("any").price, price_of(0.0, 0.0));
}

#[test]
fn a_price_set_for_a_provider_applies_to_its_default_model_only() {
    let price = price_of(1.0, 2.0);
    let of_single = price_of(5.0, 6.0);
    let rows = [
        Overrides { name: "claude".to_owned(), price, ..Overrides::default() },
        Overrides {
            name: "own".to_owned(),
            wire: Some("openai-chat".to_owned()),
            model: Some("own-1".to_owned()),
            models: [("own-2".to_owned(), ModelOverrides { price: of_single, window: None })].into(),
            price,
            ..Overrides::default()
        },
    ];
    let given = SetupInput { overrides: &rows, keys: &Keys::default(), prices: &Prices::default() };
    let setup = Setup::of(&given, &Machine::bare());
    let of = |provider: &str, model: &str| setup.provider(provider).unwrap().model_info(model).price;
    let claude = &setup.provider("claude").unwrap().model;
    assert_eq!(of("claude", claude), price);
    assert_ne!(of("claude", "claude-opus-5"), price);
    assert!(of("claude", "claude-opus-5").is_some(), "that of the catalogue");
    let own = [of("own", "own-1"), of("own", "own-2"), of("own", "own-3")];
    assert_eq!(own, [price, of_single, None]);
}

/// A machine with these variables whose local servers have these models.
fn with_models(variables: &[(&str, &str)], models: &[&str]) -> Setup {
    let variable =
        |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
    let models = |_: &_| models.iter().map(|it| (*it).to_owned()).collect();
    let machine = Machine { variable: &variable, models: &models, ..Machine::bare() };
    Setup::of(&SetupInput { overrides: &[], keys: &Keys::default(), prices: &Prices::default() }, &machine)
}

#[test]
fn one_key_is_enough_for_a_panel_of_its_vendors_models() {
    let check = |variables: &[(&str, &str)], expected: Option<(&str, &[&str])>| {
        let setup = with_models(variables, &["qwen3:8b", "gemma3:4b"]);
        let sole = setup.sole_vendor().map(|it| (it.name.clone(), it.panel.clone()));
        let expected = expected.map(|(name, panel)| {
            (name.to_owned(), panel.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        });
        assert_eq!(sole, expected, "{variables:?}");
    };
    check(&[], None);
    // Two providers, one key.
    check(&[("OPENAI_API_KEY", "k")], Some(("openai", &["gpt-5.6-terra", "gpt-5.6-luna", "gpt-4.1"])));
    check(&[("DEEPSEEK_API_KEY", "k")], Some(("deepseek", &["deepseek-flash", "deepseek-v4-pro"])));
    check(&[("OPENAI_API_KEY", "k"), ("XAI_API_KEY", "k")], None);
    check(&[("OLLAMA_HOST", "127.0.0.1")], Some(("ollama", &["qwen3:8b", "gemma3:4b"])));
    check(&[("VLLM_HOST", "127.0.0.1:8000")], Some(("vllm", &["qwen3:8b", "gemma3:4b"])));
    check(&[("OLLAMA_HOST", "127.0.0.1"), ("XAI_API_KEY", "k")], None);
}

#[test]
fn a_local_server_answers_with_a_model_that_it_has() {
    let model = |variable: &str, models: &[&str], name: &str| {
        let setup = with_models(&[(variable, "127.0.0.1:9")], models);
        setup.provider(name).map(|it| (it.model.clone(), it.transport.is_ok())).unwrap()
    };
    let is = |model: &str, available| (model.to_owned(), available);
    assert_eq!(model("OLLAMA_HOST", &["qwen3:8b"], "ollama"), is("qwen3:8b", true));
    assert_eq!(model("OLLAMA_HOST", &["qwen3:8b", "llama3.2:latest"], "ollama"), is("llama3.2", true));
    assert_eq!(model("OLLAMA_HOST", &[], "ollama"), is("llama3.2", true));
    assert_eq!(model("LMSTUDIO_HOST", &["a", "b"], "lmstudio"), is("default", true));
    assert_eq!(model("VLLM_HOST", &["a/b"], "vllm"), is("a/b", true));
    assert_eq!(model("VLLM_HOST", &[], "vllm"), is("", false));
}

#[test]
fn a_local_server_is_asked_for_its_models_only_without_two_other_vendors() {
    let variable = |name: &str| {
        ["ANTHROPIC_API_KEY", "XAI_API_KEY", "OLLAMA_HOST"].contains(&name).then(|| "127.0.0.1".to_owned())
    };
    let machine = Machine { variable: &variable, models: &|_| panic!("it was asked"), ..Machine::bare() };
    let setup = Setup::of(
        &SetupInput { overrides: &[], keys: &Keys::default(), prices: &Prices::default() },
        &machine,
    );
    assert_eq!(setup.sources().len(), 3);
}

#[test]
fn a_program_has_one_model_of_its_own_choice() {
    let setup = setup(&[], &Keys::default(), &[], &["claude"], false);
    assert_eq!(setup.sole_vendor().map(|it| (it.name.as_str(), it.panel.len())), Some(("claude", 0)));
}

#[test]
fn the_users_own_models_come_before_the_catalogues() {
    let overrides = |base_url: Option<&str>| Overrides {
        name: "openai".to_owned(),
        model: Some("mine".to_owned()),
        base_url: base_url.map(|it| it.parse().unwrap()),
        ..Overrides::default()
    };
    let panel = |base_url| {
        let key = [("OPENAI_API_KEY", "k")];
        setup(&[overrides(base_url)], &Keys::default(), &key, &[], false)
            .provider("openai")
            .unwrap()
            .panel
            .clone()
    };
    assert_eq!(panel(None), ["mine", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-4.1"]);
    assert_eq!(panel(Some("https://gateway.example/v1")), ["mine"]);
}
