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
