//! The panel if a request names no participants: one key is enough, and every deviation from the
//! default is announced.

use quorum_testkit::server::{Server, server};
use serde_json::{Value, json};

use crate::user::User;

const QUESTION: [&str; 3] = ["Tabs or spaces?", "-r", "1"];

fn bare() -> User {
    let user = User::new();
    user.configure("");
    user
}

fn ollama(models: &[&str]) -> (User, Server) {
    let server = server().models(models.iter().copied()).on_thread();
    let user = User::new().with("OLLAMA_HOST", &server.url());
    user.configure("");
    (user, server)
}

/// The models that were called, one for each call.
pub(crate) fn asked(vendor: &Server) -> Vec<String> {
    let requests = vendor.requests();
    requests.iter().filter(|it| it.method == "POST").map(|it| it.model.clone()).collect()
}

fn participating(user: &User) -> Value {
    user.ax(&["show", "last", "--json"]).ends(0).json()["participatingProviders"].clone()
}

/// The seats of each provider that has several.
fn seats(user: &User) -> Value {
    user.ax(&["show", "last", "--json"]).ends(0).json()["seats"].clone()
}

#[test]
fn one_key_is_enough() {
    let vendor = server().on_thread();
    let user = bare().with("OPENAI_API_KEY", "k").with("OPENAI_BASE_URL", &format!("{}/v1", vendor.url()));
    let said = user.ax(&QUESTION).ends(0);
    let line = "Only openai is available, so its models discuss: gpt-5.6-terra, gpt-5.6-luna, gpt-4.1. \
                `ax models` shows what the others lack.\n";
    assert!(said.err.starts_with(line), "{said:#?}");
    let seats = ["gpt-5.6-terra", "gpt-5.6-luna", "gpt-4.1"].map(|it| format!("openai/{it}"));
    assert_eq!((participating(&user), self::seats(&user)), (json!(["openai"]), json!({ "openai": seats })));
}

#[test]
fn verbose_output_lacked_the_figures_of_each_response() {
    let vendor = server().on_thread();
    let user = bare().with("OPENAI_API_KEY", "k").with("OPENAI_BASE_URL", &format!("{}/v1", vendor.url()));
    user.ax(&QUESTION).ends(0);
    let result = user.ax(&["show", "last", "--json"]).ends(0).json();
    let shown = user.ax(&["show", "last", "-v"]).ends(0).out;
    for response in result["rounds"][0]["responses"].as_array().unwrap() {
        let (model, tokens) = (response["model"].as_str().unwrap(), response["tokenCount"].as_u64().unwrap());
        let figures = format!("*{model}");
        let line = shown.lines().find(|it| it.starts_with(&figures)).unwrap_or_default();
        let written = response["completionTokens"].as_u64().unwrap();
        let figures = format!(", {} tokens read, {written} written, ", tokens - written);
        assert!(line.contains(&figures), "{model}: {shown}");
    }
}

