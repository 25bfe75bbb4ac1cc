//! Things of the system that a task needs: Debian's packages, installed where that is possible.

use crate::cargo::call;
pub use not_run::has_program;
use std::process::Command;

/// A thing of the system, the Debian package that brings it, and whether it is here, by its name.
pub struct Need<'a> {
    pub what: &'a str,
    pub package: &'a str,
    pub here: fn(&str) -> bool,
}

/// The peer.
pub const LAVAPIPE: Need<'static> =
    Need { what: "lavapipe", package: "mesa-vulkan-drivers", here: |_| has_lavapipe() };

fn has_lavapipe() -> bool {
    let files = std::fs::read_dir("/usr/share/vulkan/icd.d").into_iter().flatten().flatten();
    files.into_iter().any(|f| f.file_name().to_string_lossy().starts_with("lvp_icd"))
}

/// Files of packages that nothing here needs: piglit's shaders, two gigabytes of small files.
const LEFT_OUT: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/piglit/generated_tests/*", "/usr/lib/x86_64-linux-gnu/piglit/tests/*"];

/// Installs what is missing where that is possible; otherwise says what is missing for `whom`.
pub fn provide(whom: &str, needs: &[Need]) -> Result<(), String> {
    let missing = || needs.iter().filter(|n| !(n.here)(n.what)).collect::<Vec<_>>();
    let absent = missing();
    if absent.is_empty() {
        return Ok(());
    }
    // SAFETY: geteuid has no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    if root && has_program("apt-get") {
        let mut update = Command::new("apt-get");
        update.args(["update", "-q"]);
        call(update)?;
        let mut install = Command::new("apt-get");
        install
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "-q", "-y", "--no-install-recommends"])
            .args(LEFT_OUT.map(|path| format!("-oDPkg::Options::=--path-exclude={path}")))
            .args(absent.iter().map(|n| n.package));
        call(install)?;
    }
    match missing()[..] {
        [] => Ok(()),
        ref left => {
            let list: Vec<_> = left.iter().map(|n| format!("{} (Debian's {})", n.what, n.package)).collect();
            Err(format!("{whom} need {}", list.join(", ")))
        }
    }
}
