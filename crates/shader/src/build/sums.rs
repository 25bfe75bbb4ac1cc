//! Numbers that are a constant and a rest, whose greatest value is known: coordinates of matrices' elements, most of whose arithmetic is
//! done while a shader is translated, and whose rest (a lane's column) all elements of an invocation have in common.

use super::Builder;
use crate::ir::*;

/// `k` + `rest` modulo 2^32. `rest` is at most `most`; [`ANY`]: nothing is known of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sum {
    pub k: u32,
    pub rest: Option<Value>,
    most: u32,
}

const ANY: u32 = u32::MAX;

/// Whether something holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truth {
    Always,
    Never,
    If(Value),
}

impl Sum {
    pub fn of(k: u32) -> Sum {
        Sum { k, rest: None, most: 0 }
    }
    /// A value of which `most` is the greatest.
    pub fn up_to(v: Value, most: u32) -> Sum {
        Sum { k: 0, rest: Some(v), most }
    }
    /// The number, if it is constant.
    pub fn known(self) -> Option<u32> {
        self.rest.is_none().then_some(self.k)
    }
    /// The greatest, if it does not wrap around.
    fn greatest(self) -> Option<u32> {
        match self.rest {
            None => Some(self.k),
            Some(_) if self.most == ANY => None,
            Some(_) => self.k.checked_add(self.most),
        }
    }
}

impl Builder<'_> {
    pub(crate) fn sum_of(&mut self, v: Value) -> Sum {
        let v = self.e.res(v);
        match self.e.as_const(v) {
            Some(c) => Sum::of(c as u32),
            None => Sum::up_to(v, ANY),
        }
    }

    pub(crate) fn sum_value(&mut self, a: Sum) -> Value {
        let k = self.e.u32(a.k);
        match a.rest {
            None => k,
            Some(v) => self.e.add(v, k),
        }
    }

    pub(crate) fn sum_add(&mut self, a: Sum, b: Sum) -> Sum {
        let rest = match (a.rest, b.rest) {
            (Some(x), Some(y)) => Some(self.e.add(x, y)),
            (x, y) => x.or(y),
        };
        // Values that may be anything wrap around.
        Sum { k: a.k.wrapping_add(b.k), rest, most: a.most.saturating_add(b.most) }
    }

    pub(crate) fn sum_times(&mut self, a: Sum, b: Sum) -> Sum {
        let (a, b) = if a.rest.is_none() { (b, a) } else { (a, b) };
        let Some(y) = b.rest else {
            if b.k == 0 {
                return Sum::of(0);
            }
            let by = self.e.u32(b.k);
            let rest = a.rest.map(|x| self.e.bin(Bin::IMul, x, by));
            return Sum { k: a.k.wrapping_mul(b.k), rest, most: a.most.saturating_mul(b.k) };
        };
        // What lanes differ in is one product for all.
        let whole = self.sum_value(b);
        let Some(x) = a.rest else { return self.sum_of(y) };
        let mut rest = self.e.bin(Bin::IMul, x, whole);
        if a.k != 0 {
            let k = self.e.u32(a.k);
            let first = self.e.bin(Bin::IMul, whole, k);
            rest = self.e.add(first, rest);
        }
        self.sum_of(rest)
    }

    /// Quotient and remainder; of a division by zero, zeros.
    pub(crate) fn sum_divided(&mut self, a: Sum, by: Sum) -> (Sum, Sum) {
        match (by.known(), a.rest) {
            (Some(0), _) => return (Sum::of(0), Sum::of(0)),
            (Some(1), _) => return (a, Sum::of(0)),
            (Some(c), None) => return (Sum::of(a.k / c), Sum::of(a.k % c)),
            (Some(c), Some(rest)) if a.greatest().is_some() => {
                let (q, r) = (a.k / c, a.k % c);
                if a.most < c - r {
                    return (Sum::of(q), Sum { k: r, ..a });
                }
                if r == 0 {
                    let divisor = self.e.u32(c);
                    let (x, y) = (self.e.bin(Bin::UDiv, rest, divisor), self.e.bin(Bin::URem, rest, divisor));
                    let quotient = Sum { k: q, rest: Some(x), most: a.most / c };
                    return (quotient, Sum { k: 0, rest: Some(y), most: a.most.min(c - 1) });
                }
            }
            _ => {}
        }
        let greatest = a.greatest().unwrap_or(ANY);
        let (v, divisor) = (self.sum_value(a), self.sum_value(by));
        let (q, r) = (self.e.bin(Bin::UDiv, v, divisor), self.e.bin(Bin::URem, v, divisor));
        let (mut q, mut r) = (self.sum_of(q), self.sum_of(r));
        if let Some(c) = by.known() {
            q.most = q.most.min(greatest / c);
            r.most = r.most.min(c - 1);
        }
        (q, r)
    }

    /// Whether `a` < `b`, of unsigned numbers.
    pub(crate) fn sum_less(&mut self, a: Sum, b: Sum) -> Truth {
        if let (Some(most), Some(limit)) = (a.greatest(), b.known()) {
            if most < limit {
                return Truth::Always;
            }
            if a.k >= limit {
                return Truth::Never;
            }
        }
        let (x, y) = (self.sum_value(a), self.sum_value(b));
        let v = self.e.bin(Bin::ULt, x, y);
        match self.e.as_const(v) {
            Some(0) => Truth::Never,
            Some(_) => Truth::Always,
            None => Truth::If(v),
        }
    }

    pub(crate) fn both(&mut self, a: Truth, b: Truth) -> Truth {
        match (a, b) {
            (Truth::Never, _) | (_, Truth::Never) => Truth::Never,
            (Truth::Always, x) | (x, Truth::Always) => x,
            (Truth::If(x), Truth::If(y)) => Truth::If(self.e.bin(Bin::BAnd, x, y)),
        }
    }
}
