//! Facts of a capture that are no counters, for `tuff advise` (docs/capture.md): images, what shaders are like, and what a workload reads
//! and writes. Nothing of it is gathered without a capture.

use crate::bindings::Bindings;
use crate::descriptor::{DYNAMIC_TABLE, Descriptor, SetMemory};
use crate::shared::Report;
use parking_lot::Mutex;
use serde::Serialize;
use shader::bytecode::Program;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use texel::buffer::Buffer;
use texel::image::Image;
use texel::sample::{ImageView, Sampler};

/// A capture is wanted.
#[inline]
pub fn wanted() -> bool {
    settings::get().capture.is_some()
}

/// An image that a captured workload used.
#[derive(Clone, Serialize)]
pub struct ImageFact {
    /// What the application calls it; empty if it does not.
    pub name: String,
    pub format: &'static str,
    pub extent: [u32; 3],
    pub levels: u32,
    pub layers: u32,
    pub samples: u32,
    pub block_bytes: u32,
    pub block_extent: [u32; 3],
    /// As in VkImageUsageFlagBits, without the prefix.
    pub usage: String,
    pub flags: String,
    /// The modelled GPU stores it compressed.
    pub compressed: bool,
    pub presented: bool,
}

static IMAGES: Mutex<Vec<ImageFact>> = Mutex::new(Vec::new());

/// The name that the application gave to an image; empty if it gave none.
pub fn name(report: &dyn Report, i: &Image) -> String {
    let called = match i.handle.load(Relaxed) {
        0 => return String::new(),
        handle => report.called(handle),
    };
    called.strip_prefix('\'').and_then(|c| c.strip_suffix('\'')).unwrap_or_default().into()
}

/// Its number among the images of the capture.
pub fn image(report: &dyn Report, i: &Image) -> u32 {
    let number = *i.number.get_or_init(|| {
        let mut all = IMAGES.lock();
        all.push(ImageFact {
            name: String::new(),
            format: i.format.name,
            extent: i.extent,
            levels: i.mips,
            layers: i.layers,
            samples: i.samples,
            block_bytes: i.format.block_bytes,
            block_extent: i.format.block_extent,
            usage: format!("{:?}", i.usage),
            flags: format!("{:?}", i.flags),
            compressed: i.packed.is_some(),
            presented: i.presented,
        });
        all.len() as u32 - 1
    });
    // It may be named after its first use.
    if let Some(fact) = IMAGES.lock().get_mut(number as usize).filter(|f| f.name.is_empty()) {
        fact.name = name(report, i);
    }
    number
}

/// All so far, by number.
pub fn images() -> Vec<ImageFact> {
    IMAGES.lock().clone()
}

pub use counters::how;

/// What a workload reads and writes.
#[derive(Clone, Default, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Uses {
    /// By number of the image.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<u32, u32>,
    /// By first byte and end, counted from where device memory begins.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "triples")]
    pub buffers: BTreeMap<(u64, u64), u32>,
    /// May use anything so, by device addresses.
    #[serde(skip_serializing_if = "is_none")]
    pub anything: u32,
}

fn is_none(n: &u32) -> bool {
    *n == 0
}

fn triples<S: serde::Serializer>(of: &BTreeMap<(u64, u64), u32>, s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(of.iter().map(|((from, to), how)| (from, to, how)))
}

/// What uses are found with.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    pub report: &'a dyn Report,
    /// Where device memory begins.
    pub arena: u64,
}

impl Uses {
    pub fn image(&mut self, f: Finder, i: &Image, how: u32) {
        *self.images.entry(image(f.report, i)).or_default() |= how;
    }
    pub fn bytes(&mut self, f: Finder, address: u64, size: u64, how: u32) {
        if address != 0 && size > 0 {
            let from = address.wrapping_sub(f.arena);
            *self.buffers.entry((from, from.wrapping_add(size))).or_default() |= how;
        }
    }
    pub fn buffer(&mut self, f: Finder, b: &Buffer, how: u32) {
        self.bytes(f, b.ptr() as u64, b.size, how);
    }
    pub fn add(&mut self, o: &Uses) {
        o.images.iter().for_each(|(i, how)| *self.images.entry(*i).or_default() |= how);
        o.buffers.iter().for_each(|(b, how)| *self.buffers.entry(*b).or_default() |= how);
        self.anything |= o.anything;
    }

