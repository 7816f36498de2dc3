//! The guard: every route, with every caller that must not get through (S2, S3, S12).

use quorum_server::{Error, Limits, Server, Settings};
use serde_json::{Value, json};

use crate::harness::{ANN, Answer, BOB, FAST, TestServer, answered, config, order, tenants};

/// All operations of the OpenAPI document, with the id filled in and a valid body.
async fn ways(server: &TestServer, id: &str) -> Vec<(String, String, Value)> {
    let document = answered(server.request("GET", "/openapi.json").bearer_auth(ANN)).await.json();
    let mut ways = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let body = match path.rsplit('/').next().unwrap() {
                "plan" if path.contains("{id}") => json!({ "changes": { "rounds": 1 } }),
                "discussions" | "plan" => order(),
                "discussion" => json!({
                    "prompt": "q", "modelA": { "modelId": "a", "providerId": "claude" },
                    "modelB": { "modelId": "b", "providerId": "gemini" }, "detach": true,
                }),
                "{id}" => json!({ "message": "hi", "userId": "u" }),
                "say" | "note" => json!({ "text": "hi" }),
                "ruling" => json!({ "choice": "end" }),
                "fork" => json!({ "at": "1/answering/claude" }),
                "rating" => json!({ "rating": 5 }),
                "outcome" => json!({ "answer": "tabs" }),
                "sessions" | "{session}" => json!({ "name": "a session" }),
                _ => json!({}),
            };
            ways.push((method.to_uppercase(), path.replace("{id}", id).replace("{session}", id), body));
        }
    }
    assert!(ways.len() >= 33, "{}", ways.len());
    ways
}

fn sent(server: &TestServer, (method, path, body): &(String, String, Value)) -> reqwest::RequestBuilder {
    match method.as_str() {
        "POST" => server.posting(path, body),
        _ => server.request(method, path),
    }
}

/// The data of a tenant, to check that nothing changed.
async fn possessions(server: &TestServer, token: &str) -> Vec<String> {
    let mut all = Vec::new();
    for path in ["/api/discussions", "/api/sessions", "/api/audit"] {
        all.push(answered(server.request("GET", path).bearer_auth(token)).await.text);
    }
    all
}

#[tokio::test]
async fn s3_no_route_admits_an_unauthorized_caller() {
    let server = TestServer::open(&tenants()).await;
    let id = answered(server.posting("/api/discussions", &order()).bearer_auth(ANN)).await.id();
    answered(server.request("GET", &format!("/api/discussions/{id}/events")).bearer_auth(ANN)).await;
    let before = possessions(&server, ANN).await;
    type Change = fn(reqwest::RequestBuilder) -> reqwest::RequestBuilder;
    let cases: &[(&str, u16, Change)] = &[
        ("no token", 401, |it| it),
        ("an empty token", 401, |it| it.bearer_auth("")),
        ("a wrong token", 401, |it| it.bearer_auth("anns-token-012345678")),
        ("a token in the wrong scheme", 401, |it| it.header("authorization", format!("Token {ANN}"))),
        ("a token in a cookie", 401, |it| it.header("cookie", format!("token={ANN}"))),
        ("another name", 421, |it| it.bearer_auth(ANN).header("host", "evil.example")),
        ("a name that points here", 421, |it| it.bearer_auth(ANN).header("host", "127.0.0.1.nip.io:3000")),
        ("a foreign page", 403, |it| it.bearer_auth(ANN).header("origin", "https://evil.example")),
        ("a page without a name", 403, |it| it.bearer_auth(ANN).header("origin", "null")),
        ("a page on another port", 403, |it| it.bearer_auth(ANN).header("origin", "http://127.0.0.1:1")),
        ("a foreign page's request", 403, |it| it.bearer_auth(ANN).header("sec-fetch-site", "cross-site")),
    ];
    for way in ways(&server, &id).await {
        let is_open = matches!(way.1.as_str(), "/healthz" | "/readyz");
        for (case, status, change) in cases {
            let answer = answered(change(sent(&server, &way))).await;
            let expected = if is_open && *status == 401 { 200 } else { *status };
            assert_eq!(answer.status, expected, "{} {} with {case}: {}", way.0, way.1, answer.text);
            assert!(
                !answer.text.contains(ANN) && answer.headers.get("access-control-allow-origin").is_none()
            );
        }
        let (method, path, body) = way.clone();
        let in_the_address = (method, format!("{path}?token={ANN}&access_token={ANN}"), body);
        let answer = answered(sent(&server, &in_the_address)).await;
        assert_eq!(answer.status, if is_open { 200 } else { 401 }, "{}", way.1);
        if way.0 == "POST" {
            let form = server
                .request("POST", &way.1)
                .bearer_auth(ANN)
                .header("content-type", "text/plain")
                .body(way.2.to_string());
            assert_eq!(answered(form).await.status, 415, "{}", way.1);
        }
    }
    assert_eq!(possessions(&server, ANN).await, before);
}

