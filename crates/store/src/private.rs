//! Files and folders that only their owner can access: discussions may contain secrets.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Creates a file that must not exist yet.
pub(crate) fn new_file(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Creates a folder and its missing parents.
pub(crate) fn folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the permissions of others from a file or folder of ours. If that is not possible,
/// because it has another owner or can't be written, it stays as it is; the health check of the
/// program reports it.
#[cfg(unix)]
pub(crate) fn narrow(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(permissions) = fs::metadata(path).map(|it| it.permissions()) else { return };
    if permissions.mode() & 0o077 != 0 {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(permissions.mode() & 0o700));
    }
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub(crate) fn narrow(_path: &Path) {}
