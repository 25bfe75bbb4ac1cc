//! Lane-wise ops over the live warps of a wave.
//!
//! An op is a type with [`Op1`], [`Op2`] or [`Op3`], a function of one warp's vectors; [`Map1`] … make kernels of
//! them. Operands have a [`Class`], which says how a warp's lanes lie in memory.
//!
//! What the compiler of bytecode must keep: the destination is the same register as a source of the same layout, or
//! does not overlap any source.

use super::Run;
use super::regs::reg;
use super::rows::{self, Layout, Single};
use crate::recording::{Id, Kind, Record, Recording, Wide};
use crate::state::{At, State};
use shader::bytecode::{Op, Reg};
use simd::Simd;
use std::marker::PhantomData;

/// How an operand's warps lie in the register file.
pub trait Class: 'static {
    type V<S: Simd>: Copy;
    /// Bytes a warp.
    const BYTES: usize;
    const BOOL: bool = false;
    /// # Safety
    /// A warp of such an operand lies at `p`, aligned to 64 bytes (Bools: to two).
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> Self::V<S>;
    /// # Safety
    /// As [`Class::load`].
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: Self::V<S>);
    /// How compiled code has it.
    const KIND: Kind;
    fn recorded(id: Id) -> Self::V<Record>;
    fn id(v: Self::V<Record>) -> Id;
    /// Bits of four warps' values; classes with [`Class::BOOL`] only.
    #[inline(always)]
    fn bits4<S: Simd>(_: S, _: [Self::V<S>; 4]) -> u64 {
        unreachable!()
    }
}
/// f32, 32-bit int, f64, 64-bit int, Bool.
pub struct F;
pub struct I;
pub struct D;
pub struct L;
pub struct B;

