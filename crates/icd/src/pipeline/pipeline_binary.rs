//! VK_KHR_pipeline_binary: a pipeline's programs as objects and bytes, one a stage.
//!
//! A blob ([`signed`]) is header, signature of all else, the stage's source (flags, entry point, specialisation, SPIR-V)
//! and its program as a pipeline cache has it. The source is for pipelines whose layout differs, as a link's does from its
//! libraries', and for whoever reads a pipeline's executables. What is not ours and whole, or of another build, is none.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::hash::{self, Hasher128};
use crate::base::object::{self, Object};
use crate::base::signed::{Draft, Header, Verified};
use crate::device::Device;
use crate::instance::properties::CACHE_UUID;
use crate::pipeline::pipeline_cache;
use crate::pipeline::{self, Compiled, Pipeline, Source};
use std::ffi::c_void;
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

/// # Safety
/// As [`Verified::copied`].
unsafe fn read(p: *const u8, size: usize) -> Answer<PipelineBinary> {
    // SAFETY: the caller's.
    let blob = unsafe { Verified::copied(p, size, |h| *h == header(stage_of(h)))? };
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

/// The source of a stage that the binaries of a creation's chain have; none where the chain has no binaries.
///
/// # Safety
/// The chain is valid, nobody destroys the objects meanwhile.
pub(crate) unsafe fn of_stage(p_next: *const c_void, stage: vk::ShaderStageFlags) -> Answer<Option<Source>> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(info) = chain::find::<vk::PipelineBinaryInfoKHR>(p_next).filter(|i| i.binary_count > 0)
        else {
            return Ok(None);
        };
        let binaries = chain::slice(info.p_pipeline_binaries, info.binary_count);
        let mut all = binaries.iter().filter_map(|&b| object::get::<PipelineBinary>(b));
        match all.find(|b| b.source.stage == stage) {
            Some(b) => Ok(Some(b.source.clone())),
            None => Err(invalid(&format!("VkPipelineBinaryInfoKHR: no binary for the stage {stage:?}"))),
        }
    }
}

/// What a creation asks to be made a binary of.
unsafe fn binaries(info: &vk::PipelineBinaryCreateInfoKHR) -> Answer<Vec<Answer<PipelineBinary>>> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        if let Some(given) = info.p_keys_and_data_info.as_ref() {
            let data = chain::slice(given.p_pipeline_binary_data, given.binary_count);
            return Ok(data.iter().map(|d| read(d.p_data.cast_const().cast(), d.data_size)).collect());
        }
        if info.pipeline == vk::Pipeline::null() {
            // pipelineBinaryInternalCache is false.
            return Err(invalid(
                "vkCreatePipelineBinariesKHR: neither data nor a pipeline; there is no internal cache",
            ));
        }
        let pipeline = object::get::<Pipeline>(info.pipeline).ok_or(vk::Result::ERROR_UNKNOWN)?;
        let captured = pipeline.captured();
        let each = pipeline.shared().stages.iter().map(|made| {
            let source = captured.iter().find(|s| s.stage == made.stage);
            let source = source.ok_or_else(|| {
                invalid("vkCreatePipelineBinariesKHR: a pipeline without VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR")
            })?;
            let blob = write(source, made.key, &made.compiled).into();
            let mut source = source.clone();
            source.ready = Some((made.key, made.compiled.clone()));
            Ok(PipelineBinary { source, blob })
        });
        Ok(each.collect())
    }
}

pub(crate) unsafe fn create_pipeline_binaries_khr(
    _: &Device,
    info: *const vk::PipelineBinaryCreateInfoKHR,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::PipelineBinaryHandlesInfoKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let binaries = match binaries(&*info) {
            Ok(binaries) => binaries,
            Err(e) => return e,
        };
        let out = &mut *out;
        if out.p_pipeline_binaries.is_null() {
            out.pipeline_binary_count = binaries.len() as u32;
            return vk::Result::SUCCESS;
        }
        let room = chain::slice_mut(out.p_pipeline_binaries, out.pipeline_binary_count);
        room.fill(vk::PipelineBinaryKHR::null());
        let all = room.len() >= binaries.len();
        let mut result = if all { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE };
        out.pipeline_binary_count = room.len().min(binaries.len()) as u32;
        for (slot, binary) in room.iter_mut().zip(binaries) {
            match binary {
                Ok(binary) => *slot = object::create(binary),
                Err(e) => result = e,
            }
        }
        result
    }
}

pub(crate) unsafe fn destroy_pipeline_binary_khr(
    _: &Device,
    binary: vk::PipelineBinaryKHR,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<PipelineBinary>(binary);
    }
}

fn put_key(out: &mut vk::PipelineBinaryKeyKHR, key: u128) {
    out.key_size = KEY as u32;
    out.key = Default::default();
    out.key[..KEY].copy_from_slice(&key.to_le_bytes());
}

/// What `sources` of the creation depend on: two creations with the same key have the same binaries.
unsafe fn key_of(info: &vk::PipelineCreateInfoKHR) -> Answer<u128> {
    // SAFETY: valid usage: the structure's chain leads to what it is said to.
    unsafe {
        let mut h = Hasher128::default();
        pipeline::machine_hash(&mut h);
        if let Some(c) = chain::find::<vk::ComputePipelineCreateInfo>(info.p_next) {
            h.write_u128(crate::pipeline::pipeline_compute::key(c)?);
        } else if let Some(g) = chain::find::<vk::GraphicsPipelineCreateInfo>(info.p_next) {
            for key in crate::pipeline::pipeline_graphics::keys(g)? {
                h.write_u128(key);
            }
        } else {
            return Err(invalid("vkGetPipelineKeyKHR: no pipeline's creation in its chain"));
        }
        Ok(h.done())
    }
}

pub(crate) unsafe fn get_pipeline_key_khr(
    _: &Device,
    info: *const vk::PipelineCreateInfoKHR,
    out: *mut vk::PipelineBinaryKeyKHR,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let key = match info.as_ref() {
            Some(info) => key_of(info),
            None => {
                let mut h = Hasher128::default();
                pipeline::machine_hash(&mut h);
                Ok(h.done())
            }
        };
        match key {
            Ok(key) => {
                put_key(&mut *out, key);
                vk::Result::SUCCESS
            }
            Err(e) => e,
        }
    }
}

pub(crate) unsafe fn get_pipeline_binary_data_khr(
    _: &Device,
    info: *const vk::PipelineBinaryDataInfoKHR,
    key: *mut vk::PipelineBinaryKeyKHR,
    size: *mut usize,
    data: *mut c_void,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(binary) = object::get::<PipelineBinary>((*info).pipeline_binary) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        put_key(&mut *key, hash::bytes(&binary.blob));
        let room = std::mem::replace(&mut *size, binary.blob.len());
        if data.is_null() {
            return vk::Result::SUCCESS;
        }
        if room < binary.blob.len() {
            return vk::ERROR_NOT_ENOUGH_SPACE_KHR;
        }
        std::ptr::copy_nonoverlapping(binary.blob.as_ptr(), data.cast(), binary.blob.len());
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn release_captured_pipeline_data_khr(
    _: &Device,
    info: *const vk::ReleaseCapturedPipelineDataInfoKHR,
    _: *const vk::AllocationCallbacks,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(p) = object::get::<Pipeline>((*info).pipeline) {
            p.release_captured();
        }
        vk::Result::SUCCESS
    }
}
