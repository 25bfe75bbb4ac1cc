//! Types of a module, and values of them as text.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass};
use std::collections::HashMap;
use std::fmt;

/// Types within one another that are looked at.
const MAX_DEPTH: u32 = 64;
/// Parts that a value may have to be looked at.
pub const MAX_PARTS: usize = 1 << 16;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    Void,
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    /// `small`: of a format that registers hold as 32 bits.
    Float {
        bits: u32,
        small: bool,
    },
    Vector(u32, u32),
    Matrix(u32, u32),
    Array(u32, u32),
    RuntimeArray(u32),
    Struct(Vec<u32>),
    Pointer(StorageClass, u32),
    /// Something without bits of its own.
    Opaque(&'static str),
}

#[derive(Default)]
pub struct Types {
    all: HashMap<u32, Type>,
    /// Words and parts, if bounded.
    sizes: HashMap<u32, (usize, usize)>,
    depths: HashMap<u32, u32>,
}

impl Types {
    /// Takes note of a type. `number`: the bits of a constant.
    pub fn add(&mut self, i: &Instruction, number: impl Fn(u32) -> Option<u64>) {
        let Some(id) = i.result_id else { return };
        let of = |k: usize| i.operands.get(k).and_then(super::module::id).unwrap_or(0);
        let literal = |k: usize| match i.operands.get(k) {
            Some(Operand::LiteralBit32(n)) => *n,
            _ => 0,
        };
        let ty = match i.class.opcode {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => Type::Bool,
            Op::TypeInt => Type::Int { bits: literal(0), signed: literal(1) != 0 },
            Op::TypeFloat => Type::Float { bits: literal(0), small: i.operands.len() > 1 },
            Op::TypeVector => Type::Vector(of(0), literal(1)),
            Op::TypeMatrix => Type::Matrix(of(0), literal(1)),
            Op::TypeArray => Type::Array(of(0), number(of(1)).and_then(|n| n.try_into().ok()).unwrap_or(0)),
            Op::TypeRuntimeArray => Type::RuntimeArray(of(0)),
            Op::TypeStruct => Type::Struct(super::module::ids(i).collect()),
            Op::TypePointer => match i.operands.first() {
                Some(Operand::StorageClass(class)) => Type::Pointer(*class, of(1)),
                _ => Type::Opaque("pointer"),
            },
            Op::TypeImage => Type::Opaque("image"),
            Op::TypeSampler => Type::Opaque("sampler"),
            Op::TypeSampledImage => Type::Opaque("sampled image"),
            Op::TypeAccelerationStructureKHR => Type::Opaque("acceleration structure"),
            Op::TypeRayQueryKHR => Type::Opaque("ray query"),
            Op::TypeFunction => Type::Opaque("function"),
            _ => return,
        };
        let of = |t: &u32| self.depths.get(t).copied().unwrap_or(0);
        let depth = 1 + match &ty {
            Type::Vector(e, _)
            | Type::Matrix(e, _)
            | Type::Array(e, _)
            | Type::RuntimeArray(e)
            | Type::Pointer(_, e) => of(e),
            Type::Struct(members) => members.iter().map(of).max().unwrap_or(0),
            _ => 0,
        };
        let ty = if depth > MAX_DEPTH { Type::Opaque("deep type") } else { ty };
        self.depths.insert(id, depth);
        let size = match &ty {
            Type::Bool => Some((1, 1)),
            Type::Int { bits, .. } | Type::Float { bits, .. } => Some((if *bits > 32 { 2 } else { 1 }, 1)),
            Type::Vector(e, n) | Type::Matrix(e, n) | Type::Array(e, n) => self.times(*e, *n as usize),
            Type::Struct(members) => members.iter().try_fold((0, 1usize), |(words, parts), m| {
                let (w, p) = *self.sizes.get(m)?;
                let parts = parts.checked_add(p).filter(|p| *p <= MAX_PARTS)?;
                Some((words + w, parts))
            }),
            Type::Pointer(StorageClass::PhysicalStorageBuffer, _) => Some((2, 1)),
            _ => None,
        };
        if let Some(size) = size {
            self.sizes.insert(id, size);
        }
        self.all.insert(id, ty);
    }

