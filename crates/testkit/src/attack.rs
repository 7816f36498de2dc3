//! Reports attacks that were withstood, for the table of `cargo xtask attack`.

/// Prints that this many tries got nothing through. A test calls it at its end, so that a failure
/// prints no such line.
pub fn withstood(name: &str, tries: usize) {
    println!("attack: {name} | {tries} | 0");
}
