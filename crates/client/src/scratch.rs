//! Temporary files: a folder of the process's own, that nobody else can look into (0700) and whose name nobody can know beforehand,
//! gone when the process ends.

use crate::{Error, Result};
use std::path::PathBuf;
use std::sync::Mutex;

/// The folder, and the process that has made it: a fork's end is not its maker's.
static FOLDER: Mutex<Option<(temporary::Folder, u32)>> = Mutex::new(None);

extern "C" fn remove() {
    let Ok(mut folder) = FOLDER.try_lock() else { return };
    match folder.take() {
        Some((folder, process)) if process == std::process::id() => drop(folder),
        other => std::mem::forget(other),
    }
}

/// A path in the folder: of a file that is not there yet, if no other has this name.
///
/// # Errors
/// No folder can be made.
pub fn scratch(name: &str) -> Result<PathBuf> {
    let mut folder = FOLDER.lock().map_err(|_| Error("the temporary folder's lock".into()))?;
    if let Some((folder, process)) = &*folder
        && *process == std::process::id()
    {
        return Ok(folder.path().join(name));
    }
    let made = temporary::folder("tuff-");
    let made = made.map_err(|e| Error::file(&std::env::temp_dir(), e))?;
    let path = made.path().join(name);
    match folder.replace((made, std::process::id())) {
        // Its maker's, of which this process is a fork.
        Some(other) => std::mem::forget(other),
        // SAFETY: a function that may be called at the end.
        None => drop(unsafe { libc::atexit(remove) }),
    }
    Ok(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_private_and_one() {
        use std::os::unix::fs::MetadataExt;
        let (a, b) = (scratch("a").unwrap(), scratch("b").unwrap());
        assert_eq!(a.parent(), b.parent());
        assert!(!a.exists());
        let about = std::fs::symlink_metadata(a.parent().unwrap()).unwrap();
        assert!(about.is_dir() && about.mode() & 0o777 == 0o700);
    }
}
