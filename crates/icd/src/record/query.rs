//! Query commands.

use crate::base::object;
use crate::device::query_pool::QueryPool;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use std::sync::Arc;

unsafe fn pool(p: vk::QueryPool) -> Option<Arc<gpu::query::QueryPool>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<QueryPool>(p)?.gpu.clone()) }
}

pub(crate) unsafe fn cmd_write_timestamp2(
    b: &CommandBuffer,
    stages: vk::PipelineStageFlags2,
    p: vk::QueryPool,
    query: u32,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(pool), Some(mut r)) = (pool(p), b.recording()) {
            r.push(Command::WriteTimestamp { pool, query, stages });
        }
    }
}

pub(crate) unsafe fn cmd_begin_query(
    b: &CommandBuffer,
    p: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
) {
    // SAFETY: the caller's.
    unsafe { cmd_begin_query_indexed_ext(b, p, query, flags, 0) }
}

pub(crate) unsafe fn cmd_begin_query_indexed_ext(
    b: &CommandBuffer,
    p: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
    index: u32,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(pool), Some(mut r)) = (pool(p), b.recording()) {
            r.push(Command::BeginQuery { pool, query, flags, index: index.min(3) });
        }
    }
}

pub(crate) unsafe fn cmd_end_query_indexed_ext(b: &CommandBuffer, p: vk::QueryPool, query: u32, _: u32) {
    // SAFETY: the caller's.
    unsafe { cmd_end_query(b, p, query) }
}

pub(crate) unsafe fn cmd_end_query(b: &CommandBuffer, p: vk::QueryPool, query: u32) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(pool), Some(mut r)) = (pool(p), b.recording()) {
            r.push(Command::EndQuery { pool, query });
        }
    }
}

pub(crate) unsafe fn cmd_reset_query_pool(b: &CommandBuffer, p: vk::QueryPool, first: u32, count: u32) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(pool), Some(mut r)) = (pool(p), b.recording()) {
            r.push(Command::ResetQueryPool { pool, first, count });
        }
    }
}

pub(crate) unsafe fn cmd_copy_query_pool_results(
    b: &CommandBuffer,
    p: vk::QueryPool,
    first: u32,
    count: u32,
    dst: vk::Buffer,
    offset: u64,
    stride: u64,
    flags: vk::QueryResultFlags,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let (Some(pool), Some(dst), Some(mut r)) =
            (pool(p), crate::memory::buffer::get(dst), b.recording())
        {
            r.push(Command::CopyQueryResults { pool, first, count, dst, offset, stride, flags });
        }
    }
}
