//! Files as a library uses them in a process that is somebody else's: it reads none that never end, writes none for those who may not, and
//! is not ended by a limit.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
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

/// Opens a regular file for reading. A FIFO would wait for somebody who writes to it, and a device may never end.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn open(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(Error::new(ErrorKind::InvalidInput, "no regular file")),
    }
}

/// The text of a regular file of so many bytes at most.
///
/// # Errors
/// It cannot be read, is no regular file, is larger, or is no UTF-8.
pub fn text(path: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    // One byte more shows that there is more, whatever size was told.
    open(path)?.take(most + 1).read_to_string(&mut text)?;
    match text.len() as u64 > most {
        true => Err(Error::new(ErrorKind::InvalidInput, format!("larger than {most} bytes"))),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_not_begun() {
        let folder = temporary::folder("tuff-").unwrap();
        let at = |name: &str| folder.path().join(name);
        let fifo = at("fifo");
        let name = std::ffi::CString::new(fifo.to_str().unwrap()).unwrap();
        // SAFETY: a path.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for wrong in [&fifo, Path::new("/dev/zero"), Path::new("/dev/null"), folder.path()] {
            let e = text(wrong, 100).expect_err("no regular file");
            assert_eq!(e.to_string(), "no regular file", "{}", wrong.display());
        }
        std::fs::write(at("a"), "0123456789").unwrap();
        assert_eq!(text(&at("a"), 10).unwrap(), "0123456789");
        assert_eq!(text(&at("a"), 9).unwrap_err().to_string(), "larger than 9 bytes");
        std::fs::write(at("b"), [0xFF]).unwrap();
        assert!(text(&at("b"), 10).is_err() && text(&at("none"), 10).is_err());
    }

    /// In a child, for the limit is the process's.
    #[test]
    fn a_limit_is_an_error() {
        const CHILD: &str = "TUFF_TEST_LIMIT";
        if std::env::var_os(CHILD).is_none() {
            let mut me = std::process::Command::new(std::env::current_exe().unwrap());
            me.args(["--exact", "tests::a_limit_is_an_error"]).env(CHILD, "1");
            // (By a pipe: what it prints may go to a file.)
            let out = me.output().unwrap();
            assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
            return;
        }
        let folder = temporary::folder("tuff-").unwrap();
        let at = folder.path().join("a");
        let most = libc::rlimit { rlim_cur: 10, rlim_max: 10 };
        // SAFETY: a limit of this process.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &most) }, 0);
        for _ in 0..3 {
            let e = within_limits(|| std::fs::write(&at, [0; 11])).unwrap_err();
            assert_eq!(e.raw_os_error(), Some(libc::EFBIG));
        }
        within_limits(|| std::fs::write(&at, [0; 10])).unwrap();
        // SAFETY: a set of signals, for which zero is a valid value; the thread's mask is only asked for.
        unsafe {
            let mut now: libc::sigset_t = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut now);
            assert_eq!(libc::sigismember(&now, libc::SIGXFSZ), 0, "as it was");
        }
    }
}
