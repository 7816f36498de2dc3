//! Tests that kill an embedding program with -9 while a local program answers it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use futures::StreamExt;
use quorum_core::seams::Provider;
use quorum_providers::{
    command::{CommandProvider, supervisor::Supervisor},
    source::Program,
};

use crate::{
    call::call,
    stage::{PATIENT, Stage},
};

/// The argument that makes this binary the embedding program.
pub(crate) const EMBED: &str = "embed";

/// Starts one child in the background and one in its own session. Both ignore every signal they can
/// and write their folder to a file. Continues when both have.
pub(crate) const LEAVES: &str = r#"
if [ "$2" = child ]; then
    trap '' TERM INT HUP PIPE
    while :; do echo x > "left-behind-$$"; sleep 0.05; done
fi
"$0" "$1" child & setsid "$0" "$1" child &
while [ "$(ls | wc -l)" -lt 2 ]; do sleep 0.01; done
"#;

/// The number of kills.
fn kills() -> usize {
    if std::env::var_os("QUORUM_LONG").is_some() { 50 } else { 10 }
}

/// Asks the program at this path, passing it this folder, and waits for ever.
pub(crate) async fn embed(arguments: &[String]) {
    let [path, folder, supervised] = arguments else { panic!("{arguments:?}") };
    let program = Program {
        path: PathBuf::from(path),
        arguments: vec![folder.clone()],
        dialect: "plain".to_owned(),
        supervisor: Supervisor::this_program().filter(|_| supervised == "supervised"),
        ..Program::default()
    };
    let mut answer = CommandProvider::new(program, None, PATIENT).unwrap().reply(Arc::new(call("?")));
    println!("{:?}", answer.next().await);
    std::future::pending::<()>().await;
}

/// An embedding program whose local program has begun to answer.
fn embedded(stage: &Stage, program: &Program, temporary: &Path, supervised: &str) -> Child {
    let mut embedded = Command::new(std::env::current_exe().unwrap())
        .arg(EMBED)
        .arg(&program.path)
        .arg(stage.path(""))
        .arg(supervised)
        .env("TMPDIR", temporary)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(embedded.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "Some(Ok(Text(\"Begun.\\n\")))\n");
    embedded
}

fn left(temporary: &Path) -> Vec<PathBuf> {
    fs::read_dir(temporary).unwrap().map(|it| it.unwrap().path()).collect()
}

/// A local program that never ends once it has begun.
fn endless(stage: &Stage) -> Program {
    stage.program("plain", &format!("{LEAVES}\necho Begun.; while :; do sleep 1; done"))
}

fn kill(mut embedded: Child) {
    embedded.kill().unwrap();
    embedded.wait().unwrap();
}

pub(crate) async fn with_supervisor() {
    let temporary = tempfile::tempdir().unwrap();
    for _ in 0..kills() {
        let stage = Stage::new();
        kill(embedded(&stage, &endless(&stage), temporary.path(), "supervised"));
        stage.is_empty_soon().await;
        // The lock is removed last, a moment after the folder.
        while !left(temporary.path()).is_empty() {
            tokio::task::yield_now().await;
        }
    }
}

pub(crate) async fn without_supervisor() {
    let (temporary, stage) = (tempfile::tempdir().unwrap(), Stage::new());
    kill(embedded(&stage, &endless(&stage), temporary.path(), "alone"));
    let abandoned = left(temporary.path());
    assert_eq!(abandoned.len(), 2, "a folder and its lock: {abandoned:?}");
    let next = Stage::new();
    let again = embedded(&next, &next.program("plain", "echo Begun."), temporary.path(), "alone");
    stage.is_empty_soon().await;
    let still: Vec<PathBuf> =
        left(temporary.path()).into_iter().filter(|it| abandoned.contains(it)).collect();
    assert_eq!(still, Vec::<PathBuf>::new());
    kill(again);
}
