//! The families of operators, and what they have in common.

pub(crate) mod activation;
pub(crate) mod binary;
pub(crate) mod conversion;
pub(crate) mod convolution;
pub(crate) mod fft;
pub(crate) mod gather;
pub(crate) mod image;
pub(crate) mod layout;
pub(crate) mod map;
pub(crate) mod matmul;
pub(crate) mod pooling;
pub(crate) mod product;
pub(crate) mod reduction;
pub(crate) mod unary;

use crate::plan::{Plan, Stop};
use crate::types::{Set, Type, Wide, widen};
use crate::value::{Graph, Node, Value};
use crate::view::View;
use std::any::Any;
use std::sync::OnceLock;

/// Threads that share a node's work.
pub trait Pool: Sync {
    /// Calls `each` for every task, in any order, on any threads, and waits for all of them.
    fn run(&self, tasks: u64, each: &(dyn Fn(u64) + Sync));
}

/// What a rule says that is broken.
pub(crate) type Rule = Result<(), String>;

pub(crate) fn need(holds: bool, rule: impl FnOnce() -> String) -> Rule {
    if holds { Ok(()) } else { Err(rule()) }
}

/// The values of NaN modes.
pub(crate) const NAN_MODES: std::ops::RangeInclusive<i64> = 1..=2;
const IGNORE: i64 = 2;

/// Elements of a constant that says what an operator does.
const MAX_ATTRIBUTE: u64 = 1 << 20;

/// A node among the values of its graph.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    pub graph: &'a Graph,
    pub node: &'a Node,
}

impl<'a> Check<'a> {
    pub fn code(&self) -> u8 {
        self.node.op.code()
    }
    /// An operand.
    pub fn value(&self, i: usize) -> &'a Value {
        &self.graph.values[self.node.operands[i] as usize]
    }
    pub fn result(&self, i: usize) -> &'a Value {
        &self.graph.values[self.node.results[i] as usize]
    }
    /// A constant operand's elements; none of what is not constant, or is longer than attributes are.
    pub fn constants<T: Wide>(&self, i: usize) -> Vec<T> {
        let v = self.value(i);
        let count = v.elements().filter(|n| *n <= MAX_ATTRIBUTE && v.constant.is_some());
        let mut all = vec![T::default(); count.unwrap_or(0) as usize];
        widen(v.ty, v.constant.as_deref().unwrap_or_default(), &mut all);
        all
    }
    /// The first element of a constant integer.
    pub fn int(&self, i: usize) -> i64 {
        self.constants::<i64>(i).first().copied().unwrap_or(0)
    }
    /// So many constant integers.
    pub fn ints<const N: usize>(&self, i: usize, name: &str) -> Result<[i64; N], String> {
        let of_ints = !self.value(i).ty.is_float();
        let all = if of_ints { self.constants::<i64>(i) } else { vec![] };
        all.try_into().map_err(|_| format!("{name} must be {N} integers"))
    }
    pub fn is_of(&self, v: &Value, types: Set, name: &str) -> Rule {
        need(v.ty.is_in(types), || format!("{name} of type {:?} is not supported", v.ty))
    }
    pub fn has_rank(&self, v: &Value, rank: usize, name: &str) -> Rule {
        need(v.shape.len() == rank, || format!("{name} must have {rank} dimensions, not {}", v.shape.len()))
    }
    pub fn has_shape(&self, v: &Value, shape: &[i64], name: &str) -> Rule {
        let same = v.shape.len() == shape.len() && v.shape.iter().zip(shape).all(|(a, b)| *a as i64 == *b);
        need(same, || format!("{name} of shape {:?} must have the shape {shape:?}", v.shape))
    }
    /// A zero point, which is 0 but for i8 (and where else `may` says).
    pub fn zero_point(&self, i: usize, ty: Type, may: bool) -> Rule {
        let v = self.value(i);
        need(v.ty == ty && v.elements() == Some(1), || {
            "a zero point must be one element of its tensor's type".into()
        })?;
        let zero = self.constants::<f32>(i)[0] == 0.0;
        need(zero || may, || format!("a zero point of {ty:?} must be 0"))
    }
    /// An axis of a shape.
    pub fn axis(&self, i: usize, rank: usize) -> Result<usize, String> {
        let [axis] = self.ints(i, "axis")?;
        usize::try_from(axis)
            .ok()
            .filter(|a| *a < rank)
            .ok_or_else(|| format!("axis {axis} of {rank} dimensions"))
    }
    /// Its NaN mode is one.
    pub fn nan_mode(&self, i: usize) -> Rule {
        need(NAN_MODES.contains(&self.ints::<1>(i, "nan_mode")?[0]), || {
            "nan_mode must be PROPAGATE or IGNORE".into()
        })
    }
    pub fn ignores_nans(&self, i: usize) -> bool {
        self.int(i) == IGNORE
    }
}

/// `n / d + 1`, if that is exact.
pub(crate) fn steps(n: i64, d: i64, name: &str) -> Result<i64, String> {
    need(n >= 0 && n % d == 0, || format!("{name}: {n} must be a multiple of the stride {d}"))?;
    Ok(n / d + 1)
}

pub(crate) fn dims(v: &Value) -> Vec<i64> {
    v.shape.iter().map(|n| *n as i64).collect()
}

/// A node that runs.
pub(crate) struct Run<'a> {
    pub check: Check<'a>,
    pub operands: Vec<View>,
    pub results: Vec<View>,
    pub pool: &'a dyn Pool,
    /// What the node has made of constant operands, for all its runs.
    pub kept: &'a Kept,
    pub plan: &'a Plan,
}

/// See [`Run::kept`].
pub(crate) type Kept = OnceLock<Box<dyn Any + Send + Sync>>;

impl Run<'_> {
    pub fn code(&self) -> u8 {
        self.check.code()
    }
    /// Whether an operand is the same in each run.
    pub fn is_steady(&self, i: usize) -> bool {
        self.plan.constant(self.check.node.operands[i]).is_some()
    }
    /// A constant's elements, small enough to be copied.
    pub fn ints(&self, i: usize) -> Vec<i64> {
        self.check.constants(i)
    }
}

/// `n` elements of their default.
///
/// # Errors
/// There is no memory.
pub(crate) fn room<T: Clone + Default>(n: usize) -> Result<Vec<T>, Stop> {
    let mut v = Vec::new();
    v.try_reserve_exact(n).map_err(|_| Stop::Memory)?;
    v.resize(n, T::default());
    Ok(v)
}

/// The larger (or smaller) of two, by TOSA's rules for NaNs.
#[inline(always)]
pub(crate) fn pick<T: Wide>(a: T, b: T, larger: bool, ignore: bool) -> T {
    #[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
    let (nan_a, nan_b) = (a != a, b != b);
    if nan_a || nan_b {
        return if ignore == nan_a { b } else { a };
    }
    let first = if larger { a >= b } else { a < b };
    if first { a } else { b }
}
