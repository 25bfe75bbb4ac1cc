//! What the fresh machine takes over from the host: the toolchain, and whatever it needs to reach the registries.

use super::chroot::Chroot;
use crate::cargo::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the host that name servers, proxies and certificates, as the chroot has them at the same place; a `~` is the
/// user's home.
const FILES: [&str; 6] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pip.conf",
    "~/.config/pip/pip.conf",
    "~/.pip/pip.conf",
];

/// Certificates that the host's owner added.
const CERTIFICATES: &str = "/usr/local/share/ca-certificates";

/// Variables that name proxies, certificates and registries, by their beginnings; what is secret stays here.
const VARIABLES: [&str; 10] = [
    "SSL_CERT_",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_",
    "CARGO_NET_",
    "CARGO_REGISTRY_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
    "PIP_",
];

fn is_taken_over(name: &str) -> bool {
    let secret = ["TOKEN", "PASSWORD", "SECRET", "CREDENTIAL"].iter().any(|s| name.contains(s));
    let proxy = name.to_ascii_lowercase().ends_with("_proxy");
    !secret && (proxy || VARIABLES.iter().any(|v| name.starts_with(v)))
}

/// The archives that Debian comes from.
#[derive(Debug, PartialEq)]
pub struct Mirrors {
    pub main: String,
    pub security: Option<String>,
}

impl Mirrors {
    /// Those of the host's own apt sources.
    pub fn of_host() -> Result<Mirrors, String> {
        let apt = Path::new("/etc/apt");
        let parts = std::fs::read_dir(apt.join("sources.list.d")).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = parts.map(|e| e.path()).collect();
        files.sort();
        files.insert(0, apt.join("sources.list"));
        let texts = files.iter().filter_map(|f| std::fs::read_to_string(f).ok());
        Mirrors::of(&texts.collect::<Vec<_>>().join("\n\n"))
            .ok_or("no archive of Debian's among the apt sources: name one by --mirror".into())
    }

    /// From sources in either of apt's forms. Archives of Debian's end in /debian and /debian-security.
    fn of(sources: &str) -> Option<Mirrors> {
        let lines =
            sources.lines().map(str::trim).filter(|l| l.starts_with("deb ") || l.starts_with("URIs:"));
        let words = lines.flat_map(str::split_whitespace).filter(|w| w.contains("://"));
        let uris: Vec<&str> = words.map(|w| w.trim_end_matches('/')).collect();
        let ending = |end: &str| uris.iter().find(|u| u.ends_with(end)).map(|u| u.to_string());
        Some(Mirrors { main: ending("/debian")?, security: ending("/debian-security") })
    }

    /// The chroot's `sources.list`.
    fn sources(&self) -> String {
        let mut text = String::new();
        for suite in ["bookworm", "bookworm-updates"] {
            text += &format!("deb {} {suite} main\n", self.main);
        }
        if let Some(security) = &self.security {
            text += &format!("deb {security} bookworm-security main\n");
        }
        text
    }
}

pub struct Host {
    /// The toolchain in use, with cargo.
    pub toolchain: PathBuf,
    pub variables: Vec<(String, String)>,
}

impl Host {
    pub fn read() -> Result<Host, String> {
        let rustc = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output();
        let rustc = rustc.map_err(|e| format!("rustc: {e}"))?;
        let toolchain = PathBuf::from(String::from_utf8_lossy(&rustc.stdout).trim());
        for tool in ["cargo", "rustc", "cargo-fmt", "rustfmt", "cargo-clippy", "clippy-driver"] {
            let path = toolchain.join("bin").join(tool);
            if !path.is_file() {
                return Err(format!("the toolchain lacks {}", path.display()));
            }
        }
        Ok(Host { toolchain, variables: std::env::vars().filter(|(n, _)| is_taken_over(n)).collect() })
    }

    /// Copies files, and writes apt's settings.
    pub fn give(&self, chroot: &Chroot, mirrors: &Mirrors) -> Result<(), String> {
        let home = std::env::var("HOME").unwrap_or("/root".into());
        for file in FILES {
            let here = file.replacen('~', &home, 1);
            copy(Path::new(&here), &chroot.path, Path::new(&file.replacen('~', "/root", 1)))?;
        }
        let cargo = std::env::var("CARGO_HOME").unwrap_or(format!("{home}/.cargo"));
        for file in ["config.toml", "config"] {
            copy(&Path::new(&cargo).join(file), &chroot.path, &Path::new("/root/.cargo").join(file))?;
        }
        // What variables name (certificates) is to be found where they say.
        for value in self.variables.iter().map(|(_, v)| Path::new(v)).filter(|v| v.is_absolute()) {
            copy(value, &chroot.path, value)?;
        }
        for entry in std::fs::read_dir(CERTIFICATES).into_iter().flatten().flatten() {
            copy(&entry.path(), &chroot.path, &entry.path())?;
        }
        let dump = Command::new("apt-config").arg("dump").output().map_err(|e| format!("apt-config: {e}"))?;
        let settings: String = String::from_utf8_lossy(&dump.stdout)
            .lines()
            .filter(|l| l.starts_with("Acquire::http") || l.starts_with("Acquire::Check-"))
            .map(|l| format!("{l}\n"))
            .collect();
        put(&chroot.path, Path::new("/etc/apt/apt.conf.d/90host"), settings.as_bytes())?;
        put(&chroot.path, Path::new("/etc/apt/sources.list"), mirrors.sources().as_bytes())
    }
}

/// Copies what is a file here (links followed) to a place in the chroot; what is absent needs no copy.
fn copy(here: &Path, chroot: &Path, there: &Path) -> Result<(), String> {
    if !here.is_file() {
        return Ok(());
    }
    let bytes = std::fs::read(here).map_err(|e| format!("{}: {e}", here.display()))?;
    put(chroot, there, &bytes)
}

fn put(chroot: &Path, there: &Path, bytes: &[u8]) -> Result<(), String> {
    let path = chroot.join(there.strip_prefix("/").unwrap_or(there));
    let folder = path.parent().unwrap_or(chroot);
    let at = |e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(at)?;
    // A link in the chroot may lead out of it: it is replaced.
    if path.is_symlink() {
        std::fs::remove_file(&path).map_err(at)?;
    }
    std::fs::write(&path, bytes).map_err(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_found_in_both_forms_of_sources() {
        let found = |main: &str, security: Option<&str>| {
            Some(Mirrors { main: main.into(), security: security.map(String::from) })
        };
        let stanzas = "Types: deb\n# http://old/archive/debian/1\nURIs: http://a/debian\nSuites: bookworm\n\n\
            Types: deb\nURIs: http://a/debian-security/\nSuites: bookworm-security\n";
        assert_eq!(Mirrors::of(stanzas), found("http://a/debian", Some("http://a/debian-security")));
        let lines = "deb https://packages/apt x main\n#deb http://no/debian sid main\n\
            deb [arch=amd64 signed-by=/x] http://b/debian/ bookworm main\n";
        assert_eq!(Mirrors::of(lines), found("http://b/debian", None));
        assert_eq!(Mirrors::of("deb http://other/ubuntu noble main\n"), None);
    }

    #[test]
    fn registries_are_taken_over_and_secrets_are_not() {
        for name in ["https_proxy", "HTTP_PROXY", "SSL_CERT_FILE", "CARGO_REGISTRIES_X_INDEX", "PIP_CERT"] {
            assert!(is_taken_over(name), "{name}");
        }
        for name in ["CARGO_REGISTRIES_X_TOKEN", "CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "PATH", "HOME"] {
            assert!(!is_taken_over(name), "{name}");
        }
    }
}
