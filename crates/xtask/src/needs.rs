//! Things of the system that a task needs: Debian's packages, installed where that is possible.

use crate::cargo::call;
pub use not_run::has_program;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A thing of the system, the Debian package that brings it, and whether it is here, by its name.
#[derive(Clone, Copy)]
pub struct Need<'a> {
    pub what: &'a str,
    pub package: &'a str,
    pub here: fn(&str) -> bool,
}

/// The peer.
pub const LAVAPIPE: Need<'static> =
    Need { what: "lavapipe", package: "mesa-vulkan-drivers", here: |_| lavapipe().is_some() };

pub const CMAKE: Need<'static> = Need { what: "cmake", package: "cmake", here: has_program };
pub const NINJA: Need<'static> = Need { what: "ninja", package: "ninja-build", here: has_program };
pub const GXX: Need<'static> = Need { what: "g++", package: "g++", here: has_program };

pub const VENV: Need<'static> = Need { what: "Python's venv", package: "python3-venv", here: |_| has_venv() };

fn has_venv() -> bool {
    Command::new("python3").args(["-c", "import venv, ensurepip"]).status().is_ok_and(|s| s.success())
}

pub const LOADER: Need<'static> =
    Need { what: "the Vulkan loader", package: "libvulkan1", here: |_| has_library("libvulkan.so.1") };

/// What the examples in C are compiled with.
pub const HEADERS: [Need<'static>; 3] = [
    Need { what: "vulkan/vulkan.h", package: "libvulkan-dev", here: has_header },
    Need { what: "EGL/egl.h", package: "libegl-dev", here: has_header },
    Need { what: "GL/glext.h", package: "libgl-dev", here: has_header },
];

fn has_header(name: &str) -> bool {
    Path::new("/usr/include").join(name).exists()
}

const LIBRARIES: [&str; 5] =
    ["/lib", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"];

pub fn has_library(name: &str) -> bool {
    LIBRARIES.iter().any(|f| Path::new(f).join(name).exists())
}

/// Mesa's OpenGL on Vulkan.
pub fn has_zink() -> bool {
    has_library("dri/zink_dri.so")
}

/// The ICD file of the system's lavapipe: Mesa has called it by two names.
pub fn lavapipe() -> Option<PathBuf> {
    let mut files = std::fs::read_dir("/usr/share/vulkan/icd.d").into_iter().flatten().flatten();
    files.find(|f| f.file_name().to_string_lossy().starts_with("lvp_icd")).map(|f| f.path())
}

/// Files of packages that nobody needs but who asks for all of them: piglit's shaders, two gigabytes of small files.
const LEFT_OUT: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/piglit/generated_tests/*", "/usr/lib/x86_64-linux-gnu/piglit/tests/*"];

/// Installs what is missing where that is possible; otherwise says what is missing for `whom`.
pub fn provide(whom: &str, needs: &[Need]) -> Result<(), String> {
    let without = LEFT_OUT.map(|path| format!("-oDPkg::Options::=--path-exclude={path}"));
    provide_with(whom, needs, &without)
}

/// As [`provide`], with all files of packages, those too that are there without some.
pub fn provide_whole(whom: &str, needs: &[Need]) -> Result<(), String> {
    provide_with(whom, needs, &["--reinstall".into()])
}

fn provide_with(whom: &str, needs: &[Need], options: &[String]) -> Result<(), String> {
    let missing = || needs.iter().filter(|n| !(n.here)(n.what)).collect::<Vec<_>>();
    let absent = missing();
    if absent.is_empty() {
        return Ok(());
    }
    // SAFETY: geteuid has no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    if root && has_program("apt-get") {
        // Once is enough for all that one command installs.
        static UPDATED: OnceLock<Result<(), String>> = OnceLock::new();
        let update = || {
            let mut update = Command::new("apt-get");
            update.args(["update", "-q"]);
            call(update)
        };
        UPDATED.get_or_init(update).clone()?;
        let mut install = Command::new("apt-get");
        install
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["install", "-q", "-y", "--no-install-recommends"])
            .args(options)
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
