//! Fragments that later opaque ones cover anyway (forward pixel kill), found block by block before a tile is drawn.

use crate::geometry::bin::{COVERS, LARGE, index};
use crate::layout::{BLOCKS, Blocks};
use crate::prim::Shape;
use crate::tile::cover::{Cover, Covered};
use crate::tile::item::op::{Op, Step};

/// Blocks hidden from each primitive of each op.
pub struct Hidden {
    /// First of an op's sets in `sets`, and how many.
    spans: Vec<(usize, usize)>,
    sets: Vec<Blocks>,
}

impl Hidden {
    /// One set per entry of the list's op `i`; empty when nothing of it is hidden.
    pub fn of(&self, i: usize) -> &[Blocks] {
        let (first, n) = self.spans[i];
        &self.sets[first..first + n]
    }
}

/// Entries to look at: a tile with more of them holds small triangles, which hide little.
const MOST: usize = 512;

/// Finds what is hidden, or `None` if nothing can be: the usual case costs one pass over the tile's ops and their entries.
pub fn find(
    level: simd::Level,
    cover: &mut Cover,
    room: &mut Covered,
    ops: &[Step],
    list: &[(usize, &[u32])],
    origin: [i32; 2],
) -> Option<Hidden> {
    let (mut opaque, mut hideable, mut entries) = (0, 0, 0);
    for &(op, list) in list {
        if let Op::Draw(i) = &ops[op].op {
            if i.plan.exclusive {
                return None;
            }
            // The first entry can be hidden only by what comes after it.
            hideable += i.plan.hideable as usize;
            // The small ones hide too little to be looked at.
            let any =
                i.plan.opaque && (hideable > 1 || list.len() > 1) && list.iter().any(|e| e & LARGE != 0);
            opaque += any as usize;
            entries += list.len();
        }
    }
    if opaque == 0 || !(2..=MOST).contains(&entries) {
        return None;
    }
    let mut h = Hidden { spans: vec![(0, 0); list.len()], sets: Vec::new() };
    let mut covered: Blocks = [0; BLOCKS / 64];
    for (n, &(op, list)) in list.iter().enumerate().rev() {
        let Op::Draw(item) = &ops[op].op else {
            // A clear writes attachments in order: what it hides is not looked at.
            continue;
        };
        let first = h.sets.len();
        for &e in list.iter().rev() {
            h.sets.push(if item.plan.hideable { covered } else { [0; BLOCKS / 64] });
            if e & LARGE == 0 || !item.plan.opaque {
                continue;
            }
            let prim = &item.batch.prims[index(e) as usize];
            if prim.form.shape() != Shape::Polygon {
                continue;
            }
            if cover.set(prim, &item.batch.edges, origin, e & COVERS != 0, item.plan.locations(), true) {
                // Indirect by level: this is one call a primitive and tile.
                cover.full_blocks(level, room, &mut covered);
            }
        }
        h.sets[first..].reverse();
        h.spans[n] = (first, list.len());
    }
    Some(h)
}
