//! The state of files on a disk, derived from the calls that a process made.

use std::collections::BTreeMap;

/// A disk writes a sector whole, or not at all.
const SECTOR: usize = 512;

/// A call that changes files, or prints something.
#[derive(Debug)]
pub(super) enum Step {
    Create(String),
    Remove(String),
    Rename(String, String),
    Write {
        path: String,
        at: usize,
        bytes: Vec<u8>,
    },
    Truncate(String, usize),
    /// Everything written to this file or folder before the step with this number is on the disk.
    Synced(String, usize),
    /// The newest fact that was printed.
    Told(u64),
}

/// The fate of writes that were not synced when the power fails.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unsynced {
    Lost,
    Kept,
    /// Each sector by chance, from this seed.
    Torn(u64),
}

/// All steps of a process, in order.
#[derive(Default)]
pub(super) struct Disk(pub(super) Vec<Step>);

impl Disk {
    pub(super) fn steps(&self) -> usize {
        self.0.len()
    }

    pub(super) fn syncs(&self) -> usize {
        self.0.iter().filter(|it| matches!(it, Step::Synced(..))).count()
    }

    /// The newest fact printed before this moment.
    pub(super) fn told(&self, moment: usize) -> u64 {
        let told =
            self.0[..moment].iter().filter_map(|it| if let Step::Told(seq) = it { Some(*seq) } else { None });
        told.max().unwrap_or(0)
    }

    /// The files after a loss of power at this moment.
    pub(super) fn after(&self, moment: usize, unsynced: Unsynced) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::<String, Vec<u8>>::new();
        for (number, step) in self.0[..moment].iter().enumerate() {
            let is_kept = |sector: usize| match unsynced {
                _ if self.is_synced(number, moment) => true,
                Unsynced::Lost => false,
                Unsynced::Kept => true,
                Unsynced::Torn(seed) => drawn(seed, number, sector),
            };
            apply(&mut files, step, is_kept);
        }
        files
    }

    /// Whether this step was on the disk at this moment.
    fn is_synced(&self, number: usize, moment: usize) -> bool {
        let place = match &self.0[number] {
            Step::Create(path) | Step::Remove(path) | Step::Rename(path, _) => folder(path),
            Step::Write { path, .. } | Step::Truncate(path, _) => path,
            Step::Synced(..) | Step::Told(_) => return true,
        };
        self.0[number..moment]
            .iter()
            .any(|it| matches!(it, Step::Synced(path, from) if path == place && number < *from))
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |it| it.0)
}

fn apply(files: &mut BTreeMap<String, Vec<u8>>, step: &Step, is_kept: impl Fn(usize) -> bool) {
    match step {
        Step::Create(path) if is_kept(0) => drop(files.entry(path.clone()).or_default()),
        Step::Remove(path) if is_kept(0) => drop(files.remove(path)),
        Step::Rename(from, to) if is_kept(0) => {
            if let Some(bytes) = files.remove(from) {
                files.insert(to.clone(), bytes);
            }
        }
        Step::Truncate(path, length) if is_kept(0) => {
            if let Some(file) = files.get_mut(path) {
                file.resize(*length, 0);
            }
        }
        Step::Write { path, at, bytes } => {
            if let Some(file) = files.get_mut(path) {
                write(file, *at, bytes, is_kept);
            }
        }
        _ => {}
    }
}

fn write(file: &mut Vec<u8>, at: usize, bytes: &[u8], is_kept: impl Fn(usize) -> bool) {
    for (number, part) in bytes.chunks(SECTOR).enumerate().filter(|it| is_kept(it.0)) {
        let from = at + number * SECTOR;
        if file.len() < from + part.len() {
            file.resize(from + part.len(), 0);
        }
        file[from..from + part.len()].copy_from_slice(part);
    }
}

/// A coin, from a seed and the place of a sector.
fn drawn(seed: u64, step: usize, sector: usize) -> bool {
    let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((step as u64) << 20) ^ sector as u64;
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (number ^ (number >> 31)) & 1 == 1
}
