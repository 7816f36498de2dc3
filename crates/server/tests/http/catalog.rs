//! Lists of choices: presets, and providers that are available or lack something.

use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, order};

/// One available provider, and two of the user's own that lack something.
const OWN: &str = "
[providers.alpha]
wire = \"openai-chat\"
base_url = \"http://127.0.0.1:9/v1\"
model = \"alpha-1\"
window = 32000
price = { input = 1.5, output = 2.0 }
[providers.beta]
wire = \"openai-chat\"
base_url = \"https://beta.example.org/v1\"
model = \"beta-1\"
key_env = \"BETA_KEY\"
[providers.gamma]
command = [\"/opt/secret/place/gamma\", \"--ask\"]
";

const PRESETS: &str = "
[presets.quick]
pattern = \"round-robin\"
rounds = 1
providers = \"claude,gemini\"
budget = \"90s\"
verbose = true
[presets.bare]
";

#[tokio::test]
async fn presets_are_listed_by_the_fields_of_an_order() {
    let server = TestServer::open(&format!("{FAST}{PRESETS}")).await;
    let quick = json!({
        "pattern": "round-robin", "rounds": 1, "providers": ["claude", "gemini"], "budgetMs": 90_000,
    });
    let expected = json!([{ "name": "bare", "fields": {} }, { "name": "quick", "fields": quick }]);
    assert_eq!(server.get("/api/presets").await.json(), expected);
    assert_eq!(TestServer::open(FAST).await.get("/api/presets").await.json(), json!([]));
}

#[tokio::test]
async fn an_order_is_filled_in_from_its_preset() {
    let server = TestServer::open(&format!("{FAST}{PRESETS}")).await;
    let id = server.held(&json!({ "topic": "Tabs or spaces?", "preset": "quick" })).await;
    let state = server.state(&id).await;
    let names: Vec<&Value> =
        state["config"]["participants"].as_array().unwrap().iter().map(|it| &it["providerId"]).collect();
    assert_eq!((&state["pattern"], names), (&json!("round-robin"), vec![&json!("claude"), &json!("gemini")]));
    let refused = server.post("/api/discussions", &json!({ "topic": "x", "preset": "slow" })).await;
    assert_eq!((refused.status.as_u16(), &refused.json()["fields"][0]["field"]), (409, &json!("preset")));
}

#[tokio::test]
async fn s7_a_refusal_names_no_path_of_this_machine() {
    let server = TestServer::open("[defaults]\nrounds = 99\n[presets.odd]\nrounds = 98\n").await;
    let nothing = TestServer::open(FAST).await;
    for (server, order, status) in [
        (&server, json!({ "topic": "x" }), 400),
        (&server, json!({ "topic": "x", "preset": "odd" }), 400),
        (&nothing, json!({ "topic": "x", "preset": "odd" }), 409),
    ] {
        let refused = server.post("/api/discussions", &order).await;
        assert_eq!(refused.status, status);
        assert!(!refused.text.contains(server.folder.to_str().unwrap()), "{}", refused.text);
        assert!(refused.text.contains("the configuration"), "{}", refused.text);
    }
}

#[tokio::test]
async fn providers_say_what_they_have_and_what_they_lack() {
    let server = TestServer::voiced(OWN).await;
    let all = server.get("/api/providers").await.json();
    let named = |name: &str| all.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
    let price = json!({ "input": 1.5, "output": 2.0 });
    let alpha = json!({
        "name": "alpha", "aliases": [], "strengths": [], "window": 32_000, "available": true, "model": "alpha-1",
        "models": [{ "name": "alpha-1", "window": 32_000, "price": price }],
    });
    assert_eq!(*named("alpha"), alpha);
    for (name, lacks) in
        [("beta", "there is no key in BETA_KEY"), ("gamma", "the command gamma was not found")]
    {
        assert_eq!((&named(name)["available"], &named(name)["lacks"]), (&json!(false), &json!(lacks)));
    }
    let claude = named("claude");
    assert_eq!(claude["available"], false);
    assert_eq!(claude["lacks"], "there is no key in ANTHROPIC_API_KEY");
    assert!(
        claude["models"][0]["window"].as_u64().unwrap() > 0
            && claude["models"][0]["price"]["input"].is_number()
    );
    assert!(!all.to_string().contains("/opt/") && !all.to_string().contains("127.0.0.1"));
}

#[tokio::test]
async fn an_order_for_an_unavailable_provider_is_refused_unless_voices_are_simulated() {
    let server = TestServer::voiced(OWN).await;
    let check = async |providers: Value, message: &str| {
        let refused = server.post("/api/discussions", &json!({ "topic": "x", "providers": providers })).await;
        let field = &refused.json()["fields"][0];
        assert_eq!((refused.status.as_u16(), &field["field"]), (400, &json!("providers")));
        assert_eq!(field["message"], message);
    };
    let simulated = "\"offline\": true uses simulated voices";
    let beta = format!("beta is not available: there is no key in BETA_KEY; {simulated}");
    check(json!(["alpha", "beta"]), &beta).await;
    let gamma = format!("gamma is not available: the command gamma was not found; {simulated}");
    check(json!(["alpha", "gamma"]), &gamma).await;
    check(json!(["alpha", "betta"]), "there is no provider named betta; did you mean beta?").await;
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));

    let offline = TestServer::open(&format!("{FAST}{OWN}")).await;
    offline.held(&json!({ "topic": "x", "rounds": 1, "providers": ["alpha", "beta"] })).await;
    offline.held(&order()).await;
}
