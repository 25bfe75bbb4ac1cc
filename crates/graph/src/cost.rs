//! What nodes ask of a GPU without a unit for matrices: operations of the arithmetic units of its cores, by lane, and bytes.
//!
//! Assumptions. Elements lie in lanes so that all of them work, and bringing an element to its lane costs nothing: a lower bound. Four
//! products of bytes and their sum are one operation (a dot product of packed bytes), two products of 16 bits whose sums have 16 bits
//! are one, a product of 32 bits and its sum are one; a product of i16 and its sum of 48 bits are a multiplication (SFU) and an addition
//! (CVT). Operations on elements of 8 and 16 bits share lanes by four and two, but for those of the SFU. What a window has outside of its
//! image is computed with, as are the other zeros. A Fourier transform is a fast one, of four
//! FMA for a point and step, and of two if the points are real.

use crate::op::Check;
use crate::plan::Plan;
use crate::table::{Work, code as c};
use crate::types::{F8, Type};
use crate::value::{Graph, Node};

/// What a node asks for, once.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Cost {
    /// Multiply-adds of its convolution or matrix product.
    pub products: u64,
    /// The same, those of bytes once, of two bytes twice, of i16 and bytes four times, and of f32 eight times: what an engine for bytes would
    /// take for them.
    pub weighted: u64,
    /// Other operations on elements.
    pub others: u64,
    /// Operations of a lane of the FMA, the CVT and the SFU pipe.
    pub lanes: [u64; 3],
    /// Of these, those on 16 bits or fewer.
    pub narrow: u64,
    /// Bytes of its operands, and of its results.
    pub read: u64,
    pub written: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, o: Cost) {
        self.products += o.products;
        self.weighted += o.weighted;
        self.others += o.others;
        self.lanes.iter_mut().zip(o.lanes).for_each(|(a, b)| *a += b);
        self.narrow += o.narrow;
        self.read += o.read;
        self.written += o.written;
    }
}

fn elements(g: &Graph, v: u32) -> u64 {
    g.values[v as usize].elements().unwrap_or(0)
}

/// Products of each element that a node's sums go over: elements of the result, or of the input of a transposed convolution.
fn products(g: &Graph, n: &Node) -> u64 {
    let first = n.op.tensor();
    let [input, weight] = [0, 1].map(|i| &g.values[n.operands[first + i] as usize].shape);
    let all = |shape: &[u32]| shape.iter().map(|d| *d as u64).product::<u64>();
    let made = elements(g, n.results[0]);
    match n.op.code() {
        c::MATMUL => made * input[2] as u64,
        c::DEPTHWISE_CONV2D => made * all(&weight[..2]),
        // Each element of the input meets all weights of its channel.
        c::TRANSPOSE_CONV2D => all(input) * all(&weight[..3]),
        _ => made * all(&weight[1..]),
    }
}

/// Steps of a transform by two, at least one: its sides are powers of two.
fn steps(g: &Graph, n: &Node) -> u64 {
    let shape = &g.values[n.operands[n.op.tensor()] as usize].shape;
    shape[1..].iter().map(|d| d.max(&1).ilog2() as u64).sum::<u64>().max(1)
}

