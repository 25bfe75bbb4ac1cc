//! Counter mode by VK_KHR_performance_query: a query around each workload, of the counters that one submission can have.
//!
//! What the extension asks for, and what follows from it:
//!
//! - The profiling lock is held while command buffers are recorded: from the device's creation to its end.
//! - A query is not reset by the command buffer that begins it (VUID-vkCmdBeginQuery-None-02863). The host does it, once
//!   it has read the results, before the command buffer can be submitted or recorded again. What may be pending several
//!   times is copied for each submission, and reset by a command buffer in front of it. (Of that the Khronos validation
//!   layers complain: to 1.3.239 a reset in the same call is one in the same command buffer, and a copy must be recorded
//!   after its query has ended, to 1.4.360 too.) A secondary that is executed again in one primary would need a
//!   reset in between, so only those that are submitted once have queries.
//! - A query ends in the command buffer that began it: a suspended pass has none.
//! - Two performance queries may not be active at once, and a pass cannot know what will begin in it: while the program
//!   has pools of its own, nothing more is counted.

use crate::device::Device;
use crate::instance::{Instance, PerformanceQuery};
use crate::output::Value;
use crate::recorded::{Recorded, Use};
use crate::slots::{POOL, Pools, Slot};
use crate::table::{Table, next};
use ash::vk;
use parking_lot::Mutex;
use std::collections::HashSet;
use vk::PerformanceCounterStorageKHR as Storage;

/// A queue family's counters.
struct Family {
    /// Places of the columns among the output's names, and how values are stored, in the order of results.
    columns: Vec<(usize, Storage)>,
    pools: Pools,
}

pub(crate) struct Queries {
    can: PerformanceQuery,
    /// By queue family.
    families: Vec<Family>,
    /// Of all families.
    names: Vec<String>,
    /// Performance query pools of the program's own.
    foreign: Mutex<HashSet<vk::QueryPool>>,
}

/// A counter's name within its family: the driver's, with its category where that is needed.
fn unique(names: &mut Vec<String>, name: &str, category: &str) {
    let name = match names.iter().any(|n| n == name) {
        true => format!("{category}: {name}"),
        false => name.into(),
    };
    names.push(name);
}

/// Of these, in order, those that still need one pass together.
fn one_pass(all: Vec<u32>, passes: impl Fn(&[u32]) -> u32) -> Vec<u32> {
    if passes(&all) == 1 {
        return all;
    }
    let mut kept = Vec::with_capacity(all.len());
    for counter in all {
        kept.push(counter);
        if passes(&kept) != 1 {
            kept.pop();
        }
    }
    kept
}

