//! The file of `TUFF_SANITIZE`: what this process's sanitised shaders did wrong. It is written when devices are destroyed and when the
//! process ends.

use crate::process;
use machine::sanitizer::FOUND;
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Whose findings they are: the child of a fork has none of its parent's.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The process has a device.
pub fn open() {
    static AT_EXIT: Once = Once::new();
    extern "C" fn at_exit() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(write);
    }
    if !machine::sanitizer::wanted() {
        return;
    }
    let process = std::process::id();
    if PROCESS.swap(process, Relaxed) != process {
        *FOUND.findings.lock() = Default::default();
    }
    // SAFETY: the function needs nothing that is gone when a process ends.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// Writes the file, if one is wanted.
pub fn write() {
    let Some(path) = &settings::get().sanitize else { return };
    // A fork's copy of the lock may be held by a thread that is not there.
    if PROCESS.load(Relaxed) != std::process::id() {
        return;
    }
    let path = process::place(path);
    let file = sanitize::File {
        version: sanitize::FILE_VERSION,
        process: process::name(),
        findings: FOUND.findings.lock().all().to_vec(),
        accesses: FOUND.accesses.load(Relaxed),
        unfollowed: FOUND.unfollowed.load(Relaxed),
    };
    let text = serde_json::to_vec_pretty(&file).unwrap_or_default();
    if let Err(e) = files::within_limits(|| std::fs::write(&path, text)) {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_SANITIZE={}: {e}", plain::path(&path));
    }
}