    fn times(&self, e: u32, n: usize) -> Option<(usize, usize)> {
        let (words, parts) = *self.sizes.get(&e)?;
        let parts = parts.checked_mul(n)?.checked_add(1).filter(|p| *p <= MAX_PARTS)?;
        Some((words * n, parts))
    }

    pub fn get(&self, id: u32) -> Option<&Type> {
        self.all.get(&id)
    }

    /// Words of a value of numbers and truths; `None` for another one, or one of too many parts.
    pub fn words(&self, id: u32) -> Option<usize> {
        self.sizes.get(&id).map(|s| s.0)
    }

    /// Element or member `k` of a composite: its type.
    pub fn part(&self, of: u32, k: usize) -> Option<u32> {
        match self.get(of)? {
            Type::Vector(e, n) | Type::Matrix(e, n) | Type::Array(e, n) => (k < *n as usize).then_some(*e),
            Type::RuntimeArray(e) => Some(*e),
            Type::Struct(members) => members.get(k).copied(),
            _ => None,
        }
    }

    /// Elements or members.
    pub fn parts(&self, of: u32) -> usize {
        match self.get(of) {
            Some(Type::Vector(_, n) | Type::Matrix(_, n) | Type::Array(_, n)) => *n as usize,
            Some(Type::Struct(members)) => members.len(),
            _ => 0,
        }
    }

    /// The value whose words these are.
    pub fn value(&self, ty: u32, words: &mut impl Iterator<Item = u32>) -> Value {
        match self.get(ty) {
            Some(Type::Bool) => words.next().map_or(Value::Unknown, |w| Value::Bool(w != 0)),
            Some(Type::Int { bits, signed }) => {
                let (bits, signed) = (*bits, *signed);
                wide(words, bits).map_or(Value::Unknown, |of| Value::Int { of, bits, signed })
            }
            Some(Type::Float { bits, small }) => {
                let bits = if *small { 32 } else { *bits };
                wide(words, bits).map_or(Value::Unknown, |of| Value::Float { of, bits })
            }
            Some(Type::Pointer(StorageClass::PhysicalStorageBuffer, _)) => {
                wide(words, 64).map_or(Value::Unknown, Value::Address)
            }
            Some(Type::Opaque(what)) => Value::Opaque((*what).into()),
            Some(_) if self.words(ty).is_some() => {
                let parts = (0..self.parts(ty)).map(|k| self.part(ty, k).unwrap_or(0));
                Value::Composite(parts.map(|t| self.value(t, words)).collect())
            }
            _ => Value::Unknown,
        }
    }

    /// A value of which nothing is known, part by part.
    pub fn unknown(&self, ty: u32) -> Value {
        match self.get(ty) {
            Some(Type::Vector(..) | Type::Matrix(..) | Type::Array(..) | Type::Struct(_))
                if self.words(ty).is_some() =>
            {
                let parts = (0..self.parts(ty)).map(|k| self.part(ty, k).unwrap_or(0));
                Value::Composite(parts.map(|t| self.unknown(t)).collect())
            }
            _ => Value::Unknown,
        }
    }

    /// What people call a type.
    pub fn name(&self, id: u32, struct_name: &dyn Fn(u32) -> String) -> String {
        match self.get(id) {
            Some(Type::Void) => "void".into(),
            Some(Type::Bool) => "bool".into(),
            Some(Type::Int { bits, signed }) => format!("{}{bits}", if *signed { "i" } else { "u" }),
            Some(Type::Float { bits, .. }) => format!("f{bits}"),
            Some(Type::Vector(e, n)) => format!("{}x{n}", self.name(*e, struct_name)),
            Some(Type::Matrix(e, n)) => format!("{n} columns of {}", self.name(*e, struct_name)),
            Some(Type::Array(e, n)) => format!("{}[{n}]", self.name(*e, struct_name)),
            Some(Type::RuntimeArray(e)) => format!("{}[]", self.name(*e, struct_name)),
            Some(Type::Struct(_)) => struct_name(id),
            Some(Type::Pointer(_, to)) => match self.get(*to) {
                // A struct may have pointers to itself.
                Some(Type::Struct(_)) => format!("*{}", struct_name(*to)),
                Some(Type::Pointer(..)) | None => "pointer".into(),
                Some(_) => format!("*{}", self.name(*to, struct_name)),
            },
            Some(Type::Opaque(what)) => (*what).into(),
            None => "?".into(),
        }
    }
}

