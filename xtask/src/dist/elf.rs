//! Reads from an ELF file which versions of glibc its symbols need.

use std::fmt;

use anyhow::{Context as _, Result, bail};

/// A version of glibc: `2.34`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The section with the versions that are needed (`SHT_GNU_verneed`).
const VERSIONS_NEEDED: u32 = 0x6fff_fffe;

/// The oldest glibc that has every symbol this program uses; `None` if it uses none of them.
pub(super) fn oldest_glibc(file: &[u8]) -> Result<Option<Version>> {
    let elf = Elf::of(file)?;
    let Some(needed) = elf.sections()?.find(|it| it.kind == VERSIONS_NEEDED) else { return Ok(None) };
    let names = elf.section(needed.link)?;
    let mut newest = None;
    let mut at = needed.offset;
    for _ in 0..needed.info {
        let (count, mut entry, next) = (elf.half(at + 2)?, at + elf.word(at + 8)?, elf.word(at + 12)?);
        for _ in 0..count {
            newest = newest.max(glibc(elf.text(names.offset + elf.word(entry + 8)?)?));
            entry += elf.word(entry + 12)?;
        }
        at += next;
    }
    Ok(newest)
}

/// `GLIBC_2.34` as a version; other libraries have other names.
fn glibc(name: &str) -> Option<Version> {
    let mut numbers = name.strip_prefix("GLIBC_")?.split('.').map(|it| it.parse().ok());
    Some(Version(numbers.next()??, numbers.next()??))
}

/// A 64-bit little-endian ELF file.
struct Elf<'f> {
    file: &'f [u8],
}

/// A header of a section: only what is read here.
struct Section {
    kind: u32,
    offset: usize,
    /// The section with its names.
    link: usize,
    /// How many entries it has.
    info: usize,
}

impl<'f> Elf<'f> {
    fn of(file: &'f [u8]) -> Result<Self> {
        if file.get(..6) != Some(b"\x7fELF\x02\x01".as_slice()) {
            bail!("this is not a 64-bit program for Linux");
        }
        Ok(Elf { file })
    }

    fn bytes<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let bytes = self.file.get(at..at + N).context("the file ends early")?;
        Ok(bytes.try_into()?)
    }

    fn half(&self, at: usize) -> Result<usize> {
        Ok(u16::from_le_bytes(self.bytes(at)?).into())
    }

    fn word(&self, at: usize) -> Result<usize> {
        Ok(u32::from_le_bytes(self.bytes(at)?) as usize)
    }

    fn long(&self, at: usize) -> Result<usize> {
        Ok(u64::from_le_bytes(self.bytes(at)?) as usize)
    }

    fn text(&self, at: usize) -> Result<&'f str> {
        let rest = self.file.get(at..).context("the file ends early")?;
        let end = rest.iter().position(|it| *it == 0).context("a name without an end")?;
        Ok(std::str::from_utf8(&rest[..end])?)
    }

    fn section(&self, index: usize) -> Result<Section> {
        let at = self.long(0x28)? + index * self.half(0x3a)?;
        Ok(Section {
            kind: self.word(at + 4)? as u32,
            offset: self.long(at + 0x18)?,
            link: self.word(at + 0x28)?,
            info: self.word(at + 0x2c)?,
        })
    }

    fn sections(&self) -> Result<impl Iterator<Item = Section>> {
        let all: Result<Vec<Section>> = (0..self.half(0x3c)?).map(|it| self.section(it)).collect();
        Ok(all?.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_its_name() {
        assert_eq!(glibc("GLIBC_2.34"), Some(Version(2, 34)));
        assert_eq!(glibc("GLIBC_2.3.4"), Some(Version(2, 3)));
        assert_eq!(glibc("GLIBC_PRIVATE"), None);
        assert_eq!(glibc("GCC_3.0"), None);
        assert!(Version(2, 9) < Version(2, 34));
    }

    #[test]
    fn this_very_program_needs_a_glibc_that_is_not_newer_than_the_one_it_runs_with() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let needed = oldest_glibc(&file).unwrap();
        let running = std::process::Command::new("ldd").arg("--version").output().unwrap();
        let running = String::from_utf8(running.stdout).unwrap();
        let running = running.lines().next().unwrap().rsplit(' ').next().unwrap();
        let running = glibc(&format!("GLIBC_{running}"));
        assert!(needed.is_some() && needed <= running, "{needed:?} with {running:?}");
    }

    #[test]
    fn another_file_is_refused() {
        assert!(oldest_glibc(b"#!/bin/sh\n").is_err());
        assert!(oldest_glibc(b"\x7fELF\x02\x01").is_err());
    }
}
