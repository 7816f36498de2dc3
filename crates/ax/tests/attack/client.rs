//! A hostile client: requests of other sites, floods, slow and malformed requests, and small orders
//! that would cost much. Meanwhile, another client is served as always (S3, S10, S11).

use std::{
    fmt::Write as _,
    io::Write as _,
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Attack, Effort,
    served::{Answer, Served, answer},
    tally::Tally,
    user::User,
    vendor::key,
};

pub(crate) const ATTACK: Attack = Attack { name: "hostile client", run };

/// How long a request may take while others attack, on a busy machine.
const PROMPT: Duration = Duration::from_secs(5);

/// The most memory of the server in MiB after all of it.
const MOST_MEMORY: u64 = 300;

struct Scene {
    server: Served,
    token: String,
    tally: Tally,
}

fn run(effort: Effort) -> Tally {
    let token = key("client");
    let user = User::new();
    user.configure(&format!(
        "[defaults]\nsimulate = 'latency=0ms'\n[server]\ntokens = [{{ name = 'a', tenant = 'a', token = '{token}' }}]\n"
    ));
    let server = Served::start(&user, &["--offline"]);
    let scene = Scene { server, token, tally: Tally::default() };
    scene.other_sites();
    scene.malformed();
    scene.expensive();
    scene.slow(if effort == Effort::Short { 100 } else { 1_000 });
    scene.many(if effort == Effort::Short { 300 } else { 3_000 });
    let (memory, written) = (scene.server.peak() >> 10, scene.server.written());
    scene.tally.count(memory < MOST_MEMORY, || format!("the server took {memory} MiB"));
    scene.tally.count(!written.contains("panicked"), || written.clone());
    scene.tally
}

impl Scene {
    /// Counts a try; another client must be served as always right after it.
    fn withstood(&self, what: &str, answer: &Answer, is_withstood: bool) {
        self.tally.count(is_withstood, || format!("{what}: {answer:?}"));
        self.serves(what);
    }

    fn serves(&self, after: &str) {
        let began = Instant::now();
        let alive = self.server.ask("GET /healthz", "", "");
        let took = began.elapsed();
        if alive.status != 200 || PROMPT < took {
            self.tally.count(false, || format!("after {after}, another client got {alive:?} in {took:.1?}"));
        }
    }

