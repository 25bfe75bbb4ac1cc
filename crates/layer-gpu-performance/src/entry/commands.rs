//! Workloads that are one command: dispatches, and transfers outside of render passes.

use super::{Function, function, functions};
use crate::chain::slice;
use crate::device::{self, Device};
use crate::guard::caught;
use crate::recorded::WorkloadKind;
use crate::recording::Recording;
use crate::table::next;
use ash::vk;
use std::ffi::c_void;

functions! {
    pub(super) fn lookup;
    b"vkCmdDispatch" => dispatch, PFN_vkCmdDispatch;
    b"vkCmdDispatchIndirect" => dispatch_indirect, PFN_vkCmdDispatchIndirect;
    b"vkCmdDispatchBase" | b"vkCmdDispatchBaseKHR" => dispatch_base, PFN_vkCmdDispatchBase;
    b"vkCmdCopyBuffer" => copy_buffer, PFN_vkCmdCopyBuffer;
    b"vkCmdCopyBuffer2" | b"vkCmdCopyBuffer2KHR" => copy_buffer2, PFN_vkCmdCopyBuffer2;
    b"vkCmdCopyImage" => copy_image, PFN_vkCmdCopyImage;
    b"vkCmdCopyImage2" | b"vkCmdCopyImage2KHR" => copy_image2, PFN_vkCmdCopyImage2;
    b"vkCmdCopyBufferToImage" => copy_buffer_to_image, PFN_vkCmdCopyBufferToImage;
    b"vkCmdCopyBufferToImage2" | b"vkCmdCopyBufferToImage2KHR" => copy_buffer_to_image2, PFN_vkCmdCopyBufferToImage2;
    b"vkCmdCopyImageToBuffer" => copy_image_to_buffer, PFN_vkCmdCopyImageToBuffer;
    b"vkCmdCopyImageToBuffer2" | b"vkCmdCopyImageToBuffer2KHR" => copy_image_to_buffer2, PFN_vkCmdCopyImageToBuffer2;
    b"vkCmdCopyQueryPoolResults" => copy_query_pool_results, PFN_vkCmdCopyQueryPoolResults;
    b"vkCmdBlitImage" => blit_image, PFN_vkCmdBlitImage;
    b"vkCmdBlitImage2" | b"vkCmdBlitImage2KHR" => blit_image2, PFN_vkCmdBlitImage2;
    b"vkCmdResolveImage" => resolve_image, PFN_vkCmdResolveImage;
    b"vkCmdResolveImage2" | b"vkCmdResolveImage2KHR" => resolve_image2, PFN_vkCmdResolveImage2;
    b"vkCmdClearColorImage" => clear_color_image, PFN_vkCmdClearColorImage;
    b"vkCmdClearDepthStencilImage" => clear_depth_stencil_image, PFN_vkCmdClearDepthStencilImage;
    b"vkCmdFillBuffer" => fill_buffer, PFN_vkCmdFillBuffer;
    b"vkCmdUpdateBuffer" => update_buffer, PFN_vkCmdUpdateBuffer;
}

/// Records a workload: what is put in front of it, itself, what is put after it. `empty`: it does nothing.
pub(super) unsafe fn workload(
    c: vk::CommandBuffer,
    kind: WorkloadKind,
    empty: bool,
    name: impl FnOnce(&Device, &Recording) -> String,
    call: impl FnOnce(&Device),
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        let recording = d.recording(c);
        // The lock is held over the call: a command buffer is one thread's at a time, and others only ask for it when it is
        // recorded.
        let mut guard = recording.as_ref().map(|r| r.lock());
        let open = guard.as_mut().and_then(|r| {
            caught(|| {
                let name = name(&d, r);
                let at = r.open(&d, kind, name)?;
                if empty {
                    r.empty(at);
                }
                Some(at)
            })
            .flatten()
        });
        call(&d);
        if let (Some(r), Some(at)) = (&mut guard, open) {
            caught(|| r.close(&d, at));
        }
    }
}

/// `WorkloadKind, name: function(parameters) as the next layer's field`, where the name is made of the device, the recording
/// and the parameters.
macro_rules! workloads {
    ($($kind:ident $entry:ident $field:ident ($($p:ident: $t:ty),*) |$d:ident, $r:ident| $name:expr
        $(, empty: $empty:expr)?;)*) => {
        $(unsafe extern "system" fn $entry(c: vk::CommandBuffer, $($p: $t),*) {
            let empty = false $(|| $empty)?;
            // SAFETY: valid usage: the call's pointers lead to what they are said to; what is called is the next layer's.
            unsafe {
                workload(c, WorkloadKind::$kind, empty, |$d, $r| { let _ = ($d, $r); $name }, |d| { next!(d, $field(c, $($p),*)); });
            }
        })*
    };
}

