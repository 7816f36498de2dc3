//! Files and folders for their owner alone: discussions may hold what others must not read.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Makes a file that must not be there yet.
pub(crate) fn new_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Makes a folder and those above it, where they are missing.
pub(crate) fn folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Takes the rights of others away from a file or folder of ours. Where that is not possible, because
/// it belongs to somebody else or can't be written, it stays as it is; `ax doctor` tells.
#[cfg(unix)]
pub(crate) fn narrow(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(permissions) = fs::metadata(path).map(|it| it.permissions()) else { return };
    if permissions.mode() & 0o077 != 0 {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(permissions.mode() & 0o700));
    }
}

/// Elsewhere there are no such rights.
#[cfg(not(unix))]
pub(crate) fn narrow(_path: &Path) {}
