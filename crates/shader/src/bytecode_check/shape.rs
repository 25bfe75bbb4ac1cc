//! Lanes, workgroups, sizes of memory, the profile's numbers.

use super::wrong;
use crate::build::MAX_INSTRUCTIONS;
use crate::bytecode::{MAX_UNITS, MOST_QUERIES, Program};
use crate::cost::{Cost, Ways};
use crate::options::Result;

/// Invocations of a workgroup: more than any limit that is reported.
const MOST_INVOCATIONS: u64 = 1 << 14;
/// Bytes of a workgroup's memory or a patch's, and private words: as the translation bounds them.
const MOST_SHARED: u32 = 1 << 20;
const MOST_SCRATCH: u32 = 1 << 17;
/// Instructions that a counter stands for: sums over waves stay within 64 bits.
const MOST_COST: u32 = 1 << 24;

pub fn check(p: &Program) -> Result<()> {
    let when = |bad: bool, what: &str| if bad { Err(wrong(what)) } else { Ok(()) };
    when(!matches!(p.lanes, 64 | 128 | 256), "lanes")?;
    when(p.units as usize > MAX_UNITS || p.handles > p.units, "units")?;
    let invocations = p.workgroup.iter().try_fold(1u64, |n, k| n.checked_mul(*k as u64)).unwrap_or(u64::MAX);
    when(!(1..=MOST_INVOCATIONS).contains(&invocations), "workgroup")?;
    let warps = (invocations as u32).div_ceil(16);
    let packed = p.stage.has_workgroups() && warps * 2 <= p.lanes / 16;
    when(p.packed != packed || p.multi_wave != (warps * 16 > p.lanes), "how workgroups lie in waves")?;
    when(p.shared_bytes > MOST_SHARED || p.scratch_words > MOST_SCRATCH, "memory")?;
    when(p.queries > MOST_QUERIES, "ray queries")?;
    when(p.zeroed[0] > p.zeroed[1] || p.zeroed[1] > p.scratch_words, "private words that begin as zero")?;
    let profile = &p.profile;
    when(profile.mark_count > MAX_INSTRUCTIONS, "marks")?;
    let ways = |w: &Ways| [Some(w.total), Some(w.shortest), w.longest];
    let halves = || profile.halves.iter().flat_map(|h| [&h.position, &h.others]);
    let costs = (profile.counters.iter().copied())
        .chain(profile.once.iter().copied())
        .chain(profile.marks.iter().map(|m| m.cost))
        .chain(halves().flat_map(|h| h.costs.iter().copied()))
        .chain([profile.uniform])
        .chain([&profile.ways].into_iter().chain(halves().map(|h| &h.ways)).flat_map(ways).flatten());
    when(!costs.into_iter().all(is_small), "a cost")
}

fn is_small(c: Cost) -> bool {
    let Cost { fma, cvt, sfu, ls, single, loads, tex, narrow, barriers, varying } = c;
    [fma, cvt, sfu, ls, single, loads, tex, narrow, barriers, varying].iter().all(|n| *n <= MOST_COST)
}
