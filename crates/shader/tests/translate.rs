//! Translation of real modules: every one in `tests/spirv` and every benchmark kernel becomes IR that keeps the rules and
//! a program; broken ones become errors.

#[allow(dead_code, reason = "others use the rest")]
mod modules;

use client::tensor::{Element, Shift};
use random::Random;
use shader::ir::{Bin, Inst, Shader, Stage, Tri};
use shader::options::{Binding, Error, Options};
use shader::{Module, build::build, compile, verify::verify};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn modules() -> Vec<(String, Vec<u32>)> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let matrices = here.join("../conformance/shaders/matrices");
    let folders = vec![here.join("tests/spirv"), here.join("../../benches/kernels"), matrices];
    let name = |p: &PathBuf| p.file_stem().expect("a name").to_string_lossy().into_owned();
    let mut out: Vec<_> = modules::below(folders).into_iter().map(|(p, words)| (name(&p), words)).collect();
    assert!(out.len() >= 20, "the modules are checked in");
    // Of instructions that Debian 12's compilers do not know.
    let shift = |element, rank, at_once| {
        Shift { element, rank, shift: 1, at_once, outside: 3, in_turn: rank == 3 }.spirv()
    };
    out.push(("tensors".into(), shift(Element::F16, 3, 4)));
    out.push(("wide_tensors".into(), shift(Element::U64, 6, 1)));
    out
}

fn binding(_: u32, b: u32) -> Option<Binding> {
    Some(Binding::new(0, 32 * b.min(1000), 4))
}

/// Of a module by its name: `x.vert`, `x.frag`, or of the compute stage.
fn stage(name: &str) -> Stage {
    match name.rsplit_once('.').map(|n| n.1) {
        Some("vert") => Stage::Vertex,
        Some("frag") => Stage::Fragment,
        _ => Stage::Compute,
    }
}

fn options<'a>(name: &str, spec: &'a [(u32, u64)]) -> Options<'a> {
    Options { spec, ..Options::new(stage(name), "main", &binding) }
}

fn translate(name: &str, spec: &[(u32, u64)]) -> Shader {
    let (_, words) = modules().into_iter().find(|m| m.0 == name).expect("a module of this name");
    build(&Module::parse(&words).expect("parses"), &options(name, spec)).expect("translates")
}

