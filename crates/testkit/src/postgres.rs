//! A PostgreSQL server for tests, from the distribution's package, shared by all test processes.
//!
//! The first test that needs it starts it; it ends by itself once no test has used it for ten
//! seconds. Each test gets a schema of its own.

use std::{
    fs::{self, File},
    io,
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

use uuid::Uuid;

/// How long the server may take to start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// Runs the server until no process has locked `users` for ten seconds. It takes the lock `start`
/// to stop, so that no test begins meanwhile.
const SUPERVISE: &str = r#"
"$1/postgres" -D data -k "$PWD" -p "$2" -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=300 \
    -c ssl=on -c ssl_cert_file=../server.crt -c ssl_key_file=../server.key \
    -c shared_buffers=32MB -c autovacuum=off -c log_min_messages=fatal >log 2>&1 &
server=$!
idle=0
exec 8<start 9<users
while kill -0 "$server" 2>/dev/null; do
    sleep 1
    if flock -n -x 9; then flock -u 9; idle=$((idle + 1)); else idle=0; fi
    if [ "$idle" -ge 10 ] && flock -n 8; then
        if flock -n -x 9; then kill -INT "$server"; wait "$server"; rm -rf data port; exit; fi
        flock -u 8
        idle=0
    fi
done
rm -f port
"#;

/// Makes a certificate for `localhost`, and an authority that has signed it.
const CERTIFY: &str = r#"
new="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
printf subjectAltName=DNS:localhost >names
openssl req -x509 $new -keyout ca.key -out ca.crt -days 3650 -subj /CN=authority &&
openssl req $new -keyout server.key -out server.csr -subj /CN=localhost &&
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out server.crt -days 3650 -extfile names
"#;

/// Who may log in: `guarded` with a password, `unsafe` without TLS only, and everyone else freely.
const LOGINS: &str = "host all guarded all scram-sha-256
hostnossl all unsafe all trust
hostssl all unsafe all reject
local all all trust
host all all all trust
";

/// `guarded` has a password, and `reader` may not write.
const ROLES: &str = "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right-word';
    CREATE ROLE unsafe LOGIN SUPERUSER;
    CREATE ROLE reader LOGIN SUPERUSER; ALTER ROLE reader SET default_transaction_read_only = on";

/// A schema of its own in the test server, dropped at the end.
pub struct Database {
    server: &'static Server,
    schema: String,
}

impl Database {
    /// A new schema. Panics with a remedy if PostgreSQL is not installed: a test is never skipped
    /// silently.
    #[must_use]
    pub fn fresh() -> Self {
        let (server, schema) = (Server::shared(), format!("t{}", Uuid::new_v4().simple()));
        server.psql(&format!("CREATE SCHEMA {schema}"));
        Database { server, schema }
    }

    /// The URL of the schema.
    #[must_use]
    pub fn url(&self) -> String {
        let folder = self.server.folder.to_string_lossy().replace('/', "%2F");
        let options = format!("-c%20search_path%3D{}", self.schema);
        format!("postgres://postgres@{folder}:{}/postgres?options={options}", self.server.port)
    }

    /// The URL of the schema over TCP, for tests with a proxy in between.
    #[must_use]
    pub fn tcp_url(&self, port: u16) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres?options=-c%20search_path%3D{}", self.schema)
    }

    /// The URL of the schema over TCP for this host and login (`guarded:right-word`, `reader`,
    /// `unsafe`), with further parameters.
    #[must_use]
    pub fn login_url(&self, login: &str, host: &str, parameters: &str) -> String {
        let Database { server, schema } = self;
        format!(
            "postgres://{login}@{host}:{}/postgres?options=-c%20search_path%3D{schema}{parameters}",
            server.port
        )
    }

    /// The certificate of the authority that signed the server's certificate for `localhost`.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.server.folder.join("ca.crt")
    }

    /// The TCP port of the server.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.server.port
    }

    /// Creates a database of this name with these options, which ends with the server.
    pub fn create(&self, name: &str, options: &str) {
        self.server.psql(&format!("CREATE DATABASE {name} {options}"));
    }

    /// Runs SQL in the schema, and returns what it prints.
    pub fn run(&self, sql: &str) -> String {
        self.server.psql(&format!("SET search_path = {}; {sql}", self.schema))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("SET client_min_messages = warning; DROP SCHEMA {} CASCADE", self.schema);
        drop(self.server.try_psql(&sql));
    }
}

struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Locked while this process may use the server.
    _users: File,
}

impl Server {
    fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| Server::find_or_start().expect("PostgreSQL starts for tests"))
    }

    fn find_or_start() -> io::Result<Self> {
        let programs = programs().expect("PostgreSQL is installed; `cargo xtask setup` installs it");
        let owner = Owner::find();
        let folder = std::env::temp_dir().join(format!("quorum-postgres-tls-{}", owner.user));
        fs::create_dir_all(&folder)?;
        chown(&folder, Some(owner.user), Some(owner.group))?;
        let (start, users) = (lock_file(&folder.join("start"))?, lock_file(&folder.join("users"))?);
        start.lock()?;
        users.lock_shared()?;
        let port = fs::read_to_string(folder.join("port")).ok().and_then(|it| it.trim().parse().ok());
        let mut server = Server { programs, folder, port: port.unwrap_or_default(), _users: users };
        if port.is_none() || server.try_psql("SELECT 1").is_err() {
            server.start(&owner)?;
        }
        Ok(server)
    }

    fn start(&mut self, owner: &Owner) -> io::Result<()> {
        let data = self.folder.join("data");
        if data.exists() {
            fs::remove_dir_all(&data)?;
        }
        let initialised = owner
            .command(&self.programs.join("initdb"), &self.folder)
            .args([
                "-D",
                "data",
                "-U",
                "postgres",
                "--auth=trust",
                "--no-sync",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
            ])
            .output()?;
        assert!(initialised.status.success(), "{}", String::from_utf8_lossy(&initialised.stderr));
        fs::write(data.join("pg_hba.conf"), LOGINS)?;
        let certified = owner.command(Path::new("sh"), &self.folder).args(["-c", CERTIFY]).status()?;
        assert!(certified.success(), "`openssl` makes a certificate");
        self.port = free_port();
        let mut supervisor = owner.command(Path::new("sh"), &self.folder);
        supervisor.args(["-c", SUPERVISE, "postgres"]).arg(&self.programs).arg(self.port.to_string());
        // It outlives this test, and must not end with its process group.
        drop(supervisor.process_group(0).spawn()?);
        let began = Instant::now();
        while let Err(error) = self.try_psql("SELECT 1") {
            assert!(began.elapsed() < START, "PostgreSQL doesn't start: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.psql(ROLES);
        fs::write(self.folder.join("port"), self.port.to_string())
    }

    fn psql(&self, sql: &str) -> String {
        self.try_psql(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn try_psql(&self, sql: &str) -> Result<String, String> {
        let output = Command::new(self.programs.join("psql"))
            .args([
                "-XAtq",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "postgres",
                "-d",
                "postgres",
                "-p",
                &self.port.to_string(),
            ])
            .arg("-h")
            .arg(&self.folder)
            .args(["-c", sql])
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The user that runs the server: PostgreSQL refuses to run as root.
pub(crate) struct Owner {
    pub(crate) user: u32,
    pub(crate) group: u32,
    is_other: bool,
}

impl Owner {
    pub(crate) fn find() -> Self {
        let own = fs::metadata("/proc/self").expect("a process has a folder");
        if own.uid() != 0 {
            return Owner { user: own.uid(), group: own.gid(), is_other: false };
        }
        let number = |option: &str| {
            let output = Command::new("id").args([option, "postgres"]).output().expect("`id` can be run");
            let number = String::from_utf8_lossy(&output.stdout).trim().parse();
            number.expect("the package of PostgreSQL has made the user `postgres`")
        };
        Owner { user: number("-u"), group: number("-g"), is_other: true }
    }

    pub(crate) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if self.is_other {
            command.uid(self.user).gid(self.group);
        }
        command
    }
}

/// The folder with the programs of the newest version that is installed.
pub(crate) fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |it: &PathBuf| it.file_name().and_then(|it| it.to_str()?.parse::<u32>().ok());
    let newest = versions.map(|it| it.path()).filter(|it| it.join("bin/initdb").exists()).max_by_key(number);
    newest.map(|it| it.join("bin"))
}

fn lock_file(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).read(true).open(path)
}

/// A free port below those that the system gives to clients.
fn free_port() -> u16 {
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (first..32_000).find(is_free).expect("a port is free")
}
