//! Whether a provider could answer, found out without paying, and remembered for a while (INV-DISC-100, D02).

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

/// So long a provider that was there is taken to be there.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// So long one that was not is not asked again: long enough for a burst of discussions, short enough for a person who put it right.
const BAD_FOR: Duration = Duration::from_secs(3);

/// Whoever takes longer to answer so small a question hangs. Less than the engine waits, so that it is remembered.
const LONGEST: Duration = Duration::from_secs(4);

/// The same for a server on this machine, which may have its hands full with a model that is being loaded.
const LONGEST_HERE: Duration = Duration::from_secs(9);

/// The longest list of models that is read; one vendor's is about a megabyte.
pub(crate) const LONGEST_LIST: usize = 8 << 20;

/// As much as is read of an answer that a model is not there.
const LONGEST_DENIAL: usize = 64 << 10;

/// What servers with one model are asked for, whatever it is called.
pub(crate) const WHICHEVER: &str = "default";

/// So many of the models that are there are named in place of one that is not.
const NAMED: usize = 3;

/// What was found out about the models of one provider, or is being found out.
#[derive(Debug, Default)]
pub(crate) struct Health {
    asked: Mutex<BTreeMap<String, Asking>>,
}

/// One question for all who want to know. It stands still where nobody waits for it, and goes on with the next who does.
type Asking = Shared<BoxFuture<'static, Found>>;

#[derive(Debug, Clone)]
struct Found {
    at: Instant,
    result: Result<Noticed, ProviderError>,
}

/// What was noticed about a model that can be asked: mostly nothing, else a sentence.
type Noticed = Option<String>;

impl Found {
    fn holds(&self) -> bool {
        self.at.elapsed() < if self.result.is_ok() { GOOD_FOR } else { BAD_FOR }
    }
}

impl Health {
    pub(crate) async fn check(self: Arc<Self>, remote: Remote) -> Result<(), ProviderError> {
        self.asking(remote).await.result.map(drop)
    }

    /// What was noticed about a model when it was checked last.
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
                // The question must not keep alive what keeps the question.
                let remote = Remote { health: Arc::default(), ..remote };
                let asking = find_out(remote).boxed().shared();
                asked.insert(model, asking.clone());
                asking
            }
        }
    }
}

async fn find_out(remote: Remote) -> Found {
    let longest = if is_this_machine(&remote.endpoint.base) { LONGEST_HERE } else { LONGEST };
    let patience = longest.min(Duration::from_millis(remote.patience.first_ms));
    let result = timeout(patience, ask(&remote)).await.unwrap_or_else(|_| Err(hangs(patience)));
    Found { at: Instant::now(), result }
}

/// A provider that wants us to wait is there: everyone waits in its lane.
async fn ask(remote: &Remote) -> Result<Noticed, ProviderError> {
    let asked = match key_holds(remote).await {
        Ok(()) => ask_for_model(remote).await,
        Err(refused) => Err(refused),
    };
    asked.or_else(|error| if error.class == ErrorClass::RateLimit { Ok(None) } else { Err(error) })
}

/// Where anybody may see the list of models, that says nothing about the key.
async fn key_holds(remote: &Remote) -> Result<(), ProviderError> {
    let Some(path) = remote.endpoint.key_path.as_deref() else { return Ok(()) };
    let response = remote.request(path, None)?.send().await.map_err(|error| remote.trouble(error))?;
    if matches!(response.status().as_u16(), 401 | 403) {
        Err(refused(remote, response).await)
    } else {
        Ok(())
    }
}

