//! A fake vendor whose model tries to read a file with every tool that it was offered, and then
//! repeats everything it received.
//!
//! The test kit's server only supports its own tool, so this one implements the three formats
//! itself, as far as a tool call needs.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

pub(crate) struct Tempter {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Tempter {
    /// Starts a vendor that wants this file. It serves until the process ends.
    pub(crate) fn start(file: &Path) -> Tempter {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (kept, file) = (requests.clone(), file.display().to_string());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (kept, file) = (kept.clone(), file.clone());
                thread::spawn(move || serve(&client, &kept, &file));
            }
        });
        Tempter { url, requests }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// The bodies of all requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Whether a request contains the result of a tool call.
    pub(crate) fn has_results(body: &str) -> bool {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let said = [&body["messages"], &body["input"], &body["contents"]].map(Value::to_string).concat();
        let kinds = ["\"tool_result\"", "\"type\":\"function_call_output\"", "\"functionResponse\""];
        kinds.iter().any(|it| said.contains(it))
    }
}

/// Serves the requests of a connection one after the other.
fn serve(client: &TcpStream, kept: &Mutex<Vec<String>>, file: &str) {
    let mut reader = BufReader::new(client);
    while let Some((path, body)) = heard(&mut reader) {
        let (kind, answer) = answered(&path, &body, file);
        kept.lock().unwrap().push(body);
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", answer.len());
        let mut writer = client;
        if writer.write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
    }
}

fn heard(reader: &mut impl BufRead) -> Option<(String, String)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|it| *it > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|it| *it > 0)?;
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, String::from_utf8_lossy(&body).into_owned()))
}

fn answered(path: &str, body: &str, file: &str) -> (&'static str, String) {
    let request: Value = serde_json::from_str(body).unwrap_or_default();
    let tempts = !Tempter::has_results(body);
    let events = match path {
        _ if path.contains("/messages") => anthropic(&request, tempts, file),
        _ if path.ends_with("/responses") => responses(&request, tempts, file),
        _ if path.contains(":streamGenerateContent") => gemini(&request, tempts, file),
        _ => return ("application/json", "{}".to_owned()),
    };
    ("text/event-stream", events)
}

fn event(data: &Value) -> String {
    let name = data["type"].as_str().map(|it| format!("event: {it}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

fn anthropic(request: &Value, tempts: bool, file: &str) -> String {
    let shell = format!("cat {file}");
    let blocks = if tempts {
        let calls = [
            ("Bash", json!({ "command": shell, "description": "look" })),
            ("Read", json!({ "file_path": file })),
        ];
        let block = |(at, (name, input)): (usize, &(&str, Value))| {
            let start = json!({ "type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": {} });
            (start, json!({ "type": "input_json_delta", "partial_json": input.to_string() }))
        };
        calls.iter().enumerate().map(block).collect()
    } else {
        let told = request["messages"].to_string();
        vec![(json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": told }))]
    };
    let stop = if tempts { "tool_use" } else { "end_turn" };
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 9, "output_tokens": 1 } });
    let mut events = event(&json!({ "type": "message_start", "message": message }));
    for (at, (start, delta)) in blocks.iter().enumerate() {
        events += &event(&json!({ "type": "content_block_start", "index": at, "content_block": start }));
        events += &event(&json!({ "type": "content_block_delta", "index": at, "delta": delta }));
        events += &event(&json!({ "type": "content_block_stop", "index": at }));
    }
    let delta = json!({ "stop_reason": stop, "stop_sequence": null });
    events += &event(&json!({ "type": "message_delta", "delta": delta, "usage": { "output_tokens": 9 } }));
    events + &event(&json!({ "type": "message_stop" }))
}

fn responses(request: &Value, tempts: bool, file: &str) -> String {
    let shell = format!("cat {file}");
    let call = |name: &str, arguments: Value| {
        json!({ "type": "function_call", "id": format!("fc_{name}"), "call_id": format!("call_{name}"), "name": name,
            "arguments": arguments.to_string() })
    };
    let code = format!("const r = await tools.exec_command({{cmd:{shell:?}}}); text(JSON.stringify(r))");
    let items = if tempts {
        vec![
            call("shell", json!({ "command": ["bash", "-lc", shell] })),
            call("exec_command", json!({ "cmd": shell })),
            call("shell_command", json!({ "command": shell })),
            call("read_file", json!({ "file_path": file })),
            call("view_image", json!({ "path": file })),
            json!({ "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_exec", "name": "exec", "input": code }),
        ]
    } else {
        let told = request["input"].to_string();
        let text = json!([{ "type": "output_text", "text": told }]);
        vec![json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": text })]
    };
    let mut events = event(&json!({ "type": "response.created", "response": { "id": "resp_1" } }));
    for (at, item) in items.iter().enumerate() {
        events += &event(&json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
    }
    let usage = json!({ "input_tokens": 9, "output_tokens": 9, "total_tokens": 18 });
    events + &event(&json!({ "type": "response.completed", "response": { "id": "resp_1", "usage": usage } }))
}

fn gemini(request: &Value, tempts: bool, file: &str) -> String {
    let call = |name: &str, args: Value| json!({ "functionCall": { "name": name, "args": args } });
    let parts = if tempts {
        json!([
            call("read_file", json!({ "file_path": file, "absolute_path": file })),
            call("read_many_files", json!({ "include": [file] })),
            call("run_shell_command", json!({ "command": format!("cat {file}") })),
        ])
    } else {
        json!([{ "text": request["contents"].to_string() }])
    };
    let content = json!({ "role": "model", "parts": parts });
    let usage = json!({ "promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18 });
    event(
        &json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }], "usageMetadata": usage }),
    )
}
