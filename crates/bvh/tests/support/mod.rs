//! Memory, threads, scenes and a reference for the tests.
#![allow(dead_code)]

use bvh::*;
use random::Random;
use simd::Level;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// Memory for a structure.
pub struct Memory {
    at: *mut u8,
    len: usize,
}

// SAFETY: nothing but memory.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn new(len: usize) -> Memory {
        // SAFETY: not of size 0.
        let at = unsafe { alloc_zeroed(Layout::from_size_align(len.max(256), 256).unwrap()) };
        assert!(!at.is_null());
        Memory { at, len }
    }
    pub fn bytes(&self) -> Bytes {
        // SAFETY: it lives as long as this; tests do not outlive it.
        unsafe { Bytes::new(self.at, self.len) }
    }
    pub fn slice(&self) -> &[u8] {
        // SAFETY: allocated zeroed.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
    pub fn slice_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }
    pub fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated so.
        unsafe { dealloc(self.at, Layout::from_size_align(self.len.max(256), 256).unwrap()) };
    }
}

/// Threads that take tasks as they come.
pub struct Threads(pub usize);

impl Pool for Threads {
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        let next = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.0.min(tasks) {
                scope.spawn(|| {
                    loop {
                        let task = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        if task >= tasks {
                            break;
                        }
                        f(task);
                    }
                });
            }
        });
    }
    fn threads(&self) -> usize {
        self.0
    }
}

/// Numbers and vectors on both sides of zero.
pub trait Vectors {
    /// From -1 to 1.
    fn f(&mut self) -> f32;
    fn v(&mut self, by: f32) -> [f32; 3] {
        [(); 3].map(|()| self.f() * by)
    }
}

impl Vectors for Random {
    fn f(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }
}

pub const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

/// Bottom structures at the addresses 256, 512 and so on.
#[derive(Default)]
pub struct World {
    pub bottoms: Vec<Memory>,
}

impl World {
    pub fn address(k: usize) -> u64 {
        256 * (k as u64 + 1)
    }
    pub fn add(&mut self, geometries: &[Geometry], flags: Flags) -> u64 {
        self.bottoms.push(structure(&Input::Geometries(geometries), flags));
        Self::address(self.bottoms.len() - 1)
    }
    pub fn instance(&self, address: u64, transform: [f32; 12]) -> Instance {
        let header = header(self.bottom(address).unwrap()).unwrap();
        Instance {
            transform,
            custom_index: 0,
            mask: 0xFF,
            sbt_offset: 0,
            flags: 0,
            structure: address,
            bounds: header.bounds,
            all: header.all,
        }
    }
}

impl Scene for World {
    fn bottom(&self, address: u64) -> Option<Bytes> {
        let k = (address / 256).checked_sub(1)? as usize;
        self.bottoms.get(k).map(Memory::bytes)
    }
}

pub fn counts(input: &Input) -> (Vec<u64>, bool) {
    match input {
        Input::Instances(all) => (vec![all.len() as u64], false),
        Input::Geometries(all) => (
            all.iter().map(|g| g.primitives() as u64).collect(),
            matches!(all.first(), Some(Geometry::Boxes { .. })),
        ),
    }
}

pub fn size(input: &Input, flags: Flags) -> usize {
    let (counts, boxes) = counts(input);
    let counts = match input {
        Input::Instances(all) => Counts::Instances(all.len() as u64),
        _ if boxes => Counts::Boxes(&counts),
        _ => Counts::Triangles(&counts),
    };
    sizes(&counts, flags).unwrap().structure as usize
}

pub fn structure(input: &Input, flags: Flags) -> Memory {
    structure_with(Level::widest(None), input, flags, &Alone)
}

pub fn structure_with(level: Level, input: &Input, flags: Flags, pool: &dyn Pool) -> Memory {
    let memory = Memory::new(size(input, flags));
    build(level, memory.bytes(), input, flags, pool).unwrap();
    memory
}

pub fn ray(origin: [f32; 3], direction: [f32; 3]) -> Ray {
    Ray { origin, t_min: 0.0, direction, t_max: 1e30, flags: 0, cull_mask: 0xFF }
}

/// Of a triangle in f64: t, and the smallest barycentric.
pub fn exact(ray: &Ray, p: [[f32; 3]; 3]) -> Option<(f64, f64, [f64; 2])> {
    let d = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let x = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let s = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let [a, b, c] = p.map(|v| v.map(f64::from));
    let (o, dir) = (ray.origin.map(f64::from), ray.direction.map(f64::from));
    let (e1, e2) = (s(b, a), s(c, a));
    let q = x(dir, e2);
    let det = d(e1, q);
    if det == 0.0 || !det.is_finite() {
        return None;
    }
    let from = s(o, a);
    let u = d(from, q) / det;
    let r = x(from, e1);
    let v = d(dir, r) / det;
    Some((d(e2, r) / det, u.min(v).min(1.0 - u - v), [u, v]))
}
