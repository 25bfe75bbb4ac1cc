//! VkDeviceMemory.

#[cfg_attr(unix, path = "allocation/unix.rs")]
#[cfg_attr(windows, path = "allocation/windows.rs")]
mod system;

pub(crate) use system::{get_memory_win32_handle_khr, get_memory_win32_handle_properties_khr};

use crate::base::answer::{Answer, code, handed_out, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::device::addresses::{self, Binding};
use crate::instance::host_memory::heap_size;
use crate::instance::limits::{MAX_ALLOCATION, MIN_HOST_POINTER_ALIGNMENT};
use crate::instance::physical_device::{
    HEAP_USED, HOST_TYPE_BITS, MEMORY_TYPES, PROTECTED_TYPE, SPARSE, SPARSE_TYPE,
};
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use texel::memory::{DeviceMemory, Wanted};

/// Handle types that memory can be imported from by pointers, and by descriptors that are not opaque.
const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const HOST: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

pub struct Memory {
    pub(crate) gpu: Arc<DeviceMemory>,
    counted: u64,
}

impl Memory {
    fn is_protected(&self) -> bool {
        self.gpu.type_index == PROTECTED_TYPE
    }

    /// Whether a call may bind a resource to it that is `protected` or not.
    ///
    /// # Errors
    /// It may not, which is told.
    pub(crate) fn accepts(&self, protected: bool, call: &str) -> Answer {
        match self.is_protected() == protected {
            true => Ok(()),
            false => {
                Err(invalid(&format!("{call}: protected memory is for protected resources, and only that")))
            }
        }
    }

    /// Memory for the driver's own images, counted as the application's is; `shown`: an X server may read it.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY` when so many bytes can't be had.
    pub(crate) fn new(device: &Device, bytes: u64, shown: bool) -> Answer<Memory> {
        let space = device.space();
        let shared = if shown { DeviceMemory::allocate(space, bytes, 0, true).ok() } else { None };
        let gpu = shared.map_or_else(|| DeviceMemory::allocate(space, bytes, 0, false), Ok)?;
        let memory = Memory { gpu, counted: bytes };
        device.gpu.shared.forget_memory(memory.gpu.ptr() as u64, bytes);
        let before = HEAP_USED.fetch_add(bytes, SeqCst);
        if before.saturating_add(bytes) > heap_size() {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY); // dropping it takes the bytes off again
        }
        Ok(memory)
    }
}

impl Object for Memory {
    type Handle = vk::DeviceMemory;
}

impl Drop for Memory {
    fn drop(&mut self) {
        HEAP_USED.fetch_sub(self.counted, SeqCst);
    }
}

pub(crate) fn allocate_memory(
    device: &Device,
    info: In<vk::MemoryAllocateInfo>,
    out: Out<vk::DeviceMemory>,
) -> vk::Result {
    code(handed_out(out, allocate(device, info)).map(|memory| tell(device, memory, Binding::BIND)))
}

fn tell(device: &Device, memory: vk::DeviceMemory, binding: Binding) {
    if let Some(m) = device.object::<Memory>(memory) {
        addresses::tell_address::<Memory>(device, memory, (m.gpu.ptr() as u64, m.gpu.size()), binding);
    }
}

/// Which addresses are asked for. `captured`: by an earlier run, where 0 is none; `for_replay`: another run is to ask for them.
pub(crate) fn wanted(device: &Device, captured: Option<u64>, for_replay: bool) -> Wanted {
    match captured.filter(|&at| at != 0) {
        Some(at) => {
            // What was destroyed may still be kept where it was.
            device.quarantine.empty_if_idle(&device.gpu);
            Wanted::At(at)
        }
        None if for_replay => Wanted::Apart,
        None => Wanted::Anywhere,
    }
}

