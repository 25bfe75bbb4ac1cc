//! VK_KHR_performance_query: the catalogue's counters, all of command scope and 8 bytes; the profiling lock.

use crate::answer::{Answer, invalid};
use crate::chain;
use crate::device::Device;
use crate::physical_device::PhysicalDevice;
use counters::{Counter, Measure, Storage};
use gpu::query::{Kind, performance_passes};

fn unit(m: Measure) -> vk::PerformanceCounterUnitKHR {
    match m {
        Measure::Generic => vk::PerformanceCounterUnitKHR::GENERIC,
        Measure::Percentage => vk::PerformanceCounterUnitKHR::PERCENTAGE,
        Measure::Nanoseconds => vk::PerformanceCounterUnitKHR::NANOSECONDS,
        Measure::Bytes => vk::PerformanceCounterUnitKHR::BYTES,
        Measure::BytesPerSecond => vk::PerformanceCounterUnitKHR::BYTES_PER_SECOND,
        Measure::Cycles => vk::PerformanceCounterUnitKHR::CYCLES,
    }
}

fn storage(s: Storage) -> vk::PerformanceCounterStorageKHR {
    match s {
        Storage::Uint64 => vk::PerformanceCounterStorageKHR::UINT64,
        Storage::Float64 => vk::PerformanceCounterStorageKHR::FLOAT64,
    }
}

/// Both arrays are optional, and one may come without the other.
pub(crate) unsafe fn enumerate_physical_device_queue_family_performance_query_counters_khr(
    _: &PhysicalDevice,
    family: u32,
    count: *mut u32,
    counters: *mut vk::PerformanceCounterKHR<'_>,
    descriptions: *mut vk::PerformanceCounterDescriptionKHR<'_>,
) -> vk::Result {
    let all: &[&Counter] = if family == 0 { counters::catalogue::reported() } else { &[] };
    let asked = *count;
    let mut result = chain::fill_with(all.len(), count, counters, |out, i| {
        out.unit = unit(all[i].measure());
        out.scope = vk::PerformanceCounterScopeKHR::COMMAND;
        out.storage = storage(all[i].storage);
        out.uuid = all[i].uuid();
    });
    if !descriptions.is_null() {
        *count = asked;
        result = chain::fill_with(all.len(), count, descriptions, |out, i| {
            out.flags = vk::PerformanceCounterDescriptionFlagsKHR::empty();
            chain::write_str(&mut out.name, all[i].human);
            chain::write_str(&mut out.category, all[i].block.title());
            chain::write_str(&mut out.description, all[i].description);
        });
    }
    result
}

pub(crate) unsafe fn get_physical_device_queue_family_performance_query_passes_khr(
    _: &PhysicalDevice,
    info: *const vk::QueryPoolPerformanceCreateInfoKHR<'_>,
    passes: *mut u32,
) {
    *passes = performance_passes((*info).counter_index_count as usize, slots());
}

fn slots() -> u32 {
    counters::model::current().counter_slots
}

/// What a pool of performance queries measures.
///
/// # Safety
/// `info` is valid with its chain.
pub(crate) unsafe fn kind(info: &vk::QueryPoolCreateInfo<'_>) -> Answer<Kind> {
    let Some(p) = chain::find::<vk::QueryPoolPerformanceCreateInfoKHR>(info.p_next) else {
        return Err(invalid(
            "vkCreateQueryPool: performance queries without VkQueryPoolPerformanceCreateInfoKHR",
        ));
    };
    let all = counters::catalogue::reported();
    let indices = chain::slice(p.p_counter_indices, p.counter_index_count);
    let counters: Option<Vec<_>> = indices.iter().map(|&i| all.get(i as usize).copied()).collect();
    match counters {
        Some(counters) if p.queue_family_index == 0 && !counters.is_empty() => {
            Ok(Kind::Performance { counters, per_pass: slots() })
        }
        _ => Err(invalid(&format!(
            "vkCreateQueryPool: counters {indices:?} of queue family {}; family 0 has {}",
            p.queue_family_index,
            all.len()
        ))),
    }
}

/// Counting is always on and each queue's counts are its own, so any number of actors may hold the lock at once.
pub(crate) unsafe fn acquire_profiling_lock_khr(
    device: &Device,
    _: *const vk::AcquireProfilingLockInfoKHR<'_>,
) -> vk::Result {
    device.alive()
}

pub(crate) unsafe fn release_profiling_lock_khr(_: &Device) {}
