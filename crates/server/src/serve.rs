//! Accepts connections, applies their timeouts, and closes them in time at shutdown.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use quorum::Quorum;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::{
    app::{self, App, AppState},
    claimer, openapi,
    pace::Paced,
    routes,
    settings::{Error, Settings},
};

/// How long requests under way may take at shutdown (F13).
const LAST_ORDERS: Duration = Duration::from_secs(3);

/// The maximum size of a request's head, in bytes; a larger one is a 431.
const HEAD: usize = 32 * 1024;

/// How long to wait when no connection can be accepted, for example for lack of file descriptors.
const BREATH: Duration = Duration::from_millis(50);

/// A server that is bound to its address and accepts no requests yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
}

impl Server {
    /// Binds the address. Refuses to be open to everyone (S2).
    pub async fn bind(quorum: Quorum, settings: Settings) -> Result<Server, Error> {
        settings.check()?;
        quorum.config().check_tokens().map_err(quorum::Error::from)?;
        let wanted = settings.listen;
        let failed = |reason| Error::Address { address: wanted, reason };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let providers = app::usable(quorum.providers(), settings.voices);
        let document = openapi::with_fields(routes::document(), quorum.registry(), &providers);
        Ok(Server { listener, address, app: AppState::new(quorum, settings, &document) })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What its routes share.
    #[cfg(test)]
    pub(crate) fn app(&self) -> App {
        self.app.clone()
    }

    /// How long calls under way may take at shutdown.
    #[must_use]
    pub fn drain(&self) -> Duration {
        self.app.limits().drain
    }

    /// Takes over discussions that wait for a node, as far as there is room, and returns how many.
    /// While the server runs, it looks for more.
    pub async fn go_on(&self) -> Result<usize, Error> {
        Ok(self.app.go_on().await?)
    }

    /// Serves until it is told to close. Then calls under way are awaited and recorded, for as long
    /// as the limits allow, and no new ones are made: the next server resumes the discussions.
    pub async fn run(self, close: impl Future<Output = ()>) {
        let router = routes::router(self.app.clone());
        self.run_with(router, close).await;
    }

    /// The same with these routes.
    pub(crate) async fn run_with(self, router: Router, close: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(affordable(self.app.limits().connections)));
        let closing = GracefulShutdown::new();
        let mut close = std::pin::pin!(close);
        let claimer = tokio::spawn(claimer::claim_on(self.app.clone()));
        loop {
            let place = tokio::select! {
                () = &mut close => break,
                place = places.clone().acquire_owned() => place,
            };
            let Ok(place) = place else { break };
            tokio::select! {
                () = &mut close => break,
                taken = self.listener.accept() => match taken {
                    Ok((stream, _)) => self.serve(stream, &router, &closing, place),
                    Err(_) => tokio::time::sleep(BREATH).await,
                },
            }
        }
        drop(self.listener);
        self.app.hub.close();
        let _ = claimer.await;
        let leaving = self.app.leave(self.app.limits().drain);
        let _ = tokio::join!(leaving, tokio::time::timeout(LAST_ORDERS, closing.shutdown()));
    }

    fn serve(
        &self,
        stream: TcpStream,
        router: &Router,
        closing: &GracefulShutdown,
        place: OwnedSemaphorePermit,
    ) {
        // Events are small and should be sent at once.
        let _ = stream.set_nodelay(true);
        let stream = Paced::new(stream, self.app.limits().stall_time);
        let service = TowerToHyperService::new(router.clone());
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.app.limits().header_time)
            .max_buf_size(HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let connection = closing.watch(connection);
        tokio::spawn(async move {
            // A client that breaks off can't be told anything.
            let _ = connection.await;
            drop(place);
        });
    }
}

/// The number of connections that leaves a quarter of this process's file descriptors to records
/// and providers.
fn affordable(wanted: usize) -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    most_open(&limits).map_or(wanted, |most| wanted.min((most / 4 * 3).max(1)))
}

fn most_open(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_connections_leave_files_for_the_rest() {
        let limits = "Max processes             96234                96234                processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(most_open(limits), Some(1_024));
        assert_eq!(most_open("Max open files  unlimited  unlimited  files"), None);
        assert_eq!(most_open(""), None);
        assert_eq!(affordable(1), 1);
    }
}
