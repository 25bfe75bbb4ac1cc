//! Which machine's kernels run.

use std::sync::OnceLock;

/// Instruction sets that kernels are compiled for. Results do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Whatever the compiler's baseline is.
    Portable,
    /// AVX2, FMA, BMI1/2, LZCNT, POPCNT, F16C.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and all of [`Level::Avx2`].
    Avx512,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// True when this CPU runs the level.
    pub fn available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// What tests compare: every level of this CPU, or the one that `TUFF_TEST_SIMD` (portable, avx2, avx512) names.
    ///
    /// # Panics
    /// If it names none, or one that this CPU lacks: a test must not pass by running nothing.
    #[doc(hidden)]
    pub fn tested() -> Vec<Level> {
        let Ok(name) = std::env::var("TUFF_TEST_SIMD") else {
            return Level::ALL.into_iter().filter(|l| l.available()).collect();
        };
        let one = Level::ALL.into_iter().find(|l| format!("{l:?}").eq_ignore_ascii_case(&name));
        let one = one.unwrap_or_else(|| panic!("TUFF_TEST_SIMD={name} is no level"));
        assert!(one.available(), "TUFF_TEST_SIMD={name}: this CPU lacks it");
        vec![one]
    }

    /// The widest level of this CPU, or a lower one if the settings name it.
    pub fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| {
            let cap = match settings::get().simd {
                Some(settings::Simd::Portable) => Level::Portable,
                Some(settings::Simd::Avx2) => Level::Avx2,
                Some(settings::Simd::Avx512) | None => Level::Avx512,
            };
            let mut best = Level::Portable;
            for level in Level::ALL {
                if level <= cap && level.available() {
                    best = level;
                }
            }
            best
        })
    }
}
