//! VK_LAYER_TUFF_gpu_performance: how long each workload took on the GPU, and on Tuff what it cost, on any driver of
//! Vulkan 1.1 with timeline semaphores. What it measures and its settings: docs/gpu-performance-layer.md.
//!
//! The way of a workload: `commands` and `passes` put timestamps around it while it is recorded ([`recording`]); at
//! vkEndCommandBuffer that is fixed ([`recorded`]). At a submission ([`submit`]) the queue ([`queue`]) gives the batch
//! its place in the line ([`line`]) and a command buffer that copies the timestamps to memory of this submission's own
//! ([`arena`]), so a command buffer may be submitted again at any time. When a timeline semaphore says that the batch has ended, they
//! become rows ([`rows`]) of the output ([`output`]), with counters of the driver's records ([`counters`]) or of queries
//! ([`queries`]).
//!
//! What the program passes is never changed: chains are copied ([`chain`]). Locks are taken in the order queue, line,
//! recording, output; none is held while another thread's work is waited for.

#![allow(non_snake_case, reason = "the loader's name for the library")]

mod arena;
mod chain;
mod counters;
mod device;
#[cfg_attr(unix, path = "end/unix.rs")]
#[cfg_attr(windows, path = "end/windows.rs")]
mod end;
mod entry;
mod frames;
mod generated;
mod guard;
mod instance;
mod interface;
mod line;
mod names;
mod output;
mod queries;
mod queue;
mod recorded;
mod recording;
mod rows;
mod settings;
mod slots;
mod submit;
mod table;

pub use interface::NegotiateInterface;

use ash::vk;
use std::ffi::CStr;
use std::io::Write;

/// The layer's name.
pub const NAME: &CStr = c"VK_LAYER_TUFF_gpu_performance";

/// A line on stderr. Nobody is there to be told that it cannot be written.
fn say(line: &str) {
    let line = format!("VK_LAYER_TUFF_gpu_performance: {}\n", plain::line(line));
    let _ = files::within_limits(|| std::io::stderr().write_all(line.as_bytes()));
}

/// The loader's first call: which interface both speak, and where the layer's functions are.
///
/// # Safety
/// `about` is null or the loader's structure.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    about: *mut NegotiateInterface,
) -> vk::Result {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let Some(about) = about.as_mut().filter(|a| a.s_type == interface::NEGOTIATE) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        end::prepare();
        about.version = about.version.min(interface::VERSION);
        if about.version >= 2 {
            about.get_instance_proc_addr = Some(entry::get_instance_proc_addr);
            about.get_device_proc_addr = Some(entry::get_device_proc_addr);
            about.get_physical_device_proc_addr = None;
        }
        vk::Result::SUCCESS
    }
}
