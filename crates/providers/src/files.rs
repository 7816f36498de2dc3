//! Writes small files atomically and readable by the user alone.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Replaces the file's content. A reader sees either the old or the new content; other users can't
/// read it.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let draft = folder.join(name);
    // A draft left by a crash would make `create_new` fail.
    let _ = fs::remove_file(&draft);
    let written = write(&draft, text).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written?;
    File::open(folder)?.sync_all()
}

fn write(draft: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut open = options.open(draft)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
