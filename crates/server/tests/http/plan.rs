//! Plans of orders, made without asking any model.

use std::time::Duration;

use quorum_server::Limits;
use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, answered, order};

/// An order so long that planning it takes a while.
fn thousand_rounds() -> Value {
    json!({
        "topic": "Tabs or spaces?", "pattern": "debate", "debateFormat": "round-limited", "roundLimit": 1_000,
        "providers": ["claude", "glm", "qwen"],
    })
}

#[tokio::test]
async fn a_plan_has_who_is_asked_and_the_cost_and_records_nothing() {
    let server = TestServer::open(FAST).await;
    let answer = server.post("/api/plan", &order()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let plan = answer.json();
    assert_eq!(
        plan["course"][0],
        json!({ "round": 1, "phase": "answering", "asked": [["claude", "gemini"]] })
    );
    assert_eq!((&plan["simulated"], &plan["usual"]["calls"]), (&json!(true), &json!(3)));
    assert!(plan["most"]["calls"].as_u64() > plan["usual"]["calls"].as_u64(), "{plan}");
    assert!(plan["most"]["tokens"].as_u64() > plan["usual"]["tokens"].as_u64(), "{plan}");
    assert_eq!(server.get("/api/discussions").await.json(), json!([]));
    assert_eq!(server.get("/api/audit").await.json(), json!([]));
}

#[tokio::test]
async fn a_plan_is_refused_as_its_order_would_be() {
    let server = TestServer::open(FAST).await;
    for wrong in [
        json!({}),
        json!({ "topic": "" }),
        json!({ "topic": "x", "rounds": 99 }),
        json!({ "topic": "x", "nobody": 1 }),
    ] {
        let (plan, order) =
            (server.post("/api/plan", &wrong).await, server.post("/api/discussions", &wrong).await);
        assert_eq!((plan.status.as_u16(), plan.json()), (400, order.json()));
    }
}

#[tokio::test]
async fn a_plan_that_takes_too_long_ends_and_so_does_waiting_for_ones_turn() {
    let limits =
        Limits { burst: 100_000, plans: 1, plan_time: Duration::from_millis(50), ..Limits::default() };
    let server = TestServer::with(FAST, limits).await;
    let many = thousand_rounds();
    let plans = futures::future::join_all((0..3).map(|_| answered(server.posting("/api/plan", &many)))).await;
    for plan in &plans {
        let problem = plan.json();
        let told = (plan.status.as_u16(), problem["code"].as_str().unwrap());
        assert!([(429, "TOO_MANY_REQUESTS"), (503, "UNAVAILABLE")].contains(&told), "{problem}");
        assert_eq!(plan.headers["retry-after"], "5");
    }
    assert!(plans.iter().any(|it| it.status == 503));
}

#[tokio::test]
async fn a_panel_that_is_not_the_usual_one_says_so_in_the_plan_and_in_the_answer() {
    let check = async |keys: &'static [&str], expected: Value| {
        let server = TestServer::keyed(keys).await;
        let bare = json!({ "topic": "Tabs or spaces?" });
        let plan = server.post("/api/plan", &bare).await;
        assert_eq!((plan.status.as_u16(), &plan.json()["panel"]), (200, &expected), "{}", plan.text);
        let answer = server.post("/api/discussions", &bare).await;
        assert_eq!((answer.status.as_u16(), &answer.json()["panel"]), (202, &expected), "{}", answer.text);
        let simulated = json!({ "topic": "Tabs or spaces?", "offline": true });
        assert_eq!(server.post("/api/plan", &simulated).await.json().get("panel"), None);
    };
    let one = json!({
        "kind": "one-vendor", "provider": "openai", "models": ["gpt-5.6-terra", "gpt-5.6-luna", "gpt-4.1"],
        "message": "only openai is available, so its models discuss: gpt-5.6-terra, gpt-5.6-luna, gpt-4.1",
    });
    check(&["OPENAI_API_KEY"], one).await;
    let narrowed = json!({
        "kind": "narrowed", "panel": ["claude", "gemini"], "missing": ["glm", "qwen"],
        "message": "glm, qwen can't be asked here, so the panel is claude, gemini",
    });
    check(&["ANTHROPIC_API_KEY", "GEMINI_API_KEY"], narrowed).await;
    let filled_up = json!({
        "kind": "filled-up", "panel": ["claude", "grok"], "added": ["grok"],
        "message": "too few providers of the default panel are available, so it is filled up with grok: claude, grok",
    });
    check(&["ANTHROPIC_API_KEY", "XAI_API_KEY"], filled_up).await;
    let others = json!({
        "kind": "filled-up", "panel": ["grok", "mistral"], "added": ["grok", "mistral"],
        "message": "no provider of the default panel is available, so others discuss: grok, mistral",
    });
    check(&["XAI_API_KEY", "MISTRAL_API_KEY"], others).await;
    let unasked = json!({
        "kind": "narrowed", "panel": ["claude", "gemini"], "missing": ["glm", "qwen"], "unasked": ["grok"],
        "message": "glm, qwen can't be asked here, so the panel is claude, gemini; \
                    available, but not asked: grok; providers names another panel",
    });
    check(&["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"], unasked).await;
}

#[tokio::test]
async fn the_usual_panel_and_one_that_is_named_are_not_explained() {
    let server =
        TestServer::keyed(&["ANTHROPIC_API_KEY", "ZAI_API_KEY", "DASHSCOPE_API_KEY", "GEMINI_API_KEY"]).await;
    for order in [json!({ "topic": "x" }), json!({ "topic": "x", "providers": ["claude", "glm"] })] {
        for path in ["/api/plan", "/api/discussions"] {
            let answer = server.post(path, &order).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.text);
            assert_eq!(answer.json().get("panel"), None, "{path}: {}", answer.text);
        }
    }
}
