//! VkQueryPool: occlusion, pipeline statistics, timestamps, performance counters.

use crate::base::answer::{created, invalid};
use crate::base::given::{Call, Doomed, In, Out, OutSlice};
use crate::base::object::Object;
use crate::device::Device;
use gpu::query::QueryKind;
use gpu::query::StructureProperty;
use std::sync::Arc;

pub struct QueryPool {
    pub(crate) gpu: Arc<gpu::query::QueryPool>,
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

pub(crate) fn create_query_pool(
    device: &Device,
    info: In<vk::QueryPoolCreateInfo>,
    out: Out<vk::QueryPool>,
) -> vk::Result {
    let i = info;
    let kind = match i.query_type {
        vk::QueryType::OCCLUSION => Ok(QueryKind::Occlusion),
        vk::QueryType::PIPELINE_STATISTICS => Ok(QueryKind::Statistics(i.pipeline_statistics)),
        vk::QueryType::TIMESTAMP => Ok(QueryKind::Timestamp),
        vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT => Ok(QueryKind::Feedback),
        vk::QueryType::MESH_PRIMITIVES_GENERATED_EXT => Ok(QueryKind::MeshPrimitives),
        vk::QueryType::PRIMITIVES_GENERATED_EXT => Ok(QueryKind::Generated),
        ty if StructureProperty::of(ty).is_some() => {
            StructureProperty::of(ty).map(QueryKind::Structure).ok_or(vk::Result::ERROR_UNKNOWN)
        }
        vk::QueryType::PERFORMANCE_QUERY_KHR => crate::device::performance::kind(i),
        other => Err(invalid(&format!("vkCreateQueryPool: queries of type {other:?} are not supported"))),
    };
    let made = kind.and_then(|k| {
        let pool = gpu::query::QueryPool::new(k, i.query_count);
        let pool = pool.ok_or(vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        if i.flags.contains(vk::QUERY_POOL_CREATE_RESET_BIT_KHR) {
            pool.reset(0, i.query_count);
        }
        if matches!(i.query_type, vk::QueryType::TIMESTAMP | vk::QueryType::PERFORMANCE_QUERY_KHR) {
            device.gpu.shared.observed.ask();
        }
        Ok(QueryPool { gpu: Arc::new(pool) })
    });
    created(out, made)
}

pub(crate) fn destroy_query_pool(_: &Device, pool: Doomed<QueryPool>) {
    pool.destroy();
}

pub(crate) fn reset_query_pool(device: &Device, pool: vk::QueryPool, first: u32, count: u32) {
    if let Some(p) = device.object::<QueryPool>(pool) {
        device.hub().change(|| p.gpu.reset(first, count));
    }
}

/// How often a wait for results checks whether the device still works.
const PATIENCE_NS: u64 = 2_000_000_000;

pub(crate) fn get_query_pool_results(
    device: &Device,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    data: OutSlice<u8>,
    stride: u64,
    flags: vk::QueryResultFlags,
) -> vk::Result {
    let Some(p) = device.object::<QueryPool>(pool) else { return vk::Result::ERROR_UNKNOWN };
    let p = &p.gpu;
    if count == 0 {
        return vk::Result::SUCCESS;
    }
    if data.len() == 0 {
        return invalid("vkGetQueryPoolResults: no memory for the results");
    }
    let end = (count as u64 - 1).checked_mul(stride).and_then(|n| n.checked_add(p.result_size(flags)));
    if first as u64 + count as u64 > p.count as u64 || end.is_none_or(|n| n > data.len() as u64) {
        return invalid(&format!(
            "vkGetQueryPoolResults: queries {first} + {count} of {} do not fit {} bytes at stride {stride}",
            p.count,
            data.len()
        ));
    }
    if flags.contains(vk::QueryResultFlags::WAIT) {
        let ready = || (first..first + count).all(|q| p.is_available(q));
        // Without work, nothing makes them available. The wait would never end, so it ends here.
        while !device.hub().wait(PATIENCE_NS, ready) {
            if device.gpu.is_idle() && !ready() {
                return invalid("vkGetQueryPoolResults: nothing will write what is waited for");
            }
        }
    }
    // SAFETY: the results fit (`end`).
    let all = unsafe { p.write(first, count, data.start(), stride, flags) };
    device.clock().seen(p.ended(first, count));
    gpu::hazards::host::may_know(&device.gpu.shared);
    if device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    if all { vk::Result::SUCCESS } else { vk::Result::NOT_READY }
}
