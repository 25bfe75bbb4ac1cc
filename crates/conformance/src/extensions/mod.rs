//! Device extensions, and rules of the core, through the loader: what the specification says of each, with values worked out by hand.
//!
//! A check belongs to an extension and is left out on a driver that does not report it (a peer, for comparison); Tuff
//! reports all of them, which the test demands. `shaders/extensions` has the GLSL and what
//! `glslangValidator -V --target-env vulkan1.2` made of it.

mod advanced;
mod barycentric;
mod bias;
mod bounds;
mod conservative;
mod cooperative;
mod cooperative2;
mod cooperative_vector;
mod coverage;
mod data_graph;
mod data_graph_caches;
mod density;
pub(crate) mod frame;
mod host_copy;
mod interlock;
mod locations;
mod loops;
mod maintenance8;
mod optical_flow;
mod owned;
mod packed;
mod rates;
mod rig;
mod single_sampled;
mod single_sampled_pass;
mod tensor;
mod tensor_captures;
mod tensor_heaps;
mod tensor_images;
mod tensor_ways;
mod tile;
mod weights;
mod ycbcr;

pub use crate::check::Found;
pub(crate) use crate::check::{found, holds, same, text};
pub use rig::Rig;

pub struct Check {
    pub name: &'static str,
    /// The extension; empty for the core.
    pub of: &'static std::ffi::CStr,
    pub run: fn(&Rig) -> Found,
}

pub fn checks() -> Vec<Check> {
    let mut all = single_sampled::checks();
    all.extend(single_sampled_pass::checks());
    all.extend(loops::checks());
    all.extend(coverage::checks());
    all.extend(bias::checks());
    all.extend(host_copy::checks());
    all.extend(maintenance8::checks());
    all.extend(weights::checks());
    all.extend(bounds::checks());
    all.extend(locations::checks());
    all.extend(advanced::checks());
    all.extend(interlock::checks());
    all.extend(barycentric::checks());
    all.extend(conservative::checks());
    all.extend(rates::checks());
    all.extend(density::checks());
    all.extend(cooperative::checks());
    all.extend(tensor::checks());
    all.extend(tensor_ways::checks());
    all.extend(tensor_heaps::checks());
    all.extend(tensor_captures::checks());
    all.extend(tensor_images::checks());
    all.extend(packed::checks());
    all.extend(data_graph::checks());
    all.extend(data_graph_caches::checks());
    all.extend(optical_flow::checks());
    all.extend(cooperative2::checks());
    all.extend(cooperative_vector::checks());
    all.extend(tile::checks());
    all.extend(ycbcr::checks());
    all
}
