//! Where descriptors come from.

use crate::options::Heap;
use std::fmt;

/// Where a descriptor comes from, and what the `index` of [`super::Inst::Descriptor`] means there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DescriptorSource {
    /// A binding of the pipeline layout; `index` is the array element, which is checked at run time against the table's size.
    Binding { set: u32, binding: u32 },
    /// The null descriptor.
    Null,
    /// A descriptor in a heap; `index` is its byte offset.
    Heap(Heap),
    /// A buffer of a heap's own bytes, from byte `index` to its end.
    HeapBytes(Heap),
    /// A buffer that begins at the device address `index` (B64) and ends where device memory does.
    Address,
    /// An embedded sampler: its number in [`super::Shader::embedded`].
    Embedded(u32),
    /// A buffer of the shader's own words: its number in [`super::Shader::data`].
    Data(u32),
}

/// As text of the IR has it.
impl fmt::Display for DescriptorSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Binding { set, binding } => write!(f, "{set}.{binding}"),
            Self::Null => f.write_str("null"),
            Self::Heap(heap) => write!(f, "heap {heap:?}"),
            Self::HeapBytes(heap) => write!(f, "bytes {heap:?}"),
            Self::Address => f.write_str("address"),
            Self::Embedded(n) => write!(f, "embedded {n}"),
            Self::Data(n) => write!(f, "data {n}"),
        }
    }
}
