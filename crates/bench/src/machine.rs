//! This process's resource usage, as reported by the operating system.

use std::{pin::pin, time::Duration};

use anyhow::{Context, Result};
use futures::future::{Either, select};

/// Clock ticks per second in `/proc`, the same on every Linux.
const TICKS: f64 = 100.0;

/// Seconds of processor time used so far, by all threads.
pub(crate) fn cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(") ").next().context("a command name")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks = |index: usize| -> Result<f64> { Ok(fields.get(index).context("a field")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / TICKS)
}

/// Runs the work, and returns its result with the peak of resident memory that it added.
///
/// Memory is sampled all the time: at one fixed moment, a faster version would be measured in
/// another phase than a slower one.
pub(crate) async fn most_added<T>(work: impl Future<Output = T>) -> Result<(T, u64)> {
    let before = resident_bytes()?;
    let (mut work, mut most) = (pin!(work), before);
    loop {
        let pause = pin!(tokio::time::sleep(Duration::from_millis(50)));
        match select(work.as_mut(), pause).await {
            Either::Left((done, _)) => return Ok((done, most - before)),
            Either::Right(_) => most = most.max(resident_bytes()?),
        }
    }
}

/// The resident memory in bytes.
pub(crate) fn resident_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1_024)
}