impl Class for F {
    const KIND: Kind = Kind::Word;
    fn recorded(id: Id) -> Self::V<Record> {
        id
    }
    fn id(v: Id) -> Id {
        v
    }
    type V<S: Simd> = S::F;
    const BYTES: usize = 64;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> S::F {
        // SAFETY: the caller's.
        unsafe { s.fload(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: S::F) {
        // SAFETY: the caller's.
        unsafe { s.fstore(p, v) }
    }
}
impl Class for I {
    const KIND: Kind = Kind::Word;
    fn recorded(id: Id) -> Self::V<Record> {
        id
    }
    fn id(v: Id) -> Id {
        v
    }
    type V<S: Simd> = S::I;
    const BYTES: usize = 64;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> S::I {
        // SAFETY: the caller's.
        unsafe { s.iload(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: S::I) {
        // SAFETY: the caller's.
        unsafe { s.istore(p, v) }
    }
}
impl Class for D {
    const KIND: Kind = Kind::Wide;
    fn recorded(id: Id) -> Self::V<Record> {
        Wide::of(id)
    }
    fn id(v: Wide) -> Id {
        v.id()
    }
    type V<S: Simd> = S::D;
    const BYTES: usize = 128;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> S::D {
        // SAFETY: the caller's.
        unsafe { s.dload(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: S::D) {
        // SAFETY: the caller's.
        unsafe { s.dstore(p, v) }
    }
}
impl Class for L {
    const KIND: Kind = Kind::Wide;
    fn recorded(id: Id) -> Self::V<Record> {
        Wide::of(id)
    }
    fn id(v: Wide) -> Id {
        v.id()
    }
    type V<S: Simd> = S::L;
    const BYTES: usize = 128;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> S::L {
        // SAFETY: the caller's.
        unsafe { s.lload(p) }
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: S::L) {
        // SAFETY: the caller's.
        unsafe { s.lstore(p, v) }
    }
}
impl Class for B {
    const KIND: Kind = Kind::Mask;
    fn recorded(id: Id) -> Self::V<Record> {
        id
    }
    fn id(v: Id) -> Id {
        v
    }
    type V<S: Simd> = S::M;
    const BYTES: usize = 2;
    const BOOL: bool = true;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, p: *const u8) -> S::M {
        // SAFETY: the caller's.
        s.mask(unsafe { p.cast::<u16>().read() })
    }
    #[inline(always)]
    unsafe fn store<S: Simd>(s: S, p: *mut u8, v: S::M) {
        // SAFETY: the caller's.
        unsafe { p.cast::<u16>().write(s.mbits(v)) }
    }
    #[inline(always)]
    fn bits4<S: Simd>(s: S, m: [S::M; 4]) -> u64 {
        s.mbits4(m)
    }
}

/// Bytes from warp to warp. Bools have a mask a warp, uniform or not.
#[inline(always)]
pub fn stride(r: Reg, bytes: usize, bool: bool) -> usize {
    if r.is_uniform() && !bool { 0 } else { bytes }
}
/// First byte and bytes from warp to warp.
#[inline(always)]
pub fn operand<C: Class>(st: &State, r: Reg) -> (*mut u8, usize) {
    (reg(st, r), stride(r, C::BYTES, C::BOOL))
}

pub trait Op1: 'static {
    type A: Class;
    type R: Class;
    const WEIGHT: Weight;
    fn f<S: Simd>(s: S, a: <Self::A as Class>::V<S>) -> <Self::R as Class>::V<S>;
}
pub trait Op2: 'static {
    type A: Class;
    type B: Class;
    type R: Class;
    const WEIGHT: Weight;
    fn f<S: Simd>(s: S, a: <Self::A as Class>::V<S>, b: <Self::B as Class>::V<S>)
    -> <Self::R as Class>::V<S>;
}
pub trait Op3: 'static {
    type A: Class;
    type B: Class;
    type C: Class;
    type R: Class;
    const WEIGHT: Weight;
    fn f<S: Simd>(
        s: S,
        a: <Self::A as Class>::V<S>,
        b: <Self::B as Class>::V<S>,
        c: <Self::C as Class>::V<S>,
    ) -> <Self::R as Class>::V<S>;
}

pub struct Map1<O>(PhantomData<O>);
pub struct Map2<O>(PhantomData<O>);
pub struct Map3<O>(PhantomData<O>);

/// A function of warp offsets (0, 1, 2 … from a moving base), so that one driver serves ops of any arity.
trait Warp<S: Simd> {
    type R: Class;
    /// # Safety
    /// The operands are the op's, and have a warp `w`.
    unsafe fn at(&self, s: S, w: usize) -> <Self::R as Class>::V<S>;
    /// Moves the base by `n` warps.
    fn advance(&mut self, n: usize);
}

/// Runs `f` over the live warps and stores at `d`. `uniform`: one result for all warps.
///
/// # Safety
/// `d` and the operands of `f` are registers of the op that is executed ([`super::regs`]), of the class that `f` has.
#[inline(always)]
unsafe fn drive<S: Simd, W: Warp<S>>(s: S, st: &mut State, d: Reg, uniform: bool, long: bool, mut f: W) {
    let mut p = reg(st, d);
    let size = W::R::BYTES;
    // One warp's result.
    macro_rules! warp {
        ($w:expr) => {
            // SAFETY: the caller's: the warp is a live one, or the first of a uniform register.
            unsafe { W::R::store(s, p.add($w * size), f.at(s, $w)) }
        };
    }
    // Mask bits of the next four warps.
    macro_rules! quad {
        () => {{
            // SAFETY: the caller's; a wave has warps by fours.
            let m = unsafe { [f.at(s, 0), f.at(s, 1), f.at(s, 2), f.at(s, 3)] };
            f.advance(4);
            W::R::bits4(s, m)
        }};
    }
    if W::R::BOOL && uniform {
        // Every warp's mask, dead warps too: a uniform Bool is whole wherever it is looked at.
        warp!(0);
        // SAFETY: the caller's: a Bool register has a unit, and that warp's mask was just written.
        unsafe {
            let bits = p.cast::<u16>().read() as u64 * 0x0001_0001_0001_0001;
            s.mstore(p, [bits; 4]);
        }
        return;
    }
    if W::R::BOOL && !long && st.live == st.all {
        if st.warps == 16 {
            let words = [quad!(), quad!(), quad!(), quad!()];
            // SAFETY: the caller's.
            unsafe { s.mstore(p, words) };
            return;
        }
        let mut n = st.warps;
        while n != 0 {
            let bits = quad!();
            // SAFETY: the caller's: four more warps' masks.
            unsafe { p.cast::<u64>().write(bits) };
            p = p.wrapping_add(8);
            n = n.wrapping_sub(4);
        }
        return;
    }
    if !long && !uniform && st.live == st.all {
        let mut n = st.warps;
        loop {
            for u in 0..S::UNROLL as usize {
                warp!(u);
            }
            p = p.wrapping_add(S::UNROLL as usize * size);
            f.advance(S::UNROLL as usize);
            n = n.wrapping_sub(S::UNROLL);
            if n == 0 {
                return;
            }
        }
    }
    if !long && uniform {
        warp!(0);
        return;
    }
    let mut live = if uniform { 1 } else { st.live };
    while live != 0 {
        let w = live.trailing_zeros() as usize;
        live &= live - 1;
        warp!(w);
    }
}

struct Warp1<O> {
    a: (*mut u8, usize),
    o: PhantomData<O>,
}
impl<S: Simd, O: Op1> Warp<S> for Warp1<O> {
    type R = O::R;
    #[inline(always)]
    unsafe fn at(&self, s: S, w: usize) -> <O::R as Class>::V<S> {
        // SAFETY: the caller's.
        O::f(s, unsafe { O::A::load(s, self.a.0.add(w * self.a.1)) })
    }
    #[inline(always)]
    fn advance(&mut self, n: usize) {
        self.a.0 = self.a.0.wrapping_add(n * self.a.1);
    }
}
struct Warp2<O> {
    a: (*mut u8, usize),
    b: (*mut u8, usize),
    o: PhantomData<O>,
}
impl<S: Simd, O: Op2> Warp<S> for Warp2<O> {
    type R = O::R;
    #[inline(always)]
    unsafe fn at(&self, s: S, w: usize) -> <O::R as Class>::V<S> {
        // SAFETY: the caller's.
        let a = unsafe { O::A::load(s, self.a.0.add(w * self.a.1)) };
        // SAFETY: as above.
        let b = unsafe { O::B::load(s, self.b.0.add(w * self.b.1)) };
        O::f(s, a, b)
    }
    #[inline(always)]
    fn advance(&mut self, n: usize) {
        self.a.0 = self.a.0.wrapping_add(n * self.a.1);
        self.b.0 = self.b.0.wrapping_add(n * self.b.1);
    }
}
/// Operands whose bit in `U` is set are uniform and stay in registers: three loads a warp are what an FMA waits for.
struct Warp3<S: Simd, O: Op3, const U: u8> {
    a: (*mut u8, usize),
    b: (*mut u8, usize),
    c: (*mut u8, usize),
    held: (<O::A as Class>::V<S>, <O::B as Class>::V<S>, <O::C as Class>::V<S>),
}
impl<S: Simd, O: Op3, const U: u8> Warp<S> for Warp3<S, O, U> {
    type R = O::R;
    #[inline(always)]
    unsafe fn at(&self, s: S, w: usize) -> <O::R as Class>::V<S> {
        // SAFETY: the caller's, of all three.
        let a = if U & 1 != 0 { self.held.0 } else { unsafe { O::A::load(s, self.a.0.add(w * self.a.1)) } };
        let b = if U & 2 != 0 { self.held.1 } else { unsafe { O::B::load(s, self.b.0.add(w * self.b.1)) } };
        let c = if U & 4 != 0 { self.held.2 } else { unsafe { O::C::load(s, self.c.0.add(w * self.c.1)) } };
        O::f(s, a, b, c)
    }
    #[inline(always)]
    fn advance(&mut self, n: usize) {
        if U & 1 == 0 {
            self.a.0 = self.a.0.wrapping_add(n * self.a.1);
        }
        if U & 2 == 0 {
            self.b.0 = self.b.0.wrapping_add(n * self.b.1);
        }
        if U & 4 == 0 {
            self.c.0 = self.c.0.wrapping_add(n * self.c.1);
        }
    }
}

/// A Bool destination has no uniform bit: its sources tell. Bool sources do not count (they have none either), and
/// ops from Bools alone to Bool are not lane-wise kernels but 32-byte ones (`moves.rs`).
#[inline(always)]
fn is_uniform<R: Class>(d: Reg, sources: bool) -> bool {
    if R::BOOL { sources } else { d.is_uniform() }
}

impl<O: Op1> Run for Map1<O> {
    const RECORDING: Option<Recording> =
        Recording::of(const { &[O::A::KIND] }, const { &[O::R::KIND] }, |x| {
            [O::R::id(O::f(Record, O::A::recorded(x[0]))), 0]
        });
    const COLD: bool = O::WEIGHT.is_cold();
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        let operands = const { &[Layout::of::<O::A>()] };
        // SAFETY: it is this op's.
        unsafe {
            rows::single(st, op, &Single { run: rows::loop1::<O>, operands, result: Layout::of::<O::R>() })
        }
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let uniform = is_uniform::<O::R>(o.d, o.a.is_uniform());
        let f = Warp1::<O> { a: operand::<O::A>(st, o.a), o: PhantomData };
        // SAFETY: the op's registers, which have the classes of its code.
        unsafe { drive(s, st, o.d, uniform, O::WEIGHT.long(), f) };
        op.on(1)
    }
}
impl<O: Op2> Run for Map2<O> {
    const RECORDING: Option<Recording> =
        Recording::of(const { &[O::A::KIND, O::B::KIND] }, const { &[O::R::KIND] }, |x| {
            [O::R::id(O::f(Record, O::A::recorded(x[0]), O::B::recorded(x[1]))), 0]
        });
    const COLD: bool = O::WEIGHT.is_cold();
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        let operands = const { &[Layout::of::<O::A>(), Layout::of::<O::B>()] };
        // SAFETY: it is this op's.
        unsafe {
            rows::single(st, op, &Single { run: rows::loop2::<O>, operands, result: Layout::of::<O::R>() })
        }
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let uniform = is_uniform::<O::R>(o.d, o.a.is_uniform() && o.b.is_uniform());
        let f = Warp2::<O> { a: operand::<O::A>(st, o.a), b: operand::<O::B>(st, o.b), o: PhantomData };
        // SAFETY: the op's registers, which have the classes of its code.
        unsafe { drive(s, st, o.d, uniform, O::WEIGHT.long(), f) };
        op.on(1)
    }
}
impl<O: Op3> Run for Map3<O> {
    const RECORDING: Option<Recording> =
        Recording::of(const { &[O::A::KIND, O::B::KIND, O::C::KIND] }, const { &[O::R::KIND] }, |x| {
            [O::R::id(O::f(Record, O::A::recorded(x[0]), O::B::recorded(x[1]), O::C::recorded(x[2]))), 0]
        });
    const COLD: bool = O::WEIGHT.is_cold();
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        let operands = const { &[Layout::of::<O::A>(), Layout::of::<O::B>(), Layout::of::<O::C>()] };
        // SAFETY: it is this op's.
        unsafe {
            rows::single(st, op, &Single { run: rows::loop3::<O>, operands, result: Layout::of::<O::R>() })
        }
    }
    #[inline(always)]
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op {
        let o = &*op;
        let uniform = is_uniform::<O::R>(o.d, o.a.is_uniform() && o.b.is_uniform() && o.c.is_uniform());
        let (a, b, c) = (operand::<O::A>(st, o.a), operand::<O::B>(st, o.b), operand::<O::C>(st, o.c));
        // SAFETY: the first warps of the op's registers, which have the classes of its code.
        let held = unsafe { (O::A::load(s, a.0), O::B::load(s, b.0), O::C::load(s, c.0)) };
        macro_rules! go {
            ($u:literal) => {
                // SAFETY: as above.
                unsafe { drive(s, st, o.d, uniform, O::WEIGHT.long(), Warp3::<S, O, $u> { a, b, c, held }) }
            };
        }
        if O::WEIGHT.long() || uniform {
            go!(0);
            return op.on(1);
        }
        match (a.1 == 0) as u8 | ((b.1 == 0) as u8) << 1 | ((c.1 == 0) as u8) << 2 {
            1 => go!(1),
            2 => go!(2),
            4 => go!(4),
            5 => go!(5),
            6 => go!(6),
            _ => go!(0),
        }
        op.on(1)
    }
}

