//! Transfer commands: copies between buffers, images and host memory, blits, resolves, clears.
//!
//! Regions are assumed valid, but nothing outside the bound memory is ever touched: what does not exist is cut off.

mod blit;
mod clear;
mod copy;
mod halve;
mod means;
mod nearest;
mod resolve;
mod rows;
mod scaled;
mod slices;

pub use blit::blit_image;
#[cfg(test)]
pub(crate) use blit::rows_are_their_texels;
pub use clear::{clear_color_image, clear_depth_stencil_image};
pub use copy::{copy_buffer_to_image, copy_image, copy_image_to_buffer};
pub use copy::{copy_image_to_memory, copy_memory_to_image, host_memcpy_size};
#[cfg(test)]
pub(crate) use means::means_are_those_of_texels;
pub use resolve::{Modes, resolve_image};
pub use rows::{RowReader, write_row};
pub use slices::{Slices, aspects};