fn allocate(device: &Device, info: In<vk::MemoryAllocateInfo>) -> Answer<Memory> {
    if device.hub().is_lost() {
        return Err(vk::Result::ERROR_DEVICE_LOST);
    }
    let ty = info.memory_type_index;
    if ty as usize >= MEMORY_TYPES.len() {
        return Err(invalid(&format!("vkAllocateMemory: no memory type {ty}")));
    }
    let size = info.allocation_size;
    if ty == PROTECTED_TYPE {
        // The host, and so another process, must never see it.
        let shared = info.find::<vk::ImportMemoryHostPointerInfoEXT>().is_some()
            || system::is_import(info)
            || info.find::<vk::ExportMemoryAllocateInfo>().is_some_and(|e| !e.handle_types.is_empty());
        if shared {
            return Err(invalid("vkAllocateMemory: protected memory is neither imported nor exported"));
        }
        device.protect("vkAllocateMemory", false)?;
    }
    if let Some(i) = info.find::<vk::ImportMemoryHostPointerInfoEXT>()
        && i.handle_type == HOST
    {
        if i.p_host_pointer.is_null()
            || !(i.p_host_pointer as u64).is_multiple_of(MIN_HOST_POINTER_ALIGNMENT)
            || !texel::memory::is_mapped(i.p_host_pointer.cast(), size)
        {
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: mapped just now; the application keeps it so while the object lives (valid usage).
        let gpu = unsafe { DeviceMemory::import_host(device.space(), i.p_host_pointer.cast(), size, ty) };
        return Ok(Memory { gpu, counted: 0 });
    }
    // Reserved before it is made: two threads can't both take the last bytes.
    let before = HEAP_USED.fetch_add(size, SeqCst);
    let counted = size;
    let fail = |e| {
        HEAP_USED.fetch_sub(counted, SeqCst);
        Err(e)
    };
    if size > MAX_ALLOCATION || before.saturating_add(size) > heap_size() {
        return fail(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    let is_own = |memory: &Arc<DeviceMemory>| {
        // Nobody else has written it.
        if texel::memory::poison::wanted() {
            memory.poison();
        }
    };
    let made = match system::is_import(info) {
        true => system::import(device.space(), info, size, ty),
        false => {
            let export = info
                .find::<vk::ExportMemoryAllocateInfo>()
                .is_some_and(|e| e.handle_types.intersects(system::EXPORTED));
            let captured = info.find::<vk::MemoryOpaqueCaptureAddressAllocateInfo>();
            let for_replay = info
                .find::<vk::MemoryAllocateFlagsInfo>()
                .is_some_and(|f| f.flags.contains(vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY));
            let wanted = wanted(device, captured.map(|c| c.opaque_capture_address), for_replay);
            let made = match SPARSE && ty == SPARSE_TYPE && !export {
                true => DeviceMemory::stored_at(device.space(), size, ty, wanted),
                false if export => system::allocate(device.space(), info, size, ty, wanted),
                false => DeviceMemory::allocate_at(device.space(), size, ty, false, wanted),
            };
            made.inspect(is_own)
        }
    };
    match made {
        Ok(gpu) => {
            device.gpu.shared.forget_memory(gpu.ptr() as u64, size);
            if let Some(h) = device.gpu.shared.hazards.as_ref().filter(|_| ty == PROTECTED_TYPE) {
                h.protected.lock().push(gpu.ptr() as u64..gpu.ptr() as u64 + size);
            }
            Ok(Memory { gpu, counted })
        }
        Err(e) => fail(e),
    }
}

pub(crate) fn free_memory(device: &Device, memory: Doomed<Memory>) {
    if let Some(m) = memory.object() {
        tell(device, memory.handle(), Binding::UNBIND);
        device.gpu.shared.memory_ends(m.gpu.ptr() as u64, m.gpu.size());
        if let Some(h) = device.gpu.shared.hazards.as_ref().filter(|_| m.is_protected()) {
            h.protected.lock().retain(|r| r.start != m.gpu.ptr() as u64);
        }
    }
    if let Some(m) = memory.destroy()
        && Arc::strong_count(&m.gpu) > 1
    {
        m.gpu.discard();
    }
}

pub(crate) fn map_memory2(device: &Device, info: In<vk::MemoryMapInfo>, out: Out<*mut c_void>) -> vk::Result {
    let i = info;
    let Some(m) = info.object::<Memory>(i.memory) else { return vk::Result::ERROR_MEMORY_MAP_FAILED };
    let mappable = MEMORY_TYPES[m.gpu.type_index as usize].contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
    if !mappable || i.offset > m.gpu.size() {
        crate::base::debug::log_error("vkMapMemory: this memory, or this part of it, cannot be mapped");
        return vk::Result::ERROR_MEMORY_MAP_FAILED;
    }
    m.gpu.share();
    let from = m.gpu.ptr() as u64;
    gpu::hazards::host::mapped(&device.gpu.shared, from..from + m.gpu.size(), m.gpu.is_own());
    out.set(m.gpu.ptr().wrapping_add(i.offset as usize).cast());
    vk::Result::SUCCESS
}

/// Memory stays mapped for as long as it lives; unmapping only ends the application's use of the address.
pub(crate) fn unmap_memory2(_: &Device, info: In<vk::MemoryUnmapInfo>) -> vk::Result {
    info.object::<Memory>(info.memory);
    vk::Result::SUCCESS
}

pub(crate) fn unmap_memory(device: &Device, memory: vk::DeviceMemory) {
    device.object::<Memory>(memory);
}

// All memory is coherent: the host and the device share one cache.

pub(crate) fn flush_mapped_memory_ranges(_: &Device, _ranges: In<[vk::MappedMemoryRange]>) -> vk::Result {
    vk::Result::SUCCESS
}

pub(crate) fn invalidate_mapped_memory_ranges(
    _: &Device,
    _ranges: In<[vk::MappedMemoryRange]>,
) -> vk::Result {
    vk::Result::SUCCESS
}

/// Pages of a lazily allocated range that the system has committed.
pub(crate) fn get_device_memory_commitment(device: &Device, memory: vk::DeviceMemory, out: Out<u64>) {
    let Some(m) = device.object::<Memory>(memory) else {
        out.set(0);
        return;
    };
    out.set(m.gpu.committed().unwrap_or(m.gpu.size()));
}

pub(crate) fn get_device_memory_opaque_capture_address(
    _: &Device,
    info: In<vk::DeviceMemoryOpaqueCaptureAddressInfo>,
) -> u64 {
    info.object::<Memory>(info.memory).map_or(0, |m| m.gpu.ptr() as u64)
}

pub(crate) fn get_memory_fd_khr(_: &Device, info: In<vk::MemoryGetFdInfoKHR>, out: Out<c_int>) -> vk::Result {
    let i = info;
    let exported = info.object::<Memory>(i.memory).and_then(|m| system::export(&m.gpu, i.handle_type));
    code(exported.map(|fd| out.set(fd)).ok_or(vk::Result::ERROR_TOO_MANY_OBJECTS))
}

/// Only for descriptors that are not opaque: dma-bufs.
pub(crate) fn get_memory_fd_properties_khr(
    _: &Device,
    handle_type: vk::ExternalMemoryHandleTypeFlags,
    fd: c_int,
    mut out: Fill<vk::MemoryFdPropertiesKHR>,
) -> vk::Result {
    if handle_type == DMA_BUF && texel::dma_buf::size(fd).is_some() {
        out.memory_type_bits = HOST_TYPE_BITS;
        return vk::Result::SUCCESS;
    }
    crate::base::debug::log_error(&format!("vkGetMemoryFdPropertiesKHR: {handle_type:?} can't be imported"));
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}

pub(crate) fn get_memory_host_pointer_properties_ext(
    _: &Device,
    handle_type: vk::ExternalMemoryHandleTypeFlags,
    pointer: *const c_void,
    mut out: Fill<vk::MemoryHostPointerPropertiesEXT>,
) -> vk::Result {
    if handle_type != HOST || !(pointer as u64).is_multiple_of(MIN_HOST_POINTER_ALIGNMENT) {
        return vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    }
    out.memory_type_bits = HOST_TYPE_BITS;
    vk::Result::SUCCESS
}

/// All memory is of one heap, which nothing is moved out of: a hint without effect.
pub(crate) fn set_device_memory_priority_ext(device: &Device, memory: vk::DeviceMemory, _: f32) {
    device.object::<Memory>(memory);
}
