//! ASTC: numbers of a block by the bounded integer sequence encoding: plain bits, or with a trit or a quint above them.
//!
//! Source: Khronos Data Format Specification, "Bounded Integer Sequence Encoding".

/// A range of the integer sequence encoding: a trit or a quint (or neither), and plain bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Range {
    pub trits: bool,
    pub quints: bool,
    pub bits: u32,
}

pub(super) const fn range(trits: bool, quints: bool, bits: u32) -> Range {
    Range { trits, quints, bits }
}

impl Range {
    /// Bits that `n` values take.
    pub(super) fn sequence_bits(self, n: u32) -> u32 {
        let extra = if self.trits {
            (8 * n).div_ceil(5)
        } else if self.quints {
            (7 * n).div_ceil(3)
        } else {
            0
        };
        n * self.bits + extra
    }
}

pub(super) fn bits(block: u128, low: u32, n: u32) -> u32 {
    if n == 0 || low > 127 { 0 } else { (block >> low) as u32 & (u32::MAX >> (32 - n)) }
}

/// One value of a sequence: plain bits, and the trit or quint above them.
#[derive(Clone, Copy, Default)]
pub(super) struct Value {
    pub bits: u32,
    pub digit: u32,
}

/// Five trits from eight bits.
fn trits(t: u32) -> [u32; 5] {
    let b = |i: u32| t >> i & 1;
    let (c, t4, t3) = if t >> 2 & 7 == 7 {
        ((t >> 5 & 7) << 2 | (t & 3), 2, 2)
    } else if t >> 5 & 3 == 3 {
        (t & 31, 2, b(7))
    } else {
        (t & 31, b(7), t >> 5 & 3)
    };
    let c_bit = |i: u32| c >> i & 1;
    let (t2, t1, t0) = if c & 3 == 3 {
        (2, c_bit(4), c_bit(3) << 1 | (c_bit(2) & !c_bit(3) & 1))
    } else if c >> 2 & 3 == 3 {
        (2, 2, c & 3)
    } else {
        (c_bit(4), c >> 2 & 3, c_bit(1) << 1 | (c_bit(0) & !c_bit(1) & 1))
    };
    [t0, t1, t2, t3, t4]
}

/// Three quints from seven bits.
fn quints(q: u32) -> [u32; 3] {
    let b = |i: u32| q >> i & 1;
    if q >> 1 & 3 == 3 && q >> 5 & 3 == 0 {
        let n = !b(0) & 1;
        return [4, 4, b(0) << 2 | (b(4) & n) << 1 | (b(3) & n)];
    }
    let (c, q2) = if q >> 1 & 3 == 3 {
        ((q >> 3 & 3) << 3 | (!(q >> 5) & 3) << 1 | b(0), 4)
    } else {
        (q & 31, q >> 5 & 3)
    };
    if c & 7 == 5 { [c >> 3 & 3, 4, q2] } else { [c & 7, c >> 3 & 3, q2] }
}

/// Decodes `out.len()` values from bit `at`; bits from `end` on read as 0.
pub(super) fn sequence(block: u128, at: u32, end: u32, range: Range, out: &mut [Value]) {
    let block = if end >= 128 { block } else { block & ((1u128 << end) - 1) };
    let mut at = at;
    let mut take = |n: u32| {
        let v = bits(block, at, n);
        at += n;
        v
    };
    let m = range.bits;
    if range.trits {
        for group in out.chunks_mut(5) {
            let mut low = [0; 5];
            let mut t = 0;
            for (i, (n, shift)) in [(2, 0), (2, 2), (1, 4), (2, 5), (1, 7)].into_iter().enumerate() {
                // The last group may be short: what it lacks was not stored.
                if i < group.len() {
                    low[i] = take(m);
                    t |= take(n) << shift;
                }
            }
            let d = trits(t);
            group.iter_mut().enumerate().for_each(|(i, v)| *v = Value { bits: low[i], digit: d[i] });
        }
    } else if range.quints {
        for group in out.chunks_mut(3) {
            let mut low = [0; 3];
            let mut q = 0;
            for (i, (n, shift)) in [(3, 0), (2, 3), (2, 5)].into_iter().enumerate() {
                if i < group.len() {
                    low[i] = take(m);
                    q |= take(n) << shift;
                }
            }
            let d = quints(q);
            group.iter_mut().enumerate().for_each(|(i, v)| *v = Value { bits: low[i], digit: d[i] });
        }
    } else {
        out.iter_mut().for_each(|v| *v = Value { bits: take(m), digit: 0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digit_decoding_covers_all_values() {
        let mut seen = std::collections::HashSet::new();
        for t in 0..256 {
            let d = trits(t);
            assert!(d.iter().all(|&v| v < 3));
            seen.insert(d);
        }
        assert_eq!(seen.len(), 243);
        let mut seen = std::collections::HashSet::new();
        for q in 0..128 {
            let d = quints(q);
            assert!(d.iter().all(|&v| v < 5));
            seen.insert(d);
        }
        assert_eq!(seen.len(), 125);
    }
}
