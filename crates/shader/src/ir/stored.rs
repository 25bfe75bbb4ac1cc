//! The values of a store.

use super::Value;
use std::ops::{Deref, DerefMut};

/// The values that a store writes. One word: a list in place would make every instruction larger, and few are stores.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::box_collection, reason = "one word, where a slice's box has two")]
pub struct Stored(Box<Vec<Value>>);

impl From<Vec<Value>> for Stored {
    fn from(values: Vec<Value>) -> Stored {
        Stored(Box::new(values))
    }
}

impl Deref for Stored {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl DerefMut for Stored {
    fn deref_mut(&mut self) -> &mut [Value] {
        &mut self.0
    }
}
