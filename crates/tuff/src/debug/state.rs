//! Values of an invocation at a moment: of ids, of variables, of what pointers lead to.

use super::module::{Module, id, ids};
use super::trace::Trace;
use super::types::{Type, Value};
use rspirv::dr::Instruction;
use rspirv::spirv::{GlslStd450Op as GLOp, Op, StorageClass};
use shader::notes::What;
use std::collections::HashMap;

/// Pointers and composites within one another that are followed.
pub(super) const MAX_DEPTH: usize = 256;
/// The frame of variables outside functions.
pub const GLOBAL: u32 = u32::MAX;

/// What a pointer leads to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// A variable, by the frame that has it and its id.
    Variable(u32, u32),
    Address(u64),
    Unknown,
}

/// A pointer: indices lead from the root inwards.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pointer {
    pub root: Root,
    pub path: Vec<u32>,
}

/// A write to a variable.
#[derive(Clone, Copy)]
struct Write {
    step: u32,
    /// Id of the value; 0: the pointer operand of an extended instruction.
    value: u32,
}

pub struct State {
    pub trace: Trace,
    /// By variable, ascending.
    writes: HashMap<(u32, u32), Vec<Write>>,
    /// Loads and stores of what is no variable of the invocation's own, ascending.
    accesses: Vec<u32>,
}

/// When, and whose.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub lane: usize,
    /// Steps before it have been executed.
    pub end: usize,
}

impl State {
    pub fn new(trace: Trace) -> State {
        let mut state = State { trace, writes: HashMap::new(), accesses: vec![] };
        for step in 0..state.trace.steps.len() {
            state.note(step);
        }
        state
    }

    pub(super) fn module(&self) -> &Module {
        &self.trace.module
    }

    /// The instruction of a step.
    pub fn inst(&self, step: usize) -> &Instruction {
        &self.module().places[&self.trace.note(step).at].inst
    }

    /// Takes note of what a step writes or reads.
    fn note(&mut self, step: usize) {
        let note = self.trace.note(step);
        if note.what != What::Step {
            return;
        }
        let frame = note.frame;
        let i = self.inst(step);
        let written = match i.class.opcode {
            Op::Store => Some((ids(i).next().unwrap_or(0), ids(i).nth(1).unwrap_or(0))),
            Op::CopyMemory => Some((ids(i).next().unwrap_or(0), 0)),
            Op::ExtInst => match out_pointer(i).filter(|p| self.is_pointer(*p)) {
                Some(p) => Some((p, 0)),
                None => return,
            },
            Op::Load => None,
            op if is_access(op) => {
                self.accesses.push(step as u32);
                return;
            }
            _ => return,
        };
        let pointer = written.map_or_else(|| ids(i).next().unwrap_or(0), |w| w.0);
        let mut outside = false;
        let mut roots: Vec<(u32, u32)> = vec![];
        for lane in (0..16).filter(|l| self.trace.steps[step].has(*l)) {
            match self.pointer(frame, pointer, Moment { lane, end: step }).root {
                Root::Variable(frame, id) if self.is_own(id) => {
                    if !roots.contains(&(frame, id)) {
                        roots.push((frame, id));
                    }
                }
                _ => outside = true,
            }
        }
        if outside {
            self.accesses.push(step as u32);
        }
        if let Some((_, value)) = written {
            for root in roots {
                self.writes.entry(root).or_default().push(Write { step: step as u32, value });
            }
        }
    }

    /// The variable is the invocation's own: nobody else writes it.
    pub fn is_own(&self, variable: u32) -> bool {
        matches!(
            self.class(variable),
            Some(StorageClass::Function | StorageClass::Private | StorageClass::Output)
        )
    }

    pub fn class(&self, variable: u32) -> Option<StorageClass> {
        match self.module().result_type(variable) {
            Some(Type::Pointer(class, _)) => Some(*class),
            _ => None,
        }
    }