fn wide(words: &mut impl Iterator<Item = u32>, bits: u32) -> Option<u64> {
    let low = words.next()? as u64;
    if bits > 32 { Some(low | (words.next()? as u64) << 32) } else { Some(low) }
}

/// A value of an invocation.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Nothing has written it, or nobody has told.
    Unknown,
    Bool(bool),
    Int {
        of: u64,
        bits: u32,
        signed: bool,
    },
    Float {
        of: u64,
        bits: u32,
    },
    Address(u64),
    Composite(Vec<Value>),
    /// What a pointer leads to, or what an opaque object is.
    Opaque(String),
}

impl Value {
    /// An integer, sign-extended.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int { of, bits, signed: true } if *bits < 64 && *bits > 0 => {
                let n = 64 - bits;
                Some(((of << n) as i64) >> n)
            }
            Value::Int { of, .. } => Some(*of as i64),
            Value::Bool(b) => Some(*b as i64),
            _ => None,
        }
    }

    pub fn float(&self) -> Option<f64> {
        match self {
            Value::Float { of, bits: 16 } => Some(half(*of as u16)),
            Value::Float { of, bits: 64 } => Some(f64::from_bits(*of)),
            Value::Float { of, .. } => Some(f32::from_bits(*of as u32) as f64),
            _ => None,
        }
    }

    pub fn is_known(&self) -> bool {
        match self {
            Value::Unknown => false,
            Value::Composite(parts) => parts.iter().any(Value::is_known),
            _ => true,
        }
    }

    pub fn parts(&self) -> &[Value] {
        match self {
            Value::Composite(parts) => parts,
            _ => &[],
        }
    }

    /// The part at these indices.
    pub fn at(&self, path: &[u32]) -> Value {
        let mut here = self;
        for k in path {
            match here.parts().get(*k as usize) {
                Some(part) => here = part,
                None => return Value::Unknown,
            }
        }
        here.clone()
    }

    /// Replaces the part at these indices; what lies outside stays.
    pub fn set(&mut self, path: &[u32], to: Value) {
        match path.split_first() {
            None => *self = to,
            Some((k, rest)) => {
                if let Value::Composite(parts) = self
                    && let Some(part) = parts.get_mut(*k as usize)
                {
                    part.set(rest, to);
                }
            }
        }
    }
}

/// A half-precision float.
fn half(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, (bits & 1023) as f64);
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(e as i32 - 15),
    };
    if sign == 1 { -size } else { size }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Unknown => f.write_str("?"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int { of, signed: false, .. } => write!(f, "{of}"),
            Value::Int { .. } => write!(f, "{}", self.int().unwrap_or(0)),
            // The shortest text that is the value.
            Value::Float { of, bits: 64 } => write!(f, "{:?}", f64::from_bits(*of)),
            Value::Float { bits: 16, .. } => write!(f, "{:?}", self.float().unwrap_or(0.0) as f32),
            Value::Float { of, .. } => write!(f, "{:?}", f32::from_bits(*of as u32)),
            Value::Address(a) => write!(f, "{a:#x}"),
            Value::Opaque(what) => f.write_str(what),
            Value::Composite(parts) => {
                f.write_str("(")?;
                for (k, part) in parts.iter().enumerate() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    if k == 16 && parts.len() > 17 {
                        write!(f, "… {} more", parts.len() - k)?;
                        break;
                    }
                    write!(f, "{part}")?;
                }
                f.write_str(")")
            }
        }
    }
}
