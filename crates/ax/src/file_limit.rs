//! Makes a write beyond the file size limit (`ulimit -f`) fail instead of ending the process.

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

/// Catches the signal (SIGXFSZ) that would kill the process, so that the write fails instead and
/// the store reports that there is no room left. The signal stays caught until the process ends.
pub(crate) fn catch_file_size_signal() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    drop(signal(SignalKind::from_raw(Signal::XFSZ.as_raw()))?);
    Ok(())
}
