//! Temporary folders and files: made exclusively, for their owner alone, under names that nobody can foretell. For tools and tests; the
//! driver makes none.

use std::io::Result;
use std::path::PathBuf;

/// A folder, gone with its contents when it is dropped.
pub use tempfile::TempDir as Folder;

/// A new folder whose name begins so.
///
/// # Errors
/// The system makes none.
pub fn folder(prefix: &str) -> Result<Folder> {
    private(tempfile::Builder::new().prefix(prefix)).tempdir()
}

#[cfg(unix)]
fn private<'a, 'b, 'c>(how: &'a mut tempfile::Builder<'b, 'c>) -> &'a mut tempfile::Builder<'b, 'c> {
    use std::os::unix::fs::PermissionsExt;
    // The library's own are open to all but the umask's.
    how.permissions(std::fs::Permissions::from_mode(0o700))
}

/// A user's folder of temporary files is the user's alone.
#[cfg(windows)]
fn private<'a, 'b, 'c>(how: &'a mut tempfile::Builder<'b, 'c>) -> &'a mut tempfile::Builder<'b, 'c> {
    how
}

/// A new, empty file that stays.
///
/// # Errors
/// The system makes none.
pub fn file(prefix: &str, suffix: &str) -> Result<PathBuf> {
    let made = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile()?;
    Ok(made.keep()?.1)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn they_are_their_owners_alone() {
        let a = folder("a-").unwrap();
        let b = file("b-", ".c").unwrap();
        let mode = |p: &std::path::Path| std::fs::symlink_metadata(p).unwrap().mode() & 0o777;
        assert_eq!((mode(a.path()), mode(&b)), (0o700, 0o600));
        assert_ne!(a.path(), folder("a-").unwrap().path());
        std::fs::remove_file(&b).unwrap();
        let path = a.path().to_path_buf();
        std::fs::write(path.join("x"), "y").unwrap();
        drop(a);
        assert!(!path.exists());
    }
}
