//! The seam between code written once over [`crate::Simd`] and the machine: what a function of a level is compiled with, and
//! how the one for a level is picked. Nothing outside names CPU features.

/// Functions of [`crate::Level::Portable`]: as any other.
#[macro_export]
macro_rules! portable {
    ($($item:item)*) => {
        $($item)*
    };
}

/// Functions compiled with the instructions of [`crate::Level::Avx2`].
#[macro_export]
macro_rules! avx2 {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        $item)*
    };
}

/// Functions compiled with the instructions of [`crate::Level::Avx512`].
#[macro_export]
macro_rules! avx512 {
    ($($item:item)*) => {
        $(#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        $item)*
    };
}

/// Makes `fn name(level, ..) -> r` that runs `body(s, ..)` as compiled for the level, `s` being a [`crate::Simd`]: `body` is
/// `inline(always)`. With `unsafe fn`, `body` and `name` are unsafe, and who calls `name` keeps what `body` asks for. With
/// `plain`, a body without `s`: plain loops, that the compiler makes vectors of; closures in it that are not inlined would be
/// compiled without the level's features.
#[macro_export]
macro_rules! by_level {
    ($(#[$m:meta])* $vis:vis fn $name:ident = plain $body:ident, ($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?) => {
        $(#[$m])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name(level: $crate::Level, $($a: $t),*) $(-> $r)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn of<S: $crate::Simd>(_: S, $($a: $t),*) $(-> $r)? {
                $body($($a),*)
            }
            $crate::by_level!(fn picked = of, ($($a: $t),*) $(-> $r)?);
            picked(level, $($a),*)
        }
    };
    ($(#[$m:meta])* $vis:vis unsafe fn $name:ident = plain $body:ident, ($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?) => {
        $(#[$m])*
        #[allow(clippy::too_many_arguments)]
        $vis unsafe fn $name(level: $crate::Level, $($a: $t),*) $(-> $r)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            unsafe fn of<S: $crate::Simd>(_: S, $($a: $t),*) $(-> $r)? {
                // SAFETY: the caller of `$name` keeps it.
                unsafe { $body($($a),*) }
            }
            $crate::by_level!(unsafe fn picked = of, ($($a: $t),*) $(-> $r)?);
            // SAFETY: the caller of `$name` keeps it.
            unsafe { picked(level, $($a),*) }
        }
    };
    ($(#[$m:meta])* $vis:vis fn $name:ident = $body:ident, ($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?) => {
        $crate::by_level!(@ $(#[$m])* [$vis] [] $name = $body, ($($a: $t),*) [$($r)?]);
    };
    ($(#[$m:meta])* $vis:vis unsafe fn $name:ident = $body:ident, ($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?) => {
        $crate::by_level!(@ $(#[$m])* [$vis] [unsafe] $name = $body, ($($a: $t),*) [$($r)?]);
    };
    (@ $(#[$m:meta])* [$vis:vis] [$($unsafe:ident)?] $name:ident = $body:ident, ($($a:ident: $t:ty),*) [$($r:ty)?]) => {
        $(#[$m])*
        #[allow(clippy::too_many_arguments)]
        $vis $($unsafe)? fn $name(level: $crate::Level, $($a: $t),*) $(-> $r)? {
            #[cfg(target_arch = "x86_64")]
            {
                $crate::avx2! {
                    #[allow(clippy::too_many_arguments)]
                    $($unsafe)? fn avx2(s: $crate::Avx2, $($a: $t),*) $(-> $r)? {
                        // SAFETY: the caller of `$name` keeps what the body asks for.
                        $($unsafe)? { $body(s, $($a),*) }
                    }
                }
                $crate::avx512! {
                    #[allow(clippy::too_many_arguments)]
                    $($unsafe)? fn avx512(s: $crate::Avx512, $($a: $t),*) $(-> $r)? {
                        // SAFETY: the caller of `$name` keeps what the body asks for.
                        $($unsafe)? { $body(s, $($a),*) }
                    }
                }
                use $crate::Simd;
                match level {
                    // SAFETY: the level is proof that the CPU has its instructions.
                    $crate::Level::Avx512(_) => return unsafe { avx512($crate::Avx512::assume(), $($a),*) },
                    $crate::Level::Avx2(_) => return unsafe { avx2($crate::Avx2::assume(), $($a),*) },
                    $crate::Level::Portable => {}
                }
            }
            let _ = level;
            // SAFETY: the caller of `$name` keeps what the body asks for.
            $($unsafe)? { $body($crate::Portable, $($a),*) }
        }
    };
}
