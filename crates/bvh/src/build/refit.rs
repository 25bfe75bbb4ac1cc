//! An update: new positions in the same tree.

use super::shapes::{Pair, of_instance};
use super::wide::{block_lane, encode, record};
use super::{Bounds, Built, NOTHING, Places, all_of, counts_of, join, room};
use crate::layout::{BLOCK, Child, Header, Kind, LANES, Record, View};
use crate::{Bytes, Error, Flags, Geometry, Input, Pool};
use simd::Level;

/// Leaves of a task.
const CHUNK: usize = 1 << 12;

/// Writes the structure `src`, with new positions, to `dst`, which may be the same. The input has the counts of the build, and what was
/// inactive is so again.
pub fn update(level: Level, src: Bytes, dst: Bytes, input: &Input, pool: &dyn Pool) -> Result<Built, Error> {
    let _ = level;
    let header = Header::read(src).ok_or(Error::NotAStructure)?;
    let (kind, geometries, primitives) = counts_of(input)?;
    let same = (kind, geometries, primitives) == (header.kind, header.geometries as u64, header.primitives);
    if !same || !Flags(header.flags).has(Flags::ALLOW_UPDATE) {
        return Err(Error::Different);
    }
    let size = header.parts().ok_or(Error::NotAStructure)?.size;
    if size > dst.len() as u64 {
        return Err(Error::TooSmall);
    }
    if src.pointer() != dst.pointer() {
        // SAFETY: both have `size` bytes.
        unsafe { std::ptr::copy(src.pointer(), dst.pointer(), size as usize) };
    }
    // SAFETY: `dst` has the bytes of the header. (The copy is not trusted: others may have written it.)
    unsafe { header.write(dst) };
    let (view, _) = View::of(dst).ok_or(Error::NotAStructure)?;

    let leaves = view.leaf_count as usize;
    let mut leaf_bounds = room::<Bounds>(leaves)?;
    let places = Places(leaf_bounds.as_mut_ptr());
    pool.run(leaves.div_ceil(CHUNK), &|task| {
        for at in task * CHUNK..((task + 1) * CHUNK).min(leaves) {
            let bounds = leaf(&view, at as u32, input);
            // SAFETY: each leaf has its own place.
            unsafe { places.get().add(at).write(bounds) };
        }
    });
    // SAFETY: written by the tasks.
    unsafe { leaf_bounds.set_len(leaves) };

    let nodes = view.node_count as usize;
    let mut node_bounds = room::<Bounds>(nodes)?;
    node_bounds.resize(nodes, NOTHING);
    for at in (0..nodes).rev() {
        let Some(node) = view.node(at as u32) else { break };
        let count = view.child_count(node);
        let child: [Child; 8] =
            std::array::from_fn(|k| if k < count { view.child(node, k) } else { Child::None });
        let mut bounds = [NOTHING; 8];
        for k in 0..count {
            let of = match child[k] {
                Child::Leaf(leaf) => leaf_bounds.get(leaf as usize),
                // Children come after their node; in a damaged tree, anything.
                Child::Node(below) => node_bounds.get(below as usize),
                Child::None => None,
            };
            bounds[k] = of.copied().unwrap_or(NOTHING);
            if bounds[k][0] == f32::INFINITY {
                bounds[k] = [0.0; 6];
            }
            let all = &mut node_bounds[at];
            join(all, &bounds[k]);
        }
        // SAFETY: a node of the view.
        unsafe { encode(node, &bounds[..count], &child) };
    }
    let b = node_bounds.first().copied().unwrap_or(NOTHING);
    let bounds = [b[0], b[1], b[2], -b[3], -b[4], -b[5]];
    // SAFETY: as above.
    unsafe { Header { bounds, all: all_of(input), ..header }.write(dst) };
    Ok(Built { size, bounds, nodes: header.nodes, leaves: header.leaves })
}

/// Writes a leaf anew; its bounds.
fn leaf(view: &View, at: u32, input: &Input) -> Bounds {
    let Some(to) = view.leaf(at) else { return NOTHING };
    match input {
        Input::Instances(all) => {
            // SAFETY: a leaf of a top structure.
            let old = unsafe { Record::read(to) };
            let Some(instance) = all.get(old.index as usize) else { return NOTHING };
            // SAFETY: as above.
            unsafe { record(instance, old.index).write(to) };
            of_instance(instance).bounds()
        }
        Input::Geometries(all) => {
            // SAFETY: a block of the view.
            let mut words = unsafe { to.cast::<[[u32; 16]; 3]>().read() };
            let mut bounds = NOTHING;
            for lane in 0..LANES {
                if words[2][12 + lane] == 0 {
                    continue;
                }
                let (geometry, primitive) = (words[1][12 + lane] & 0xFF_FFFF, words[0][12 + lane]);
                let Some(of) = all.get(geometry as usize) else { continue };
                if primitive as usize >= of.primitives() {
                    continue;
                }
                block_lane(&mut words, lane, of, primitive as usize);
                words[1][12 + lane] = geometry | of.flags() << 24;
                let pair = match of {
                    Geometry::Triangles { positions, .. } => {
                        let corners = &positions[primitive as usize * 3..primitive as usize * 3 + 3];
                        // SAFETY: nine floats.
                        unsafe { Pair::of_triangle(corners.as_ptr().cast()) }
                    }
                    Geometry::Boxes { bounds, .. } => Pair::of_box(&bounds[primitive as usize]),
                };
                join(&mut bounds, &pair.bounds());
            }
            debug_assert!(view.kind != Kind::Instances && std::mem::size_of_val(&words) == BLOCK as usize);
            // SAFETY: as above.
            unsafe { to.cast::<[[u32; 16]; 3]>().write(words) };
            bounds
        }
    }
}
