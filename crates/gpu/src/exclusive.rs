//! Exclusive mode of counters by region: while tiles of such a pass are drawn, no other device of the process works, in
//! real time and in modelled time (VK_ARM_performance_counters_by_region).

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

static WORK: RwLock<()> = RwLock::new(());
/// Somebody has asked for exclusive work: until then nobody needs to look at the lock.
static ASKED: AtomicBool = AtomicBool::new(false);
/// Modelled time at which the last exclusive work of any device ended.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// Held while something runs.
#[allow(dead_code, reason = "the guards are kept for their drops")]
pub enum Turn {
    Free,
    Shared(RwLockReadGuard<'static, ()>),
    Alone(RwLockWriteGuard<'static, ()>),
}

/// Exclusive work is being recorded.
pub fn expect() {
    ASKED.store(true, SeqCst);
}

/// Ordinary work. It must not wait for other devices while it holds its turn.
pub fn shared() -> Turn {
    if ASKED.load(SeqCst) { Turn::Shared(WORK.read()) } else { Turn::Free }
}

/// Work that wants the machine alone; and the modelled time before which it may not begin.
pub fn alone() -> (Turn, u64) {
    expect();
    (Turn::Alone(WORK.write()), ENDED.load(SeqCst))
}

/// Exclusive work ended at `t`. To be told before its turn ends.
pub fn ended(t: u64) {
    ENDED.fetch_max(t, SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_work_excludes_and_follows() {
        let (turn, from) = alone();
        ended(from + 100);
        assert!(WORK.try_read().is_none());
        drop(turn);
        let (first, second) = (shared(), shared());
        assert!(WORK.try_write().is_none());
        drop((first, second));
        assert!(alone().1 >= from + 100);
    }
}
