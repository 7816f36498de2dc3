//! `ax mcp` as a process: clean output, kills, signals, and entries for clients.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::{Duration, Instant},
};

use quorum_testkit::server::{End, Server, server};
use serde_json::{Value, json};

use crate::user::User;

/// A client of `ax mcp`.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    /// A client of a server with simulated voices.
    fn of(user: &User) -> Client {
        Client::with(user, &["mcp", "--offline"])
    }

    fn with(user: &User, args: &[&str]) -> Client {
        let mut command = user.command(args);
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
    let user = User::new().with("AX_LOG", "json");
    let mut client = Client::of(&user);
    let done = client.call("ax_discuss", &json!({ "topic": "Tabs or spaces?", "rounds": 1 }));
    assert_eq!(done["status"], "completed", "{done}");
    let audit = user.ax(&["show", done["discussionId"].as_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(audit["synthesis"], done["synthesis"]);
    client.hang_up();
}

#[test]
fn b10_a_killed_process_loses_nothing_and_the_next_one_goes_on() {
    let user = User::new();
    let mut client = Client::of(&user);
    let id = client.call("ax_discuss", &slow())["discussionId"].clone();
    let spoken = |client: &mut Client| client.call("ax_status", &json!({ "id": id }))["round"].clone();
    while spoken(&mut client) == 0 {}
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    let mut next = Client::of(&user);
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

/// How often the vendor was asked for an answer of this model, and how often it gave it.
fn calls(vendor: &Server, model: &str) -> (usize, usize) {
    let requests = vendor.requests();
    let of_model: Vec<_> =
        requests.iter().filter(|it| it.asked().is_some_and(|it| it.model == model)).collect();
    (of_model.len(), of_model.iter().filter(|it| it.end() == End::Complete).count())
}

#[test]
fn b10_a_killed_process_repeats_no_call_that_the_vendor_has_answered() {
    let vendor = server().takes("alpha-1", 20, 0, 1).takes("beta-1", 1_500, 0, 1).on_thread();
    let user = User::new();
    let row = |name: &str| {
        let base = format!("{}/v1", vendor.url());
        format!("[providers.{name}]\nwire = 'openai-chat'\nbase_url = '{base}'\nmodel = '{name}-1'\n")
    };
    user.configure(&(row("alpha") + &row("beta")));
    let mut client = Client::with(&user, &["mcp"]);
    let order = json!({
        "topic": "Tabs or spaces?", "rounds": 1, "providers": ["alpha", "beta"], "maxWaitMs": 0,
    });
    let id = json!({ "id": client.call("ax_discuss", &order)["discussionId"] });
    // The first answer is recorded, the second is under way.
    while client.call("ax_status", &id)["speakersDone"] != json!(["alpha"]) {}
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    assert_eq!([calls(&vendor, "alpha-1"), calls(&vendor, "beta-1")], [(1, 1), (1, 0)]);
    let mut next = Client::with(&user, &["mcp"]);
    let mut told = next.call("ax_result", &id);
    while told["status"] == "running" {
        told = next.call("ax_result", &id);
    }
    assert_eq!(told["status"], "completed", "{told}");
    // One answer of each, the synthesis by the first, and the call that was under way once more.
    assert_eq!([calls(&vendor, "alpha-1"), calls(&vendor, "beta-1")], [(2, 2), (2, 1)]);
    next.hang_up();
}

#[test]
fn b10_the_process_exits_within_five_seconds_and_aborts_nothing() {
    let user = User::new();
    let mut client = Client::of(&user);
    let id = client.call("ax_discuss", &slow())["discussionId"].as_str().unwrap().to_owned();
    assert!(client.hang_up() < Duration::from_secs(5));
    let status = user.ax(&["show", &id, "--json"]).ends(0).json()["status"].clone();
    assert!(status != "aborted" && status != "error", "{status}");
    let mut client = Client::of(&user);
    client.call("ax_discuss", &slow());
    let pid = client.child.id().to_string();
    let began = Instant::now();
    assert!(user.program("kill", &["-TERM", &pid]).status().unwrap().success());
    assert!(client.child.wait().unwrap().success());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn b10_tools_have_the_prefix_of_the_environment() {
    let names = |prefix: &str| {
        let user = User::new().with("AX_MCP_TOOL_PREFIX", prefix);
        let listed = Client::of(&user).request("tools/list", &json!({}));
        listed["result"]["tools"][0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!([names("panel"), names("")], ["panel_discuss", "discuss"]);
    let user = User::new().with("AX_MCP_TOOL_PREFIX", "a b");
    user.ax(&["mcp"]).ends(2).says(&["AX_MCP_TOOL_PREFIX", "\"a b\""]).prints_nothing();
    user.ax(&["serve", "--port", "0"]).ends(2).says(&["AX_MCP_TOOL_PREFIX"]);
}

#[test]
fn b10_every_client_s_entry_is_printed_and_added_once() {
    let user = User::new();
    for (client, file) in [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("vscode", ".vscode/mcp.json"),
        ("cursor", ".cursor/mcp.json"),
    ] {
        let printed = user.ax(&["mcp", "install", client]).ends(0).says(&[file]);
        let file = user.home().join(file);
        assert!(!file.exists(), "{client}: printing writes nothing");
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["Added to"]).prints_nothing();
        assert_eq!(fs::read_to_string(&file).unwrap(), printed.out, "{client}");
        assert!(printed.out.contains("\"mcp\"") && printed.out.contains(env!("CARGO_BIN_EXE_ax")));
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["has the entry already"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), printed.out, "{client}");
    }
}

#[test]
fn b10_an_existing_file_keeps_its_comments_and_a_copy_and_an_unreadable_one_is_left_alone() {
    let user = User::new();
    let file = user.home().join(".gemini/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";
    fs::write(&file, before).unwrap();
    user.ax(&["mcp", "install", "gemini", "--write"]).ends(0).says(&["settings.json.before-ax-1"]);
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.starts_with("{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {"), "{after}");
    assert_eq!(fs::read_to_string(file.with_file_name("settings.json.before-ax-1")).unwrap(), before);
    for broken in ["{ \"theme\": ", "\u{0}\u{1}"] {
        fs::write(&file, broken).unwrap();
        let said = user.ax(&["mcp", "install", "gemini", "--write"]).ends(3);
        let said = said.says(&["is not readable as JSON", "nothing was changed"]);
        assert!(said.out.contains("mcpServers"), "the entry is printed");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
    fs::write(&file, [0xff, 0xfe]).unwrap();
    user.ax(&["mcp", "install", "gemini", "--write"]).ends(3).says(&["can't be read"]);
    let codex = user.home().join(".codex/config.toml");
    fs::create_dir_all(codex.parent().unwrap()).unwrap();
    fs::write(&codex, "[mcp_servers\n").unwrap();
    user.ax(&["mcp", "install", "codex", "--write"]).ends(3).says(&["is not readable as TOML"]);
}

/// A file of each client as a user may have written it, with comments.
const WRITTEN: &[(&str, &str, &str)] = &[
    ("claude", ".claude.json", "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {}, // its\n  },\n}\n"),
    ("codex", ".codex/config.toml", "# mine\nmodel = \"x\" # why\n\n[mcp_servers.other]\ncommand = \"o\"\n"),
    ("gemini", ".gemini/settings.json", "{ /* mine */ }\n"),
    ("vscode", ".vscode/mcp.json", "// mine\n{\n\t\"inputs\": [],\n\t\"servers\": {}\n}\n"),
    (
        "cursor",
        ".cursor/mcp.json",
        "{ \"mcpServers\": { \"other\": { \"url\": \"http://x//y\" } } } // mine\n",
    ),
];

#[test]
fn b10_every_client_s_commented_file_is_added_to_through_a_link_once_and_not_if_it_is_broken() {
    let user = User::new();
    for (client, name, written) in WRITTEN {
        let (link, file) = (user.home().join(name), user.home().join(format!("dotfiles/{client}")));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, written).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["Added to", "before-ax-1"]);
        let added = fs::read_to_string(&file).unwrap();
        assert!(link.is_symlink(), "{client}: a link stays a link");
        assert!(added.contains("mine") && added.contains("quorum"), "{client}: {added}");
        // Everything that was written is still there, in its order.
        let mut rest = added.as_str();
        for word in written.split_whitespace().map(|it| it.trim_end_matches(['}', ',', '{'])) {
            rest = rest.split_once(word).unwrap_or_else(|| panic!("{client}: {word} is gone: {added}")).1;
        }
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["has the entry already"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), added, "{client}");
        let broken = format!("{written}]");
        fs::write(&file, &broken).unwrap();
        let said = user.ax(&["mcp", "install", client, "--write"]).ends(3).says(&["nothing was changed"]);
        assert!(said.out.contains("\"mcp\""), "{client}: the entry is printed: {said:#?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), broken, "{client}");
    }
}

#[test]
fn b10_a_file_with_crlf_got_lines_with_other_ends() {
    let user = User::new();
    for (client, name, written) in WRITTEN {
        let file = user.home().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, written.replace('\n', "\r\n")).unwrap();
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["Added to"]);
        let added = fs::read_to_string(&file).unwrap();
        assert_eq!(added.matches('\n').count(), added.matches("\r\n").count(), "{client}: {added:?}");
        assert!(added.contains("quorum"), "{client}: {added}");
        user.ax(&["mcp", "install", client, "--write"]).ends(0).says(&["has the entry already"]);
    }
}

#[test]
fn b10_the_folder_of_claude_code_s_own_variable_is_used() {
    let user = User::new();
    let folder = user.home().join("claude");
    let user = user.with("CLAUDE_CONFIG_DIR", folder.to_str().unwrap());
    user.ax(&["mcp", "install", "claude", "--write"]).ends(0).says(&["Added to"]);
    assert!(fs::read_to_string(folder.join(".claude.json")).unwrap().contains("quorum"));
    assert!(!user.home().join(".claude.json").exists());
}

#[test]
fn b10_a_link_to_a_file_that_is_not_there_yet_stays_a_link() {
    let user = User::new();
    let link = user.home().join(".claude.json");
    std::os::unix::fs::symlink("dotfiles/claude.json", &link).unwrap();
    user.ax(&["mcp", "install", "claude", "--write"]).ends(0).says(&["Added to"]);
    assert!(link.is_symlink());
    assert!(fs::read_to_string(user.home().join("dotfiles/claude.json")).unwrap().contains("quorum"));
}
