//! What lost a device (VK_KHR_device_fault, VK_EXT_device_fault): the line of the log, and the address that was accessed.

use crate::base::chain;
use crate::base::given::{Fill, List, OutSlice};
use crate::device::Device;
use machine::lost::{Told, Why};
use std::ffi::c_char;
use vk::DeviceFaultFlagsKHR as Flags;

fn address(t: &Told) -> vk::DeviceFaultAddressInfoKHR {
    let (kind, at) = match t.why {
        Why::Read(at) => (vk::DeviceFaultAddressTypeKHR::READ_INVALID, at),
        Why::Write(at) => (vk::DeviceFaultAddressTypeKHR::WRITE_INVALID, at),
        _ => (vk::DeviceFaultAddressTypeKHR::NONE, 0),
    };
    // To the byte.
    vk::DeviceFaultAddressInfoKHR { address_type: kind, reported_address: at, address_precision: 1 }
}

fn has_address(t: &Told) -> bool {
    matches!(t.why, Why::Read(_) | Why::Write(_))
}

/// The line whole, as far as there is room.
fn vendor(t: &Told) -> vk::DeviceFaultVendorInfoKHR {
    let mut v = vk::DeviceFaultVendorInfoKHR::default();
    describe(&mut v.description, t);
    v
}

fn describe<const N: usize>(out: &mut [c_char; N], t: &Told) {
    chain::write_str(out, t.line.trim_start_matches("device fault: "));
}

pub(crate) fn get_device_fault_info_ext(
    device: &Device,
    mut counts: Fill<vk::DeviceFaultCountsEXT>,
    info: Option<Fill<vk::DeviceFaultInfoEXT>>,
) -> vk::Result {
    let first = device.gpu.shared.faults.lock().all.first().cloned();
    let addresses: Vec<_> = first.iter().filter(|t| has_address(t)).map(address).collect();
    let vendors: Vec<_> = first.iter().map(vendor).collect();
    counts.vendor_binary_size = 0;
    let Some(mut info) = info else {
        counts.address_info_count = addresses.len() as u32;
        counts.vendor_info_count = vendors.len() as u32;
        return vk::Result::SUCCESS;
    };
    match &first {
        Some(t) => describe(&mut info.description, t),
        None => chain::write_str(&mut info.description, "no fault"),
    }
    // Where there is room for them; an array that is not there is not asked for.
    let mut whole = true;
    let counts = &mut *counts;
    for (n, wanted, there) in [
        (&mut counts.address_info_count, addresses.len(), !info.p_address_infos.is_null()),
        (&mut counts.vendor_info_count, vendors.len(), !info.p_vendor_infos.is_null()),
    ] {
        let fits = if there { wanted.min(*n as usize) } else { 0 };
        whole &= fits == wanted;
        *n = fits as u32;
    }
    // SAFETY: of arrays that are there, no more than the application has room for. (ash says that the members are single
    // structures of an older type.)
    unsafe {
        let n = counts.address_info_count as usize;
        OutSlice::new(info.p_address_infos.cast(), n).copy(&addresses);
        OutSlice::new(info.p_vendor_infos.cast(), counts.vendor_info_count as usize).copy(&vendors);
    }
    if whole { vk::Result::SUCCESS } else { vk::Result::INCOMPLETE }
}

pub(crate) fn get_device_fault_reports_khr(
    device: &Device,
    timeout: u64,
    out: List<vk::DeviceFaultInfoKHR>,
) -> vk::Result {
    let faults = &device.gpu.shared.faults;
    let there = || !faults.lock().unread().is_empty();
    // A lost device ends the wait: it was lost by a fault that is there, or by none that is known.
    device.hub().wait(timeout, there);
    let faults = &mut *faults.lock();
    let unread = faults.unread();
    let (n, first) = (unread.len(), faults.all.len() - unread.len());
    let read = out.room().map_or(0, |room| room.min(n));
    let result = out.fill_with(n, |mut info, i| {
        let t = &unread[i];
        let why = match t.why {
            Why::Read(_) | Why::Write(_) => Flags::FLAG_MEMORY_ADDRESS,
            Why::Watchdog => Flags::FLAG_WATCHDOG_TIMEOUT,
            Why::Other => Flags::empty(),
        };
        info.flags = Flags::FLAG_DEVICE_LOST | Flags::FLAG_VENDOR | why;
        info.group_id = (first + i) as u64;
        describe(&mut info.description, t);
        info.fault_address_info = address(t);
        info.instruction_address_info = Default::default();
        info.vendor_info = vendor(t);
    });
    if n == 0 {
        return vk::Result::TIMEOUT;
    }
    faults.read += read;
    result
}

/// No dumps are made (deviceFaultVendorBinary is off).
pub(crate) fn get_device_fault_debug_info_khr(
    _: &Device,
    mut info: Fill<vk::DeviceFaultDebugInfoKHR>,
) -> vk::Result {
    info.vendor_binary_size = 0;
    vk::Result::SUCCESS
}
