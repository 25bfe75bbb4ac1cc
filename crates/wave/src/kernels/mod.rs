//! The kernels: one function an op and [`Level`], in a table by [`Code`].
//!
//! A kernel is a type with [`Run`], written once over [`Simd`]. [`Registry::add`] compiles it for the table's level.
//! Each room adds its own: `pub fn register(r: &mut Registry)`, called from [`table`]. A kernel returns the next op;
//! one that ends or suspends the wave sets `st.status` and returns null.

// Every kernel has its level as a parameter; lanes are loops over indices of several arrays.
#![allow(clippy::extra_unused_type_parameters, clippy::needless_range_loop)]

pub mod across;
pub mod atomic;
mod bin;
mod bools;
mod cmp;
pub mod control;
mod convert;
pub mod count;
pub mod desc;
mod fused;
pub mod image;
pub mod levels;
pub mod lines;
pub mod map;
pub mod mask;
mod math;
pub mod memory;
pub mod moves;
mod operands;
mod pair;
mod ray;
pub mod regs;
mod rows;
pub mod subgroup;
mod tri;
mod twin;
mod un;
mod wide;

use crate::recording::Recording;
use crate::state::{At, Fault, Kernel, State};
use shader::bytecode::{Code, Op};
use simd::{Level, Portable, Simd};
use std::sync::OnceLock;

/// A kernel's forms, by [`Level::index`].
pub type Forms = [Kernel; Level::COUNT];

/// One kernel over any machine. `run` is `inline(always)`: it takes on the CPU features of the function around it. The others
/// are what it is compiled into.
pub trait Run: Sized + 'static {
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op;
    /// The portable form.
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        Self::run(Portable, st, op)
    }

    /// # Safety
    /// As [`Kernel`].
    unsafe fn portable(st: &mut State, op: *const Op) -> *const Op {
        // SAFETY: the caller's.
        Self::plain(st, unsafe { At::new(op) })
    }
    #[cfg(target_arch = "x86_64")]
    simd::avx2! {
        /// # Safety
        /// As [`Kernel`].
        unsafe fn avx2(st: &mut State, op: *const Op) -> *const Op {
            // SAFETY: the caller's.
            let (s, op) = unsafe { (simd::Avx2::assume(), At::new(op)) };
            Self::run(s, st, op)
        }
    }
    #[cfg(target_arch = "x86_64")]
    simd::avx512! {
        /// # Safety
        /// As [`Kernel`].
        unsafe fn avx512(st: &mut State, op: *const Op) -> *const Op {
            // SAFETY: the caller's.
            let (s, op) = unsafe { (simd::Avx512::assume(), At::new(op)) };
            Self::run(s, st, op)
        }
    }

    /// What it is made of, for compiled code; none where no vector operations say it.
    const RECORDING: Option<Recording> = None;

    /// Not worth a form of its own for the widest vectors.
    const COLD: bool = false;
    /// Only what stands here is compiled.
    #[cfg(target_arch = "x86_64")]
    const FORMS: Forms = [Self::portable, Self::avx2, if Self::COLD { Self::avx2 } else { Self::avx512 }];
    #[cfg(not(target_arch = "x86_64"))]
    const FORMS: Forms = [Self::portable; Level::COUNT];
}

/// Makes a type with [`Run`] from a function body:
/// `kernel! { pub Name(S, s, st, op) { …; op.on(1) } }`.
#[macro_export]
macro_rules! kernel {
    ($($(#[$meta:meta])* $vis:vis $name:ident($S:ident, $s:ident, $st:ident, $op:ident) $body:block)*) => { $(
        $(#[$meta])*
        $vis struct $name;
        impl $crate::kernels::Run for $name {
            #[inline(always)]
            fn run<$S: ::simd::Simd>(
                $s: $S,
                $st: &mut $crate::state::State,
                $op: $crate::state::At,
            ) -> *const shader::bytecode::Op $body
        }
    )* };
}

/// Stands in for codes without a kernel: the wave ends with a fault.
///
/// # Safety
/// As [`Kernel`].
unsafe fn unknown(st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    let op = unsafe { At::new(op) };
    control::fault(st, op, Fault::Code(op.code.0))
}

pub type Table = [Kernel; Code::COUNT];

/// A table being filled.
pub struct Registry {
    level: Level,
    table: Box<Table>,
    recordings: Box<[Option<Recording>; Code::COUNT]>,
}

impl Registry {
    pub fn level(&self) -> Level {
        self.level
    }
    /// Puts kernel `K`, compiled for the table's level, at `code`.
    pub fn add<K: Run>(&mut self, code: Code) {
        self.table[code.0 as usize] = K::FORMS[self.level.index()];
        self.recordings[code.0 as usize] = K::RECORDING;
    }
    /// Says what the op `code` is made of.
    fn record(&mut self, code: Code, it: Recording) {
        self.recordings[code.0 as usize] = Some(it);
    }
    /// Puts a function that needs no vectors at `code`.
    pub fn set(&mut self, code: Code, kernel: Kernel) {
        self.table[code.0 as usize] = kernel;
    }
}

/// The kernels of a level.
pub fn table(level: Level) -> &'static Table {
    static TABLES: [OnceLock<Box<Table>>; Level::COUNT] = [const { OnceLock::new() }; 3];
    TABLES[level.index()].get_or_init(|| filled(level).table)
}

/// What the op `code` is made of, if compiled code can have it.
pub(crate) fn recording(code: Code) -> Option<&'static Recording> {
    static ALL: OnceLock<Box<[Option<Recording>; Code::COUNT]>> = OnceLock::new();
    ALL.get_or_init(|| filled(Level::Portable).recordings).get(code.0 as usize)?.as_ref()
}

fn filled(level: Level) -> Registry {
    let mut r = Registry {
        level,
        table: Box::new([unknown as Kernel; Code::COUNT]),
        recordings: Box::new([const { None }; Code::COUNT]),
    };
    register(&mut r);
    r
}

/// Every room's kernels.
fn register(r: &mut Registry) {
    engine(r.level, &mut r.table);
    un::register(r);
    bin::register(r);
    tri::register(r);
    cmp::register(r);
    bools::register(r);
    convert::register(r);
    wide::register(r);
    math::register(r);
    pair::register(r);
    across::register(r);
    twin::register(r);
    fused::register(r);
    #[cfg(target_arch = "x86_64")]
    r.set(Code::SEGMENT, crate::jit::run);
    #[cfg(target_arch = "x86_64")]
    r.set(Code::QUAD_SEGMENT, crate::jit::run_quads);
    r.set(Code::REGION, crate::jit::run_region);
}

/// Control flow, memory, subgroups, images: everything that is not lane-wise arithmetic.
fn engine(level: Level, t: &mut Table) {
    control::register(level, t);
    count::register(level, t);
    moves::register(level, t);
    memory::register(level, t);
    atomic::register(level, t);
    subgroup::register(level, t);
    desc::register(level, t);
    image::register(level, t);
    ray::register(level, t);
}
