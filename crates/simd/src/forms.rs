//! The forms of a function: the function compiled for each level, and the choice between them. [`levels`](crate::levels) lists the
//! levels, and only the levels' own files name CPU features.
//!
//! Code is written once over [`crate::Simd`], as an `inline(always)` function. There are two ways to compile it, because a call by a
//! level and a pointer to keep are different needs:
//! - [`by_level`] makes a function that runs the form of the given level: the compiler sees a direct call.
//! - [`form`] gives a pointer to the form of the given level.

/// Functions of the portable level, which need no instructions beyond the baseline.
#[macro_export]
macro_rules! portable {
    ($($item:item)*) => {
        $($item)*
    };
}

/// The items, compiled with a level's instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! with_features {
    ($features:tt { $($item:item)* }) => {
        $($crate::with_features! { @one $features $item })*
    };
    (@one [$($feature:tt)*] $item:item) => {
        $(#[target_feature(enable = $feature)])*
        $item
    };
}

/// A pointer to the form of a function for a level. `form!(level, unsafe fn(a: A) -> R = body)` points to `body(s, a)` as compiled
/// for the level, where `s` is its [`crate::Simd`] and `body` is `inline(always)`. The caller of the pointer guarantees what `body`
/// requires, and runs on the CPU from which the level came. With `fn` instead of `unsafe fn`, `body` is a safe function. With
/// `<T: Trait>` or `<const N: usize>` before it, the forms have that parameter of the function around them.
///
/// All forms of the table are compiled, also those of a level for which the caller returns before it uses them.
/// Every level has a form, except as an option says after a semicolon:
/// - `portable = other`: the portable level has another body.
/// - `portable if CONDITION`, which is constant: the result is an `Option`, which is `None` for the portable level unless the condition
///   holds; then no such form is compiled.
/// - `cold`: a level runs the form of the level that its row in [`levels`](crate::levels) names after `cold`.
///   `cold if CONDITION`, which is constant: only where it is true. `portable = other` may follow, after a comma, and after `cold` also
///   `portable if CONDITION`.
#[macro_export]
macro_rules! form {
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$body] [false] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; portable = $portable:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$portable] [false] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; portable if $when:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$body] [portable if $when] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; cold) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$body] [true] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; cold, portable = $portable:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$portable] [true] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; cold, portable if $when:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$body] [cold portable if $when] } }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:expr; cold if $cold:expr, portable = $portable:expr) => {
        $crate::levels! { form_table { $level $g $of $unsafe $a $r [$body] [$portable] [if $cold] } }
    };
    (@fn $level:tt $g:tt $of:tt unsafe fn $a:tt $(-> $r:ty)? = $($body:tt)*) => {
        $crate::form!(@of $level $g $of [unsafe] $a [$($r)?] $($body)*)
    };
    (@fn $level:tt $g:tt $of:tt fn $a:tt $(-> $r:ty)? = $($body:tt)*) => {
        $crate::form!(@of $level $g $of [] $a [$($r)?] $($body)*)
    };
    ($level:expr, <const $n:ident: $t:ty> $($rest:tt)*) => { $crate::form!(@fn [$level] [const $n: $t] [$n] $($rest)*) };
    ($level:expr, <$n:ident: $t:path> $($rest:tt)*) => { $crate::form!(@fn [$level] [$n: $t] [$n] $($rest)*) };
    ($level:expr, $($rest:tt)*) => { $crate::form!(@fn [$level] [] [] $($rest)*) };
}

/// The forms of a function, by [`crate::Level::index`], and the one of the level. They are a constant: only forms that are in it
/// are compiled.
#[doc(hidden)]
#[macro_export]
macro_rules! form_table {
    ({ [$level:expr] $g:tt $of:tt $unsafe:tt $a:tt $r:tt $body:tt $portable:tt $cold:tt }
        $({ $name:ident, $machine:ident, $exists:meta, cold = $other:ident })*) => {{
        let forms = const {
            $(
                #[cfg($exists)]
                $crate::form_define! { $cold $other $name $g $unsafe $a $r $body $portable }
            )*
            &[$(
                #[cfg($exists)]
                $crate::form_entry!($cold $other $name $of $a $r)
            ),*]
        };
        forms[$crate::Level::index($level)]
    }};
}

/// A level's form, if it has one of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! form_define {
    ([true] own $($rest:tt)*) => { $crate::form_fn! { $($rest)* } };
    ([true] $other:ident $($rest:tt)*) => {};
    ([cold portable if $when:expr] own $($rest:tt)*) => { $crate::form_fn! { $($rest)* } };
    ([cold portable if $when:expr] $other:ident $($rest:tt)*) => {};
    ($cold:tt $other:ident $($rest:tt)*) => { $crate::form_fn! { $($rest)* } };
}

