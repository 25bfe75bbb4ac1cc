//! Any bytes as a serialised acceleration structure or micromap, and edits of valid ones: rays through what is read end, and no access is
//! outside the structure's memory.
#![no_main]

use bvh::micromap::{self, Attached, Format, Source};
use bvh::{Alone, Bytes, Flags, Geometry, Input, Instance, Ray, Scene, Step, Traversal};
use libfuzzer_sys::fuzz_target;
use simd::Level;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::OnceLock;

/// Memory of exactly so many bytes, so that the sanitizer sees what is beyond.
struct Memory(*mut u8, usize);

impl Memory {
    fn new(len: usize) -> Memory {
        // SAFETY: not of size 0.
        Memory(unsafe { alloc_zeroed(Layout::from_size_align(len.max(1), 256).unwrap()) }, len)
    }
    fn with(bytes: &[u8]) -> Memory {
        let m = Memory::new(bytes.len());
        // SAFETY: as many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), m.0, bytes.len()) };
        m
    }
    fn bytes(&self) -> Bytes {
        // SAFETY: it lives as long as this.
        unsafe { Bytes::new(self.0, self.1) }
    }
    fn to_vec(&self) -> Vec<u8> {
        // SAFETY: allocated zeroed.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }.to_vec()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated so.
        unsafe { dealloc(self.0, Layout::from_size_align(self.1.max(1), 256).unwrap()) };
    }
}

/// Structures at the addresses 256, 512 and so on.
struct World(Vec<Memory>);

impl Scene for World {
    fn bottom(&self, address: u64) -> Option<Bytes> {
        let k = (address / 256).checked_sub(1).filter(|_| address.is_multiple_of(256))?;
        self.0.get(k as usize).map(Memory::bytes)
    }
}

const UUID: [u8; 16] = [0; 16];

fn serialized(m: &Memory) -> Vec<u8> {
    let out = Memory::new(bvh::serialized_size(m.bytes()).unwrap() as usize);
    bvh::serialize(m.bytes(), &UUID, &UUID, out.bytes()).unwrap();
    out.to_vec()
}

fn built(input: &Input, counts: bvh::Counts) -> Memory {
    let m = Memory::new(bvh::sizes(&counts, Flags(0)).unwrap().structure as usize);
    bvh::build(Level::widest(None), m.bytes(), input, Flags(0), &Alone).unwrap();
    m
}

/// A top structure, a bottom one with a micromap, and the micromap, serialised.
fn valid() -> &'static [Vec<u8>; 3] {
    static VALID: OnceLock<[Vec<u8>; 3]> = OnceLock::new();
    VALID.get_or_init(|| {
        let at = |k: usize, v: usize| {
            [(k % 5) as f32 + (v == 1) as u32 as f32, (k / 5) as f32 + (v == 2) as u32 as f32, 0.0]
        };
        let positions: Vec<[f32; 3]> = (0..40).flat_map(|k| [at(k, 0), at(k, 1), at(k, 2)]).collect();
        let bottom = built(
            &Input::Geometries(&[Geometry::Triangles { positions: &positions, flags: 0 }]),
            bvh::Counts::Triangles(&[40]),
        );
        let indices: Vec<u32> = (0..40).map(|k| k % 3).collect();
        micromap::attach(bottom.bytes(), &[Some(Attached { map: 768, indices: &indices })], &Alone).unwrap();
        let values = [0b1110_0100u8; 16];
        let sources = [(Format::Two, 3), (Format::Four, 2), (Format::Two, 0)];
        let sources = sources.map(|(format, level)| Source { format, level, values: values.as_ptr() });
        let map = Memory::new(micromap::size(3, 13).unwrap() as usize);
        // SAFETY: none has more than sixteen bytes of values.
        unsafe { micromap::build(map.bytes(), &sources) }.unwrap();
        let one = Instance {
            transform: [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
            custom_index: 0,
            mask: 0xFF,
            sbt_offset: 0,
            flags: 0,
            structure: 512,
            bounds: bvh::bounds(bottom.bytes()).unwrap(),
        };
        let top = built(&Input::Instances(&[one, one]), bvh::Counts::Instances(2));
        [&top, &bottom, &map].map(serialized)
    })
}

fn read(bytes: &[u8]) -> Option<Memory> {
    let from = Memory::with(bytes);
    let head = bvh::serialized_header(from.bytes())?;
    // What it claims to need is the application's to allocate.
    let to = Memory::new(usize::try_from(head.deserialized_size).ok().filter(|n| *n < 1 << 20)?);
    bvh::deserialize(from.bytes(), &UUID, &UUID, to.bytes()).ok()?;
    Some(to)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else { return };
    let mut all = valid().clone();
    let changed = &mut all[which as usize % 3];
    if which & 0x80 != 0 {
        *changed = rest.to_vec();
    } else {
        // Edits: two bytes of place, one of value.
        for edit in rest.as_chunks::<3>().0 {
            let n = changed.len();
            changed[u16::from_le_bytes([edit[0], edit[1]]) as usize % n] = edit[2];
        }
    }
    let world = World(all.iter().map(|b| read(b).unwrap_or_else(|| Memory::new(1))).collect());
    let ray = |x: f32, y: f32, flags| Ray {
        origin: [x, y, 1.0],
        t_min: 0.0,
        direction: [0.01, 0.02, -1.0],
        t_max: 1e9,
        flags,
        cull_mask: 0xFF,
    };
    for level in Level::all() {
        for (x, y, flags) in [(0.2, 0.2, 0), (1.3, 2.1, 0x400), (4.2, 7.3, 1), (2.5, 3.1, 4)] {
            let mut t = Traversal::at_level(level, world.0[0].bytes(), &ray(x, y, flags));
            loop {
                match t.next(&world) {
                    Step::Done => break,
                    Step::Triangle(_) => t.commit_triangle(),
                    Step::Box(hit) => {
                        t.commit_box(hit.t);
                    }
                }
            }
            let hit = *t.committed();
            let _ = bvh::transforms(world.0[0].bytes(), &hit);
            let _ = world.bottom(hit.structure).and_then(|b| bvh::positions(b, &hit));
        }
    }
    for m in &world.0 {
        let _ = bvh::statistics(m.bytes());
        if let Some(n) = bvh::serialized_size(m.bytes()).filter(|n| *n < 1 << 21) {
            let _ = bvh::serialize(m.bytes(), &UUID, &UUID, Memory::new(n as usize).bytes());
        }
    }
});
