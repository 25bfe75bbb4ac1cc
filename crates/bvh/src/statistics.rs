//! What a structure is like: for reports and benchmarks.

use crate::Bytes;
use crate::layout::{Child, DEPTH, Kind, Record, View};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    pub nodes: u64,
    pub leaves: u64,
    pub primitives: u64,
    /// Levels of nodes.
    pub depth: u32,
    /// Expected visits of nodes and leaves by a ray that meets the structure's bounds: the sum of their surfaces over the bounds'.
    pub node_cost: f64,
    pub leaf_cost: f64,
    /// Children of a node, on average.
    pub children: f64,
    /// Of each node: the surface that two siblings' boxes have in common, summed over all pairs of siblings, over the sum of the siblings'
    /// surfaces; then the average over nodes. 0 if no two siblings meet, 0.5 for two equal boxes, 3.5 for eight.
    pub overlap: f64,
}

fn area(b: &[f32; 6]) -> f64 {
    let d: [f64; 3] = std::array::from_fn(|i| (b[i + 3] as f64 - b[i] as f64).max(0.0));
    d[0] * d[1] + d[1] * d[2] + d[2] * d[0]
}

fn common(a: &[f32; 6], b: &[f32; 6]) -> f64 {
    let c: [f32; 6] = std::array::from_fn(|i| if i < 3 { a[i].max(b[i]) } else { a[i].min(b[i]) });
    if (0..3).all(|i| c[i] <= c[i + 3]) { area(&c) } else { 0.0 }
}

/// Walks the whole tree. None if it is damaged.
pub fn statistics(of: Bytes) -> Option<Statistics> {
    let (view, header) = View::of(of)?;
    let mut out =
        Statistics { nodes: view.node_count as u64, leaves: view.leaf_count as u64, ..Statistics::default() };
    let whole = area(&header.bounds).max(f64::MIN_POSITIVE);
    let mut todo = vec![(0u32, 1u32)];
    let (mut visited, mut children) = (0u64, 0u64);
    while let Some((at, depth)) = todo.pop() {
        let Some(node) = view.node(at) else { continue };
        visited += 1;
        if visited > out.nodes || depth > DEPTH as u32 {
            return None;
        }
        out.depth = out.depth.max(depth);
        let count = view.child_count(node);
        children += count as u64;
        let boxes: [[f32; 6]; 8] = std::array::from_fn(|k| view.child_bounds(node, k));
        let (mut shared, mut sum) = (0.0, 0.0);
        for k in 0..count {
            sum += area(&boxes[k]);
            shared += (0..k).map(|j| common(&boxes[j], &boxes[k])).sum::<f64>();
            match view.child(node, k) {
                Child::Node(below) => {
                    out.node_cost += area(&boxes[k]) / whole;
                    todo.push((below, depth + 1));
                }
                Child::Leaf(leaf) => {
                    out.leaf_cost += area(&boxes[k]) / whole;
                    let block = view.leaf(leaf)?;
                    out.primitives += match view.kind {
                        Kind::Instances => 1,
                        _ => (0..4).filter(|l| view.word(block, 2, 12 + l) != 0).count() as u64,
                    };
                }
                Child::None => {}
            }
        }
        out.overlap += if sum > 0.0 { shared / sum } else { 0.0 };
    }
    if visited > 0 {
        out.node_cost += 1.0;
        out.children = children as f64 / visited as f64;
        out.overlap /= visited as f64;
    }
    Some(out)
}

/// The structures that the instances of a top structure refer to, by address, and how many instances do. Empty for other structures.
pub fn bottoms(of: Bytes) -> BTreeMap<u64, u64> {
    let mut all = BTreeMap::new();
    let Some((view, _)) = View::of(of).filter(|(view, _)| view.kind == Kind::Instances) else { return all };
    for leaf in (0..view.leaf_count).filter_map(|k| view.leaf(k)) {
        // SAFETY: a leaf of a top structure.
        *all.entry(unsafe { Record::read(leaf) }.structure).or_default() += 1;
    }
    all
}
