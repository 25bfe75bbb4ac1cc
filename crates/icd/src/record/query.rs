//! Query commands.

use crate::base::given::Call;
use crate::device::query_pool::QueryPool;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use std::sync::Arc;

fn pool(b: &CommandBuffer, p: vk::QueryPool) -> Option<Arc<gpu::query::QueryPool>> {
    Some(b.object::<QueryPool>(p)?.gpu.clone())
}

pub(crate) fn cmd_write_timestamp2(
    b: &CommandBuffer,
    stages: vk::PipelineStageFlags2,
    p: vk::QueryPool,
    query: u32,
) {
    if let (Some(pool), Some(mut r)) = (pool(b, p), b.recording()) {
        r.push(Command::WriteTimestamp { pool, query, stages });
    }
}

pub(crate) fn cmd_begin_query(b: &CommandBuffer, p: vk::QueryPool, query: u32, flags: vk::QueryControlFlags) {
    cmd_begin_query_indexed_ext(b, p, query, flags, 0)
}

pub(crate) fn cmd_begin_query_indexed_ext(
    b: &CommandBuffer,
    p: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
    index: u32,
) {
    if let (Some(pool), Some(mut r)) = (pool(b, p), b.recording()) {
        r.push(Command::BeginQuery { pool, query, flags, index: index.min(3) });
    }
}

pub(crate) fn cmd_end_query_indexed_ext(b: &CommandBuffer, p: vk::QueryPool, query: u32, _: u32) {
    cmd_end_query(b, p, query)
}

pub(crate) fn cmd_end_query(b: &CommandBuffer, p: vk::QueryPool, query: u32) {
    if let (Some(pool), Some(mut r)) = (pool(b, p), b.recording()) {
        r.push(Command::EndQuery { pool, query });
    }
}

pub(crate) fn cmd_reset_query_pool(b: &CommandBuffer, p: vk::QueryPool, first: u32, count: u32) {
    if let (Some(pool), Some(mut r)) = (pool(b, p), b.recording()) {
        r.push(Command::ResetQueryPool { pool, first, count });
    }
}

pub(crate) fn cmd_copy_query_pool_results(
    b: &CommandBuffer,
    p: vk::QueryPool,
    first: u32,
    count: u32,
    dst: vk::Buffer,
    offset: u64,
    stride: u64,
    flags: vk::QueryResultFlags,
) {
    if let (Some(pool), Some(dst), Some(mut r)) =
        (pool(b, p), crate::memory::buffer::get(b, dst), b.recording())
    {
        r.push(Command::CopyQueryResults { pool, first, count, dst, offset, stride, flags });
    }
}
