//! A vendor whose every piece of text is a timestamp in microseconds, so that the receiver can
//! measure its latency.

use std::{io::Read, time::Duration};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::vendor::Pace;

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
    while let Some(is_question) = read_request(&mut stream).await? {
        if is_question {
            stream_timestamps(stream.get_mut(), pace).await?;
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

/// Reads a request to its end. Returns whether it is a completion request, or `None` at the end of
/// the connection.
async fn read_request(stream: &mut BufReader<TcpStream>) -> Result<Option<bool>> {
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
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(Some(head.starts_with("POST")))
}

async fn stream_timestamps(stream: &mut TcpStream, pace: Pace) -> Result<()> {
    sleep(Duration::from_millis(pace.first)).await;
    stream.write_all(HEAD.as_bytes()).await?;
    for _ in 0..pace.pieces {
        let choice = format!(r#"{{"index":0,"delta":{{"content":"{} "}},"finish_reason":null}}"#, now());
        stream.write_all(event(&choice, "null").as_bytes()).await?;
        sleep(Duration::from_millis(pace.next)).await;
    }
    let end = event(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#, "null");
    let used = event("", r#"{"prompt_tokens":300,"completion_tokens":300,"total_tokens":600}"#);
    let last = format!("{end}{used}{}0\r\n\r\n", chunk("data: [DONE]\n\n"));
    Ok(stream.write_all(last.as_bytes()).await?)
}

fn event(choice: &str, usage: &str) -> String {
    let kind = r#""id":"c","object":"chat.completion.chunk","created":1,"model":"alpha-1""#;
    chunk(&format!("data: {{{kind},\"choices\":[{choice}],\"usage\":{usage}}}\n\n"))
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
