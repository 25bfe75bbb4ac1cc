//! VK_KHR_pipeline_binary: a pipeline's programs as objects and bytes, one a stage.
//!
//! A blob ([`signed`]) is header, signature of all else, the stage's source (flags, entry point, specialisation, SPIR-V)
//! and its program as a pipeline cache has it. The source is for pipelines whose layout differs, as a link's does from its
//! libraries', and for queries of a pipeline's executables. A blob that is foreign, damaged or of another build is rejected.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, Doomed, Fill, In, List, OutSlice, array};
use crate::base::hash::{self, Hasher128};
use crate::base::object::{self, Object};
use crate::base::signed::{Draft, Header, Verified};
use crate::device::Device;
use crate::instance::properties::CACHE_UUID;
use crate::pipeline::pipeline_cache;
use crate::pipeline::{self, Compiled, Pipeline, Source};
use std::collections::{HashMap, VecDeque};
use std::hash::Hasher;
use std::sync::Arc;

/// VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR
pub(crate) const CAPTURE_DATA: vk::PipelineCreateFlags2 = vk::PipelineCreateFlags2::from_raw(1 << 31);

const MAGIC: &[u8; 8] = b"TuffPipe";
/// Bytes of a key.
const KEY: usize = 16;

pub struct PipelineBinary {
    source: Source,
    blob: Arc<[u8]>,
}

impl Object for PipelineBinary {
    type Handle = vk::PipelineBinaryKHR;
}

fn header(stage: vk::ShaderStageFlags) -> Header {
    let mut h = Header::default();
    h[..8].copy_from_slice(MAGIC);
    h[12..16].copy_from_slice(&stage.as_raw().to_le_bytes());
    h[16..].copy_from_slice(&CACHE_UUID);
    h
}

/// Of a stage that was compiled to `made`, by the key of that compilation.
fn write(source: &Source, key: u128, made: &Compiled) -> Vec<u8> {
    let mut stage = vec![];
    source.write(&mut stage);
    let mut blob = Draft::new(header(source.stage));
    blob.add(&stage);
    blob.add(&pipeline_cache::entry(key, made));
    blob.signed()
}

fn stage_of(h: &Header) -> vk::ShaderStageFlags {
    vk::ShaderStageFlags::from_raw(u32::from_le_bytes([h[12], h[13], h[14], h[15]]))
}

fn read(bytes: &[u8]) -> Answer<PipelineBinary> {
    let blob = Verified::copied(bytes, |h| *h == header(stage_of(h)))?;
    blob.and_then(of_blob).ok_or(vk::Result::ERROR_UNKNOWN)
}

fn of_blob(blob: Verified) -> Option<PipelineBinary> {
    let (mut source, rest) = Source::read(stage_of(blob.header()), blob.body())?;
    let (key, made, behind) = pipeline_cache::read_entry(rest)?;
    if !behind.is_empty() {
        return None;
    }
    source.ready = Some((key, pipeline_cache::shared(key, made)));
    Some(PipelineBinary { source, blob: blob.into_bytes().into() })
}

/// Counts the shaders of each stage.
#[derive(Default)]
pub(crate) struct Places(HashMap<vk::ShaderStageFlags, usize>);

impl Places {
    /// How many shaders of this stage came before.
    pub(crate) fn next(&mut self, stage: vk::ShaderStageFlags) -> usize {
        let count = self.0.entry(stage).or_default();
        *count += 1;
        *count - 1
    }
}

/// The source of a stage that the binaries of a creation's chain have; none where the chain has no binaries. Several shaders of one stage
/// (of ray tracing pipelines) have binaries in the order of the stages; `nth`: the shader's place among those of its stage.
pub(crate) fn of_stage(
    binaries: Option<In<vk::PipelineBinaryInfoKHR>>,
    stage: vk::ShaderStageFlags,
    nth: usize,
) -> Answer<Option<Source>> {
    let Some(info) = binaries.filter(|i| i.binary_count > 0) else { return Ok(None) };
    let binaries = info.pipeline_binaries();
    let all = binaries.iter().filter_map(|&b| info.object::<PipelineBinary>(b));
    match all.filter(|b| b.source.stage == stage).nth(nth) {
        Some(b) => Ok(Some(b.source.clone())),
        None => Err(invalid(&format!(
            "VkPipelineBinaryInfoKHR: no binary for shader {nth} of the stage {stage:?}"
        ))),
    }
}

/// The bytes of a binary, which vk.xml does not declare const.
fn bytes_of<'a>(data: In<'a, vk::PipelineBinaryDataKHR<'a>>) -> &'a [u8] {
    // SAFETY: so many bytes (valid usage), which are only read.
    unsafe { array(data.p_data.cast_const().cast(), data.data_size) }
}

