//! Functions over [`simd::Simd`] compiled for each SIMD level, chosen at run time. All levels give the same bits.

/// A method `$name` that runs `$body::<S>` as compiled for the task's level; all levels give the same bits.
macro_rules! dispatched {
    ($vis:vis $name:ident, $avx2:ident, $avx512:ident, ($($a:ident: $t:ty),*) -> $r:ty, $body:ident) => {
        #[inline(never)]
        $vis fn $name(&mut self, $($a: $t),*) -> $r {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is proof that the CPU has its instructions.
            match self.level {
                simd::Level::Avx512(_) => return unsafe { self.$avx512($($a),*) },
                simd::Level::Avx2(_) => return unsafe { self.$avx2($($a),*) },
                simd::Level::Portable => {}
            }
            self.$body(simd::Portable, $($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        simd::avx2! { fn $avx2(&mut self, $($a: $t),*) -> $r {
            // SAFETY: compiled for such a CPU.
            self.$body(unsafe { <simd::Avx2 as simd::Simd>::assume() }, $($a),*)
        } }
        #[cfg(target_arch = "x86_64")]
        simd::avx512! { fn $avx512(&mut self, $($a: $t),*) -> $r {
            // SAFETY: compiled for such a CPU.
            self.$body(unsafe { <simd::Avx512 as simd::Simd>::assume() }, $($a),*)
        } }
    };
}
pub(super) use dispatched;
