//! Who visited what, for counters of a ray tracing unit.

/// Is told of each node that a ray visits. `place` is 0 in the top structure, and 1 + the instance's index in a bottom one.
pub trait Visits {
    /// A node with eight boxes.
    fn node(&mut self, place: u32, node: u32);
    /// A block of triangles or boxes.
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool);
}

/// The visits of a warp of sixteen rays.
#[derive(Default)]
pub struct WarpVisits {
    /// The place, then kind (0 a node, 1 triangles, 2 boxes) above 32 bits of index and 4 of lane.
    seen: Vec<(u32, u64)>,
    lane: u64,
}

/// How many nodes were visited by 1 to 4, 5 to 8, 9 to 12 and 13 to 16 rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    pub nodes: [u64; 4],
    pub triangles: [u64; 4],
    pub boxes: [u64; 4],
}

impl WarpVisits {
    /// What is told from now on is about this ray (0 to 15).
    pub fn ray(&mut self, lane: usize) {
        self.lane = lane as u64 & 15;
    }

    fn add(&mut self, place: u32, kind: u64, index: u32) {
        // Without memory there is nothing to count in.
        if self.seen.try_reserve(1).is_ok() {
            self.seen.push((place, kind << 36 | (index as u64) << 4 | self.lane));
        }
    }

    /// What was told since the last call. A ray that visits a node twice counts once.
    pub fn take(&mut self) -> Histogram {
        let mut out = Histogram::default();
        self.seen.sort_unstable();
        self.seen.dedup();
        for same in self.seen.chunk_by(|a, b| a.0 == b.0 && a.1 >> 4 == b.1 >> 4) {
            let row = match same[0].1 >> 36 {
                0 => &mut out.nodes,
                1 => &mut out.triangles,
                _ => &mut out.boxes,
            };
            row[(same.len() - 1) / 4] += 1;
        }
        self.seen.clear();
        self.lane = 0;
        out
    }
}

impl Visits for WarpVisits {
    fn node(&mut self, place: u32, node: u32) {
        self.add(place, 0, node);
    }
    fn leaf(&mut self, place: u32, leaf: u32, triangles: bool) {
        self.add(place, if triangles { 1 } else { 2 }, leaf);
    }
}
