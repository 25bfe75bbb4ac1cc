//! The Python package: a wheel (PEP 427) with the tree of files inside the package, and the modules of `python/tuff`.

use super::tree::{File, Tree, read, text};
use super::{VERSION, links, machine};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Of `.data/…`, where a wheel's name allows only these.
const DISTRIBUTION: &str = "tuff_gpu";

/// The oldest glibc that the libraries need (a test of `libraries` looks).
const GLIBC: &str = "2_34";

fn tag() -> String {
    format!("py3-none-manylinux_{GLIBC}_{}", machine())
}

pub fn file_name() -> String {
    format!("{DISTRIBUTION}-{VERSION}-{}.whl", tag())
}

/// Of the tree, what programs need: neither manual pages nor documents nor the shells' completions.
fn is_needed(path: &str) -> bool {
    ["bin/", "lib/", "share/vulkan/", "include/"].iter().any(|folder| path.starts_with(folder))
        || path.starts_with("share/doc/tuff/") && !path.starts_with("share/doc/tuff/docs/")
}

/// That part of the tree; its pages link to nothing else.
pub fn needed(tree: &Tree) -> Tree {
    let copy = |file: &File| File { bytes: file.bytes.clone(), mode: file.mode };
    let part = tree.iter().filter(|(path, _)| is_needed(path));
    let mut part: Tree = part.map(|(path, file)| (path.clone(), copy(file))).collect();
    links::mend(&mut part);
    part
}

/// The wheel's bytes.
pub fn wheel(tree: &Tree, source: &Path, time: u64) -> Result<Vec<u8>, String> {
    let mut files: BTreeMap<String, (Vec<u8>, u32)> = BTreeMap::new();
    for (path, file) in needed(tree) {
        files.insert(format!("tuff/prefix/{path}"), (file.bytes, file.mode));
    }
    let modules = source.join("python/tuff");
    for path in super::tree::files(&modules)?.iter().filter(|p| p.extension().is_some_and(|e| e == "py")) {
        let name = path.strip_prefix(&modules).unwrap_or(path).display().to_string();
        files.insert(format!("tuff/{name}"), (text(path)?.replace("@VERSION@", VERSION).into_bytes(), 0o644));
    }
    let info = format!("{DISTRIBUTION}-{VERSION}.dist-info");
    let mut put =
        |name: &str, text: String| files.insert(format!("{info}/{name}"), (text.into_bytes(), 0o644));
    put("METADATA", metadata(&text(&source.join("python/README.md"))?));
    put(
        "WHEEL",
        format!("Wheel-Version: 1.0\nGenerator: tuff-xtask\nRoot-Is-Purelib: false\nTag: {}\n", tag()),
    );
    put("entry_points.txt", "[console_scripts]\ntuff = tuff._driver:main\n".into());
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let bytes = read(&source.join(licence))?;
        files.insert(format!("{info}/licenses/{licence}"), (bytes, 0o644));
    }
    let mut record = String::new();
    for (path, (bytes, _)) in &files {
        let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
        record += &format!("{path},sha256={hash},{}\n", bytes.len());
    }
    record += &format!("{info}/RECORD,,\n");
    // Tools read the folder of metadata from the end, where PEP 427 wants it.
    let (about, code): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path.starts_with(&info));
    let last = [(format!("{info}/RECORD"), (record.into_bytes(), 0o644))];
    archive(code.into_iter().chain(about).chain(last), time)
}

/// A zip of files in this order, all of one time.
pub fn archive(files: impl Iterator<Item = (String, (Vec<u8>, u32))>, time: u64) -> Result<Vec<u8>, String> {
    let say = |e: &dyn std::fmt::Display| format!("zip: {e}");
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(dos(time));
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for (path, (bytes, mode)) in files {
        writer.start_file(path, options.unix_permissions(mode)).map_err(|e| say(&e))?;
        writer.write_all(&bytes).map_err(|e| say(&e))?;
    }
    Ok(writer.finish().map_err(|e| say(&e))?.into_inner())
}

/// Seconds since 1970 (UTC) as a zip has them: from 1980 on, and in steps of two.
fn dos(time: u64) -> zip::DateTime {
    let (days, second) = (time / 86400, time % 86400);
    // Howard Hinnant's "civil from days", with March as the year's first month.
    let z = days + 719_468;
    let era_day = z % 146_097;
    let year_of_era = (era_day - era_day / 1460 + era_day / 36_524 - era_day / 146_096) / 365;
    let day_of_year = era_day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, (shifted + 2) % 12 + 1);
    let year = z / 146_097 * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let date = zip::DateTime::from_date_and_time(
        year as u16,
        month as u8,
        day as u8,
        hour as u8,
        minute as u8,
        (second & !1) as u8,
    );
    date.unwrap_or_default()
}

fn metadata(readme: &str) -> String {
    format!(
        "Metadata-Version: 2.4\nName: tuff-gpu\nVersion: {VERSION}\n\
         Summary: A GPU in software: a Vulkan driver that models a tile-based GPU and counts what it does\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Requires-Python: >=3.9\nKeywords: vulkan,gpu,driver,profiling,ci\n\
         Classifier: Operating System :: POSIX :: Linux\nClassifier: Topic :: Multimedia :: Graphics :: 3D Rendering\n\
         Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n\
         Description-Content-Type: text/markdown\n\n{readme}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn times_are_civil() {
        // 2026-11-29 06:40:03 UTC.
        let t = dos(1_795_934_403);
        assert_eq!(
            (t.year(), t.month(), t.day(), t.hour(), t.minute(), t.second()),
            (2026, 11, 29, 6, 40, 2)
        );
        // A leap day, and the first day that there is.
        assert_eq!((dos(1_709_164_800).month(), dos(1_709_164_800).day()), (2, 29));
        assert_eq!(dos(0), zip::DateTime::default());
    }

    #[test]
    fn a_wheel_has_what_its_record_says() {
        let file = |text: &str, mode| File { bytes: text.into(), mode };
        let tree = Tree::from([
            ("bin/tuff".to_string(), file("#!", 0o755)),
            ("share/man/man1/tuff.1.gz".to_string(), file("man", 0o644)),
        ]);
        let bytes = wheel(&tree, &crate::cargo::root(), 1_795_934_403).unwrap();
        assert_eq!(bytes, wheel(&tree, &crate::cargo::root(), 1_795_934_403).unwrap());
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        let names: Vec<String> = archive.file_names().map(|n| n.unwrap().into_owned()).collect();
        assert!(!names.iter().any(|n| n.contains("man1")), "{names:?}");
        assert_eq!(
            archive.by_name("tuff/prefix/bin/tuff").unwrap().unix_mode().map(|m| m & 0o777),
            Some(0o755)
        );
        let mut read = |name: &str| {
            let mut text = String::new();
            archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let record = read(&format!("tuff_gpu-{VERSION}.dist-info/RECORD"));
        assert_eq!(record.lines().count(), names.len());
        // printf '#!' | openssl dgst -sha256 -binary | basenc --base64url
        assert!(
            record.contains("tuff/prefix/bin/tuff,sha256=NhLdr0bhSaT1g_rw-s6EZYUUj1ngziZFWU34O13IB-g,2\n"),
            "{record}"
        );
        assert!(read("tuff/__init__.py").contains(&format!("__version__ = \"{VERSION}\"")));
    }
}