/// Defines ops: `ops2! { S, s; Name light (a: F, b: F) -> F = s.fadd(a, b); … }`; `S` is the machine.
macro_rules! ops1 {
    ($S:ident, $s:ident; $($(#[$meta:meta])* $name:ident $weight:ident ($a:ident: $A:ty) -> $R:ty = $e:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name;
        impl $crate::kernels::map::Op1 for $name {
            type A = $A;
            type R = $R;
            const WEIGHT: $crate::kernels::map::Weight = $crate::kernels::map::$weight;
            #[inline(always)]
            #[allow(unused_variables)]
            fn f<$S: ::simd::Simd>(
                $s: $S, $a: <$A as $crate::kernels::map::Class>::V<$S>,
            ) -> <$R as $crate::kernels::map::Class>::V<$S> {
                $e
            }
        }
    )* };
}
macro_rules! ops2 {
    ($S:ident, $s:ident; $($(#[$meta:meta])* $name:ident $weight:ident
        ($a:ident: $A:ty, $b:ident: $B:ty) -> $R:ty = $e:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name;
        impl $crate::kernels::map::Op2 for $name {
            type A = $A;
            type B = $B;
            type R = $R;
            const WEIGHT: $crate::kernels::map::Weight = $crate::kernels::map::$weight;
            #[inline(always)]
            #[allow(unused_variables)]
            fn f<$S: ::simd::Simd>(
                $s: $S, $a: <$A as $crate::kernels::map::Class>::V<$S>,
                $b: <$B as $crate::kernels::map::Class>::V<$S>,
            ) -> <$R as $crate::kernels::map::Class>::V<$S> {
                $e
            }
        }
    )* };
}
macro_rules! ops3 {
    ($S:ident, $s:ident; $($(#[$meta:meta])* $name:ident $weight:ident
        ($a:ident: $A:ty, $b:ident: $B:ty, $c:ident: $C:ty) -> $R:ty = $e:expr;)*) => { $(
        $(#[$meta])*
        pub struct $name;
        impl $crate::kernels::map::Op3 for $name {
            type A = $A;
            type B = $B;
            type C = $C;
            type R = $R;
            const WEIGHT: $crate::kernels::map::Weight = $crate::kernels::map::$weight;
            #[inline(always)]
            #[allow(unused_variables)]
            fn f<$S: ::simd::Simd>(
                $s: $S, $a: <$A as $crate::kernels::map::Class>::V<$S>,
                $b: <$B as $crate::kernels::map::Class>::V<$S>,
                $c: <$C as $crate::kernels::map::Class>::V<$S>,
            ) -> <$R as $crate::kernels::map::Class>::V<$S> {
                $e
            }
        }
    )* };
}
/// `register2!(r, B32: FAdd FSub)`: types in scope with the names of the IR's ops, for operands of that width.
macro_rules! register1 {
    ($r:ident, $ty:ident: $($name:ident)*) => { $(
        $r.add::<Map1<$name>>(shader::bytecode::Code::un(shader::ir::Un::$name, shader::ir::Ty::$ty));
    )* };
}
macro_rules! register2 {
    ($r:ident, $ty:ident: $($name:ident)*) => { $(
        $r.add::<Map2<$name>>(shader::bytecode::Code::bin(shader::ir::Bin::$name, shader::ir::Ty::$ty));
    )* };
}
macro_rules! register3 {
    ($r:ident, $ty:ident: $($name:ident)*) => { $(
        $r.add::<Map3<$name>>(shader::bytecode::Code::tri(shader::ir::Tri::$name, shader::ir::Ty::$ty));
    )* };
}
pub(crate) use {ops1, ops2, ops3, register1, register2, register3};

/// What an op's row says besides its types: how much code it is worth. One loop over live warps serves where it is long; others
/// have straight ones for full waves too. A cold one's AVX2 form runs at the AVX-512 level.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum Weight {
    light,
    /// Long enough that loop overhead is nothing and code size is something.
    heavy,
    /// Rare in shaders, or no faster by wider vectors.
    cold,
}
pub use Weight::{cold, heavy, light};

impl Weight {
    pub const fn long(self) -> bool {
        !matches!(self, light)
    }
    pub const fn is_cold(self) -> bool {
        matches!(self, cold)
    }
}
