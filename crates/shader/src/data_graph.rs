//! Data graphs (SPV_ARM_graph): one graph entry point of a module, whose operators are those of the instruction set TOSA.001000.1, as a
//! [`graph::Graph`]. What the operators demand of their operands is the graph's to check.

use crate::options::{Error, Result};
use crate::spirv::*;
use graph::{Constant, Graph, MAX_RANK, Node, Op as Operator, Port, Type, Value};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Bytes of constants that a module spells out (or leaves null) at most.
const MAX_CONSTANTS: usize = 1 << 28;

/// Constituents that are looked at for all constants: one may be named many times.
const MAX_STEPS: u32 = 1 << 24;

/// Composites within composites of a constant.
const MAX_DEPTH: usize = 8;

/// What a pipeline gives a module.
pub struct Given<'a> {
    pub entry: &'a str,
    /// (id, little-endian value zero-extended to 64 bits)
    pub spec: &'a [(u32, u64)],
    /// Shape and elements of a graph constant.
    pub constant: &'a dyn Fn(u32) -> Option<(Vec<u32>, Constant)>,
    /// The shape of the tensor at a port, for those whose type has none.
    pub shape: &'a dyn Fn(Port) -> Option<Vec<u32>>,
}

/// What an id of a graph is.
#[derive(Clone)]
enum Item {
    Value(u32),
    /// A structure's members.
    Members(Vec<u32>),
}

struct Reader<'m, 'a> {
    m: &'m Module,
    given: &'a Given<'a>,
    graph: Graph,
    items: FxHashMap<u32, Item>,
    constants: usize,
    steps: Cell<u32>,
}

/// Translates an entry point.
///
/// # Errors
/// Bad SPIR-V, no such entry point, or something that graphs here cannot be.
pub fn data_graph(m: &Module, given: &Given) -> Result<Graph> {
    let mut reader = Reader {
        m,
        given,
        graph: Graph::default(),
        items: FxHashMap::default(),
        constants: 0,
        steps: Cell::new(0),
    };
    reader.read()?;
    Ok(reader.graph)
}

/// The variables that a graph is connected by, inputs first.
struct Interface {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
}

/// Instructions from a word on.
fn instructions(m: &Module, from: u32) -> impl Iterator<Item = Code<'_>> {
    let mut at = from;
    std::iter::from_fn(move || {
        let i = ((at as usize) < m.words().len()).then(|| m.inst(at))?;
        at += i.len() as u32;
        Some(i)
    })
}

/// First word after the header.
const BODY: u32 = 5;

