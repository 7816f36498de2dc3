//! Clients of the server in a separate process: they listen to events and record the age of each
//! timestamp in them.

use std::{
    io::Read,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::sleep,
};

use crate::{helper::Helper, machine, stamper::now};

/// The argument that selects this role.
pub(crate) const LISTENER: &str = "--listener";

/// The smallest number that is taken for a timestamp.
pub(crate) const FIRST_STAMP: i64 = 1_000_000_000_000_000;

/// The number of connections opened concurrently.
const AT_ONCE: usize = 32;

/// The ages of timestamps on arrival, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Latencies {
    pub(crate) p50: i64,
    pub(crate) p99: i64,
    pub(crate) count: usize,
}

impl Latencies {
    /// The percentiles of these times.
    pub(crate) fn of(mut times: Vec<i64>) -> Result<Latencies> {
        ensure!(!times.is_empty(), "nothing arrived");
        times.sort_unstable();
        Ok(Latencies { p50: times[times.len() / 2], p99: times[times.len() * 99 / 100], count: times.len() })
    }

    /// As one line for another process.
    pub(crate) fn line(self) -> String {
        format!("{} {} {}", self.p50, self.p99, self.count)
    }

    /// Reads such a line.
    pub(crate) fn read(line: &str) -> Result<Latencies> {
        let mut numbers = line.split(' ').map(str::parse::<i64>);
        let mut next = || -> Result<i64> { Ok(numbers.next().context("a number")??) };
        Ok(Latencies { p50: next()?, p99: next()?, count: usize::try_from(next()?)? })
    }
}

/// Starts listening to these discussions for this many milliseconds after every client is
/// connected.
pub(crate) fn start(address: &str, ids: &[String], time_ms: u64) -> Result<Helper> {
    let paths: Vec<String> = ids.iter().map(|id| format!("/api/discussions/{id}/events")).collect();
    start_at(address, &paths, time_ms, Cores::All)
}

/// The cores that the clients run on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cores {
    All,
    /// Only the second one.
    Second,
}

/// Starts listening at these paths.
pub(crate) fn start_at(address: &str, paths: &[String], time_ms: u64, cores: Cores) -> Result<Helper> {
    let cores = match cores {
        Cores::All => "all",
        Cores::Second => "second",
    };
    let mut helper = Helper::start(LISTENER, &[address.to_owned(), time_ms.to_string(), cores.to_owned()])?;
    helper.write_lines(paths)?;
    ensure!(helper.line()? == "ready", "not every client could connect");
    Ok(helper)
}

/// The result, once the time is over.
pub(crate) fn result(helper: &mut Helper) -> Result<Latencies> {
    Latencies::read(&helper.line()?)
}

/// Listens until the time is over, and prints the result.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [address, time, cores] = arguments else { anyhow::bail!("an address, a time and cores are needed") };
    if cores == "second" {
        machine::pin_to(1)?;
    }
    let mut paths = String::new();
    std::io::stdin().read_to_string(&mut paths)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ages = runtime.block_on(listen(address, &paths, Duration::from_millis(time.parse()?)))?;
    println!("{}", Latencies::of(ages)?.line());
    Ok(())
}

/// State shared by all clients.
#[derive(Default)]
struct Shared {
    /// When every client was connected; 0 until then. Earlier timestamps don't count.
    since: AtomicI64,
    ages: Mutex<Vec<i64>>,
}

async fn listen(address: &str, paths: &str, time: Duration) -> Result<Vec<i64>> {
    let shared = Arc::new(Shared::default());
    let connecting =
        stream::iter(paths.lines()).map(|path| connected(address, path)).buffer_unordered(AT_ONCE);
    connecting
        .try_for_each(|stream| {
            tokio::spawn(follow(stream, shared.clone()));
            std::future::ready(Ok(()))
        })
        .await?;
    shared.since.store(now(), Ordering::Relaxed);
    println!("ready");
    sleep(time).await;
    Ok(std::mem::take(&mut *shared.ages.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// A connection whose response has begun.
async fn connected(address: &str, path: &str) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(4_096, stream);
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    ensure!(line.contains(" 200 "), "a stream was refused: {line}");
    Ok(stream)
}

async fn follow(mut stream: BufReader<TcpStream>, shared: Arc<Shared>) -> Result<()> {
    let (mut line, mut database) = (Vec::new(), (String::new(), 0));
    while stream.read_until(b'\n', &mut line).await? > 0 {
        let at = now();
        if let Some(data) = line.strip_prefix(b"data: ") {
            let since = shared.since.load(Ordering::Relaxed);
            // A vendor's last frame is no JSON.
            let stamps = stamps(&serde_json::from_slice(data).unwrap_or_default(), &mut database);
            let counted = stamps.into_iter().filter(|stamp| since > 0 && *stamp >= since);
            shared
                .ages
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(counted.map(|stamp| at - stamp));
        }
        line.clear();
    }
    Ok(())
}

/// The timestamps in a piece of text that did not arrive before. A client that was too slow gets
/// the text from its beginning once more.
fn stamps(data: &Value, (step, heard): &mut (String, usize)) -> Vec<i64> {
    let (Some(chunk), Some(told)) = (data["chunk"].as_str(), data["step"].as_str()) else {
        return stamps_in(data["choices"][0]["delta"]["content"].as_str().unwrap_or_default());
    };
    if *step != told {
        (*step, *heard) = (told.to_owned(), 0);
    }
    let offset = data["offset"].as_u64().unwrap_or_default() as usize;
    let new = chunk.get(heard.saturating_sub(offset)..).unwrap_or_default();
    *heard = offset + chunk.len();
    stamps_in(new)
}

fn stamps_in(text: &str) -> Vec<i64> {
    text.split_whitespace().filter_map(|it| it.parse().ok()).filter(|it| *it >= FIRST_STAMP).collect()
}
