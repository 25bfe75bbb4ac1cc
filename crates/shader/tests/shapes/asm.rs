//! SPIR-V words of one compute entry point, put together by hand: shapes of any size need no files.

use spirv::Op;
use std::collections::HashMap;

/// Ids that every module has.
pub struct Ids {
    pub void: u32,
    pub bool: u32,
    pub uint: u32,
    pub nothing: u32,
    pub main: u32,
    /// Storage buffer of uints, and a pointer to one of them.
    pub data: u32,
    pub element: u32,
    pub lane: u32,
}

/// A module under construction; functions are written to `code` in order.
pub struct Asm {
    next: u32,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    pub code: Vec<u32>,
    known: HashMap<Vec<u32>, u32>,
    pub ids: Ids,
}

fn put(to: &mut Vec<u32>, op: Op, operands: &[u32]) {
    assert!(operands.len() < 0xFFFF, "{op:?} is too long");
    to.push((operands.len() as u32 + 1) << 16 | op as u32);
    to.extend_from_slice(operands);
}

impl Asm {
    pub fn new() -> Asm {
        let ids = Ids { void: 0, bool: 0, uint: 0, nothing: 0, main: 1, data: 0, element: 0, lane: 0 };
        let mut a =
            Asm { next: 2, decorations: vec![], globals: vec![], code: vec![], known: HashMap::new(), ids };
        a.ids.void = a.global(Op::TypeVoid, &[]);
        a.ids.bool = a.global(Op::TypeBool, &[]);
        a.ids.uint = a.global(Op::TypeInt, &[32, 0]);
        a.ids.nothing = a.global(Op::TypeFunction, &[a.ids.void]);
        let list = a.global(Op::TypeRuntimeArray, &[a.ids.uint]);
        a.decorate(list, &[spirv::Decoration::ArrayStride as u32, 4]);
        a.ids.data = a.buffer(list, 0);
        a.ids.element = a.pointer(spirv::StorageClass::StorageBuffer, a.ids.uint);
        a.ids.lane = a.id();
        let pointer = a.pointer(spirv::StorageClass::Input, a.ids.uint);
        a.put_global(Op::Variable, &[pointer, a.ids.lane, spirv::StorageClass::Input as u32]);
        a.decorate(
            a.ids.lane,
            &[spirv::Decoration::BuiltIn as u32, spirv::BuiltIn::LocalInvocationIndex as u32],
        );
        a
    }

