//! Counts attempts, and keeps those that succeeded.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The tries of an attack, counted by several threads at once.
#[derive(Default)]
pub(crate) struct Tally {
    tries: AtomicUsize,
    through: Mutex<Vec<String>>,
}

impl Tally {
    /// Counts a try, which got through unless it was withstood.
    pub(crate) fn count(&self, is_withstood: bool, told: impl FnOnce() -> String) {
        self.count_all(1, is_withstood, told);
    }

    /// Counts tries that are made together.
    pub(crate) fn count_all(&self, tries: usize, is_withstood: bool, told: impl FnOnce() -> String) {
        self.tries.fetch_add(tries, Ordering::SeqCst);
        if !is_withstood {
            self.through.lock().unwrap().push(told());
        }
    }

    pub(crate) fn tries(&self) -> usize {
        self.tries.load(Ordering::SeqCst)
    }

    pub(crate) fn through(&self) -> Vec<String> {
        self.through.lock().unwrap().clone()
    }
}

/// Most of the time is spent waiting, so several are tried in parallel.
const AT_ONCE: usize = 4;

/// Tries all of these, several at once.
pub(crate) fn each<T: Sync>(all: &[T], attempt: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(one) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
            attempt(one);
        }
    };
    thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
}
