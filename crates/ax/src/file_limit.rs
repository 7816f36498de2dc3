//! A file that would grow past the limit of this process (`ulimit -f`) is an error, not the end.

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Catches the signal that would end the process, so that the write fails instead, and the store says
/// that there is no room left. It stays caught for as long as the process lives.
pub(crate) fn outlive() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    Ok(())
}
