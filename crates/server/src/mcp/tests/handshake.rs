//! Messages before the handshake: requests are answered, and all others are dropped.

use serde_json::{Value, json};

use crate::mcp::tests::client::{Client, MODERN};

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[tokio::test(start_paused = true)]
async fn b10_a_notification_or_a_response_before_the_handshake_ended_the_process_silently() {
    let known = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    let mut other = known.clone();
    other["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let initialized = notification("notifications/initialized", &json!({}));
    let cancelled = notification("notifications/cancelled", &json!({ "requestId": 1 }));
    let response = json!({ "jsonrpc": "2.0", "id": 7, "result": {} });
    for (method, params, code, then) in [
        ("ping", json!({}), Value::Null, &initialized),
        ("server/discover", known, Value::Null, &cancelled),
        ("tools/list", json!({}), json!(-32_602), &initialized),
        ("tools/list", other, json!(-32_022), &response),
    ] {
        let mut client = Client::silent();
        client.send(then).await;
        let told = client.request(method, params).await;
        assert_eq!(told["error"]["code"], code, "{method}: {told}");
        client.send(then).await;
        let mut client = client.introduced(json!({})).await;
        let told = client.call("ax_status", json!({})).await;
        assert_eq!(told, json!({ "discussions": [] }), "{method}");
    }
}
