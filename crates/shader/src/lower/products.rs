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

#[cfg(test)]
mod tests {
    use super::*;

    /// A product of the matrices whose rows begin at these units: result, left, right, sum.
    fn product(matrices: [u16; 4]) -> Vec<Op> {
        let registers: Vec<Reg> = matrices
            .iter()
            .flat_map(|first| (0..ROWS as u16).map(move |r| Reg::varying(first + r)))
            .collect();
        let mut words = vec![Op::new(Code::PRODUCT)];
        words.extend(registers.as_chunks::<8>().0.iter().map(|r| Op::ext(*r)));
        words
    }

    fn marked(products: &[[u16; 4]]) -> Vec<(bool, ProductGroup)> {
        let mut code: Vec<Op> = products.iter().flat_map(|p| product(*p)).collect();
        code.push(Op::new(Code::END));
        mark(&mut code);
        let ops = code.iter().step_by(1 + 4 * ROWS / 8).take(products.len());
        ops.map(|op| (op.e & PRODUCT_AT_ONCE != 0, ProductGroup::of(op.imm))).collect()
    }

    fn group(count: u8, matrices: [u8; 2], pair: bool) -> ProductGroup {
        ProductGroup { count, matrices, pair }
    }

    #[test]
    fn products_of_one_left_matrix_are_pairs() {
        // Sums at 0, 16, 32; left 100; right 200, 216, 200.
        let all = marked(&[[0, 100, 200, 0], [16, 100, 216, 16], [32, 100, 200, 32]]);
        assert_eq!(
            all,
            [
                (true, group(3, [0, 0], true)),
                (true, group(2, [0, 1], false)),
                (true, group(1, [0, 0], false))
            ]
        );
    }

    #[test]
    fn a_matrix_that_was_written_is_another_one() {
        // The first result takes the place of the left matrix, the second that of the right one.
        let all = marked(&[[100, 100, 200, 0], [200, 100, 200, 16], [32, 100, 200, 32]]);
        assert_eq!(
            all,
            [
                (true, group(3, [0, 0], false)),
                (false, group(2, [1, 0], false)),
                (true, group(1, [1, 2], false))
            ]
        );
    }

    #[test]
    fn products_that_write_what_the_other_reads_are_no_pair() {
        for second in [[16, 100, 0, 16], [16, 100, 216, 0], [0, 100, 216, 16]] {
            assert!(!marked(&[[0, 100, 200, 0], second])[0].1.pair, "{second:?}");
        }
        assert!(marked(&[[0, 100, 200, 0], [16, 100, 216, 16]])[0].1.pair);
    }

    #[test]
    fn groups_have_sixteen_at_most() {
        let all = marked(&[[0, 100, 200, 0]; 19]);
        let counts: Vec<u8> = all.iter().map(|(_, g)| g.count).collect();
        assert_eq!(counts, [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 3, 2, 1]);
    }
}
