//! The file of `TUFF_DEBUG`: what this process's debugged shaders did. It is written when the frame that is recorded has been presented,
//! and until then when devices are destroyed and when the process ends.

use crate::process;
use machine::debugger;
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The process that debugs: the child of a fork has nothing to tell.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// The process has a device.
pub fn open() {
    static AT_EXIT: Once = Once::new();
    extern "C" fn at_exit() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(write);
    }
    if !debugger::wanted() {
        return;
    }
    PROCESS.store(std::process::id(), Relaxed);
    // SAFETY: the function needs nothing that is gone when a process ends.
    AT_EXIT.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

fn is_here() -> bool {
    PROCESS.load(Relaxed) == std::process::id()
}

/// Writes the file, if one is wanted.
pub fn write() {
    if debugger::wanted()
        && is_here()
        && let Some(bytes) = debugger::so_far()
    {
        put(&bytes);
    }
}

/// A frame has been presented.
pub fn presented() {
    if debugger::wanted()
        && is_here()
        && let Some((bytes, ends)) = debugger::presented()
    {
        put(&bytes);
        if ends {
            end_process();
        }
    }
}

#[cfg(unix)]
fn end_process() {
    // SAFETY: a system call; the process is its own.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}

#[cfg(windows)]
fn end_process() {
    // As a shell tells of SIGTERM.
    std::process::exit(143);
}

/// Nobody sees half of it.
fn put(bytes: &[u8]) {
    let Some(path) = &settings::get().debug else { return };
    let path = process::place(path);
    let part = path.with_extension("part");
    let written = files::within_limits(|| {
        std::fs::write(&part, bytes)?;
        std::fs::rename(&part, &path)
    });
    if let Err(e) = written {
        let _ = writeln!(std::io::stderr(), "tuff: TUFF_DEBUG={}: {e}", plain::path(&path));
    }
}
