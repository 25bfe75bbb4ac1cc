//! Descriptors that lie in no table of the host's: made up for inline uniform blocks, and for what memory that the
//! application writes says. Programs hold their addresses, which stay as they are until [`MadeUp::clear`].

use std::any::Any;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What the host says a descriptor in the application's memory means.
#[derive(Default)]
pub struct Meaning {
    /// A descriptor as [`shader::options::DESCRIPTOR_BYTES`] has it; zeros: the null descriptor.
    pub words: [u64; 4],
    /// Owns what the words point at, if nobody else does.
    pub keep: Option<Box<dyn Any + Send>>,
}

/// The descriptors made up for one program and its tables.
#[derive(Default)]
pub struct MadeUp {
    /// Buffers by address and bytes. Boxed: programs hold their addresses.
    inline: HashMap<[u64; 2], Box<[u64; 4]>, BuildHasherDefault<Mix>>,
    /// By the bytes in memory, and whether a texel buffer's was asked for.
    read: HashMap<([u64; 4], bool), Box<Meaning>, BuildHasherDefault<Mix>>,
}

impl MadeUp {
    /// Address of the descriptor of a buffer of `bytes` bytes at `at`.
    pub fn buffer(&mut self, at: u64, bytes: u64) -> u64 {
        self.inline.entry([at, bytes]).or_insert_with(|| Box::new([at, bytes, 0, 0])).as_ptr() as u64
    }

    /// Address of what `raw` means, which `ask` says when it is new.
    pub fn meaning(&mut self, raw: [u64; 4], texels: bool, ask: impl FnOnce() -> Meaning) -> u64 {
        let made = self.read.entry((raw, texels)).or_insert_with(|| Box::new(ask()));
        made.words.as_ptr() as u64
    }

    /// Forgets them all: the program that held their addresses has ended.
    pub fn clear(&mut self) {
        self.inline.clear();
        self.read.clear();
    }
}

/// A quick hash of a few words. Whoever makes them collide slows down himself.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u64(b.into()));
    }
    fn write_u8(&mut self, b: u8) {
        self.write_u64(b.into());
    }
    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
    fn write_u64(&mut self, w: u64) {
        self.0 = (self.0.rotate_left(5) ^ w).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
