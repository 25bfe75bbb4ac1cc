//! The page's bytes: chunks, compressed each by itself, that the page unpacks when it needs them.

use super::data::Blob;
use client::Result;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes of a chunk, about.
const CHUNK: usize = 1 << 20;

/// Where bytes are: chunk, first byte, bytes.
pub type Ref = (usize, usize, usize);

/// Chunks of one kind.
#[derive(Default)]
pub struct Pool {
    chunks: Vec<Vec<u8>>,
    known: HashMap<Blob, Ref>,
}

impl Pool {
    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Ref {
        if self.chunks.last().is_none_or(|c| c.len() + bytes.len() > CHUNK && !c.is_empty()) {
            self.chunks.push(vec![]);
        }
        let n = self.chunks.len() - 1;
        let at = self.chunks[n].len();
        self.chunks[n].extend_from_slice(bytes);
        (n, at, bytes.len())
    }

    /// Appends what lies there, once.
    pub fn blob(&mut self, blob: Blob, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Ref> {
        if let Some(r) = self.known.get(&blob) {
            return Ok(*r);
        }
        let r = self.put(&read()?);
        self.known.insert(blob, r);
        Ok(r)
    }

    /// The next bytes begin a chunk.
    pub fn cut(&mut self) {
        if self.chunks.last().is_some_and(|c| !c.is_empty()) {
            self.chunks.push(vec![]);
        }
    }

    pub fn chunks(&self) -> &[Vec<u8>] {
        &self.chunks
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.chunks.len()
    }

    /// All chunks, packed (zlib), on the machine's threads.
    pub fn packed(&self) -> Vec<Vec<u8>> {
        let next = AtomicUsize::new(0);
        let out: Vec<Mutex<Vec<u8>>> = self.chunks.iter().map(|_| Default::default()).collect();
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(8);
        let work = || {
            loop {
                let n = next.fetch_add(1, Relaxed);
                let Some(chunk) = self.chunks.get(n) else { break };
                if let Ok(mut to) = out[n].lock() {
                    *to = packed(chunk);
                }
            }
        };
        std::thread::scope(|s| {
            (0..threads).for_each(|_| {
                s.spawn(work);
            });
        });
        out.into_iter().map(|m| m.into_inner().unwrap_or_default()).collect()
    }
}

/// Bytes as zlib packs them.
pub fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut to = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 3), Compression::new(6));
    // A vector takes all.
    let _ = to.write_all(bytes);
    to.finish().unwrap_or_default()
}
