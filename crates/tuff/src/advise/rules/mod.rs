//! The rules, one in each file.

use super::{Case, Item};

/// What is looked for.
pub struct Rule {
    pub id: &'static str,
    pub title: &'static str,
    /// When it speaks.
    pub threshold: &'static str,
    /// Why that costs time, bytes or memory on a Mali.
    pub why: &'static str,
    /// What to do.
    pub cure: &'static str,
    /// The topic of Arm's guide.
    pub source: &'static str,
    pub find: fn(&'static Rule, &Case) -> Vec<Item>,
}

/// Arm's guide that the topics are of, where no other is named.
pub const GUIDE: &str = "Arm GPU Best Practices Developer Guide (101897)";
pub const GUIDE_URL: &str = "https://developer.arm.com/documentation/101897/latest/";

mod bandwidth;
mod barriers;
mod bubbles;
mod culled_triangles;
mod discard;
mod duplicate_vertices;
mod index_order;
mod late_depth;
mod load;
mod mipmaps;
mod needs;
mod overdraw;
mod precision;
mod registers;
mod store;
mod texture_format;
mod tiny_triangles;
mod transient;
mod unused_attributes;
mod unused_vertices;
mod varyings;

pub const ALL: &[Rule] = &[
    overdraw::RULE,
    load::RULE,
    store::RULE,
    transient::RULE,
    unused_vertices::RULE,
    unused_attributes::RULE,
    index_order::RULE,
    duplicate_vertices::RULE,
    culled_triangles::RULE,
    tiny_triangles::RULE,
    registers::RULE,
    precision::RULE,
    varyings::RULE,
    texture_format::RULE,
    mipmaps::RULE,
    bandwidth::RULE,
    bubbles::RULE,
    late_depth::RULE,
    discard::RULE,
    barriers::RULE,
];
