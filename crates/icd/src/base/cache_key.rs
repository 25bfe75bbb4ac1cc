//! The secret that signs pipeline caches. A compiled program is not SPIR-V: no check of its bytes can show that it touches
//! only what it may, so a blob counts only if this user's driver wrote it, and nobody else can make its signature.
//!
//! Keyed BLAKE3, half its length; the key is derived from 16 random bytes in a file that only the user can write. Where
//! none can be kept (no home, a sandbox), the key lasts as long as the process, and so do the caches.

#[cfg_attr(unix, path = "cache_key/unix.rs")]
#[cfg_attr(windows, path = "cache_key/windows.rs")]
mod system;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const SIZE: usize = 16;
type Key = [u8; SIZE];

/// The signature of a blob's parts; `None` where there is no secret at all: then no blob is good.
pub(crate) fn sign(parts: &[&[u8]]) -> Option<[u8; 16]> {
    static KEY: OnceLock<Option<Key>> = OnceLock::new();
    let key = (*KEY.get_or_init(|| path().and_then(|p| kept(&p)).or_else(random)))?;
    Some(signed(&key, parts))
}

fn signed(key: &Key, parts: &[&[u8]]) -> [u8; 16] {
    let mut h = blake3::Hasher::new_keyed(&blake3::derive_key("Tuff: signature of pipeline caches", key));
    for part in parts {
        h.update(part);
    }
    let mut half = [0; 16];
    h.finalize_xof().fill(&mut half);
    half
}

fn path() -> Option<PathBuf> {
    settings::get().cache_key.clone().or_else(|| Some(system::state_folder()?.join("tuff/cache.key")))
}

fn random() -> Option<Key> {
    let mut key = [0; SIZE];
    system::random(&mut key).then_some(key)
}

/// The key in a file, which is made if it is not there.
fn kept(path: &Path) -> Option<Key> {
    if let Some(key) = read(path) {
        return Some(key);
    }
    if path.exists() {
        // Made since by another; or not a key, or others may have written it.
        return read(path);
    }
    let folder = path.parent()?;
    system::private_folder(&mut fs::DirBuilder::new()).recursive(true).create(folder).ok()?;
    // Another process may make one at the same time. The file appears complete or not at all, because a link never replaces a file.
    let key = random()?;
    let draft = folder.join(format!(
        "cache.key.{}.{}",
        std::process::id(),
        u32::from_ne_bytes(*random()?.first_chunk()?)
    ));
    let mut f =
        system::private_file(&mut fs::OpenOptions::new()).write(true).create_new(true).open(&draft).ok()?;
    let written = files::within_limits(|| f.write_all(&key)).and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(()) => Some(key),
        Err(_) => read(path),
    }
}

fn read(path: &Path) -> Option<Key> {
    let mut f = files::open(path).ok()?;
    let m = f.metadata().ok()?;
    if !system::is_private(&m) || m.len() != SIZE as u64 {
        return None;
    }
    let mut key = [0; SIZE];
    f.read_exact(&mut key).ok()?;
    Some(key)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn a_key_is_made_once_by_all_who_ask() {
        let outer = temporary::folder("tuff-").unwrap();
        let root = outer.path().join("key");
        let at = root.join("a/b/cache.key");
        let keys: Vec<_> = std::thread::scope(|s| {
            let all: Vec<_> = (0..8).map(|_| s.spawn(|| kept(&at))).collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(keys[0].is_some() && keys.iter().all(|k| *k == keys[0]), "{keys:?}");
        assert_eq!(fs::metadata(&at).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(at.parent().unwrap()).unwrap().count(), 1, "no drafts stay");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_others_may_have_written_is_no_key() {
        let outer = temporary::folder("tuff-").unwrap();
        let root = outer.path().join("key");
        let at = root.join("cache.key");
        let key = kept(&at);
        assert!(key.is_some());
        for mode in [0o620, 0o602, 0o640, 0o604] {
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(kept(&at), None, "{mode:o}");
        }
        fs::set_permissions(&at, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(kept(&at), key);
        fs::write(&at, b"short").unwrap();
        assert_eq!(kept(&at), None);
        fs::remove_dir_all(root).unwrap();
        assert_eq!(kept(Path::new("/proc/tuff/cache.key")), None, "where nothing can be made");
    }

    #[test]
    fn signatures_are_of_all_parts_and_the_key() {
        let key: Key = std::array::from_fn(|i| i as u8);
        assert_eq!(signed(&key, &[b"ab", b"c"]), signed(&key, &[b"abc"]));
        assert_ne!(signed(&key, &[b"abc"]), signed(&key, &[b"abd"]));
        assert_ne!(signed(&key, &[b"abc"]), signed(&[0; SIZE], &[b"abc"]));
        // Not a value that anyone could compute.
        assert_ne!(signed(&key, &[b"abc"]), crate::base::hash::bytes(b"abc").to_be_bytes());
    }
}