pub(crate) fn cost(g: &Graph, n: &Node) -> Cost {
    let bytes = |of: &[u32]| of.iter().map(|v| g.values[*v as usize].bytes()).sum::<u64>();
    let (result, operand) = (n.results[0], n.operands[n.op.tensor()]);
    let ty = g.values[operand as usize].ty;
    let (work, each) = n.op.work(ty.is_float());
    let mut cost = Cost { read: bytes(&n.operands), written: bytes(&n.results), ..Cost::default() };
    if work == Work::Products {
        cost.products = products(g, n);
        // Sums of 16 bits: those of bytes in floats, and of halves where the accumulator may be.
        let narrow = ty.is_in(F8) || ty == Type::F16 && halves(g, n);
        let weight = match ty {
            Type::F32 => 8,
            Type::I16 => 4,
            ty => ty.bytes() as u64,
        };
        cost.weighted = cost.products * weight;
        cost.lanes = match ty {
            Type::I8 => [cost.products.div_ceil(4), 0, 0],
            Type::I16 => [0, cost.products, cost.products],
            _ if narrow => [cost.products.div_ceil(2), 0, 0],
            _ => [cost.products, 0, 0],
        };
    } else {
        cost.others = match work {
            Work::Result => n.results.iter().map(|v| elements(g, *v)).sum(),
            Work::Operand => elements(g, operand),
            // The kernel is the first constant.
            Work::Window => {
                let kernel: i64 = Check { graph: g, node: n }.constants::<i64>(0).iter().product();
                elements(g, result) * kernel.max(0) as u64
            }
            Work::Fourier => elements(g, operand) * steps(g, n),
            _ => 0,
        };
        let by = (4 / ty.bytes() as u64).max(1);
        let [fma, cvt, sfu] = each.map(|n| n as u64 * cost.others);
        cost.lanes = [fma.div_ceil(by), cvt.div_ceil(by), sfu];
    }
    if ty.bytes() <= 2 {
        cost.narrow = cost.lanes.iter().sum();
    }
    cost
}

/// Whether a node on halves may sum in halves.
fn halves(g: &Graph, n: &Node) -> bool {
    const FP16: i64 = 2;
    match n.op.code() {
        c::MATMUL => g.values[n.results[0] as usize].ty == Type::F16,
        _ => Check { graph: g, node: n }.int(n.op.tensor() - 2) == FP16,
    }
}

