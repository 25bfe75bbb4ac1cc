//! Twins: two lane-wise ops of 32 bits that read an operand in common, as one op with two results. What both read is
//! loaded once, an op is dispatched less, and as a lane's operands are all read before its results are written, each
//! may take the place of what the other reads: x, y = f(x, y), g(x, y) needs no copy.
//!
//! An op is one of the IR or a pair ([`crate::pairs`]). The list is here once: lowering looks twins up in it, the wave
//! engine makes its kernels from it.

use crate::bytecode::Code;
use crate::ir::{Bin, Tri, Ty};
use crate::pairs;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Calls a macro with all twins: two ops, each with the numbers of the twin's operands (at most 5) that it reads. Of
/// operands that may be swapped one order is listed.
#[macro_export]
macro_rules! twins {
    ($then:ident) => {
        $then! {
            // Complex squares: 2·x·y + d and x·x − y·y + c.
            (bin FMul > tri Fma 0) [0 3 1 4] (bin FDiffSquares > bin FAdd 0) [0 1 2];
            (bin FMul > tri Fma 0) [1 3 0 4] (bin FDiffSquares > bin FAdd 0) [0 1 2];
            // Parts of a vector by one factor.
            (tri Fma) [0 1 2] (tri Fma) [0 3 4];
            (bin FMul) [0 1] (bin FMul) [0 2];
        }
    };
}

macro_rules! code {
    (bin $op:ident) => {
        Code::bin(Bin::$op, Ty::B32)
    };
    (tri $op:ident) => {
        Code::tri(Tri::$op, Ty::B32)
    };
}
macro_rules! part {
    ($ka:ident $a:ident) => {
        (code!($ka $a), None)
    };
    ($ka:ident $a:ident > $kb:ident $b:ident $at:literal) => {
        (code!($ka $a), Some((code!($kb $b), $at)))
    };
}
macro_rules! list {
    ($(($($a:tt)*) [$($x:literal)*] ($($b:tt)*) [$($y:literal)*];)*) => {
        /// All twins, in the order of their codes.
        pub const TWINS: &[Twin] = &[$(Twin {
            parts: [part!($($a)*), part!($($b)*)],
            reads: [&[$($x),*], &[$($y),*]],
        },)*];
    };
}

/// One twin.
#[derive(Clone, Copy, Debug)]
pub struct Twin {
    /// First op, and the second with the place of the first's result, if it is a pair.
    parts: [(Code, Option<(Code, u8)>); 2],
    /// Which of the twin's operands each part reads.
    pub reads: [&'static [u8]; 2],
}
twins!(list);

impl Twin {
    /// The codes of the two ops.
    pub fn codes(&self) -> [Code; 2] {
        self.parts.map(|(first, rest)| match rest {
            None => first,
            Some((second, at)) => pairs::find(first, second, at as usize).map_or(Code::END, |p| p.0),
        })
    }
    /// Operands of both: 2 to 5.
    pub fn operands(&self) -> usize {
        self.reads.iter().flat_map(|r| r.iter()).max().map_or(0, |m| *m as usize + 1)
    }
}

/// The twin that `code` is.
pub fn of(code: Code) -> Option<&'static Twin> {
    TWINS.get((code.0 as usize).checked_sub(Code::TWINS)?)
}

/// The twins of which an op with code `a` is one part and one with `b` the other: number of the twin, and whether `b`
/// comes first.
pub fn of_codes(a: Code, b: Code) -> impl Iterator<Item = (usize, bool)> {
    by_codes().get(&(a.0, b.0)).into_iter().flatten().copied()
}

/// Whether any twin has a part with this code.
pub fn is_part(code: Code) -> bool {
    parts().get(code.0 as usize).is_some_and(|p| *p)
}

type ByCodes = FxHashMap<(u16, u16), SmallVec<[(usize, bool); 2]>>;

fn by_codes() -> &'static ByCodes {
    static MAP: std::sync::OnceLock<ByCodes> = std::sync::OnceLock::new();
    MAP.get_or_init(|| {
        let mut map = ByCodes::with_capacity_and_hasher(2 * TWINS.len(), Default::default());
        for (i, t) in TWINS.iter().enumerate() {
            let [a, b] = t.codes();
            map.entry((a.0, b.0)).or_default().push((i, false));
            map.entry((b.0, a.0)).or_default().push((i, true));
        }
        map
    })
}

fn parts() -> &'static [bool; Code::COUNT] {
    static PARTS: std::sync::OnceLock<[bool; Code::COUNT]> = std::sync::OnceLock::new();
    PARTS.get_or_init(|| {
        let mut is = [false; Code::COUNT];
        TWINS.iter().flat_map(Twin::codes).for_each(|c| is[c.0 as usize] = true);
        is
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_twin_is_found_again() {
        for (i, t) in TWINS.iter().enumerate() {
            let [a, b] = t.codes();
            assert!(a != Code::END && b != Code::END, "{t:?}: a pair that is not listed");
            assert!((2..=5).contains(&t.operands()), "{t:?}");
            assert!(t.reads[0].iter().any(|o| t.reads[1].contains(o)), "{t:?} shares no operand");
            assert!(of_codes(a, b).any(|f| f == (i, false)) && of_codes(b, a).any(|f| f == (i, true)));
            assert!(is_part(a) && is_part(b));
            let n = |c: Code| pairs::of(c).map(|p| p.operands as usize);
            for (code, reads) in [a, b].into_iter().zip(t.reads) {
                assert!(n(code).is_none_or(|n| n == reads.len()), "{t:?}: operands of a pair");
            }
        }
        assert!(of(Code::END).is_none() && !is_part(Code::END));
        assert!(Code::TWINS + TWINS.len() <= Code::COUNT);
    }
}