    /// What the pointer of an id leads to.
    pub fn pointer(&self, mut frame: u32, mut of: u32, when: Moment) -> Pointer {
        let mut path: Vec<u32> = vec![];
        let unknown = Pointer { root: Root::Unknown, path: vec![] };
        for _ in 0..MAX_DEPTH {
            let Some(i) = self.module().inst(of) else { return unknown };
            match i.class.opcode {
                Op::Variable => {
                    let own = self.class(of) == Some(StorageClass::Function);
                    path.reverse();
                    return Pointer { root: Root::Variable(if own { frame } else { GLOBAL }, of), path };
                }
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let mut all = ids(i);
                    let Some(base) = all.next() else { return unknown };
                    let indices: Vec<u32> = all.collect();
                    for index in indices.into_iter().rev() {
                        match self.value(frame, index, when).int() {
                            Some(k) => path.push(k as u32),
                            None => return unknown,
                        }
                    }
                    of = base;
                }
                Op::FunctionParameter => match self.argument(frame, of) {
                    Some(argument) => (frame, of) = argument,
                    None => return unknown,
                },
                Op::CopyObject => of = ids(i).next().unwrap_or(0),
                Op::Select => {
                    let Some(Value::Bool(c)) = ids(i).next().map(|c| self.value(frame, c, when)) else {
                        return unknown;
                    };
                    of = ids(i).nth(if c { 1 } else { 2 }).unwrap_or(0);
                }
                Op::Phi => match self.phi(frame, of, i, when) {
                    Some(source) => of = source,
                    None => return unknown,
                },
                _ => {
                    let told = self.told(frame, of, when);
                    path.reverse();
                    return match told {
                        Some(Value::Address(a)) => Pointer { root: Root::Address(a), path },
                        _ => unknown,
                    };
                }
            }
        }
        unknown
    }

    /// The caller's frame and the id of a parameter's argument.
    pub fn argument(&self, frame: u32, parameter: u32) -> Option<(u32, u32)> {
        let of = self.trace.frames.get(frame as usize).filter(|_| frame != 0)?;
        let at = *self.module().def.get(&of.function)?;
        let places = self.module().places.range(at..).skip(1);
        let parameters = places.map(|p| &p.1.inst).take_while(|i| i.class.opcode != Op::Label);
        let mut parameters = parameters.filter(|i| i.class.opcode == Op::FunctionParameter);
        let index = parameters.position(|i| i.result_id == Some(parameter))?;
        let call = &self.module().places.get(&of.at)?.inst;
        Some((of.parent, ids(call).nth(index + 1)?))
    }

    /// The id that an OpPhi has taken.
    fn phi(&self, frame: u32, of: u32, i: &Instruction, when: Moment) -> Option<u32> {
        let at = *self.module().def.get(&of)?;
        let step = self.trace.last(frame, at, when.lane, when.end)?;
        let before = (0..step).rev().find(|s| {
            let note = self.trace.note(*s);
            note.frame == frame
                && self.trace.steps[*s].has(when.lane)
                && is_branch(self.module().places[&note.at].inst.class.opcode)
        })?;
        let block = self.module().places[&self.trace.note(before).at].block;
        let all: Vec<u32> = ids(i).collect();
        all.chunks_exact(2).find(|p| p[1] == block).map(|p| p[0])
    }

    /// What a note told of an id.
    fn told(&self, frame: u32, of: u32, when: Moment) -> Option<Value> {
        let at = *self.module().def.get(&of)?;
        let ty = self.module().type_of(of)?;
        let step = self.trace.last(frame, at, when.lane, when.end)?;
        self.result(step, when.lane, ty)
    }

    fn result(&self, step: usize, lane: usize, ty: u32) -> Option<Value> {
        let words = self.trace.words(step, lane);
        let enough = self.module().types.words(ty).is_some_and(|n| n != 0 && n == words.len());
        enough.then(|| self.module().types.value(ty, &mut words.into_iter()))
    }

    /// The result of a step, for a lane that has executed it; `None` where it has none, or none that can be shown.
    pub fn result_of(&self, step: usize, lane: usize) -> Option<Value> {
        if self.trace.note(step).what == What::Enter || !self.trace.steps[step].has(lane) {
            return None;
        }
        let i = self.inst(step);
        let ty = i.result_type?;
        if matches!(self.module().types.get(ty)?, Type::Void) {
            return None;
        }
        let told = self.result(step, lane, ty);
        told.or_else(|| {
            let value = self.value(self.trace.note(step).frame, i.result_id?, Moment { lane, end: step + 1 });
            value.is_known().then_some(value)
        })
    }

    /// The value of an id.
    pub fn value(&self, frame: u32, of: u32, when: Moment) -> Value {
        self.value_within(frame, of, when, 0)
    }

    fn value_within(&self, frame: u32, of: u32, when: Moment, depth: usize) -> Value {
        let Some(i) = self.module().inst(of).filter(|_| depth < MAX_DEPTH) else { return Value::Unknown };
        if let Some(constant) = self.constant(of, depth) {
            return constant;
        }
        if let Some(told) = self.told(frame, of, when) {
            return told;
        }
        let op = i.class.opcode;
        if op == Op::FunctionParameter
            && !self.is_pointer(of)
            && let Some((caller, argument)) = self.argument(frame, of)
        {
            return self.value_within(caller, argument, when, depth + 1);
        }
        if self.is_pointer(of) {
            let pointer = self.pointer(frame, of, when);
            return if pointer.root == Root::Unknown {
                Value::Unknown
            } else {
                Value::Opaque(format!("&{}", self.path(&pointer)))
            };
        }
        match op {
            Op::Load => {
                let at = self.module().def[&of];
                let Some(step) = self.trace.last(frame, at, when.lane, when.end) else {
                    return Value::Unknown;
                };
                let pointer = self.pointer(frame, ids(i).next().unwrap_or(0), Moment { end: step, ..when });
                match pointer.root {
                    Root::Variable(frame, id) if self.is_own(id) => {
                        self.variable(frame, id, Moment { end: step, ..when }).at(&pointer.path)
                    }
                    Root::Variable(..) => match self.module().result_type(of) {
                        Some(Type::Opaque(what)) => Value::Opaque(format!("{what} {}", self.path(&pointer))),
                        _ => Value::Unknown,
                    },
                    _ => Value::Unknown,
                }
            }
            Op::SampledImage => {
                let parts: Vec<String> =
                    ids(i).map(|p| self.value_within(frame, p, when, depth + 1).to_string()).collect();
                Value::Opaque(parts.join(" with "))
            }
            Op::Image | Op::CopyObject => {
                ids(i).next().map_or(Value::Unknown, |p| self.value_within(frame, p, when, depth + 1))
            }
            _ => Value::Unknown,
        }
    }

    pub(super) fn is_pointer(&self, of: u32) -> bool {
        matches!(self.module().result_type(of), Some(Type::Pointer(..)))
    }

    /// The value of a constant.
    pub fn constant(&self, of: u32, depth: usize) -> Option<Value> {
        let i = self.module().inst(of).filter(|_| depth < MAX_DEPTH)?;
        let ty = i.result_type?;
        let types = &self.module().types;
        match i.class.opcode {
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = ids(i).map(|p| self.constant(p, depth + 1).unwrap_or(Value::Unknown));
                Some(Value::Composite(parts.collect()))
            }
            Op::ConstantNull => types.words(ty).map(|n| types.value(ty, &mut std::iter::repeat_n(0, n))),
            Op::SpecConstantOp => super::constants::folded(self, i, depth + 1),
            Op::Undef => Some(types.unknown(ty)),
            _ => {
                let bits = self.module().number(of)?;
                Some(types.value(ty, &mut [bits as u32, (bits >> 32) as u32].into_iter()))
            }
        }
    }

    /// What a variable of the invocation's own holds.
    pub fn variable(&self, frame: u32, of: u32, when: Moment) -> Value {
        let Some(Type::Pointer(class, ty)) = self.module().result_type(of) else { return Value::Unknown };
        let (class, ty) = (*class, *ty);
        let initial = self.module().inst(of).and_then(|i| i.operands.get(1)).and_then(id);
        let start = if frame == GLOBAL { Some(0) } else { self.trace.entered(frame, when.lane, when.end) };
        let Some(start) = start else { return Value::Unknown };
        let mut value = match initial.and_then(|i| self.constant(i, 0)) {
            Some(value) => value,
            None => self.module().types.unknown(ty),
        };
        debug_assert!(class != StorageClass::Input);
        let writes = self.writes.get(&(frame, of)).map_or(&[][..], Vec::as_slice);
        let n = writes.partition_point(|w| (w.step as usize) < when.end);
        // From the last that replaces all of it.
        let mut late = vec![];
        for w in writes[..n].iter().rev() {
            let step = w.step as usize;
            if step < start {
                break;
            }
            if !self.trace.steps[step].has(when.lane) {
                continue;
            }
            let Some(path) = self.written(step, (frame, of), when.lane) else { continue };
            let whole = path.is_empty();
            late.push((*w, path));
            if whole {
                break;
            }
        }
        for (w, path) in late.into_iter().rev() {
            let then = Moment { lane: when.lane, end: w.step as usize };
            let part = self.stored(&w, then);
            if path.is_empty() {
                value = part;
            } else {
                value.set(&path, part);
            }
        }
        value
    }

    /// Where in a variable a step writes.
    fn written(&self, step: usize, variable: (u32, u32), lane: usize) -> Option<Vec<u32>> {
        let i = self.inst(step);
        let pointer = if i.class.opcode == Op::ExtInst { out_pointer(i)? } else { ids(i).next()? };
        let pointer = self.pointer(self.trace.note(step).frame, pointer, Moment { lane, end: step });
        (pointer.root == Root::Variable(variable.0, variable.1)).then_some(pointer.path)
    }

    /// What a write stores.
    fn stored(&self, w: &Write, then: Moment) -> Value {
        let step = w.step as usize;
        let frame = self.trace.note(step).frame;
        if w.value != 0 {
            return self.value(frame, w.value, then);
        }
        let i = self.inst(step);
        match i.class.opcode {
            Op::CopyMemory => {
                let from = self.pointer(frame, ids(i).nth(1).unwrap_or(0), then);
                self.pointee(&from, then)
            }
            _ => super::constants::out_of(self, frame, i, then),
        }
    }

    /// What lies where a pointer leads, as far as the invocation's own variables go.
    pub fn pointee(&self, pointer: &Pointer, when: Moment) -> Value {
        match pointer.root {
            Root::Variable(frame, id) if self.is_own(id) => self.variable(frame, id, when).at(&pointer.path),
            _ => Value::Unknown,
        }
    }

    /// The type that a pointer leads to.
    pub fn pointee_type(&self, pointer: &Pointer) -> Option<u32> {
        let Root::Variable(_, id) = pointer.root else { return None };
        let Some(Type::Pointer(_, ty)) = self.module().result_type(id) else { return None };
        pointer.path.iter().try_fold(*ty, |ty, k| self.module().types.part(ty, *k as usize))
    }

    /// A pointer in words: `light.position[1]`.
    pub fn path(&self, p: &Pointer) -> String {
        let mut ty = None;
        let mut text = match &p.root {
            Root::Variable(_, id) => {
                ty = match self.module().result_type(*id) {
                    Some(Type::Pointer(_, to)) => Some(*to),
                    _ => None,
                };
                let block = ty.and_then(|t| self.module().name(t));
                self.module().name(*id).or(block).unwrap_or_else(|| format!("%{id}"))
            }
            Root::Address(a) => format!("{a:#x}"),
            Root::Unknown => "?".into(),
        };
        for k in &p.path {
            match ty.and_then(|t| self.module().types.get(t)) {
                Some(Type::Struct(_)) => {
                    text += &format!(".{}", self.module().member(ty.unwrap_or(0), *k));
                }
                Some(Type::Vector(..)) if *k < 4 => text += [".x", ".y", ".z", ".w"][*k as usize],
                _ => text += &format!("[{k}]"),
            }
            ty = ty.and_then(|t| self.module().types.part(t, *k as usize));
        }
        text
    }

    /// Accesses of a lane to memory that others see too, before a moment: whether it is a write, where, and what. The last of each place,
    /// in the order of the first.
    pub fn accesses(&self, when: Moment) -> Vec<(bool, String, Value, Option<u32>)> {
        let mut all: Vec<(bool, String, Value, Option<u32>)> = vec![];
        let mut places: HashMap<String, usize> = HashMap::new();
        for step in self.accesses.iter().map(|s| *s as usize).take_while(|s| *s < when.end) {
            if !self.trace.steps[step].has(when.lane) {
                continue;
            }
            let Some((writes, pointer, value, ty)) = self.access(step, when.lane) else { continue };
            if self.is_input(&pointer) {
                continue;
            }
            let path = self.path(&pointer);
            match places.get(&path) {
                Some(k) => all[*k] = (writes, path, value, ty),
                None => {
                    places.insert(path.clone(), all.len());
                    all.push((writes, path, value, ty));
                }
            }
        }
        all
    }

    /// What a load, a store or an atomic has accessed: whether it is a write, where, what value.
    pub fn access(&self, step: usize, lane: usize) -> Option<(bool, Pointer, Value, Option<u32>)> {
        let then = Moment { lane, end: step };
        let frame = self.trace.note(step).frame;
        let i = self.inst(step);
        let pointer = self.pointer(frame, ids(i).next()?, then);
        Some(match i.class.opcode {
            Op::Store => {
                let of = ids(i).nth(1)?;
                (true, pointer, self.value(frame, of, then), self.module().type_of(of))
            }
            Op::CopyMemory => (true, pointer, Value::Unknown, None),
            _ => {
                let value = self.result_of(step, lane).unwrap_or(Value::Unknown);
                (i.class.opcode != Op::Load, pointer, value, i.result_type)
            }
        })
    }

    fn is_input(&self, p: &Pointer) -> bool {
        matches!(p.root, Root::Variable(_, id) if self.class(id) == Some(StorageClass::Input))
    }

    /// An input variable as far as the invocation has read it, whenever: it never changes.
    pub fn input(&self, of: u32, lane: usize) -> Value {
        let Some(Type::Pointer(_, ty)) = self.module().result_type(of) else { return Value::Unknown };
        let mut value = self.module().types.unknown(*ty);
        let loads = self.accesses.iter().map(|s| *s as usize).filter(|s| self.trace.steps[*s].has(lane));
        for step in loads.filter(|s| self.inst(*s).class.opcode == Op::Load) {
            if let Some((_, pointer, part, _)) = self.access(step, lane)
                && pointer.root == Root::Variable(GLOBAL, of)
            {
                value.set(&pointer.path, part);
                if pointer.path.is_empty() {
                    break;
                }
            }
        }
        value
    }
}

/// It reads or writes memory through its first id.
fn is_access(op: Op) -> bool {
    let name = format!("{op:?}");
    name.starts_with("Atomic")
}

pub fn is_branch(op: Op) -> bool {
    matches!(op, Op::Branch | Op::BranchConditional | Op::Switch)
}

/// The pointer through which an extended instruction gives a result.
fn out_pointer(i: &Instruction) -> Option<u32> {
    let rspirv::dr::Operand::LiteralExtInstInteger(n) = i.operands.get(1)? else { return None };
    let modf = *n == GLOp::Modf as u32 || *n == GLOp::Frexp as u32;
    // Of other sets these numbers mean something else, and have no pointer there.
    i.operands.get(3).and_then(id).filter(|_| modf && i.operands.len() == 4)
}
