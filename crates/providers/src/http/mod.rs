//! A provider behind HTTP: sends what a wire made of a call, and reads the stream that comes back.
//!
//! The wire translates, this file travels. One client for all providers elsewhere and one for those on this machine, so that connections
//! are shared and kept; no redirects, no compression, no retries of its own, keys in headers only.

mod answer;
mod trouble;
mod vectors;

pub(crate) use answer::{read_some, refused, web_page};
pub(crate) use vectors::Vectoriser;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{
    future::BoxFuture,
    stream::{self, BoxStream},
};
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
    source::{Endpoint, Patience},
    wire::Model,
};

/// Whoever does not take a connection within this is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an unused connection is kept.
const KEPT: Duration = Duration::from_secs(90);

const AGENT: &str = concat!("quorum/", env!("CARGO_PKG_VERSION"));

/// The clients of a process, one for servers on this machine and one for all others, each made when it is first needed: reading the
/// system's certificates takes a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct Web(Arc<Clients>);

#[derive(Debug, Default)]
struct Clients {
    here: OnceLock<Client>,
    elsewhere: OnceLock<Client>,
}

impl Web {
    /// The client for this address. What is sent to this machine is not encrypted, and so is never sent through a proxy: others could
    /// read along.
    pub(crate) fn client(&self, base: &Url) -> Result<Client, ProviderError> {
        let is_here = is_this_machine(base);
        let place = if is_here { &self.0.here } else { &self.0.elsewhere };
        if let Some(client) = place.get() {
            return Ok(client.clone());
        }
        let settings = if is_here { settings().no_proxy() } else { settings() };
        let client = settings.build().map_err(|error| trouble::of(error, None))?;
        Ok(place.get_or_init(|| client).clone())
    }
}

fn settings() -> ClientBuilder {
    // Fails only when the program has chosen its cryptography already, which is just as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEPT)
        .dns_resolver(guard::resolver())
}

/// One model of one provider, over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) web: Web,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) model: Model,
    pub(crate) patience: Patience,
    pub(crate) health: Arc<Health>,
    /// Where everyone waits who wants to ask this provider.
    pub(crate) lane: Arc<Lane>,
}

impl Remote {
    /// A request to this path under the base address, with the key and what the wire always sends.
    pub(crate) fn request(&self, path: &str, body: Option<&Value>) -> Result<RequestBuilder, ProviderError> {
        let endpoint = &self.endpoint;
        guard::allowed(&endpoint.base)
            .map_err(|error| ProviderError::new(ErrorClass::Validation, error.to_string()))?;
        let address = format!("{}{path}", endpoint.base.as_str().trim_end_matches('/'));
        let client = self.web.client(&endpoint.base)?;
        let request = match body {
            Some(body) => client.post(address).header(CONTENT_TYPE, JSON).body(body.to_string()),
            None => client.get(address),
        };
        let headers = endpoint.wire.headers.iter();
        let request = headers.fold(request, |request, (name, value)| request.header(*name, *value));
        match self.authorisation()? {
            Some((name, value)) => Ok(request.header(name, value)),
            None => Ok(request),
        }
    }

    /// The header that shows the key. It is marked, so that nothing prints it.
    fn authorisation(&self) -> Result<Option<(&'static str, HeaderValue)>, ProviderError> {
        let Endpoint { key, wire, .. } = &*self.endpoint;
        let Some(key) = key else { return Ok(None) };
        let text = format!("{}{}", wire.auth.prefix, key.expose_secret());
        let mut value = HeaderValue::from_str(&text).map_err(|_| {
            let message = "its key has characters that no key has; set it again";
            ProviderError::new(ErrorClass::Authentication, message)
        })?;
        value.set_sensitive(true);
        Ok(Some((wire.auth.header, value)))
    }

    /// A model without tools is told how else to ask for a sub-discussion.
    fn told_of_the_fence(&self, call: Arc<Call>) -> Arc<Call> {
        match fenced::offer(&call).filter(|_| !self.model.quirks.tools) {
            Some(offer) => {
                let system = format!("{}\n\n{offer}", call.system).into();
                Arc::new(Call { system, ..(*call).clone() })
            }
            None => call,
        }
    }

    /// The same error without anything of the key in it.
    pub(crate) fn without_key(&self, error: ProviderError) -> ProviderError {
        trouble::scrubbed(error, self.endpoint.key.as_ref())
    }

    /// What went wrong, without the address and without the key.
    pub(crate) fn trouble(&self, error: reqwest::Error) -> ProviderError {
        trouble::of(error, self.endpoint.key.as_ref())
    }
}

const JSON: &str = "application/json";
const STREAMS: &str = "text/event-stream, application/x-ndjson, application/json";

impl Provider for Remote {
    fn reply(&self, call: Arc<Call>) -> BoxStream<'static, Result<Chunk, ProviderError>> {
        let call = self.told_of_the_fence(call);
        let outgoing = (self.endpoint.wire.encode)(&call, &self.model);
        let request = self.request(&outgoing.path, Some(&outgoing.body));
        let request = request.map(|request| request.header(ACCEPT, STREAMS));
        let filter = fenced::Filter::of(&call).filter(|_| !self.model.quirks.tools);
        let begun = answer::Stage::Unsent(Box::new(answer::Unsent { remote: self.clone(), request, filter }));
        Box::pin(stream::try_unfold(begun, answer::next))
    }

    fn check<'a>(&'a self, _who: &'a Participant) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.health.clone().check(self.clone()))
    }

    fn noticed(&self) -> Option<String> {
        self.health.noticed(&self.model.name)
    }
}
