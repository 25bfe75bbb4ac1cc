//! Who visited what, for counters of a ray tracing unit.

/// Is told of each node that a ray visits, and of what it finds there. `place` is 0 in the top structure, and 1 + the instance's index in
/// a bottom one.
pub trait Visits {
    /// What is told from now on is about the ray of this lane.
    #[inline(always)]
    fn ray(&mut self, _lane: usize) {}
    /// A node with eight boxes.
    fn node(&mut self, place: u32, node: u32);
    /// A block of triangles or boxes.
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool);
    /// The ray hits a triangle that no earlier hit hides; a shader must judge it if it is not opaque.
    #[inline(always)]
    fn hit(&mut self, _opaque: bool) {}
    /// The ray hits no triangle of the block that it visited last.
    #[inline(always)]
    fn miss(&mut self) {}
    /// The ray ends because it has a hit and asks for no other.
    #[inline(always)]
    fn first_hit(&mut self) {}
}

/// The visits of warps: of sixteen rays each, by lane.
#[derive(Default)]
pub struct WarpVisits {
    /// Of the present warp: the place, then kind (0 a node, 1 triangles, 2 boxes) above 32 bits of index and 4 of lane.
    seen: Vec<(u32, u64)>,
    warp: usize,
    lane: u64,
    sum: Histogram,
}

/// How many nodes were visited by 1 to 4, 5 to 8, 9 to 12 and 13 to 16 rays of a warp, and what rays found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    pub nodes: [u64; 4],
    pub triangles: [u64; 4],
    pub boxes: [u64; 4],
    /// Triangles that rays hit: opaque ones, and those that a shader must judge.
    pub opaque_hits: u64,
    pub other_hits: u64,
    /// Rays' visits of blocks of triangles without a hit.
    pub misses: u64,
    /// Rays that ended with their first hit.
    pub first_hits: u64,
}

impl WarpVisits {
    fn add(&mut self, place: u32, kind: u64, index: u32) {
        // Without memory there is nothing to count in.
        if self.seen.try_reserve(1).is_ok() {
            self.seen.push((place, kind << 36 | (index as u64) << 4 | self.lane));
        }
    }

    /// Adds up the visits of the present warp. A ray that visits a node twice counts once.
    fn fold(&mut self) {
        self.seen.sort_unstable();
        self.seen.dedup();
        for same in self.seen.chunk_by(|a, b| a.0 == b.0 && a.1 >> 4 == b.1 >> 4) {
            let row = match same[0].1 >> 36 {
                0 => &mut self.sum.nodes,
                1 => &mut self.sum.triangles,
                _ => &mut self.sum.boxes,
            };
            row[(same.len() - 1) / 4] += 1;
        }
        self.seen.clear();
    }

    /// Rays that are told of from now on do not share nodes with those before.
    pub fn end_warp(&mut self) {
        self.fold();
    }

    /// What was told since the last call.
    pub fn take(&mut self) -> Histogram {
        self.fold();
        self.lane = 0;
        std::mem::take(&mut self.sum)
    }
}

impl Visits for WarpVisits {
    fn ray(&mut self, lane: usize) {
        if self.warp != lane / 16 {
            self.fold();
            self.warp = lane / 16;
        }
        self.lane = lane as u64 & 15;
    }
    fn node(&mut self, place: u32, node: u32) {
        self.add(place, 0, node);
    }
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool) {
        self.add(place, if triangles { 1 } else { 2 }, leaf);
    }
    fn hit(&mut self, opaque: bool) {
        *(if opaque { &mut self.sum.opaque_hits } else { &mut self.sum.other_hits }) += 1;
    }
    fn miss(&mut self) {
        self.sum.misses += 1;
    }
    fn first_hit(&mut self) {
        self.sum.first_hits += 1;
    }
}
