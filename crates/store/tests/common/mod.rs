//! A temporary folder for each test.

#![expect(clippy::unwrap_used, reason = "a test that has no folder can only stop")]

use std::path::{Path, PathBuf};

use uuid::Uuid;

/// A new folder that is deleted when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(Uuid::new_v4().to_string());
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The path of the test's database.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("quorum.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
