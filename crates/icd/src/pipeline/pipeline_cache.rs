//! VkPipelineCache: compiled programs by key, and their blobs.
//!
//! A blob ([`signed`]) is the header of § Pipeline Cache Header (version one), a signature of all else, and entries:
//! key, length, name and program; after these [graphs](Stored). Its UUID is of one build of the driver (`build.rs`), for a program's bytes mean nothing
//! to another. A blob that is foreign, forged or damaged is an empty one.

use crate::base::answer::{Answer, created};
use crate::base::given::{Call, Doomed, In, List, Out};
use crate::base::object::Object;
use crate::base::signed::{Body, Draft, HEADER, Header, Verified};
use crate::device::Device;
use crate::instance::properties::{CACHE_UUID, DEVICE_ID, VENDOR_ID};
use crate::pipeline::Compiled;
use crate::pipeline::stored_graph::Stored;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

const _: () = assert!(size_of::<vk::PipelineCacheHeaderVersionOne>() == HEADER);

pub struct PipelineCache {
    programs: Mutex<BTreeMap<u128, Arc<Compiled>>>,
    graphs: Mutex<Graphs>,
}

type Graphs = BTreeMap<u128, Arc<Stored>>;

impl Object for PipelineCache {
    type Handle = vk::PipelineCache;
}

impl PipelineCache {
    pub(crate) fn get(&self, key: u128) -> Option<Arc<Compiled>> {
        self.programs.lock().get(&key).cloned()
    }
    pub(crate) fn put(&self, key: u128, p: Arc<Compiled>) {
        self.programs.lock().insert(key, p);
    }
    pub(crate) fn graph(&self, key: u128) -> Option<Arc<graph::Plan>> {
        let stored = self.graphs.lock().get(&key).cloned();
        stored?.plan()
    }
    pub(super) fn put_graph(&self, key: u128, graph: Stored) {
        self.graphs.lock().insert(key, Arc::new(graph));
    }
}

/// Programs that some pipeline or cache of the process still has.
static LIVE: Mutex<Option<HashMap<u128, Weak<Compiled>>>> = Mutex::new(None);

pub(crate) fn of_process(key: u128) -> Option<Arc<Compiled>> {
    LIVE.lock().as_ref()?.get(&key)?.upgrade()
}

/// Keeps a fresh program findable; if another thread was first, its program is returned.
pub(crate) fn remember(key: u128, made: Arc<Compiled>) -> Arc<Compiled> {
    let mut live = LIVE.lock();
    let map = live.get_or_insert_default();
    if let Some(p) = map.get(&key).and_then(Weak::upgrade) {
        return p;
    }
    if map.len() >= 64 && map.len().is_power_of_two() {
        map.retain(|_, p| p.strong_count() > 0);
    }
    map.insert(key, Arc::downgrade(&made));
    made
}

/// The program of this key that the process has, or else the one that was read.
pub(crate) fn shared(key: u128, read: Compiled) -> Arc<Compiled> {
    of_process(key).unwrap_or_else(|| remember(key, Arc::new(read)))
}

fn header() -> Header {
    let mut h = [0; HEADER];
    h[0..4].copy_from_slice(&(HEADER as u32).to_le_bytes());
    h[4..8].copy_from_slice(&vk::PipelineCacheHeaderVersion::ONE.as_raw().to_le_bytes());
    h[8..12].copy_from_slice(&VENDOR_ID.to_le_bytes());
    h[12..16].copy_from_slice(&DEVICE_ID.to_le_bytes());
    h[16..32].copy_from_slice(&CACHE_UUID);
    h
}

pub(crate) fn entry(key: u128, p: &Compiled) -> Vec<u8> {
    let program = p.program.to_bytes();
    let mut e = Vec::with_capacity(program.len() + p.name.len() + 24);
    e.extend_from_slice(&key.to_le_bytes());
    e.extend_from_slice(&(p.name.len() as u32).to_le_bytes());
    e.extend_from_slice(&(program.len() as u32).to_le_bytes());
    e.extend_from_slice(p.name.as_bytes());
    e.extend_from_slice(&program);
    e
}

