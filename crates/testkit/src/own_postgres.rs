//! A PostgreSQL server of a test's own, which may be killed, restarted and copied.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::{
    postgres::{Owner, programs},
    proxy::low_listener,
};

/// How long the server may take to start on a busy machine.
const START: Duration = Duration::from_secs(60);

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It ends its connections and writes what it has.
    Fast,
    /// It ends at once and recovers at its next start, as after a loss of power.
    Immediate,
}

/// A server in a folder of its own, until it is dropped.
pub struct OwnPostgres {
    programs: PathBuf,
    owner: Owner,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    process: Option<Child>,
}

impl OwnPostgres {
    /// Creates and starts a server in this folder, which must not exist, with these settings
    /// (`name=value`).
    ///
    /// # Panics
    /// If PostgreSQL is not installed: a check is never skipped silently.
    pub fn start(folder: &Path, settings: &[&str]) -> io::Result<Self> {
        let mut server = OwnPostgres::placed(folder, settings)?;
        let arguments = ["-D", "data", "-U", "postgres", "--auth=trust", "--no-sync", "--encoding=UTF8"];
        server.run("initdb", &[&arguments[..], &["--locale=C.UTF-8"]].concat())?;
        server.go_on()?;
        Ok(server)
    }

    /// A standby of this server in another folder; `name` is its name in
    /// `synchronous_standby_names`.
    pub fn standby(&self, folder: &Path, name: &str) -> io::Result<Self> {
        let settings: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        let mut standby = OwnPostgres::placed(folder, &settings)?;
        let source = format!(
            "host={} port={} user=postgres application_name={name}",
            self.folder.display(),
            self.port
        );
        standby.run("pg_basebackup", &["-D", "data", "-R", "-c", "fast", "--no-sync", "-d", &source])?;
        standby.go_on()?;
        Ok(standby)
    }

    fn placed(folder: &Path, settings: &[&str]) -> io::Result<Self> {
        let programs = programs().expect("PostgreSQL is installed; `cargo xtask setup` installs it");
        let owner = Owner::find();
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        chown(folder, Some(owner.user), Some(owner.group))?;
        let port = low_listener().local_addr()?.port();
        let settings = settings.iter().map(|it| (*it).to_owned()).collect();
        Ok(OwnPostgres { programs, owner, folder: folder.to_owned(), port, settings, process: None })
    }

    fn run(&self, program: &str, arguments: &[&str]) -> io::Result<()> {
        let done = self.owner.command(&self.programs.join(program), &self.folder).args(arguments).output()?;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() { Ok(()) } else { Err(io::Error::other(format!("{program}: {told}"))) }
    }

    /// Starts it again on the same port.
    pub fn go_on(&mut self) -> io::Result<()> {
        let mut command = self.owner.command(&self.programs.join("postgres"), &self.folder);
        command.args(["-D", "data", "-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        command.arg("-k").arg(&self.folder).args(["-c", "log_min_messages=fatal"]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        self.process = Some(command.spawn()?);
        let began = Instant::now();
        while let Err(error) = self.sql("SELECT 1") {
            if START < began.elapsed() {
                return Err(io::Error::other(format!("PostgreSQL doesn't start: {error}")));
            }
            sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Stops it, and waits for its end.
    pub fn stop(&mut self, how: Stop) -> io::Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let signal = match how {
            Stop::Fast => "-INT",
            Stop::Immediate => "-QUIT",
        };
        Command::new("kill").arg(signal).arg(process.id().to_string()).status()?;
        process.wait().map(drop)
    }

    /// Makes a standby the primary.
    pub fn promote(&self) -> io::Result<()> {
        self.sql("SELECT pg_promote(true, 30)").map(drop).map_err(io::Error::other)
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL, and returns what it prints.
    pub fn sql(&self, sql: &str) -> Result<String, String> {
        let done = Command::new(self.programs.join("psql"))
            .args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", "postgres", "-p"])
            .arg(self.port.to_string())
            .arg("-h")
            .arg(&self.folder)
            .args(["-c", sql])
            .output()
            .map_err(|error| error.to_string())?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
        }
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}

impl Drop for OwnPostgres {
    fn drop(&mut self) {
        drop(self.stop(Stop::Immediate));
        drop(fs::remove_dir_all(&self.folder));
    }
}