#[test]
fn every_module_translates_and_lowers() {
    for (name, words) in modules() {
        let m = Module::parse(&words).unwrap_or_else(|e| panic!("{name}: {e}"));
        let s = build(&m, &options(&name, &[])).unwrap_or_else(|e| panic!("{name}: {e}"));
        verify(&s).unwrap_or_else(|e| panic!("{name}: {e}"));
        compile(&m, &options(&name, &[])).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

#[test]
fn byte_order_does_not_matter() {
    for (name, words) in modules() {
        let swapped: Vec<u32> = words.iter().map(|w| w.swap_bytes()).collect();
        let a = build(&Module::parse(&words).expect("parses"), &options(&name, &[])).expect("translates");
        let b = build(&Module::parse(&swapped).expect("parses"), &options(&name, &[])).expect("translates");
        assert!(a == b, "{name}");
    }
}

#[test]
fn saxpy_is_straight_and_hoists_nothing_twice() {
    let s = translate("saxpy", &[]);
    assert_eq!(s.blocks.len(), 1);
    let count = |f: fn(&Inst) -> bool| s.blocks[0].insts.iter().filter(|v| f(&s.data(**v).inst)).count();
    assert_eq!(count(|i| matches!(i, Inst::Store { .. })), 1);
    assert_eq!(count(|i| matches!(i, Inst::Load { .. })), 2);
    assert_eq!(count(|i| matches!(i, Inst::Descriptor { .. })), 2);
}

#[test]
fn specialisation_sizes_the_workgroup_and_folds() {
    let s = translate("addresses", &[(3, 8), (4, 2), (7, 1), (8, 0)]);
    assert_eq!(s.workgroup, [8, 2, 1]);
    // tmp has N * 2 + 3 = 5 words here, N * 2 + 1 = 9 by default; nothing follows it.
    assert_eq!(s.shared_bytes, 20);
    assert_eq!(translate("addresses", &[]).shared_bytes, 36);
}

/// What the driver reports as accelerated is one operation.
#[test]
fn dot_products_of_packed_bytes_are_one_operation() {
    let s = translate("dots", &[]);
    let count = |op: Bin| s.values.iter().filter(|v| matches!(v.inst, Inst::Bin(o, ..) if o == op)).count();
    assert_eq!([Bin::SDot4, Bin::SUDot4, Bin::UDot4, Bin::IMul].map(count), [1, 1, 1, 0]);
}

/// The bytes -128, 127, 255 (or -1) and 1, by themselves.
#[test]
fn dot_products_fold() {
    let x = u32::from_le_bytes([0x80, 0x7F, 0xFF, 1]);
    let fold = |op: Bin| shader::eval::bin(op, shader::ir::Ty::B32, x as u64, x as u64);
    let [signed, mixed, unsigned] = [Bin::SDot4, Bin::SUDot4, Bin::UDot4].map(fold);
    assert_eq!(signed, Some(16384 + 16129 + 1 + 1));
    assert_eq!(mixed, Some((-16384i32 + 16129 - 255 + 1) as u32 as u64));
    assert_eq!(unsigned, Some(16384 + 16129 + 65025 + 1));
}

#[test]
fn small_arrays_stay_out_of_memory() {
    let s = translate("arrays", &[]);
    // Only the array of 40 floats and its inout copy are in scratch memory.
    assert_eq!(s.scratch_words, 80);
}

/// The IR of small modules, word for word. TUFF_BLESS=1 writes what is there now.
#[test]
fn small_modules_print_as_recorded() {
    for name in ["saxpy", "sgemmt", "pointers", "lut"] {
        let got = shader::ir_print::print(&translate(name, &[]));
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/spirv/{name}.ir"));
        if std::env::var_os("TUFF_BLESS").is_some() {
            std::fs::write(&path, &got).expect("writable");
        }
        let want = std::fs::read_to_string(&path).expect("a recorded print");
        assert!(got == want, "{name} is now:\n{got}");
    }
}

/// How many of a kernel's values are such, and how many where signed zeros, infinities and NaNs are to be kept.
fn free_and_kept(name: &str, is: impl Fn(&Shader, &Inst) -> bool) -> [usize; 2] {
    const EXECUTION_MODE: u32 = 16;
    const SIGNED_ZERO_INF_NAN_PRESERVE: u32 = 4461;
    let (_, mut words) = modules().into_iter().find(|m| m.0 == name).expect("a kernel");
    let count = |words: &[u32]| {
        let s = build(&Module::parse(words).expect("parses"), &options(name, &[])).expect("translates");
        s.values.iter().filter(|v| is(&s, &v.inst)).count()
    };
    let free = count(&words);
    let mut at = 5;
    while words[at] & 0xFFFF != EXECUTION_MODE {
        at += words[at] as usize >> 16;
    }
    let keep = [4 << 16 | EXECUTION_MODE, words[at + 1], SIGNED_ZERO_INF_NAN_PRESERVE, 32];
    words.splice(at..at, keep);
    [free, count(&words)]
}

/// mix(a, a, t), of which `med` has some: nothing.
#[test]
fn a_mix_of_the_same_is_that() {
    let [free, kept] = free_and_kept("med", |_, i| matches!(i, Inst::Tri(Tri::FMix, a, b, _) if a == b));
    assert!(free == 0 && kept > 0, "{free}, {kept}");
}

/// x + 0 and x − 0, as in `march`'s vec3(1, 0, 0).
#[test]
fn a_zero_adds_nothing() {
    let zero = |s: &Shader, v| s.as_const(v).is_some_and(|c| c & 0x7FFF_FFFF == 0);
    let [free, kept] = free_and_kept(
        "march",
        |s, i| matches!(i, Inst::Bin(Bin::FAdd | Bin::FSub, a, b) if zero(s, *a) || zero(s, *b)),
    );
    assert!(free == 0 && kept > 10, "{free}, {kept}");
}

/// The loop of z = z² + c: no square is kept, and both parts are one op that needs no copy.
#[test]
fn complex_squares_are_one_op() {
    let (_, words) = modules().into_iter().find(|m| m.0 == "mandel").expect("mandel");
    let program =
        compile(&Module::parse(&words).expect("parses"), &options("mandel", &[])).expect("compiles");
    let twins = program.code.iter().filter(|op| shader::twins::of(op.code).is_some()).count();
    let text = shader::bytecode_print::print(&program);
    assert_eq!(twins, 1, "{text}");
    assert!(text.contains("FSumSquares") && !text.contains(" FMul "), "{text}");
}

#[test]
fn a_binding_outside_the_layout_is_an_error() {
    let (_, words) = modules().into_iter().find(|m| m.0 == "saxpy").expect("saxpy");
    let m = Module::parse(&words).expect("parses");
    let o = Options { binding: &|_, b| binding(0, b).filter(|_| b == 0), ..options("saxpy", &[]) };
    assert!(matches!(build(&m, &o), Err(Error::Invalid { .. })));
}

#[test]
fn an_unknown_entry_point_is_an_error() {
    let (_, words) = modules().into_iter().next().expect("a module");
    let m = Module::parse(&words).expect("parses");
    let o = Options { entry: "nobody", ..options("saxpy", &[]) };
    assert!(matches!(build(&m, &o), Err(Error::Invalid { .. })));
}

fn mutate(words: &mut Vec<u32>, rng: &mut Random) {
    let n = words.len();
    match rng.index(10) {
        0 => words.truncate(rng.index(n)),
        1 => {
            words.swap(rng.index(n), rng.index(n));
        }
        2 => {
            let (a, b) = (rng.index(n), rng.index(n));
            words[a] = words[b];
        }
        3 => {
            words.remove(rng.index(n));
        }
        4 => words[rng.index(n)] = rng.u32(),
        5 => words[rng.index(n)] ^= 1 << rng.index(32),
        // Most words are ids and small numbers: nearby ones do the harm.
        _ => {
            let at = 5 + rng.index(n - 5);
            words[at] = match rng.index(4) {
                0 => words[at].wrapping_add(1),
                1 => words[at].wrapping_sub(1),
                2 => rng.index(words[3] as usize) as u32,
                _ => words[at] & 0xFFFF_0000 | rng.index(512) as u32,
            };
        }
    }
}

/// Mutated modules give results or errors, quickly; results keep the rules. TUFF_FUZZ_COUNT says how many (5000).
#[test]
fn mutated_modules_never_panic() {
    let count: usize = std::env::var("TUFF_FUZZ_COUNT").ok().and_then(|s| s.parse().ok()).unwrap_or(5000);
    let all: Vec<_> = modules().into_iter().filter(|m| m.1.len() < 20_000).collect();
    let mut rng = Random::new(0x5EED_1234_5678_9ABC);
    let (mut built, mut refused) = (0, 0);
    for k in 0..count {
        let (name, words) = &all[k % all.len()];
        let mut words = words.clone();
        for _ in 0..1 + rng.index(3) {
            if words.len() > 8 {
                mutate(&mut words, &mut rng);
            }
        }
        let t = Instant::now();
        let result = Module::parse(&words).and_then(|m| {
            let s = build(&m, &options(name, &[]))?;
            verify(&s).unwrap_or_else(|e| panic!("mutation {k} of {name}: {e}"));
            compile(&m, &options(name, &[]))
        });
        assert!(t.elapsed() < Duration::from_secs(10), "mutation {k} of {name} took {:?}", t.elapsed());
        match result {
            Ok(_) => built += 1,
            Err(e) => {
                assert!(!e.to_string().contains("broke its own rules"), "mutation {k} of {name}: {e}");
                refused += 1;
            }
        }
    }
    assert!(built > count / 100 && refused > count / 10, "{built} built, {refused} refused");
}

/// What is used as a descriptor's address is one: no number becomes one, and none becomes a number.
#[test]
fn descriptors_are_no_numbers() {
    let (_, words) = modules().into_iter().find(|m| m.0 == "handles").expect("a module of this name");
    let module = Module::parse(&words).expect("parses");
    let of = |entry| {
        let options = Options { entry, ..options("handles", &[]) };
        compile(&module, &options).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(of("main"), Ok(()), "a pointer that nothing was put in is the null descriptor's");
    for (entry, why) in [
        ("forged", "what is no descriptor is used as one"),
        ("shown", "a descriptor is used as a number"),
        ("mixed", "what is no descriptor is used as one"),
    ] {
        let e = of(entry).expect_err(entry);
        assert!(e.contains(why), "{entry}: {e}");
    }
}
