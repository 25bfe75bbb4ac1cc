//! Linux.

pub use settings::state_folder;
use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};

/// Fills bytes that nobody can foretell; false if the system has none.
pub fn random(bytes: &mut [u8]) -> bool {
    // SAFETY: room for as many bytes. So few come in one go, or not at all (getrandom(2)).
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    got == bytes.len() as isize
}

/// Folders that are the user's alone.
pub fn private_folder(how: &mut DirBuilder) -> &mut DirBuilder {
    how.mode(0o700)
}

/// Files that are the user's alone.
pub fn private_file(how: &mut OpenOptions) -> &mut OpenOptions {
    how.mode(0o600)
}

/// Whether a file is the user's alone.
pub fn is_private(m: &Metadata) -> bool {
    // SAFETY: it has no conditions.
    m.uid() == unsafe { libc::geteuid() } && m.mode() & 0o077 == 0
}
