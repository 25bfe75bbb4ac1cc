//! Shapes of constants, variables and expressions.

use super::Row;
use super::asm::Asm;
use spirv::{Decoration, Op, StorageClass};

pub const SHAPES: &[Row] = &[
    ("copies of 4096 elements", copies_of_4096, 4, 64),
    ("copies of private 1024 elements", private_copies, 4, 64),
    ("inserts into 512 elements", inserts, 32, 512),
    ("loads and stores", loads, 500, 16_000),
    ("phis that rotate", phis, 250, 4000),
    ("floats that rotate", float_phis, 250, 4000),
    ("squares in a chain", squares, 1000, 4000),
    ("sums that double", sums, 100, 1600),
    ("variables", variables, 500, 16_000),
    ("variables across an if", variables_if, 500, 8000),
    ("variables in a loop", variables_loop, 1000, 4000),
    ("live at once", live_at_once, 500, 1000),
    ("a long chain", chain, 2000, 64_000),
    ("constants", constants, 2000, 64_000),
    ("specialisation constants in a row", spec_ops, 500, 16_000),
    ("decorations of one id", decorations, 1000, 32_000),
    ("groups of decorations", groups, 250, 8000),
    ("sets of instructions", sets, 250, 8000),
    ("members", members, 500, 16_000),
    ("small values", halves, 500, 8000),
    ("indices of an array", indices, 500, 8000),
    ("extracts of equal types", extracts, 100, 1600),
];

pub const EXPLOSIVE: &[Row] = &[
    ("copies of 65536 elements", copies_of_65536, 1, 20),
    ("copies that are many", copies_of_too_many, 4, 600),
];

fn buffers(n: u32, elements: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, elements);
    a.decorate(list, &[Decoration::ArrayStride as u32, 4]);
    let (from, to) = (a.buffer(list, 1), a.buffer(list, 2));
    let pointer = a.pointer(StorageClass::StorageBuffer, list);
    a.begin(a.ids.main);
    for _ in 0..n {
        let zero = a.constant(0);
        let p = a.op(Op::AccessChain, pointer, &[from, zero]);
        let q = a.op(Op::AccessChain, pointer, &[to, zero]);
        let v = a.op(Op::Load, list, &[p]);
        a.store(q, v);
    }
    a.end();
    a.finish()
}

fn copies_of_65536(n: u32) -> Vec<u32> {
    buffers(n, 65_536)
}
fn copies_of_4096(n: u32) -> Vec<u32> {
    buffers(n, 4096)
}

/// Copies of one buffer onto itself, each of a load's operations for every element.
fn copies_of_too_many(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, 4096);
    a.decorate(list, &[Decoration::ArrayStride as u32, 4]);
    let x = a.buffer(list, 1);
    let pointer = a.pointer(StorageClass::StorageBuffer, list);
    a.begin(a.ids.main);
    let zero = a.constant(0);
    for _ in 0..n {
        let p = a.op(Op::AccessChain, pointer, &[x, zero]);
        let v = a.op(Op::Load, list, &[p]);
        a.store(p, v);
    }
    a.end();
    a.finish()
}

fn private_copies(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, 1024);
    let x = a.variable(StorageClass::Private, list);
    let y = a.variable(StorageClass::Private, list);
    let element = a.pointer(StorageClass::Private, a.ids.uint);
    a.begin(a.ids.main);
    let first = a.input();
    for k in 0..n {
        let c = a.constant(k);
        let p = a.op(Op::AccessChain, element, &[x, c]);
        a.store(p, first);
        let v = a.op(Op::Load, list, &[x]);
        a.store(y, v);
        let v = a.op(Op::Load, list, &[y]);
        a.store(x, v);
    }
    let c = a.constant(3);
    let p = a.op(Op::AccessChain, element, &[y, c]);
    let v = a.load(p);
    a.output(v);
    a.end();
    a.finish()
}

fn inserts(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, 512);
    let mut whole = a.constant_of(Op::ConstantNull, list, &[]);
    a.begin(a.ids.main);
    let first = a.input();
    for k in 0..n {
        whole = a.op(Op::CompositeInsert, list, &[first, whole, k % 512]);
    }
    let v = a.op(Op::CompositeExtract, a.ids.uint, &[whole, 3]);
    a.output(v);
    a.end();
    a.finish()
}

