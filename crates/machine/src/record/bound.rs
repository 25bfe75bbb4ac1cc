//! What the shaders of a draw or dispatch find bound: descriptors, with what lies in their memory now; push constants; the shaders themselves.

use super::picture::{Picture, of_view};
use super::{Blob, Record};
use crate::bindings::Bindings;
use crate::descriptor::{DYNAMIC_TABLE, Descriptor, SetMemory};
use crate::facts;
use crate::lost::Title;
use crate::shared::Shared;
use rustc_hash::FxHashMap;
use serde::Serialize;
use shader::bytecode::Program;
use shader::options::Binding;
use small_sort::SmallSort;
use std::sync::Arc;
use texel::memory::sparse::resident;
use texel::sample::{ImageView, Sampler};

/// Bytes of a buffer that are kept.
const MOST_BYTES: u64 = 4096;
/// Elements of an array of descriptors that are looked at, and descriptors of a draw.
const MOST_ELEMENTS: u32 = 16;
const MOST_BOUND: usize = 128;

/// A descriptor that shaders of a draw name.
#[derive(Clone, Serialize)]
pub struct BoundFact {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
    pub stages: Vec<&'static str>,
    pub what: &'static str,
    /// Of a buffer: all bytes, and the first ones of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Blob>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewFact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<SamplerFact>,
}

/// A view of an image.
#[derive(Clone, Serialize)]
pub struct ViewFact {
    pub name: String,
    pub kind: String,
    pub format: &'static str,
    /// Texels of its first level.
    pub size: [u32; 3],
    pub levels: u32,
    pub layers: u32,
    pub samples: u32,
    /// What it shows, where pictures of it have been taken.
    pub pictures: Vec<Picture>,
}

