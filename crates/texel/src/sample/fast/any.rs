//! Texels of formats that have no kernel of their own, by their [`Plan`](crate::format::plan::Plan).

use super::Fast;
use super::texels::{Texels, narrow, words, words4};
use super::unit::Unit;
use simd::{Simd, ops};

/// Texels of a word.
pub struct Word;

/// Texels of other sizes.
pub struct Other;

macro_rules! by_plan {
    () => {
        const N: usize = 4;
        #[inline(always)]
        fn floats(f: &Fast) -> bool {
            f.floats
        }
        #[inline(always)]
        fn has(f: &Fast, k: usize) -> bool {
            f.plan.has >> k & 1 != 0
        }
        #[inline(always)]
        fn has_all(f: &Fast) -> bool {
            f.plan.has == 15
        }
    };
}
pub(super) use by_plan;

impl Texels for Word {
    by_plan!();
    const SHIFT: u32 = 2;
    const FLOATS: bool = true;
    const ANY: bool = true;
    const WORD: bool = true;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        // SAFETY: the caller's texels.
        Self::unpack(s, f, unsafe { words(s, base, at) }, out);
    }
    #[inline(always)]
    fn unpack<S: Simd>(s: S, f: &Fast, w: S::I, out: &mut [S::F; 4]) {
        f.plan.unpack(s, &[w], out);
    }
}

impl Texels for Other {
    by_plan!();
    // (Of no matter: `unit` has it.)
    const SHIFT: u32 = 3;
    const FLOATS: bool = true;
    const ANY: bool = true;
    const PAIRS: bool = true;
    #[inline(always)]
    fn unit(f: &Fast) -> Unit {
        f.unit
    }
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        // SAFETY: the caller's texels, of so many bytes; of small ones, the aligned words that they are in.
        unsafe {
            match f.plan.bytes {
                1 | 2 => f.plan.unpack(s, &[narrow(s, base, at)], out),
                8 => f.plan.unpack(s, &s.igather2(base, at), out),
                12 => {
                    // Not four words: there may be none after the last.
                    let two = s.iadd(at, s.isplat(8));
                    let [a, b] = s.igather2(base, at);
                    f.plan.unpack(s, &[a, b, words(s, base, two)], out);
                }
                _ => f.plan.unpack(s, &words4(s, base, at), out),
            }
        }
    }
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        f: &Fast,
        base: *const u8,
        at: S::I,
        last: S::I,
        _: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        let p = &f.plan;
        // SAFETY: the caller's texels, and those right of them; the level has four bytes from `last` on, and from each place before it.
        unsafe {
            match p.bytes {
                1 => {
                    let from = s.umin(at, last);
                    let w = s.ishr(words(s, base, from), ops::shl(s, s.isub(at, from), 3));
                    p.unpack(s, &[w], a);
                    p.unpack(s, &[ops::shr(s, w, 8)], b);
                }
                2 => {
                    let w = words(s, base, at);
                    p.unpack(s, &[w], a);
                    p.unpack(s, &[ops::shr(s, w, 16)], b);
                }
                8 => {
                    let w = words4(s, base, at);
                    p.unpack(s, &[w[0], w[1]], a);
                    p.unpack(s, &[w[2], w[3]], b);
                }
                bytes => {
                    Self::load(s, f, base, at, a);
                    Self::load(s, f, base, s.iadd(at, s.isplat(bytes)), b);
                }
            }
        }
    }
}