impl Queries {
    /// Of a device whose creation asked for what is needed, which `can` do this. `wanted` names counters, none of them: all. An error says why
    /// there are no counters.
    pub unsafe fn open(
        instance: &Instance,
        (physical, device): (vk::PhysicalDevice, vk::Device),
        table: &Table,
        can: PerformanceQuery,
        families: u32,
        wanted: &[String],
    ) -> Result<Queries, String> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            // A result is two kilobytes of counters: small command buffers are not to have many for nothing.
            let size = if can.multiple_pools { 8 } else { POOL };
            let (mut names, mut known, mut left_out) = (vec![], vec![], vec![]);
            let families: Vec<Family> = (0..families)
                .map(|f| {
                    family(instance, physical, (f, size), wanted, (&mut names, &mut known, &mut left_out))
                })
                .collect();
            for w in wanted.iter().filter(|w| !known.contains(w)) {
                crate::say(&format!("setting 'counters': there is no {w}"));
            }
            // Several families may lack the same ones.
            let mut told = HashSet::new();
            left_out.retain(|name: &String| told.insert(name.clone()));
            if !left_out.is_empty() {
                crate::say(&format!("left out, for a query does not have them too: {}", left_out.join(", ")));
            }
            if names.is_empty() {
                return Err("the driver has no counters for its queues".into());
            }
            let acquire = table.acquire_profiling_lock.ok_or("the driver has no profiling lock")?;
            acquire(device, &vk::AcquireProfilingLockInfoKHR::default()).result().map_err(|e| {
                format!("the profiling lock is not to be had: vkAcquireProfilingLockKHR: {e:?}")
            })?;
            Ok(Queries { can, families, names, foreign: Mutex::default() })
        }
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Why a workload cannot be counted: it takes a pool after the command buffer's first, `another`, or is in one that is
    /// `secondary`, or that may be pending several times, `simultaneous`.
    pub fn refusal(
        &self,
        family: u32,
        another: bool,
        secondary: bool,
        simultaneous: bool,
    ) -> Option<&'static str> {
        if self.words(family) == 0 {
            Some("not counted: the queue family has no counters")
        } else if !self.foreign.lock().is_empty() {
            Some("not counted: the program has performance queries of its own")
        } else if !self.can.multiple_pools && (secondary || another) {
            Some("not counted: the driver has one pool of performance queries for a command buffer")
        } else if !self.can.copies && simultaneous {
            Some(
                "not counted: the driver does not copy performance queries, and it may be submitted again meanwhile",
            )
        } else {
            None
        }
    }

    /// 64-bit words of a query's result.
    pub fn words(&self, family: u32) -> u32 {
        self.families.get(family as usize).map_or(0, |f| f.columns.len() as u32)
    }

    pub fn pools(&self, family: u32) -> Option<&Pools> {
        self.families.get(family as usize).map(|f| &f.pools)
    }

    /// The output's values of a query that has ended; `memory` gives words that were copied.
    pub unsafe fn values(
        &self,
        d: &Device,
        recorded: &Recorded,
        slot: Slot,
        memory: impl Fn(usize) -> Option<u64>,
    ) -> Option<Vec<Value>> {
        // SAFETY: the caller's.
        unsafe {
            let family = self.families.get(recorded.family as usize)?;
            let count = family.columns.len();
            let pool = &recorded.pools[slot.pool as usize];
            let words: Vec<u64> = if let Use::Counts { copied: true, .. } = pool.what {
                let at = recorded.place(slot);
                (at..at + count).map(memory).collect::<Option<_>>()?
            } else {
                let mut words = vec![0u64; count];
                let (pool, size) = (pool.pool, count * 8);
                let (to, none) = (words.as_mut_ptr().cast(), vk::QueryResultFlags::empty());
                let missing = vk::Result::NOT_READY;
                let result = next!(d, get_query_pool_results(d.handle, pool, slot.query, 1, size, to, size as u64, none), else missing);
                (result == vk::Result::SUCCESS).then_some(words)?
            };
            let mut values = vec![Value::None; self.names.len()];
            for ((at, storage), word) in family.columns.iter().zip(words) {
                values[*at] = value(*storage, word);
            }
            Some(values)
        }
    }

    /// The program has made a pool.
    pub fn made(&self, pool: vk::QueryPool) {
        self.foreign.lock().insert(pool);
    }

    pub fn destroyed(&self, pool: vk::QueryPool) {
        self.foreign.lock().remove(&pool);
    }

    /// How many pools there are, and how many of them are free.
    pub fn counts(&self) -> (usize, usize) {
        let all = self.families.iter().map(|f| f.pools.counts());
        all.fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1))
    }

    pub unsafe fn destroy(&self, handle: vk::Device, table: &Table) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            self.families.iter().for_each(|f| f.pools.destroy(handle, table));
            if let Some(release) = table.release_profiling_lock {
                release(handle);
            }
        }
    }
}

