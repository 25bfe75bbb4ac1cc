//! Where geometry puts its primitives.

use super::GeometryCounts;
use super::assembly::Assembled;
use crate::prim::{Plane, Prim};
use parking_lot::Mutex;

/// Primitives of one or more draws, in order.
#[derive(Default)]
pub struct Batch {
    pub prims: Vec<Prim>,
    /// [`Prim::planes`] points here.
    pub planes: Vec<Plane>,
    /// [`Prim::pixels`] points here.
    pub pixels: Vec<[i32; 2]>,
    pub counts: GeometryCounts,
    /// Of the chunk that is being made.
    pub used: Used,
}

/// Vertices of a chunk that visible primitives use: what the position cache is to positions, this is to the other outputs.
#[derive(Default)]
pub struct Used {
    bits: Vec<u64>,
    references: u64,
    /// Index and instance of each.
    vertices: [Vec<u32>; 2],
}

impl Used {
    /// A chunk of so many vertices begins.
    pub fn begin(&mut self, vertices: usize) {
        self.bits.clear();
        self.bits.resize(vertices.div_ceil(64), 0);
        self.references = 0;
    }
    /// A visible primitive uses a vertex.
    #[inline(always)]
    pub fn mark(&mut self, vertex: usize) {
        if let Some(bits) = self.bits.get_mut(vertex / 64) {
            *bits |= 1 << (vertex % 64);
            self.references += 1;
        }
    }
    /// Vertices that are used, and uses of them beyond the first.
    pub fn counts(&self) -> [u64; 2] {
        let used = self.bits.iter().map(|b| b.count_ones() as u64).sum();
        [used, self.references - used]
    }
    /// Index and instance of those that are used.
    pub fn of<'a>(&'a mut self, chunk: &'a Assembled) -> [&'a [u32]; 2] {
        let all = [&chunk.index[..], &chunk.instance[..]];
        if self.counts()[0] as usize == chunk.index.len() {
            return all;
        }
        let used = |v: usize| self.bits.get(v / 64).is_some_and(|b| b >> (v % 64) & 1 != 0);
        for (to, from) in self.vertices.iter_mut().zip(all) {
            to.clear();
            to.extend(from.iter().enumerate().filter(|(v, _)| used(*v)).map(|(_, i)| *i));
        }
        [&self.vertices[0], &self.vertices[1]]
    }
}

/// Batches that have been dropped, whose memory is warm: fresh pages cost as much as the primitives on them.
static POOL: Mutex<Vec<Batch>> = Mutex::new(Vec::new());
/// Bytes that the pool keeps at most, and of a batch that is worth keeping.
const KEPT: usize = 192 << 20;
const WORTH: usize = 64 << 10;

impl Batch {
    /// An empty batch, with memory of an earlier one if there is any.
    pub fn recycled() -> Batch {
        POOL.lock().pop().unwrap_or_default()
    }

    /// Empty again; the memory is kept.
    pub fn clear(&mut self) {
        self.prims.clear();
        self.planes.clear();
        self.pixels.clear();
        self.counts = GeometryCounts::default();
    }

    /// Makes room for so many more primitives and planes, in large pages where there are any: tiles read primitives
    /// from all over it. Without memory for that, nothing happens.
    pub fn make_room(&mut self, prims: usize, planes: usize) {
        let _ = self.prims.try_reserve_exact(prims);
        let _ = self.planes.try_reserve_exact(planes);
        large_pages(&self.prims);
        large_pages(&self.planes);
    }

    /// Bytes of memory held.
    fn bytes(&self) -> usize {
        self.prims.capacity() * size_of::<Prim>()
            + self.planes.capacity() * size_of::<Plane>()
            + self.pixels.capacity() * size_of::<[i32; 2]>()
    }
}

/// Asks for large pages where memory has not been touched yet.
fn large_pages<T>(v: &Vec<T>) {
    const PAGE: usize = 2 << 20;
    let first = (v.as_ptr() as usize + v.len() * size_of::<T>()).next_multiple_of(PAGE);
    let end = (v.as_ptr() as usize + v.capacity() * size_of::<T>()) / PAGE * PAGE;
    if first < end {
        // SAFETY: advice on pages that are the vector's; contents stay. Where it isn't taken nothing is lost.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::madvise(first as *mut _, end - first, libc::MADV_HUGEPAGE);
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let bytes = self.bytes();
        if !(WORTH..=KEPT).contains(&bytes) {
            return;
        }
        let mut pool = POOL.lock();
        if pool.iter().map(Batch::bytes).sum::<usize>() + bytes <= KEPT {
            let mut kept = Batch {
                prims: std::mem::take(&mut self.prims),
                planes: std::mem::take(&mut self.planes),
                pixels: std::mem::take(&mut self.pixels),
                counts: GeometryCounts::default(),
                used: std::mem::take(&mut self.used),
            };
            kept.clear();
            // The largest is taken first.
            let at = pool.partition_point(|b| b.bytes() <= bytes);
            pool.insert(at, kept);
        }
    }
}
