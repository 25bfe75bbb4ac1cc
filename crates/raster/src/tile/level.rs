//! Functions over [`simd::Simd`] compiled for each SIMD level, chosen at run time. All levels give the same bits.

/// Makes `fn $name(level, ..) -> $r` that calls `$body::<S>(..)`, an `inline(always)` unsafe function whose only
/// condition is the level's CPU features.
macro_rules! by_level {
    (fn $name:ident = $body:ident, ($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?) => {
        #[allow(clippy::too_many_arguments)]
        fn $name(level: simd::Level, $($a: $t),*) $(-> $r)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
                #[allow(clippy::too_many_arguments)]
                unsafe fn avx2($($a: $t),*) $(-> $r)? {
                    $body::<simd::Avx2>($($a),*)
                }
                #[target_feature(
                    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c"
                )]
                #[allow(clippy::too_many_arguments)]
                unsafe fn avx512($($a: $t),*) $(-> $r)? {
                    $body::<simd::Avx512>($($a),*)
                }
                match level {
                    // SAFETY: levels are chosen by what the CPU has.
                    simd::Level::Avx512 => return unsafe { avx512($($a),*) },
                    simd::Level::Avx2 => return unsafe { avx2($($a),*) },
                    simd::Level::Portable => {}
                }
            }
            let _ = level;
            // SAFETY: portable code runs anywhere.
            unsafe { $body::<simd::Portable>($($a),*) }
        }
    };
}
pub(super) use by_level;

/// A method `$name` that runs `$body::<S>` as compiled for the task's level; all levels give the same bits.
macro_rules! dispatched {
    ($vis:vis $name:ident, $avx2:ident, $avx512:ident, ($($a:ident: $t:ty),*) -> $r:ty, $body:ident) => {
        #[inline(never)]
        $vis unsafe fn $name(&mut self, $($a: $t),*) -> $r {
            #[cfg(target_arch = "x86_64")]
            match self.level {
                simd::Level::Avx512 => return self.$avx512($($a),*),
                simd::Level::Avx2 => return self.$avx2($($a),*),
                simd::Level::Portable => {}
            }
            self.$body::<simd::Portable>($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        unsafe fn $avx2(&mut self, $($a: $t),*) -> $r {
            self.$body::<simd::Avx2>($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        unsafe fn $avx512(&mut self, $($a: $t),*) -> $r {
            self.$body::<simd::Avx512>($($a),*)
        }
    };
}
pub(super) use dispatched;
