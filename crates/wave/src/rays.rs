//! Ray queries, as a wave hands them to the machine around it. What a query is between its ops, only the host knows.

use crate::bits::Bits;
use crate::counting::tally::RayCounts;
use shader::ir::{RayOp, TraceOp};
use std::any::Any;
use std::ops::Deref;

/// The open queries of a wave's lanes: the host's, kept with the wave, so that a wave that waits at a barrier keeps them.
#[derive(Default)]
pub struct Queries {
    /// Whatever the host keeps here. It finds what an earlier wave left unless [`Self::fresh`] says so.
    pub kept: Option<Box<dyn Any + Send>>,
    /// The wave has begun and no op of a query has run since. The host clears it.
    pub fresh: bool,
}

/// 16 lanes of a wave's operand.
pub type Row = [u32; 16];

/// A register's rows: address, and bytes from one warp to the next (0 when it is uniform).
#[derive(Clone, Copy)]
pub struct Operand {
    pub(crate) at: *const u8,
    pub(crate) step: usize,
}

impl Operand {
    pub(crate) const NONE: Operand = Operand { at: std::ptr::null(), step: 0 };
}

/// The most operands of an op, the structure not counted: those of [`TraceOp::HitTrace`], and where its data is.
pub const OPERANDS: usize = 16;

/// What both kinds of ops have: the active lanes and their operands.
pub struct Asked<'a> {
    pub(crate) live: u32,
    pub(crate) exec: &'a [u16; 32],
    pub(crate) structure: Operand,
    pub(crate) operands: [Operand; OPERANDS],
    /// What the ray tracing unit does for the worker's program: the host adds what this op's rays do.
    pub counts: &'a mut RayCounts,
}

impl Asked<'_> {
    /// Warps with active lanes, and these lanes.
    pub fn warps(&self) -> impl Iterator<Item = (usize, u16)> + use<> {
        let exec = *self.exec;
        Bits(self.live).map(move |w| (w, exec[w])).filter(|(_, lanes)| *lanes != 0)
    }

    fn row<T: Copy>(&self, of: Operand, warp: usize) -> T {
        debug_assert!(!of.at.is_null());
        // SAFETY: the op's register, which its kernel named (`kernels::ray`); `warp` is one of the wave's, of which a register has
        // the rows, and a row of a uniform register has its 16 copies.
        unsafe { of.at.add(warp % 32 * of.step).cast::<T>().read() }
    }

    /// Addresses of the structures that a warp's rays begin in.
    pub fn structure(&self, warp: usize) -> [u64; 16] {
        self.row(self.structure, warp)
    }

    /// Operand `k`, the structure not counted: those that the op has ([`RayOp::operands`], [`TraceOp::operands`]).
    pub fn operand(&self, k: usize, warp: usize) -> Row {
        self.row(self.operands[k], warp)
    }
}

/// Writes a lane's result, if anybody reads it. `to`: its register, null or varying.
fn set(to: *mut u8, warp: usize, lane: usize, bits: u32) {
    if !to.is_null() {
        // SAFETY: as in `Asked::row`; a result is a varying register of its own.
        unsafe { to.cast::<Row>().add(warp % 32).cast::<u32>().add(lane % 16).write(bits) }
    }
}

/// One op on the queries of a wave's active lanes.
pub struct RayWave<'a> {
    pub op: RayOp,
    pub queries: &'a mut Queries,
    /// Queries of a lane: numbers from here on name none.
    pub count: u32,
    pub asked: Asked<'a>,
    pub(crate) query: Operand,
    pub(crate) results: [*mut u8; RAY_RESULTS],
}

/// The most results that an op has.
pub const RAY_RESULTS: usize = 12;

impl<'a> Deref for RayWave<'a> {
    type Target = Asked<'a>;
    fn deref(&self) -> &Asked<'a> {
        &self.asked
    }
}

impl RayWave<'_> {
    /// Numbers of a warp's queries.
    pub fn query(&self, warp: usize) -> Row {
        self.row(self.query, warp)
    }

    /// Writes a lane's result `k`.
    pub fn set(&mut self, k: usize, warp: usize, lane: usize, bits: u32) {
        set(self.results[k], warp, lane, bits);
    }
}

/// What a wave's active lanes ask of the ray tracing pipeline that runs them.
pub struct TraceWave<'a> {
    pub op: TraceOp,
    pub asked: Asked<'a>,
    /// The wave's ray queries.
    pub queries: &'a mut Queries,
    /// How many of the operands there are, where its data is counted.
    pub(crate) given: usize,
    pub(crate) result: *mut u8,
    pub(crate) private: *mut u8,
    pub(crate) words: u32,
    pub(crate) lanes: u32,
}

impl<'a> Deref for TraceWave<'a> {
    type Target = Asked<'a>;
    fn deref(&self) -> &Asked<'a> {
        &self.asked
    }
}

impl TraceWave<'_> {
    /// First private word of the data that goes with the op, and number of words: within the lane's.
    pub fn data(&self) -> [u32; 2] {
        let warp = self.live.trailing_zeros() as usize & 31;
        let [first, n] = [2, 1].map(|back| self.operand(self.given.saturating_sub(back), warp)[0]);
        let first = first.min(self.words);
        [first, n.min(self.words - first)]
    }

    /// Writes a lane's result.
    pub fn set(&mut self, warp: usize, lane: usize, bits: u32) {
        set(self.result, warp, lane, bits);
    }

    /// Private word `word` of lane `lane` of the wave; `None`: there is none.
    fn word(&self, word: u32, lane: u32) -> Option<*mut u32> {
        let there = word < self.words && lane < self.lanes;
        there.then(|| self.private.cast::<u32>().wrapping_add((word * self.lanes + lane) as usize))
    }
    pub fn read(&self, word: u32, lane: usize) -> u32 {
        // SAFETY: one of the lane's private words, of which the wave has `words` of `lanes` lanes each.
        self.word(word, lane as u32).map_or(0, |p| unsafe { p.read() })
    }
    pub fn write(&mut self, word: u32, lane: usize, bits: u32) {
        if let Some(p) = self.word(word, lane as u32) {
            // SAFETY: as above; nobody else has the wave while its kernel runs.
            unsafe { p.write(bits) }
        }
    }
}
