//! Sends spans to a collector by OTLP over HTTP, from a thread of its own.

use std::{
    env,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use opentelemetry::KeyValue;
use opentelemetry_otlp::{RetryPolicy, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanExporter, SpanProcessor},
};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

use crate::{
    names,
    settings::{SettingsError, timeout_ms},
};

/// The variable for the time between two exports.
const DELAY: &str = "OTEL_BSP_SCHEDULE_DELAY";

/// The time between two exports unless the environment says otherwise. Spans that were not sent are
/// lost if the process is killed.
const SHORT_DELAY: Duration = Duration::from_secs(1);

/// How long an export may take unless the environment says otherwise.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the collector may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// How often an export is tried again. Few, so that a collector that is away delays the end of a
/// command by less than a second.
const RETRIES: usize = 2;

/// Sends batches of spans in the background; what doesn't fit its queue is dropped.
pub(crate) fn processor(
    address: Option<&str>,
    trouble: &Trouble,
) -> Result<BatchSpanProcessor, SettingsError> {
    let failed = |error: &dyn std::fmt::Display| SettingsError::Exporter(error.to_string());
    let retries = RetryPolicy::recommended().with_max_retries(RETRIES);
    let builder = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client().map_err(|error| failed(&error.without_url()))?)
        .with_retry_policy(retries);
    let builder = match address {
        Some(address) => builder.with_endpoint(address),
        None => builder,
    };
    let inner = builder.build().map_err(|error| failed(&error))?;
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    let exporter = Exporter { inner, runtime, trouble: trouble.clone() };
    let config = match env::var_os(DELAY) {
        Some(_) => BatchConfigBuilder::default(),
        None => BatchConfigBuilder::default().with_scheduled_delay(SHORT_DELAY),
    };
    let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(config.build()).build();
    processor.set_resource(&resource());
    Ok(processor)
}

/// What all spans of this process have in common. The environment's values win.
fn resource() -> Resource {
    let own = Resource::builder_empty()
        .with_attribute(KeyValue::new(names::SERVICE_NAME, names::QUORUM))
        .with_attribute(KeyValue::new(names::SERVICE_VERSION, env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new(names::SERVICE_INSTANCE, Uuid::new_v4().to_string()));
    own.with_detectors(&[Box::new(opentelemetry_sdk::resource::EnvResourceDetector::new())])
        .with_attributes(env::var("OTEL_SERVICE_NAME").ok().filter(|it| !it.is_empty()).map(service_name))
        .build()
}

fn service_name(name: String) -> KeyValue {
    KeyValue::new(names::SERVICE_NAME, name)
}

fn client() -> Result<reqwest::Client, reqwest::Error> {
    // Fails only if the program has already installed a crypto provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let timeout = timeout_ms(&|name| env::var(name).ok()).map_or(EXPORT_TIMEOUT, Duration::from_millis);
    reqwest::Client::builder()
        .user_agent(concat!("quorum/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .build()
}

/// Why the last export failed; `None` if it succeeded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    pub(crate) fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Warns once for each outage. The reason has neither headers nor the address, which may both
    /// contain secrets.
    fn note(&self, sent: &OTelSdkResult) {
        let now = sent.as_ref().err().map(ToString::to_string);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(reason)) = (&*last, &now) {
            tracing::warn!(%reason, "traces can't be sent; discussions go on without them");
        }
        *last = now;
    }
}

/// The exporter with a runtime of its own: the thread of a batch processor has none, and that of
/// the program may end at any time.
#[derive(Debug)]
struct Exporter<E> {
    inner: E,
    runtime: Runtime,
    trouble: Trouble,
}

impl<E: SpanExporter> SpanExporter for Exporter<E> {
    fn export(&self, batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        let sent = self.runtime.block_on(self.inner.export(batch));
        self.trouble.note(&sent);
        std::future::ready(sent)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
