//! Products of bytes by the instructions of AVX512-VNNI, which multiply unsigned by signed ones. Where both are of one kind, the left one is
//! taken as the other kind, 128 from what it is, and 128 times the sum of the right one's column makes up for it.

use super::{Lanes, PackedLeft, PackedRight, ROWS, Rows};
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

pub fn is_there() -> bool {
    is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512bw")
}

/// Four bytes a word, four words a row, one row after the other.
///
/// # Safety
/// The CPU has the instructions; the rows are a live warp's.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn pack_left(x: &Rows, [left, right]: [bool; 2], to: &mut MaybeUninit<PackedLeft>) {
    let to = to.as_mut_ptr().cast::<__m128i>();
    let flip = _mm_set1_epi8(if left == right { i8::MIN } else { 0 });
    for i in 0..ROWS {
        // SAFETY: the caller's; the pack has room for more.
        unsafe {
            let v = _mm512_cvtepi32_epi8(_mm512_load_si512(x.left(i).cast()));
            _mm_store_si128(to.add(i), _mm_xor_si128(v, flip));
        }
    }
}

/// Four rows' bytes in a word, four such rows; then what is added to each sum of a column.
///
/// # Safety
/// As [`pack_left`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn pack_right(x: &Rows, [left, right]: [bool; 2], to: &mut MaybeUninit<PackedRight>) {
    let to = to.as_mut_ptr().cast::<Lanes>();
    let ones = _mm512_set1_epi8(1);
    let mut columns = _mm512_setzero_si512();
    for g in 0..4 {
        // No closures here: they would be code for any CPU.
        macro_rules! byte {
            ($k:expr) => {
                // SAFETY: the caller's.
                _mm512_and_si512(
                    unsafe { _mm512_load_si512(x.right(4 * g + $k).cast()) },
                    _mm512_set1_epi32(0xFF),
                )
            };
        }
        let low = _mm512_or_si512(byte!(0), _mm512_slli_epi32::<8>(byte!(1)));
        let high = _mm512_or_si512(_mm512_slli_epi32::<16>(byte!(2)), _mm512_slli_epi32::<24>(byte!(3)));
        let v = _mm512_or_si512(low, high);
        columns = match right {
            true => _mm512_dpbusd_epi32(columns, ones, v),
            false => _mm512_dpbusd_epi32(columns, v, ones),
        };
        // SAFETY: the pack has eight rows.
        unsafe { _mm512_store_si512(to.add(g).cast(), v) };
    }
    columns = _mm512_slli_epi32::<7>(columns);
    columns = match (left == right, right) {
        (false, _) => _mm512_setzero_si512(),
        (true, false) => columns,
        (true, true) => _mm512_sub_epi32(_mm512_setzero_si512(), columns),
    };
    // SAFETY: as above.
    unsafe { _mm512_store_si512(to.add(4).cast(), columns) };
}

/// The rows of a packed right matrix, and what is added to each sum of a column.
// No closures here and below: they would be code for any CPU.
macro_rules! rows {
    ($right:expr) => {{
        let right = $right.as_ptr().cast::<__m512i>();
        // SAFETY: of a pack as it was written.
        unsafe { ([*right, *right.add(1), *right.add(2), *right.add(3)], *right.add(4)) }
    }};
}

/// A row of sums of the products in `$sums`, each with the rows of its right matrix.
macro_rules! row {
    ($left:ident, $i:ident, $right_signed:ident, $([$x:ident $sum:ident $rows:ident $columns:ident]),*) => {
        // SAFETY (all): the caller's; of packs as they were written.
        unsafe {
            $($sum = _mm512_add_epi32($columns, _mm512_load_si512($x.sum($i).cast()));)*
            let factors = $left.as_ptr().cast::<[i32; 4]>().add($i);
            for g in 0..4 {
                let factor = _mm512_set1_epi32((*factors)[g]);
                $($sum = match $right_signed {
                    true => _mm512_dpbusd_epi32($sum, factor, $rows[g]),
                    false => _mm512_dpbusd_epi32($sum, $rows[g], factor),
                };)*
            }
        }
    };
}

/// # Safety
/// As [`pack_left`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn one(
    x: &Rows,
    right_signed: bool,
    at_once: bool,
    left: &MaybeUninit<PackedLeft>,
    right: &MaybeUninit<PackedRight>,
) {
    let (rows, columns) = rows!(right);
    let mut all = [columns; ROWS];
    for i in 0..ROWS {
        let mut sum;
        row!(left, i, right_signed, [x sum rows columns]);
        if at_once {
            // SAFETY: the caller's.
            unsafe { _mm512_store_si512(x.to(i).cast(), sum) };
        } else {
            all[i] = sum;
        }
    }
    if at_once {
        return;
    }
    for (i, row) in all.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { _mm512_store_si512(x.to(i).cast(), *row) };
    }
}

/// Two products of one left matrix, each word of which is then read once for both.
///
/// # Safety
/// As [`pack_left`]; the products are a pair ([`shader::bytecode::ProductGroup::pair`]).
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub unsafe fn two(
    x: &Rows,
    y: &Rows,
    right_signed: bool,
    left: &MaybeUninit<PackedLeft>,
    right: [&MaybeUninit<PackedRight>; 2],
) {
    let (rows_x, columns_x) = rows!(right[0]);
    let (rows_y, columns_y) = rows!(right[1]);
    for i in 0..ROWS {
        let (mut a, mut b);
        row!(left, i, right_signed, [x a rows_x columns_x], [y b rows_y columns_y]);
        // SAFETY: the caller's.
        unsafe {
            _mm512_store_si512(x.to(i).cast(), a);
            _mm512_store_si512(y.to(i).cast(), b);
        }
    }
}