async fn ask_for_model(remote: &Remote) -> Result<Noticed, ProviderError> {
    let probe = (remote.endpoint.wire.probe)(&remote.model);
    let request = remote.request(&probe.path, probe.body.as_ref())?;
    let response = request.send().await.map_err(|error| remote.trouble(error))?;
    if let Some(error) = web_page(&response) {
        return Err(error);
    }
    match (response.status().as_u16(), probe.shows) {
        (200, Shows::ByStatus) => Ok(None),
        (404, Shows::ByStatus) => {
            let body = read_some(response, LONGEST_DENIAL).await;
            let denied = denied(remote.endpoint.wire, &remote.model.name, &body);
            denied.map(|()| None).map_err(|error| remote.without_key(error))
        }
        (200, Shows::ByList) => Ok(unlisted(&remote.model.name, &read_some(response, LONGEST_LIST).await)),
        // A server without such a list may have the model all the same.
        (404 | 405 | 501, Shows::ByList) => Ok(None),
        _ => Err(refused(remote, response).await),
    }
}

/// A vendor that does not know the model says so in an error of its own; a gateway in front of it that only does not know the question
/// may have the model all the same.
fn denied(wire: &Wire, model: &str, body: &str) -> Result<(), ProviderError> {
    let read: Value = serde_json::from_str(body).unwrap_or_default();
    if read.get("error").is_none() {
        return Ok(());
    }
    let refused = Refused { status: 404, header: &|_| None, body, now: Timestamp::UNIX_EPOCH };
    let told = (wire.refusal)(&refused).message;
    Err(no_such_model(model, &format!(": {told}")))
}

/// A warning where the list does not have the model. Many servers answer for models that they don't
/// list, so whether it is there shows when it is called. What can't be read as a list tells nothing,
/// and vendors don't list their `-latest` names.
fn unlisted(model: &str, list: &str) -> Noticed {
    let list: Value = serde_json::from_str(list).unwrap_or_default();
    let models = list.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names: Vec<&str> = models.iter().filter_map(|it| it.get("id")?.as_str()).collect();
    let is_there = names.iter().any(|name| is_called(name, model));
    if names.is_empty() || is_there || model == WHICHEVER || model.ends_with("-latest") {
        return None;
    }
    Some(format!("its list names no model {model}; it names {}", nearest(model, names)))
}

/// Those that begin most like it.
fn nearest(model: &str, mut names: Vec<&str>) -> String {
    let alike = |name: &&str| model.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    names.sort_by_key(|name| std::cmp::Reverse(alike(name)));
    let more = names.len().saturating_sub(NAMED);
    let named = names[..names.len().min(NAMED)].join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Whether somebody may mean this name of a list: the name itself, its last part, one that only leaves out a date or a tag, or one with
/// a variant that the list does not have (`:online`).
fn is_called(listed: &str, model: &str) -> bool {
    let is = |listed: &str, model: &str| match listed.strip_prefix(model) {
        Some(rest) => rest.is_empty() || rest.starts_with([':', '@']) || is_date(rest),
        None => false,
    };
    let last = listed.rsplit('/').next().unwrap_or(listed);
    let plain = model.rsplit_once(':').map_or(model, |(name, _)| name);
    [model, plain].into_iter().any(|model| is(listed, model) || is(last, model))
}

/// `-2026-01-01`, `-20260101`, `-0709`: what vendors add to a name that stands for its latest version.
fn is_date(rest: &str) -> bool {
    let digits = rest.strip_prefix('-').map_or(0, |it| it.chars().take_while(char::is_ascii_digit).count());
    digits >= 4
}

fn hangs(patience: Duration) -> ProviderError {
    let message = format!("it did not say within {} ms whether it is there", patience.as_millis());
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
    fn inv_disc_100_who_is_not_there_is_told_with_who_is() {
        let list = r#"{"data":[{"id":"a"},{"id":"gpt-5"},{"id":"b"},{"id":"gpt-4"},{"id":"go"}]}"#;
        let told = unlisted("gpt-6", list).unwrap();
        assert_eq!(told, "its list names no model gpt-6; it names gpt-5, gpt-4, go and 2 more");
    }

    #[test]
    fn inv_disc_100_a_gateway_that_does_not_know_the_question_denies_nothing() {
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
