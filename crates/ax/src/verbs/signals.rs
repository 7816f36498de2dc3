//! The signals that close a server.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and Ctrl-C.
pub(super) struct CloseSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl CloseSignals {
    pub(super) fn new() -> std::io::Result<CloseSignals> {
        let (interrupt, terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(CloseSignals { interrupt, terminate })
    }

    pub(super) async fn received(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
