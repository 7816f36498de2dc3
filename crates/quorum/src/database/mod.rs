//! Databases as a whole: updating their tables, checking them, and moving them.

mod check;
mod relocate;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use check::{Sample, Sound, check};
pub use relocate::{Error, Moved, Moving, relocate};

use quorum_core::seams::{Archive, Store, StoreError, transfer::Transfer};
use quorum_store::SqliteStore;

use crate::{
    Config,
    config::{make_directory, store::DatabaseUrl},
};

/// Where a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// An SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Shared(DatabaseUrl),
}

impl Location {
    /// Reads the URL of a PostgreSQL database or the path of a file. The error is for people and
    /// doesn't quote a URL.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_url = ["postgres://", "postgresql://"].iter().any(|it| text.starts_with(it));
        if !is_url {
            return Ok(Location::File(PathBuf::from(text)));
        }
        Ok(Location::Shared(DatabaseUrl::parse(text)?))
    }

    /// The database of the configuration.
    #[must_use]
    pub fn configured(config: &Config) -> Self {
        match &config.store.url {
            Some(url) => Location::Shared(url.clone()),
            None => Location::File(config.database()),
        }
    }

    /// The file of the configuration, also if the discussions are in another database.
    #[must_use]
    pub fn configured_file(config: &Config) -> Self {
        Location::File(config.database())
    }
}

/// How a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To use it: what is missing is added to its tables.
    Use,
    /// To update it: what only older programs use is taken away too.
    Migrate,
    /// To read what is there: it must exist.
    Read,
}

/// A database that can be used as a whole.
pub(crate) trait Whole: Store + Archive + Transfer {}

impl<S: Store + Archive + Transfer> Whole for S {}

/// An open database.
#[derive(Clone)]
pub struct Database {
    pub(crate) store: Arc<dyn Whole>,
    shown: String,
    versions: (u32, u32),
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.shown).finish()
    }
}

/// Shows where it is, without the password.
impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl Database {
    /// Opens a database.
    pub fn open(location: &Location, purpose: Purpose) -> Result<Self, StoreError> {
        match location {
            Location::File(file) => Database::open_file(file, purpose),
            Location::Shared(url) => Database::open_shared(url, purpose),
        }
    }

    fn open_file(file: &Path, purpose: Purpose) -> Result<Self, StoreError> {
        let shown = file.display().to_string();
        if purpose == Purpose::Read && !file.is_file() {
            return Err(StoreError::Unusable(format!("there is no database {shown}")));
        }
        if let Some(folder) = file.parent() {
            let failed =
                |error| StoreError::Unusable(format!("{} can't be created: {error}", folder.display()));
            make_directory(folder).map_err(failed)?;
        }
        let store = SqliteStore::open(file)?;
        let versions = store.versions();
        Ok(Database { store: Arc::new(store), shown, versions })
    }

    #[cfg(feature = "postgres")]
    fn open_shared(url: &DatabaseUrl, purpose: Purpose) -> Result<Self, StoreError> {
        use quorum_store_postgres::{Address, Options, PostgresStore, Tables};
        let address = Address::parse(url.secret())?;
        let shown = address.to_string();
        let tables = match purpose {
            Purpose::Use => Tables::Added,
            Purpose::Migrate => Tables::Migrated,
            Purpose::Read => Tables::Existing,
        };
        let options = Options { tables, ..Options::default() };
        let store = PostgresStore::open_with(address, options)?;
        let versions = store.versions();
        Ok(Database { store: Arc::new(store), shown, versions })
    }

    #[cfg(not(feature = "postgres"))]
    fn open_shared(_: &DatabaseUrl, _: Purpose) -> Result<Self, StoreError> {
        Err(StoreError::UnusableServer("this build of the program can't use PostgreSQL".to_owned()))
    }

    /// The version of its tables before it was opened, and now.
    #[must_use]
    pub fn versions(&self) -> (u32, u32) {
        self.versions
    }
}
