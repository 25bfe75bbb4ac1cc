//! What a graph consists of.

use crate::table::{self, Op};
use crate::types::Type;
use small_sort::SmallSort;
use std::fmt;
use std::sync::Arc;

/// Dimensions that a tensor may have (TOSA's level 8K).
pub const MAX_RANK: usize = 6;

/// Bytes that a tensor may have.
pub(crate) const MAX_BYTES: u64 = 1 << 31;

/// Tensors of CONCAT's list (TOSA's level 8K).
pub(crate) const MAX_LIST: usize = 64;

/// Nodes that a graph may have.
const MAX_NODES: usize = 1 << 14;

/// A constant's elements, one after the other, the last dimension innermost.
pub type Constant = Arc<[u8]>;

/// A tensor of a graph.
#[derive(Clone, Debug)]
pub struct Value {
    pub ty: Type,
    /// Elements of each dimension, the outermost first; empty: a scalar, which only constants may be.
    pub shape: Vec<u32>,
    pub constant: Option<Constant>,
}

impl Value {
    /// Its elements; `None`: more than fit a tensor.
    pub fn elements(&self) -> Option<u64> {
        let all = self.shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d as u64))?;
        (all.checked_mul(self.ty.bytes() as u64)? <= MAX_BYTES).then_some(all)
    }

    /// Its bytes without gaps, once it has been checked.
    pub fn bytes(&self) -> u64 {
        self.elements().unwrap_or(0) * self.ty.bytes() as u64
    }
}

/// An operator with what it works on: indices of values.
#[derive(Clone, Debug)]
pub struct Node {
    pub op: Op,
    /// In the order of the instruction set's operands: attributes, then inputs.
    pub operands: Vec<u32>,
    pub results: Vec<u32>,
}

/// Where a graph is connected: a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Port {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
}

#[derive(Clone, Default, Debug)]
pub struct Graph {
    pub values: Vec<Value>,
    /// Each uses only what inputs, constants and nodes before it are.
    pub nodes: Vec<Node>,
    pub inputs: Vec<(Port, u32)>,
    pub outputs: Vec<(Port, u32)>,
}

/// Why there is no such graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The node, and its operator; `None`: the graph itself.
    pub node: Option<(usize, &'static str)>,
    pub rule: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.node {
            Some((n, op)) => write!(f, "node {n} ({op}): {}", self.rule),
            None => f.write_str(&self.rule),
        }
    }
}

impl Graph {
    /// Whether it follows the rules of TOSA 1.0.
    ///
    /// # Errors
    /// The first rule that it breaks, and the node that does.
    pub fn check(&self) -> Result<(), Wrong> {
        let wrong = |rule: String| Wrong { node: None, rule };
        if self.nodes.len() > MAX_NODES {
            return Err(wrong(format!("{} nodes, of at most {MAX_NODES}", self.nodes.len())));
        }
        let mut made: Vec<bool> = Vec::with_capacity(self.values.len());
        for (i, v) in self.values.iter().enumerate() {
            let bytes = v.elements().map(|n| n * v.ty.bytes() as u64);
            let Some(bytes) = bytes.filter(|b| *b > 0) else {
                return Err(wrong(format!("tensor {i} of shape {:?} is empty or too large", v.shape)));
            };
            if v.shape.len() > MAX_RANK || v.shape.is_empty() && v.constant.is_none() {
                return Err(wrong(format!(
                    "tensor {i} has {} dimensions, of 1 to {MAX_RANK}",
                    v.shape.len()
                )));
            }
            if v.constant.as_ref().is_some_and(|c| c.len() as u64 != bytes) {
                return Err(wrong(format!("constant {i} of shape {:?} has not {bytes} bytes", v.shape)));
            }
            made.push(v.constant.is_some());
        }
        let none = |what: &str| wrong(format!("{what} is no value of the graph, or is made later"));
        let make = |v: u32, made: &mut Vec<bool>| match made.get_mut(v as usize) {
            Some(m) if !*m => {
                *m = true;
                Ok(())
            }
            _ => Err(wrong(format!("value {v} is made twice, or is none"))),
        };
        for (_, v) in &self.inputs {
            make(*v, &mut made)?;
        }
        for (n, node) in self.nodes.iter().enumerate() {
            let named = |rule: String| Wrong { node: Some((n, node.op.name())), rule };
            if let Some(v) = node.operands.iter().find(|v| made.get(**v as usize) != Some(&true)) {
                return Err(named(format!("its operand {v} is no value, or is made later")));
            }
            for v in &node.results {
                make(*v, &mut made)?;
            }
            table::check(self, node).map_err(named)?;
        }
        for (_, v) in &self.outputs {
            if made.get(*v as usize) != Some(&true) {
                return Err(none("an output"));
            }
        }
        let mut ports: Vec<Port> = self.outputs.iter().map(|o| o.0).collect();
        ports.small_sort();
        if ports.is_empty() || ports.windows(2).any(|w| w[0] == w[1]) {
            return Err(wrong(
                "a graph has at least one output, and each output a descriptor of its own".into(),
            ));
        }
        Ok(())
    }
}
