//! Images and texel buffers as shaders see them: views, samplers, and the operations of one warp of 16 lanes.
//!
//! All operations take a mask of active lanes and give raw bits, lane-indexed; entries of inactive lanes are left
//! alone. Nothing outside the view is ever touched, whatever the coordinates are.
//!
//! Source: Vulkan specification, chapter "Image Operations" (named by section in the files).

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

mod alike;
#[cfg(test)]
mod alike_tests;
#[cfg(test)]
mod anisotropy_tests;
mod args;
mod blend;
#[cfg(test)]
mod blocks_tests;
mod coords;
mod fast;
mod filter;
mod lines;
mod lod;
#[cfg(test)]
mod near_tests;
mod sampler;
mod stores;
#[cfg(test)]
mod stores_tests;
#[cfg(test)]
mod tests;
mod texel;
mod touched;
mod view;
#[cfg(test)]
mod wave_tests;
#[cfg(test)]
mod weight_tests;
mod wide;
mod ycbcr;
#[cfg(test)]
mod ycbcr_tests;

pub use alike::Alike;
pub use args::{SampleArgs, Warp4, few, lanes};
#[cfg(test)]
pub(crate) use blocks_tests::waves_sample_blocks_as_rows;
pub use fast::{
    extra_taps_wave, fetch_wave, gather_wave, missing_samples, sample_lines, sample_solid_wave, sample_wave,
};
pub use filter::{gather_warp, sample_warp};
pub use lines::Touched;
pub use lod::{extra_taps, query_lod_warp};
pub use sampler::{MAX_ANISOTROPY, MAX_LOD_BIAS, Sampler};
pub use stores::store_wave;
#[cfg(test)]
pub(crate) use stores_tests::stores_are_those_of_the_warps;
#[cfg(test)]
pub(crate) use tests::{kernels_agree_with_the_general_path, lines_of_large_images};
pub use texel::{
    Grid, TexelData, buffer_load_warp, buffer_store_warp, fetch_warp, has_atomics, load_warp, missing_texels,
    store_warp, texel_addresses, texel_pointers,
};
pub use view::{BufferView, ImageView, Level, outside};
#[cfg(test)]
pub(crate) use wave_tests::waves_are_their_warps;
pub use ycbcr::{Conversion, Ycbcr};
