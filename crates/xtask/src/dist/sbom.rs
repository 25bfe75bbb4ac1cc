//! What is linked into the packages: by `cargo metadata`, as a CycloneDX document.

use super::{PACKAGES, VERSION, machine, output, target};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the document is installed.
pub const PLACE: &str = "share/doc/tuff/sbom.cdx.json";

/// A crate of others' that is linked, or whose macros write code that is.
pub struct Crate {
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: String,
    pub repository: Option<String>,
    /// Where its sources lie here.
    pub folder: PathBuf,
    /// SHA-256 of the archive that the registry has.
    hash: Option<String>,
    /// Those that it asks for, by their references.
    asks: BTreeSet<String>,
}

/// By their references: package URLs.
pub struct Crates {
    pub all: BTreeMap<String, Crate>,
    /// What our own ask for.
    roots: BTreeSet<String>,
    /// The compiler whose standard library is linked too.
    rust: String,
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], |a| a)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

impl Crates {
    /// Of a checkout, as Cargo.lock says.
    pub fn read(source: &Path) -> Result<Crates, String> {
        let platform =
            target().map_or_else(|| format!("{}-unknown-linux-gnu", machine()), |to| to.triple.to_string());
        let words =
            ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &platform];
        let metadata = output(Command::new("cargo").args(words).current_dir(source))?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|e| format!("cargo metadata: {e}"))?;
        let path = source.join("Cargo.lock");
        let lock = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let rust = output(Command::new("rustc").arg("--version").current_dir(source))?;
        Crates::of(&metadata, &lock, rust.trim())
    }

    fn of(metadata: &Value, lock: &str, rust: &str) -> Result<Crates, String> {
        let packages: BTreeMap<&str, &Value> =
            list(metadata, "packages").iter().map(|p| (text(p, "id"), p)).collect();
        let nodes: BTreeMap<&str, &Value> =
            list(&metadata["resolve"], "nodes").iter().map(|n| (text(n, "id"), n)).collect();
        let hashes = hashes(lock)?;
        let theirs = |p: &Value| p["source"].is_string();
        let mut crates = Crates { all: BTreeMap::new(), roots: BTreeSet::new(), rust: rust.into() };
        let shipped = |p: &&Value| !theirs(p) && PACKAGES.contains(&text(p, "name"));
        let mut open: Vec<&str> = packages.values().copied().filter(shipped).map(|p| text(p, "id")).collect();
        let mut seen: BTreeSet<&str> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else {
                return Err(format!("cargo metadata: no {id}"));
            };
            // Not what builds or tests it.
            let linked = |d: &&Value| list(d, "dep_kinds").iter().any(|k| k["kind"].is_null());
            let asked: Vec<&str> = list(node, "deps").iter().filter(linked).map(|d| text(d, "pkg")).collect();
            let asks = asked.iter().filter_map(|a| packages.get(a)).filter(|p| theirs(p));
            let asks: BTreeSet<String> = asks.map(|p| reference(p)).collect();
            open.extend(asked.into_iter().filter(|a| seen.insert(a)));
            if !theirs(package) {
                crates.roots.extend(asks);
                continue;
            }
            let (name, version) = (text(package, "name").to_string(), text(package, "version").to_string());
            let manifest = Path::new(text(package, "manifest_path"));
            let found = Crate {
                licence: text(package, "license").replace('/', " OR "),
                repository: package["repository"].as_str().map(String::from),
                folder: manifest.parent().unwrap_or(manifest).to_path_buf(),
                hash: hashes.get(&(name.clone(), version.clone())).cloned(),
                asks,
                name,
                version,
            };
            crates.all.insert(reference(package), found);
        }
        Ok(crates)
    }

    /// CycloneDX 1.5.
    pub fn document(&self, time: u64) -> Result<String, String> {
        let stamp =
            output(Command::new("date").args(["-u", "-d", &format!("@{time}"), "+%Y-%m-%dT%H:%M:%SZ"]))?;
        let own = format!("pkg:generic/tuff@{VERSION}");
        let version = self.rust.split(' ').nth(1).unwrap_or_default();
        let std = format!("pkg:generic/rust-std@{version}");
        let mut components: Vec<Value> = self.all.iter().map(|(r, c)| component(r, c)).collect();
        components.push(json!({
            "type": "library", "bom-ref": std, "name": "rust-std", "version": version, "purl": std,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }], "description": self.rust,
        }));
        let row = |reference: &str, asks: &BTreeSet<String>| json!({ "ref": reference, "dependsOn": asks });
        let mut first = self.roots.clone();
        first.insert(std.clone());
        let mut rows = vec![row(&own, &first)];
        rows.extend(self.all.iter().map(|(r, c)| row(r, &c.asks)));
        rows.push(row(&std, &BTreeSet::new()));
        let document = json!({
            "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {
                "timestamp": stamp.trim(),
                "component": {
                    "type": "application", "bom-ref": own, "name": "tuff", "version": VERSION, "purl": own,
                    "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                },
            },
            "components": components,
            "dependencies": rows,
        });
        serde_json::to_string_pretty(&document).map_err(|e| format!("SBOM: {e}"))
    }
}

fn component(reference: &str, it: &Crate) -> Value {
    let mut value = json!({
        "type": "library", "bom-ref": reference, "name": it.name, "version": it.version, "purl": reference,
        "licenses": [{ "expression": it.licence }],
    });
    if let Some(hash) = &it.hash {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": hash }]);
    }
    if let Some(url) = &it.repository {
        value["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
    }
    value
}

fn reference(package: &Value) -> String {
    // In a package URL a plus is %2B.
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version").replace('+', "%2B"))
}

/// Checksums by name and version.
fn hashes(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: toml::Table = lock.parse().map_err(|e| format!("Cargo.lock: {e}"))?;
    let packages = lock.get("package").and_then(|p| p.as_array()).ok_or("Cargo.lock: no packages")?;
    let word = |p: &toml::Value, key| p.get(key).and_then(|v| v.as_str()).map(String::from);
    let rows = packages.iter();
    Ok(rows.filter_map(|p| Some(((word(p, "name")?, word(p, "version")?), word(p, "checksum")?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_what_is_linked_with_its_hashes() {
        let crates = Crates::read(&crate::cargo::root()).unwrap();
        let names: BTreeSet<&str> = crates.all.values().map(|c| c.name.as_str()).collect();
        for linked in ["ash", "iced-x86", "clap", "rayon-core"] {
            assert!(names.contains(linked), "{linked} is linked");
        }
        // A test's, and a build script's.
        assert!(!names.contains("wgpu") && !names.contains("roxmltree"), "{names:?}");
        let document: Value = serde_json::from_str(&crates.document(86400).unwrap()).unwrap();
        assert_eq!(document["metadata"]["timestamp"], "1970-01-02T00:00:00Z");
        let components = list(&document, "components");
        let known: BTreeSet<&str> = components.iter().map(|c| text(c, "bom-ref")).collect();
        assert_eq!(known.len(), components.len());
        for c in components.iter().filter(|c| c["name"] != "rust-std") {
            assert_eq!(text(&c["hashes"][0], "content").len(), 64, "{c}");
            assert!(spdx::Expression::parse(text(&c["licenses"][0], "expression")).is_ok(), "{c}");
        }
        let rows = list(&document, "dependencies");
        assert_eq!(rows.len(), components.len() + 1);
        for asked in rows.iter().flat_map(|r| list(r, "dependsOn")) {
            assert!(known.contains(asked.as_str().unwrap()), "{asked} is no component");
        }
    }
}
