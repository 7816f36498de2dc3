//! Clients of the panel as one model, in a separate process: they measure the time to the first
//! chunk, the age of each timestamp on arrival, and silence.

use std::time::Duration;

use anyhow::{Result, bail, ensure};
use futures::future::{join_all, try_join_all};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::{Instant, timeout_at},
};

use crate::{
    helper::Helper,
    listener::{FIRST_STAMP, Latencies},
    stamper::now,
};

/// The argument that selects this role.
pub(crate) const PANEL_CLIENT: &str = "--panel-client";

/// How many streams are opened at the same moment, and how often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bursts {
    pub(crate) streams: usize,
    pub(crate) times: usize,
    /// How long the streams of the last burst are read, in milliseconds.
    pub(crate) reading_ms: u64,
}

/// Opens these streams, and returns the times to the first chunk and the ages of timestamps.
pub(crate) fn measure(address: &str, bursts: Bursts) -> Result<(Latencies, Latencies)> {
    let Bursts { streams, times, reading_ms } = bursts;
    let numbers = [streams.to_string(), times.to_string(), reading_ms.to_string()];
    let arguments: Vec<String> = std::iter::once(address.to_owned()).chain(numbers).collect();
    let mut helper = Helper::start(PANEL_CLIENT, &arguments)?;
    Ok((Latencies::read(&helper.line()?)?, Latencies::read(&helper.line()?)?))
}

/// Runs as these clients, and prints the result.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [address, streams, times, reading] = arguments else { bail!("an address and three numbers") };
    let (streams, times) = (streams.parse()?, times.parse()?);
    let bursts = Bursts { streams, times, reading_ms: reading.parse()? };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (firsts, ages) = runtime.block_on(all(address, bursts))?;
    println!("{}\n{}", Latencies::of(firsts)?.line(), Latencies::of(ages)?.line());
    Ok(())
}

async fn all(address: &str, bursts: Bursts) -> Result<(Vec<i64>, Vec<i64>)> {
    let (mut firsts, mut ages) = (Vec::new(), Vec::new());
    for burst in 1..=bursts.times {
        let connected = try_join_all((0..bursts.streams).map(|_| TcpStream::connect(address))).await?;
        let opening = connected.into_iter().enumerate().map(async |(index, it)| {
            opened(it, address, &spoken_in_turn(&format!("Question {index} of burst {burst}?"))).await
        });
        let (times, streams): (Vec<i64>, Vec<_>) = try_join_all(opening).await?.into_iter().unzip();
        firsts.extend(times);
        if burst == bursts.times {
            let end = Instant::now() + Duration::from_millis(bursts.reading_ms);
            let read = join_all(streams.into_iter().map(|it| ages_until(it, end))).await;
            ages = read.into_iter().collect::<Result<Vec<_>>>()?.concat();
        }
    }
    Ok((firsts, ages))
}

/// A request to a panel whose participants speak one after the other, so that all talk is live. No
/// two are equal: an equal one would join a discussion whose client left.
fn spoken_in_turn(question: &str) -> Value {
    let panel = json!({ "providers": ["alpha", "alpha"], "rounds": 2 });
    let messages = json!([{ "role": "user", "content": question }]);
    json!({ "model": "quorum/round-robin", "messages": messages, "stream": true, "quorum": panel })
}

/// Sends a request on this connection, and returns the microseconds to its first chunk.
async fn opened(stream: TcpStream, address: &str, body: &Value) -> Result<(i64, BufReader<TcpStream>)> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(4_096, stream);
    let body = body.to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}",
        body.len()
    );
    let began = now();
    stream.get_mut().write_all(format!("{head}\r\n\r\n{body}").as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    ensure!(line.contains(" 200 "), "a stream was refused: {line}");
    while !line.starts_with("data: ") {
        line.clear();
        ensure!(stream.read_line(&mut line).await? > 0, "a stream ended before its first chunk");
    }
    Ok((now() - began, stream))
}

/// The ages of all timestamps that arrive before this moment.
async fn ages_until(mut stream: BufReader<TcpStream>, end: Instant) -> Result<Vec<i64>> {
    let (mut ages, mut line) = (Vec::new(), Vec::new());
    while let Ok(read) = timeout_at(end, stream.read_until(b'\n', &mut line)).await {
        let at = now();
        ensure!(read? > 0, "a stream ended early");
        if let Some(data) = line.strip_prefix(b"data: ") {
            let chunk: Value = serde_json::from_slice(data)?;
            ensure!(chunk.get("error").is_none(), "a stream failed: {chunk}");
            let delta = &chunk["choices"][0]["delta"];
            let text = delta["reasoning"].as_str().or(delta["content"].as_str()).unwrap_or_default();
            let stamps = text.split_whitespace().filter_map(|it| it.parse().ok());
            ages.extend(stamps.filter(|it: &i64| FIRST_STAMP <= *it).map(|it| at - it));
        }
        line.clear();
    }
    Ok(ages)
}

/// The longest time without a byte in the stream of one voice, and how long all of it took.
pub(crate) async fn silence(address: &str) -> Result<(Duration, Duration)> {
    let body = json!({
        "model": "alpha", "messages": [{ "role": "user", "content": "What does it cost?" }], "stream": true,
    });
    let (_, mut stream) = opened(TcpStream::connect(address).await?, address, &body).await?;
    let began = Instant::now();
    let (mut last, mut longest, mut text) = (began, Duration::ZERO, Vec::new());
    loop {
        let read = stream.read_buf(&mut text).await?;
        longest = longest.max(last.elapsed());
        last = Instant::now();
        ensure!(read > 0, "the stream ended early: {}", String::from_utf8_lossy(&text));
        if text.windows(6).any(|it| it == b"[DONE]") {
            return Ok((longest, began.elapsed()));
        }
    }
}