fn loads(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let lane = a.lane();
    for k in 0..n {
        let c = a.constant(k * 64);
        let at = a.bin(Op::IAdd, lane, c);
        let p = a.at(at);
        let v = a.load(p);
        a.store(p, v);
    }
    a.end();
    a.finish()
}

/// A loop whose phis hand on their values in a ring.
fn phis(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let first = a.input();
    ring(&mut a, first, n);
    a.finish()
}

/// The same with one value that arithmetic made.
fn float_phis(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let float = a.global(Op::TypeFloat, &[32]);
    a.begin(a.ids.main);
    let first = a.input();
    let f = a.op(Op::Bitcast, float, &[first]);
    let f = a.op(Op::FAdd, float, &[f, f]);
    let first = a.op(Op::Bitcast, a.ids.uint, &[f]);
    ring(&mut a, first, n);
    a.finish()
}

fn ring(a: &mut Asm, first: u32, n: u32) {
    let [head, test, next, merge] = std::array::from_fn(|_| a.id());
    let before = a.id();
    a.jump(before);
    a.label(before);
    let (zero, one, ten) = (a.constant(0), a.constant(1), a.constant(10));
    a.jump(head);
    a.label(head);
    let all: Vec<u32> = (0..n).map(|_| a.id()).collect();
    let (i, i2) = (a.id(), a.id());
    a.put(Op::Phi, &[a.ids.uint, i, zero, before, i2, next]);
    for (k, &id) in all.iter().enumerate() {
        let start = if k == 0 { first } else { a.constant(k as u32) };
        let from = all[(k + 1) % all.len()];
        a.put(Op::Phi, &[a.ids.uint, id, start, before, from, next]);
    }
    a.put(Op::LoopMerge, &[merge, next, 0]);
    a.jump(test);
    a.label(test);
    let more = a.test(Op::ULessThan, i, ten);
    a.put(Op::BranchConditional, &[more, next, merge]);
    a.label(next);
    a.put(Op::IAdd, &[a.ids.uint, i2, i, one]);
    a.jump(head);
    a.label(merge);
    let mut sum = first;
    for &v in &all {
        sum = a.bin(Op::BitwiseXor, sum, v);
    }
    a.output(sum);
    a.end();
}

/// x² of each is in two sums, and the last one has another reader.
fn squares(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let float = a.global(Op::TypeFloat, &[32]);
    a.begin(a.ids.main);
    let first = a.input();
    let mut x = a.op(Op::ConvertUToF, float, &[first]);
    let all: Vec<u32> = (0..n)
        .map(|_| {
            x = a.op(Op::FNegate, float, &[x]);
            x = a.op(Op::FDiv, float, &[x, x]);
            a.op(Op::FMul, float, &[x, x])
        })
        .collect();
    let mut last = all[0];
    for pair in all.windows(2) {
        let s = a.op(Op::FAdd, float, &[pair[0], pair[1]]);
        last = a.op(Op::FDiv, float, &[last, s]);
    }
    let out = a.op(Op::Bitcast, a.ids.uint, &[last]);
    a.output(out);
    a.end();
    a.finish()
}

/// Addresses whose sums share all their parts.
fn sums(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let lane = a.lane();
    let (mut x, mut y) = (lane, lane);
    for k in 0..n {
        let c = a.constant(k * 9 + 5);
        let z = a.bin(Op::IAdd, x, y);
        y = a.bin(Op::IAdd, y, c);
        x = z;
        let p = a.at(x);
        a.store(p, lane);
    }
    a.end();
    a.finish()
}

fn variables(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let all: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    all.iter().for_each(|v| a.store(*v, first));
    let mut sum = first;
    for &v in &all {
        let x = a.load(v);
        let c = a.constant(v);
        let x = a.bin(Op::IMul, x, c);
        sum = a.bin(Op::BitwiseXor, sum, x);
    }
    a.output(sum);
    a.end();
    a.finish()
}

