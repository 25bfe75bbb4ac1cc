//! The crate's kernels, each with what it is compared with.

use crate::geometry::every_level_gives_the_same_bits;
use crate::geometry::feedback::rows_are_columns;
use crate::geometry::fetch::fours_are_columns;
use crate::tile::blend::the_general_way_is_the_formula;
use crate::tile::cover::edges_against_each_sample;
use crate::tile::memory::resolve::means;
use crate::tile::memory::transfer::moves_are_those_of_pixels;
use crate::tile::shade::inputs::reads_are_of_pixels;
use crate::tile::tests::tiles_are_drawn_pixel_by_pixel;

simd::walk! {
    "geometry::vertex::place_all", "geometry::vertex::together", "geometry::points::points_at",
    "geometry::setup::triangles_at" => every_level_gives_the_same_bits;
    "geometry::fetch::fours" => fours_are_columns;
    "geometry::feedback::rows" => rows_are_columns;
    "tile::cover::list" => edges_against_each_sample;
    "tile::blend::wave::write_warps", "tile::blend::equation::of", "tile::blend::write_at",
    "tile::blend::blocks::write_blocks", "tile::blend::blocks::others" => the_general_way_is_the_formula;
    "tile::memory::resolve::colors" => means;
    "tile::memory::transfer::moved" => moves_are_those_of_pixels;
    "tile::draw::draw", "tile::draw::block::block", "tile::shade::shade",
    "tile::shade::each", "tile::shade::full::fill", "tile::shade::quads::fill", "tile::draw::simple::seat",
    "tile::draw::small_tested::of", "tile::draw::deferred::show", "tile::shade::late::after", "tile::draw::deferred::all_depths_now" => tiles_are_drawn_pixel_by_pixel;
    "tile::shade::inputs::colors" => reads_are_of_pixels;
}
