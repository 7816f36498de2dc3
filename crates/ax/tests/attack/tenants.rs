//! Two tenants on one server: one tries every route, every tool and every field that takes an id
//! with the ids of the other (S12).

use serde_json::{Value, json};

use crate::{
    Attack, Effort,
    served::{Answer, Served},
    tally::Tally,
    user::User,
    vendor::key,
};

pub(crate) const ATTACK: Attack = Attack { name: "tenants", run };

/// A word in everything that Ann has, so that any answer with it shows her data.
const MARK: &str = "zebrafinch";

struct Scene {
    server: Served,
    ann: String,
    bob: String,
    tally: Tally,
}

/// What Ann has: ids of each kind.
struct Owned {
    discussion: String,
    session: String,
    response: String,
    run: String,
}

fn run(_: Effort) -> Tally {
    let (ann, bob) = (key("ann"), key("bob"));
    let user = User::new();
    user.configure(&format!(
        "[defaults]\nsimulate = 'latency=0ms'\n[server]\ntokens = [\
         {{ name = 'ann', tenant = 'ann', token = '{ann}' }}, {{ name = 'bob', tenant = 'bob', token = '{bob}' }}]\n"
    ));
    let server = Served::start(&user, &["--offline"]);
    let scene = Scene { server, ann, bob, tally: Tally::default() };
    let owned = scene.furnish();
    let before = scene.possessions();
    scene.routes(&owned);
    scene.tools(&owned);
    scene.fields(&owned);
    scene.lists();
    let after = scene.possessions();
    scene.tally.count(before == after, || format!("something of Ann's changed:\n{before}\n{after}"));
    scene.tally
}

impl Scene {
    fn anns(&self, head: &str, body: &Value) -> Value {
        let answer = self.server.json(&self.ann, head, body);
        assert!(answer.status < 300, "{head}: {answer:?}");
        answer.json()
    }

    /// Gives Ann one of everything.
    fn furnish(&self) -> Owned {
        let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned();
        let topic = format!("Which cage for a {MARK}?");
        let order = json!({
            "topic": topic, "rounds": 1, "providers": ["claude", "gemini"], "pattern": "settle",
            "votingOptions": [format!("{MARK}-small"), format!("{MARK}-large")],
        });
        let discussion = text(&self.anns("POST /api/discussions", &order)["discussionId"]);
        self.server.over(&self.ann, &discussion);
        let outcome = json!({ "answer": format!("{MARK}-small") });
        self.anns(&format!("POST /api/discussions/{discussion}/outcome"), &outcome);
        self.anns(&format!("POST /api/discussions/{discussion}/rating"), &json!({ "rating": 5 }));
        let session = text(&self.anns("POST /api/sessions", &json!({ "name": MARK }))["sessionId"]);
        let response = json!({ "model": "quorum", "input": topic, "quorum": { "rounds": 1 } });
        let response = text(&self.anns("POST /v1/responses", &response)["id"]);
        let workflow = json!({ "workflowId": MARK, "version": "1.0.0", "steps": [
            { "stepId": "keep", "type": "tool", "tool": "memory_store", "config": { "key": "k", "value": MARK } },
            { "stepId": "ask", "type": "prompt", "config": { "prompt": topic } },
        ] });
        let run =
            text(&self.anns("POST /api/workflows/runs", &json!({ "workflow": workflow }))["discussionId"]);
        self.server.over(&self.ann, &run);
        Owned { discussion, session, response, run }
    }

    fn possessions(&self) -> String {
        let paths = ["/api/discussions", "/api/sessions", "/api/audit", "/api/calibration?simulated=true"];
        paths
            .iter()
            .map(|path| self.server.json(&self.ann, &format!("GET {path}"), &Value::Null).body)
            .collect()
    }

    fn bobs(&self, head: &str, body: &Value) -> Answer {
        self.server.json(&self.bob, head, body)
    }

