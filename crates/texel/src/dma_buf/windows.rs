//! A system without dma-bufs: nothing of VK_EXT_external_memory_dma_buf is reported.

/// Whether dma-bufs can be made here.
pub fn available() -> bool {
    false
}

/// Bytes of a dma-buf; none: the descriptor is of something else.
pub fn size(_: i32) -> Option<u64> {
    None
}