#[test]
fn one_key_of_a_router_seats_models_of_different_vendors() {
    let user = bare().with("OPENROUTER_API_KEY", "k");
    let plan = user.ax(&["q?", "--dry-run", "--json"]).ends(0).json();
    let seats: Vec<&str> = plan["participants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["participant"].as_str().unwrap())
        .collect();
    let vendors: Vec<&str> = seats.iter().filter_map(|it| it.split('/').nth(1)).collect();
    assert_eq!(vendors, ["anthropic", "openai", "google"]);
}

#[test]
fn a_pattern_for_two_takes_two_models() {
    let user = bare().with("MISTRAL_API_KEY", "k");
    let plan = user.ax(&["q?", "--pattern", "dialogue", "--dry-run", "--json"]).ends(0).json();
    assert_eq!(plan["participants"].as_array().unwrap().len(), 2, "{plan:#}");
}

#[test]
fn a_local_server_with_several_models_is_enough() {
    let (user, _server) = ollama(&["qwen3:8b", "gemma3:4b", "nomic-embed-text:latest"]);
    let said = user.ax(&QUESTION).ends(0);
    said.says(&["Only ollama is available, so its models discuss: qwen3:8b, gemma3:4b."]);
    assert_eq!(participating(&user), json!(["ollama"]));
    assert_eq!(seats(&user), json!({ "ollama": ["ollama/qwen3:8b", "ollama/gemma3:4b"] }));
}

#[test]
fn one_model_alone_is_refused_with_what_to_do() {
    let (user, server) = ollama(&["qwen3:8b"]);
    let said = user.ax(&QUESTION).ends(4).prints_nothing();
    said.says(&[
        "only ollama, with the one model qwen3:8b, is available, and a discussion takes 2;",
        "`ollama pull NAME` gives it a second model",
        "`-p ollama,ollama` lets it speak twice",
        "`--offline` uses simulated voices",
        "claude: no key: set ANTHROPIC_API_KEY",
    ]);
    // Only its list of models was requested.
    assert_eq!(server.requests().len(), 1);
    // The installed model answers, not the default one.
    user.ax(&["Tabs or spaces?", "-r", "1", "-p", "ollama,ollama"]).ends(0);
}

#[test]
fn a_panel_that_was_narrowed_or_filled_up_says_so() {
    let check =
        |keys: &[&str], line: &str| announces(keys, &format!("{line} `ax models` shows what is missing.\n"));
    check(
        &["ANTHROPIC_API_KEY", "GEMINI_API_KEY"],
        "The default panel without glm, qwen (not available): claude, gemini.",
    );
    check(
        &["ANTHROPIC_API_KEY", "XAI_API_KEY"],
        "Too few providers of the default panel are available, so grok joined: claude, grok.",
    );
    check(
        &["XAI_API_KEY", "MISTRAL_API_KEY"],
        "No provider of the default panel is available, so others discuss: grok, mistral.",
    );
}

#[test]
fn a_single_provider_is_refused_with_advice() {
    let user = bare().with("OPENAI_API_KEY", "k");
    let advice = "--providers: a discussion of this kind takes 2 to 6 providers; 1 is named; leave it out for \
                  the default panel, or name several models: \
                  `-p openai/gpt-5.6-terra,openai/gpt-5.6-luna`\n";
    for named in ["openai", "gpt/gpt-4.1"] {
        user.ax(&["q?", "-p", named]).ends(2).says(&[advice]).prints_nothing();
    }
    user.ax(&["q?", "-p", "openai/gpt-5.6-terra,openai/gpt-5.6-luna", "--dry-run"]).ends(0);
}

/// Checks the first line about a question of a user with these keys.
#[track_caller]
fn announces(keys: &[&str], line: &str) {
    let user = keys.iter().fold(bare(), |user, key| user.with(key, "k"));
    let said = user.ax(&["q?", "--dry-run"]).ends(0);
    assert!(said.err.starts_with(line), "{said:#?}");
}

#[test]
fn a_key_that_is_not_used_is_mentioned() {
    announces(
        &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY"],
        "The default panel without glm, qwen (not available): claude, gemini. `ax models` shows what is \
         missing. Available, but not asked: openai; `--providers` names a panel of your own.\n",
    );
    announces(
        &["OPENAI_API_KEY", "MISTRAL_API_KEY"],
        "No provider of the default panel is available, so others discuss: openai, mistral. `ax models` \
         shows what is missing.\n",
    );
}

#[test]
fn the_usual_panel_and_one_that_is_named_are_not_explained() {
    let keys = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "ZAI_API_KEY", "DASHSCOPE_API_KEY"];
    let user = keys.iter().fold(bare(), |user, key| user.with(key, "k"));
    for args in [
        &["q?", "--dry-run"][..],
        &["q?", "--dry-run", "-p", "claude,glm"],
        &["q?", "--dry-run", "--offline"],
    ] {
        assert_eq!(user.ax(args).ends(0).err, "No model was asked, and nothing was recorded.\n", "{args:?}");
    }
}

#[test]
fn model_names_may_contain_an_at_sign() {
    let vendor = server().on_thread();
    let user = User::new();
    let row = |name: &str, model: &str| {
        let base = format!("{}/v1", vendor.url());
        format!("[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = '{model}'\n")
    };
    user.configure(&(row("vertex", "claude-sonnet-5-5@20261001") + &row("cloudflare", "@cf/meta/llama-4")));
    user.ax(&QUESTION).ends(0);
    let named = "vertex/claude-opus-5-5@20261001,cloudflare/@cf/openai/gpt-oss-120b";
    user.ax(&["Tabs or spaces?", "-r", "1", "-p", named]).ends(0);
    assert_eq!(participating(&user), json!(named.split(',').collect::<Vec<_>>()));
    let asked = asked(&vendor);
    for model in [
        "claude-sonnet-5-5@20261001",
        "@cf/meta/llama-4",
        "claude-opus-5-5@20261001",
        "@cf/openai/gpt-oss-120b",
    ] {
        assert!(asked.iter().any(|it| it == model), "{model}: {asked:?}");
    }
}

#[test]
fn a_model_that_a_servers_list_does_not_name_is_a_warning_and_the_call_decides() {
    let vendor = server().models(["gpt-5.6-terra", "gpt-5.6-luna"]).on_thread();
    let user = bare().with("OPENAI_API_KEY", "k").with("OPENAI_BASE_URL", &format!("{}/v1", vendor.url()));
    let said = user.ax(&QUESTION).ends(0);
    said.says(&[
        "warning: openai/gpt-4.1: its list names no model gpt-4.1; it names gpt-5.6-terra, gpt-5.6-luna",
    ]);
    assert!(asked(&vendor).contains(&"gpt-4.1".to_owned()));
    assert_eq!(participating(&user), json!(["openai"]), "two models of one provider");
}
