//! A vendor whose every piece of text is a timestamp in microseconds, so that the receiver can
//! measure its latency. Without a pause between pieces it sends a whole answer at once, in as many
//! chunks and without timestamps, so that it keeps up with thousands of calls a second.

use std::{io::Read, sync::LazyLock, time::Duration};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::{
    machine,
    vendor::{Pace, SECOND_CORE},
};

/// The argument that selects this role.
pub(crate) const STAMPER: &str = "--stamper";

const MODELS: &str =
    r#"{"object":"list","data":[{"id":"alpha-1","object":"model","created":1,"owned_by":"alpha"}]}"#;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// The current time in microseconds. All processes of a machine share the clock.
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

/// Runs as a vendor until the input ends.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let pace = Pace::read(arguments)?;
    if arguments.last().is_some_and(|it| it == SECOND_CORE) {
        machine::pin_to(1)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || runtime.block_on(listen(pace)));
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

async fn listen(pace: Pace) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // A client that disconnects is ignored.
        tokio::spawn(async move { serve(stream, pace).await.ok() });
    }
}

async fn serve(stream: TcpStream, pace: Pace) -> Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(question) = read_request(&mut stream).await? {
        if let Some(body) = question {
            sleep(Duration::from_millis(wanted_ms(&body).unwrap_or(pace.first))).await;
            match pace.next {
                0 => stream.get_mut().write_all(&DENSE).await?,
                _ => stream_timestamps(stream.get_mut(), pace).await?,
            }
        } else {
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{MODELS}",
                MODELS.len()
            );
            stream.get_mut().write_all(answer.as_bytes()).await?;
        }
    }
    Ok(())
}

/// The text before the time that the calls of a discussion take, in its topic.
pub(crate) const TAKES: &str = "a call takes ";

/// How long the call takes in milliseconds, if its text says so.
fn wanted_ms(body: &[u8]) -> Option<u64> {
    let at = body.windows(TAKES.len()).position(|it| it == TAKES.as_bytes())? + TAKES.len();
    let digits = body[at..].iter().take_while(|it| it.is_ascii_digit());
    digits.map(|it| char::from(*it)).collect::<String>().parse().ok()
}

/// Reads a request to its end. Returns the body of a completion request and nothing for any other,
/// or `None` at the end of the connection.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Result<Option<Option<Vec<u8>>>> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        if stream.read_line(&mut head).await? == 0 {
            return Ok(None);
        }
        let line = head[start..].trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().context("a length")?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(head.starts_with("POST").then_some(body)))
}

async fn stream_timestamps(stream: &mut TcpStream, pace: Pace) -> Result<()> {
    stream.write_all(HEAD.as_bytes()).await?;
    for _ in 0..pace.pieces {
        stream.write_all(piece(&now().to_string()).as_bytes()).await?;
        sleep(Duration::from_millis(pace.next)).await;
    }
    Ok(stream.write_all(last().as_bytes()).await?)
}

/// The pieces of a dense answer.
pub(crate) const DENSE_PIECES: usize = 100;

/// A whole answer, each of its pieces in a chunk of its own.
static DENSE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let words = ["It", "depends", "on", "what", "is", "measured,", "and", "how", "often", "it", "is."];
    let pieces: String = words.iter().cycle().take(DENSE_PIECES).map(|it| piece(it)).collect();
    format!("{HEAD}{pieces}{}", last()).into_bytes()
});

fn piece(text: &str) -> String {
    event(&format!(r#"{{"index":0,"delta":{{"content":"{text} "}},"finish_reason":null}}"#), "null")
}

fn last() -> String {
    let end = event(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#, "null");
    let used = event("", r#"{"prompt_tokens":300,"completion_tokens":300,"total_tokens":600}"#);
    format!("{end}{used}{}0\r\n\r\n", chunk("data: [DONE]\n\n"))
}

fn event(choice: &str, usage: &str) -> String {
    let kind = r#""id":"c","object":"chat.completion.chunk","created":1,"model":"alpha-1""#;
    chunk(&format!("data: {{{kind},\"choices\":[{choice}],\"usage\":{usage}}}\n\n"))
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
