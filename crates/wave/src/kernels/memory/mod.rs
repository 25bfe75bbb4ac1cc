//! Loads and stores. Each warp's access is classed when it runs: one address for all lanes, consecutive addresses, or
//! any; the first two are one load and a broadcast, or one vector access with one bounds check.
//!
//! Out of bounds (robustBufferAccess2): loads give 0, stores nothing, component by component. Loads may read for
//! inactive lanes of a live warp wherever it is in bounds; stores touch active lanes only, in lane order.

pub mod bytes;
pub mod cell;
pub mod fast;
pub mod global;
pub mod halves;
pub mod holes;
pub mod lanes;
pub mod linear;
pub mod offsets;
pub mod rows;
pub mod scratch;
pub mod warp;

use super::forms::kernels;
use fast::{ld_buf, ld_shared, st_buf, st_shared};
use global::{ld_global, st_global};
use linear::ld_push;
use scratch::{ld_scratch, st_scratch};

kernels! {
    LD_BUF = ld_buf;
    LD_GLOBAL = ld_global;
    LD_SHARED = ld_shared;
    LD_SCRATCH = ld_scratch;
    LD_PUSH = ld_push;
    ST_BUF = st_buf;
    ST_GLOBAL = st_global;
    ST_SHARED = st_shared;
    ST_SCRATCH = st_scratch;
}