impl Plan {
    /// What each node asks for, in their order.
    pub fn costs(&self) -> impl Iterator<Item = Cost> + '_ {
        self.graph().nodes.iter().map(|n| cost(self.graph(), n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Op;
    use crate::value::Value;

    /// A node of this operator: shapes and types of its operands (constants have values), and of its result.
    fn of(op: u8, operands: &[(Type, &[u32], &[u8])], result: (Type, &[u32])) -> Cost {
        let mut g = Graph::default();
        for (ty, shape, data) in operands {
            let constant = (!data.is_empty()).then(|| data.to_vec().into());
            g.values.push(Value { ty: *ty, shape: shape.to_vec(), constant });
        }
        g.values.push(Value { ty: result.0, shape: result.1.to_vec(), constant: None });
        let last = operands.len() as u32;
        let op = Op::of(op as u32).expect("an operator");
        g.nodes.push(Node { op, operands: (0..last).collect(), results: vec![last] });
        cost(&g, &g.nodes[0])
    }

    /// Attributes of a convolution, whose accumulator is this.
    fn convolution(op: u8, ty: Type, acc: u8, shapes: [&[u32]; 3]) -> Cost {
        let (a, z): (_, &[u32]) = ((Type::I32, &[][..], &[acc, 0, 0, 0][..]), &[1]);
        let skip = (op == c::TRANSPOSE_CONV2D) as usize;
        let all = [
            (Type::I32, &[4][..], &[0; 16][..]),
            (Type::I32, &[2], &[1, 0, 0, 0, 1, 0, 0, 0]),
            (Type::I32, &[2], &[1, 0, 0, 0, 1, 0, 0, 0]),
            a,
            (Type::Bool, &[], &[0]),
            (ty, shapes[0], &[]),
            (ty, shapes[1], &[]),
            (ty, &[4], &[]),
            (ty, z, &[]),
            (ty, z, &[]),
        ];
        of(op, &all[skip..], (ty, shapes[2]))
    }

    #[test]
    fn products_by_width() {
        // 6 · 8 places of 4 channels, each of 3 · 3 · 8 products: 13 824.
        let shapes: [&[u32]; 3] = [&[1, 6, 8, 8], &[4, 3, 3, 8], &[1, 6, 8, 4]];
        let lanes = |ty, acc| convolution(c::CONV2D, ty, acc, shapes).lanes;
        assert_eq!(convolution(c::CONV2D, Type::F32, 3, shapes).products, 13_824);
        assert_eq!(lanes(Type::F32, 3), [13_824, 0, 0]);
        assert_eq!(lanes(Type::F16, 3), [13_824, 0, 0]);
        assert_eq!(lanes(Type::F16, 2), [6_912, 0, 0]);
        assert_eq!(lanes(Type::I8, 1), [3_456, 0, 0]);
        assert_eq!(lanes(Type::I16, 4), [0, 13_824, 13_824]);
        // Each channel by itself: 6 · 8 · 8 results of 9.
        let shapes: [&[u32]; 3] = [&[1, 6, 8, 8], &[3, 3, 8, 1], &[1, 6, 8, 8]];
        assert_eq!(convolution(c::DEPTHWISE_CONV2D, Type::F32, 3, shapes).products, 3_456);
        // Transposed: each of 6 · 8 · 8 elements meets 2 · 2 weights of 4 channels.
        let shapes: [&[u32]; 3] = [&[1, 6, 8, 8], &[4, 2, 2, 8], &[1, 12, 16, 4]];
        assert_eq!(convolution(c::TRANSPOSE_CONV2D, Type::F32, 3, shapes).products, 6_144);
        // 2 · 5 · 7 sums of 3.
        let z = (Type::I8, &[1][..], &[0][..]);
        let operands = [(Type::I8, &[2, 5, 3][..], &[][..]), (Type::I8, &[2, 3, 7], &[]), z, z];
        let made = of(c::MATMUL, &operands, (Type::I32, &[2, 5, 7]));
        assert_eq!((made.products, made.lanes, made.narrow), (210, [53, 0, 0], 53));
        assert_eq!((made.read, made.written), (30 + 42 + 2, 280));
    }

    #[test]
    fn other_operations() {
        let one = |op, ty, shape: &[u32]| of(op, &[(ty, shape, &[][..]); 2], (ty, shape));
        // 100 sums: one FMA each; halves two by two; integers on the CVT, bytes by four.
        assert_eq!(one(c::ADD, Type::F32, &[10, 10]).lanes, [100, 0, 0]);
        assert_eq!(one(c::ADD, Type::F16, &[10, 10]).lanes, [50, 0, 0]);
        assert_eq!(one(c::SUB, Type::I32, &[10, 10]).lanes, [0, 100, 0]);
        assert_eq!(one(c::BITWISE_XOR, Type::I8, &[10, 10]).lanes, [0, 0, 100]);
        let add = one(c::ADD, Type::F16, &[10, 10]);
        assert_eq!((add.others, add.narrow, add.read, add.written), (100, 50, 400, 200));
        // A maximum of 2 × 3 elements for each of 20.
        let kernel = (Type::I32, &[2][..], &[2, 0, 0, 0, 3, 0, 0, 0][..]);
        let operands = [kernel, kernel, kernel, kernel, (Type::F32, &[1, 8, 15, 1], &[])];
        let pool = of(c::MAX_POOL2D, &operands, (Type::F32, &[1, 4, 5, 1]));
        assert_eq!((pool.others, pool.lanes), (120, [0, 120, 0]));
        // 8 × 4 points, five steps, two FMA.
        let no = (Type::Bool, &[][..], &[0][..]);
        let fft = of(c::RFFT2D, &[no, (Type::F32, &[1, 8, 4], &[])], (Type::F32, &[1, 8, 3]));
        assert_eq!((fft.others, fft.lanes), (160, [320, 0, 0]));
        // What moves data computes nothing.
        let axis = (Type::I32, &[][..], &[0, 0, 0, 0][..]);
        let data = (Type::F32, &[4][..], &[][..]);
        let reverse = of(c::REVERSE, &[axis, data], (Type::F32, &[4]));
        assert_eq!((reverse.lanes, reverse.others, reverse.written), ([0; 3], 0, 16));
    }
}