/// All changed on one side of an if.
fn variables_if(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let all: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    for (k, v) in all.iter().enumerate() {
        let c = a.constant(k as u32);
        a.store(*v, c);
    }
    let ten = a.constant(10);
    let cond = a.test(Op::ULessThan, first, ten);
    let merge = a.id();
    a.branch(cond, merge, merge);
    for (k, v) in all.iter().enumerate() {
        let c = a.constant(k as u32 + 3);
        let x = a.bin(Op::IMul, first, c);
        a.store(*v, x);
    }
    a.jump(merge);
    a.label(merge);
    let mut sum = first;
    for &v in &all {
        let x = a.load(v);
        sum = a.bin(Op::IMul, sum, x);
    }
    a.output(sum);
    a.end();
    a.finish()
}

fn variables_loop(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let all: Vec<u32> = (0..n).map(|_| a.local(a.ids.uint)).collect();
    let first = a.input();
    for (k, v) in all.iter().enumerate() {
        let c = a.constant(k as u32);
        a.store(*v, c);
    }
    let [head, test, next, merge] = std::array::from_fn(|_| a.id());
    a.jump(head);
    a.label(head);
    a.put(Op::LoopMerge, &[merge, next, 0]);
    a.jump(test);
    a.label(test);
    let x = a.load(all[0]);
    let more = a.test(Op::ULessThan, x, first);
    a.put(Op::BranchConditional, &[more, next, merge]);
    a.label(next);
    for (k, v) in all.iter().enumerate() {
        let x = a.load(*v);
        let c = a.constant(k as u32 % 7 + 1);
        let x = a.bin(Op::IAdd, x, c);
        a.store(*v, x);
    }
    a.jump(head);
    a.label(merge);
    let mut sum = first;
    for &v in &all {
        let x = a.load(v);
        sum = a.bin(Op::IMul, sum, x);
    }
    a.output(sum);
    a.end();
    a.finish()
}

fn live_at_once(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let lane = a.lane();
    let all: Vec<u32> = (0..n)
        .map(|k| {
            let c = a.constant(k * 64);
            let at = a.bin(Op::IAdd, lane, c);
            let p = a.at(at);
            a.load(p)
        })
        .collect();
    let mut sum = lane;
    for &v in &all {
        sum = a.bin(Op::IMul, sum, v);
    }
    a.output(sum);
    a.end();
    a.finish()
}

fn chain(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    let mut x = a.input();
    for k in 0..n {
        let c = a.constant(k * 5 + 1);
        x = a.bin(if k % 2 == 0 { Op::IMul } else { Op::IAdd }, x, c);
    }
    a.output(x);
    a.end();
    a.finish()
}

fn constants(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    a.begin(a.ids.main);
    (0..n).for_each(|k| {
        a.constant(k * 3);
    });
    let x = a.input();
    a.output(x);
    a.end();
    a.finish()
}

fn spec_ops(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let mut x = a.constant_of(Op::SpecConstant, a.ids.uint, &[7]);
    a.decorate(x, &[Decoration::SpecId as u32, 3]);
    for k in 0..n {
        let c = a.constant(k * 5 + 1);
        x = a.constant_of(Op::SpecConstantOp, a.ids.uint, &[Op::IMul as u32, x, c]);
    }
    a.begin(a.ids.main);
    a.output(x);
    a.end();
    a.finish()
}

/// Decorations of the block that many variables have.
fn decorations(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, 16);
    a.decorate(list, &[Decoration::ArrayStride as u32, 4]);
    let block = a.global(Op::TypeStruct, &[list]);
    for k in 0..n {
        a.decoration(Op::MemberDecorate, &[block, 0, Decoration::Offset as u32, k % 4 * 4]);
        a.decorate(block, &[Decoration::Restrict as u32]);
    }
    a.decorate(block, &[Decoration::Block as u32]);
    let pointer = a.pointer(StorageClass::StorageBuffer, block);
    let element = a.ids.element;
    let all: Vec<u32> = (0..n.min(4000))
        .map(|_| {
            let v = a.id();
            a.put_global(Op::Variable, &[pointer, v, StorageClass::StorageBuffer as u32]);
            a.decorate(v, &[Decoration::DescriptorSet as u32, 0]);
            a.decorate(v, &[Decoration::Binding as u32, v % 60]);
            v
        })
        .collect();
    a.begin(a.ids.main);
    let zero = a.constant(0);
    for v in all {
        let p = a.op(Op::AccessChain, element, &[v, zero, zero]);
        let x = a.load(p);
        a.output(x);
    }
    a.end();
    a.finish()
}