    pub fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }
    pub fn decorate(&mut self, id: u32, what: &[u32]) {
        let operands: Vec<u32> = std::iter::once(id).chain(what.iter().copied()).collect();
        put(&mut self.decorations, Op::Decorate, &operands);
    }
    pub fn decoration(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.decorations, op, operands);
    }
    pub fn put_global(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.globals, op, operands);
    }
    /// A type: the result comes first. Equal ones are one, but for structs and arrays.
    pub fn global(&mut self, op: Op, operands: &[u32]) -> u32 {
        let key: Vec<u32> = std::iter::once(op as u32).chain(operands.iter().copied()).collect();
        let once = !matches!(op, Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray);
        if once && let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        let all: Vec<u32> = std::iter::once(id).chain(operands.iter().copied()).collect();
        self.put_global(op, &all);
        self.known.insert(key, id);
        id
    }
    pub fn pointer(&mut self, class: spirv::StorageClass, to: u32) -> u32 {
        self.global(Op::TypePointer, &[class as u32, to])
    }
    /// A constant or another global value of a type.
    pub fn constant_of(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let key: Vec<u32> = [op as u32, ty].into_iter().chain(operands.iter().copied()).collect();
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        self.put_global(op, &all);
        self.known.insert(key, id);
        id
    }
    pub fn constant(&mut self, x: u32) -> u32 {
        self.constant_of(Op::Constant, self.ids.uint, &[x])
    }
    pub fn array(&mut self, of: u32, n: u32) -> u32 {
        let n = self.constant(n);
        self.global(Op::TypeArray, &[of, n])
    }
    /// A storage buffer whose one member is of a type.
    pub fn buffer(&mut self, of: u32, binding: u32) -> u32 {
        use spirv::Decoration as D;
        let block = self.global(Op::TypeStruct, &[of]);
        self.decorate(block, &[D::Block as u32]);
        put(&mut self.decorations, Op::MemberDecorate, &[block, 0, D::Offset as u32, 0]);
        let pointer = self.pointer(spirv::StorageClass::StorageBuffer, block);
        let v = self.id();
        self.put_global(Op::Variable, &[pointer, v, spirv::StorageClass::StorageBuffer as u32]);
        self.decorate(v, &[D::DescriptorSet as u32, 0]);
        self.decorate(v, &[D::Binding as u32, binding]);
        v
    }
    pub fn variable(&mut self, class: spirv::StorageClass, ty: u32) -> u32 {
        let pointer = self.pointer(class, ty);
        let v = self.id();
        self.put_global(Op::Variable, &[pointer, v, class as u32]);
        v
    }

    // Code.

    pub fn put(&mut self, op: Op, operands: &[u32]) {
        put(&mut self.code, op, operands);
    }
    /// An instruction with a result.
    pub fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        let all: Vec<u32> = [ty, id].into_iter().chain(operands.iter().copied()).collect();
        self.put(op, &all);
        id
    }
    pub fn label(&mut self, id: u32) {
        self.put(Op::Label, &[id]);
    }
    pub fn jump(&mut self, to: u32) {
        self.put(Op::Branch, &[to]);
    }
    /// A function without parameters or result, up to its first label.
    pub fn begin(&mut self, id: u32) {
        self.put(Op::Function, &[self.ids.void, id, 0, self.ids.nothing]);
        let label = self.id();
        self.label(label);
    }
    pub fn end(&mut self) {
        self.put(Op::Return, &[]);
        self.put(Op::FunctionEnd, &[]);
    }
    /// A local variable: to be called at a function's begin.
    pub fn local(&mut self, ty: u32) -> u32 {
        let pointer = self.pointer(spirv::StorageClass::Function, ty);
        self.op(Op::Variable, pointer, &[spirv::StorageClass::Function as u32])
    }
    pub fn load(&mut self, from: u32) -> u32 {
        self.op(Op::Load, self.ids.uint, &[from])
    }
    pub fn store(&mut self, to: u32, x: u32) {
        self.put(Op::Store, &[to, x]);
    }
    pub fn bin(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.ids.uint, &[a, b])
    }
    pub fn test(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.ids.bool, &[a, b])
    }
    /// Something that differs from lane to lane.
    pub fn lane(&mut self) -> u32 {
        self.load(self.ids.lane)
    }
    /// A word of the buffer.
    pub fn at(&mut self, index: u32) -> u32 {
        let zero = self.constant(0);
        self.op(Op::AccessChain, self.ids.element, &[self.ids.data, zero, index])
    }
    /// A word of the buffer at a place of the lane's own.
    pub fn input(&mut self) -> u32 {
        let lane = self.lane();
        let p = self.at(lane);
        self.load(p)
    }
    /// Stores to the buffer at a place of the lane's own.
    pub fn output(&mut self, x: u32) {
        let lane = self.lane();
        let p = self.at(lane);
        self.store(p, x);
    }
    /// Branches on a condition and begins the first side; `merge` and `no` are labels to come.
    pub fn branch(&mut self, cond: u32, merge: u32, no: u32) {
        let yes = self.id();
        self.put(Op::SelectionMerge, &[merge, 0]);
        self.put(Op::BranchConditional, &[cond, yes, no]);
        self.label(yes);
    }

    /// The whole module.
    pub fn finish(mut self) -> Vec<u32> {
        let mut out = vec![0x0723_0203, 0x0001_0500, 0, self.next, 0];
        put(&mut out, Op::Capability, &[spirv::Capability::Shader as u32]);
        put(&mut out, Op::MemoryModel, &[0, 1]);
        let name = u32::from_le_bytes(*b"main");
        put(&mut out, Op::EntryPoint, &[5, self.ids.main, name, 0, self.ids.data, self.ids.lane]);
        put(&mut out, Op::ExecutionMode, &[self.ids.main, 17, 64, 1, 1]);
        out.append(&mut self.decorations);
        out.append(&mut self.globals);
        out.append(&mut self.code);
        out
    }
}
