//! The start-up time of the command.

use std::{process::Command, time::Instant};

use anyhow::{Result, ensure};

use crate::table::Table;

/// Measures `ax --version`, the best of twenty runs. Needs the release binary, which `cargo xtask
/// bench` builds.
pub(crate) fn version(table: &mut Table) -> Result<()> {
    let folder = std::env::current_exe()?;
    let ax = folder.with_file_name("ax");
    ensure!(ax.exists(), "{} is missing; run this through `cargo xtask bench`", ax.display());
    let mut best = f64::MAX;
    for _ in 0..20 {
        let began = Instant::now();
        ensure!(Command::new(&ax).arg("--version").output()?.status.success(), "`ax --version` failed");
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    table.row("`ax --version`, best of 20", format!("{best:.1} ms"), "<= 10 ms", best <= 10.0);
    Ok(())
}
