//! Compares a server with a relay that passes a vendor's stream on unchanged: latency and processor
//! time for each piece of text.

use anyhow::Result;
use tokio::task::spawn_blocking;

use super::{
    ratio,
    subject::{Kind, start_server},
};
use crate::{
    database::Database,
    events::start_discussions_at,
    listener::{self, Cores, Latencies},
    machine,
    stamper::STAMPER,
    table::Table,
    vendor::{Pace, Vendor},
};

/// Fifty pieces a second, after enough time for every client to connect.
const SPACED: Pace = Pace { first: 3_000, next: 20, pieces: 100 };

/// How long clients listen: long enough for every stream to end, and too short for a second one to
/// begin.
const LISTENING_MS: u64 = 6_000;

/// The latency from a provider's piece to a client's event. The goal is not to get worse.
pub(crate) async fn latency(_: &Database, table: &mut Table) -> Result<()> {
    for (streams, most_ms) in [(50, 0.7), (200, 1.6)] {
        let measured = [served(Kind::Floor, streams).await?, served(Kind::Ours, streams).await?];
        let p99 = measured.map(|it| it.latencies.p99 as f64 / 1e3);
        let shown = p99.map(|it| format!("{it:.2} ms"));
        let goal = (format!("<= {most_ms} ms, or the floor"), p99[1] <= p99[0].max(most_ms));
        let what = format!("piece -> client's event, {streams} streams: p99");
        table.against_floor(&what, shown, p99[1] / p99[0], goal);
    }
    Ok(())
}

/// The processor time of a piece on its way to a client.
pub(crate) async fn processor_time(_: &Database, table: &mut Table) -> Result<()> {
    let mut best = [f64::MAX; 2];
    for _ in 0..2 {
        for (kind, best) in [Kind::Floor, Kind::Ours].into_iter().zip(&mut best) {
            *best = best.min(served(kind, 200).await?.per_piece());
        }
    }
    let shown = best.map(|it| (it, format!("{it:.1} us")));
    ratio("processor time a piece through `ax serve`, 200 streams", shown, 1.5, table);
    Ok(())
}

struct Served {
    latencies: Latencies,
    /// Processor time while clients listened, in seconds.
    cpu: f64,
}

impl Served {
    /// Microseconds of processor time for each piece.
    fn per_piece(&self) -> f64 {
        self.cpu / self.latencies.count as f64 * 1e6
    }
}

/// Serves this many streams to as many clients.
async fn served(kind: Kind, streams: usize) -> Result<Served> {
    let vendor = Vendor::on_second_core(STAMPER, SPACED)?;
    let mut server = start_server(kind, &vendor.url)?;
    let address = server.line()?;
    let paths: Vec<String> = match kind {
        Kind::Floor => (0..streams).map(|index| format!("/{index}")).collect(),
        Kind::Ours => {
            let ids = start_discussions_at(&address, streams).await?;
            ids.iter().map(|id| format!("/api/discussions/{id}/events")).collect()
        }
    };
    let measured = spawn_blocking(move || {
        let mut clients = listener::start_at(&address, &paths, LISTENING_MS, Cores::Second)?;
        let before = machine::cpu_seconds_of(&server.process())?;
        let latencies = listener::result(&mut clients)?;
        let cpu = machine::cpu_seconds_of(&server.process())? - before;
        Ok(Served { latencies, cpu })
    });
    measured.await?
}
