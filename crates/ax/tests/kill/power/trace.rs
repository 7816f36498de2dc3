//! Reads what strace wrote: the calls that change files, in the order in which they began.

use std::collections::BTreeMap;

use super::disk::{Disk, Step};

/// Files whose loss means nothing: the shared memory, which is rebuilt, and locks of processes.
const PASSING: [&str; 2] = ["-shm", ".runners"];

/// The steps of a trace.
pub(super) fn read(trace: &str) -> Disk {
    let (mut disk, mut syncing) = (Disk::default(), BTreeMap::new());
    for line in trace.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if call.starts_with("<... fdatasync resumed") || call.starts_with("<... fsync resumed") {
            // Only what was written before the call began is certain to be on the disk.
            disk.0.extend(syncing.remove(process).map(|(path, from)| Step::Synced(path, from)));
        } else if let Some(path) = call.strip_prefix("fdatasync(").or_else(|| call.strip_prefix("fsync(")) {
            let sync = (opened(path), disk.0.len());
            match call.ends_with("<unfinished ...>") {
                true => drop(syncing.insert(process, sync)),
                false => disk.0.push(Step::Synced(sync.0, sync.1)),
            }
        } else if let Some(step) = step(call).filter(is_lasting) {
            disk.0.push(step);
        }
    }
    disk
}

fn step(call: &str) -> Option<Step> {
    let (name, rest) = call.split_once('(')?;
    let texts: Vec<&str> = rest.split('"').skip(1).step_by(2).collect();
    let numbers =
        || rest.rsplit('"').next()?.split(|it: char| !it.is_ascii_digit()).find(|it| !it.is_empty());
    match name {
        "openat" if rest.contains("O_CREAT") && !rest.contains(" = -1") => {
            Some(Step::Create(text(texts.first()?)))
        }
        "unlink" | "unlinkat" if !rest.contains(" = -1") => Some(Step::Remove(text(texts.first()?))),
        "rename" | "renameat" | "renameat2" => Some(Step::Rename(text(texts.first()?), text(texts.get(1)?))),
        "pwrite64" => {
            let at = rest.rsplit('"').next()?.split(", ").nth(2)?;
            let at = at.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()?;
            Some(Step::Write { path: opened(rest), at, bytes: bytes(texts.first()?) })
        }
        "ftruncate" => {
            let length = rest.split(">, ").nth(1)?.split(|it: char| !it.is_ascii_digit()).next()?;
            Some(Step::Truncate(opened(rest), length.parse().ok()?))
        }
        "write" if rest.starts_with("1<") => told(&text(texts.first()?)),
        // A file that is written without a position could not be rebuilt.
        "pwritev" => panic!("a call that is not understood: {} {:?}", name, numbers()),
        _ => None,
    }
}

/// The newest fact in lines of events.
fn told(lines: &str) -> Option<Step> {
    let seqs = lines.split("\"seq\":").skip(1).filter_map(|it| it.split(',').next()?.parse().ok());
    seqs.max().map(Step::Told)
}

fn is_lasting(step: &Step) -> bool {
    let path = match step {
        Step::Create(path) | Step::Remove(path) | Step::Rename(path, _) | Step::Truncate(path, _) => path,
        Step::Write { path, .. } => path,
        Step::Synced(..) | Step::Told(_) => return true,
    };
    path.contains("quorum.db") && !PASSING.iter().any(|it| path.contains(it))
}

/// The path of the first open file in these arguments: `5<\x2f\x74>`.
fn opened(arguments: &str) -> String {
    let path = arguments.split_once('<').and_then(|it| it.1.split_once('>'));
    text(path.map_or("", |it| it.0))
}

fn text(hexadecimal: &str) -> String {
    String::from_utf8_lossy(&bytes(hexadecimal)).into_owned()
}

/// Bytes that are written as `\x2f\x74`.
fn bytes(hexadecimal: &str) -> Vec<u8> {
    hexadecimal.split("\\x").skip(1).map(|it| u8::from_str_radix(&it[..2], 16).unwrap()).collect()
}
