//! The levels: the instruction sets that kernels are compiled for.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The one list of levels, the narrowest first. `levels! { callback { … } }` calls this crate's macro `callback` with the braces and
/// their contents, followed by the rows.
///
/// A row has:
/// - the level's name, which is also the name of its module here, of the macro that compiles functions with its instructions, and
///   the word for `TUFF_SIMD`;
/// - the type that implements [`crate::Simd`], which is also the name of the variant of [`Level`];
/// - the condition under which the level exists;
/// - `cold`: the level whose form runs for functions with the option `cold` (see [`crate::form`]): `own`, or the name of another level.
///   In the second case this level has no form of such a function.
///
/// To add a level, write its module and its row.
#[macro_export]
macro_rules! levels {
    ($callback:ident $args:tt) => {
        $crate::$callback! { $args
            { portable, Portable, all(), cold = own }
            { neon, Neon, target_arch = "aarch64", cold = own }
            { avx2, Avx2, target_arch = "x86_64", cold = own }
            { avx512, Avx512, target_arch = "x86_64", cold = avx2 }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! define_levels {
    ({} $({ $name:ident, $machine:ident, $exists:meta, cold = $cold:ident })*) => {
        /// A level's name. All names are known on all CPUs.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Name {
            $($machine,)*
        }

        /// The names of all levels, the narrowest first.
        pub const NAMES: &[(&str, Name)] = &[$((stringify!($name), Name::$machine)),*];

        /// A level of this CPU. Each holds its machine, which is proof that the CPU has the instructions: the only way to a level
        /// is to ask for it. Results do not depend on the level.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Level {
            $(#[cfg($exists)] $machine($crate::$machine),)*
        }

        /// The levels of this CPU architecture by number.
        #[derive(Clone, Copy)]
        enum Index {
            $(#[cfg($exists)] $machine,)*
        }

        impl Level {
            /// How many levels this CPU architecture has.
            pub const COUNT: usize = [$(#[cfg($exists)] Index::$machine),*].len();

            /// 0 for the narrowest.
            pub const fn index(self) -> usize {
                match self {
                    $(#[cfg($exists)] Level::$machine(_) => Index::$machine as usize,)*
                }
            }

            pub const fn name(self) -> Name {
                match self {
                    $(#[cfg($exists)] Level::$machine(_) => Name::$machine,)*
                }
            }

            /// The levels of this CPU, the narrowest first.
            pub fn all() -> Vec<Level> {
                let mut all = Vec::new();
                $(
                    #[cfg($exists)]
                    all.extend($crate::$machine::detect().map(Level::$machine));
                )*
                all
            }
        }

        /// The levels' machines, by the levels' names.
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        pub mod machines {
            $(#[cfg($exists)] pub type $name = $crate::$machine;)*
        }
    };
}

levels! { define_levels {} }

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.name().fmt(f)
    }
}

impl Level {
    /// The level that every CPU has.
    pub const PORTABLE: Level = Level::Portable(crate::Portable);

    /// The level of this CPU with the given name (a word of [`NAMES`]).
    pub fn named(name: &str) -> Option<Level> {
        let (_, name) = NAMES.iter().find(|(word, _)| *word == name)?;
        Self::all().into_iter().find(|l| l.name() == *name)
    }

    /// The widest level of this CPU that is no wider than `limit`.
    pub fn widest(limit: Option<Name>) -> Level {
        let allowed = |l: &Level| limit.is_none_or(|limit| l.name() <= limit);
        Self::all().into_iter().rfind(allowed).unwrap_or(Level::PORTABLE)
    }

    /// The levels that tests compare: every level of this CPU, or the one that `TUFF_TEST_SIMD` names (a word of [`NAMES`]).
    ///
    /// # Panics
    /// If it names none, or one that this CPU lacks: a test must not pass by running nothing.
    #[doc(hidden)]
    pub fn tested() -> Vec<Level> {
        let Ok(name) = std::env::var("TUFF_TEST_SIMD") else { return Level::all() };
        vec![Level::named(&name).unwrap_or_else(|| panic!("TUFF_TEST_SIMD={name} is no level of this CPU"))]
    }
}

/// See [`gathers_are_slow`]. A level that asks writes it when it is detected, so before any of its functions runs.
static SLOW_GATHERS: AtomicBool = AtomicBool::new(false);

/// Whether sixteen loads are quicker than one of AVX-512's gathers. That is so on AMD's CPUs, where a gather is microcode (Zen 4:
/// sixteen words take 3.0 ns by loads and 4.9 ns by the instruction, pairs of words 3.1 and 6.0).
#[inline(always)]
pub fn gathers_are_slow() -> bool {
    SLOW_GATHERS.load(Relaxed)
}

pub(crate) fn set_slow_gathers(slow: bool) {
    SLOW_GATHERS.store(slow, Relaxed);
}

/// For tests: what [`gathers_are_slow`] returns from now on. Results do not depend on it.
#[doc(hidden)]
pub fn pretend_slow_gathers(slow: bool) {
    set_slow_gathers(slow);
}