    /// Bob's request is refused, and shows nothing of Ann's.
    fn refused(&self, head: &str, body: &Value) {
        let answer = self.bobs(head, body);
        let is_safe = (400..500).contains(&answer.status) && !answer.text().contains(MARK);
        self.tally.count(is_safe, || format!("{head} with {body}: {answer:?}"));
    }

    /// Every route that takes an id, with every id of Ann's.
    fn routes(&self, owned: &Owned) {
        let document = self.bobs("GET /openapi.json", &Value::Null).json();
        let ids = [&owned.discussion, &owned.session, &owned.response, &owned.run];
        let mut routes: Vec<(String, String)> = vec![
            ("GET".to_owned(), "/d/{id}".to_owned()),
            ("GET".to_owned(), "/compare?a={id}&b={id}".to_owned()),
        ];
        for (path, methods) in document["paths"].as_object().unwrap() {
            routes.extend(methods.as_object().unwrap().keys().map(|it| (it.to_uppercase(), path.clone())));
        }
        let taking: Vec<_> = routes.iter().filter(|it| it.1.contains('{')).collect();
        assert!(taking.len() > 20, "{taking:?}");
        for (method, path) in taking {
            for id in ids {
                let start = path.find('{').unwrap();
                let parameter = &path[start..=path.find('}').unwrap()];
                let head = format!("{method} {}", path.replace(parameter, id));
                let answer = self.bobs(&head, &body(path));
                // The pages are shells that are the same for every id.
                let is_refused = method == "GET" && !path.starts_with("/api") || answer.status >= 400;
                let is_safe = is_refused && answer.status < 500 && !answer.text().contains(MARK);
                self.tally.count(is_safe, || format!("{head}: {answer:?}"));
            }
        }
    }

    /// Every tool of the Model Context Protocol whose input has an id.
    fn tools(&self, owned: &Owned) {
        let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let listed = self.bobs("POST /mcp", &message("tools/list", json!({}))).json();
        let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
        for tool in tools {
            let (name, fields) = (tool["name"].as_str().unwrap(), tool["inputSchema"]["properties"].clone());
            for field in fields.as_object().into_iter().flatten().map(|it| it.0).filter(|it| is_reference(it))
            {
                for id in [&owned.discussion, &owned.session, &owned.run] {
                    let mut arguments = json!({
                        "topic": "q", "text": "q", "at": "1/answering/claude", "action": "abort", "rounds": 1,
                        "command": "abort", "providers": ["claude", "gemini"], "maxWaitMs": 0,
                    });
                    arguments.as_object_mut().unwrap().retain(|it, _| fields.get(it).is_some());
                    let is_list = fields[field]["type"] == "array";
                    arguments[field] = if is_list { json!([id]) } else { json!(id) };
                    let answer = self.server.tool(&self.bob, name, &arguments);
                    let told = answer.json();
                    let is_error = told["result"]["isError"] == true || !told["error"].is_null();
                    let is_empty = told["result"]["structuredContent"]["discussions"] == json!([]);
                    let is_safe = (is_error || is_empty) && !answer.text().contains(MARK);
                    self.tally.count(is_safe, || format!("{name} with {arguments}: {answer:?}"));
                }
            }
        }
        for part in ["result", "transcript", "events", "state", ""] {
            for id in [&owned.discussion, &owned.run] {
                let read = message("resources/read", json!({ "uri": format!("discussion://{id}/{part}") }));
                let answer = self.bobs("POST /mcp", &read);
                let is_safe = !answer.json()["error"].is_null() && !answer.text().contains(MARK);
                self.tally.count(is_safe, || format!("resource {part}: {answer:?}"));
            }
        }
    }

