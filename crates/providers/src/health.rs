//! Checks whether a provider is available, without paying, and caches the result for a while
//! (INV-DISC-100, D02).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use jiff::Timestamp;
use quorum_core::model::error::{ErrorClass, ProviderError};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::{
    http::{Remote, read_some, refused, web_page},
    setup::address::is_this_machine,
    wire::{Refused, Shows, Wire},
};

/// How long a successful check is trusted.
const TRUST_SUCCESS_FOR: Duration = Duration::from_secs(60);

/// How long a failed check is trusted: long enough for a burst of discussions, short enough for a
/// person who has fixed the cause.
const TRUST_FAILURE_FOR: Duration = Duration::from_secs(3);

/// Timeout of a check. Shorter than the engine waits, so that the result is cached.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Timeout of a check of a server on this machine, which may be busy loading a model.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(9);

/// The most bytes read of a list of models; one vendor's list is about a megabyte.
pub(crate) const MAX_LIST_BYTES: usize = 8 << 20;

/// The most bytes read of a response that denies a model.
const MAX_DENIAL_BYTES: usize = 64 << 10;

/// The model name for servers that have only one model, whatever it is called.
pub(crate) const ANY_MODEL: &str = "default";

/// How many available models are named when the requested one is missing.
const MODELS_NAMED: usize = 3;

/// Finished and pending checks of one provider's models.
#[derive(Debug, Default)]
pub(crate) struct Health {
    asked: Mutex<BTreeMap<String, Asking>>,
}

/// A check shared by all callers. It makes no progress while no caller waits for it, and continues
/// with the next one.
type Asking = Shared<BoxFuture<'static, Found>>;

#[derive(Debug, Clone)]
struct Found {
    at: Instant,
    result: Result<Noticed, ProviderError>,
}

/// A remark about an available model: a sentence, mostly empty.
type Noticed = Option<String>;

impl Found {
    fn holds(&self) -> bool {
        self.at.elapsed() < if self.result.is_ok() { TRUST_SUCCESS_FOR } else { TRUST_FAILURE_FOR }
    }
}

impl Health {
    pub(crate) async fn check(self: Arc<Self>, remote: Remote) -> Result<(), ProviderError> {
        self.asking(remote).await.result.map(drop)
    }

    /// The remark about a model when it was checked last.
    pub(crate) fn noticed(&self, model: &str) -> Noticed {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(model)?.peek()?.result.clone().ok()?
    }

    fn asking(&self, remote: Remote) -> Asking {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match asked.get(&remote.model.name) {
            Some(asking) if asking.peek().is_none_or(Found::holds) => asking.clone(),
            Some(_) | None => {
                let model = remote.model.name.clone();
                // Otherwise the check would keep the cache alive that holds it: a reference cycle.
                let remote = Remote { health: Arc::default(), ..remote };
                let asking = find_out(remote).boxed().shared();
                asked.insert(model, asking.clone());
                asking
            }
        }
    }
}

async fn find_out(remote: Remote) -> Found {
    let longest = if is_this_machine(&remote.endpoint.base) { LOCAL_TIMEOUT } else { TIMEOUT };
    let wait = longest.min(Duration::from_millis(remote.timeouts.first_ms));
    let result = timeout(wait, ask(&remote)).await.unwrap_or_else(|_| Err(hangs(wait)));
    Found { at: Instant::now(), result }
}

/// A rate-limited provider counts as available: calls wait in its lane.
async fn ask(remote: &Remote) -> Result<Noticed, ProviderError> {
    let asked = match key_holds(remote).await {
        Ok(()) => ask_for_model(remote).await,
        Err(refused) => Err(refused),
    };
    asked.or_else(|error| if error.class == ErrorClass::RateLimit { Ok(None) } else { Err(error) })
}

/// Checks the key separately where the list of models is public and so proves nothing about the
/// key.
async fn key_holds(remote: &Remote) -> Result<(), ProviderError> {
    let Some(path) = remote.endpoint.key_path.as_deref() else { return Ok(()) };
    let response = remote.request(path, None)?.send().await.map_err(|error| remote.client_error(error))?;
    if matches!(response.status().as_u16(), 401 | 403) {
        Err(refused(remote, response).await)
    } else {
        Ok(())
    }
}

async fn ask_for_model(remote: &Remote) -> Result<Noticed, ProviderError> {
    let probe = (remote.endpoint.wire.probe)(&remote.model);
    let request = remote.request(&probe.path, probe.body.as_ref())?;
    let response = request.send().await.map_err(|error| remote.client_error(error))?;
    if let Some(error) = web_page(&response) {
        return Err(error);
    }
    match (response.status().as_u16(), probe.shows) {
        (200, Shows::ByStatus) => Ok(None),
        (404, Shows::ByStatus) => {
            let body = read_some(response, MAX_DENIAL_BYTES).await;
            let denied = denied(remote.endpoint.wire, &remote.model.name, &body);
            denied.map(|()| None).map_err(|error| remote.without_key(error))
        }
        (200, Shows::ByList) => Ok(unlisted(&remote.model.name, &read_some(response, MAX_LIST_BYTES).await)),
        // A server without a list endpoint may still have the model.
        (404 | 405 | 501, Shows::ByList) => Ok(None),
        _ => Err(refused(remote, response).await),
    }
}

