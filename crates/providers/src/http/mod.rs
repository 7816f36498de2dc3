//! A provider over HTTP: sends the request that a wire made of a call, and reads the streamed
//! response.
//!
//! One client serves all remote providers and one those on this machine, so that connections are
//! shared and reused. No redirects, no compression, no retries of its own; keys in headers only.

mod answer;
mod embedder;
mod errors;

use answer::{AnswerStream, Unsent};
pub(crate) use answer::{model_name, read_some, refused, web_page};
pub(crate) use embedder::HttpEmbedder;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    call::{Call, lane::Lane},
    model::{
        error::{ErrorClass, ProviderError},
        participant::Participant,
    },
    seams::{Chunk, Provider},
};
use reqwest::{
    Client, ClientBuilder, RequestBuilder, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderValue},
};
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::{
    fenced, guard,
    health::Health,
    setup::address::is_this_machine,
    source::{Endpoint, Timeouts},
    wire::Model,
};

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long an idle connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The header with the number of panels that a request went through.
const DEPTH: &str = "x-quorum-depth";

const USER_AGENT: &str = concat!("quorum/", env!("CARGO_PKG_VERSION"));

/// The HTTP clients of a process, one for servers on this machine and one for all others. Each is
/// built when it is first needed, since reading the system's certificates takes a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct HttpClients(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    here: OnceLock<Client>,
    elsewhere: OnceLock<Client>,
}

impl HttpClients {
    /// The client for this base URL. Requests to this machine are not encrypted, so they never go
    /// through a proxy that could read them.
    pub(crate) fn client(&self, base: &Url) -> Result<Client, ProviderError> {
        let is_here = is_this_machine(base);
        let slot = if is_here { &self.0.here } else { &self.0.elsewhere };
        if let Some(client) = slot.get() {
            return Ok(client.clone());
        }
        let settings = if is_here { settings().no_proxy() } else { settings() };
        let client = settings.build().map_err(|error| errors::from_client(error, None))?;
        Ok(slot.get_or_init(|| client).clone())
    }
}

fn settings() -> ClientBuilder {
    // Fails only if the program has already installed a crypto provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .dns_resolver(guard::resolver())
}

/// One model of a provider over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) clients: HttpClients,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) model: Model,
    pub(crate) timeouts: Timeouts,
    pub(crate) health: Arc<Health>,
    /// The lane in which all calls to this provider wait.
    pub(crate) lane: Arc<Lane>,
}

impl Remote {
    /// A request to this path under the base URL, with the key and the wire's fixed headers.
    pub(crate) fn request(&self, path: &str, body: Option<&Value>) -> Result<RequestBuilder, ProviderError> {
        let endpoint = &self.endpoint;
        guard::allowed(&endpoint.base)
            .map_err(|error| ProviderError::new(ErrorClass::Validation, error.to_string()))?;
        let address = format!("{}{path}", endpoint.base.as_str().trim_end_matches('/'));
        let client = self.clients.client(&endpoint.base)?;
        let request = match body {
            Some(body) => client.post(address).header(CONTENT_TYPE, JSON).body(written(body)?),
            None => client.get(address),
        };
        // A panel behind this address refuses to be a member of ours.
        let request = request.header(DEPTH, "1");
        let headers = endpoint.wire.headers.iter();
        let request = headers.fold(request, |request, (name, value)| request.header(*name, *value));
        match self.authorisation()? {
            Some((name, value)) => Ok(request.header(name, value)),
            None => Ok(request),
        }
    }

    /// The header that carries the key. It is marked as sensitive, so that it is never printed.
    fn authorisation(&self) -> Result<Option<(&'static str, HeaderValue)>, ProviderError> {
        let Endpoint { key, wire, .. } = &*self.endpoint;
        let Some(key) = key else { return Ok(None) };
        let text = format!("{}{}", wire.auth.prefix, key.expose_secret());
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let message = "its key contains characters that no key has; set it again";
            ProviderError::new(ErrorClass::Authentication, message)
        })?;
        value.set_sensitive(true);
        Ok(Some((wire.auth.header, value)))
    }

    /// Adds instructions for requesting a sub-discussion, for a model without tools.
    fn with_fence_offer(&self, call: Arc<Call>) -> Arc<Call> {
        match fenced::offer(&call).filter(|_| !self.model.quirks.tools) {
            Some(offer) => Arc::new(fenced::before_task(&call, &offer)),
            None => call,
        }
    }

    /// The error without any part of the key.
    pub(crate) fn without_key(&self, error: ProviderError) -> ProviderError {
        errors::scrubbed(error, self.endpoint.key.as_ref())
    }

    /// The error of the HTTP client, without the address and without the key.
    pub(crate) fn client_error(&self, error: reqwest::Error) -> ProviderError {
        errors::from_client(error, self.endpoint.key.as_ref())
    }
}

/// The body as JSON. Faster than its `Display`, and without room for more: it is kept until the
/// answer comes.
fn written(body: &Value) -> Result<Vec<u8>, ProviderError> {
    let mut bytes = serde_json::to_vec(body)
        .map_err(|error| ProviderError::new(ErrorClass::Validation, error.to_string()))?;
    bytes.shrink_to_fit();
    Ok(bytes)
}

const JSON: &str = "application/json";
const STREAMS: &str = "text/event-stream, application/x-ndjson, application/json";

impl Provider for Remote {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let call = self.with_fence_offer(call);
        let outgoing = (self.endpoint.wire.encode)(&call, &self.model);
        let request = self.request(&outgoing.path, Some(&outgoing.body));
        let request = request.map(|request| request.header(ACCEPT, STREAMS));
        let filter = fenced::Filter::of(&call).filter(|_| !self.model.quirks.tools);
        Box::pin(AnswerStream::of(Unsent { remote: self.clone(), request, filter }))
    }

    fn check<'a>(&'a self, _who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.health.clone().check(self.clone()))
    }

    fn noticed(&self) -> Option<String> {
        self.health.noticed(&self.model.name)
    }
}