    /// Every route, called as a page of another site would, or under another name.
    fn other_sites(&self) {
        let document = self.server.json(&self.token, "GET /openapi.json", &Value::Null).json();
        let own = format!("Authorization: Bearer {}\r\n", self.token);
        let typed = "Content-Type: application/json\r\n";
        let cases = [
            (format!("{own}{typed}Host: evil.example\r\n"), 421),
            (format!("{own}{typed}Host: 127.0.0.1.nip.io\r\n"), 421),
            (format!("{own}{typed}Host: localhost.evil.example\r\n"), 421),
            (format!("{own}{typed}Origin: https://evil.example\r\n"), 403),
            (format!("{own}{typed}Origin: null\r\n"), 403),
            (format!("{own}{typed}Origin: http://127.0.0.1:1\r\n"), 403),
            (format!("{own}{typed}Origin: http://localhost@evil.example\r\n"), 403),
            (format!("{own}{typed}Sec-Fetch-Site: cross-site\r\n"), 403),
            (format!("{own}{typed}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403),
            (typed.to_owned(), 401),
            (format!("{typed}Authorization: Bearer {}x\r\n", self.token), 401),
            (format!("{typed}Cookie: token={0}\r\nX-Token: {0}\r\n", self.token), 401),
        ];
        let mut routes = vec![("POST".to_owned(), "/mcp".to_owned())];
        for (path, methods) in document["paths"].as_object().unwrap() {
            routes.extend(methods.as_object().unwrap().keys().map(|it| (it.to_uppercase(), path.clone())));
        }
        for (method, path) in routes {
            let is_open = matches!(path.as_str(), "/healthz" | "/readyz");
            for (headers, status) in &cases {
                let answer = self.server.ask(&format!("{method} {path}"), headers, "{}");
                let expected = if is_open && *status == 401 { 200 } else { *status };
                let is_withstood =
                    answer.status == expected && !answer.head.contains("access-control-allow-origin");
                self.tally.count(is_withstood, || format!("{method} {path} with {headers}: {answer:?}"));
            }
        }
    }

    /// Requests that break the protocol or its limits.
    fn malformed(&self) {
        let (own, host) = (
            format!("Authorization: Bearer {}\r\n", self.token),
            format!("Host: {}\r\n", self.server.address),
        );
        let post = format!("POST /api/discussions HTTP/1.1\r\n{host}{own}Content-Type: application/json\r\n");
        let mut many = String::new();
        (0..5_000).for_each(|it| write!(many, "X-{it}: y\r\n").unwrap());
        let cases = [
            ("a head of 64 KiB", format!("GET / HTTP/1.1\r\n{host}x: {}\r\n\r\n", "y".repeat(64 << 10))),
            ("5,000 headers", format!("GET / HTTP/1.1\r\n{host}{many}\r\n")),
            ("a path of 64 KiB", format!("GET /{} HTTP/1.1\r\n{host}\r\n", "a".repeat(64 << 10))),
            ("a body of 3 MiB", format!("{post}Content-Length: 3145728\r\n\r\n{}", " ".repeat(3 << 20))),
            ("a body said to be endless", format!("{post}Content-Length: 18446744073709551615\r\n\r\n{{")),
            ("a negative length", format!("{post}Content-Length: -1\r\n\r\n{{}}")),
            ("two lengths", format!("{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}")),
            (
                "a length and chunks",
                format!(
                    "{post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"
                ),
            ),
            ("odd chunks", format!("{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n0\r\n\r\n")),
            ("unknown encoding", format!("{post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")),
            ("a header with a NUL", format!("GET / HTTP/1.1\r\n{host}x: a\0b\r\n\r\n")),
            ("a folded header", format!("GET / HTTP/1.1\r\n{host}x: a\r\n b\r\n\r\n")),
            ("a space before the colon", format!("GET / HTTP/1.1\r\n{host}x : a\r\n\r\n")),
            ("two hosts", format!("GET /api/discussions HTTP/1.1\r\n{host}Host: evil.example\r\n{own}\r\n")),
            ("no host", format!("GET /api/discussions HTTP/1.1\r\n{own}\r\n")),
            (
                "another host in the path",
                format!("GET http://evil.example/api/discussions HTTP/1.1\r\n{host}{own}\r\n"),
            ),
            ("no such method", format!("FROB /api/discussions HTTP/1.1\r\n{host}{own}\r\n")),
            ("CONNECT", format!("CONNECT evil.example:443 HTTP/1.1\r\n{host}{own}\r\n")),
            ("TRACE", format!("TRACE / HTTP/1.1\r\n{host}{own}\r\n")),
            ("HTTP/0.9", "GET /\r\n".to_owned()),
            ("HTTP/9", format!("GET / HTTP/9.9\r\n{host}\r\n")),
            ("TLS", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".to_owned()),
            ("nonsense", "\r\n\r\n\0\0\0\u{7f}ELF".to_owned()),
            (
                "a path upwards",
                format!(
                    "GET /assets/..%2f..%2fetc%2fpasswd HTTP/1.1\r\n{host}Connection: close\r\n{own}\r\n"
                ),
            ),
            (
                "a raw path upwards",
                format!("GET /../../etc/passwd HTTP/1.1\r\n{host}Connection: close\r\n{own}\r\n"),
            ),
        ];
        for (what, bytes) in cases {
            let began = Instant::now();
            let answer = self.cut_off(&bytes);
            let is_served = (200..400).contains(&answer.status);
            let is_withstood = !is_served && answer.status < 500 && began.elapsed() < Duration::from_secs(30);
            self.withstood(what, &answer, is_withstood || answer.status == 505);
        }
    }

    /// Sends these bytes, then nothing more.
    fn cut_off(&self, bytes: &str) -> Answer {
        let mut stream = self.server.connect();
        let _ = stream.write_all(bytes.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        answer(stream)
    }

    /// Small orders that would cost much, and bombs: refused, or done in no time.
    fn expensive(&self) {
        let order = |more: Value| {
            let mut order = json!({ "topic": "q?", "rounds": 1, "providers": ["claude", "gemini"] });
            order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            order.to_string()
        };
        let step = |it: Value| {
            json!({ "workflow": { "workflowId": "w", "version": "1.0.0", "steps": [it] } }).to_string()
        };
        let prompt = json!({ "stepId": "p", "type": "prompt", "config": { "prompt": "{{item}}" } });
        let looped = |items: Value| {
            step(json!({ "stepId": "l", "type": "loop", "config": { "items": items, "steps": [prompt] } }))
        };
        let aliases = (1..40).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, it| {
            format!("{text}a{it}: &a{it} [*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0}]\n", it - 1)
        });
        let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
        let names: Vec<String> = (0..50_000).map(|it| format!("p{it}")).collect();
        let orders = "/api/discussions";
        let runs = "/api/workflows/runs";
        let cases = [
            (orders, order(json!({ "rounds": 4_000_000_000_u64 }))),
            (orders, order(json!({ "rounds": -1 }))),
            (orders, order(json!({ "rounds": 1e308 }))),
            (orders, order(json!({ "providers": names }))),
            (orders, order(json!({ "participants": vec!["claude"; 50_000] }))),
            (orders, order(json!({ "votingOptions": names, "pattern": "voting" }))),
            (orders, order(json!({ "topic": "q".repeat(1_500_000) }))),
            (orders, order(json!({ "context": "q".repeat(1_900_000) }))),
            (orders, order(json!({ "simulate": { "latencyMs": u64::MAX } }))),
            (orders, order(json!({ "timeoutMs": u64::MAX }))),
            (orders, order(json!({ "maxDepth": 1_000_000, "recursive": true }))),
            (orders, order(json!({ "seed": -1 }))),
            (orders, deep("[", "]")),
            (orders, deep("{\"a\":", "}")),
            (orders, format!("{{\"topic\":{}}}", deep("[", "]"))),
            (orders, format!("{{\"topic\":\"q?\",\"rounds\":{}}}", "9".repeat(500_000))),
            (orders, format!("[{}]", "{},".repeat(500_000))),
            ("/api/plan", order(json!({ "rounds": 4_000_000_000_u64 }))),
            ("/api/plan", order(json!({ "providers": names }))),
            (runs, looped(json!(vec!["x"; 100_000]))),
            (runs, looped(json!(names))),
            (runs, step(json!({ "stepId": "d", "type": "delay", "config": { "ms": u64::MAX } }))),
            (runs, json!({ "workflow": aliases }).to_string()),
            (runs, json!({ "workflow": format!("steps: {}", deep("[", "]")) }).to_string()),
            (runs, json!({ "workflow": "a: !!binary ".to_owned() + &"x".repeat(200_000) }).to_string()),
            ("/v1/chat/completions", json!({ "model": "quorum", "n": 1_000_000, "messages": [{ "role": "user", "content": "q" }] }).to_string()),
            ("/v1/chat/completions", json!({ "model": "quorum", "messages": vec![json!({ "role": "user", "content": "q" }); 40_000] }).to_string()),
            ("/v1/chat/completions", json!({ "model": "quorum", "messages": [] }).to_string()),
            ("/v1/responses", json!({ "model": "quorum", "input": vec![json!({ "role": "user", "content": "q" }); 40_000] }).to_string()),
            ("/v1/messages", json!({ "model": "quorum", "max_tokens": u64::MAX, "messages": [{ "role": "user", "content": "" }] }).to_string()),
            ("/mcp", format!("[{}{{}}]", "{},".repeat(500_000))),
            ("/mcp", deep("[", "]")),
            ("/api/sessions", json!({ "name": "n".repeat(1_000_000) }).to_string()),
        ];
        for (path, body) in cases {
            let began = Instant::now();
            let headers = format!(
                "Authorization: Bearer {}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
                self.token
            );
            let answer = self.server.ask(&format!("POST {path}"), &headers, &body);
            let is_withstood = (400..500).contains(&answer.status)
                && began.elapsed() < PROMPT
                && answer.body.len() < 16 << 10;
            let shown: String = body.chars().take(120).collect();
            self.withstood(&format!("{path} with {shown}"), &answer, is_withstood);
        }
    }

    /// Connections that send a byte now and then, or nothing: others are served meanwhile, and each
    /// is given up in the end.
    fn slow(&self, count: usize) {
        let (token, host) = (&self.token, &self.server.address);
        let heads = [
            String::new(),
            "GET / HTTP/1.1\r\nHost: loc".to_owned(),
            format!(
                "POST /api/discussions HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
            ),
            format!(
                "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n"
            ),
        ];
        let held: Vec<TcpStream> = (0..count)
            .map(|it| {
                let mut stream = self.server.connect();
                let _ = stream.write_all(heads[it % heads.len()].as_bytes());
                stream
            })
            .collect();
        (0..10).for_each(|_| self.serves("slow requests"));
        for (number, stream) in held.into_iter().enumerate() {
            let answer = answer(stream);
            let is_withstood = matches!(answer.status, 0 | 400 | 408);
            self.tally.count(is_withstood, || format!("slow request {number}: {answer:?}"));
        }
    }

    /// Many requests at once: some are refused with 429, and the health check isn't.
    fn many(&self, count: usize) {
        let began = Instant::now();
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let ask = || {
                (0..count / 8)
                    .map(|_| self.server.json(&self.token, "GET /api/discussions", &Value::Null).status)
                    .collect::<Vec<_>>()
            };
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            asking.into_iter().flat_map(|it| it.join().unwrap()).collect()
        });
        for status in statuses {
            self.tally.count(matches!(status, 200 | 429), || {
                format!("a flood got {status} after {:.1?}", began.elapsed())
            });
        }
        self.serves("a flood");
    }
}
