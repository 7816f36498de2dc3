//! Clients of the server in a process of their own: they listen to events and note how old each stamp in them is.

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

use crate::{helper::Helper, stamper::now};

/// The argument by which this program becomes one.
pub(crate) const LISTENER: &str = "--listener";

/// No stamp of our times is smaller.
const FIRST_STAMP: i64 = 1_000_000_000_000_000;

/// Connections opened at once.
const AT_ONCE: usize = 32;

/// How old stamps were when they were heard, in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub(crate) p50: i64,
    pub(crate) p99: i64,
    pub(crate) count: usize,
}

/// Listens to these discussions at this address for so many milliseconds after everyone is connected.
pub(crate) fn start(address: &str, ids: &[String], time_ms: u64) -> Result<Helper> {
    let mut helper = Helper::start(LISTENER, &[address.to_owned(), time_ms.to_string()])?;
    helper.tell(ids)?;
    ensure!(helper.line()? == "ready", "not everyone could be connected");
    Ok(helper)
}

/// What they heard, once the time is over.
pub(crate) fn heard(helper: &mut Helper) -> Result<Heard> {
    let line = helper.line()?;
    let mut numbers = line.split(' ').map(str::parse::<i64>);
    let mut next = || -> Result<i64> { Ok(numbers.next().context("a number")??) };
    Ok(Heard { p50: next()?, p99: next()?, count: usize::try_from(next()?)? })
}

/// Listens until the time is over, and says what was heard.
pub(crate) fn be_one(arguments: &[String]) -> Result<()> {
    let [address, time] = arguments else { anyhow::bail!("an address and a time are needed") };
    let mut ids = String::new();
    std::io::stdin().read_to_string(&mut ids)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut ages = runtime.block_on(listen(address, &ids, Duration::from_millis(time.parse()?)))?;
    ensure!(!ages.is_empty(), "nothing was heard");
    ages.sort_unstable();
    println!("{} {} {}", ages[ages.len() / 2], ages[ages.len() * 99 / 100], ages.len());
    Ok(())
}

/// What all of them share.
#[derive(Default)]
struct Notes {
    /// Stamps from before everyone was connected don't count; 0 is not yet.
    since: AtomicI64,
    ages: Mutex<Vec<i64>>,
}

async fn listen(address: &str, ids: &str, time: Duration) -> Result<Vec<i64>> {
    let notes = Arc::new(Notes::default());
    let connecting = stream::iter(ids.lines()).map(|id| connected(address, id)).buffer_unordered(AT_ONCE);
    connecting
        .try_for_each(|stream| {
            tokio::spawn(follow(stream, notes.clone()));
            std::future::ready(Ok(()))
        })
        .await?;
    notes.since.store(now(), Ordering::Relaxed);
    println!("ready");
    sleep(time).await;
    Ok(std::mem::take(&mut *notes.ages.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Connected, and answered.
async fn connected(address: &str, id: &str) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::with_capacity(4_096, stream);
    let request = format!("GET /api/discussions/{id}/events HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).await?;
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    ensure!(line.contains(" 200 "), "a stream was refused: {line}");
    Ok(stream)
}

async fn follow(mut stream: BufReader<TcpStream>, notes: Arc<Notes>) -> Result<()> {
    let (mut line, mut place) = (Vec::new(), (String::new(), 0));
    while stream.read_until(b'\n', &mut line).await? > 0 {
        let at = now();
        if let Some(data) = line.strip_prefix(b"data: ") {
            let since = notes.since.load(Ordering::Relaxed);
            let stamps = stamps(&serde_json::from_slice(data)?, &mut place);
            let counted = stamps.into_iter().filter(|stamp| since > 0 && *stamp >= since);
            notes.ages.lock().unwrap_or_else(PoisonError::into_inner).extend(counted.map(|stamp| at - stamp));
        }
        line.clear();
    }
    Ok(())
}

/// The stamps in a piece of text that were not heard before. Who was too slow is told a text from its beginning once more.
fn stamps(data: &Value, (step, heard): &mut (String, usize)) -> Vec<i64> {
    let (Some(chunk), Some(told)) = (data["chunk"].as_str(), data["step"].as_str()) else {
        return Vec::new();
    };
    if *step != told {
        (*step, *heard) = (told.to_owned(), 0);
    }
    let offset = data["offset"].as_u64().unwrap_or_default() as usize;
    let new = chunk.get(heard.saturating_sub(offset)..).unwrap_or_default();
    *heard = offset + chunk.len();
    new.split_whitespace().filter_map(|it| it.parse().ok()).filter(|it| *it >= FIRST_STAMP).collect()
}
