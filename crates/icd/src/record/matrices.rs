//! Conversions of matrices for cooperative vectors (VK_NV_cooperative_vector), by the host and by the device.

use super::address;
use crate::base::debug;
use crate::base::given::In;
use crate::device::Device;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::matrix::{Conversion, Side};

type Info<'a> = In<'a, vk::ConvertCooperativeVectorMatrixInfoNV<'a>>;

const HOST: &str = "vkConvertCooperativeVectorMatrixNV";
const DEVICE: &str = "vkCmdConvertCooperativeVectorMatrixNV";

fn side(component: vk::ComponentTypeKHR, layout: vk::CooperativeVectorMatrixLayoutNV, stride: usize) -> Side {
    Side { component: component.as_raw() as u32, layout: layout.as_raw() as u32, stride: stride as u64 }
}

fn destination(i: Info) -> Side {
    side(i.dst_component_type, i.dst_layout, i.dst_stride)
}

/// Logs what is wrong.
fn good<T>(r: Result<T, String>, call: &str) -> Option<T> {
    r.inspect_err(|why| debug::log_error(&format!("{call}: {why}"))).ok()
}

fn conversion(i: Info, call: &str) -> Option<Conversion> {
    let from = side(i.src_component_type, i.src_layout, i.src_stride);
    good(Conversion::new([i.num_rows, i.num_columns], from, destination(i)), call)
}

/// Whether the source has its bytes and lies apart from the destination.
fn fits(c: &Conversion, i: Info, [src, dst]: [u64; 2], call: &str) -> bool {
    if (i.src_size as u64) < c.reads {
        debug::log_error(&format!("{call}: a source of {} bytes has {}", c.reads, i.src_size));
        return false;
    }
    if src < dst.saturating_add(c.writes) && dst < src.saturating_add(c.reads) {
        debug::log_error(&format!("{call}: the source and the destination overlap"));
        return false;
    }
    true
}

pub(crate) fn convert_cooperative_vector_matrix_nv(_: &Device, info: Info) -> vk::Result {
    let size = info.p_dst_size;
    // SAFETY: both are addresses of the host (valid usage).
    let (src, dst) = unsafe { (info.src_data.host_address, info.dst_data.host_address) };
    if size.is_null() || src.is_null() && !dst.is_null() {
        debug::log_error(&format!("{HOST}: no source, or no size of the destination"));
        return vk::Result::ERROR_UNKNOWN;
    }
    // SAFETY: it points at the application's number, which only this call uses meanwhile (valid usage).
    let size = unsafe { &mut *size };
    if dst.is_null() {
        let room = Conversion::room([info.num_rows, info.num_columns], destination(info));
        let Some(room) = good(room, HOST) else { return vk::Result::ERROR_UNKNOWN };
        *size = room as usize;
        return vk::Result::SUCCESS;
    }
    let Some(c) = conversion(info, HOST) else { return vk::Result::ERROR_UNKNOWN };
    if (*size as u64) < c.writes {
        return vk::Result::INCOMPLETE;
    }
    if !fits(&c, info, [src as u64, dst as u64], HOST) {
        return vk::Result::ERROR_UNKNOWN;
    }
    // SAFETY: the application says that so much memory is there (valid usage), and it has been checked to be enough.
    unsafe { c.run(src.cast(), dst.cast()) };
    *size = (*size).min(c.room as usize);
    vk::Result::SUCCESS
}

pub(crate) fn cmd_convert_cooperative_vector_matrix_nv(
    b: &CommandBuffer,
    infos: In<[vk::ConvertCooperativeVectorMatrixInfoNV]>,
) {
    for i in infos {
        let Some(c) = conversion(i, DEVICE) else { continue };
        // SAFETY: both are addresses of the device; the size points at a number (valid usage).
        let (src, dst, room) =
            unsafe { (i.src_data.device_address, i.dst_data.device_address, i.p_dst_size.as_ref().copied()) };
        if !fits(&c, i, [src, dst], DEVICE) {
            continue;
        }
        if room.is_none_or(|room| (room as u64) < c.writes) {
            debug::log_error(&format!("{DEVICE}: a destination of {} bytes has {room:?}", c.writes));
            continue;
        }
        let (Some(src), Some(dst)) =
            (address::range(b, src, c.reads, DEVICE), address::range(b, dst, c.writes, DEVICE))
        else {
            continue;
        };
        if src.size < c.reads || dst.size < c.writes {
            continue;
        }
        if let Some(mut r) = b.recording() {
            r.push(Command::ConvertMatrix { src, dst, conversion: Box::new(c) });
        }
    }
}
