//! The clients that `ax mcp install` knows: where each keeps its servers, and in which form.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::args::ClientName;

/// The name of our entry.
pub(super) const ENTRY: &str = "quorum";

/// A client.
pub(super) struct Client {
    pub(super) title: &'static str,
    /// Where its servers are configured.
    file: fn(&Places) -> PathBuf,
    pub(super) format: Format,
}

/// The form of a client's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON with comments: servers are fields of the object with this name.
    Json { servers: &'static str, entry: Entry },
    /// TOML: servers are tables below the one with this name.
    Toml { servers: &'static str },
}

/// What an entry has beside the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Plain,
    /// With its type.
    Typed,
    /// With a time limit for a call, in milliseconds.
    Timed(u64),
}

/// The folders that clients keep their configuration in.
pub(super) struct Places {
    pub(super) home: PathBuf,
    pub(super) here: PathBuf,
    /// Where the client keeps its configuration instead, if its own variable says so.
    pub(super) claude: Option<PathBuf>,
    pub(super) codex: Option<PathBuf>,
}

/// The client with this name.
pub(super) fn client(name: ClientName) -> Client {
    match name {
        ClientName::Claude => Client {
            title: "Claude Code",
            file: |places| places.claude.as_ref().unwrap_or(&places.home).join(".claude.json"),
            format: Format::Json { servers: "mcpServers", entry: Entry::Typed },
        },
        ClientName::Codex => Client {
            title: "Codex",
            file: |places| {
                places.codex.clone().unwrap_or_else(|| places.home.join(".codex")).join("config.toml")
            },
            format: Format::Toml { servers: "mcp_servers" },
        },
        ClientName::Gemini => Client {
            title: "Gemini CLI",
            file: |places| places.home.join(".gemini/settings.json"),
            format: Format::Json { servers: "mcpServers", entry: Entry::Timed(600_000) },
        },
        ClientName::Vscode => Client {
            title: "Visual Studio Code",
            file: |places| places.here.join(".vscode/mcp.json"),
            format: Format::Json { servers: "servers", entry: Entry::Typed },
        },
        ClientName::Cursor => Client {
            title: "Cursor",
            file: |places| places.home.join(".cursor/mcp.json"),
            format: Format::Json { servers: "mcpServers", entry: Entry::Plain },
        },
    }
}

impl Client {
    pub(super) fn file(&self, places: &Places) -> PathBuf {
        (self.file)(places)
    }

    /// The entry as a complete file.
    pub(super) fn document(&self, program: &Path) -> String {
        match self.format {
            Format::Json { servers, entry } => {
                let document = json!({ servers: { ENTRY: json_entry(entry, program) } });
                serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
            }
            Format::Toml { servers } => toml_table(servers, program),
        }
    }
}

/// The entry of a JSON file.
pub(super) fn json_entry(entry: Entry, program: &Path) -> Value {
    let mut fields = Map::new();
    if entry == Entry::Typed {
        fields.insert("type".to_owned(), json!("stdio"));
    }
    fields.insert("command".to_owned(), json!(program.to_string_lossy()));
    fields.insert("args".to_owned(), json!(["mcp"]));
    if let Entry::Timed(ms) = entry {
        fields.insert("timeout".to_owned(), json!(ms));
    }
    Value::Object(fields)
}

/// The entry of a TOML file. A JSON text is a TOML text as well.
pub(super) fn toml_table(servers: &str, program: &Path) -> String {
    let program = json!(program.to_string_lossy());
    format!("[{servers}.{ENTRY}]\ncommand = {program}\nargs = [\"mcp\"]\ntool_timeout_sec = 120\n")
}
