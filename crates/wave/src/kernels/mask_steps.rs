//! What control ops do to masks, written once over a small trait: kernels run it on a wave ([`Wave`]), and compiled code on its recorders
//! of nodes (`jit/nodes`).

use super::mask::{self, Masks};
use crate::state::State;
use shader::bytecode::Reg;

/// A machine with masks of lanes.
pub trait MaskMachine {
    type Mask: Copy;
    /// The lanes that execute.
    fn executing(&mut self) -> Self::Mask;
    /// These lanes execute from here on.
    fn execute(&mut self, lanes: Self::Mask);
    fn load(&mut self, r: Reg) -> Self::Mask;
    fn store(&mut self, r: Reg, lanes: Self::Mask);
    fn none(&mut self) -> Self::Mask;
    fn and(&mut self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn or(&mut self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `a & !b`
    fn and_not(&mut self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Of `new` where `lanes` has ones, else of `old`.
    fn select(&mut self, lanes: Self::Mask, new: Self::Mask, old: Self::Mask) -> Self::Mask;
    /// A rare branch that these lanes would enter: whether it is known to be skipped, because there are none.
    fn skips(&mut self, lanes: Self::Mask) -> bool;
}

/// Lanes of `c` go on, the others wait in `no`. `rare`: if none is in `c`, nothing changes. Returns whether anything changed.
#[inline(always)]
pub fn split<T: MaskMachine>(m: &mut T, c: T::Mask, yes: Reg, no: Reg, rare: bool) -> bool {
    let exec = m.executing();
    let chosen = m.and(exec, c);
    if rare && m.skips(chosen) {
        return false;
    }
    let others = m.and_not(exec, c);
    if !yes.is_none() {
        m.store(yes, chosen);
    }
    if !no.is_none() {
        m.store(no, others);
    }
    m.execute(chosen);
    true
}

/// Lanes of `c` wait in `to`, the others go on.
#[inline(always)]
pub fn park_if<T: MaskMachine>(m: &mut T, c: T::Mask, to: Reg) {
    let exec = m.executing();
    if !to.is_none() {
        let old = m.load(to);
        let leaving = m.and(exec, c);
        let all = m.or(old, leaving);
        m.store(to, all);
    }
    let rest = m.and_not(exec, c);
    m.execute(rest);
}

/// The lanes that execute are added to those that wait in `to`, if that is a register.
#[inline(always)]
pub fn wait<T: MaskMachine>(m: &mut T, to: Reg) {
    if to.is_none() {
        return;
    }
    let exec = m.executing();
    let old = m.load(to);
    let all = m.or(old, exec);
    m.store(to, all);
}

/// The lanes that waited in `a` execute; `join`: with those that execute already.
#[inline(always)]
pub fn set_exec<T: MaskMachine>(m: &mut T, a: Reg, join: bool) {
    let mut lanes = m.load(a);
    if join {
        let exec = m.executing();
        lanes = m.or(exec, lanes);
    }
    m.execute(lanes);
}

#[inline(always)]
pub fn get_exec<T: MaskMachine>(m: &mut T, d: Reg) {
    let exec = m.executing();
    m.store(d, exec);
}

#[inline(always)]
pub fn clear<T: MaskMachine>(m: &mut T, d: Reg) {
    let none = m.none();
    m.store(d, none);
}

/// d = a & !b
#[inline(always)]
pub fn and_not<T: MaskMachine>(m: &mut T, d: Reg, a: Reg, b: Reg) {
    let (a, b) = (m.load(a), m.load(b));
    let lanes = m.and_not(a, b);
    m.store(d, lanes);
}

/// d's lanes become a's: those in `lanes`, or those that execute.
#[inline(always)]
pub fn move_some<T: MaskMachine>(m: &mut T, d: Reg, a: Reg, lanes: Option<Reg>) {
    let (new, old) = (m.load(a), m.load(d));
    let lanes = match lanes {
        Some(r) => m.load(r),
        None => m.executing(),
    };
    let it = m.select(lanes, new, old);
    m.store(d, it);
}

/// A wave as such a machine.
pub struct Wave<'a>(&'a mut State);

impl<'a> Wave<'a> {
    /// # Safety
    /// Registers that it is asked for are the op's ([`super::regs`]).
    #[inline(always)]
    pub unsafe fn new(st: &'a mut State) -> Wave<'a> {
        Wave(st)
    }
}

impl MaskMachine for Wave<'_> {
    type Mask = Masks;
    #[inline(always)]
    fn executing(&mut self) -> Masks {
        mask::exec(self.0)
    }
    #[inline(always)]
    fn execute(&mut self, lanes: Masks) {
        mask::set_exec(self.0, lanes);
    }
    #[inline(always)]
    fn load(&mut self, r: Reg) -> Masks {
        // SAFETY: promised to `new`.
        unsafe { mask::load(self.0, r) }
    }
    #[inline(always)]
    fn store(&mut self, r: Reg, lanes: Masks) {
        // SAFETY: promised to `new`.
        unsafe { mask::store(self.0, r, lanes) }
    }
    #[inline(always)]
    fn none(&mut self) -> Masks {
        [0; 16]
    }
    #[inline(always)]
    fn and(&mut self, a: Masks, b: Masks) -> Masks {
        mask::and(a, b)
    }
    #[inline(always)]
    fn or(&mut self, a: Masks, b: Masks) -> Masks {
        mask::or(a, b)
    }
    #[inline(always)]
    fn and_not(&mut self, a: Masks, b: Masks) -> Masks {
        mask::andn(a, b)
    }
    #[inline(always)]
    fn select(&mut self, lanes: Masks, new: Masks, old: Masks) -> Masks {
        mask::or(mask::andn(old, lanes), mask::and(new, lanes))
    }
    #[inline(always)]
    fn skips(&mut self, lanes: Masks) -> bool {
        simd::non_zero(&lanes) & self.0.all == 0
    }
}