pub(super) use workloads;

/// The bound pipeline's name, then what is said of the dispatch.
fn dispatched(d: &Device, r: &Recording, what: String) -> String {
    d.names.with(r.pipeline, what)
}

/// Bytes of a copy between buffers.
unsafe fn bytes(p: *const vk::BufferCopy, n: u32) -> u64 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { slice(p, n).iter().map(|r| r.size).sum() }
}

fn regions(n: u32) -> String {
    if n == 1 { String::new() } else { format!(", {n} regions") }
}

fn extent(e: Option<vk::Extent3D>, n: u32) -> String {
    let e = e.unwrap_or_default();
    let depth = if e.depth > 1 { format!("x{}", e.depth) } else { String::new() };
    format!("{}x{}{depth}{}", e.width, e.height, regions(n))
}

fn size(whole: u64) -> String {
    if whole == vk::WHOLE_SIZE { "the rest of the buffer".into() } else { format!("{whole} bytes") }
}

/// The size of what a blit writes.
fn blitted(o: Option<[vk::Offset3D; 2]>, n: u32) -> String {
    let [a, b] = o.unwrap_or_default();
    let side = |a: i32, b: i32| a.abs_diff(b);
    extent(Some(vk::Extent3D { width: side(a.x, b.x), height: side(a.y, b.y), depth: side(a.z, b.z) }), n)
}