fn groups(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    for _ in 0..n {
        let group = a.id();
        let target = a.ids.uint;
        a.decorate(group, &[Decoration::RelaxedPrecision as u32]);
        a.decoration(Op::DecorationGroup, &[group]);
        a.decoration(Op::GroupDecorate, &[group, target]);
    }
    a.begin(a.ids.main);
    let x = a.input();
    a.output(x);
    a.end();
    a.finish()
}

fn sets(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let name: Vec<u32> = [*b"NonS", *b"eman", *b"tic.", *b"Ab\0\0"].map(u32::from_le_bytes).to_vec();
    let all: Vec<u32> = (0..n)
        .map(|_| {
            let id = a.id();
            a.decoration(Op::ExtInstImport, &[&[id], &name[..]].concat());
            id
        })
        .collect();
    a.begin(a.ids.main);
    let x = a.input();
    for set in all {
        a.op(Op::ExtInst, a.ids.void, &[set, 1]);
    }
    a.output(x);
    a.end();
    a.finish()
}

fn members(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let block = a.global(Op::TypeStruct, &vec![a.ids.uint; n as usize]);
    for k in 0..n {
        a.decoration(Op::MemberDecorate, &[block, k, Decoration::Offset as u32, k * 4]);
    }
    a.decorate(block, &[Decoration::Block as u32]);
    let pointer = a.pointer(StorageClass::StorageBuffer, block);
    let v = a.id();
    a.put_global(Op::Variable, &[pointer, v, StorageClass::StorageBuffer as u32]);
    a.decorate(v, &[Decoration::DescriptorSet as u32, 0]);
    a.decorate(v, &[Decoration::Binding as u32, 1]);
    a.begin(a.ids.main);
    for k in 0..n {
        let c = a.constant(k);
        let p = a.op(Op::AccessChain, a.ids.element, &[v, c]);
        let x = a.load(p);
        a.store(p, x);
    }
    a.end();
    a.finish()
}

/// Phis of narrow values, operands of narrow operations.
fn halves(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let short = a.global(Op::TypeInt, &[16, 0]);
    a.begin(a.ids.main);
    let x = a.local(short);
    let first = a.input();
    let narrow = a.op(Op::UConvert, short, &[first]);
    a.store(x, narrow);
    for k in 0..n {
        let c = a.constant(k);
        let cond = a.test(Op::ULessThan, first, c);
        let merge = a.id();
        a.branch(cond, merge, merge);
        let old = a.op(Op::Load, short, &[x]);
        let new = a.op(Op::IMul, short, &[old, narrow]);
        let new = a.op(Op::IAdd, short, &[new, old]);
        a.store(x, new);
        let wide = a.op(Op::UConvert, a.ids.uint, &[new]);
        a.output(wide);
        a.jump(merge);
        a.label(merge);
    }
    a.end();
    a.finish()
}

/// Dynamic indices of a small array: selects.
fn indices(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let list = a.array(a.ids.uint, 8);
    let element = a.pointer(StorageClass::Function, a.ids.uint);
    a.begin(a.ids.main);
    let x = a.local(list);
    let first = a.input();
    for k in 0..n {
        let c = a.constant(k * 3 + 1);
        let i = a.bin(Op::IMul, first, c);
        let p = a.op(Op::AccessChain, element, &[x, i]);
        let v = a.load(p);
        let v = a.bin(Op::IAdd, v, c);
        a.store(p, v);
    }
    let p = a.op(Op::AccessChain, element, &[x, first]);
    let v = a.load(p);
    a.output(v);
    a.end();
    a.finish()
}

/// Pointers to a type whose equal has another id.
fn extracts(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let (one, two) = (a.array(a.ids.uint, 60_000), a.array(a.ids.uint, 60_000));
    for t in [one, two] {
        a.decorate(t, &[Decoration::ArrayStride as u32, 4]);
    }
    let from = a.buffer(one, 1);
    let pointer = a.pointer(StorageClass::StorageBuffer, two);
    a.begin(a.ids.main);
    let (zero, lane) = (a.constant(0), a.lane());
    for k in 0..n {
        let p = a.op(Op::AccessChain, pointer, &[from, zero]);
        let c = a.constant(k);
        let q = a.op(Op::AccessChain, a.ids.element, &[p, c]);
        a.store(q, lane);
    }
    a.end();
    a.finish()
}
