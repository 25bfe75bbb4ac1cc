//! Texels: memory and what lies in it (buffers, images), formats, and all that is done with texels: sampling, loads and
//! stores of shaders, copies, blits, resolves and clears.
//!
//! Knows no shaders, no commands and no waves: it is given lanes' coordinates and gives their texels.

pub mod buffer;
#[cfg_attr(windows, path = "dma_buf/windows.rs")]
pub mod dma_buf;
#[doc(hidden)]
pub mod for_tests;
pub mod format;
pub mod image;
#[cfg(test)]
mod kernel_tests;
pub mod memory;
pub mod retried;
pub mod row;
pub mod sample;
pub mod transfer;
pub mod vector;
