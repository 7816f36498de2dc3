//! Our server with a vendor in another process.

use std::net::SocketAddr;

use anyhow::Result;
use quorum::{
    Config, Quorum,
    setup::{self, Machine},
};
use quorum_server::{Limits, Server, Settings};
use tokio::runtime::{Builder, Runtime};

use crate::{
    database::Database,
    vendor::{Pace, Vendor},
};

/// A server on its own threads, which end with it even if requests are still running.
pub(crate) struct BenchServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    /// Killed after the server.
    vendor: Option<Vendor>,
}

impl BenchServer {
    /// Opens a server whose only provider is a vendor of this kind with this timing.
    pub(crate) async fn open(database: &Database, kind: &str, pace: Pace) -> Result<BenchServer> {
        let vendor = Vendor::of_kind(kind, pace)?;
        let mut server = BenchServer::with_vendor(database, &vendor.url).await?;
        server.vendor = Some(vendor);
        Ok(server)
    }

    /// Opens a server whose only provider is at this address.
    pub(crate) async fn with_vendor(database: &Database, url: &str) -> Result<BenchServer> {
        let config = config(url)?;
        let bare = Machine::bare();
        let setup = setup::load(&config, &bare)?;
        let quorum =
            Quorum::builder().config(config.clone()).store(database.store.clone()).set_up(setup).build()?;
        let limits = Limits { burst: 100_000, ..Limits::default() };
        let settings = Settings { listen: "127.0.0.1:0".parse()?, limits, ..Settings::of(&config) };
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let server = runtime.spawn(Server::bind(quorum, settings)).await??;
        let address = server.address();
        runtime.spawn(server.run(std::future::pending()));
        Ok(BenchServer { runtime: Some(runtime), address, vendor: None })
    }

    /// Its address, without a scheme.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for BenchServer {
    fn drop(&mut self) {
        self.runtime.take().map(Runtime::shutdown_background).unwrap_or_default();
        drop(self.vendor.take());
    }
}

fn config(vendor: &str) -> Result<Config> {
    let text = format!(
        "[defaults]\ntimeout = 300000\n[providers.alpha]\nwire = \"openai-chat\"\nbase_url = \"{vendor}/v1\"\nmodel = \"alpha-1\"\nwindow = 128000\n\
         concurrency = 10000\n"
    );
    let nowhere = std::env::temp_dir().join(format!("quorum-bench-{}", uuid::Uuid::new_v4()));
    Ok(Config::parse(&text, &nowhere.join("config.toml"), nowhere)?)
}
