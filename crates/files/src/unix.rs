//! Linux.

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Whether the process has rights that the user who started it has not (set-uid, set-gid, capabilities): then the environment may not name
/// files, which the process would read and write for somebody who may not.
pub fn is_secure() -> bool {
    // SAFETY: it has no conditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// The signal mask of a thread, as it was.
struct Mask {
    before: libc::sigset_t,
    limit: libc::sigset_t,
}

impl Drop for Mask {
    fn drop(&mut self) {
        // SAFETY: sets that were made below; nothing is written beyond them.
        unsafe {
            if libc::sigismember(&self.before, libc::SIGXFSZ) == 0 {
                // The calls' own signals end here: they were sent to this thread.
                let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                while libc::sigtimedwait(&self.limit, std::ptr::null_mut(), &now) == libc::SIGXFSZ {}
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}

/// Runs what makes or writes files. Beyond a limit of their size (`ulimit -f`, memory files' too) its calls fail with EFBIG, where a signal
/// would end the process.
pub fn within_limits<R>(run: impl FnOnce() -> R) -> R {
    // SAFETY: sets of signals, for which zero is a valid value, and this thread's mask.
    let _mask = unsafe {
        let (mut limit, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut limit);
        libc::sigaddset(&mut limit, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &limit, &mut before);
        Mask { before, limit }
    };
    run()
}

/// Opens a file without waiting for anybody; `None` if it is no regular one.
pub fn regular(path: &Path) -> Result<Option<File>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}
