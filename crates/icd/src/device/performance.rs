//! VK_KHR_performance_query: the catalogue's counters, all of command scope and 8 bytes; the profiling lock.
//! VK_ARM_performance_counters_by_region: those of them that every 64 × 64 task has, by their stable ids.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::debug::log_error;
use crate::base::given::{In, List, Out, array};
use crate::device::Device;
use crate::instance::physical_device::{PhysicalDevice, family};
use counters::{Counter, Measure, Storage};
use gpu::query::{QueryKind, performance_passes};
use raster::pass::Subpass;
use raster::regions::{MAX_COUNTERS, Regions};

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

fn storage(c: &Counter) -> vk::PerformanceCounterStorageKHR {
    use settings::Storage as As;
    use vk::PerformanceCounterStorageKHR as Told;
    match (settings::get().interfaces.storage, c.storage) {
        (Some(As::Int32), _) => Told::INT32,
        (Some(As::Int64), _) => Told::INT64,
        (Some(As::Uint32), _) => Told::UINT32,
        (Some(As::Uint64), _) | (None, Storage::Uint64) => Told::UINT64,
        (Some(As::Float32), _) => Told::FLOAT32,
        (Some(As::Float64), _) | (None, Storage::Float64) => Told::FLOAT64,
    }
}

/// Both arrays are optional, and one may come without the other.
pub(crate) unsafe fn enumerate_physical_device_queue_family_performance_query_counters_khr(
    _: &PhysicalDevice,
    index: u32,
    count: &mut u32,
    counters: *mut vk::PerformanceCounterKHR<'_>,
    descriptions: *mut vk::PerformanceCounterDescriptionKHR<'_>,
) -> vk::Result {
    let all: &[&Counter] = if family(index).is_some() { counters::catalogue::modelled() } else { &[] };
    let asked = *count;
    let mut result = // SAFETY: valid usage: an array that is there has room for its count.
        unsafe { List::new(count, counters) }.fill_with(all.len(), |mut out, i| {
        out.unit = unit(all[i].measure());
        out.scope = vk::PerformanceCounterScopeKHR::COMMAND;
        out.storage = storage(all[i]);
        out.uuid = all[i].uuid();
    });
    if !descriptions.is_null() {
        *count = asked;
        result = // SAFETY: valid usage: an array that is there has room for its count.
        unsafe { List::new(count, descriptions) }.fill_with(all.len(), |mut out, i| {
            out.flags = match all[i].is_shared() {
                true => vk::PerformanceCounterDescriptionFlagsKHR::CONCURRENTLY_IMPACTED,
                false => vk::PerformanceCounterDescriptionFlagsKHR::empty(),
            };
            chain::write_str(&mut out.name, all[i].human);
            chain::write_str(&mut out.category, all[i].block.title());
            chain::write_str(&mut out.description, all[i].description);
        });
    }
    result
}

pub(crate) fn get_physical_device_queue_family_performance_query_passes_khr(
    _: &PhysicalDevice,
    info: In<vk::QueryPoolPerformanceCreateInfoKHR>,
    passes: Out<u32>,
) {
    let counters = info.counter_index_count as usize;
    passes.set(performance_passes(counters, slots()));
}

/// Counters that a pass has; 0: all.
fn slots() -> u32 {
    match settings::get().interfaces.passes {
        0 => counters::model::current().counter_slots,
        passes => (counters::catalogue::modelled().len() as u32).div_ceil(passes),
    }
}

/// What a pool of performance queries measures.
///
/// # Safety
/// `info` is valid with its chain.
pub(crate) fn kind(info: In<vk::QueryPoolCreateInfo>) -> Answer<QueryKind> {
    let Some(p) = info.find::<vk::QueryPoolPerformanceCreateInfoKHR>() else {
        return Err(invalid(
            "vkCreateQueryPool: performance queries without VkQueryPoolPerformanceCreateInfoKHR",
        ));
    };
    let all = counters::catalogue::modelled();
    let indices = p.counter_indices();
    let counters: Option<Vec<_>> = indices.iter().map(|&i| all.get(i as usize).copied()).collect();
    match counters {
        Some(counters) if family(p.queue_family_index).is_some() && !counters.is_empty() => {
            let (per_pass, storage) = (slots(), settings::get().interfaces.storage);
            Ok(QueryKind::Performance { counters, per_pass, storage })
        }
        _ => Err(invalid(&format!(
            "vkCreateQueryPool: counters {indices:?} of queue family {}; each family has {}",
            p.queue_family_index,
            all.len()
        ))),
    }
}

