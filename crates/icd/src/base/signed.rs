//! Blobs that the driver hands out and takes back: a header, a signature of all else ([`cache_key`]), and a body.
//!
//! A program's memory may change while the driver looks at it: by another thread, or by another process that shares it. What was
//! verified there is not what is read there afterwards. So a blob is copied, the copy is verified, and the copy is read: a
//! [`Body`] is of a copy that was verified, nothing else makes one, and whatever reads programs takes nothing else.

use crate::base::answer::Answer;
use crate::base::cache_key;
use crate::base::chain;
use shader::bytecode::Program;

pub(crate) const HEADER: usize = 32;
pub(crate) type Header = [u8; HEADER];
const SIGNATURE: usize = 16;
/// Header and signature.
const PREFIX: usize = HEADER + SIGNATURE;

/// A blob that is being written.
pub(crate) struct Draft(Vec<u8>);

impl Draft {
    pub(crate) fn new(header: Header) -> Draft {
        let mut blob = header.to_vec();
        blob.resize(PREFIX, 0);
        Draft(blob)
    }
    /// Bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
    pub(crate) fn signed(mut self) -> Vec<u8> {
        if let Some(s) = cache_key::sign(&[&self.0[..HEADER], &self.0[PREFIX..]]) {
            self.0[HEADER..PREFIX].copy_from_slice(&s);
        }
        self.0
    }
}

/// A copy of a blob that this user's driver signed.
pub(crate) struct Verified(Vec<u8>);

impl Verified {
    /// `None` for what is foreign, forged or damaged. `known`: whether the header is one of a blob that is wanted.
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub(crate) fn copied(bytes: &[u8], known: impl FnOnce(&Header) -> bool) -> Answer<Option<Verified>> {
        // SAFETY: so many bytes.
        Ok(Verified::of(unsafe { chain::copied(bytes.as_ptr(), bytes.len())? }, known))
    }

    fn of(blob: Vec<u8>, known: impl FnOnce(&Header) -> bool) -> Option<Verified> {
        let (header, rest) = blob.split_first_chunk::<HEADER>()?;
        let (signature, body) = rest.split_first_chunk::<SIGNATURE>()?;
        let good = known(header) && cache_key::sign(&[header, body])? == *signature;
        good.then_some(Verified(blob))
    }

    pub(crate) fn body(&self) -> Body<'_> {
        Body(&self.0[PREFIX..])
    }
    pub(crate) fn header(&self) -> &Header {
        // As long at least: that was looked at.
        self.0.first_chunk().unwrap_or(&[0; HEADER])
    }
    /// Header and signature too.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes of a [`Verified`] blob.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.0.is_empty()
    }
    /// The first `n` bytes, and the bytes after them.
    pub(crate) fn split(self, n: usize) -> Option<(&'a [u8], Body<'a>)> {
        let (first, rest) = self.0.split_at_checked(n)?;
        Some((first, Body(rest)))
    }
    pub(crate) fn split_chunk<const N: usize>(self) -> Option<(&'a [u8; N], Body<'a>)> {
        let (first, rest) = self.0.split_first_chunk()?;
        Some((first, Body(rest)))
    }
    /// The bytes after a program of `n` bytes, and the program.
    pub(crate) fn split_program(self, n: usize) -> Option<(Program, Body<'a>)> {
        let (program, rest) = self.split(n)?;
        Some((Program::from_bytes(program)?, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_stays_what_was_verified() {
        let header = [7; HEADER];
        let mut draft = Draft::new(header);
        draft.add(b"body");
        let mut blob = draft.signed();
        let copied = |blob: &[u8]| Verified::copied(blob, |h| *h == header);
        let kept = copied(&blob).unwrap().expect("it is signed");
        blob[PREFIX] ^= 1;
        assert_eq!(kept.body().0, b"body");
        assert!(copied(&blob).unwrap().is_none(), "changed");
        blob[PREFIX] ^= 1;
        blob[0] ^= 1;
        assert!(copied(&blob).unwrap().is_none(), "another header");
        assert!(copied(&blob[..PREFIX - 1]).unwrap().is_none(), "cut");
    }
}
