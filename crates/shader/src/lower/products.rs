//! What the code says of products of matrices that follow each other, so that a kernel can compute them together.

use crate::bytecode::{Code, Op, PRODUCT_AT_ONCE, ProductGroup, Reg};
use crate::isa::code::{ROWS, extension_words};

/// A product: the registers of its matrices' rows.
struct Product {
    op: Op,
    to: [Reg; ROWS],
    /// The left matrix, and the right one.
    factors: [[Reg; ROWS]; 2],
    sum: [Reg; ROWS],
}

impl Product {
    /// `words`: the op and its extension words.
    fn new(words: &[Op]) -> Product {
        let mut all = words[1..].iter().flat_map(Op::regs);
        let mut matrix = || std::array::from_fn(|_| all.next().unwrap_or(Reg::NONE));
        Product { op: words[0], to: matrix(), factors: [matrix(), matrix()], sum: matrix() }
    }
    fn writes(&self, matrix: &[Reg; ROWS]) -> bool {
        self.to.iter().any(|r| matrix.contains(r))
    }
    /// No row is computed from registers to which the result of an earlier row goes.
    fn at_once(&self) -> bool {
        let [left, right] = &self.factors;
        let later = |r: usize| left[r + 1..].iter().chain(&self.sum[r + 1..]);
        (0..ROWS).all(|r| !right.contains(&self.to[r]) && later(r).all(|s| *s != self.to[r]))
    }
    /// Neither reads or writes what the other one writes, and both have the same left matrix.
    fn pairs_with(&self, next: &Product) -> bool {
        let apart = |x: &Product, y: &Product| {
            let others = [&y.factors[0], &y.factors[1], &y.sum, &y.to];
            !others.into_iter().any(|matrix| x.writes(matrix))
        };
        let same = self.op.e == next.op.e && self.factors[0] == next.factors[0];
        same && self.at_once() && next.at_once() && apart(self, next) && apart(next, self)
    }
}

/// Marks all products of the code: [`PRODUCT_AT_ONCE`] in `e`, and [`ProductGroup`] in `imm`.
pub fn mark(code: &mut [Op]) {
    let mut i = 0;
    while i < code.len() {
        let (mut at, mut group) = (vec![], vec![]);
        while group.len() < ProductGroup::MOST && code.get(i).is_some_and(|op| op.code == Code::PRODUCT) {
            let end = i + 1 + extension_words(&code[i]);
            group.push(Product::new(&code[i..end]));
            at.push(i);
            i = end;
        }
        mark_group(code, &at, &group);
        if group.is_empty() {
            i += 1 + extension_words(&code[i]);
        }
    }
}

fn mark_group(code: &mut [Op], at: &[usize], group: &[Product]) {
    let mut numbers: Vec<[u8; 2]> = vec![];
    let mut paired = false;
    for (n, product) in group.iter().enumerate() {
        numbers.push([0, 1].map(|side| {
            let matrix = &product.factors[side];
            let same = |m: &usize| group[*m].op.e == product.op.e && group[*m].factors[side] == *matrix;
            let unwritten = |m: &usize| !group[*m..n].iter().any(|p| p.writes(matrix));
            (0..n).find(|m| same(m) && unwritten(m)).unwrap_or(n) as u8
        }));
        paired = !paired && group.get(n + 1).is_some_and(|next| product.pairs_with(next));
        let op = &mut code[at[n]];
        op.e |= if product.at_once() { PRODUCT_AT_ONCE } else { 0 };
        op.imm = ProductGroup { count: (group.len() - n) as u8, matrices: numbers[n], pair: paired }.imm();
    }
}
