//! `ax mcp` as a process: clean output, kills, signals, and entries for clients.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::desk::Desk;

/// A client of `ax mcp`.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn of(desk: &Desk) -> Client {
        let mut command = desk.command(&["mcp", "--offline"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, input, output, last: 0 };
        let about = json!({ "name": "a test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about });
        client.request("initialize", &hello);
        client
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        self.last
    }

    /// The answer to this request. Every line on standard output must be a message.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "it has closed");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == id {
                return message;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        answer["result"]["structuredContent"].clone()
    }

    /// Ends the input, and returns how long it took to leave.
    fn hang_up(mut self) -> Duration {
        let began = Instant::now();
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
        began.elapsed()
    }
}

fn slow() -> Value {
    json!({
        "topic": "Tabs or spaces?", "pattern": "round-robin", "rounds": 2, "providers": ["claude", "gemini"],
        "simulate": { "latencyMs": 300 }, "maxWaitMs": 0,
    })
}

#[test]
fn b10_nothing_but_messages_is_on_standard_output_with_the_log_on() {
    let desk = Desk::new().with("AX_LOG", "json");
    let mut client = Client::of(&desk);
    let done = client.call("ax_discuss", &json!({ "topic": "Tabs or spaces?", "rounds": 1 }));
    assert_eq!(done["status"], "completed", "{done}");
    let audit = desk.ax(&["show", done["discussionId"].as_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(audit["synthesis"], done["synthesis"]);
    client.hang_up();
}

#[test]
fn b10_a_killed_process_loses_nothing_and_the_next_one_goes_on() {
    let desk = Desk::new();
    let mut client = Client::of(&desk);
    let id = client.call("ax_discuss", &slow())["discussionId"].clone();
    let spoken = |client: &mut Client| client.call("ax_status", &json!({ "id": id }))["round"].clone();
    while spoken(&mut client) == 0 {}
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let mut next = Client::of(&desk);
    let mut told = next.call("ax_result", &json!({ "id": id }));
    while told["status"] == "running" {
        told = next.call("ax_result", &json!({ "id": id }));
    }
    assert_eq!(told["status"], "completed", "{told}");
    let whole = next.call("ax_result", &json!({ "id": id, "fullOutput": true }));
    // Only the call that was under way may have been made again.
    assert!(whole["integrity"]["repeatedCalls"].as_u64() <= Some(1), "{whole}");
    assert_eq!(whole["rounds"].as_array().map(Vec::len), Some(2), "{whole}");
    next.hang_up();
}

#[test]
fn b10_it_leaves_within_five_seconds_and_aborts_nothing() {
    let desk = Desk::new();
    let mut client = Client::of(&desk);
    let id = client.call("ax_discuss", &slow())["discussionId"].as_str().unwrap().to_owned();
    assert!(client.hang_up() < Duration::from_secs(5));
    let status = desk.ax(&["show", &id, "--json"]).ends(0).json()["status"].clone();
    assert!(status != "aborted" && status != "error", "{status}");
    let mut client = Client::of(&desk);
    client.call("ax_discuss", &slow());
    let pid = client.child.id().to_string();
    let began = Instant::now();
    assert!(desk.program("kill", &["-TERM", &pid]).status().unwrap().success());
    assert!(client.child.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn b10_tools_have_the_prefix_of_the_environment() {
    let names = |prefix: &str| {
        let desk = Desk::new().with("AX_MCP_TOOL_PREFIX", prefix);
        let listed = Client::of(&desk).request("tools/list", &json!({}));
        listed["result"]["tools"][0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!([names("panel"), names("")], ["panel_discuss", "discuss"]);
    let desk = Desk::new().with("AX_MCP_TOOL_PREFIX", "a b");
    desk.ax(&["mcp"]).ends(2).says(&["AX_MCP_TOOL_PREFIX", "\"a b\""]).prints_nothing();
    desk.ax(&["serve", "--port", "0"]).ends(2).says(&["AX_MCP_TOOL_PREFIX"]);
}

#[test]
fn b10_every_client_s_entry_is_printed_and_added_once() {
    let desk = Desk::new();
    for (client, file) in [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
    ] {
        let printed = desk.ax(&["mcp", "install", client]).ends(0).says(&[file]);
        let file = desk.home().join(file);
        assert!(!file.exists(), "{client}: printing writes nothing");
        desk.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["Added to"]).prints_nothing();
        assert_eq!(fs::read_to_string(&file).unwrap(), printed.out, "{client}");
        assert!(printed.out.contains("\"mcp\"") && printed.out.contains(env!("CARGO_BIN_EXE_ax")));
        desk.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["has the entry already"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), printed.out, "{client}");
    }
}

#[test]
fn b10_an_existing_file_keeps_its_comments_and_a_copy_and_an_unreadable_one_is_left_alone() {
    let desk = Desk::new();
    let file = desk.home().join(".gemini/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    fs::write(&file, before).unwrap();
    desk.ax(&["mcp", "install", "gemini", "--write"]).ends(0).says(&["settings.json.before-ax-1"]);
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with("{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {"), "{after}");
    assert_eq!(fs::read_to_string(file.with_file_name("settings.json.before-ax-1")).unwrap(), before);
    for broken in ["{ \"theme\": ", "\u{0}\u{1}"] {
        fs::write(&file, broken).unwrap();
        let said = desk.ax(&["mcp", "install", "gemini", "--write"]).ends(3);
        let said = said.says(&["is not readable as JSON", "nothing was changed"]);
        assert!(said.out.contains("mcpServers"), "the entry is printed");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    desk.ax(&["mcp", "install", "gemini", "--write"]).ends(3).says(&["can't be read"]);
    let codex = desk.home().join(".codex/config.toml");
    fs::create_dir_all(codex.parent().unwrap()).unwrap();
    fs::write(&codex, "[mcp_servers\n").unwrap();
    desk.ax(&["mcp", "install", "codex", "--write"]).ends(3).says(&["is not readable as TOML"]);
}