#[derive(Clone, Serialize)]
pub struct SamplerFact {
    pub mag: &'static str,
    pub min: &'static str,
    pub mip: &'static str,
    pub wrap: [String; 3],
    pub anisotropy: f32,
    pub lod: [f32; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
}

/// A shader of a pipeline.
#[derive(Clone, Serialize)]
pub struct ShaderFact {
    pub stage: &'static str,
    pub entry: String,
    pub module: Option<Blob>,
    /// SpecId, and the value's bits.
    pub spec: Vec<(u32, u64)>,
}

/// All of it.
#[derive(Clone, Serialize)]
pub struct BindingsFact {
    /// What the application calls the pipeline; its entry points otherwise.
    pub pipeline: String,
    pub shaders: Vec<ShaderFact>,
    pub bound: Vec<BoundFact>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub push: Vec<u8>,
}

/// Pictures of the views that a workload's draws have been found with: images do not change while it is recorded.
#[derive(Default)]
pub struct Seen(FxHashMap<usize, (Arc<ImageView>, Vec<Picture>)>);

impl Seen {
    fn of(&mut self, record: &Record, view: &Arc<ImageView>) -> Vec<Picture> {
        // The view stays while it is known, so nothing else has its address.
        let new = || (view.clone(), of_view(record, view));
        self.0.entry(Arc::as_ptr(view).addr()).or_insert_with(new).1.clone()
    }
}

/// Finds everything that these programs see.
pub fn find<'p>(
    record: &Record,
    shared: &Shared,
    title: &Title,
    programs: impl Iterator<Item = &'p Program>,
    bindings: &Bindings,
    seen: &mut Seen,
) -> BindingsFact {
    let sources = title.sources();
    let shader = |s: &crate::sources::Source| ShaderFact {
        stage: s.stage,
        entry: s.entry.clone(),
        module: record.once(&s.module),
        spec: s.spec.clone(),
    };
    let mut found: Vec<(Binding, Vec<&'static str>)> = vec![];
    for p in programs {
        for b in p.bindings() {
            match found.iter_mut().find(|(known, _)| (known.table, known.offset) == (b.table, b.offset)) {
                Some((_, stages)) if stages.contains(&p.stage.name()) => {}
                Some((_, stages)) => stages.push(p.stage.name()),
                None => found.push((b, vec![p.stage.name()])),
            }
        }
    }
    let mut bound = vec![];
    for (b, stages) in found {
        let known = sources.and_then(|s| s.bound.iter().find(|(.., at)| *at == b));
        let (set, binding) = known.map_or((b.table, b.offset), |(set, binding, _)| (*set, *binding));
        let memory: Option<&Arc<SetMemory>> = match b.table {
            DYNAMIC_TABLE => bindings.dynamic.as_ref(),
            n => bindings.sets.get(n as usize).and_then(|s| s.as_ref()),
        };
        let one = |element, what| BoundFact {
            set,
            binding,
            element,
            stages: stages.clone(),
            what,
            bytes: None,
            data: None,
            view: None,
            sampler: None,
        };
        let Some(memory) = memory.filter(|_| !b.in_memory) else {
            bound.push(one(0, "descriptor in memory"));
            continue;
        };
        if b.inline_data {
            let bytes = inline(memory, b.offset, b.count);
            let data = record.once(&bytes);
            bound.push(BoundFact { bytes: Some(b.count as u64), data, ..one(0, "inline uniform block") });
            continue;
        }
        for i in 0..b.count.clamp(1, MOST_ELEMENTS) {
            let d = memory.read(b.offset.saturating_add(i.saturating_mul(b.stride)));
            if bound.len() < MOST_BOUND
                && let Some(fact) = described(record, shared, &d, one(i, ""), seen)
            {
                bound.push(fact);
            }
        }
    }
    bound.small_sort_by_key(|b| (b.set, b.binding, b.element));
    let push = sources.map_or(bindings.push.len(), |s| s.push_bytes as usize);
    BindingsFact {
        pipeline: title.name().unwrap_or_else(|| title.entries().into()),
        shaders: sources.iter().flat_map(|s| &s.stages).map(shader).collect(),
        bound,
        push: bindings.push[..push.min(bindings.push.len())].to_vec(),
    }
}

/// Bytes of an inline uniform block.
fn inline(memory: &SetMemory, offset: u32, count: u32) -> Vec<u8> {
    let words = |at: u32| {
        let w = memory.words(at);
        [w.address, w.size, w.view, w.sampler].map(u64::to_le_bytes).concat()
    };
    let count = count.min(MOST_BYTES as u32);
    let mut all: Vec<u8> =
        (0..count.div_ceil(32)).flat_map(|i| words(offset.saturating_add(i * 32))).collect();
    all.truncate(count as usize);
    all
}

/// The fact about a descriptor; `None`: it is none.
fn described(
    record: &Record,
    shared: &Shared,
    d: &Descriptor,
    mut fact: BoundFact,
    seen: &mut Seen,
) -> Option<BoundFact> {
    let words = d.words();
    fact.sampler = d.sampler().map(|s| sampler(s));
    if let Some(v) = d.image_view() {
        fact.what = "image";
        let size = [0, 1, 2].map(|k| (v.image.extent[k] >> v.range.base_mip_level.min(31)).max(1));
        fact.view = Some(ViewFact {
            name: facts::name(&*shared.report, &v.image),
            kind: format!("{:?}", v.view_type),
            format: v.format.name,
            size,
            levels: v.levels.len() as u32,
            layers: v.layers,
            samples: v.samples,
            pictures: seen.of(record, v),
        });
        return Some(fact);
    }
    if d.is_texels() {
        fact.what = "texel buffer";
        return Some(fact);
    }
    if fact.sampler.is_some() {
        fact.what = "sampler";
        return Some(fact);
    }
    if words.address == 0 {
        return None;
    }
    if words.size == 0 {
        fact.what = "acceleration structure";
        return Some(fact);
    }
    fact.what = "buffer";
    fact.bytes = Some(words.size);
    fact.data = bytes(shared, words.address, words.size.min(MOST_BYTES)).and_then(|b| record.once(&b));
    Some(fact)
}

/// What lies in device memory; `None`: there is none.
pub fn bytes(shared: &Shared, address: u64, size: u64) -> Option<Vec<u8>> {
    let p = address as *const u8;
    if size == 0 || !shared.memory.is_live(address, size) || !resident(p) {
        return None;
    }
    let mut all = vec![0; size as usize];
    // SAFETY: live memory of the device, as just checked. The application synchronises writes with what reads them.
    unsafe { all.as_mut_ptr().copy_from_nonoverlapping(p, all.len()) };
    Some(all)
}

fn sampler(s: &Sampler) -> SamplerFact {
    let filter = |linear: bool| if linear { "linear" } else { "nearest" };
    SamplerFact {
        mag: filter(s.mag_linear),
        min: filter(s.min_linear),
        mip: filter(s.mip_linear),
        wrap: s.wrap.each_ref().map(|w| format!("{w:?}").to_lowercase()),
        anisotropy: s.anisotropy,
        lod: [s.min_lod, s.max_lod],
        compare: s.compare.map(|c| format!("{c:?}")),
    }
}
