//! A server that says byte for byte what a test tells it to, and takes its time where it is told to.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

/// A part of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Bytes(String),
    Pause(Duration),
}

/// What is answered to a request line, the how-manieth it is.
pub(crate) type Says = fn(&str, usize) -> Vec<Part>;

/// A server with the lines of the requests it got.
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

/// One request on each connection.
fn answer(mut stream: TcpStream, says: Says, heard: &Mutex<Vec<String>>) {
    let Some(line) = request(&stream) else { return };
    let number = {
        let mut heard = heard.lock().unwrap();
        heard.push(line.clone());
        heard.len()
    };
    for part in says(&line, number) {
        match part {
            // Whoever has left needs no more of it.
            Part::Bytes(bytes) if stream.write_all(bytes.as_bytes()).is_err() => return,
            Part::Bytes(_) => {}
            // It sleeps because a server that takes its time is what is tested.
            Part::Pause(time) => thread::sleep(time),
        }
    }
}

/// Reads a request to its end; its first line.
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

/// An answer that ends with its connection.
pub(crate) fn stream(body: &str) -> Part {
    with_head("200 OK", "content-type: text/event-stream", body)
}

pub(crate) fn with_head(status: &str, headers: &str, body: &str) -> Part {
    Part::Bytes(format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n\r\n{body}"))
}

pub(crate) fn pause(ms: u64) -> Part {
    Part::Pause(Duration::from_millis(ms))
}
