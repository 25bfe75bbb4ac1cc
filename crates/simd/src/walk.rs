//! The tests that every crate with kernels has.

/// The tests of a crate's kernels: each equals its reference on every level of this CPU, and none is left out.
/// In `walk! { "room::file::name" => check; }`, `check(level)` compares a kernel with code that handles one lane at a time, or, if
/// there is no such code, with the portable form. A kernel is a use of [`by_level`] or [`form`] in the crate's sources. Its name is
/// that of the function, or of the field that the form is for.
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
            /// The word after `before`.
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
