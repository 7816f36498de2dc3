//! `[store]`: where discussions are kept, and what the processes that share a store agree on.

use std::{fmt, ops::RangeInclusive};

use quorum_core::seams::Node;
use uuid::Uuid;

use super::{
    Config, Mistakes, places,
    presets::{EffectiveValue, Origin},
    unknown,
};

/// The allowed range for the lease, in seconds.
const LEASE: RangeInclusive<i64> = 3..=300;

/// The settings of the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Store {
    /// After how many seconds without a sign of life others take this process for dead, if set.
    pub lease: Option<u64>,
    /// The PostgreSQL database that discussions are kept in, instead of a file.
    pub url: Option<DatabaseUrl>,
}

/// The URL of a PostgreSQL database. It may contain a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Checks a URL. The error is for people and doesn't quote it.
    pub fn parse(url: &str) -> Result<Self, String> {
        check(url)?;
        Ok(DatabaseUrl(url.to_owned()))
    }

    /// The whole URL.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// The URL without its password and its parameters.
    #[must_use]
    pub fn shown(&self) -> String {
        shown(&self.0)
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl(…)")
    }
}

#[cfg(feature = "postgres")]
fn check(url: &str) -> Result<(), String> {
    quorum_store_postgres::Address::parse(url).map(drop).map_err(|error| error.to_string())
}

#[cfg(feature = "postgres")]
fn shown(url: &str) -> String {
    quorum_store_postgres::Address::parse(url).map(|it| it.to_string()).unwrap_or_default()
}

#[cfg(not(feature = "postgres"))]
fn shown(_url: &str) -> String {
    String::new()
}

#[cfg(not(feature = "postgres"))]
fn check(_url: &str) -> Result<(), String> {
    Err("this build of the program can't use PostgreSQL".to_owned())
}

pub(super) fn read(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        match (key.as_str(), value) {
            ("lease", toml::Value::Integer(seconds)) if LEASE.contains(seconds) => {
                config.store.lease = u64::try_from(*seconds).ok();
            }
            ("lease", other) => {
                let (first, last) = (LEASE.start(), LEASE.end());
                let message =
                    format!("store.lease must be a whole number from {first} to {last}, not {other}");
                return Err(message.into());
            }
            ("url", toml::Value::String(url)) => {
                let url = DatabaseUrl::parse(url).map_err(|error| format!("store.url: {error}"))?;
                config.store.url = Some(url);
            }
            // The value may be a password in the wrong place, so it isn't quoted.
            ("url", _) => return Err("store.url must be a text".to_owned().into()),
            _ => return Err(unknown("key in [store]", key, ["lease", "url"]).into()),
        }
    }
    Ok(())
}

impl Config {
    /// How long this process may be silent before others take it for dead.
    #[must_use]
    pub fn lease_ms(&self) -> u64 {
        self.store.lease.map_or(Node::LEASE_MS, |seconds| seconds * 1_000)
    }

    /// The values of `[store]`, with the URL as it is [shown](DatabaseUrl::shown).
    pub(super) fn values_of_store(&self) -> impl Iterator<Item = EffectiveValue> {
        let seconds = i64::try_from(self.lease_ms() / 1_000).unwrap_or(i64::MAX);
        let written = || Origin::File("store".to_owned());
        let lease =
            ("lease", toml::Value::Integer(seconds), self.store.lease.map_or(Origin::BuiltIn, |_| written()));
        let url = self.store.url.as_ref().map(|url| {
            let is_other = places::database_url().is_some_and(|it| it == url.secret());
            let origin = if is_other { Origin::Environment } else { written() };
            ("url", toml::Value::String(url.shown()), origin)
        });
        [lease].into_iter().chain(url).map(|(key, value, origin)| EffectiveValue {
            section: "store".to_owned(),
            key: key.to_owned(),
            value,
            origin,
        })
    }

    /// A digest of what must be the same on all nodes: providers, presets, defaults, limits, tools,
    /// tokens, and what a tenant may run and queue. It shows no secret and no path.
    #[must_use]
    pub fn digest(&self) -> String {
        let server = &self.server;
        let mut tokens: Vec<_> = server.owners().map(|(name, it, caps)| (name, it.name(), caps)).collect();
        // Not every process has the variables of all tokens.
        tokens.sort_by_key(|it| it.0);
        let shared = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {tokens:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            self.retention_days,
            self.discussions,
            self.rows,
            self.presets,
            self.defaults,
            self.limits,
            self.store.lease,
            self.tools,
            self.workflows,
            server.max_running_of_tenant,
            server.max_queued,
            server.tasks
        );
        Uuid::new_v5(&Uuid::NAMESPACE_OID, shared.as_bytes()).simple().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read_text(text: &str) -> Result<Config, String> {
        let parsed = Config::parse(text, Path::new("config.toml"), "data".into());
        parsed.map_err(|error| error.to_string())
    }

    #[test]
    fn the_lease_is_read_and_bounded() {
        assert_eq!(read_text("").unwrap().lease_ms(), 15_000);
        assert_eq!(read_text("[store]\nlease = 3").unwrap().lease_ms(), 3_000);
        let check = |text: &str, expected: &str| {
            let error = read_text(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check("[store]\nlease = 2", "store.lease must be a whole number from 3 to 300, not 2");
        check("[store]\nlease = \"3\"", "store.lease must be a whole number");
        check("[store]\nlees = 3", "did you mean lease?");
    }

    #[test]
    #[cfg(feature = "postgres")]
    fn the_url_is_checked_and_never_shown() {
        let config = read_text("[store]\nurl = \"postgres://ann:secret@db/panel\"").unwrap();
        assert_eq!(
            config.store.url.as_ref().map(DatabaseUrl::secret),
            Some("postgres://ann:secret@db/panel")
        );
        assert!(!format!("{config:?}").contains("secret"));
        for wrong in ["\"mysecret\"", "7777", "\"postgres://ann:mysecret@db:x/panel\""] {
            let error = read_text(&format!("[store]\nurl = {wrong}")).unwrap_err();
            assert!(error.contains("store.url") && !error.contains("mysecret"), "{error}");
        }
    }

    #[test]
    fn the_digest_tells_configurations_apart_and_not_places() {
        let digest = |text: &str, directory: &str| {
            Config::parse(text, Path::new("config.toml"), directory.into()).unwrap().digest()
        };
        assert_eq!(digest("", "here"), digest("", "there"));
        assert_ne!(digest("", "here"), digest("[defaults]\nrounds = 4", "here"));
        assert_ne!(digest("", "here"), digest("[retention]\ndays = 4", "here"));
        assert_eq!(
            digest("", "here"),
            digest("[server]\nmax_running = 9", "here"),
            "machines differ in size"
        );
    }

    #[test]
    fn presets_of_one_name_that_differ_and_shares_of_tenants_are_told_apart() {
        let digest =
            |text: &str| Config::parse(text, Path::new("config.toml"), "data".into()).unwrap().digest();
        assert_ne!(digest("[presets.deep]\nrounds = 4"), digest("[presets.deep]\nrounds = 5"));
        assert_ne!(digest("[server]\nmax_queued = 9"), digest("[server]\nmax_queued = 8"));
        assert_ne!(digest("[server]\nmax_running_of_tenant = 9"), digest(""));
    }
}
