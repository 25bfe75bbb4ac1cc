//! What ash already defines, read from its source as cargo resolved it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

pub struct Ash {
    /// Type name → whether it takes a lifetime.
    types: HashMap<String, bool>,
}

/// ash's source folder in cargo's registry: what is resolved already, else what cargo resolves now.
fn source() -> Result<PathBuf, String> {
    resolve(&["--offline"]).or_else(|_| resolve(&[]))
}

fn resolve(how: &[&str]) -> Result<PathBuf, String> {
    let out = Command::new(std::env::var("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version", "1", "--filter-platform"])
        .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
        .args(how)
        .output()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    let marker = "\"manifest_path\":\"";
    text.match_indices(marker)
        .map(|(at, _)| text[at + marker.len()..].split('"').next().unwrap_or_default())
        .find(|p| p.contains("/ash-0.") && p.ends_with("Cargo.toml"))
        .map(|p| PathBuf::from(p.trim_end_matches("Cargo.toml")).join("src/vk"))
        .ok_or_else(|| "cargo metadata does not name ash".into())
}

impl Ash {
    pub fn read() -> Result<Ash, String> {
        let dir = source()?;
        let mut types = HashMap::new();
        for file in
            ["definitions.rs", "enums.rs", "bitflags.rs", "aliases.rs", "platform_types.rs", "native.rs"]
        {
            let path = dir.join(file);
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let mut in_handle = false;
            for line in text.lines() {
                let t = line.trim_start();
                for key in ["pub struct ", "pub union ", "pub type "] {
                    if let Some(rest) = t.strip_prefix(key) {
                        let name: String =
                            rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                        let lifetime = rest[name.len()..].starts_with("<'a>");
                        types.insert(name, lifetime);
                    }
                }
                if t.starts_with("handle_nondispatchable") || t.starts_with("define_handle") {
                    let args = t.split('(').nth(1).unwrap_or_default();
                    let name = args.split(',').next().unwrap_or_default().trim();
                    in_handle = name.is_empty();
                    if !in_handle {
                        types.insert(name.to_string(), false);
                    }
                } else if in_handle {
                    types.insert(t.split(',').next().unwrap_or_default().trim().to_string(), false);
                    in_handle = false;
                }
            }
        }
        if types.len() < 1000 {
            return Err(format!("{} does not look like ash's source", dir.display()));
        }
        Ok(Ash { types })
    }

    pub fn has(&self, rust_name: &str) -> bool {
        self.types.contains_key(rust_name)
    }

    pub fn lifetime(&self, rust_name: &str) -> bool {
        self.types.get(rust_name).copied().unwrap_or(false)
    }
}