/// The blob of as many programs and then graphs as fit `room` bytes, and whether those are all.
fn write(programs: &BTreeMap<u128, Arc<Compiled>>, graphs: &Graphs, room: usize) -> (Vec<u8>, bool) {
    let mut blob = Draft::new(header());
    let mut entries =
        programs.iter().map(|(&key, p)| entry(key, p)).chain(graphs.iter().map(|(&key, g)| g.entry(key)));
    let all = entries.all(|e| {
        let fits = blob.len() + e.len() <= room;
        if fits {
            blob.add(&e);
        }
        fits
    });
    (blob.signed(), all)
}

/// The programs and graphs of a blob, up to the first that means nothing.
fn read(mut rest: Body) -> PipelineCache {
    let cache = PipelineCache { programs: Mutex::default(), graphs: Mutex::default() };
    while let Some((key, made, after)) = read_entry(rest) {
        cache.put(key, Arc::new(made));
        rest = after;
    }
    while let Some((key, graph, after)) = Stored::read(rest) {
        cache.put_graph(key, graph);
        rest = after;
    }
    cache
}

/// The entry at the beginning of a body, and the rest of the body.
pub(crate) fn read_entry(b: Body) -> Option<(u128, Compiled, Body)> {
    let (key, b) = b.split_chunk::<16>()?;
    let (name_len, b) = b.split_chunk::<4>()?;
    let (len, b) = b.split_chunk::<4>()?;
    let (name, b) = b.split(u32::from_le_bytes(*name_len) as usize)?;
    let name = std::str::from_utf8(name).ok()?.to_string();
    let (program, b) = b.split_program(u32::from_le_bytes(*len) as usize)?;
    Some((u128::from_le_bytes(*key), Compiled { program: Arc::new(program), name }, b))
}

/// A blob that is not ours or not whole is an empty one.
fn new(info: In<vk::PipelineCacheCreateInfo>) -> Answer<PipelineCache> {
    let blob = Verified::copied(info.initial_data(), |h| *h == header())?;
    Ok(match blob {
        Some(b) => read(b.body()),
        None => PipelineCache { programs: Mutex::default(), graphs: Mutex::default() },
    })
}

pub(crate) fn create_pipeline_cache(
    _: &Device,
    info: In<vk::PipelineCacheCreateInfo>,
    out: Out<vk::PipelineCache>,
) -> vk::Result {
    created(out, new(info))
}

pub(crate) fn destroy_pipeline_cache(_: &Device, cache: Doomed<PipelineCache>) {
    cache.destroy();
}

pub(crate) fn get_pipeline_cache_data(
    device: &Device,
    cache: vk::PipelineCache,
    data: List<u8, usize>,
) -> vk::Result {
    let Some(c) = device.object::<PipelineCache>(cache) else { return vk::Result::ERROR_UNKNOWN };
    let (programs, graphs) = (c.programs.lock(), c.graphs.lock());
    let room = data.room().unwrap_or(usize::MAX);
    let (blob, all) = write(&programs, &graphs, room);
    if room < blob.len() {
        // Not even header and signature: at least the header, if that fits.
        let _ = data.fill(if room < HEADER { &[] } else { &blob[..HEADER] });
        return vk::Result::INCOMPLETE;
    }
    let _ = data.fill(&blob);
    if all { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE }
}

pub(crate) fn merge_pipeline_caches(
    device: &Device,
    dst: vk::PipelineCache,
    sources: &[vk::PipelineCache],
) -> vk::Result {
    let Some(dst) = device.object::<PipelineCache>(dst) else { return vk::Result::ERROR_UNKNOWN };
    for &s in sources {
        if let Some(s) = device.object::<PipelineCache>(s) {
            let from = s.programs.lock().clone();
            dst.programs.lock().extend(from);
            let graphs = s.graphs.lock().clone();
            dst.graphs.lock().extend(graphs);
        }
    }
    vk::Result::SUCCESS
}
