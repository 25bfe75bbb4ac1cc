//! Products of matrices, of which convolutions are made.
//!
//! Sums go along the depth in order. Bytes (less their zero points) are multiplied as integers of 16 bits and summed by pairs in 32, which
//! is exact for as many as [`EXACT`], and then in 64; integers of 16 bits are summed in f64, which is exact for all that there can be. A
//! multiplication of floats and its addition are each rounded, so that all forms of a kernel have the same bits.

use super::room;
use crate::plan::Stop;
use crate::types::Wide;
use std::ops::{Add, Mul};

/// Columns of a strip.
pub(crate) const COLUMNS: usize = 16;
/// Rows that are computed at once.
const ROWS: usize = 4;
/// Rows of a panel.
pub(crate) const PANEL: usize = 16;

/// Columns that sums are handed out of at once.
pub(crate) const BAND: usize = 256;

/// So many products of 255 · 255 stay below 2^31; a multiple of a pair.
pub(crate) const EXACT: usize = 32768;

/// Sums of [`ROWS`] rows and the columns of a strip.
type Sums<A> = [[A; COLUMNS]; ROWS];

/// What is multiplied.
pub(crate) trait Number: Wide + Add<Output = Self> {
    /// What sums are, while they are exact.
    type Partial: Wide;
    /// Elements of the depth that lie together in a strip's column.
    const GROUP: usize;
    /// The product of rows and of a strip, whose depth is a multiple of [`Number::GROUP`].
    fn strip(rows: [&[Self]; ROWS], strip: &[Self], sums: &mut Sums<Self::Partial>);
}

/// What sums end in: f32, or i64 for integers.
pub(crate) trait Sum: Wide + Add<Output = Self> {
    fn of<T: Wide>(v: T) -> Self;
}

impl Sum for f32 {
    fn of<T: Wide>(v: T) -> f32 {
        v.float()
    }
}

impl Sum for i64 {
    fn of<T: Wide>(v: T) -> i64 {
        v.int()
    }
}

/// Whether kernels may use AVX2.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_avx2() -> bool {
    std::is_x86_feature_detected!("avx2")
}

/// A function in two forms of one body: for AVX2, and for any CPU.
macro_rules! forms {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) = $body:ident::<$($wide:tt),*> or <$($plain:tt),*>) => {
        $(#[$doc])*
        pub(crate) fn $name($($arg: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $ty),*) {
                    $body::<$($wide),*>($($arg),*)
                }
                if $crate::op::product::has_avx2() {
                    // SAFETY: the CPU has it.
                    return unsafe { wide($($arg),*) };
                }
            }
            $body::<$($plain),*>($($arg),*)
        }
    };
}
pub(crate) use forms;

forms! { floats(rows: [&[f32]; ROWS], strip: &[f32], sums: &mut Sums<f32>) = plain_strip::<f32, 16> or <f32, 8> }
forms! { doubles(rows: [&[f64]; ROWS], strip: &[f64], sums: &mut Sums<f64>) = plain_strip::<f64, 8> or <f64, 4> }

impl Number for f32 {
    type Partial = f32;
    const GROUP: usize = 1;
    fn strip(rows: [&[f32]; ROWS], strip: &[f32], sums: &mut Sums<f32>) {
        floats(rows, strip, sums);
    }
}

impl Number for f64 {
    type Partial = f64;
    const GROUP: usize = 1;
    fn strip(rows: [&[f64]; ROWS], strip: &[f64], sums: &mut Sums<f64>) {
        doubles(rows, strip, sums);
    }
}

impl Number for i16 {
    type Partial = i32;
    const GROUP: usize = 2;
    fn strip(rows: [&[i16]; ROWS], strip: &[i16], sums: &mut Sums<i32>) {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the CPU has it.
            return unsafe { pairs_wide(rows, strip, sums) };
        }
        pairs(rows, strip, sums);
    }
}

