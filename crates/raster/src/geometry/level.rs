//! Loops over lanes, compiled for each SIMD level. The bodies are plain Rust without fused operations, so that all
//! levels give the same bits.

/// Makes function `$name(level, ..)` that runs `$body(..)`, an `inline(always)` function, as compiled for the level.
macro_rules! by_level {
    ($(#[$doc:meta])* fn $name:ident = $body:path, ($($arg:ident: $ty:ty),* $(,)?)) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub(super) fn $name(level: simd::Level, $($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
                unsafe fn avx2($($arg: $ty),*) {
                    $body($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
                unsafe fn avx512($($arg: $ty),*) {
                    $body($($arg),*)
                }
                match level {
                    // SAFETY: the level is available on this CPU.
                    simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                    simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    simd::Level::Portable => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
pub(super) use by_level;