workloads! {
    Dispatch dispatch cmd_dispatch (x: u32, y: u32, z: u32)
        |d, r| dispatched(d, r, format!("vkCmdDispatch {x}x{y}x{z}")),
        empty: x == 0 || y == 0 || z == 0;
    Dispatch dispatch_indirect cmd_dispatch_indirect (buffer: vk::Buffer, offset: vk::DeviceSize)
        |d, r| dispatched(d, r, "vkCmdDispatchIndirect".into());
    Dispatch dispatch_base cmd_dispatch_base (bx: u32, by: u32, bz: u32, x: u32, y: u32, z: u32)
        |d, r| dispatched(d, r, format!("vkCmdDispatchBase {x}x{y}x{z}")),
        empty: x == 0 || y == 0 || z == 0;

    Copy copy_buffer cmd_copy_buffer (src: vk::Buffer, dst: vk::Buffer, n: u32, p: *const vk::BufferCopy)
        |d, r| format!("vkCmdCopyBuffer {} bytes{}{}", bytes(p, n), regions(n), d.names.between(src, dst));
    Copy copy_buffer2 cmd_copy_buffer2 (i: *const vk::CopyBufferInfo2<'_>)
        |d, r| {
            let i = &*i;
            let sum: u64 = slice(i.p_regions, i.region_count).iter().map(|r| r.size).sum();
            let between = d.names.between(i.src_buffer, i.dst_buffer);
            format!("vkCmdCopyBuffer2 {sum} bytes{}{between}", regions(i.region_count))
        };
    Copy copy_image cmd_copy_image (
        src: vk::Image, sl: vk::ImageLayout, dst: vk::Image, dl: vk::ImageLayout, n: u32, p: *const vk::ImageCopy
    ) |d, r| {
        let size = extent(slice(p, n).first().map(|r| r.extent), n);
        format!("vkCmdCopyImage {size}{}", d.names.between(src, dst))
    };
    Copy copy_image2 cmd_copy_image2 (i: *const vk::CopyImageInfo2<'_>)
        |d, r| {
            let i = &*i;
            let size = extent(slice(i.p_regions, i.region_count).first().map(|r| r.extent), i.region_count);
            format!("vkCmdCopyImage2 {size}{}", d.names.between(i.src_image, i.dst_image))
        };
    Copy copy_buffer_to_image cmd_copy_buffer_to_image (
        src: vk::Buffer, dst: vk::Image, l: vk::ImageLayout, n: u32, p: *const vk::BufferImageCopy
    ) |d, r| {
        let size = extent(slice(p, n).first().map(|r| r.image_extent), n);
        format!("vkCmdCopyBufferToImage {size}{}", d.names.between(src, dst))
    };
    Copy copy_buffer_to_image2 cmd_copy_buffer_to_image2 (i: *const vk::CopyBufferToImageInfo2<'_>)
        |d, r| {
            let i = &*i;
            let first = slice(i.p_regions, i.region_count).first().map(|r| r.image_extent);
            let between = d.names.between(i.src_buffer, i.dst_image);
            format!("vkCmdCopyBufferToImage2 {}{between}", extent(first, i.region_count))
        };
    Copy copy_image_to_buffer cmd_copy_image_to_buffer (
        src: vk::Image, l: vk::ImageLayout, dst: vk::Buffer, n: u32, p: *const vk::BufferImageCopy
    ) |d, r| {
        let size = extent(slice(p, n).first().map(|r| r.image_extent), n);
        format!("vkCmdCopyImageToBuffer {size}{}", d.names.between(src, dst))
    };
    Copy copy_image_to_buffer2 cmd_copy_image_to_buffer2 (i: *const vk::CopyImageToBufferInfo2<'_>)
        |d, r| {
            let i = &*i;
            let first = slice(i.p_regions, i.region_count).first().map(|r| r.image_extent);
            let between = d.names.between(i.src_image, i.dst_buffer);
            format!("vkCmdCopyImageToBuffer2 {}{between}", extent(first, i.region_count))
        };
    Copy copy_query_pool_results cmd_copy_query_pool_results (
        pool: vk::QueryPool, first: u32, n: u32, dst: vk::Buffer, offset: vk::DeviceSize, stride: vk::DeviceSize,
        flags: vk::QueryResultFlags
    ) |d, r| format!("vkCmdCopyQueryPoolResults {n} queries{}", d.names.between(pool, dst)),
        // Tuff's driver has no record of it: no engine of the GPU works on it.
        empty: true;

    Blit blit_image cmd_blit_image (
        src: vk::Image, sl: vk::ImageLayout, dst: vk::Image, dl: vk::ImageLayout, n: u32, p: *const vk::ImageBlit,
        filter: vk::Filter
    ) |d, r| {
        let size = blitted(slice(p, n).first().map(|r| r.dst_offsets), n);
        format!("vkCmdBlitImage {size}{}", d.names.between(src, dst))
    };
    Blit blit_image2 cmd_blit_image2 (i: *const vk::BlitImageInfo2<'_>)
        |d, r| {
            let i = &*i;
            let first = slice(i.p_regions, i.region_count).first().map(|r| r.dst_offsets);
            let between = d.names.between(i.src_image, i.dst_image);
            format!("vkCmdBlitImage2 {}{between}", blitted(first, i.region_count))
        };
    Resolve resolve_image cmd_resolve_image (
        src: vk::Image, sl: vk::ImageLayout, dst: vk::Image, dl: vk::ImageLayout, n: u32, p: *const vk::ImageResolve
    ) |d, r| {
        let size = extent(slice(p, n).first().map(|r| r.extent), n);
        format!("vkCmdResolveImage {size}{}", d.names.between(src, dst))
    };
    Resolve resolve_image2 cmd_resolve_image2 (i: *const vk::ResolveImageInfo2<'_>)
        |d, r| {
            let i = &*i;
            let first = slice(i.p_regions, i.region_count).first().map(|r| r.extent);
            let between = d.names.between(i.src_image, i.dst_image);
            format!("vkCmdResolveImage2 {}{between}", extent(first, i.region_count))
        };
    Clear clear_color_image cmd_clear_color_image (
        image: vk::Image, l: vk::ImageLayout, v: *const vk::ClearColorValue, n: u32,
        p: *const vk::ImageSubresourceRange
    ) |d, r| d.names.with(image, format!("vkCmdClearColorImage{}", regions(n)));
    Clear clear_depth_stencil_image cmd_clear_depth_stencil_image (
        image: vk::Image, l: vk::ImageLayout, v: *const vk::ClearDepthStencilValue, n: u32,
        p: *const vk::ImageSubresourceRange
    ) |d, r| d.names.with(image, format!("vkCmdClearDepthStencilImage{}", regions(n)));
    Fill fill_buffer cmd_fill_buffer (
        buffer: vk::Buffer, offset: vk::DeviceSize, bytes: vk::DeviceSize, v: u32
    ) |d, r| d.names.with(buffer, format!("vkCmdFillBuffer {}", size(bytes)));
    Update update_buffer cmd_update_buffer (
        buffer: vk::Buffer, offset: vk::DeviceSize, bytes: vk::DeviceSize, p: *const c_void
    ) |d, r| d.names.with(buffer, format!("vkCmdUpdateBuffer {bytes} bytes"));
}