/// `W` columns at once, so many that their sums stay in registers.
#[inline(always)]
fn plain_strip<T, const W: usize>(rows: [&[T]; ROWS], strip: &[T], sums: &mut Sums<T>)
where
    T: Wide + Mul<Output = T> + Add<Output = T>,
{
    let [a, b, c, d] = rows;
    for first in (0..COLUMNS).step_by(W) {
        // An array each, which stay in registers.
        let [mut p, mut q, mut r, mut s] = [[T::default(); W]; ROWS];
        for ((((right, a), b), c), d) in strip.as_chunks::<COLUMNS>().0.iter().zip(a).zip(b).zip(c).zip(d) {
            let right: &[T; W] = right[first..first + W].try_into().expect("so many columns");
            for i in 0..W {
                p[i] = p[i] + *a * right[i];
                q[i] = q[i] + *b * right[i];
                r[i] = r[i] + *c * right[i];
                s[i] = s[i] + *d * right[i];
            }
        }
        for (to, from) in sums.iter_mut().zip([p, q, r, s]) {
            to[first..first + W].copy_from_slice(&from);
        }
    }
}

/// Sums of pairs of products.
fn pairs(rows: [&[i16]; ROWS], strip: &[i16], sums: &mut Sums<i32>) {
    for (row, sums) in rows.into_iter().zip(sums) {
        *sums = [0; COLUMNS];
        for (pair, right) in row.as_chunks::<2>().0.iter().zip(strip.as_chunks::<{ 2 * COLUMNS }>().0) {
            for (sum, of) in sums.iter_mut().zip(right.as_chunks::<2>().0) {
                *sum += pair[0] as i32 * of[0] as i32 + pair[1] as i32 * of[1] as i32;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn pairs_wide(rows: [&[i16]; ROWS], strip: &[i16], sums: &mut Sums<i32>) {
    use std::arch::x86_64::*;
    let [a, b, c, d] = rows.map(|r| r.as_chunks::<2>().0);
    let mut all = [[_mm256_setzero_si256(); 2]; ROWS];
    for ((((right, a), b), c), d) in strip.as_chunks::<{ 2 * COLUMNS }>().0.iter().zip(a).zip(b).zip(c).zip(d)
    {
        // SAFETY: 64 bytes of the strip.
        let right = unsafe {
            let at = right.as_ptr().cast::<__m256i>();
            [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
        };
        for (sum, pair) in all.iter_mut().zip([a, b, c, d]) {
            let both = _mm256_set1_epi32(pair[0] as u16 as i32 | (pair[1] as i32) << 16);
            sum[0] = _mm256_add_epi32(sum[0], _mm256_madd_epi16(right[0], both));
            sum[1] = _mm256_add_epi32(sum[1], _mm256_madd_epi16(right[1], both));
        }
    }
    for (to, from) in sums.iter_mut().zip(all) {
        // SAFETY: 64 bytes of the row of sums.
        unsafe {
            let at = to.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(at, from[0]);
            _mm256_storeu_si256(at.add(1), from[1]);
        }
    }
}

/// The right matrix: strips of [`COLUMNS`], in each group of rows after group; in a group column after column.
pub(crate) struct Packed<T> {
    /// A multiple of a group.
    pub depth: usize,
    pub columns: usize,
    data: Vec<T>,
}

impl<T: Number> Packed<T> {
    /// `depth` becomes a multiple of a group.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(depth: usize, columns: usize) -> Result<Packed<T>, Stop> {
        let depth = depth.next_multiple_of(T::GROUP);
        Ok(Packed { depth, columns, data: room(depth * columns.next_multiple_of(COLUMNS))? })
    }

    fn place(&self, row: usize, column: usize) -> usize {
        let group = column / COLUMNS * self.depth + row / T::GROUP * T::GROUP;
        group * COLUMNS + column % COLUMNS * T::GROUP + row % T::GROUP
    }

    pub fn set_column(&mut self, column: usize, values: &[T]) {
        for (row, v) in values.iter().enumerate() {
            let at = self.place(row, column);
            self.data[at] = *v;
        }
    }

    pub fn set_row(&mut self, row: usize, values: &[T]) {
        for (column, v) in values.iter().enumerate() {
            let at = self.place(row, column);
            self.data[at] = *v;
        }
    }

    /// Multiplies `PANEL` rows of the left matrix, one after the other, of which `rows` are wanted, and hands out rows of at most
    /// [`BAND`] sums: row, first column, values. `chunk`: elements of the depth whose sum is exact, or all of them.
    pub fn multiply<S: Sum>(
        &self,
        panel: &[T],
        rows: usize,
        chunk: usize,
        done: &mut dyn FnMut(usize, usize, &mut [S]),
    ) {
        let depth = self.depth;
        let mut sums = [[S::default(); BAND]; ROWS];
        let mut made = [[T::Partial::default(); COLUMNS]; ROWS];
        for (band, strips) in self.data.chunks(BAND * depth).enumerate() {
            for first in (0..rows).step_by(ROWS) {
                for (s, strip) in strips.chunks_exact(COLUMNS * depth).enumerate() {
                    for begin in (0..depth).step_by(chunk) {
                        let end = (begin + chunk).min(depth);
                        let rows: [&[T]; ROWS] = std::array::from_fn(|r| {
                            &panel[(first + r) * depth + begin..(first + r) * depth + end]
                        });
                        T::strip(rows, &strip[begin * COLUMNS..end * COLUMNS], &mut made);
                        for (sums, made) in sums.iter_mut().zip(&made) {
                            let sums = &mut sums[s * COLUMNS..][..COLUMNS];
                            for (sum, made) in sums.iter_mut().zip(made) {
                                *sum = if begin == 0 { S::of(*made) } else { *sum + S::of(*made) };
                            }
                        }
                    }
                }
                let column = band * BAND;
                let n = (self.columns - column).min(BAND);
                for (r, sum) in sums.iter_mut().enumerate().take(rows - first) {
                    done(first + r, column, &mut sum[..n]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that differ in sign and size.
    fn some<T>(n: usize, of: impl Fn(i32) -> T) -> Vec<T> {
        (0..n as i32).map(|i| of((i * 7919 + 13) % 511 - 255)).collect()
    }

    fn rows<T>(all: &[T]) -> [&[T]; ROWS] {
        std::array::from_fn(|r| &all[r * all.len() / ROWS..][..all.len() / ROWS])
    }

    /// Every form of a kernel has the same bits as one sum after the other.
    #[test]
    fn forms_have_the_same_bits() {
        let depth = 46;
        let (left, right) =
            (some(ROWS * depth, |v| v as f32 / 7.0), some(COLUMNS * depth, |v| v as f32 / 3.0));
        let wanted: Sums<f32> = std::array::from_fn(|r| {
            std::array::from_fn(|c| {
                (0..depth).fold(0.0, |s, k| s + left[r * depth + k] * right[k * COLUMNS + c])
            })
        });
        let (mut made, mut plain) = ([[0.0; COLUMNS]; ROWS], [[0.0; COLUMNS]; ROWS]);
        f32::strip(rows(&left), &right, &mut made);
        plain_strip::<f32, 8>(rows(&left), &right, &mut plain);
        assert_eq!((made, plain), (wanted, wanted));

        let (left, right) = (some(ROWS * depth, |v| v as i16), some(COLUMNS * depth, |v| v as i16));
        let at = |k: usize, c: usize| right[k / 2 * 2 * COLUMNS + 2 * c + k % 2] as i32;
        let wanted: Sums<i32> = std::array::from_fn(|r| {
            std::array::from_fn(|c| (0..depth).map(|k| left[r * depth + k] as i32 * at(k, c)).sum())
        });
        let (mut made, mut plain) = ([[0; COLUMNS]; ROWS], [[0; COLUMNS]; ROWS]);
        i16::strip(rows(&left), &right, &mut made);
        pairs(rows(&left), &right, &mut plain);
        assert_eq!((made, plain), (wanted, wanted));
    }

    /// As many as are said to be exact, of the greatest products.
    #[test]
    fn the_longest_sum_is_exact() {
        let (left, right) = (vec![-255i16; ROWS * EXACT], vec![255i16; COLUMNS * EXACT]);
        let mut made = [[0; COLUMNS]; ROWS];
        i16::strip(rows(&left), &right, &mut made);
        assert_eq!(made, [[-255 * 255 * EXACT as i32; COLUMNS]; ROWS]);
    }
}