#[tokio::test]
async fn s12_no_route_shows_or_changes_another_tenants_data() {
    let server = TestServer::open(&tenants()).await;
    let id = answered(server.posting("/api/discussions", &order()).bearer_auth(ANN)).await.id();
    answered(server.request("GET", &format!("/api/discussions/{id}/events")).bearer_auth(ANN)).await;
    let session =
        answered(server.posting("/api/sessions", &json!({ "name": "anns" })).bearer_auth(ANN)).await;
    let before = possessions(&server, ANN).await;
    for way in ways(&server, &id).await.iter().filter(|way| way.1.contains(&id)) {
        let answer = answered(sent(&server, way).bearer_auth(BOB)).await;
        assert_eq!(answer.status, 404, "{} {}: {}", way.0, way.1, answer.text);
        let kind = if way.1.contains("/sessions/") { "session" } else { "discussion" };
        assert_eq!(answer.json()["detail"], format!("there is no {kind} {id}"));
    }
    let bobs = |path: String| answered(server.request("GET", &path).bearer_auth(BOB));
    for path in ["/api/discussions", "/api/discussions?q=tabs", "/api/sessions", "/api/audit"] {
        assert_eq!(bobs(path.to_owned()).await.json(), json!([]), "{path}");
    }
    assert!(!bobs("/".to_owned()).await.text.contains(&id));
    let mut inside = order();
    inside["sessionId"] = session.json()["sessionId"].clone();
    let anns = format!("/api/sessions/{}", session.json()["sessionId"].as_str().unwrap());
    for asked in [server.posting(&anns, &json!({ "name": "bobs" })), server.request("DELETE", &anns)] {
        assert_eq!(answered(asked.bearer_auth(BOB)).await.status, 404);
    }
    let refused = answered(server.posting("/api/discussions", &inside).bearer_auth(BOB)).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["code"]),
        (409, &json!("DISCUSSION_UNKNOWN_SESSION"))
    );
    for token in [ANN, BOB] {
        let counted = answered(server.request("GET", "/metrics").bearer_auth(token)).await.text;
        assert!(counted.contains("pattern=\"synthesis\"") == (token == ANN), "{counted}");
    }
    let keyed = |token: &str| {
        answered(
            server.posting("/api/discussions", &order()).bearer_auth(token).header("idempotency-key", "k"),
        )
    };
    assert_ne!(keyed(ANN).await.id(), keyed(BOB).await.id());
    let after: Vec<String> = possessions(&server, ANN).await;
    assert_eq!(after[1], before[1]);
}

