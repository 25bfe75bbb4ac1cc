//! The .deb: an `ar` archive of a version, the control files and the data.

use super::tree::{File, SHIPPED, Tree};
use super::{VERSION, libraries, machine, output, pack};
use std::process::Command;

/// Debian's name of the machine.
pub fn architecture() -> &'static str {
    match machine() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// There is no address of the project's own, and a package must have one: nobody reads what is sent there (RFC 2606).
const MAINTAINER: &str = "The Tuff developers <tuff@example.org>";

/// The package's own changelog, in Debian's form; users read CHANGELOG.md.
pub fn changelog(time: u64) -> Result<String, String> {
    let date = output(Command::new("date").env("LC_ALL", "C").args(["-u", "-R", "-d", &format!("@{time}")]))?;
    Ok(format!(
        "tuff ({VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md.gz has it.\n\n -- {MAINTAINER}  {date}"
    ))
}

/// The package, installed below /usr.
pub fn package(tree: &Tree, time: u64) -> Result<Vec<u8>, String> {
    let control = Tree::from([(
        "control".to_string(),
        File { bytes: control(tree, &glibc(tree)?).into_bytes(), mode: 0o644 },
    )]);
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", pack::gzip(&pack::tar(&control, ".", time)?)?),
        ("data.tar.gz", pack::gzip(&pack::tar(tree, "./usr", time)?)?),
    ];
    Ok(ar(&members, time))
}

/// What the shipped files want of the C library, asked of readelf by copies of them.
fn glibc(tree: &Tree) -> Result<String, String> {
    let folder =
        temporary::folder("tuff-").map_err(|e| format!("{}: {e}", std::env::temp_dir().display()))?;
    let folder = folder.path();
    let at = |e: std::io::Error| format!("{}: {e}", folder.display());
    let programs = std::iter::once("bin/tuff".into()).chain(SHIPPED.map(|l| format!("lib/tuff/{l}")));
    let mut copies = Vec::new();
    for path in programs {
        let copy = folder.join(path.replace('/', "-"));
        std::fs::write(&copy, &tree[&path].bytes).map_err(at)?;
        copies.push(copy);
    }
    libraries::glibc(&copies.iter().map(|c| c.as_path()).collect::<Vec<_>>())
}

fn control(tree: &Tree, glibc: &str) -> String {
    let size = tree.values().map(|f| f.bytes.len().div_ceil(1024)).sum::<usize>();
    format!(
        "Package: tuff\n\
         Version: {VERSION}\n\
         Architecture: {}\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {size}\n\
         Depends: libc6 (>= {glibc}), libgcc-s1, libvulkan1\n\
         Recommends: libxcb1\n\
         Suggests: libgl1-mesa-dri, vulkan-tools\n\
         Provides: vulkan-icd\n\
         Section: graphics\n\
         Priority: optional\n\
         Description: GPU in software that is tile-based and counts what it does\n \
         A Vulkan driver that models a tile-based, Mali-like GPU on the CPU: the\n \
         same pictures and the same counters on every run and machine. With it come\n \
         tuff, which runs programs on it and compares what they cost, a layer that\n \
         measures workloads on any driver, and libraries for OpenGL's and Arm's\n \
         interfaces to counters.\n",
        architecture()
    )
}

/// Each member has a header of 60 characters, and begins at an even place.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        out.extend(
            format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100644, bytes.len()).bytes(),
        );
        out.extend(bytes);
        if out.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpkg_reads_the_package() {
        if !not_run::has_program("dpkg-deb") || !not_run::has_program("readelf") {
            return not_run::say("the .deb", "dpkg-deb and readelf");
        }
        let program = std::fs::read("/bin/true").unwrap();
        let file = |bytes: &[u8], mode| File { bytes: bytes.to_vec(), mode };
        let mut tree = Tree::from([("bin/tuff".into(), file(&program, 0o755))]);
        for library in SHIPPED {
            tree.insert(format!("lib/tuff/{library}"), file(&program, 0o644));
        }
        tree.insert("share/doc/tuff/x".into(), file(b"odd", 0o644));
        let folder = temporary::folder("tuff-").unwrap();
        let path = folder.path().join("tuff.deb");
        std::fs::write(&path, package(&tree, 86400).unwrap()).unwrap();
        let ask = |words: &[&str]| {
            let out =
                Command::new("dpkg-deb").arg(words[0]).arg(&path).args(&words[1..]).env("TZ", "UTC").output();
            let out = out.unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
            String::from_utf8(out.stdout).unwrap()
        };
        assert_eq!(ask(&["--field", "Package"]), "tuff\n");
        assert_eq!(ask(&["--field", "Version"]).trim(), VERSION);
        assert!(ask(&["--field", "Depends"]).starts_with("libc6 (>= 2."));
        let list = ask(&["--contents"]);
        assert!(
            list.contains("-rwxr-xr-x root/root") && list.contains("1970-01-02 00:00 ./usr/bin/tuff\n"),
            "{list}"
        );
        assert!(list.contains(" 3 1970-01-02 00:00 ./usr/share/doc/tuff/x\n"), "{list}");
    }
}
