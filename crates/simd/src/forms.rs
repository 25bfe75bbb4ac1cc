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

/// The function for a level: `form!(level, unsafe fn(a: A) -> R = body)` is a pointer to `body(s, a)` as compiled for the level,
/// `s` being a [`crate::Simd`] and `body` `inline(always)`. Who calls it keeps what `body` asks for, and is on the machine that
/// the level is of. With `fn`, a body that asks for nothing; with `<T: Trait>` or `<const N: usize>` before it, functions of the
/// type or constant around. After a semicolon:
///
/// - `portable = other`: another body for [`crate::Level::Portable`];
/// - `portable if condition`: gives an `Option`, none for that level where the condition does not hold;
/// - `avx2 at most`: no form of its own for [`crate::Level::Avx512`]; `portable = other` may follow it, after a comma.
#[macro_export]
macro_rules! form {
    // A function compiled with features, for both macros of this file.
    (@$form:ident: $features:ident $simd:ident [$($g:tt)*] [$($unsafe:ident)?] $body:expr, ($($a:ident: $t:ty),*) [$($r:ty)?]) => {
        $crate::$features! {
            #[allow(clippy::too_many_arguments)]
            unsafe fn $form<$($g)*>($($a: $t),*) $(-> $r)? {
                // SAFETY: the caller's CPU has the instructions.
                let s = unsafe { <$crate::$simd as $crate::Simd>::assume() };
                // SAFETY: the caller keeps what the body asks for.
                $($unsafe)? { $body(s, $($a),*) }
            }
        }
    };
    (@wide [] $($rest:tt)*) => {};
    (@wide [$features:ident $simd:ident] $($rest:tt)*) => { $crate::form!(@avx512: $features $simd $($rest)*); };
    (@pick [$level:expr] [$($g:tt)*] [$($of:tt)*] [$($unsafe:ident)?] ($($a:ident: $t:ty),* $(,)?) [$($r:ty)?] [$body:expr]
        [$portable:expr] [$wide:ident $($features:ident $simd:ident)?] [$some:path, $when:expr, $none:expr]) => {
        'picked: {
            let level: $crate::Level = $level;
            #[cfg(target_arch = "x86_64")]
            {
                $crate::form!(@avx2: avx2 Avx2 [$($g)*] [$($unsafe)?] $body, ($($a: $t),*) [$($r)?]);
                $crate::form!(@wide [$($features $simd)?] [$($g)*] [$($unsafe)?] $body, ($($a: $t),*) [$($r)?]);
                match level {
                    $crate::Level::Avx512(_) => break 'picked $some($wide::<$($of)*> as unsafe fn($($t),*) $(-> $r)?),
                    $crate::Level::Avx2(_) => break 'picked $some(avx2::<$($of)*> as unsafe fn($($t),*) $(-> $r)?),
                    $crate::Level::Portable => {}
                }
            }
            let _ = level;
            #[allow(clippy::too_many_arguments)]
            unsafe fn portable_form<$($g)*>($($a: $t),*) $(-> $r)? {
                // SAFETY: the caller keeps what the body asks for.
                $($unsafe)? { $portable($crate::Portable, $($a),*) }
            }
            if $when { $some(portable_form::<$($of)*> as unsafe fn($($t),*) $(-> $r)?) } else { $none }
        }
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt [$($r:ty)?] $body:expr) => {
        $crate::form!(@pick $level $g $of $unsafe $a [$($r)?] [$body] [$body] [avx512 avx512 Avx512] [::std::convert::identity, true, unreachable!()])
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt [$($r:ty)?] $body:expr; portable = $portable:expr) => {
        $crate::form!(@pick $level $g $of $unsafe $a [$($r)?] [$body] [$portable] [avx512 avx512 Avx512] [::std::convert::identity, true, unreachable!()])
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt [$($r:ty)?] $body:expr; portable if $when:expr) => {
        $crate::form!(@pick $level $g $of $unsafe $a [$($r)?] [$body] [$body] [avx512 avx512 Avx512] [Some, $when, None])
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt [$($r:ty)?] $body:expr; avx2 at most) => {
        $crate::form!(@pick $level $g $of $unsafe $a [$($r)?] [$body] [$body] [avx2] [::std::convert::identity, true, unreachable!()])
    };
    (@of $level:tt $g:tt $of:tt $unsafe:tt $a:tt [$($r:ty)?] $body:expr; avx2 at most, portable = $portable:expr) => {
        $crate::form!(@pick $level $g $of $unsafe $a [$($r)?] [$body] [$portable] [avx2] [::std::convert::identity, true, unreachable!()])
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
                $crate::form!(@avx2: avx2 Avx2 [] [$($unsafe)?] $body, ($($a: $t),*) [$($r)?]);
                $crate::form!(@avx512: avx512 Avx512 [] [$($unsafe)?] $body, ($($a: $t),*) [$($r)?]);
                match level {
                    // SAFETY: the level is proof that the CPU has its instructions; the caller of `$name` keeps the rest.
                    $crate::Level::Avx512(_) => return unsafe { avx512($($a),*) },
                    $crate::Level::Avx2(_) => return unsafe { avx2($($a),*) },
                    $crate::Level::Portable => {}
                }
            }
            let _ = level;
            // SAFETY: the caller of `$name` keeps what the body asks for.
            $($unsafe)? { $body($crate::Portable, $($a),*) }
        }
    };
}

