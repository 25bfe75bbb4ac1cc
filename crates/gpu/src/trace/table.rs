//! Shader binding tables: memory of the application's, in which anything may be.

use super::{Group, HANDLE, RayPipeline};
use texel::memory::AddressSpace;

/// A part of device memory with records a stride apart (VkStridedDeviceAddressRegionKHR).
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Region {
    pub address: u64,
    pub stride: u64,
    pub size: u64,
}

/// A record that was found.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub group: &'a Group,
    /// Address of what follows the handle.
    pub data: u64,
}

/// The record with this number; `None` where the table has none, or no group of the pipeline's is named there.
pub fn record<'a>(
    memory: &AddressSpace,
    pipeline: &'a RayPipeline,
    table: &Region,
    number: u64,
) -> Option<Record<'a>> {
    let offset = number.checked_mul(table.stride)?;
    if table.address == 0 || offset.checked_add(HANDLE as u64)? > table.size {
        return None;
    }
    let at = table.address.checked_add(offset)?;
    if memory.from(at)? < HANDLE as u64 {
        return None;
    }
    // SAFETY: so many bytes of the device's memory.
    let handle = unsafe { (at as *const [u8; HANDLE]).read_unaligned() };
    Some(Record { group: pipeline.find(&handle)?, data: at + HANDLE as u64 })
}
