//! Stored API keys: one file that only the user may read, one line for each variable.

use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
};

use secrecy::ExposeSecret;
pub use secrecy::SecretString;

use crate::files;

/// The longest key in bytes; real ones are far shorter.
const MAX_KEY_BYTES: usize = 4_096;

/// The largest key file in bytes; real ones are far smaller.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

const HEADING: &str =
    "# API keys, by environment variable. They are secrets: keep this file readable by you alone.\n";

/// Keys by the environment variable whose place they take.
#[derive(Debug, Clone, Default)]
pub struct Keys(BTreeMap<String, SecretString>);

/// Why keys can't be read or stored. No variant contains a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// Other users may read the file.
    Exposed(PathBuf),
    /// The file can't be read or written.
    Unusable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A line can't be parsed. Its content is not reported: it may be a key.
    Garbled {
        /// The file.
        file: PathBuf,
        /// The line number, from 1.
        line: usize,
    },
    /// The given text can't be a key.
    NoKey(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exposed(file) => {
                let file = file.display();
                write!(
                    f,
                    "{file} can be read by others, so the keys in it are not used; run `chmod 600 {file}`"
                )
            }
            Error::Unusable { file, reason } => {
                write!(f, "the keys in {} can't be used: {reason}", file.display())
            }
            Error::Garbled { file, line } => {
                write!(f, "{}: line {line} can't be read; a line is NAME = \"key\"", file.display())
            }
            Error::NoKey(reason) => write!(f, "this can't be a key: {reason}; nothing was changed"),
        }
    }
}

impl std::error::Error for Error {}

impl Keys {
    /// Loads the keys in this file; none if it doesn't exist. A file that other users may read is
    /// refused.
    pub fn load(file: &Path) -> Result<Keys, Error> {
        let Some(text) = read(file)? else { return Ok(Keys::default()) };
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().map_or(0, |span| span.start.min(text.len()));
            garbled(file, &text[..text.floor_char_boundary(before)])
        })?;
        let mut keys = Keys::default();
        for (name, value) in table {
            let Some(key) = value.as_str().map(str::trim) else {
                let before = text.find(&name).unwrap_or_default();
                return Err(garbled(file, &text[..before]));
            };
            if !key.is_empty() {
                keys.0.insert(name, SecretString::from(key));
            }
        }
        Ok(keys)
    }

    /// The key of this variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&SecretString> {
        self.0.get(name)
    }

    /// The variables there are keys for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds a key, for tests and for programs that bring their own.
    #[must_use]
    pub fn with(mut self, name: &str, key: SecretString) -> Keys {
        self.0.insert(name.to_owned(), key);
        self
    }

    fn save(&self, file: &Path) -> Result<(), Error> {
        let line = |(name, key): (&String, &SecretString)| {
            let key = toml::Value::String(key.expose_secret().to_owned());
            format!("{} = {key}\n", toml::Value::String(name.clone()))
        };
        let text: String = std::iter::once(HEADING.to_owned()).chain(self.0.iter().map(line)).collect();
        files::replace(file, &text).map_err(|error| unusable(file, &error))
    }
}

/// Stores a key, replacing an earlier one of that variable. Returns whether there was one.
pub fn set(file: &Path, name: &str, key: &SecretString) -> Result<bool, Error> {
    let key = checked(key)?;
    let mut keys = Keys::load(file)?;
    let before = keys.0.insert(name.to_owned(), key);
    keys.save(file)?;
    Ok(before.is_some())
}

/// Removes a key. Returns whether there was one.
pub fn remove(file: &Path, name: &str) -> Result<bool, Error> {
    let mut keys = Keys::load(file)?;
    if keys.0.remove(name).is_none() {
        return Ok(false);
    }
    keys.save(file)?;
    Ok(true)
}

/// Checks that a key is one word of printable ASCII, since it goes into a header.
fn checked(key: &SecretString) -> Result<SecretString, Error> {
    let key = key.expose_secret().trim();
    if key.is_empty() {
        return Err(Error::NoKey("it is empty"));
    }
    if key.len() > MAX_KEY_BYTES {
        return Err(Error::NoKey("it is too long"));
    }
    if !key.chars().all(|it| it.is_ascii_graphic()) {
        return Err(Error::NoKey("it contains spaces or other characters that no key has"));
    }
    Ok(SecretString::from(key))
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    let open = match fs::File::open(file) {
        Ok(open) => open,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(file, &error)),
    };
    // Checks the open file, since its path may lead to another one by now.
    if is_exposed(&open.metadata().map_err(|error| unusable(file, &error))?) {
        return Err(Error::Exposed(file.to_owned()));
    }
    let mut text = String::new();
    let read = open.take(MAX_FILE_BYTES).read_to_string(&mut text);
    read.map(|_| Some(text)).map_err(|error| unusable(file, &error))
}

#[cfg(unix)]
fn is_exposed(file: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_exposed(_: &fs::Metadata) -> bool {
    false
}

fn garbled(file: &Path, before: &str) -> Error {
    Error::Garbled { file: file.to_owned(), line: before.matches('\n').count() + 1 }
}

fn unusable(file: &Path, error: &std::io::Error) -> Error {
    Error::Unusable { file: file.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word() {
        let checked = |key: &str| checked(&SecretString::from(key)).map(|it| it.expose_secret().to_owned());
        assert_eq!(checked(" sk-abc\n"), Ok("sk-abc".to_owned()));
        for key in ["", " \n", "two words", "a\nb", "sk-\u{e9}", &"x".repeat(MAX_KEY_BYTES + 1)] {
            assert!(matches!(checked(key), Err(Error::NoKey(_))), "{key:?}");
        }
    }

    #[test]
    fn s1_keys_are_not_shown_by_debug() {
        let keys = Keys::default().with("A_KEY", SecretString::from("canary"));
        assert!(!format!("{keys:?}").contains("canary"));
    }
}