/// Applications are known to give other structure types: these are not looked at.
pub(crate) unsafe fn enumerate_physical_device_queue_family_performance_counters_by_region_arm(
    _: &PhysicalDevice,
    index: u32,
    count: &mut u32,
    counters: *mut vk::PerformanceCounterARM<'_>,
    descriptions: *mut vk::PerformanceCounterDescriptionARM<'_>,
) -> vk::Result {
    let all: &[&Counter] = match family(index) {
        Some(f) if f.draws() => counters::catalogue::by_task(),
        _ => &[],
    };
    let asked = *count;
    let mut result = // SAFETY: valid usage: an array that is there has room for its count.
        unsafe { List::new(count, counters) }.fill_with(all.len(), |mut out, i| out.counter_id = all[i].id);
    if !descriptions.is_null() {
        *count = asked;
        result = // SAFETY: valid usage: an array that is there has room for its count.
        unsafe { List::new(count, descriptions) }.fill_with(all.len(), |mut out, i| {
            out.flags = vk::PerformanceCounterDescriptionFlagsARM::empty();
            chain::write_str(&mut out.name, all[i].human);
        });
    }
    result
}

/// What a render pass instance of these subpasses and layers asks to be written for each region. Misuse gets a line in
/// the log; nothing is written for more counters than there are at a time, or after the last subpass.
pub(crate) fn regions(
    info: In<vk::RenderPassPerformanceCountersByRegionBeginInfoARM>,
    subpasses: &[Subpass],
    layers: u32,
) -> Option<Regions> {
    if info.counter_index_count > MAX_COUNTERS {
        log_error(&format!(
            "{} counters by region; the device has {MAX_COUNTERS} at a time",
            info.counter_index_count
        ));
        return None;
    }
    let all = counters::catalogue::by_task();
    let find = |&id: &u32| {
        let found = all.iter().copied().find(|c| c.id == id);
        if found.is_none() {
            log_error(&format!("no counter by region has the id {id}: its values are 0"));
        }
        found
    };
    // SAFETY: an array of this length that the driver only reads, although vk.xml does not declare it const.
    let ids = unsafe { array(info.p_counter_indices, info.counter_index_count as usize) };
    let addresses = info.counter_addresses();
    let layers = raster::pass::layers(subpasses, layers) as usize;
    let wanted = subpasses.len() * layers;
    if addresses.len() != wanted {
        log_error(&format!(
            "{} addresses of counters by region for {} subpasses of {layers} layers or views",
            addresses.len(),
            subpasses.len(),
        ));
    }
    gpu::exclusive::expect();
    Some(Regions {
        addresses: addresses[..addresses.len().min(wanted)].to_vec(),
        counters: ids.iter().map(find).collect(),
        serialize: info.serialize_regions != vk::FALSE,
        rotated: settings::get().interfaces.rotated_regions,
    })
}

/// Counting is always on and each queue's counts are its own, so any number of actors may hold the lock at once, unless the settings
/// ask for one that is held.
pub(crate) fn acquire_profiling_lock_khr(
    device: &Device,
    info: In<vk::AcquireProfilingLockInfoKHR>,
) -> vk::Result {
    let timeout = std::time::Duration::from_nanos(info.timeout);
    let alive = device.alive();
    if alive != vk::Result::SUCCESS || crate::device::profiling_lock::acquire(device.gpu.number, timeout) {
        return alive;
    }
    vk::Result::TIMEOUT
}

pub(crate) fn release_profiling_lock_khr(device: &Device) {
    crate::device::profiling_lock::release(device.gpu.number);
}
