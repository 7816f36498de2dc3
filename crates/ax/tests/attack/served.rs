//! `ax serve` as a process, and requests to it, given as raw bytes where necessary.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpStream},
    process::Child,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{provider::peak, user::User};

/// A server that takes longer than this to answer is considered hung.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    /// What it wrote to its terminal.
    written: Arc<Mutex<String>>,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// The body, or the last message of a stream of events.
    pub(crate) fn json(&self) -> Value {
        let data = self.body.lines().filter_map(|it| it.strip_prefix("data: ")).next_back();
        serde_json::from_str(data.unwrap_or(&self.body)).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.head, self.body)
    }
}

impl Served {
    pub(crate) fn start(user: &User, flags: &[&str]) -> Served {
        let args: Vec<&str> = ["serve", "--port", "0"].iter().chain(flags).copied().collect();
        let mut child = user.command(&args).spawn().unwrap();
        let (written, (tell, told)) = (Arc::new(Mutex::new(String::new())), mpsc::channel());
        let (lines, kept) = (BufReader::new(child.stderr.take().unwrap()).lines(), written.clone());
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("Listening on http://") {
                    let _ = tell.send(rest.split_whitespace().next().unwrap_or_default().to_owned());
                }
                kept.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let address = told.recv_timeout(TIMEOUT).expect("the server listens");
        Served { child, address, written }
    }

    /// The answer to a request with these headers, one per line.
    pub(crate) fn ask(&self, head: &str, headers: &str, body: &str) -> Answer {
        let (address, length) = (&self.address, body.len());
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {address}\r\n")
        };
        self.raw(&format!(
            "{head} HTTP/1.1\r\n{host}Connection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// The same with JSON, for the owner of this token.
    pub(crate) fn json(&self, token: &str, head: &str, body: &Value) -> Answer {
        let accept = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25";
        let headers =
            format!("Authorization: Bearer {token}\r\nContent-Type: application/json\r\n{accept}\r\n");
        self.ask(head, &headers, &if body.is_null() { String::new() } else { body.to_string() })
    }

    /// The result of a tool of the Model Context Protocol, or its error.
    pub(crate) fn tool(&self, token: &str, name: &str, arguments: &Value) -> Answer {
        let params = json!({ "name": name, "arguments": arguments });
        self.json(
            token,
            "POST /mcp",
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }),
        )
    }

    /// Waits for the end of a discussion: its events end with it.
    pub(crate) fn over(&self, token: &str, id: &str) -> Value {
        self.json(token, &format!("GET /api/discussions/{id}/events"), &Value::Null);
        self.json(token, &format!("GET /api/discussions/{id}/result"), &Value::Null).json()
    }

    /// Sends these bytes, and reads until the server closes the connection.
    pub(crate) fn raw(&self, text: &str) -> Answer {
        let mut stream = self.connect();
        // The server may close a connection that it does not read to the end.
        let _ = stream.write_all(text.as_bytes());
        answer(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Its peak memory so far, in KiB.
    pub(crate) fn peak(&self) -> u64 {
        peak(&format!("/proc/{}/status", self.child.id())).unwrap_or(u64::MAX)
    }

    pub(crate) fn written(&self) -> String {
        self.written.lock().unwrap().clone()
    }
}

/// Reads an answer to its end.
pub(crate) fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let _ = stream.shutdown(Shutdown::Both);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
        joined(body)
    } else {
        body.to_owned()
    };
    Answer { status, head: head.to_owned(), body }
}

/// The content of a body that is sent in chunks.
fn joined(mut rest: &str) -> String {
    let mut all = String::new();
    while let Some((size, after)) = rest.split_once("\r\n")
        && let Ok(size @ 1..) = usize::from_str_radix(size.trim(), 16)
    {
        all.push_str(after.get(..size).unwrap_or(after));
        rest = after.get(size..).unwrap_or_default().trim_start_matches("\r\n");
    }
    all
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
