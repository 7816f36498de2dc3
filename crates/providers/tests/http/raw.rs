//! A server that sends exactly the bytes a test gives it, with pauses where the test wants them.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A part of a response.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Bytes(String),
    Pause(Duration),
}

/// The response to a request line and the request's number.
pub(crate) type Says = fn(&str, usize) -> Vec<Part>;

/// A server that records the request lines it receives.
pub(crate) struct Raw {
    pub(crate) url: String,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Raw {
    pub(crate) fn start(says: Says) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let heard = lines.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let heard = heard.clone();
                thread::spawn(move || answer(stream.unwrap(), says, &heard));
            }
        });
        Raw { url, lines }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

/// Answers one request per connection.
fn answer(mut stream: TcpStream, says: Says, heard: &Mutex<Vec<String>>) {
    let Some(line) = request(&stream) else { return };
    let number = {
        let mut heard = heard.lock().unwrap();
        heard.push(line.clone());
        heard.len()
    };
    for part in says(&line, number) {
        match part {
            // A client that has disconnected needs no more.
            Part::Bytes(bytes) if stream.write_all(bytes.as_bytes()).is_err() => return,
            Part::Bytes(_) => {}
            // It sleeps because a slow server is what is tested.
            Part::Pause(time) => thread::sleep(time),
        }
    }
}

/// Reads a request to its end and returns its first line.
fn request(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    std::io::copy(&mut reader.take(length), &mut std::io::sink()).ok()?;
    let words: Vec<&str> = first.split_whitespace().take(2).collect();
    Some(words.join(" "))
}

/// A response that ends with its connection.
pub(crate) fn stream(body: &str) -> Part {
    with_head("200 OK", "content-type: text/event-stream", body)
}

pub(crate) fn with_head(status: &str, headers: &str, body: &str) -> Part {
    Part::Bytes(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n\r\n{body}"))
}

pub(crate) fn pause(ms: u64) -> Part {
    Part::Pause(Duration::from_millis(ms))
}
