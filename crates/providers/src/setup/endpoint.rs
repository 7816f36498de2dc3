//! Determines how a provider is reached: over HTTP if it has a key, else through a program; a local
//! server needs neither.

use std::{fmt, net::SocketAddr, sync::Arc};

use reqwest::Url;
use secrecy::SecretString;

use crate::{
    catalog::{BaseVariable, Row},
    keys::Keys,
    setup::{
        KeyFrom, Machine,
        address::{self, Plain, Wrong},
        plan::Plan,
    },
    source::{Endpoint, Program, Transport},
    wire::wire,
};

/// Why a provider is not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// It has no key, and no program answers for it.
    Key {
        /// The variables that may hold its key.
        names: Vec<String>,
        /// The program that could answer instead.
        program: Option<String>,
    },
    /// The local server was not found.
    Server {
        /// The variable with its address.
        variable: String,
    },
    /// No model is configured.
    Model,
    /// No address is configured.
    Address,
    /// The address in the variable is refused.
    BadAddress {
        /// Which variable.
        variable: String,
        /// Why it is refused.
        wrong: Wrong,
    },
    /// The program was not found.
    Program(String),
    /// The wire format is unknown to this build.
    Wire(String),
}

/// Words what is missing. Each surface adds what to do about it, in terms of what its users can
/// type.
impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Key { names, .. } => write!(f, "there is no key in {}", names.join(" or ")),
            Missing::Server { .. } => f.write_str("no server was found"),
            Missing::Model => f.write_str("no model is named"),
            Missing::Address => f.write_str("no address is known"),
            Missing::BadAddress { variable, wrong } => write!(f, "the address in {variable} {wrong}"),
            Missing::Program(program) => write!(f, "the command {} was not found", file_name(program)),
            Missing::Wire(wire) => write!(f, "this build does not know the wire format {wire}"),
        }
    }
}

/// The last part of a path. Where programs are on this machine must not be shown to others.
#[must_use]
pub fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

type Found = (Result<Transport, Missing>, Option<KeyFrom>);

/// How a provider is reached, and where its key comes from.
pub(super) fn find(plan: &Plan<'_>, keys: &Keys, machine: &Machine<'_>) -> Found {
    if let Some(command) = plan.overrides.and_then(|it| it.command.as_ref()) {
        return (own_program(plan, command, machine), None);
    }
    match key(plan, keys, machine) {
        Some((key, from)) => (http(plan, Some(key), machine), Some(from)),
        None => (without_key(plan, machine), None),
    }
}

fn without_key(plan: &Plan<'_>, machine: &Machine<'_>) -> Result<Transport, Missing> {
    let cli = plan.row.and_then(|row| row.cli.as_ref());
    let path = cli.and_then(|cli| (machine.program)(&cli.program));
    if let (Some(cli), Some(path)) = (cli, path) {
        let environment = plan.overrides.map(|it| it.environment.clone()).unwrap_or_default();
        let (dialect, arguments) = (cli.dialect.clone(), Vec::new());
        return Ok(Transport::Command(Program { path, arguments, dialect, environment, supervisor: None }));
    }
    if plan.needs_key() {
        return Err(Missing::Key { names: plan.key_names(), program: cli.map(|cli| cli.program.clone()) });
    }
    match plan.row.filter(|row| row.local && plan.overrides.is_none()) {
        Some(row) if !is_available(row, machine) => {
            Err(Missing::Server { variable: row.base_url_env.name.clone() })
        }
        Some(_) | None => http(plan, None, machine),
    }
}

/// Whether a local server is available: its variable is set, or its port is open where that is
/// enough. An empty variable turns the search off.
fn is_available(row: &Row, machine: &Machine<'_>) -> bool {
    match (machine.variable)(&row.base_url_env.name) {
        Some(value) => !value.trim().is_empty(),
        None => row.listens && port(&row.base_url).is_some_and(|it| (machine.listens)(it)),
    }
}

fn port(base: &str) -> Option<SocketAddr> {
    base.strip_prefix("http://")?.split('/').next()?.parse().ok()
}

