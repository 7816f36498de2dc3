//! The time of providers, which all nodes share: one row per provider says when its next slot is
//! free, and until when the provider asked to wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use quorum_core::call::grants::{Away, Grant, Grants};
use tokio::runtime::Handle;

use crate::{
    batch::text,
    connection::Connection,
    error::JobError,
    figures::Counts,
    news::Announcer,
    pool::{Pool, run},
};

/// Grants the time of providers.
pub(crate) struct Lanes {
    pub(crate) pool: Pool,
    pub(crate) runtime: Handle,
    pub(crate) news: Announcer,
    pub(crate) counts: Arc<Counts>,
    /// How many nodes there were at the last beat.
    pub(crate) nodes: Arc<AtomicUsize>,
}

/// Takes the time after everything that was granted, and after the provider's wait. A grant more
/// than ten minutes ahead, or a wait of more than an hour, was written by a clock that was set back
/// since, as after a failover: it counts as now.
const TAKE: &str = "INSERT INTO lanes AS l (name, free_at) SELECT $1, now_us() + $2
    ON CONFLICT (name) DO UPDATE SET free_at = greatest(now_us(),
        CASE WHEN l.free_at < now_us() + 600000000 THEN l.free_at END,
        CASE WHEN l.closed_until < now_us() + 3600000000 THEN l.closed_until END) + $2
    RETURNING free_at, greatest(free_at - $2 - now_us(), 0)";

const CLOSE: &str = "INSERT INTO lanes AS l (name, closed_until) SELECT $1, now_us() + $2
    ON CONFLICT (name) DO UPDATE SET closed_until = greatest(l.closed_until, now_us() + $2)";

/// Only the last grant can be shortened: what comes after it has its place.
const GIVE_BACK: &str = "UPDATE lanes SET free_at = free_at - $3 WHERE name = $1 AND free_at = $2";

impl Grants for Lanes {
    fn sharers(&self) -> usize {
        self.nodes.load(Ordering::Relaxed).max(1)
    }

    fn closed_for(&self, lane: &str) -> Duration {
        self.news.closed_for(lane)
    }

    fn close(&self, lane: &str, wait: Duration) {
        self.news.close(lane, wait);
        let (pool, lane) = (self.pool.clone(), lane.to_owned());
        self.runtime.spawn(async move {
            let closed = run!(pool, connection, change(connection, CLOSE, &lane, &[micros(wait)]));
            if let Err(error) = closed {
                tracing::warn!(%error, lane, "other nodes could not be told that a provider wants a pause");
            }
        });
    }

    fn take(&self, lane: &str, time: Duration) -> BoxFuture<'_, Result<Grant, Away>> {
        let lane = lane.to_owned();
        Box::pin(async move {
            let taken = run!(self.pool, connection, take(connection, &lane, time));
            if taken.is_ok() {
                self.counts.grant(&lane);
            }
            taken.map_err(|error| {
                tracing::warn!(%error, lane, "the time of a provider can't be asked for");
                Away
            })
        })
    }

    fn give_back(&self, lane: &str, grant: Grant, unused: Duration) {
        let (pool, lane) = (self.pool.clone(), lane.to_owned());
        self.runtime.spawn(async move {
            let numbers = [grant.until, micros(unused)];
            // What can't be given back only passes unused.
            let _ = run!(pool, connection, change(connection, GIVE_BACK, &lane, &numbers));
        });
    }
}

async fn take(connection: &mut Connection, lane: &str, time: Duration) -> Result<Grant, JobError> {
    let row = connection.query(TAKE, &[&text(lane), &micros(time)]).await?.remove(0);
    Ok(Grant { until: row.get(0), wait: Duration::from_micros(row.get::<_, i64>(1).unsigned_abs()) })
}

async fn change(connection: &mut Connection, sql: &str, lane: &str, numbers: &[i64]) -> Result<(), JobError> {
    let lane = text(lane);
    let mut all: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![&lane];
    all.extend(numbers.iter().map(|it| it as &(dyn tokio_postgres::types::ToSql + Sync)));
    connection.execute(sql, &all).await?;
    Ok(())
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
