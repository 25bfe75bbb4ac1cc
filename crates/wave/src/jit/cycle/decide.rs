//! A branch as a truth that all lanes share says: where that compares integers, one of them is compared, and no vectors.

use super::block::reads;
use crate::jit::nodes::body::Body;
use crate::jit::nodes::region::Loop;
use crate::recording::{Bin, Id, Node, Un};

#[derive(Clone, Copy, Debug)]
pub enum Operand {
    Value(Id),
    Word(u32),
}

/// How two integers compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Equal,
    /// Above, of signed ones and of unsigned ones.
    Greater,
    Above,
}

/// A comparison of two integers.
#[derive(Clone, Debug)]
pub struct Compare {
    pub operands: [Operand; 2],
    pub order: Order,
    /// True where they do not compare so.
    pub not: bool,
    /// Nodes that nobody else reads, which are not computed.
    pub left_out: Vec<Id>,
}

/// How often items read each node.
fn readers(region: &Loop, body: &Body) -> Vec<u32> {
    let mut n = vec![0; body.nodes.len()];
    body.each.iter().for_each(|item| reads(region, body, *item, |id| n[id as usize] += 1));
    n
}

/// The comparison that `c` is, if it is one.
pub fn compare(region: &Loop, body: &Body, c: Id) -> Option<Compare> {
    const SIGN: u32 = 1 << 31;
    let n = readers(region, body);
    let mut left_out = vec![];
    let (mut at, mut not) = (c, false);
    // The truth itself is read by the branch alone, what it is made of by the truth.
    let mut alone = |id: Id, by: u32| {
        let is = n[id as usize] == by;
        if is {
            left_out.push(id);
        }
        is
    };
    if !alone(c, 0) {
        return None;
    }
    if let Node::Un(Un::MNot, x) = body.nodes[at as usize] {
        (at, not) = (x, true);
        if !alone(x, 1) {
            return None;
        }
    }
    let Node::Bin(op, a, b) = body.nodes[at as usize] else { return None };
    let mut operands = [a, b].map(|id| match body.nodes[id as usize] {
        Node::Splat(x) => Operand::Word(x),
        _ => Operand::Value(id),
    });
    let mut order = match op {
        Bin::IEq => Order::Equal,
        Bin::SGt => Order::Greater,
        Bin::UGt => Order::Above,
        _ => return None,
    };
    // Of unsigned ones AVX2 compares what is that much less ([`Simd::ugt`]).
    let turned = operands.map(|x| match x {
        Operand::Word(x) => Some(Operand::Word(x ^ SIGN)),
        Operand::Value(id) => match body.nodes[id as usize] {
            Node::Bin(Bin::Xor, x, s) if body.nodes[s as usize] == Node::Splat(SIGN) => {
                Some(Operand::Value(x))
            }
            _ => None,
        },
    });
    if op == Bin::SGt
        && let [Some(x), Some(y)] = turned
    {
        for id in [a, b] {
            alone(id, 1);
        }
        operands = [x, y];
        order = Order::Above;
    }
    let it = Compare { operands, order, not, left_out };
    it.values().all(|id| body.uniform[id as usize]).then_some(it)
}

impl Compare {
    /// What it reads.
    pub fn values(&self) -> impl Iterator<Item = Id> + use<> {
        self.operands.into_iter().filter_map(|x| match x {
            Operand::Value(id) => Some(id),
            Operand::Word(_) => None,
        })
    }
}
