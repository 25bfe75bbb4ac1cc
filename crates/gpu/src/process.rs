//! This process among those of a program: what `%p` in a setting's path stands for, and the note that its first device leaves for
//! `tuff run` (`TUFF_PROCESSES`).

use parking_lot::Mutex;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The process that asked last, and its name: the child of a fork is another process.
static NAME: Mutex<Option<(u32, String)>> = Mutex::new(None);

/// Leaves the note of a process that creates a device, once.
pub fn open() {
    if settings::get().processes.is_some() {
        name();
    }
}

/// Its number; where an earlier process of the same `tuff run` had that number (numbers come again, and a program may become another),
/// `NUMBER.2` and so on.
pub fn name() -> String {
    let pid = std::process::id();
    let mut known = NAME.lock();
    match &*known {
        Some((of, name)) if *of == pid => name.clone(),
        _ => {
            let name = claimed(pid);
            *known = Some((pid, name.clone()));
            name
        }
    }
}

/// The command line: each argument ends with a 0.
#[cfg(unix)]
fn command_line() -> Vec<u8> {
    std::fs::read("/proc/self/cmdline").unwrap_or_default()
}

/// The same, with slashes in the program's path.
#[cfg(windows)]
fn command_line() -> Vec<u8> {
    let mut line = vec![];
    for (i, argument) in std::env::args_os().enumerate() {
        let text = argument.to_string_lossy();
        let text = if i == 0 { text.replace('\\', "/") } else { text.into_owned() };
        line.extend_from_slice(text.as_bytes());
        line.push(0);
    }
    line
}

/// A file of its own in the folder of notes says that the name is taken. The note is the command line.
fn claimed(pid: u32) -> String {
    let Some(folder) = &settings::get().processes else { return pid.to_string() };
    let names = std::iter::once(pid.to_string()).chain((2..).map(|n| format!("{pid}.{n}")));
    for name in names {
        let path = folder.join(&name);
        let made = OpenOptions::new().write(true).create_new(true).open(&path);
        let made = made.and_then(|mut f| {
            let line = command_line();
            files::within_limits(|| f.write_all(&line))
        });
        match made {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Ok(()) => return name,
            Err(e) => {
                let _ = writeln!(std::io::stderr(), "tuff: TUFF_PROCESSES: {}: {e}", plain::path(&path));
                break;
            }
        }
    }
    pid.to_string()
}

/// A setting's path, with this process's name for each `%p` in it.
pub fn place(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.windows(2).any(|w| w == b"%p") {
        return path.into();
    }
    with_name(path.as_os_str(), &name()).into()
}

fn with_name(path: &OsStr, name: &str) -> OsString {
    let (mut out, mut rest) = (vec![], path.as_encoded_bytes());
    while let Some(at) = rest.windows(2).position(|w| w == b"%p") {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(name.as_bytes());
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    // SAFETY: the path's own bytes, cut at ASCII alone, with text between.
    unsafe { OsString::from_encoded_bytes_unchecked(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_stands_wherever_the_path_asks_for_it() {
        let with = |path: &str| with_name(OsStr::new(path), "7.2").into_string().unwrap();
        assert_eq!(with("/a/%p/b-%p.json"), "/a/7.2/b-7.2.json");
        assert_eq!(with("%p"), "7.2");
        assert_eq!(with("/100%/a%%p%"), "/100%/a%7.2%");
        assert_eq!(place(Path::new("/a/b")), Path::new("/a/b"));
        assert_eq!(place(Path::new("/a/%p")), Path::new(&format!("/a/{}", std::process::id())));
    }
}
