//! One ray of a pipeline: where it goes, and what it has found.

use super::stage::Caller;
use bvh::{Hit, Ray};

/// HitKindFrontFacingTriangleKHR and HitKindBackFacingTriangleKHR.
const FRONT: u32 = 0xFE;
const BACK: u32 = 0xFF;

#[derive(Clone, Copy)]
pub struct Way {
    pub ray: Ray,
    pub top: u64,
    /// Offset and stride of the ray in the table of hit groups, and number of its miss shader's record.
    pub offset: u32,
    pub stride: u32,
    pub miss: u32,
    pub launch: [u32; 3],
    pub committed: Hit,
    pub kind: u32,
    pub attributes: [u32; 8],
}

impl Way {
    /// The number of the record of a hit's group.
    pub fn record(&self, hit: &Hit) -> u32 {
        // Numbers of four bits and indices of 24.
        self.offset.wrapping_add(self.stride.wrapping_mul(hit.geometry)).wrapping_add(hit.sbt_offset)
    }

    pub fn caller(&self, lane: usize, record: u64, hit: Hit, kind: u32, t: f32) -> Caller {
        Caller { lane, launch: self.launch, record, ray: self.ray, top: self.top, t, hit, kind }
    }
}

/// Hit kind and attributes of a triangle's hit.
pub fn of_triangle(hit: &Hit) -> (u32, [u32; 8]) {
    let [u, v] = hit.barycentrics.map(f32::to_bits);
    (if hit.front { FRONT } else { BACK }, [u, v, 0, 0, 0, 0, 0, 0])
}