fn own_program(plan: &Plan<'_>, command: &[String], machine: &Machine<'_>) -> Result<Transport, Missing> {
    let (program, arguments) = command.split_first().ok_or(Missing::Program(String::new()))?;
    let path = (machine.program)(program).ok_or_else(|| Missing::Program(program.clone()))?;
    let usual = plan.row.and_then(|row| row.cli.as_ref()).map(|cli| cli.dialect.as_str());
    let dialect = plan.overrides.and_then(|it| it.dialect.as_deref()).or(usual).unwrap_or("plain").to_owned();
    let environment = plan.overrides.map(|it| it.environment.clone()).unwrap_or_default();
    Ok(Transport::Command(Program {
        path,
        arguments: arguments.to_vec(),
        dialect,
        environment,
        supervisor: None,
    }))
}

/// The first key that is set: in the environment, then in the file, each in the order of the
/// variables.
fn key(plan: &Plan<'_>, keys: &Keys, machine: &Machine<'_>) -> Option<(SecretString, KeyFrom)> {
    let names = plan.key_names();
    let set =
        |name: &String| (machine.variable)(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
    let in_environment = names
        .iter()
        .find_map(|name| Some((SecretString::from(set(name)?), KeyFrom::Environment(name.clone()))));
    in_environment.or_else(|| {
        names.iter().find_map(|name| Some((keys.get(name)?.clone(), KeyFrom::File(name.clone()))))
    })
}

fn http(plan: &Plan<'_>, key: Option<SecretString>, machine: &Machine<'_>) -> Result<Transport, Missing> {
    let base = base(plan, machine)?;
    let name = plan.wire().unwrap_or_default();
    let wire = wire(name).ok_or_else(|| Missing::Wire(name.to_owned()))?;
    if plan.model().is_none() && !plan.is_local() {
        return Err(Missing::Model);
    }
    // An address other than the vendor's may lack this path; the check then proves nothing.
    let key_path = plan.row.and_then(|row| row.key_path.clone());
    Ok(Transport::Http(Arc::new(Endpoint { base, wire, key, key_names: plan.key_names(), key_path })))
}

/// The base URL from the configuration, else from the vendor's variable, else the catalogue's.
fn base(plan: &Plan<'_>, machine: &Machine<'_>) -> Result<Url, Missing> {
    if let Some(base) = plan.overrides.and_then(|it| it.base_url.clone()) {
        return Ok(base);
    }
    let row = plan.row.ok_or(Missing::Address)?;
    let variable = &row.base_url_env;
    let said = (machine.variable)(&variable.name).filter(|it| !it.trim().is_empty());
    let plain = if plan.overrides.is_some_and(|it| it.insecure) { Plain::Allowed } else { Plain::Refused };
    match said {
        Some(said) => from_variable(said.trim(), row, plain)
            .map_err(|wrong| Missing::BadAddress { variable: variable.name.clone(), wrong }),
        None => address::checked(&row.base_url, plain).map_err(|_| Missing::Address),
    }
}

fn from_variable(said: &str, row: &Row, plain: Plain) -> Result<Url, Wrong> {
    let is_whole = said.contains("://");
    let whole = if row.local && !is_whole { format!("http://{said}") } else { said.to_owned() };
    let mut base = address::checked(&local_host(&whole, row), plain)?;
    if row.local && !is_whole && base.port().is_none() {
        // Fails only for addresses without a host, which were refused.
        let _ = base.set_port(port(&row.base_url).map(|it| it.port()));
    }
    add_path(&mut base, &row.base_url_env);
    Ok(base)
}

/// Replaces the unspecified address, with which servers listen on all interfaces, by this
/// machine's.
fn local_host(address: &str, row: &Row) -> String {
    if !row.local {
        return address.to_owned();
    }
    address.replacen("://0.0.0.0", "://127.0.0.1", 1).replacen("://[::]", "://[::1]", 1)
}

/// Appends the path that the vendor's clients append, unless the address already has it or another
/// version.
fn add_path(base: &mut Url, variable: &BaseVariable) {
    let path = base.path().trim_end_matches('/').to_owned();
    let is_version =
        |it: &str| it.strip_prefix("/v").is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()));
    let has_version = path.rfind('/').is_some_and(|at| is_version(&path[at..])) && is_version(&variable.path);
    if !variable.path.is_empty() && !path.ends_with(&variable.path) && !has_version {
        base.set_path(&format!("{path}{}", variable.path));
    }
}