#[tokio::test]
async fn s3_our_own_pages_and_listed_ones_are_welcome() {
    let server = TestServer::open(&tenants()).await;
    let ours = server.base.clone();
    let get = || server.request("GET", "/api/discussions").bearer_auth(ANN);
    let check = async |request: reqwest::RequestBuilder, expected: u16| {
        assert_eq!(answered(request).await.status, expected);
    };
    check(get().header("origin", &ours), 200).await;
    check(get().header("origin", "https://panel.example.org"), 200).await;
    check(get().header("host", "panel.example.org"), 200).await;
    check(get().header("host", "localhost:3000").header("origin", "http://localhost:3000"), 200).await;
    check(get().header("sec-fetch-site", "same-origin"), 200).await;
    check(get().header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate"), 200).await;
    check(get().basic_auth("anybody", Some(ANN)), 401).await;
    check(server.request("GET", "/api/discussions").basic_auth("anybody", Some(BOB)), 200).await;
}

#[tokio::test]
async fn s3_a_listed_page_may_read_and_send_and_no_other() {
    // The vendors' SDKs send headers of their own from a page, too.
    const SENT: &str = "authorization,content-type,idempotency-key,anthropic-version,x-stainless-retry-count";
    let server = TestServer::open(&tenants()).await;
    let (listed, foreign) = ("https://panel.example.org", "https://evil.example");
    let asks = |origin: &str| {
        let request = server.request("OPTIONS", "/api/discussions").header("origin", origin);
        answered(
            request
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", SENT),
        )
    };
    let told =
        |answer: &Answer, name: &str| answer.headers.get(name).map(|it| it.to_str().unwrap().to_owned());
    let allowed = asks(listed).await;
    assert_eq!((allowed.status.as_u16(), allowed.text.as_str()), (200, ""));
    assert_eq!(told(&allowed, "access-control-allow-origin").as_deref(), Some(listed));
    assert_eq!(told(&allowed, "access-control-allow-headers").as_deref(), Some(SENT));
    let refused = asks(foreign).await;
    assert_eq!((refused.status.as_u16(), told(&refused, "access-control-allow-origin")), (403, None));
    let get = |path: &str, token: &str| {
        answered(server.request("GET", path).header("origin", listed).bearer_auth(token))
    };
    // An error of /v1 had lost the header, so that its page saw no answer at all.
    for (path, token, status) in [
        ("/api/discussions", ANN, 200),
        ("/api/discussions", "nobodys-token-01234", 401),
        ("/v1/models", ANN, 200),
        ("/v1/models", "nobodys-token-01234", 401),
    ] {
        let answer = get(path, token).await;
        assert_eq!(
            (answer.status.as_u16(), told(&answer, "access-control-allow-origin").as_deref()),
            (status, Some(listed))
        );
        assert_eq!(told(&answer, "access-control-allow-credentials"), None);
    }
    let plain = TestServer::open(FAST).await;
    let answer = answered(plain.request("OPTIONS", "/api/discussions").header("origin", &plain.base)).await;
    assert_eq!((answer.status.as_u16(), told(&answer, "access-control-allow-origin")), (405, None));
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let server = TestServer::open(FAST).await;
    for path in ["/", "/docs", "/api/discussions", "/nothing", "/openapi.json"] {
        let Answer { headers, .. } = server.get(path).await;
        let header = |name: &str| headers[name].to_str().unwrap().to_owned();
        assert!(
            header("content-security-policy").starts_with("default-src 'none'; script-src 'self';"),
            "{path}"
        );
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("x-frame-options"), "DENY");
        assert_eq!(header("cache-control"), "no-store");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
    }
}

#[tokio::test]
async fn s2_a_server_open_to_everybody_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let check = async |text: &str, listen: &str, starts: bool| {
        let config = config(text, folder.path());
        let quorum = quorum::Quorum::open(config.clone()).unwrap();
        let settings =
            Settings { listen: listen.parse().unwrap(), limits: Limits::default(), ..Settings::of(&config) };
        let bound = Server::bind(quorum, settings).await;
        assert_eq!(bound.is_ok(), starts, "{listen}");
        if let Err(error) = bound {
            assert!(matches!(error, Error::Exposed(_)), "{error}");
            assert!(error.to_string().contains("set tokens under [server]"), "{error}");
        }
    };
    check("", "127.0.0.1:0", true).await;
    check("", "127.8.8.8:0", true).await;
    check("", "[::1]:0", true).await;
    check("", "0.0.0.0:0", false).await;
    check("", "[::]:0", false).await;
    check("", "10.1.2.3:0", false).await;
    check("", "192.168.0.1:0", false).await;
    check(&tenants(), "0.0.0.0:0", true).await;
}
