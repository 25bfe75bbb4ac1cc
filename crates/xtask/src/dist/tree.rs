//! The files that are installed, by their paths below the prefix (`/usr`, or wherever the tar.gz was unpacked).

use super::{VERSION, deb, licences, links, machine, output, pack, sbom, target};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct File {
    pub bytes: Vec<u8>,
    pub mode: u32,
}

pub type Tree = BTreeMap<String, File>;

/// Where our libraries lie: programs find them by manifests, and `tuff` by these.
const LIBRARIES: &str = "lib/tuff";
pub const DOCUMENTS: &str = "share/doc/tuff";

/// The libraries, the driver first.
pub const SHIPPED: [&str; 5] = [
    "libvulkan_tuff.so",
    "libVkLayer_TUFF_gpu_performance.so",
    "libtuff_perfmon.so",
    "libmali.so",
    "libkbase_preload.so",
];

/// Everything, from a checkout and the folder that it was built to.
pub fn collect(source: &Path, release: &Path, time: u64) -> Result<Tree, String> {
    let mut tree = Tree::new();
    let mut put = |path: String, bytes: Vec<u8>, mode: u32| drop(tree.insert(path, File { bytes, mode }));
    put("bin/tuff".into(), read(&release.join("tuff"))?, 0o755);
    for library in SHIPPED {
        put(format!("{LIBRARIES}/{library}"), read(&release.join(library))?, 0o644);
    }
    let map = text(&release.join("libvulkan_tuff.map"))?;
    put(format!("{LIBRARIES}/libvulkan_tuff.map"), functions(&map).into_bytes(), 0o644);

    let icd = manifest(&source.join("icd.json"), "ICD", SHIPPED[0])?;
    put(format!("share/vulkan/icd.d/tuff_icd.{}.json", machine()), icd, 0o644);
    let name = "VkLayer_TUFF_gpu_performance.json";
    let layer = manifest(&source.join("crates/layer-gpu-performance").join(name), "layer", SHIPPED[1])?;
    put(format!("share/vulkan/explicit_layer.d/{name}"), layer, 0o644);
    put("include/tuff_channel.h".into(), read(&source.join("include/tuff_channel.h"))?, 0o644);

    for (name, bytes) in pages(release)? {
        let path = match &*name {
            "tuff.bash" => "share/bash-completion/completions/tuff".into(),
            "_tuff" => "share/zsh/vendor-completions/_tuff".into(),
            "tuff.fish" => "share/fish/vendor_completions.d/tuff.fish".into(),
            _ => {
                put(format!("share/man/man1/{name}.gz"), pack::gzip(&bytes)?, 0o644);
                continue;
            }
        };
        put(path, bytes, 0o644);
    }

    documents(source, &mut put)?;
    put(format!("{DOCUMENTS}/changelog.gz"), pack::gzip(deb::changelog(time)?.as_bytes())?, 0o644);
    let crates = sbom::Crates::read(source)?;
    put(format!("{DOCUMENTS}/copyright"), copyright(&text(&source.join("LICENSE-MIT"))?).into_bytes(), 0o644);
    put(format!("{DOCUMENTS}/licences.gz"), pack::gzip(licences::texts(&crates, source)?.as_bytes())?, 0o644);
    put(sbom::PLACE.into(), crates.document(time)?.into_bytes(), 0o644);
    links::mend(&mut tree);
    Ok(tree)
}

/// The pages that people read, as the checkout has them.
pub fn documents(source: &Path, put: &mut dyn FnMut(String, Vec<u8>, u32)) -> Result<(), String> {
    for page in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        put(format!("{DOCUMENTS}/{page}"), read(&source.join(page))?, 0o644);
    }
    for path in files(&source.join("docs"))? {
        let name = path.strip_prefix(source).unwrap_or(&path).display().to_string();
        put(format!("{DOCUMENTS}/{name}"), read(&path)?, 0o644);
    }
    let changes = read(&source.join("CHANGELOG.md"))?;
    put(format!("{DOCUMENTS}/CHANGELOG.md.gz"), pack::gzip(&changes)?, 0o644);
    Ok(())
}

pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// All files below a folder.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(files(&path)?),
            path => found.push(path),
        }
    }
    Ok(found)
}

pub fn text(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path)?).map_err(|e| format!("{}: {e}", path.display()))
}

/// The checkout's manifest, with the library where it is installed: relative, so that the tree may lie anywhere.
fn manifest(path: &Path, of: &str, library: &str) -> Result<Vec<u8>, String> {
    let at = |e: serde_json::Error| format!("{}: {e}", path.display());
    let mut json: serde_json::Value = serde_json::from_slice(&read(path)?).map_err(at)?;
    json[of]["library_path"] = format!("../../../{LIBRARIES}/{library}").into();
    Ok(serde_json::to_string_pretty(&json).map_err(at)?.into_bytes())
}

/// Of the linker's map what the driver reads when it panics (`icd::base::panics`): addresses of Rust's functions. The rest is nine
/// tenths, and names the folders of this machine.
fn functions(map: &str) -> String {
    let rows = map.lines().map(|l| l.split_ascii_whitespace().collect::<Vec<_>>());
    let named = rows.filter(|w| w.len() == 5 && (w[4].starts_with("_ZN") || w[4].starts_with("_R")));
    named.map(|w| format!("{} 0 0 0 {}\n", w[0], w[4])).collect()
}

/// Man pages and completions, by the program that was built.
fn pages(release: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder: PathBuf = release.join("pages");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let tuff = release.join("tuff");
    let mut command = match target() {
        Some(foreign) => foreign.run(&tuff),
        None => Command::new(&tuff),
    };
    output(command.arg("pages").arg(&folder))?;
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    entries.flatten().map(|e| Ok((e.file_name().display().to_string(), read(&e.path())?))).collect()
}

/// In Debian's form.
fn copyright(mit: &str) -> String {
    let (holder, terms) =
        mit.split_once("\n\n").and_then(|(_, rest)| rest.split_once("\n\n")).unwrap_or(("", mit));
    let lines = terms.trim().lines().map(|l| if l.is_empty() { " .".into() } else { format!(" {l}") });
    let terms = lines.collect::<Vec<_>>().join("\n");
    let holder = holder.trim().trim_start_matches("Copyright (c) ");
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: tuff\n\
         Comment: Tuff {VERSION}. Crates that are linked into it, and their licences: licences.gz, sbom.cdx.json.\n\n\
         Files: *\n\
         Copyright: {holder}\n\
         License: MIT or Apache-2.0\n\n\
         License: MIT\n{terms}\n\n\
         License: Apache-2.0\n On Debian systems its text is in /usr/share/common-licenses/Apache-2.0; it is in LICENSE-APACHE\n \
         beside this file too.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_keep_what_the_driver_reads() {
        let map = "     VMA      LMA     Size Align Out     In      Symbol\n\
                   \x20   2000     2000      100    16         /home/me/a.o:(.text._ZN4wave3runE)\n\
                   \x20   2000     2000      100     1                 _ZN4wave3run17h0123456789abcdefE\n\
                   \x20   2100     2100       20     1                 _RNvMs0_4gpu\n\
                   \x20   2200     2200       20     1                 memcpy\n";
        assert_eq!(functions(map), "2000 0 0 0 _ZN4wave3run17h0123456789abcdefE\n2100 0 0 0 _RNvMs0_4gpu\n");
    }

    #[test]
    fn manifests_name_the_installed_library() {
        let json = manifest(&crate::cargo::root().join("icd.json"), "ICD", "libx.so").unwrap();
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["ICD"]["library_path"], "../../../lib/tuff/libx.so");
        assert_eq!(json["file_format_version"], "1.0.1");
    }

    #[test]
    fn our_own_licence_is_in_debians_form() {
        let text = copyright(&text(&crate::cargo::root().join("LICENSE-MIT")).unwrap());
        assert!(text.contains("Copyright: 2026 The Tuff developers\n"), "{text}");
        assert!(
            text.contains("\n License: MIT\n Permission") || text.contains("License: MIT\n Permission"),
            "{text}"
        );
        assert!(!text.contains("\n\n "), "an empty line ends a paragraph: {text}");
    }
}