    /// What a shader reads, and may write if `writes` is not 0: through descriptors whatever is bound there.
    pub fn shader(&mut self, f: Finder, program: &Program, bindings: &Bindings, reads: u32, writes: u32) {
        if program.has_addresses() {
            self.anything |= reads | writes;
        }
        let known = each_descriptor(program, bindings, |d| {
            let words = d.words();
            match d.image_view() {
                Some(v) => {
                    let stored = v.image.usage.contains(ash::vk::ImageUsageFlags::STORAGE);
                    self.image(f, &v.image, reads | if stored { writes } else { 0 });
                }
                None if d.is_texels() => self.anything |= reads | writes,
                None => self.bytes(f, words.address, words.size, reads | writes),
            }
        });
        if !known {
            self.anything |= reads | writes;
        }
    }
}

/// Descriptors of an array that are looked at.
const MOST: u32 = 4096;

/// The descriptors that a program may read. False: there are some that are not in sets.
fn each_descriptor(program: &Program, bindings: &Bindings, mut each: impl FnMut(&Descriptor)) -> bool {
    let mut known = true;
    for b in program.bindings() {
        let set: Option<&Arc<SetMemory>> = match b.table {
            DYNAMIC_TABLE => bindings.dynamic.as_ref(),
            n => bindings.sets.get(n as usize).and_then(|s| s.as_ref()),
        };
        if b.inline_data {
            continue;
        }
        let Some(set) = set.filter(|_| !b.in_memory) else {
            known = false;
            continue;
        };
        for i in 0..b.count.clamp(1, MOST) {
            each(&set.read(b.offset.saturating_add(i.saturating_mul(b.stride))));
        }
    }
    known && bindings.heaps.iter().all(|h| h.address == 0)
}

/// An image that a shader may sample.
#[derive(Clone, PartialEq, Serialize)]
pub struct TextureFact {
    pub image: u32,
    pub format: &'static str,
    /// Of the view.
    pub levels: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerFact>,
}

#[derive(Clone, PartialEq, Serialize)]
pub struct SamplerFact {
    pub linear: bool,
    pub mip_linear: bool,
    pub anisotropy: f32,
    pub max_lod: f32,
}

/// The images that a program may read, each once, in order of its descriptors. A sampler apart from its image counts if it is the only one.
pub fn textures(report: &dyn Report, program: &Program, bindings: &Bindings) -> Vec<TextureFact> {
    let (mut views, mut samplers): (Vec<(Arc<ImageView>, Option<Arc<Sampler>>)>, Vec<Arc<Sampler>>) =
        (vec![], vec![]);
    each_descriptor(program, bindings, |d| match (d.image_view(), d.sampler()) {
        (Some(v), s) => views.push((v.clone(), s.cloned())),
        (None, Some(s)) => samplers.push(s.clone()),
        (None, None) => {}
    });
    samplers.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let apart = if samplers.len() == 1 { samplers.pop() } else { None };
    let mut all: Vec<TextureFact> = vec![];
    for (v, s) in views {
        let sampler = s.or_else(|| apart.clone()).map(|s| SamplerFact {
            linear: s.mag_linear || s.min_linear,
            mip_linear: s.mip_linear,
            anisotropy: s.anisotropy,
            max_lod: s.max_lod,
        });
        let levels = v.levels.len() as u32;
        let fact = TextureFact { image: image(report, &v.image), format: v.format.name, levels, sampler };
        if !all.contains(&fact) {
            all.push(fact);
        }
    }
    all
}

/// What a compiled shader is like.
#[derive(Clone, Serialize)]
pub struct ProgramFact {
    pub registers: u32,
    /// Of all its blocks once through, by one warp.
    pub arithmetic: u32,
    pub narrow: u32,
    pub varying_slots: u32,
    pub samples: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub discards: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes_depth: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes_mask: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes_memory: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub early_tests: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reads_tile: bool,
    /// Scalar inputs of a fragment shader: all, those of half precision, flat ones.
    pub inputs: [u32; 3],
}

pub fn program(p: &Program) -> ProgramFact {
    let (i, total) = (&p.interface, &p.profile.ways.total);
    let count =
        |is: fn(&shader::interface::Varying) -> bool| i.varyings.iter().filter(|v| is(v)).count() as u32;
    ProgramFact {
        registers: p.profile.registers,
        arithmetic: total.fma + total.cvt + total.sfu,
        narrow: total.narrow,
        varying_slots: total.varying,
        samples: total.tex,
        discards: i.discards,
        writes_depth: i.depth != shader::interface::DepthMode::Unwritten || i.writes_stencil,
        writes_mask: i.writes_sample_mask,
        writes_memory: i.writes_memory,
        early_tests: i.early_tests,
        reads_tile: i.reads_tile || i.reads_depth,
        inputs: [count(|_| true), count(|v| v.half), count(|v| v.flat)],
    }
}
