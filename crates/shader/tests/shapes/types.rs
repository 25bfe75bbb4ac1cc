//! Shapes of types.

use super::Row;
use super::asm::Asm;
use spirv::{Decoration, Op, StorageClass};

pub const EXPLOSIVE: &[Row] = &[
    ("an array of empty structs", empty_array, 1000, u32::MAX),
    ("structs that double, empty", empty_structs, 8, 90),
    ("structs that double", structs, 8, 90),
    ("workgroup structs that double", shared_structs, 8, 90),
    ("empty members of members", empty_members, 1000, 60_000),
    ("constants that double", composites, 8, 90),
    ("null constants", nulls, 10, 20_000),
    ("types in types", deep_types, 50, 100_000),
    ("arrays of arrays", arrays, 4, 90),
];

/// A local variable of a type, loaded and stored.
fn moved(a: &mut Asm, ty: u32) {
    a.begin(a.ids.main);
    let (x, y) = (a.local(ty), a.local(ty));
    let v = a.op(Op::Load, ty, &[x]);
    a.store(y, v);
    let first = a.input();
    a.output(first);
    a.end();
}

fn empty_array(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let empty = a.global(Op::TypeStruct, &[]);
    let list = a.array(empty, n);
    a.constant_of(Op::ConstantNull, list, &[]);
    let one = a.constant_of(Op::ConstantComposite, empty, &[]);
    a.constant_of(Op::ConstantCompositeReplicateEXT, list, &[one]);
    a.variable(StorageClass::Workgroup, list);
    a.buffer(list, 1);
    moved(&mut a, list);
    a.finish()
}

fn doubled(a: &mut Asm, mut ty: u32, n: u32) -> u32 {
    for _ in 0..n {
        ty = a.global(Op::TypeStruct, &[ty, ty]);
    }
    ty
}

fn empty_structs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let empty = a.global(Op::TypeStruct, &[]);
    let ty = doubled(&mut a, empty, n);
    a.constant_of(Op::ConstantNull, ty, &[]);
    a.buffer(ty, 1);
    moved(&mut a, ty);
    a.finish()
}

fn structs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let uint = a.ids.uint;
    let ty = doubled(&mut a, uint, n);
    a.constant_of(Op::ConstantNull, ty, &[]);
    moved(&mut a, ty);
    a.finish()
}

fn shared_structs(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let uint = a.ids.uint;
    let ty = doubled(&mut a, uint, n);
    let block = a.global(Op::TypeStruct, &[ty]);
    a.decorate(block, &[Decoration::Block as u32]);
    let x = a.variable(StorageClass::Workgroup, block);
    let pointer = a.pointer(StorageClass::Workgroup, ty);
    a.begin(a.ids.main);
    let zero = a.constant(0);
    let p = a.op(Op::AccessChain, pointer, &[x, zero]);
    let v = a.op(Op::Load, ty, &[p]);
    a.store(p, v);
    a.end();
    a.finish()
}

/// A struct of structs that are empty but for one member.
fn empty_members(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let empty = a.global(Op::TypeStruct, &[]);
    let mut list = vec![empty; n as usize];
    list.push(a.ids.uint);
    let inner = a.global(Op::TypeStruct, &list);
    let outer = a.global(Op::TypeStruct, &vec![inner; n as usize]);
    moved(&mut a, outer);
    a.finish()
}

fn composites(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let mut ty = a.ids.uint;
    let mut c = a.constant(5);
    for _ in 0..n {
        ty = a.global(Op::TypeStruct, &[ty, ty]);
        c = a.constant_of(Op::SpecConstantComposite, ty, &[c, c]);
    }
    a.begin(a.ids.main);
    let first = a.input();
    a.output(first);
    a.end();
    a.finish()
}

fn nulls(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    for _ in 0..n {
        let list = a.array(a.ids.uint, 16_000);
        a.constant_of(Op::ConstantNull, list, &[]);
    }
    a.begin(a.ids.main);
    let first = a.input();
    a.output(first);
    a.end();
    a.finish()
}

fn deep_types(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let mut ty = a.ids.uint;
    for _ in 0..n {
        ty = a.global(Op::TypeStruct, &[ty]);
    }
    moved(&mut a, ty);
    a.finish()
}

fn arrays(n: u32) -> Vec<u32> {
    let mut a = Asm::new();
    let mut ty = a.ids.uint;
    for _ in 0..n {
        ty = a.array(ty, 2);
    }
    moved(&mut a, ty);
    a.finish()
}
