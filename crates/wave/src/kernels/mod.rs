//! The kernels: one function for each op and [`Level`], in a table by [`Code`].
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
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod compiled;
pub mod control;
mod convert;
pub mod count;
pub mod desc;
mod forms;
mod fused;
pub mod image;
pub mod lines;
pub mod map;
pub mod mask;
pub mod mask_steps;
mod math;
pub mod memory;
pub mod moves;
mod note;
mod operands;
mod pair;
mod probe;
mod product;
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

/// One kernel over any machine. `run` is `inline(always)`: it takes on the CPU features of its forms ([`Registry::add`]).
pub trait Run: Sized + 'static {
    fn run<S: Simd>(s: S, st: &mut State, op: At) -> *const Op;
    /// The portable form.
    #[inline(always)]
    fn plain(st: &mut State, op: At) -> *const Op {
        Self::run(Portable, st, op)
    }

    /// The operations that it consists of, for compiled code; none if vector operations do not express it.
    const RECORDING: Option<Recording> = None;

    /// Not worth a form of its own for the widest vectors.
    const COLD: bool = false;
}

/// # Safety
/// As [`Kernel`].
#[inline(always)]
unsafe fn run<S: Simd, K: Run>(s: S, st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    K::run(s, st, unsafe { At::new(op) })
}

/// # Safety
/// As [`Kernel`].
#[inline(always)]
unsafe fn plain<K: Run>(_: Portable, st: &mut State, op: *const Op) -> *const Op {
    // SAFETY: the caller's.
    K::plain(st, unsafe { At::new(op) })
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
    /// Puts kernel `K`, compiled for the table's level, at `code`. What compiled code can have is soon compiled: then its kernel's time
    /// does not count, and the library is smaller without its widest form.
    pub fn add<K: Run>(&mut self, code: Code) {
        let kernel = simd::form!(
            self.level,
            <K: Run> unsafe fn(st: &mut State, op: *const Op) -> *const Op = run::<_, K>;
            cold if K::COLD || K::RECORDING.is_some(), portable = plain::<K>
        );
        self.set(code, kernel);
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
    static TABLES: [OnceLock<Box<Table>>; Level::COUNT] = [const { OnceLock::new() }; Level::COUNT];
    TABLES[level.index()].get_or_init(|| filled(level).table)
}

/// What the op `code` is made of, if compiled code can have it.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "code is compiled for these alone")
)]
pub(crate) fn recording(code: Code) -> Option<&'static Recording> {
    static ALL: OnceLock<Box<[Option<Recording>; Code::COUNT]>> = OnceLock::new();
    ALL.get_or_init(|| filled(Level::PORTABLE).recordings).get(code.0 as usize)?.as_ref()
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
    control::register(r);
    count::register(r);
    moves::register(r);
    memory::register(r);
    memory::rows::register(r);
    atomic::register(r);
    subgroup::register(r);
    desc::register(r);
    image::register(r);
    probe::register(r);
    note::register(r);
    product::register(r);
    ray::register(r);
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
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    compiled::register(r);
}
