//! Shapes of the generated tables of structures, and the writers that fill structures by them.

use std::ffi::c_void;

/// A structure of booleans that extends `VkPhysicalDeviceFeatures2`.
pub(crate) struct FeatureStruct {
    pub s_type: i32,
    pub name: &'static str,
    /// The core version that defines it (`100 * major + minor`), 0 for none.
    pub core: u32,
    /// The extensions that define it.
    pub extensions: &'static [&'static str],
    /// Its booleans in order; they follow sType and pNext directly.
    pub members: &'static [&'static str],
}

/// Where the booleans of a feature structure begin.
pub(crate) const FEATURES_AT: usize = size_of::<vk::BaseOutStructure>();

/// A structure that extends `VkPhysicalDeviceProperties2`.
pub(crate) struct PropertyStruct {
    pub s_type: i32,
    pub core: u32,
    pub extensions: &'static [&'static str],
    pub members: &'static [Member],
}

/// How a number is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    U8,
    Char,
    U32,
    I32,
    U64,
    F32,
}

/// A number, or an array of them, inside a structure.
pub(crate) struct Member {
    pub name: &'static str,
    /// Bytes from the structure's start.
    pub offset: usize,
    pub kind: Number,
    pub count: usize,
}

/// The value of a property or limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Value {
    Bool(bool),
    U32(u32),
    I32(i32),
    U64(u64),
    F32(f32),
    U32s(&'static [u32]),
    F32s(&'static [f32]),
    Bytes(&'static [u8]),
    Str(&'static str),
}

impl Value {
    /// Whether this value can be stored in `m` whole.
    pub fn fits(self, m: &Member) -> bool {
        match self {
            Value::Bool(_) | Value::U32(_) => m.kind == Number::U32 && m.count == 1,
            Value::I32(_) => m.kind == Number::I32 && m.count == 1,
            Value::U64(_) => m.kind == Number::U64 && m.count == 1,
            Value::F32(_) => m.kind == Number::F32 && m.count == 1,
            Value::U32s(v) => m.kind == Number::U32 && m.count == v.len(),
            Value::F32s(v) => m.kind == Number::F32 && m.count == v.len(),
            Value::Bytes(v) => m.kind == Number::U8 && m.count == v.len(),
            Value::Str(v) => m.kind == Number::Char && m.count > v.len(),
        }
    }

    /// Stores the value at `m` of the structure at `base`, if it fits.
    ///
    /// # Safety
    /// `base` is a structure that has the member `m`.
    pub unsafe fn write(self, base: *mut c_void, m: &Member) {
        // SAFETY: `base` has the member (the caller), and the value has the member's type and length (`fits`).
        unsafe {
            if !self.fits(m) {
                return;
            }
            let at = base.cast::<u8>().add(m.offset);
            match self {
                Value::Bool(v) => at.cast::<u32>().write(v.into()),
                Value::U32(v) => at.cast::<u32>().write(v),
                Value::I32(v) => at.cast::<i32>().write(v),
                Value::U64(v) => at.cast::<u64>().write(v),
                Value::F32(v) => at.cast::<f32>().write(v),
                Value::U32s(v) => at.cast::<u32>().copy_from_nonoverlapping(v.as_ptr(), v.len()),
                Value::F32s(v) => at.cast::<f32>().copy_from_nonoverlapping(v.as_ptr(), v.len()),
                Value::Bytes(v) => at.copy_from_nonoverlapping(v.as_ptr(), v.len()),
                Value::Str(v) => {
                    at.write_bytes(0, m.count);
                    at.copy_from_nonoverlapping(v.as_ptr(), v.len());
                }
            }
        }
    }
}
