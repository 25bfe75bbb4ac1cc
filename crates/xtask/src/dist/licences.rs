//! The licences of all that is linked: which crate has which, and their texts, each once.

use super::sbom::{Crate, Crates};
use std::collections::BTreeMap;
use std::path::Path;

/// How files begin whose text goes with every copy.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"];

/// The page: crates with the numbers of their texts, then the texts. A crate that brings none has the checkout's text of
/// its licence, if that is there.
pub fn texts(crates: &Crates, source: &Path) -> Result<String, String> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts: Vec<String> = Vec::new();
    let mut page =
        "Crates that are linked into Tuff, their licences, and which of the texts below are theirs.\n\n"
            .to_string();
    for it in crates.all.values() {
        let mut own = files(it)?;
        if own.is_empty() {
            own.push(standard(it, source)?);
        }
        let mut theirs: Vec<usize> = own
            .into_iter()
            .map(|text| {
                *numbers.entry(text).or_insert_with_key(|text| {
                    texts.push(text.clone());
                    texts.len()
                })
            })
            .collect();
        theirs.sort();
        let theirs: Vec<_> = theirs.iter().map(|n| n.to_string()).collect();
        page += &format!("{} {}: {}; {}\n", it.name, it.version, it.licence, theirs.join(", "));
    }
    page += "Rust's standard library: MIT OR Apache-2.0; copyright (c) The Rust Project contributors; LICENSE-MIT's and \
             LICENSE-APACHE's terms, beside this file\n";
    for (number, text) in texts.iter().enumerate() {
        page += &format!("\n---- {} ----\n\n{}\n", number + 1, text.trim_end());
    }
    Ok(page)
}

/// The texts that a crate's archive has.
fn files(it: &Crate) -> Result<Vec<String>, String> {
    let at = |e: std::io::Error| format!("{}: {e}", it.folder.display());
    let mut paths: Vec<_> = std::fs::read_dir(&it.folder)
        .map_err(at)?
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_file())
        .collect();
    paths.retain(|p| {
        let name = p.file_name().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
        NAMES.iter().any(|n| name.starts_with(n))
    });
    paths.sort();
    paths
        .iter()
        .map(|p| std::fs::read(p).map(|t| String::from_utf8_lossy(&t).replace("\r\n", "\n")).map_err(at))
        .collect()
}

/// The text for a crate that brings none. The Apache licence's says nothing of whose work it is for; MIT's begins with that,
/// which the crate's own sources must say.
fn standard(it: &Crate, source: &Path) -> Result<String, String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    if it.licence.contains("Apache-2.0") {
        return read(&source.join("LICENSE-APACHE"));
    }
    let sources = read(&it.folder.join("src/lib.rs"))?;
    let holder = sources.lines().take(5).find_map(|l| l.find("Copyright").map(|at| &l[at..]));
    match (holder, read(&source.join("LICENSE-MIT"))?.split_once("\n\nPermission")) {
        (Some(holder), Some((_, terms))) if it.licence == "MIT" => {
            Ok(format!("{holder}\n\nPermission{terms}"))
        }
        _ => Err(format!("{} {} brings no text of its licence ({})", it.name, it.version, it.licence)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_linked_crate_has_a_text() {
        let root = crate::cargo::root();
        let crates = Crates::read(&root).unwrap();
        let page = texts(&crates, &root).unwrap();
        let (list, all) = page.split_once("\n---- 1 ----\n").unwrap();
        let last = all.matches("\n---- ").count() + 1;
        let mut seen = 0;
        for line in list.lines().filter(|l| l.contains("; ") && !l.starts_with("Rust's")) {
            let numbers = line.rsplit("; ").next().unwrap().split(", ");
            for n in numbers {
                let n: usize = n.parse().unwrap_or_else(|_| panic!("{line}"));
                assert!((1..=last).contains(&n), "{line}");
            }
            seen += 1;
        }
        assert_eq!(seen, crates.all.len());
    }
}
