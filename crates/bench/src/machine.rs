//! This process's resource usage, as reported by the operating system.

use std::{pin::pin, time::Duration};

use anyhow::{Context, Result};
use futures::future::{Either, select};
use rustix::{
    thread::{CpuSet, sched_setaffinity},
    time::{ClockId, clock_gettime},
};

/// Clock ticks per second in `/proc`, the same on every Linux.
const TICKS: f64 = 100.0;

/// Pins this process to one core: to the first or the second one.
pub(crate) fn pin_to(core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    // Threads inherit it, so it comes before the first of them is started.
    sched_setaffinity(None, &cores).context("two cores are needed")
}

/// Seconds of processor time used so far by this process, to the nanosecond.
pub(crate) fn own_cpu_seconds() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Seconds of processor time used so far, by all threads.
pub(crate) fn cpu_seconds() -> Result<f64> {
    cpu_seconds_of("self")
}

/// Seconds of processor time that another process used so far.
pub(crate) fn cpu_seconds_of(process: &str) -> Result<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
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
    memory("VmRSS:")
}

/// The most resident memory that this process ever had, in bytes.
pub(crate) fn most_resident_bytes() -> Result<u64> {
    memory("VmHWM:")
}

fn memory(field: &'static str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)).context(field)?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1_024)
}
