//! The baseline: the same waiting without any of our code.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::sleep;

/// How long this many tasks take that each make this many calls in a row, without recording
/// anything.
pub(crate) async fn calls(tasks: usize, calls: u32, latency: Duration) -> Duration {
    let began = Instant::now();
    let one = || {
        tokio::spawn(async move {
            for _ in 0..calls {
                sleep(latency).await;
            }
        })
    };
    join_all((0..tasks).map(|_| one())).await;
    began.elapsed()
}
