//! Files as a library uses them in a process that is somebody else's: it reads none that never end, writes none for those who may not, and
//! is not ended by a limit.

#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;

pub use system::{is_secure, within_limits};

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Opens a regular file for reading. A FIFO would wait for somebody who writes to it, and a device may never end.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub fn open(path: &Path) -> Result<File> {
    match system::regular(path)? {
        Some(file) => Ok(file),
        None => Err(Error::new(ErrorKind::InvalidInput, "no regular file")),
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

#[cfg(unix)]
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