/// A family's counters: those that are wanted, that a query around any workload may have, and that one pass has. `names`
/// are the output's so far, `known` all that any family has, `left_out` what another query would need.
unsafe fn family(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    (family, size): (u32, u32),
    wanted: &[String],
    (names, known, left_out): (&mut Vec<String>, &mut Vec<String>, &mut Vec<String>),
) -> Family {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let all = instance.counters(physical, family);
        let mut own = Vec::with_capacity(all.len());
        for c in &all {
            let text = |t: Result<&std::ffi::CStr, _>| t.unwrap_or(c"?").to_string_lossy().into_owned();
            unique(&mut own, &text(c.text.name_as_c_str()), &text(c.text.category_as_c_str()));
        }
        known.extend(own.iter().filter(|n| wanted.contains(n)).cloned());
        let is_wanted = |i: &u32| wanted.is_empty() || wanted.contains(&own[*i as usize]);
        // A workload is not a command buffer.
        let has_scope =
            |i: &u32| all[*i as usize].counter.scope != vk::PerformanceCounterScopeKHR::COMMAND_BUFFER;
        let fit: Vec<u32> = (0..all.len() as u32).filter(is_wanted).filter(has_scope).collect();
        let kept = one_pass(fit, |c| if c.is_empty() { 1 } else { instance.passes(physical, family, c) });
        let is_kept = |i: &u32| kept.binary_search(i).is_ok();
        left_out.extend(
            (0..all.len() as u32).filter(|i| is_wanted(i) && !is_kept(i)).map(|i| own[i as usize].clone()),
        );
        let mut column = |i: &u32| {
            let name = &own[*i as usize];
            let at = names.iter().position(|n| n == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            (at, all[*i as usize].counter.storage)
        };
        let columns = kept.iter().map(&mut column).collect();
        Family { columns, pools: Pools::of_counters(size, family, kept) }
    }
}

/// The value in a VkPerformanceCounterResultKHR.
fn value(storage: Storage, word: u64) -> Value {
    match storage {
        Storage::INT32 => Value::Signed(i64::from(word as i32)),
        Storage::INT64 => Value::Signed(word as i64),
        Storage::UINT32 => Value::Whole(u64::from(word as u32)),
        Storage::FLOAT32 => Value::Float(f64::from(f32::from_bits(word as u32))),
        Storage::FLOAT64 => Value::Float(f64::from_bits(word)),
        _ => Value::Whole(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_another_pass_is_left_out() {
        // Even counters share three slots; each odd one takes a pass of its own.
        let passes = |c: &[u32]| {
            let odd = c.iter().filter(|i| **i % 2 == 1).count() as u32;
            let even = c.len() as u32 - odd;
            odd + even.div_ceil(3)
        };
        assert_eq!(one_pass(vec![0, 2, 4], passes), [0, 2, 4]);
        assert_eq!(one_pass((0..9).collect(), passes), [0, 2, 4]);
        assert_eq!(one_pass(vec![1, 2, 3], passes), [1]);
    }

    #[test]
    fn values_are_read_as_they_are_stored() {
        // What lies in the upper half of a 32-bit one is nobody's.
        let upper = 0xDEAD_0000_0000_0000;
        assert_eq!(value(Storage::INT32, upper | u64::from(u32::MAX)), Value::Signed(-1));
        assert_eq!(value(Storage::UINT32, upper | 7), Value::Whole(7));
        assert_eq!(value(Storage::FLOAT32, upper | u64::from(0.5f32.to_bits())), Value::Float(0.5));
        assert_eq!(value(Storage::FLOAT64, 0.25f64.to_bits()), Value::Float(0.25));
        assert_eq!(value(Storage::INT64, u64::MAX), Value::Signed(-1));
        assert_eq!(value(Storage::UINT64, u64::MAX), Value::Whole(u64::MAX));
    }

    #[test]
    fn names_are_told_apart_by_their_category() {
        let mut names = vec![];
        for category in ["L2", "Core"] {
            unique(&mut names, "Cycles", category);
        }
        assert_eq!(names, ["Cycles", "Core: Cycles"]);
    }
}
