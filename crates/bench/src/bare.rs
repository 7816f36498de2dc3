//! The same waiting without any of ours: what cannot be avoided.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::sleep;

/// How long so many tasks take that make so many calls one after the other, recording nothing.
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
