//! Which machine's kernels run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// See [`gathers_are_slow`]. Written where [`Level::Avx512`] is found, which is before anybody can ask.
static SLOW_GATHERS: AtomicBool = AtomicBool::new(false);

/// Whether sixteen loads are quicker than one of AVX-512's gathers: on AMD's CPUs, where a gather is microcode (Zen 4: sixteen words in
/// 3.0 ns by loads and 4.9 by the instruction, pairs of words in 3.1 and 6.0).
#[inline(always)]
pub fn gathers_are_slow() -> bool {
    SLOW_GATHERS.load(Relaxed)
}

/// For tests: what [`gathers_are_slow`] says from now on. Results do not depend on it.
#[doc(hidden)]
pub fn pretend_slow_gathers(slow: bool) {
    SLOW_GATHERS.store(slow, Relaxed);
}

/// Instruction sets that kernels are compiled for, of those that this CPU has: a level that needs more than the baseline
/// is proof of it, for there is no way to one but to ask. Results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Whatever the compiler's baseline is.
    Portable,
    /// AVX2, FMA, BMI1/2, LZCNT, POPCNT, F16C.
    Avx2(Avx2Proof),
    /// AVX-512 F, BW, DQ, VL and all of [`Level::Avx2`].
    Avx512(Avx512Proof),
}

/// That the CPU has the instructions of [`Level::Avx2`]. Made in this crate alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Avx2Proof(pub(crate) ());

/// That the CPU has the instructions of [`Level::Avx512`]. Made in this crate alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Avx512Proof(pub(crate) ());

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(["Portable", "Avx2", "Avx512"][self.index()])
    }
}

impl Level {
    /// How many levels there are.
    pub const COUNT: usize = 3;

    /// 0 for the narrowest.
    pub const fn index(self) -> usize {
        match self {
            Level::Portable => 0,
            Level::Avx2(_) => 1,
            Level::Avx512(_) => 2,
        }
    }

    fn avx2() -> Option<Level> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("f16c")
        {
            return Some(Level::Avx2(Avx2Proof(())));
        }
        None
    }

    fn avx512() -> Option<Level> {
        #[cfg(target_arch = "x86_64")]
        if Self::avx2().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            static VENDOR: std::sync::Once = std::sync::Once::new();
            VENDOR.call_once(|| {
                let id = std::arch::x86_64::__cpuid(0);
                let name = [id.ebx, id.edx, id.ecx].map(u32::to_le_bytes);
                SLOW_GATHERS.store([*b"Auth", *b"enti", *b"cAMD"] == name, Relaxed);
            });
            return Some(Level::Avx512(Avx512Proof(())));
        }
        None
    }

    /// The levels of this CPU, the narrowest first.
    pub fn all() -> Vec<Level> {
        [Some(Level::Portable), Self::avx2(), Self::avx512()].into_iter().flatten().collect()
    }

    /// The level of this CPU that `name` (portable, avx2, avx512) names.
    pub fn named(name: &str) -> Option<Level> {
        Self::all().into_iter().find(|l| format!("{l:?}").eq_ignore_ascii_case(name))
    }

    /// What tests compare: every level of this CPU, or the one that `TUFF_TEST_SIMD` (portable, avx2, avx512) names.
    ///
    /// # Panics
    /// If it names none, or one that this CPU lacks: a test must not pass by running nothing.
    #[doc(hidden)]
    pub fn tested() -> Vec<Level> {
        let Ok(name) = std::env::var("TUFF_TEST_SIMD") else { return Level::all() };
        vec![Level::named(&name).unwrap_or_else(|| panic!("TUFF_TEST_SIMD={name} is no level of this CPU"))]
    }

    /// The index of the level that `TUFF_SIMD` (portable, avx2, avx512) names.
    fn asked() -> Option<usize> {
        settings::get().simd.map(|simd| match simd {
            settings::Simd::Portable => 0,
            settings::Simd::Avx2 => 1,
            settings::Simd::Avx512 => 2,
        })
    }

    /// The widest level of this CPU that is no wider than what `TUFF_SIMD` names.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let cap = Self::asked().unwrap_or(Self::COUNT);
            Level::all().into_iter().rfind(|l| l.index() <= cap).unwrap_or(Level::Portable)
        })
    }

    /// True when `TUFF_SIMD` names a level that this CPU lacks: [`Level::best`] is the widest it has.
    pub fn is_less_than_asked() -> bool {
        Self::asked().is_some_and(|asked| Self::best().index() < asked)
    }
}