/// What a creation asks to be made a binary of.
fn binaries(info: In<vk::PipelineBinaryCreateInfoKHR>) -> Answer<Vec<Answer<PipelineBinary>>> {
    if let Some(given) = info.keys_and_data_info() {
        let data = given.pipeline_binary_data();
        return Ok(data.iter().map(|d| read(bytes_of(d))).collect());
    }
    if info.pipeline == vk::Pipeline::null() {
        // pipelineBinaryInternalCache is false.
        return Err(invalid(
            "vkCreatePipelineBinariesKHR: neither data nor a pipeline; there is no internal cache",
        ));
    }
    let pipeline = info.object::<Pipeline>(info.pipeline).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let captured = pipeline.captured();
    let mut of_stage: HashMap<vk::ShaderStageFlags, VecDeque<Source>> = HashMap::new();
    captured.into_iter().for_each(|s| of_stage.entry(s.stage).or_default().push_back(s));
    let each = pipeline.shared().stages.iter().map(|made| {
        let source = of_stage.get_mut(&made.stage).and_then(VecDeque::pop_front);
        let source = source.ok_or_else(|| {
            invalid(
                "vkCreatePipelineBinariesKHR: a pipeline without VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR",
            )
        })?;
        let blob = write(&source, made.key, &made.compiled).into();
        let mut source = source;
        source.ready = Some((made.key, made.compiled.clone()));
        Ok(PipelineBinary { source, blob })
    });
    Ok(each.collect())
}

pub(crate) fn create_pipeline_binaries_khr(
    _: &Device,
    info: In<vk::PipelineBinaryCreateInfoKHR>,
    mut out: Fill<vk::PipelineBinaryHandlesInfoKHR>,
) -> vk::Result {
    let binaries = match binaries(info) {
        Ok(binaries) => binaries,
        Err(e) => return e,
    };
    if out.p_pipeline_binaries.is_null() {
        out.pipeline_binary_count = binaries.len() as u32;
        return vk::Result::SUCCESS;
    }
    // SAFETY: room for so many handles (valid usage).
    let room = unsafe { OutSlice::new(out.p_pipeline_binaries, out.pipeline_binary_count as usize) };
    room.fill(vk::PipelineBinaryKHR::null());
    let all = room.len() >= binaries.len();
    let mut result = if all { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE };
    out.pipeline_binary_count = room.len().min(binaries.len()) as u32;
    for (i, binary) in binaries.into_iter().enumerate().take(room.len()) {
        match binary {
            Ok(binary) => room.set(i, object::create(binary)),
            Err(e) => result = e,
        }
    }
    result
}

pub(crate) fn destroy_pipeline_binary_khr(_: &Device, binary: Doomed<PipelineBinary>) {
    binary.destroy();
}

fn put_key(out: &mut vk::PipelineBinaryKeyKHR, key: u128) {
    out.key_size = KEY as u32;
    out.key = Default::default();
    out.key[..KEY].copy_from_slice(&key.to_le_bytes());
}

/// What `sources` of the creation depend on: two creations with the same key have the same binaries.
fn key_of(info: In<vk::PipelineCreateInfoKHR>) -> Answer<u128> {
    let mut h = Hasher128::default();
    pipeline::machine_hash(&mut h);
    if let Some(c) = info.find::<vk::ComputePipelineCreateInfo>() {
        h.write_u128(crate::pipeline::pipeline_compute::key(c)?);
    } else if let Some(g) = info.find::<vk::GraphicsPipelineCreateInfo>() {
        for key in crate::pipeline::pipeline_graphics::keys(g)? {
            h.write_u128(key);
        }
    } else if let Some(r) = info.find::<vk::RayTracingPipelineCreateInfoKHR>() {
        for key in crate::pipeline::pipeline_ray_tracing::keys(r)? {
            h.write_u128(key);
        }
    } else {
        return Err(invalid("vkGetPipelineKeyKHR: no pipeline's creation in its chain"));
    }
    Ok(h.done())
}

pub(crate) fn get_pipeline_key_khr(
    _: &Device,
    info: Option<In<vk::PipelineCreateInfoKHR>>,
    mut out: Fill<vk::PipelineBinaryKeyKHR>,
) -> vk::Result {
    let key = match info {
        Some(info) => key_of(info),
        None => {
            let mut h = Hasher128::default();
            pipeline::machine_hash(&mut h);
            Ok(h.done())
        }
    };
    match key {
        Ok(key) => {
            put_key(&mut out, key);
            vk::Result::SUCCESS
        }
        Err(e) => e,
    }
}

pub(crate) fn get_pipeline_binary_data_khr(
    _: &Device,
    info: In<vk::PipelineBinaryDataInfoKHR>,
    mut key: Fill<vk::PipelineBinaryKeyKHR>,
    data: List<u8, usize>,
) -> vk::Result {
    let Some(binary) = info.object::<PipelineBinary>(info.pipeline_binary) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    put_key(&mut key, hash::bytes(&binary.blob));
    if data.room().is_some_and(|room| room < binary.blob.len()) {
        data.count(binary.blob.len());
        return vk::ERROR_NOT_ENOUGH_SPACE_KHR;
    }
    data.fill(&binary.blob)
}

pub(crate) fn release_captured_pipeline_data_khr(
    _: &Device,
    info: In<vk::ReleaseCapturedPipelineDataInfoKHR>,
) -> vk::Result {
    if let Some(p) = info.object::<Pipeline>(info.pipeline) {
        p.release_captured();
    }
    vk::Result::SUCCESS
}