/// A level's entry in the table.
#[doc(hidden)]
#[macro_export]
macro_rules! form_entry {
    ([cold portable if $when:expr] own portable $($rest:tt)*) => {
        if $when { Some($crate::form_pointer!(portable $($rest)*)) } else { None }
    };
    ([cold portable if $when:expr] own $($rest:tt)*) => { Some($crate::form_pointer!($($rest)*)) };
    ([cold portable if $when:expr] $other:ident $name:ident $($rest:tt)*) => {
        Some($crate::form_pointer!($other $($rest)*))
    };
    ([portable if $when:expr] own portable $($rest:tt)*) => {
        if $when { Some($crate::form_pointer!(portable $($rest)*)) } else { None }
    };
    ([portable if $when:expr] $other:ident $($rest:tt)*) => { Some($crate::form_pointer!($($rest)*)) };
    ([false] $other:ident $($rest:tt)*) => { $crate::form_pointer!($($rest)*) };
    ($cold:tt own $($rest:tt)*) => { $crate::form_pointer!($($rest)*) };
    ([true] $other:ident $name:ident $($rest:tt)*) => { $crate::form_pointer!($other $($rest)*) };
    ([if $cold:expr] $other:ident $name:ident $($rest:tt)*) => {
        if $cold { $crate::form_pointer!($other $($rest)*) } else { $crate::form_pointer!($name $($rest)*) }
    };
}

/// A pointer to a form.
#[doc(hidden)]
#[macro_export]
macro_rules! form_pointer {
    (portable [$($of:tt)*] ($($a:ident: $t:ty),* $(,)?) [$($r:ty)?]) => {
        portable_form::<$($of)*> as unsafe fn($($t),*) $(-> $r)?
    };
    ($name:ident [$($of:tt)*] ($($a:ident: $t:ty),* $(,)?) [$($r:ty)?]) => {
        $name::<$($of)*> as unsafe fn($($t),*) $(-> $r)?
    };
}

/// A function compiled with a level's instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! form_fn {
    (portable [$($g:tt)*] [$($unsafe:ident)?] ($($a:ident: $t:ty),* $(,)?) [$($r:ty)?] $body:tt [$portable:expr]) => {
        #[allow(clippy::too_many_arguments, dead_code)]
        unsafe fn portable_form<$($g)*>($($a: $t),*) $(-> $r)? {
            // SAFETY: the caller guarantees what the body requires.
            $($unsafe)? { $portable($crate::Portable, $($a),*) }
        }
    };
    ($name:ident [$($g:tt)*] [$($unsafe:ident)?] ($($a:ident: $t:ty),* $(,)?) [$($r:ty)?] [$body:expr] $portable:tt) => {
        $crate::$name! {
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name<$($g)*>($($a: $t),*) $(-> $r)? {
                // SAFETY: the caller's CPU has the instructions.
                let s = unsafe { <$crate::machines::$name as $crate::Simd>::assume() };
                // SAFETY: the caller guarantees what the body requires.
                $($unsafe)? { $body(s, $($a),*) }
            }
        }
    };
}

/// Makes `fn name(level, ..) -> r`, which runs `body(s, ..)` as compiled for the level. `s` is the level's [`crate::Simd`], and `body`
/// is `inline(always)`. With `unsafe fn`, `body` and `name` are unsafe, and the caller of `name` guarantees what `body` requires. With
/// `plain`, the body has no `s`: it consists of plain loops, which the compiler turns into vectors. Closures in it that are not inlined
/// would be compiled without the level's instructions.
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
                // SAFETY: the caller of `$name` guarantees what the body requires.
                unsafe { $body($($a),*) }
            }
            $crate::by_level!(unsafe fn picked = of, ($($a: $t),*) $(-> $r)?);
            // SAFETY: the caller of `$name` guarantees what the body requires.
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
            $crate::levels! { call_by_level { level [$($unsafe)?] ($($a: $t),*) [$($r)?] [$body] } }
        }
    };
}

/// Calls the form of the level.
#[doc(hidden)]
#[macro_export]
macro_rules! call_by_level {
    ({ $level:ident $unsafe:tt $a:tt $r:tt $body:tt }
        $({ $name:ident, $machine:ident, $exists:meta, cold = $other:ident })*) => {
        match $level {
            $(
                #[cfg($exists)]
                $crate::Level::$machine(_) => $crate::call_form!($name $unsafe $a $r $body),
            )*
        }
    };
}

/// Calls a level's form. The portable one is the body itself.
#[doc(hidden)]
#[macro_export]
macro_rules! call_form {
    (portable [$($unsafe:ident)?] ($($a:ident: $t:ty),*) $r:tt [$body:expr]) => {
        // SAFETY: the caller guarantees what the body requires.
        $($unsafe)? { $body($crate::Portable, $($a),*) }
    };
    ($name:ident $unsafe:tt ($($a:ident: $t:ty),*) $r:tt $body:tt) => {{
        $crate::form_fn! { $name [] $unsafe ($($a: $t),*) $r $body [] }
        // SAFETY: the level is proof that the CPU has its instructions; the caller guarantees the rest.
        unsafe { $name($($a),*) }
    }};
}