/// The tests of a crate's kernels: that each is its reference on every level of this CPU, and that none is left out.
/// `walk! { "room::file::name" => check; }`: `check(level)` is where a kernel is compared with what does one lane at a time (or,
/// of what has none, with the portable form). Kernels are what the crate's sources say with [`by_level`] and [`form`]: by
/// the function's name, or the field's that it is for.
#[macro_export]
macro_rules! walk {
    ($($($name:literal),+ => $check:expr;)*) => {
        #[test]
        fn every_kernel_is_its_reference_on_every_level() {
            for level in $crate::Level::tested() {
                $(
                    let check: fn($crate::Level) = $check;
                    println!("{} at {level:?}", [$($name),+].join(", "));
                    // Kernels that are not optimised want more stack than a test has.
                    let thread = std::thread::Builder::new().stack_size(64 << 20);
                    thread.spawn(move || check(level)).unwrap().join().unwrap();
                )*
            }
        }

        #[test]
        fn no_kernel_is_left_out() {
            /// The word behind `before`.
            fn word<'a>(line: &'a str, before: &str) -> Option<&'a str> {
                let (_, rest) = line.split_once(before)?;
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|w| !w.is_empty())
            }
            fn read(root: &std::path::Path, dir: &std::path::Path, found: &mut Vec<String>) {
                for path in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
                    if path.file_name().is_some_and(|n| n.to_string_lossy().contains("tests")) {
                        continue;
                    }
                    if path.is_dir() {
                        read(root, &path, found);
                        continue;
                    }
                    let text = std::fs::read_to_string(&path).unwrap();
                    let tests = text.match_indices("#[cfg(test)]\nmod ").find(|(at, head)| {
                        text[at + head.len()..].lines().next().is_some_and(|l| l.ends_with('{'))
                    });
                    let code = &text[..tests.map_or(text.len(), |(at, _)| at)];
                    let place = path.strip_prefix(root).unwrap().with_extension("").to_string_lossy().replace('/', "::");
                    let place = place.trim_end_matches("::mod");
                    let (mut within, mut named) = (String::new(), true);
                    for line in code.lines().map(str::trim).filter(|l| !l.starts_with("//")) {
                        named &= !line.contains("by_level!");
                        let spaced = format!(" {}", line.replace('(', "( "));
                        if let Some(name) = word(&spaced, " fn ") {
                            if !std::mem::replace(&mut named, true) {
                                found.push(format!("{place}::{name}"));
                            }
                            within = name.to_string();
                        }
                        if line.contains("form!(") {
                            let field = line.split_once(": ").filter(|(_, rest)| rest.contains("form!("));
                            found.push(format!("{place}::{}", field.map_or(&*within, |(field, _)| field)));
                        }
                    }
                }
            }
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
            let mut found = Vec::new();
            read(&root, &root, &mut found);
            let mut known = vec![$($($name.to_string()),+),*];
            found.sort();
            known.sort();
            assert_eq!(found, known, "uses of by_level! and form!, and the table of their checks");
        }
    };
}
