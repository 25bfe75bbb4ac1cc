//! How methods of [`crate::Simd`] are written down where a machine has vectors.

/// Of a pair of vectors: what is done with each.
#[cfg(target_arch = "x86_64")]
macro_rules! two1 {
    ($($name:ident($ta:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { [$f(a[0]), $f(a[1])] }
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
macro_rules! two2 {
    ($($name:ident($ta:ident, $tb:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { [$f(a[0], b[0]), $f(a[1], b[1])] }
        }
    )* };
}

/// Methods whose bodies are the level's instructions; those that touch memory are unsafe.
macro_rules! methods {
    () => {};
    (fn $name:ident($self:ident $(, $a:ident: $t:ty)*) $(-> $r:ty)? $body:block $($rest:tt)*) => {
        #[inline(always)]
        fn $name($self $(, $a: $t)*) $(-> $r)? {
            // SAFETY: `self` is proof that the CPU has the instructions.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
        methods! { $($rest)* }
    };
    (unsafe fn $name:ident($self:ident $(, $a:ident: $t:ty)*) $(-> $r:ty)? $body:block $($rest:tt)*) => {
        #[inline(always)]
        unsafe fn $name($self $(, $a: $t)*) $(-> $r)? {
            // SAFETY: `self` is proof that the CPU has the instructions, and what pointers lead to may be read and written
            // as far as the method's words say: the caller's.
            unsafe { $body }
        }
        methods! { $($rest)* }
    };
}

/// Whether an x86-64 CPU has all of the instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! x86_has {
    ([$($feature:tt)*] {}) => {
        $(std::arch::is_x86_feature_detected!($feature))&&*
    };
}
