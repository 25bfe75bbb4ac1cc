//! What shipped programs and libraries ask of the system.

use super::output;
use std::path::Path;
use std::process::Command;

/// The C library's own parts and GCC's unwinder: what may be needed.
const ALLOWED: [&str; 4] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-"];

/// The newest version of glibc whose symbols these files want, as in `2.34`. An error names a library that no package of ours
/// depends on.
pub fn glibc(files: &[&Path]) -> Result<String, String> {
    let mut newest = (2, 17);
    for file in files {
        let text = output(Command::new("readelf").args(["--dynamic", "--version-info", "--wide"]).arg(file))?;
        if let Some(other) = needed(&text).find(|n| !ALLOWED.iter().any(|a| n.starts_with(a))) {
            return Err(format!("{} needs {other}", file.display()));
        }
        newest = newest.max(versions(&text).max().unwrap_or(newest));
    }
    Ok(format!("{}.{}", newest.0, newest.1))
}

fn needed(readelf: &str) -> impl Iterator<Item = &str> {
    readelf.lines().filter(|l| l.contains("(NEEDED)")).filter_map(|l| l.split(['[', ']']).nth(1))
}

fn versions(readelf: &str) -> impl Iterator<Item = (u32, u32)> {
    readelf.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(rest.len());
        let mut numbers = rest[..end].split('.').map(|n| n.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_libraries_are_read() {
        let text = " 0x01 (NEEDED)  Shared library: [libgcc_s.so.1]\n 0x01 (NEEDED) Shared library: [libc.so.6]\n\
            0x10: Name: GLIBC_2.9  Flags: none\n 0x20: Name: GLIBC_2.34  Flags: none\n Name: GLIBC_2.2.5 Name: GLIBC_PRIVATE";
        assert_eq!(needed(text).collect::<Vec<_>>(), ["libgcc_s.so.1", "libc.so.6"]);
        assert_eq!(versions(text).max(), Some((2, 34)));
    }
}
