//! The address of a database: a URL, how it is shown without its password, and TLS.

use std::{fmt, sync::Arc, time::Duration};

use quorum_core::seams::StoreError;
use rustls::{
    ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer, pki_types::pem::PemObject,
};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::{
    Client, Config, Connection, Socket,
    config::{Host, SslMode, TargetSessionAttrs},
    tls::MakeTlsConnect,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::JobError;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(3);

/// How long a server may take to answer the login.
const GREETING: Duration = Duration::from_secs(5);

/// A connection, and what drives it.
pub(crate) type Connected =
    (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

/// After how long without an answer a connection counts as broken.
const SILENCE: Duration = Duration::from_secs(10);

/// The time between the probes of an idle connection: three unanswered ones end it.
const PROBES: Duration = Duration::from_secs(3);

/// How long a statement may run, as an option for the server.
const STATEMENT_TIMEOUT: &str = "-c statement_timeout=10s -c idle_in_transaction_session_timeout=30s";

/// The address of a PostgreSQL database. Its password is never shown.
#[derive(Clone)]
pub struct Address {
    config: Config,
    tls: MakeRustlsConnect,
    shown: String,
}

impl Address {
    /// Reads a URL like `postgres://user:password@host:5432/database`.
    ///
    /// Several hosts may be given, separated by commas; the first that can be written is used. A
    /// connection to another machine is encrypted, and the server's certificate is checked, unless
    /// the URL says `sslmode=disable`; `sslrootcert` names a file with the certificates to trust.
    pub fn parse(url: &str) -> Result<Self, StoreError> {
        let (url, root_certificates) = without_parameter(url, "sslrootcert");
        let (url, mode) = without_parameter(&url, "sslmode");
        let mode = mode.or_else(|| keyword(&url, "sslmode"));
        if is_ambiguous(&url) {
            return Err(not_understood());
        }
        // The error of the parser may quote a part of the password.
        let mut config: Config = url.parse().map_err(|_| not_understood())?;
        if config.get_hosts().is_empty() {
            return Err(StoreError::UnusableServer(
                "the address of the database names no host; it must look like postgres://user:password@host:5432/database"
                    .to_owned(),
            ));
        }
        let mode = ssl_mode(mode.as_deref(), &config)?;
        config.ssl_mode(mode);
        set_defaults(&mut config);
        let trusted = match (mode, root_certificates) {
            (SslMode::Disable, _) => Trusted::Nobody,
            (_, Some(file)) => Trusted::File(file),
            (_, None) => Trusted::System,
        };
        let tls = MakeRustlsConnect::new(client_config(trusted)?);
        Ok(Address { shown: shown(&config), config, tls })
    }

    /// Connects. The driver limits only how long a machine may take to accept, so a server that
    /// accepts and says nothing is given up here.
    pub(crate) async fn connect(&self) -> Result<Connected, JobError> {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(u32::MAX).max(1);
        let limit = GREETING + CONNECT * hosts.min(9);
        let connecting = self.config.connect(self.tls.clone());
        match tokio::time::timeout(limit, connecting).await {
            Ok(connected) => connected.map_err(JobError::NotConnected),
            Err(_) => Err(JobError::Silent),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

fn set_defaults(config: &mut Config) {
    config.connect_timeout(CONNECT).keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
    config.keepalives_interval(PROBES).keepalives_retries(3);
    if config.get_application_name().is_none() {
        config.application_name("quorum");
    }
    if config.get_target_session_attrs() == TargetSessionAttrs::Any {
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    let options =
        config.get_options().map_or(STATEMENT_TIMEOUT.to_owned(), |it| format!("{STATEMENT_TIMEOUT} {it}"));
    config.options(options);
}

/// How the connection is encrypted. Other than in libpq, there is no encryption without a check of
/// the certificate, because it protects from nobody that could read the connection.
fn ssl_mode(mode: Option<&str>, config: &Config) -> Result<SslMode, StoreError> {
    match mode {
        None if config.get_hosts().iter().all(is_local) => Ok(SslMode::Disable),
        None | Some("require" | "verify-ca" | "verify-full") => Ok(SslMode::Require),
        Some("prefer" | "allow") => Ok(SslMode::Prefer),
        Some("disable") => Ok(SslMode::Disable),
        Some(other) => Err(StoreError::UnusableServer(format!(
            "`sslmode={other}` in the address of the database is unknown; use `verify-full` or `disable`"
        ))),
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
        }
    }
}

/// Who may sign the certificate of a server.
enum Trusted {
    /// Nobody, because no connection is encrypted. A machine without certificates will do.
    Nobody,
    /// The authorities in this file.
    File(String),
    /// Those that the system trusts.
    System,
}

fn client_config(trusted: Trusted) -> Result<ClientConfig, StoreError> {
    let wrong = |error: rustls::Error| StoreError::UnusableServer(format!("TLS can't be set up: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(wrong)?;
    let builder = match trusted {
        Trusted::Nobody => builder.with_root_certificates(RootCertStore::empty()),
        Trusted::File(file) => builder.with_root_certificates(roots(&file)?),
        Trusted::System => builder.with_platform_verifier().map_err(wrong)?,
    };
    Ok(builder.with_no_client_auth())
}

fn roots(file: &str) -> Result<RootCertStore, StoreError> {
    let wrong = |error: &dyn fmt::Display| {
        StoreError::UnusableServer(format!(
            "the certificates in {file} (`sslrootcert`) can't be read: {error}"
        ))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    Ok(roots)
}

fn not_understood() -> StoreError {
    StoreError::UnusableServer(
        "the address of the database can't be understood; it must look like \
         postgres://user:password@host:5432/database, with `@ : / ? # %` in a password percent-encoded, `@` as `%40`"
            .to_owned(),
    )
}

fn is_url(address: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|it| address.starts_with(it))
}

/// Whether a URL has more than the one `@` that ends the password, or has that in a parameter. The
/// parser takes the first one for the end, so a part of the password would be shown as the host.
fn is_ambiguous(url: &str) -> bool {
    let Some((login, rest)) = url.split_once('@').filter(|_| is_url(url)) else { return false };
    rest.contains('@') || login.contains("password=")
}

/// The URL without this parameter, and its value. A `?` in the password begins no parameters.
fn without_parameter(url: &str, name: &str) -> (String, Option<String>) {
    let login = url.rfind('@').filter(|_| is_url(url)).unwrap_or_default();
    let Some(mark) = url[login..].find('?').map(|it| login + it) else { return (url.to_owned(), None) };
    let (base, query) = (&url[..mark], &url[mark + 1..]);
    let is_it = |it: &&str| it.split_once('=').is_some_and(|(key, _)| key == name);
    let value = query.split('&').find(is_it).and_then(|it| it.split_once('='));
    let value = value.map(|(_, value)| value.replace("%2F", "/").replace("%2f", "/"));
    let rest: Vec<&str> = query.split('&').filter(|it| !is_it(it)).collect();
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
    (url, value)
}

/// The value of a parameter in an address that is no URL: `host=db sslmode=disable`.
fn keyword(address: &str, name: &str) -> Option<String> {
    if is_url(address) {
        return None;
    }
    let value = address.split_whitespace().find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
    value.map(str::to_owned)
}

/// The URL without the password and the parameters.
fn shown(config: &Config) -> String {
    let host = |(place, host): (usize, &Host)| {
        let ports = config.get_ports();
        let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) if name.contains(':') => format!("[{name}]:{port}"),
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    };
    let hosts: Vec<String> = config.get_hosts().iter().enumerate().map(host).collect();
    let user = config.get_user().map_or(String::new(), |user| format!("{user}@"));
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{database}", hosts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: &str, mode: SslMode) {
        let address = Address::parse(url).unwrap();
        assert_eq!((address.to_string().as_str(), address.config.get_ssl_mode()), (expected, mode), "{url}");
        assert!(!format!("{address:?}").contains("secret"));
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        check(
            "postgres://ann:secret@localhost/panel",
            "postgres://ann@localhost:5432/panel",
            SslMode::Disable,
        );
        check(
            "postgresql://ann:secret@db.example:6000/panel",
            "postgres://ann@db.example:6000/panel",
            SslMode::Require,
        );
        check(
            "postgres://ann:secret@one:1,two:2/panel?sslmode=disable",
            "postgres://ann@one:1,two:2/panel",
            SslMode::Disable,
        );
        check("host=/run/pg user=ann password=secret", "postgres://ann@/run/pg:5432/ann", SslMode::Disable);
    }

    #[test]
    fn an_ipv6_host_is_shown_in_brackets() {
        let local = "postgres://ann:secret@[::1]:6000/panel";
        check(local, "postgres://ann@[::1]:6000/panel", SslMode::Disable);
        let other = "host=2001:db8::1 user=ann password=secret";
        check(other, "postgres://ann@[2001:db8::1]:5432/ann", SslMode::Require);
    }

    /// Runs in a process of its own, because the environment belongs to all threads.
    #[test]
    fn without_tls_a_machine_needs_no_certificates() {
        const IN_CHILD: &str = "QUORUM_TEST_WITHOUT_CERTIFICATES";
        const NAME: &str = "address::tests::without_tls_a_machine_needs_no_certificates";
        if std::env::var_os(IN_CHILD).is_none() {
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", NAME]).env(IN_CHILD, "1");
            child.envs(["SSL_CERT_FILE", "SSL_CERT_DIR"].map(|it| (it, "/no/such/place")));
            let done = child.output().unwrap();
            let told = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success() && told.contains("1 passed"), "{told}");
            return;
        }
        for url in ["postgres://ann@db/panel?sslmode=disable", "postgres://ann@127.0.0.1/panel"] {
            Address::parse(url).unwrap();
        }
        let error = Address::parse("postgres://ann@db/panel").unwrap_err().to_string();
        assert!(error.contains("TLS can't be set up"), "{error}");
    }

    #[test]
    fn an_address_of_keywords_says_how_it_is_encrypted() {
        let address = |mode: &str| format!("host=db.example user=ann password=secret{mode}");
        let shown = "postgres://ann@db.example:5432/ann";
        check(&address(""), shown, SslMode::Require);
        check(&address(" sslmode=disable"), shown, SslMode::Disable);
        check(&address(" sslmode=prefer"), shown, SslMode::Prefer);
    }

    #[test]
    fn a_special_character_in_a_password_is_told_from_a_separator() {
        let shown = "postgres://ann@db.example:5432/panel";
        for password in ["sec%40ret", "secret?", "sec/ret", "sec:ret#", "secret?sslmode=maybe"] {
            let url = |query: &str| format!("postgres://ann:{password}@db.example/panel{query}");
            check(&url(""), shown, SslMode::Require);
            check(&url("?sslmode=disable"), shown, SslMode::Disable);
        }
        let error = Address::parse("postgres://ann:sec@ret@db/panel").unwrap_err().to_string();
        assert!(error.contains("percent-encoded, `@` as `%40`"), "{error}");
    }

    #[test]
    fn an_address_without_a_host_is_refused() {
        for wrong in ["postgres:///panel", "postgres://", "user=ann password=secret"] {
            let error = Address::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("names no host"), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_invalid_address_is_refused_without_quoting_it() {
        for wrong in [
            "secret",
            "postgres://ann:sec ret@:x/",
            "postgres://ann:secret@db/panel?sslmode=maybe",
            "postgres://ann:other@secret@db/panel",
            "postgres://ann:other@secret/x@db/panel",
            "postgres://ann:other@db.example?user=secret@db/panel",
            "postgres://ann:other?sslmode=secret@more@db/panel",
            "postgres://db:5432/panel?user=ann&password=other@secret",
        ] {
            let error = Address::parse(wrong).map(|it| it.to_string()).unwrap_err().to_string();
            assert!(!error.contains("sec"), "{error}");
        }
        let missing = Address::parse("postgres://db/panel?sslrootcert=%2Fno%2Fsuch.pem").unwrap_err();
        assert!(missing.to_string().contains("/no/such.pem"), "{missing}");
    }
}
