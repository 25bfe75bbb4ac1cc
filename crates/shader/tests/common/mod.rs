pub mod options;
pub mod program;
pub mod scalar;
pub mod show;
pub mod wave;

pub use options::*;

pub fn table_word(i: u32) -> u32 {
    i.wrapping_mul(0x9E37_79B9) >> 7 ^ i
}
