//! How kernels over [`simd::Steps`] get their forms ([`simd::form`]). They are `cold`: their time goes into memory and masks, and wider
//! vectors would not make them faster. Those that move whole vectors are `wide`: they are over [`simd::Simd`], and all levels have a form.

/// The form of `fn name<L: Steps>(L, &mut State, At) -> *const Op` (`#[inline(always)]`) for a level; with `wide` before it, of
/// `fn name<S: Simd>(S, …)`.
macro_rules! kernel_form {
    (@of $bound:ident [$($option:tt)*] $level:expr, $($name:ident)::+) => {{
        #[inline(always)]
        unsafe fn body<S: ::simd::$bound>(
            s: S,
            st: &mut $crate::state::State,
            op: *const ::shader::bytecode::Op,
        ) -> *const ::shader::bytecode::Op {
            // SAFETY: the caller's.
            $($name)::+(s, st, unsafe { $crate::state::At::new(op) })
        }
        ::simd::form!(
            $level,
            unsafe fn(
                st: &mut $crate::state::State,
                op: *const ::shader::bytecode::Op,
            ) -> *const ::shader::bytecode::Op = body $($option)*
        )
    }};
    (wide $level:expr, $($name:ident)::+) => {
        $crate::kernels::forms::kernel_form!(@of Simd [] $level, $($name)::+)
    };
    ($level:expr, $($name:ident)::+) => {
        $crate::kernels::forms::kernel_form!(@of Steps [; cold] $level, $($name)::+)
    };
}

/// Makes `register`, which puts this file's kernels into a table: `kernels! { CODE OTHER = name; … (wide CODE = name) … }`.
macro_rules! kernels {
    ($($($code:ident)+ = $name:ident;)* $((wide $wide:ident = $of_wide:ident))*) => {
        /// Puts this file's kernels into the table.
        pub fn register(r: &mut $crate::kernels::Registry) {
            use ::shader::bytecode::Code;
            $(
                let kernel = $crate::kernels::forms::kernel_form!(r.level(), $name);
                $(r.set(Code::$code, kernel);)+
            )*
            $(
                let kernel = $crate::kernels::forms::kernel_form!(wide r.level(), $of_wide);
                r.set(Code::$wide, kernel);
            )*
        }
    };
}

/// Calls the form of a kernel for `l`'s level. It stays a function of its own: its code is large, and within the loop around the call
/// it would cost registers.
macro_rules! call_kernel {
    ($l:expr, $($name:ident)::+, $st:expr, $op:expr) => {{
        let kernel = $crate::kernels::forms::kernel_form!(::simd::Simd::level($l), $($name)::+);
        // SAFETY: `$op` is proof of what a kernel requires, `$l` that the CPU has the level's instructions.
        unsafe { kernel($st, $op.ptr()) }
    }};
}

/// Makes `fn name<L: Steps>(L, …)` of `body`: inlined where the level has vectors, and a function of its own elsewhere, because code
/// of the portable level is large.
macro_rules! inlined_with_vectors {
    ($(#[$m:meta])* $vis:vis unsafe fn $name:ident = $body:ident, ($($a:ident: $t:ty),* $(,)?)) => {
        $(#[$m])*
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        $vis unsafe fn $name<L: ::simd::Steps>(l: L, $($a: $t),*) {
            #[inline(never)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn called<L: ::simd::Steps>(l: L, $($a: $t),*) {
                // SAFETY: the caller's.
                unsafe { $body(l, $($a),*) }
            }
            // SAFETY (both): the caller's.
            if L::VECTORS { unsafe { $body(l, $($a),*) } } else { unsafe { called(l, $($a),*) } }
        }
    };
}

pub(crate) use {call_kernel, inlined_with_vectors, kernel_form, kernels};
