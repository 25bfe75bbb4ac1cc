//! Loads and stores of every class, width and shape of addresses against a plain model.

// Lanes are indices of several arrays.
use crate::common::lab::{Lab, masks, memory_ops};
use crate::common::{Run, TestHost, levels, to_words, words};
use half::f16;
use random::Random;
use shader::bytecode::*;
use shader::ir::Mem;
use wave::kernels::memory::cell::{f16_to_f32, f32_to_f16};
use wave::{Fault, Status};

const N: Reg = Reg::NONE;
const MEMS: [Mem; 5] = [Mem::U8, Mem::U16, Mem::F16, Mem::B32, Mem::B64];

/// Registers: offsets, descriptor (varying), data from unit 128 on (32 units a component).
const A: Reg = Reg(0);
const B: Reg = Reg(32);
const A64: Reg = Reg(64);
const UC: Reg = Reg(96 | Reg::UNIFORM);
const UB: Reg = Reg(98 | Reg::UNIFORM);
const UA: Reg = Reg(100 | Reg::UNIFORM);
fn data(i: usize) -> Reg {
    Reg(128 + i as u16 * 32)
}

fn ops(code: Code, a: Reg, b: Reg, c: Reg, mem: Mem, n: usize, imm: u32) -> Vec<Op> {
    memory_ops(Op { code, d: N, a, b, c, e: mem_bits(mem, n as u8), imm }, (0..n).map(data))
}

/// What lies in memory at `o` as a register has it; 0 out of bounds.
fn model_read(m: &[u8], size: u64, o: u64, mem: Mem) -> u64 {
    if o + mem.bytes() as u64 > size {
        return 0;
    }
    let o = o as usize;
    match mem {
        Mem::U8 => m[o] as u64,
        Mem::U16 => u16::from_le_bytes([m[o], m[o + 1]]) as u64,
        Mem::F16 => {
            let h = u16::from_le_bytes([m[o], m[o + 1]]);
            f16::from_bits(h).to_f32().to_bits() as u64
        }
        Mem::B32 => u32::from_le_bytes(m[o..o + 4].try_into().unwrap()) as u64,
        Mem::B64 => u64::from_le_bytes(m[o..o + 8].try_into().unwrap()),
    }
}
fn model_write(m: &mut [u8], size: u64, o: u64, mem: Mem, v: u64) {
    if o + mem.bytes() as u64 > size {
        return;
    }
    let o = o as usize;
    match mem {
        Mem::F16 => {
            let h = f16::from_f32(f32::from_bits(v as u32)).to_bits();
            m[o..o + 2].copy_from_slice(&h.to_le_bytes());
        }
        _ => {
            let n = mem.bytes() as usize;
            m[o..o + n].copy_from_slice(&v.to_le_bytes()[..n]);
        }
    }
}

/// Offsets of one warp: shapes that the kernels have paths for, and others.
fn shape(r: &mut Random, size: u32, step: u32) -> [u32; 16] {
    let base = r.below(size);
    match r.below(8) {
        0 => [base; 16],
        1 | 2 => std::array::from_fn(|i| (base / 2).wrapping_add(i as u32 * step)),
        // around the end
        3 => std::array::from_fn(|i| size.wrapping_sub(40).wrapping_add(i as u32 * step)),
        // around 2^32
        4 => std::array::from_fn(|i| (i as u32 * step).wrapping_sub(24)),
        5 => std::array::from_fn(|i| base / 4 + i as u32 * 16),
        6 => std::array::from_fn(|_| r.u32() >> r.below(32)),
        _ => std::array::from_fn(|_| r.below(size)),
    }
}

fn random_bytes(r: &mut Random, n: usize) -> Vec<u8> {
    // No f16 NaNs: their payloads differ between libraries (cell.rs tests them).
    (0..n).map(|_| r.u32() as u8 & 0x7B).collect()
}