impl<'m> Reader<'m, '_> {
    fn read(&mut self) -> Result<()> {
        let m = self.m;
        let mut entry = None;
        for i in instructions(m, BODY).filter(|i| i.op == Op::GraphEntryPointARM) {
            let (name, interface) = i.string(2)?;
            if name == self.given.entry && entry.replace((i, interface)).is_some() {
                return Err(i.bad("a second graph of this name"));
            }
        }
        let Some((entry, interface)) = entry else {
            return Err(Error::Invalid {
                word: 0,
                what: format!("there is no graph '{}'", self.given.entry),
            });
        };
        let graph = m.def(entry.word(1)?, entry.at)?;
        if graph.op != Op::GraphARM {
            return Err(entry.bad("not a graph"));
        }
        let ports = self.interface(&graph, &entry, entry.rest(interface))?;
        for i in instructions(m, graph.at as u32).skip(1) {
            match i.op {
                Op::GraphEndARM => return Ok(()),
                Op::GraphInputARM => self.input(&i, &ports)?,
                Op::GraphSetOutputARM => {
                    let v = self.value(i.word(1)?, i.at)?;
                    let port = self.port(&i, 2, &ports.outputs)?;
                    self.graph.outputs.push((port, v));
                }
                Op::ExtInst => self.operator(&i)?,
                Op::CompositeExtract => {
                    let (of, at) = (i.word(3)?, i.word(4)?);
                    let member = match self.items.get(&of) {
                        Some(Item::Members(all)) if i.len() == 5 => all.get(at as usize).copied(),
                        _ => None,
                    };
                    let member = member.ok_or_else(|| i.bad("not a member of an operator's results"))?;
                    self.define(i.word(2)?, Item::Value(member));
                }
                Op::Line | Op::NoLine | Op::Nop => {}
                _ => return Err(i.bad("not an instruction of graphs")),
            }
        }
        Err(graph.bad("a graph without an end"))
    }

    fn define(&mut self, id: u32, item: Item) {
        self.items.insert(id, item);
    }

    fn interface(&self, graph: &Code, entry: &Code, variables: &[u32]) -> Result<Interface> {
        let ty = self.m.def(graph.word(1)?, graph.at)?;
        if ty.op != Op::TypeGraphARM {
            return Err(graph.bad("the type is no graph"));
        }
        let inputs = ty.word(2)? as usize;
        if variables.len() != ty.rest(3).len() || inputs >= variables.len() {
            return Err(entry.bad("not as many variables as the graph has inputs and outputs"));
        }
        let mut ports = vec![];
        for &id in variables {
            if self.m.def(id, entry.at)?.op != Op::Variable {
                return Err(entry.bad("not a variable"));
            }
            let of = |d| self.m.decoration(id, d);
            let (Some(set), Some(binding)) = (of(Decoration::DescriptorSet), of(Decoration::Binding)) else {
                return Err(entry.bad("a variable without a descriptor"));
            };
            ports.push(Port { set, binding, element: 0 });
        }
        let outputs = ports.split_off(inputs);
        Ok(Interface { inputs: ports, outputs })
    }

    /// The port that an instruction names from word `w` on.
    fn port(&self, i: &Code, w: usize, ports: &[Port]) -> Result<Port> {
        let index = self.integer(i.word(w)?, i.at)?;
        let port = ports.get(index as usize).ok_or_else(|| i.bad("an index of no input or output"))?;
        match i.rest(w + 1) {
            [] => Ok(*port),
            [element] => Ok(Port { element: self.integer(*element, i.at)? as u32, ..*port }),
            _ => Err(i.bad("more than one index of an element")),
        }
    }

    fn input(&mut self, i: &Code, ports: &Interface) -> Result<()> {
        let port = self.port(i, 3, &ports.inputs)?;
        let (ty, shape) = self.tensor(i.word(1)?, i.at)?;
        let shape = shape.or_else(|| (self.given.shape)(port));
        let shape = shape.ok_or_else(|| unsupported("an input whose shape nothing says"))?;
        let v = self.add(Value { ty, shape, constant: None });
        self.graph.inputs.push((port, v));
        self.define(i.word(2)?, Item::Value(v));
        Ok(())
    }

    fn add(&mut self, v: Value) -> u32 {
        self.graph.values.push(v);
        self.graph.values.len() as u32 - 1
    }

    fn operator(&mut self, i: &Code) -> Result<()> {
        match self.m.ext_set(i.word(3)?) {
            Some(ExtSet::Tosa) => {}
            Some(ExtSet::NonSemantic | ExtSet::ShaderDebugInfo) => return Ok(()),
            _ => return Err(i.bad("not an instruction of TOSA.001000.1")),
        }
        let number = i.word(4)?;
        let op = Operator::of(number).ok_or_else(|| i.bad(format!("TOSA has no operator {number}")))?;
        let operands = i.rest(5).iter().map(|id| self.value(*id, i.at)).collect::<Result<Vec<u32>>>()?;
        let ty = self.m.def(i.word(1)?, i.at)?;
        let types = if ty.op == Op::TypeStruct { ty.rest(2) } else { &i.w[1..2] };
        let mut results = vec![];
        for &t in types {
            let (ty, shape) = self.tensor(t, i.at)?;
            let shape =
                shape.ok_or_else(|| unsupported(format!("{}: a result without a shape", op.name())))?;
            results.push(self.add(Value { ty, shape, constant: None }));
        }
        let item = match (ty.op, &results[..]) {
            (Op::TypeStruct, all) => Item::Members(all.to_vec()),
            (_, all) => Item::Value(all[0]),
        };
        self.define(i.word(2)?, item);
        self.graph.nodes.push(Node { op, operands, results });
        Ok(())
    }

    /// The value of an id: what the graph has made, or a constant.
    fn value(&mut self, id: u32, at: usize) -> Result<u32> {
        match self.items.get(&id) {
            Some(Item::Value(v)) => return Ok(*v),
            Some(Item::Members(_)) => return Err(invalid(at, format!("id {id} is several tensors"))),
            None => {}
        }
        let i = self.m.def(id, at)?;
        let (ty, shape) = match self.m.def(i.word(1)?, i.at)?.op {
            Op::TypeTensorARM => self.tensor(i.word(1)?, i.at)?,
            _ => (self.element(i.word(1)?, i.at)?, Some(vec![])),
        };
        let (shape, constant) = if i.op == Op::GraphConstantARM {
            let number = i.word(3)?;
            let (own, constant) = (self.given.constant)(number)
                .ok_or_else(|| Error::Unsupported(format!("the pipeline has no constant {number}")))?;
            if shape.is_some_and(|s| s != own) {
                return Err(i.bad("the pipeline's constant has another shape"));
            }
            (own, constant)
        } else {
            let shape = shape.ok_or_else(|| i.bad("a constant without a shape"))?;
            let mut bytes = vec![];
            self.elements(id, at, ty, MAX_DEPTH, &mut bytes)?;
            self.constants += bytes.len();
            if self.constants > MAX_CONSTANTS {
                return Err(Error::TooLarge("a graph's constants".into()));
            }
            (shape, bytes.into())
        };
        let v = self.add(Value { ty, shape, constant: Some(constant) });
        self.define(id, Item::Value(v));
        Ok(v)
    }

    /// Adds a constant's elements.
    fn elements(&self, id: u32, at: usize, ty: Type, depth: usize, out: &mut Vec<u8>) -> Result<()> {
        let i = self.m.def(id, at)?;
        self.steps.set(self.steps.get() + 1);
        if depth == 0 || out.len() > MAX_CONSTANTS || self.steps.get() > MAX_STEPS {
            return Err(Error::TooLarge("a constant of a graph".into()));
        }
        match i.op {
            Op::ConstantComposite | Op::SpecConstantComposite => {
                i.rest(3).iter().try_for_each(|c| self.elements(*c, i.at, ty, depth - 1, out))
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                let begin = out.len();
                self.elements(i.word(3)?, i.at, ty, depth - 1, out)?;
                let whole = self.bytes(&i, ty)?;
                let one = out[begin..].to_vec();
                if one.is_empty() || whole % one.len() != 0 {
                    return Err(i.bad("not a whole number of constituents"));
                }
                (1..whole / one.len()).for_each(|_| out.extend_from_slice(&one));
                Ok(())
            }
            Op::ConstantNull => {
                out.resize(out.len() + self.bytes(&i, ty)?, 0);
                Ok(())
            }
            _ => {
                if self.element(i.word(1)?, i.at)? != ty {
                    return Err(i.bad("an element of another type"));
                }
                out.extend_from_slice(&self.scalar(id, at, MAX_DEPTH)?.to_le_bytes()[..ty.bytes()]);
                Ok(())
            }
        }
    }

    /// Bytes of a constant's type.
    fn bytes(&self, i: &Code, ty: Type) -> Result<usize> {
        let of = self.m.def(i.word(1)?, i.at)?;
        let count = match of.op {
            Op::TypeTensorARM => {
                let shape =
                    self.tensor(i.word(1)?, i.at)?.1.ok_or_else(|| i.bad("a constant without a shape"))?;
                shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d as usize))
            }
            Op::TypeArray => Some(self.integer(of.word(3)?, of.at)? as usize),
            Op::TypeVector => Some(of.word(3)? as usize),
            _ => Some(1),
        };
        let bytes = count.and_then(|n| n.checked_mul(ty.bytes())).filter(|n| *n <= MAX_CONSTANTS);
        bytes.ok_or_else(|| Error::TooLarge("a constant of a graph".into()))
    }

    /// The bits of a scalar constant.
    fn scalar(&self, id: u32, at: usize, depth: usize) -> Result<u64> {
        let i = self.m.def(id, at)?;
        let special = || {
            let number = self.m.decoration(id, Decoration::SpecId)?;
            self.given.spec.iter().find(|s| s.0 == number).map(|s| s.1)
        };
        let literal = || Ok(i.word(3)? as u64 | (i.get(4).unwrap_or(0) as u64) << 32);
        match i.op {
            Op::ConstantTrue => Ok(1),
            Op::ConstantFalse | Op::ConstantNull => Ok(0),
            Op::SpecConstantTrue => Ok(special().map_or(1, |s| (s as u32 != 0) as u64)),
            Op::SpecConstantFalse => Ok(special().map_or(0, |s| (s as u32 != 0) as u64)),
            Op::Constant => literal(),
            Op::SpecConstant => special().map_or_else(literal, Ok),
            Op::SpecConstantOp if depth > 0 => self.folded(&i, depth - 1),
            _ => Err(invalid(at, format!("id {id} is neither made before nor a constant"))),
        }
    }

    /// An operation on specialisation constants: of integers.
    fn folded(&self, i: &Code, depth: usize) -> Result<u64> {
        let ty = self.element(i.word(1)?, i.at)?;
        let bits = 8 * ty.bytes() as u32;
        let part = |w: usize| -> Result<i64> {
            let v = self.scalar(i.word(w)?, i.at, depth)? << (64 - bits);
            Ok(v as i64 >> (64 - bits))
        };
        let (op, a) = (Op::from_u32(i.word(3)?), part(4)?);
        let b = if i.len() > 5 { part(5)? } else { 0 };
        let plain = |v: i64| v as u64 & (u64::MAX >> (64 - bits));
        let shift = b as u32 % bits;
        let value = match op {
            _ if ty.is_float() || ty == Type::Bool => None,
            Some(Op::IAdd) => Some(a.wrapping_add(b)),
            Some(Op::ISub) => Some(a.wrapping_sub(b)),
            Some(Op::IMul) => Some(a.wrapping_mul(b)),
            Some(Op::SDiv) => a.checked_div(b),
            Some(Op::SRem) => a.checked_rem(b),
            Some(Op::UDiv) => plain(a).checked_div(plain(b)).map(|v| v as i64),
            Some(Op::UMod) => plain(a).checked_rem(plain(b)).map(|v| v as i64),
            Some(Op::SNegate) => Some(a.wrapping_neg()),
            Some(Op::Not) => Some(!a),
            Some(Op::BitwiseAnd) => Some(a & b),
            Some(Op::BitwiseOr) => Some(a | b),
            Some(Op::BitwiseXor) => Some(a ^ b),
            Some(Op::ShiftLeftLogical) => Some(a << shift),
            Some(Op::ShiftRightLogical) => Some((plain(a) >> shift) as i64),
            Some(Op::ShiftRightArithmetic) => Some(a >> shift),
            _ => None,
        };
        value
            .map(|v| v as u64)
            .ok_or_else(|| unsupported(format!("{op:?} of specialisation constants in a graph")))
    }

    fn integer(&self, id: u32, at: usize) -> Result<u64> {
        let i = self.m.def(id, at)?;
        match self.element(i.word(1)?, i.at)? {
            ty if ty.is_float() || ty == Type::Bool => Err(invalid(at, format!("id {id} is no integer"))),
            ty => Ok(self.scalar(id, at, MAX_DEPTH)? & (u64::MAX >> (64 - 8 * ty.bytes()))),
        }
    }

    fn element(&self, id: u32, at: usize) -> Result<Type> {
        let t = self.m.def(id, at)?;
        let encoding = |e: FPEncoding| t.get(3) == Some(e as u32);
        Ok(match (t.op, t.get(2)) {
            (Op::TypeBool, _) => Type::Bool,
            (Op::TypeInt, Some(8)) => Type::I8,
            (Op::TypeInt, Some(16)) => Type::I16,
            (Op::TypeInt, Some(32)) => Type::I32,
            (Op::TypeInt, Some(64)) => Type::I48,
            (Op::TypeFloat, Some(8)) if encoding(FPEncoding::Float8E4M3EXT) => Type::F8E4M3,
            (Op::TypeFloat, Some(8)) if encoding(FPEncoding::Float8E5M2EXT) => Type::F8E5M2,
            (Op::TypeFloat, Some(16)) if encoding(FPEncoding::BFloat16KHR) => Type::BF16,
            (Op::TypeFloat, Some(16)) if t.len() == 3 => Type::F16,
            (Op::TypeFloat, Some(32)) => Type::F32,
            _ => return Err(invalid(at, format!("id {id} is no type of a graph's elements"))),
        })
    }

    /// Element type and, if it has one, shape of a tensor's type.
    fn tensor(&self, id: u32, at: usize) -> Result<(Type, Option<Vec<u32>>)> {
        let t = self.m.def(id, at)?;
        if t.op != Op::TypeTensorARM {
            return Err(invalid(at, format!("id {id} is no type of tensors")));
        }
        let element = self.element(t.word(2)?, t.at)?;
        let Some(rank) = t.get(3) else { return Err(unsupported("a tensor without a rank in a graph")) };
        let rank = self.integer(rank, t.at)? as usize;
        if rank == 0 || rank > MAX_RANK {
            return Err(unsupported(format!("a tensor of {rank} dimensions")));
        }
        let Some(shape) = t.get(4) else { return Ok((element, None)) };
        let shape = self.m.def(shape, t.at)?;
        let dimensions: Vec<u32> = match shape.op {
            Op::ConstantComposite | Op::SpecConstantComposite => {
                shape.rest(3).iter().map(|d| Ok(self.integer(*d, t.at)? as u32)).collect::<Result<_>>()?
            }
            Op::ConstantCompositeReplicateEXT | Op::SpecConstantCompositeReplicateEXT => {
                vec![self.integer(shape.word(3)?, t.at)? as u32; rank]
            }
            _ => return Err(t.bad("a shape that is no constant")),
        };
        if dimensions.len() != rank {
            return Err(t.bad("a shape of another number of dimensions than the rank"));
        }
        Ok((element, Some(dimensions)))
    }
}
