//! What waves count: rows of tallies, and the modelled caches that their accesses go through.

pub mod cache;
pub mod held;
pub mod reach;
pub mod shared_l2;
pub mod tally;
