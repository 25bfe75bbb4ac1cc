//! Words that a program only reads: the constant arrays of its shader.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// One such array. A forged program may write its own: the words are atomic so that this is no undefined behaviour.
#[derive(Default)]
pub struct Data(Box<[AtomicU32]>);

impl Data {
    pub fn new(words: &[u32]) -> Data {
        Data(words.iter().map(|w| AtomicU32::new(*w)).collect())
    }
    pub fn words(&self) -> Vec<u32> {
        self.0.iter().map(|w| w.load(Relaxed)).collect()
    }
    /// Where it lies as long as the program lives, and its bytes.
    pub fn place(&self) -> (u64, u64) {
        (self.0.as_ptr() as u64, size_of_val(&*self.0) as u64)
    }
}

impl Clone for Data {
    fn clone(&self) -> Data {
        Data::new(&self.words())
    }
}
impl PartialEq for Data {
    fn eq(&self, o: &Data) -> bool {
        self.words() == o.words()
    }
}
impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.words().fmt(f)
    }
}
