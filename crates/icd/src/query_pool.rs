//! VkQueryPool: occlusion, pipeline statistics, timestamps.

use crate::answer::{created, invalid};
use crate::device::Device;
use crate::object::{self, Object};
use std::ffi::c_void;
use std::sync::Arc;

pub struct QueryPool {
    pub(crate) gpu: Arc<gpu::query::QueryPool>,
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

pub(crate) unsafe fn create_query_pool(
    _: &Device,
    info: *const vk::QueryPoolCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::QueryPool,
) -> vk::Result {
    let i = &*info;
    let made = match i.query_type {
        vk::QueryType::OCCLUSION | vk::QueryType::PIPELINE_STATISTICS | vk::QueryType::TIMESTAMP => {
            let pool = gpu::query::QueryPool::new(i.query_type, i.query_count, i.pipeline_statistics);
            Ok(QueryPool { gpu: Arc::new(pool) })
        }
        other => Err(invalid(&format!("vkCreateQueryPool: queries of type {other:?} are not supported"))),
    };
    created(out, made)
}

pub(crate) unsafe fn destroy_query_pool(_: &Device, pool: vk::QueryPool, _: *const vk::AllocationCallbacks) {
    object::destroy::<QueryPool>(pool);
}

pub(crate) unsafe fn reset_query_pool(device: &Device, pool: vk::QueryPool, first: u32, count: u32) {
    if let Some(p) = object::get::<QueryPool>(pool) {
        device.hub().change(|| p.gpu.reset(first, count));
    }
}

pub(crate) unsafe fn get_query_pool_results(
    device: &Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    data_size: usize,
    data: *mut c_void,
    stride: u64,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    let Some(p) = object::get::<QueryPool>(pool) else { return vk::Result::ERROR_UNKNOWN };
    let p = &p.gpu;
    if count == 0 {
        return vk::Result::SUCCESS;
    }
    let word = if flags.contains(vk::QueryResultFlags::TYPE_64) { 8 } else { 4 };
    let words = p.words as u64 + flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) as u64;
    let end = (count as u64 - 1).checked_mul(stride).and_then(|n| n.checked_add(words * word));
    if first as u64 + count as u64 > p.count as u64 || end.is_none_or(|n| n > data_size as u64) {
        return invalid(&format!(
            "vkGetQueryPoolResults: queries {first} + {count} of {} do not fit {data_size} bytes at stride {stride}",
            p.count
        ));
    }
    if flags.contains(vk::QueryResultFlags::WAIT) {
        device.hub().wait(u64::MAX, || (first..first + count).all(|q| p.is_available(q)));
    }
    let all = p.write(first, count, data.cast(), stride, flags);
    if device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    if all { vk::Result::SUCCESS } else { vk::Result::NOT_READY }
}
