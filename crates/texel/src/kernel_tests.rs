//! The crate's kernels, each with what it is compared with.

use crate::format::block::{packed_texels_are_the_decoded_ones, texels_of_blocks_anywhere};
use crate::format::kernels::warps_are_their_texels;
use crate::format::wave::steps_are_their_texels;
use crate::sample::{
    kernels_agree_with_the_general_path, lines_of_large_images, stores_are_those_of_the_warps,
    waves_are_their_warps, waves_sample_blocks_as_rows,
};
use crate::transfer::{means_are_those_of_texels, rows_are_their_texels};

simd::walk! {
    "format::kernels::pack_at", "format::kernels::scatter_at", "format::kernels::gather_at",
    "format::kernels::load16_at" => warps_are_their_texels;
    "format::block::packed::decoder" => packed_texels_are_the_decoded_ones;
    "format::block::gather::gather_at" => texels_of_blocks_anywhere;
    "sample::wide::sample_on", "sample::fast::forms::warp", "sample::fast::forms::wave", "sample::fast::forms::narrow",
    "sample::fast::forms::near",
    "sample::fast::forms::reads", "sample::fast::any::load", "sample::fast::any::filter", "sample::fast::any::apart",
    "sample::fast::any::cover", "sample::fast::any::levels", "sample::fast::any::taps",
    "sample::fast::any::gather", "sample::fast::any::solid", "sample::fast::any::fetch",
    "sample::fast::any::one" => kernels_agree_with_the_general_path;
    "sample::fast::any::nearest_flat", "sample::fast::any::nearest_blocks", "sample::fast::any::nearest_other",
    "sample::fast::any::gathers", "sample::fast::any::solids", "sample::fast::any::faces",
    "sample::fast::any::all_taps", "sample::fast::any::points",
    "sample::fast::any::decoded" => waves_are_their_warps;
    "sample::stores::run" => stores_are_those_of_the_warps;
    "format::wave::load", "format::wave::store", "format::wave::decode",
    "format::wave::encode" => steps_are_their_texels;
    "transfer::halve::row", "transfer::scaled::decode", "transfer::scaled::across", "transfer::scaled::down" => rows_are_their_texels;
    "transfer::means::row" => means_are_those_of_texels;
    "sample::fast::forms::lines" => lines_of_large_images;
    "sample::fast::forms::missing" => waves_sample_blocks_as_rows;
}
