//! Processor time for every field of every body and every query parameter.

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::measure::{Folder, TIMES, shortest, time_of};

/// The sizes of a body in bytes, the second four times the first.
const SIZES: [usize; 2] = [128 << 10, 512 << 10];

/// The sizes of a query string in bytes. The head of a request may have 32 KiB.
const QUERIES: [usize; 2] = [4 << 10, 16 << 10];

/// A fixed allowance in addition to the proportional one: looking up a discussion, wording a
/// refusal, waking threads.
const FIXED: Duration = Duration::from_millis(2);

/// The longest refusal in bytes.
const LONGEST_ANSWER: usize = 16 << 10;

struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Folder) -> Server {
        let mut child =
            folder.ax().args(["serve", "--port", "0", "--offline"]).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.find(|it| it.as_ref().unwrap().contains("Listening on http://")).unwrap().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let address = line.split_once("http://").unwrap().1.split_whitespace().next().unwrap().to_owned();
        Server { child, address }
    }

    /// The response, head and body, and the processor time the server took for it.
    fn ask(&self, head: &str, kind: &str, body: &[u8]) -> (String, Duration) {
        let before = time_of(self.child.id());
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let (address, close) = (&self.address, "Connection: close");
        write!(
            stream,
            "{head} HTTP/1.1\r\nHost: {address}\r\n{close}\r\n{kind}Content-Length: {length}\r\n\r\n"
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer, time_of(self.child.id()).saturating_sub(before))
    }

    fn json(&self, head: &str, body: &str) -> Value {
        let (answer, _) = self.ask(head, "Content-Type: application/json\r\n", body.as_bytes());
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The shortest time the server takes for this, and the length of its response.
    fn cost(&self, head: &str, kind: &str, body: &[u8]) -> (Duration, usize) {
        let asked = (0..3).map(|_| self.ask(head, kind, body));
        asked.map(|(answer, time)| (time, answer.len())).min().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The fields of a schema, each as a path of keys.
fn fields(schema: &Value, definitions: &Value, path: &[String], found: &mut Vec<Vec<String>>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return fields(&definitions[name], definitions, path, found);
    }
    for several in ["allOf", "anyOf", "oneOf"] {
        let alternatives = schema[several].as_array().into_iter().flatten();
        alternatives.for_each(|it| fields(it, definitions, path, found));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        fields(field, definitions, &path, found);
        found.push(path);
    }
}

/// Values of about this many bytes in JSON.
fn values(size: usize) -> [(&'static str, String); 5] {
    let distinct = |entry: &dyn Fn(&mut String, usize)| {
        let mut text = String::new();
        (0..).take_while(|_| true).find(|it| {
            entry(&mut text, *it);
            size <= text.len()
        });
        text.pop();
        text
    };
    [
        ("a text", format!("\"{}\"", "a".repeat(size))),
        ("a list of one text", format!("[{}\"a\"]", "\"a\",".repeat(size / 4))),
        ("a list of texts", format!("[{}]", distinct(&|text, it| write!(text, "\"n{it}\",").unwrap()))),
        ("an object", format!("{{{}}}", distinct(&|text, it| write!(text, "\"n{it}\":\"r{it}\",").unwrap()))),
        ("a list of lists", format!("[{}[]]", "[[],[]],".repeat(size / 8))),
    ]
}

/// The example body with this value at this path.
fn body(example: &Value, path: &[String], value: &str) -> String {
    let mut body = if example.is_object() { example.clone() } else { json!({}) };
    let (last, outer) = path.split_last().unwrap();
    let mut at = &mut body;
    for key in outer {
        if !at[key].is_object() {
            at[key] = json!({});
        }
        at = &mut at[key];
    }
    at[last] = json!("\u{1}");
    body.to_string().replace("\"\\u0001\"", value)
}

/// Every operation with its method and path.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of = |(path, methods): (&String, &'_ Value)| {
        let methods = methods.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        methods.into_iter().map(|method| (method, path.clone())).collect::<Vec<_>>()
    };
    let all = paths.flat_map(of);
    all.map(|(method, path)| {
        let operation = &document["paths"][&path][&method];
        (method.to_uppercase(), path, operation)
    })
    .collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn the_work_for_every_field_of_every_route_is_in_proportion_to_its_size() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    let document = server.json("GET /openapi.json", "");
    let id = server.json("POST /api/discussions", r#"{"topic":"Tabs or spaces?","rounds":1}"#);
    let id = id["discussionId"].as_str().unwrap().to_owned();
    let typed = "Content-Type: application/json\r\n";
    // A body without a content type is received and refused unparsed.
    let received = SIZES.map(|size| server.cost("POST /api/plan", "", &vec![b' '; size]).0);
    let (mut measured, mut wrong) = (0, Vec::new());
    for (method, path, operation) in operations(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let definitions = &document["components"]["schemas"];
        let mut all = Vec::new();
        fields(&content["schema"], definitions, &[], &mut all);
        let name =
            content["schema"]["$ref"].as_str().and_then(|it| it.rsplit('/').next()).unwrap_or_default();
        let example = &definitions[name]["examples"][0];
        let example = if example.is_null() { &definitions[name]["example"] } else { example };
        let head = format!("{method} {}", path.replace("{id}", &id));
        for field in all {
            for kind in 0..values(0).len() {
                for (size, received) in SIZES.into_iter().zip(received) {
                    let (what, value) = &values(size)[kind];
                    let body = body(example, &field, value);
                    let parsing = shortest(|| drop(serde_json::from_str::<Value>(&body).unwrap()));
                    let (spent, answered) = server.cost(&head, typed, body.as_bytes());
                    let most = received + parsing * TIMES + FIXED;
                    measured += 1;
                    if most < spent || LONGEST_ANSWER < answered {
                        let field = field.join(".");
                        wrong.push(format!(
                            "{method} {path} {field}, {what} of {size} bytes: {spent:?}, {most:?} is the most; \
                             answered with {answered} bytes"
                        ));
                    }
                }
            }
        }
    }
    println!("{measured} bodies measured");
    assert!(measured > 1_000, "only {measured} bodies");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
#[cfg_attr(debug_assertions, ignore = "times of release builds are measured: cargo xtask bounds")]
fn the_work_for_every_parameter_is_in_proportion_to_its_size() {
    let folder = Folder::new();
    let server = Server::start(&folder);
    let document = server.json("GET /openapi.json", "");
    let id = server.json("POST /api/discussions", r#"{"topic":"Tabs or spaces?","rounds":1}"#);
    let id = id["discussionId"].as_str().unwrap().to_owned();
    let mut wrong = Vec::new();
    for (method, path, operation) in operations(&document) {
        let place = path.replace("{id}", &id);
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            for size in QUERIES {
                let (words, word) = ("tab%20".repeat(size / 6), "a".repeat(size));
                for value in [words, word] {
                    let (head, header) = match parameter["in"].as_str().unwrap() {
                        "query" => (format!("{method} {place}?{name}={value}"), String::new()),
                        "path" => (
                            format!("{method} {}", path.replace(&format!("{{{name}}}"), &value)),
                            String::new(),
                        ),
                        _ => (format!("{method} {place}"), format!("{name}: {value}\r\n")),
                    };
                    let (spent, answered) = server.cost(&head, &header, b"");
                    if FIXED < spent || LONGEST_ANSWER < answered {
                        wrong.push(format!(
                            "{method} {path} {name} of {size} bytes: {spent:?}, {answered} bytes"
                        ));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