    /// Fields of orders that name something else.
    fn fields(&self, owned: &Owned) {
        let order = |more: Value| {
            let mut order = json!({ "topic": "q?", "rounds": 1, "providers": ["claude", "gemini"] });
            order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            order
        };
        for id in [&owned.discussion, &owned.run] {
            for more in [
                json!({ "recall": { "from": [id] } }),
                json!({ "follows": id }),
                json!({ "follows": &id[..13] }),
            ] {
                for path in ["/api/discussions", "/api/plan"] {
                    self.refused(&format!("POST {path}"), &order(more.clone()));
                }
            }
            let previous =
                json!({ "model": "quorum", "input": "q?", "previous_response_id": format!("resp_{id}") });
            self.refused("POST /v1/responses", &previous);
        }
        self.refused("POST /api/discussions", &order(json!({ "sessionId": owned.session })));
        let previous = json!({ "model": "quorum", "input": "q?", "previous_response_id": owned.response });
        self.refused("POST /v1/responses", &previous);
        self.remembered();
    }

    /// The memory of workflows, and recall by meaning.
    fn remembered(&self) {
        let step =
            json!({ "stepId": "get", "type": "tool", "tool": "memory_retrieve", "config": { "key": "k" } });
        let workflow = json!({ "workflowId": "w", "version": "1.0.0", "steps": [step] });
        let recalling = json!({ "topic": format!("A {MARK}'s cage?"), "rounds": 1, "recall": 5, "providers": ["claude", "gemini"] });
        let orders = [
            ("/api/workflows/runs", json!({ "workflow": workflow }), MARK),
            ("/api/discussions", recalling, "-large"),
        ];
        for (path, order, secret) in orders {
            let started = self.bobs(&format!("POST {path}"), &order);
            let id =
                started.json()["discussionId"].as_str().unwrap_or_else(|| panic!("{started:?}")).to_owned();
            let result = self.server.over(&self.bob, &id).to_string();
            self.tally.count(!result.contains(secret), || format!("{path}: {result}"));
            self.bobs(&format!("DELETE /api/discussions/{id}"), &Value::Null);
        }
    }

    /// Lists, searches, figures and suggestions.
    fn lists(&self) {
        let paths = [
            "/",
            "/calibration",
            "/api/discussions",
            "/api/sessions",
            "/api/audit",
            "/metrics",
            "/v1/models",
            "/api/spending",
            "/api/calibration?simulated=true",
            "/api/discussions?q=cage",
            "/api/discussions?limit=1000",
            "/api/discussions?tenant=ann",
            "/api/sessions?tenant=ann",
            "/api/agents",
            "/api/workflows",
        ];
        for path in paths {
            let answer = self.bobs(&format!("GET {path}"), &Value::Null);
            self.tally.count(answer.status < 500 && !answer.text().contains(MARK), || {
                format!("GET {path}: {answer:?}")
            });
        }
        let headers =
            ["X-Tenant: ann", "X-Forwarded-User: ann", "X-Quorum-Tenant: ann", "Cookie: tenant=ann"];
        for header in headers {
            let headers = format!("Authorization: Bearer {}\r\n{header}\r\n", self.bob);
            let answer = self.server.ask("GET /api/discussions", &headers, "");
            self.tally.count(!answer.text().contains(MARK), || format!("{header}: {answer:?}"));
        }
    }
}

/// Whether a field of a tool names something that is there already.
fn is_reference(field: &str) -> bool {
    let field = field.to_lowercase();
    field == "id" || field.ends_with("id") || field.ends_with("ids") || field.ends_with("from")
}

/// A body that the route would accept.
fn body(path: &str) -> Value {
    match path.rsplit('/').next().unwrap() {
        "{id}" => json!({ "message": "hi", "userId": "u" }),
        "say" | "note" => json!({ "text": "hi" }),
        "ruling" => json!({ "choice": "end" }),
        "fork" => json!({ "at": "1/answering/claude" }),
        "rating" => json!({ "rating": 1 }),
        "outcome" => json!({ "answer": format!("{MARK}-large") }),
        _ => json!({}),
    }
}
