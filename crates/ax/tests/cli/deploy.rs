//! The deployment files, as far as they can be checked without containers: they are read, what they
//! name exists, and the figures that must agree do.

use std::{fs, path::PathBuf, process::Command};

use serde_json::{Value, json};

use crate::user::User;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn compose() -> Value {
    serde_saphyr::from_str(&text("compose.yaml")).unwrap()
}

/// The value of an instruction or a setting: the rest of the line that starts with it.
fn rest_of(name: &str, start: &str) -> String {
    let text = text(name);
    let line = text.lines().find_map(|line| line.strip_prefix(start));
    line.unwrap_or_else(|| panic!("{name} has no line {start}")).trim().to_owned()
}

/// The seconds in `75s` or `75`.
fn seconds(text: &str) -> u64 {
    text.trim_end_matches('s').parse().unwrap()
}

#[test]
fn the_nodes_configuration_is_read_by_the_program() {
    let user = User::new();
    let mut check = user.command(&["config", "check"]);
    check.env("AX_CONFIG", folder().join("config.toml")).env("QUORUM_TOKEN", "0123456789abcdef");
    let output = check.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn containers_are_given_files_and_variables_that_exist() {
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    assert_eq!(services.keys().collect::<Vec<_>>(), ["database", "node", "proxy"]);
    assert_eq!(compose["services"]["node"]["deploy"]["replicas"], 3);
    let named_volumes = compose["volumes"].as_object().unwrap();
    for volume in services.values().flat_map(|it| it["volumes"].as_array().into_iter().flatten()) {
        let source = volume.as_str().unwrap().split(':').next().unwrap();
        let exists = named_volumes.contains_key(source) || folder().join(source).exists();
        assert!(exists, "{source} is neither a volume nor a file");
    }
    let build = &compose["services"]["node"]["build"];
    let context = folder().join(build["context"].as_str().unwrap());
    assert!(context.join(build["dockerfile"].as_str().unwrap()).exists());
    let known: Vec<String> =
        text("example.env").lines().filter_map(|it| Some(it.split_once('=')?.0.to_owned())).collect();
    for used in text("compose.yaml").split("${").skip(1) {
        let name = used.split(|it: char| !it.is_ascii_uppercase() && it != '_').next().unwrap();
        assert!(known.iter().any(|it| it == name), "{name} is not in example.env");
    }
}

#[test]
fn the_image_has_the_program_and_an_ordinary_user() {
    assert_eq!(rest_of("Dockerfile", "ENTRYPOINT"), "[\"/usr/local/bin/ax\"]");
    assert_eq!(rest_of("Dockerfile", "CMD"), "[\"serve\"]");
    assert_eq!(rest_of("Dockerfile", "STOPSIGNAL"), "SIGTERM");
    assert_ne!(rest_of("Dockerfile", "USER"), "root");
    let build = rest_of("Dockerfile", "RUN cargo build");
    assert!(build.contains("--locked --profile dist --package quorum-ax"), "{build}");
    assert!(text("Dockerfile").contains("/src/target/dist/ax /usr/local/bin/ax\n"));
}

#[test]
fn the_image_contains_no_keys_and_logs_what_happens() {
    let ignored = text("../.dockerignore");
    assert_eq!(ignored.lines().collect::<Vec<_>>(), ["/.git", "/target", "/deploy/.env"]);
    assert_eq!(rest_of("Dockerfile", "ENV AX_LOG="), "json");
    assert!(text("quorum.service").contains("/ax serve --log json\n"));
}

#[test]
fn nodes_wait_until_the_database_accepts_connections_over_tcp() {
    let compose = compose();
    let check = &compose["services"]["database"]["healthcheck"]["test"];
    let expected = ["CMD", "pg_isready", "--host", "127.0.0.1", "--username", "quorum"];
    assert_eq!(*check, json!(expected), "the socket is open while the image creates the database, too");
    assert_eq!(compose["services"]["node"]["depends_on"]["database"]["condition"], "service_healthy");
}

#[test]
fn a_node_that_is_stopped_has_time_to_record_calls_under_way() {
    let config: toml::Table = text("config.toml").parse().unwrap();
    let drain = config["server"]["drain"].as_integer().unwrap().unsigned_abs();
    let compose = compose();
    let grace = seconds(compose["services"]["node"]["stop_grace_period"].as_str().unwrap());
    let timeout = seconds(&rest_of("quorum.service", "TimeoutStopSec="));
    assert!(drain < grace && drain < timeout, "{drain} {grace} {timeout}");
}

#[test]
fn the_proxy_reaches_the_port_that_nodes_listen_on() {
    let config: toml::Table = text("config.toml").parse().unwrap();
    let port = config["server"]["listen"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    assert_eq!(rest_of("Dockerfile", "EXPOSE"), port);
    assert!(text("Caddyfile").contains(&format!("dynamic a node {port} {{")), "another service or port");
    let compose = compose();
    let published = compose["services"]["proxy"]["ports"][0].as_str().unwrap();
    assert!(text("Caddyfile").contains(&format!("\n:{} {{", published.rsplit(':').next().unwrap())));
}

#[test]
fn the_service_is_a_valid_unit() {
    let unit = text("quorum.service");
    for line in unit.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let is_section = line.starts_with('[') && line.ends_with(']');
        assert!(is_section || line.split_once('=').is_some_and(|it| !it.0.contains(' ')), "{line}");
    }
    // The program itself is not installed here.
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("quorum.service");
    let runnable = unit.replace("/usr/bin/ax", "/bin/true").replace("Documentation=man:ax(1)\n", "");
    fs::write(&file, runnable).unwrap();
    let Ok(output) = Command::new("systemd-analyze").arg("verify").arg(&file).output() else {
        eprintln!("skipped: systemd-analyze is not installed");
        return;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!told.contains("quorum.service"), "{told}");
}
