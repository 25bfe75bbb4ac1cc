//! Linux.

use client::{Error, Result};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Between the paths of a list.
pub const SEPARATOR: &str = ":";

/// The signal that has ended a program.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Whether the driver has ended its process because all that a debugger asked for was recorded.
pub fn ended_by_driver(status: ExitStatus) -> bool {
    const SIGTERM: i32 = 15;
    status.signal() == Some(SIGTERM)
}

/// Whether the process of this number has not ended.
pub fn runs(number: &str) -> bool {
    // After the program's name in brackets: Z is one that has ended.
    let state = std::fs::read_to_string(format!("/proc/{number}/stat")).ok();
    let state = state.and_then(|s| s.rsplit_once(") ").and_then(|(_, s)| s.chars().next()));
    state.is_some_and(|s| s != 'Z' && s != 'X')
}

/// The variable that names folders of layers, and those that are searched where it is not set. (VK_LAYER_PATH replaces the system's folders;
/// VK_ADD_LAYER_PATH, which adds to them, is unknown to older loaders.)
pub fn layers() -> (&'static str, &'static [&'static str]) {
    ("VK_LAYER_PATH", &["/etc/vulkan/explicit_layer.d", "/usr/share/vulkan/explicit_layer.d"])
}

/// The last part of a program's path.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Where processes of this user's listen, unless they are told another folder.
///
/// # Errors
/// The user has none.
pub fn listen_folder() -> Result<PathBuf> {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|p| p.is_absolute());
    let folder = own.map(|f| f.join("tuff")).or_else(|| Some(settings::state_folder()?.join("tuff/listen")));
    folder.ok_or_else(|| {
        Error(format!("neither XDG_RUNTIME_DIR nor HOME is set: set {}", settings::LISTEN.name))
    })
}