fn value(lab: &Lab, mem: Mem, i: usize, lane: usize) -> u64 {
    if mem == Mem::B64 { lab.get64(data(i), lane) } else { lab.get(data(i), lane) as u64 }
}
fn fill_data(lab: &mut Lab, r: &mut Random, mem: Mem, n: usize) {
    for i in 0..n {
        for l in 0..256 {
            match mem {
                Mem::B64 => lab.set64(data(i), l, r.u64()),
                Mem::F16 => {
                    let h = f16::from_bits(r.u32() as u16 & 0xBBFF);
                    lab.set(data(i), l, h.to_f32().to_bits())
                }
                _ => lab.set(data(i), l, r.u32()),
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Buf,
    BufVarying,
    Shared,
    Push,
    Global,
}

fn one(r: &mut Random, class: Class, store: bool, mem: Mem, n: usize) {
    let size = 600 + r.below(3000);
    let memory = random_bytes(r, size as usize);
    let mut lab = Lab::new(128 + 16 * 32 + 32, masks(r));
    if class == Class::Shared {
        lab.groups = 1 << r.below(5);
    }
    let step = n as u32 * mem.bytes();
    let host = TestHost::default();
    // addends: k = imm + uniform c
    let imm = if r.below(2) == 0 { 0 } else { r.below(64) };
    let c_kind = r.below(2);
    let uc = if c_kind == 1 { r.below(50) } else { 0 };
    lab.set_u(UC, uc);
    let uniform_a = r.below(6) == 0;
    let mut off = vec![];
    let ua = r.below(size);
    for w in 0..16 {
        let s = if uniform_a { [ua; 16] } else { shape(r, size, step) };
        for (i, &s) in s.iter().enumerate() {
            let l = w * 16 + i;
            lab.set(A, l, s.wrapping_sub(imm));
            off.push(s.wrapping_add(uc));
        }
    }
    lab.set_u(UA, ua.wrapping_sub(imm));
    let c = match c_kind {
        1 => UC,
        _ => N,
    };
    let (ld, st) = match class {
        Class::Buf | Class::BufVarying => (Code::LD_BUF, Code::ST_BUF),
        Class::Shared => (Code::LD_SHARED, Code::ST_SHARED),
        Class::Push => (Code::LD_PUSH, Code::LD_PUSH),
        Class::Global => (Code::LD_GLOBAL, Code::ST_GLOBAL),
    };
    let a = match (class, uniform_a) {
        (Class::Global, _) => A64,
        (_, true) => UA,
        _ => A,
    };
    let b = match class {
        Class::Buf => UB,
        Class::BufVarying => B,
        _ => N,
    };
    let op = ops(if store { st } else { ld }, a, b, c, mem, n, imm);
    if store {
        fill_data(&mut lab, r, mem, n);
    }
    for level in levels() {
        let mut lab = lab.clone();
        let mut m = memory.clone();
        let mut other = memory.clone();
        other.iter_mut().for_each(|b| *b ^= 0x11);
        let descs =
            [[m.as_mut_ptr() as u64, size as u64, 0, 0], [other.as_mut_ptr() as u64, 50, 0, 0], [0; 4]];
        let groups = lab.groups;
        let which = |l: usize| match class {
            Class::BufVarying => l / 3 % 3,
            Class::Shared => l / 16 * groups / 16,
            _ => 0,
        };
        // What each region holds before.
        let mut expect: Vec<Vec<u8>> = match class {
            Class::Shared => (0..lab.groups)
                .map(|g| memory.iter().map(|b| b ^ ((g as u8).wrapping_mul(37) & 0x7B)).collect())
                .collect(),
            _ => vec![memory.clone(), other.clone(), vec![]],
        };
        lab.set_u64(UB, descs[0].as_ptr() as u64);
        for l in 0..256 {
            let d = if class == Class::BufVarying { which(l) } else { 0 };
            lab.set64(B, l, descs[d].as_ptr() as u64);
        }
        match class {
            Class::Shared => lab.shared = expect.concat(),
            Class::Push => lab.push = m.clone(),
            Class::Global => {
                lab.arena = wave::Arena::of(m.as_ptr() as u64, m.as_ptr() as u64 + size as u64);
                for l in 0..256 {
                    let at = lab.arena.start.wrapping_add(off[l] as i32 as i64 as u64);
                    lab.set64(A64, l, at.wrapping_sub(imm as u64 + uc as u64));
                }
            }
            _ => {}
        }
        let (status, took) = lab.run(level, &op, &host);
        let what = format!("{class:?} store {store} {mem:?}x{n} {level:?} uniform a {uniform_a}");
        let outside = |l: usize| off[l] as u64 + step as u64 > size as u64;
        if class == Class::Global && lab.active().iter().any(|&l| outside(l)) {
            let first = lab.active().into_iter().find(|&l| outside(l)).unwrap();
            let at = lab.arena.start.wrapping_add(off[first] as i32 as i64 as u64);
            assert_eq!(status, Status::Fault(Fault::Address(at)), "{what}");
            continue;
        }
        assert_eq!((status, took), (Status::Running, op.len()), "{what}");
        for l in lab.active() {
            for i in 0..n {
                let o = off[l] as u64 + i as u64 * mem.bytes() as u64;
                let d = which(l);
                let size = if class == Class::BufVarying { [size as u64, 50, 0][d] } else { size as u64 };
                if store {
                    let v = value(&lab, mem, i, l);
                    model_write(&mut expect[d], size, o, mem, v);
                } else {
                    let want = model_read(&expect[d], size, o, mem);
                    assert_eq!(
                        value(&lab, mem, i, l),
                        want,
                        "{what} lane {l} component {i} offset {o} of {size}"
                    );
                }
            }
        }
        match class {
            Class::Shared => assert!(lab.shared == expect.concat(), "{what}: memory"),
            _ => assert!(m == expect[0] && other == expect[1], "{what}: memory"),
        }
        // Dead warps are left alone.
        if !store {
            for w in (0..16).filter(|&w| lab.exec[w] == 0) {
                let unit = data(0).unit() + if mem == Mem::B64 { w * 2 } else { w };
                assert_eq!(lab.regs[unit].0, [0xDEAD_BEEF; 16], "{what}: dead warp {w}");
            }
        }
    }
}

fn sweep(class: Class, store: bool) {
    let mut r = Random::new(0x1234_5678_9ABC_DEF0 ^ class as u64 ^ (store as u64) << 8);
    for mem in MEMS {
        for n in [1, 1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16] {
            for _ in 0..40 {
                one(&mut r, class, store, mem, n);
            }
        }
    }
}
#[test]
fn buffer_loads() {
    sweep(Class::Buf, false);
}
#[test]
fn buffer_stores() {
    sweep(Class::Buf, true);
}
#[test]
fn varying_descriptors() {
    sweep(Class::BufVarying, false);
    sweep(Class::BufVarying, true);
}
#[test]
fn shared_memory() {
    sweep(Class::Shared, false);
    sweep(Class::Shared, true);
}
#[test]
fn push_constants() {
    sweep(Class::Push, false);
}
#[test]
fn global_memory() {
    sweep(Class::Global, false);
    sweep(Class::Global, true);
}

/// Addresses within the arena never fault and find their bytes, whatever the shape.
#[test]
fn global_in_bounds() {
    let mut r = Random::new(99);
    for mem in MEMS {
        for n in [1, 2, 3, 4, 16] {
            let memory = random_bytes(&mut r, 4096);
            let step = n as u32 * mem.bytes();
            for kind in 0..3 {
                let mut lab = Lab::new(128 + 16 * 32 + 32, masks(&mut r));
                lab.arena = wave::Arena::of(memory.as_ptr() as u64, memory.as_ptr() as u64 + 4096);
                let off: Vec<u32> = (0..256)
                    .map(|l| match kind {
                        0 => (l % 16) * step + l / 16,
                        1 => l / 16 * 7,
                        _ => r.below(4096 - step),
                    })
                    .collect();
                for l in 0..256 {
                    let active = lab.exec[l / 16] >> (l % 16) & 1 != 0;
                    let a = if active { lab.arena.start + off[l] as u64 } else { r.u64() };
                    lab.set64(A64, l, a.wrapping_sub(5));
                }
                let op = ops(Code::LD_GLOBAL, A64, N, N, mem, n, 5);
                for level in levels() {
                    let mut lab = lab.clone();
                    assert_eq!(lab.run(level, &op, &TestHost::default()).0, Status::Running);
                    for l in lab.active() {
                        for i in 0..n {
                            let o = off[l] as u64 + i as u64 * mem.bytes() as u64;
                            assert_eq!(value(&lab, mem, i, l), model_read(&memory, 4096, o, mem));
                        }
                    }
                }
            }
        }
    }
}

/// Imported host memory outside the arena is asked for, not assumed.
#[test]
fn foreign_memory() {
    let memory: Vec<u8> = (0..=255).collect();
    let at = memory.as_ptr() as u64;
    let host = TestHost { foreign: Some((at, at + 256)), ..TestHost::default() };
    let mut lab = Lab::new(700, [0xFFFF; 16]);
    for l in 0..256 {
        lab.set64(A64, l, at + (l as u64 ^ 3) % 252);
    }
    for level in levels() {
        let mut lab = lab.clone();
        let op = ops(Code::LD_GLOBAL, A64, N, N, Mem::U8, 1, 0);
        assert_eq!(lab.run(level, &op, &host).0, Status::Running);
        for l in 0..256 {
            assert_eq!(lab.get(data(0), l) as usize, (l ^ 3) % 252);
        }
        lab.set64(A64, 77, at + 256);
        let fault = Status::Fault(Fault::Address(at + 256));
        assert_eq!(lab.run(level, &op, &host).0, fault);
    }
}

/// What is stored to a hole of a sparse buffer, by a descriptor, by the lanes' own or by address, is dropped; loads find what is there.
#[test]
fn holes_keep_nothing() {
    const SIZE: usize = 2048;
    const HOLE: std::ops::Range<usize> = 768..1280;
    let mut r = Random::new(0x5EED);
    for (n, mem) in [1, 2, 4, 7].into_iter().flat_map(|n| MEMS.map(|m| (n, m))) {
        for (class, uniform) in
            [Class::Buf, Class::BufVarying, Class::Global].into_iter().flat_map(|c| [(c, false), (c, true)])
        {
            let step = n as u32 * mem.bytes();
            let mut lab =
                Lab::new(128 + 16 * 32 + 32, if r.below(2) == 0 { [0xFFFF; 16] } else { masks(&mut r) });
            fill_data(&mut lab, &mut r, mem, n);
            // Runs, and anything; around the edges too.
            let run = r.below(2) == 0;
            let off: Vec<u32> = (0..256)
                .map(|l| match (uniform, run) {
                    (true, _) => 760,
                    (_, true) => 512 + l % 16 * step + l / 16 * 24,
                    _ => r.below(SIZE as u32 - step) / 8 * 8,
                })
                .collect();
            (0..256).for_each(|l| lab.set(A, l, off[l]));
            lab.set_u(UA, off[0]);
            let mut memory = random_bytes(&mut r, 2 * SIZE);
            let before = memory.clone();
            let at = memory.as_mut_ptr() as u64;
            // Sparse resources lie in as many addresses after the arena.
            lab.arena = wave::Arena::of(at, at + SIZE as u64);
            let first = lab.arena.end;
            let host = TestHost {
                foreign: Some((first, first + SIZE as u64)),
                hole: Some((first + HOLE.start as u64, first + HOLE.end as u64)),
                ..TestHost::default()
            };
            let desc = [first, SIZE as u64, 0, 0];
            lab.set_u64(UB, desc.as_ptr() as u64);
            for l in 0..256 {
                lab.set64(B, l, desc.as_ptr() as u64);
                lab.set64(A64, l, first + off[l] as u64);
            }
            let (code, a, b) = match class {
                Class::Global => (Code::ST_GLOBAL, A64, N),
                Class::Buf => (Code::ST_BUF, if uniform { UA } else { A }, UB),
                _ => (Code::ST_BUF, A, B),
            };
            let op = ops(code, a, b, N, mem, n, 0);
            let mut expect = before[SIZE..].to_vec();
            let kept = expect[HOLE].to_vec();
            for l in lab.active() {
                for i in 0..n {
                    let o = off[l] as usize + i * mem.bytes() as usize;
                    if !HOLE.contains(&o) {
                        model_write(&mut expect, SIZE as u64, o as u64, mem, value(&lab, mem, i, l));
                    }
                }
            }
            // A scalar that lies across the hole's first byte is its own matter: none does here.
            assert_eq!(expect[HOLE], kept);
            for level in levels() {
                memory.copy_from_slice(&before);
                assert_eq!(lab.clone().run(level, &op, &host).0, Status::Running);
                assert!(memory[SIZE..] == expect, "{class:?} {mem:?}x{n} {level:?} uniform {uniform}");
                assert!(memory[..SIZE] == before[..SIZE]);
            }
        }
    }
}

/// Private words, uniform and varying index, with indices out of range.
#[test]
fn scratch() {
    let mut r = Random::new(7);
    const WORDS: u32 = 24;
    for mem in MEMS {
        for n in [1, 2, 4, 16] {
            for kind in 0..6 {
                let mut lab = Lab::new(128 + 16 * 32 + 32, masks(&mut r));
                lab.scratch_words = WORDS;
                lab.scratch = (0..WORDS * 256 * 4).map(|_| r.u32() as u8).collect();
                let uniform = kind % 2 == 0;
                let u = r.below(WORDS + 4);
                let imm = r.below(4);
                let index: Vec<u32> =
                    (0..256).map(|_| if uniform { u } else { r.below(WORDS + 8).wrapping_sub(4) }).collect();
                (0..256).for_each(|l| lab.set(A, l, index[l]));
                lab.set_u(UA, u);
                let store = kind >= 3;
                if store {
                    fill_data(&mut lab, &mut r, mem, n);
                }
                let code = if store { Code::ST_SCRATCH } else { Code::LD_SCRATCH };
                let op = ops(code, if uniform { UA } else { A }, N, N, mem, n, imm);
                for level in levels() {
                    let mut lab = lab.clone();
                    let mut model = lab.scratch.clone();
                    assert_eq!(lab.run(level, &op, &TestHost::default()), (Status::Running, op.len()));
                    let words = if mem == Mem::B64 { 2 } else { 1 };
                    for l in lab.active() {
                        for i in 0..n {
                            let w = index[l].wrapping_add(imm).wrapping_add(i as u32 * words);
                            let inside = w as u64 + words as u64 <= WORDS as u64;
                            let at = |k: u32| (((w + k) * 256 + l as u32) * 4) as usize;
                            let v = value(&lab, mem, i, l);
                            if store {
                                for k in (0..words).filter(|_| inside) {
                                    let h = (v >> (32 * k)) as u32;
                                    model[at(k)..][..4].copy_from_slice(&h.to_le_bytes());
                                }
                            } else {
                                let mut want = 0;
                                for k in (0..words).filter(|_| inside) {
                                    let h = u32::from_le_bytes(model[at(k)..][..4].try_into().unwrap());
                                    want |= (h as u64) << (32 * k);
                                }
                                assert_eq!(v, want, "{mem:?}x{n} kind {kind} lane {l}");
                            }
                        }
                    }
                    assert!(lab.scratch == model, "{mem:?}x{n} kind {kind} {level:?}");
                }
            }
        }
    }
}

/// Ops that carry the shape of their addresses do what they do without, within and around the bounds.
#[test]
fn known_shapes() {
    let mut r = Random::new(31);
    for round in 0..400 {
        let size = 700 + r.below(400);
        let memory = random_bytes(&mut r, size as usize);
        let run = round % 2 == 0;
        let exec =
            if round % 3 == 0 { masks(&mut r) } else { std::array::from_fn(|w| 0xFFFF * (w != 5) as u16) };
        let mut lab = Lab::new(700, exec);
        for w in 0..16 {
            let base = match r.below(4) {
                0 => r.below(80).wrapping_sub(40),
                1 => size - r.below(100),
                _ => r.below(size - 64),
            };
            for i in 0..16 {
                lab.set(A, w * 16 + i, base.wrapping_add(if run { i as u32 * 4 } else { 0 }));
            }
        }
        fill_data(&mut lab, &mut r, Mem::B32, 1);
        let mut ld = ops(Code::LD_BUF, A, UB, N, Mem::B32, 1, 0);
        let mut st = ops(Code::ST_BUF, A, UB, N, Mem::B32, 1, 0);
        let hint = if run { SHAPE_RUN } else { SHAPE_SAME };
        for level in levels() {
            let mut go = |hint: u16, store: bool| {
                let mut m = memory.clone();
                let desc = [m.as_mut_ptr() as u64, size as u64, 0, 0];
                let mut lab = lab.clone();
                lab.set_u64(UB, desc.as_ptr() as u64);
                let op = if store { &mut st } else { &mut ld };
                op[0].e = mem_bits(Mem::B32, 1) | hint;
                assert_eq!(lab.run(level, op, &TestHost::default()).0, Status::Running);
                let values: Vec<u32> = lab.active().iter().map(|&l| lab.get(data(0), l)).collect();
                (values, m)
            };
            assert!(go(hint, false) == go(0, false), "{level:?} load, run {run}");
            assert!(go(hint, true) == go(0, true), "{level:?} store, run {run}");
        }
        // And the plain form against the model.
        let mut m = memory.clone();
        let desc = [m.as_mut_ptr() as u64, size as u64, 0, 0];
        lab.set_u64(UB, desc.as_ptr() as u64);
        ld[0].e = mem_bits(Mem::B32, 1) | hint;
        let offsets: Vec<u32> = (0..256).map(|l| lab.get(A, l)).collect();
        lab.run(settings::level(), &ld, &TestHost::default());
        for l in lab.active() {
            let want = model_read(&memory, size as u64, offsets[l] as u64, Mem::B32);
            assert_eq!(lab.get(data(0), l) as u64, want);
        }
    }
}

#[test]
fn f16_round_trip() {
    for h in 0..=0xFFFFu16 {
        let f = f16_to_f32(h);
        let want = f16::from_bits(h).to_f32_const();
        if want.is_nan() {
            assert_eq!(f, (h as u32 & 0x8000) << 16 | 0x7FC0_0000 | (h as u32 & 0x3FF) << 13);
            assert_eq!(f32_to_f16(f), h | 0x200);
        } else {
            assert_eq!(f, want.to_bits());
            assert_eq!(f32_to_f16(f), h);
        }
    }
    assert_eq!(f32_to_f16(65520f32.to_bits()), 0x7C00);
    assert_eq!(f32_to_f16(0x3F80_1000), 0x3C00);
}

/// A pointer that nothing was put in is the null descriptor's: it reads 0 and writes nothing.
#[test]
fn a_pointer_to_nothing_is_no_address() {
    let spirv = include_bytes!("../../shader/tests/spirv/handles.spv");
    let module = shader::Module::parse(to_words(spirv)).unwrap();
    for optimise in [true, false] {
        let options = shader::options::Options {
            optimise,
            ..shader::options::Options::new(shader::ir::Stage::Compute, "main", &|_, b| {
                Some(shader::options::Binding::new(0, 32 * b, 1))
            })
        };
        let p = shader::compile(&module, &options).unwrap();
        Run::new(&p, vec![words(&[7; 4]), vec![]]).expect(&[4096, 0, 7, 7]);
    }
}
