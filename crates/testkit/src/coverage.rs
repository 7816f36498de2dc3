//! Lets the programs that tests start take part in the measurement of coverage.

/// The variable that says where a program writes which of its lines ran, for a program with an
/// environment of its own; `None` unless `cargo xtask coverage` runs the test. All programs of a
/// test share four files, since there may be thousands of them.
#[must_use]
pub fn profile() -> Option<(&'static str, String)> {
    const NAME: &str = "LLVM_PROFILE_FILE";
    std::env::var(NAME).ok().map(|file| (NAME, file.replace("%m-%p", "%4m")))
}
