//! Trees of files as archives: entries sorted, no owner, one time.

use super::tree::Tree;
use super::{VERSION, machine};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeSet;
use std::io::Write;

/// The folder that the tar.gz unpacks to.
pub fn folder_name() -> String {
    format!("tuff-{VERSION}-{}-linux", machine())
}

/// The tar.gz: the tree in a folder of its own.
pub fn archive(tree: &Tree, time: u64) -> Result<Vec<u8>, String> {
    gzip(&tar(tree, &folder_name(), time)?)
}

/// A tar archive of the files, below a folder, with entries for all folders on the way.
pub fn tar(tree: &Tree, below: &str, time: u64) -> Result<Vec<u8>, String> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut made = BTreeSet::new();
    for (path, file) in tree {
        let path = format!("{below}/{path}");
        for (end, _) in path.match_indices('/') {
            let folder = &path[..=end];
            if made.insert(folder.to_string()) {
                append(&mut builder, folder, &[], 0o755, tar::EntryType::Directory, time)?;
            }
        }
        append(&mut builder, &path, &file.bytes, file.mode, tar::EntryType::Regular, time)?;
    }
    builder.into_inner().map_err(|e| format!("tar: {e}"))
}

fn append(
    builder: &mut tar::Builder<Vec<u8>>,
    path: &str,
    bytes: &[u8],
    mode: u32,
    kind: tar::EntryType,
    time: u64,
) -> Result<(), String> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    // `append_data` would leave out the "./" that Debian's packages have.
    let name = &mut header.as_gnu_mut().ok_or("no GNU header")?.name;
    let room = name.get_mut(..path.len()).ok_or_else(|| format!("{path}: too long for a tar archive"))?;
    room.copy_from_slice(path.as_bytes());
    let owner = header.set_username("root").and_then(|()| header.set_groupname("root"));
    header.set_cksum();
    owner.and_then(|()| builder.append(&header, bytes)).map_err(|e| format!("{path}: {e}"))
}

/// Without name and time; `flate2`'s own deflate, whose version Cargo.lock has.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(bytes).and_then(|()| writer.finish()).map_err(|e| format!("gzip: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::tree::File;

    #[test]
    fn an_archive_has_sorted_entries_of_one_time_and_nobody() {
        let file = |mode| File { bytes: b"x\n".to_vec(), mode };
        let tree = Tree::from([
            ("share/a".to_string(), file(0o644)),
            ("bin/z".to_string(), file(0o755)),
            ("bin/b".to_string(), file(0o755)),
        ]);
        let bytes = tar(&tree, "top", 1234567).unwrap();
        let mut archive = tar::Archive::new(&bytes[..]);
        let entries: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|e| {
                let e = e.unwrap();
                let h = e.header();
                assert_eq!((h.mtime().unwrap(), h.uid().unwrap(), h.gid().unwrap()), (1234567, 0, 0));
                (e.path().unwrap().display().to_string(), h.mode().unwrap())
            })
            .collect();
        let expected = [
            ("top/", 0o755),
            ("top/bin/", 0o755),
            ("top/bin/b", 0o755),
            ("top/bin/z", 0o755),
            ("top/share/", 0o755),
            ("top/share/a", 0o644),
        ];
        assert_eq!(entries, expected.map(|(p, m)| (p.to_string(), m)));
        assert_eq!(gzip(&bytes).unwrap(), gzip(&bytes).unwrap());
    }
}