/// Interprets a 404. A vendor that lacks the model responds with an error of its own; a gateway
/// that merely lacks this endpoint may still have the model.
fn denied(wire: &Wire, model: &str, body: &str) -> Result<(), ProviderError> {
    let read: Value = serde_json::from_str(body).unwrap_or_default();
    if read.get("error").is_none() {
        return Ok(());
    }
    let refused = Refused { status: 404, header: &|_| None, body, now: Timestamp::UNIX_EPOCH };
    let told = (wire.refusal)(&refused).message;
    Err(no_such_model(model, &format!(": {told}")))
}

/// A warning if the list does not contain the model. Many servers answer for models they don't
/// list, so only the call decides. An unreadable list proves nothing, and vendors don't list their
/// `-latest` names.
fn unlisted(model: &str, list: &str) -> Noticed {
    let list: Value = serde_json::from_str(list).unwrap_or_default();
    let models = list.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = models.iter().filter_map(|it| it.get("id")?.as_str()).collect();
    let is_there = names.iter().any(|name| is_called(name, model));
    if names.is_empty() || is_there || model == ANY_MODEL || model.ends_with("-latest") {
        return None;
    }
    Some(format!("its list names no model {model}; it names {}", nearest(model, names)))
}

/// The names that share the longest prefix with the model's name.
fn nearest(model: &str, mut names: Vec<&str>) -> String {
    let alike = |name: &&str| model.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    names.sort_by_key(|name| std::cmp::Reverse(alike(name)));
    let more = names.len().saturating_sub(MODELS_NAMED);
    let named = names[..names.len().min(MODELS_NAMED)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Whether the model's name refers to this listed name: the name itself, its last part, one that
/// only omits a date or a tag, or one with a variant that the list lacks (`:online`).
fn is_called(listed: &str, model: &str) -> bool {
    let is = |listed: &str, model: &str| match listed.strip_prefix(model) {
        Some(rest) => rest.is_empty() || rest.starts_with([':', '@']) || is_date(rest),
        None => false,
    };
    let last = listed.rsplit('/').next().unwrap_or(listed);
    let plain = model.rsplit_once(':').map_or(model, |(name, _)| name);
    [model, plain].into_iter().any(|model| is(listed, model) || is(last, model))
}

/// A date suffix such as `-2026-01-01`, `-20260101` or `-0709`, which vendors append to a name that
/// means its latest version.
fn is_date(rest: &str) -> bool {
    let digits = rest.strip_prefix('-').map_or(0, |it| it.chars().take_while(char::is_ascii_digit).count());
    digits >= 4
}

fn hangs(wait: Duration) -> ProviderError {
    let message = format!("it did not answer the availability check within {} ms", wait.as_millis());
    ProviderError::new(ErrorClass::Timeout, message)
}

fn no_such_model(model: &str, more: &str) -> ProviderError {
    ProviderError::new(ErrorClass::Validation, format!("it has no model named {model}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::wire;

    #[test]
    fn inv_disc_100_a_list_shows_whether_the_model_is_there() {
        let check = |model: &str, list: &str, expected: bool| {
            assert_eq!(unlisted(model, list).is_none(), expected, "{model} in {list}");
        };
        let list = r#"{"data":[{"id":"gpt-5.1-2026-01-01"},{"id":"models/alpha-1"},{"id":"tiny:7b"}]}"#;
        check("gpt-5.1", list, true);
        check("alpha-1", list, true);
        check("models/alpha-1", list, true);
        check("alpha-1:online", list, true);
        check("tiny", list, true);
        check("beta-1", list, false);
        check("gpt", list, false);
        check("gpt-5", list, false);
        check("alpha", list, false);
        check("g", list, false);
        check("beta-latest", list, true);
        check("default", list, true);
        check("beta-1", r#"{"data":[]}"#, true);
        check("beta-1", "<html>", true);
    }

    #[test]
    fn inv_disc_100_a_missing_model_is_reported_with_the_nearest_ones() {
        let list = r#"{"data":[{"id":"a"},{"id":"gpt-5"},{"id":"b"},{"id":"gpt-4"},{"id":"go"}]}"#;
        let told = unlisted("gpt-6", list).unwrap();
        assert_eq!(told, "its list names no model gpt-6; it names gpt-5, gpt-4, go and 2 more");
    }

    #[test]
    fn inv_disc_100_a_gateway_without_the_endpoint_denies_nothing() {
        let check = |name: &str, body: &str, expected: Option<&str>| {
            let told = denied(wire(name).unwrap(), "m", body).err().map(|it| it.message);
            assert_eq!(told.as_deref(), expected, "{body}");
        };
        let anthropic = r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#;
        check("anthropic", anthropic, Some("it has no model named m: model: m (404)"));
        let ollama = "it has no model named m: model 'm' not found (404); fetch it with `ollama pull m`";
        check("ollama", r#"{"error":"model 'm' not found"}"#, Some(ollama));
        check("gemini", r#"{"detail":"Not Found"}"#, None);
        check("gemini", "<html>not found</html>", None);
    }
}
