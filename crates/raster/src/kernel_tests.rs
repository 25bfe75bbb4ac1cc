//! The crate's kernels, each with what it is compared with.

use crate::geometry::every_level_gives_the_same_bits;
use crate::geometry::feedback::rows_are_columns;
use crate::geometry::fetch::fours_are_columns;
use crate::tile::blend::the_general_way_is_the_formula;
use crate::tile::cover::edges_against_each_sample;
use crate::tile::resolve::means;
use crate::tile::transfer::moves_are_those_of_pixels;

/// Whole draws want a device: `conformance` has them, by references that are not Tuff and one hash a scene on every level.
fn scenes(_: simd::Level) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/tests/scenes.rs");
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("fn right_pictures_and_one_golden_on_every_level_and_thread_count() {"));
}

simd::walk! {
    "geometry::vertex::place_all", "geometry::vertex::together", "geometry::points::points_at",
    "geometry::setup::triangles_at" => every_level_gives_the_same_bits;
    "geometry::fetch::fours" => fours_are_columns;
    "geometry::feedback::rows" => rows_are_columns;
    "tile::cover::list" => edges_against_each_sample;
    "tile::blend_wave::write_warps", "tile::blend_equation::of", "tile::blend::write_at",
    "tile::blocks::write_blocks", "tile::blocks::others" => the_general_way_is_the_formula;
    "tile::resolve::colors" => means;
    "tile::transfer::moved" => moves_are_those_of_pixels;
    "tile::task::draw", "tile::task::block", "tile::shade::shade",
    "tile::shade::each", "tile::full::fill", "tile::quads::fill", "tile::simple::seat",
    "tile::small_tested::of", "tile::deferred::show", "tile::late::after", "tile::inputs::colors",
    "tile::deferred::all_depths_now" => scenes;
}
