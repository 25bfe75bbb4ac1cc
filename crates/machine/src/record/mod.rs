//! The record of a frame: what `tuff frame` steps through (docs/frame.md). A file of bytes, to which everything large is appended, and a
//! file of lines, one a command, which say where in the first their bytes are. The crates above say what is in the lines.

pub mod bound;
pub mod picture;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Result, Write};
use std::path::Path;

/// In the folder of a capture: the folder, and the two files in it.
pub const FOLDER: &str = "frame";
pub const DATA: &str = "data.bin";
pub const LINES: &str = "commands.jsonl";

/// Where bytes lie in the file of bytes: the first, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Blob(pub u64, pub u64);

/// The files of a process.
pub struct Record(Mutex<Files>);

struct Files {
    data: BufWriter<File>,
    lines: BufWriter<File>,
    at: u64,
    /// Bytes that there may be.
    room: u64,
    /// By hash and length, what is there already.
    known: FxHashMap<(u64, u64), Blob>,
    /// Bytes that found no room.
    lost: u64,
    /// Writing has failed: nothing more is written.
    failed: Option<std::io::Error>,
}

impl Record {
    /// Begins one in this folder, which is made; `room`: bytes that it may have.
    ///
    /// # Errors
    /// The files cannot be made.
    pub fn create(folder: &Path, room: u64) -> Result<Record> {
        std::fs::create_dir_all(folder)?;
        let file = |name| -> Result<_> { Ok(BufWriter::new(File::create(folder.join(name))?)) };
        let (data, lines) = (file(DATA)?, file(LINES)?);
        Ok(Record(Mutex::new(Files {
            data,
            lines,
            at: 0,
            room,
            known: FxHashMap::default(),
            lost: 0,
            failed: None,
        })))
    }

    /// Appends bytes; `None`: there is no room for them.
    pub fn put(&self, bytes: &[u8]) -> Option<Blob> {
        self.0.lock().put(bytes)
    }

    /// The same, of bytes that may be there already.
    pub fn once(&self, bytes: &[u8]) -> Option<Blob> {
        let mut hash = DefaultHasher::new();
        bytes.hash(&mut hash);
        let key = (hash.finish(), bytes.len() as u64);
        let mut files = self.0.lock();
        if let Some(known) = files.known.get(&key) {
            return Some(*known);
        }
        let blob = files.put(bytes)?;
        files.known.insert(key, blob);
        Some(blob)
    }

    /// Appends a line.
    pub fn line(&self, text: &str) {
        let mut files = self.0.lock();
        files.try_to(|f| {
            f.lines.write_all(text.as_bytes())?;
            f.lines.write_all(b"\n")
        });
    }

    /// Brings everything to the files.
    ///
    /// # Errors
    /// The first that any call had.
    pub fn flush(&self) -> Result<()> {
        let mut files = self.0.lock();
        files.try_to(|f| f.data.flush().and_then(|()| f.lines.flush()));
        files.failed.take().map_or(Ok(()), Err)
    }

    /// Bytes that found no room.
    pub fn lost(&self) -> u64 {
        self.0.lock().lost
    }
}

impl Files {
    fn try_to(&mut self, what: impl FnOnce(&mut Files) -> Result<()>) -> bool {
        if self.failed.is_some() {
            return false;
        }
        let done = files::within_limits(|| what(self));
        let good = done.is_ok();
        self.failed = done.err();
        good
    }

    fn put(&mut self, bytes: &[u8]) -> Option<Blob> {
        let blob = Blob(self.at, bytes.len() as u64);
        if self.at.saturating_add(blob.1) > self.room {
            self.lost += blob.1;
            return None;
        }
        self.try_to(|f| f.data.write_all(bytes)).then(|| {
            self.at += blob.1;
            blob
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_kept_once_and_no_more_than_there_is_room_for() {
        let folder = temporary::folder("tuff-record-").expect("a folder");
        let folder = folder.path();
        let record = Record::create(folder, 8).expect("files");
        assert_eq!(record.once(b"abc"), Some(Blob(0, 3)));
        assert_eq!(record.put(b"abc"), Some(Blob(3, 3)));
        assert_eq!(record.once(b"abc"), Some(Blob(0, 3)));
        assert_eq!((record.put(b"abc"), record.lost()), (None, 3));
        assert_eq!(record.put(b"de"), Some(Blob(6, 2)));
        record.line("{}");
        record.flush().expect("files");
        assert_eq!(std::fs::read(folder.join(DATA)).expect("a file"), b"abcabcde");
        assert_eq!(std::fs::read(folder.join(LINES)).expect("a file"), b"{}\n");
    }
}
