//! Conversions of matrices in memory from one layout and type to another (VK_NV_cooperative_vector).

use shader::vectors::{OPTIMAL_ALIGN, component, element_bytes, layout, optimal_stride};
use texel::memory::sparse;

/// How a matrix lies in memory: type of the elements, layout, bytes from one row (or column) to the next where the layout leaves that
/// open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    pub component: u32,
    pub layout: u32,
    pub stride: u64,
}

impl Side {
    fn is_optimal(&self) -> bool {
        matches!(self.layout, layout::INFERENCING_OPTIMAL | layout::TRAINING_OPTIMAL)
    }
    fn bytes(&self) -> u64 {
        element_bytes(self.component).unwrap_or(1).into()
    }
    /// Lines of consecutive elements, and the elements of each.
    fn lines(&self, [rows, columns]: [u32; 2]) -> [u64; 2] {
        let lines = if self.layout == layout::COLUMN_MAJOR { [columns, rows] } else { [rows, columns] };
        lines.map(u64::from)
    }
    /// The same with the stride that holds, and bytes that it has: to the end of the last element, and with what follows its last line.
    fn settled(mut self, size: [u32; 2], which: &str) -> Result<(Side, [u64; 2]), String> {
        let Some(bytes) = element_bytes(self.component) else {
            return Err(format!("the {which} matrix has elements of type {}", self.component));
        };
        let [lines, n] = self.lines(size);
        if lines == 0 || n == 0 {
            return Err("a matrix without elements".into());
        }
        match self.layout {
            layout::ROW_MAJOR | layout::COLUMN_MAJOR => {}
            _ if self.is_optimal() => self.stride = optimal_stride(size[1], bytes),
            other => return Err(format!("the {which} matrix has layout {other}")),
        }
        let line = n * bytes as u64;
        if self.stride < line || !self.stride.is_multiple_of(bytes.into()) {
            return Err(format!(
                "the {which} matrix has lines of {line} bytes and a stride of {}, elements have {bytes}",
                self.stride
            ));
        }
        let all = (lines - 1).checked_mul(self.stride).and_then(|first| {
            let all = first.checked_add(self.stride)?;
            Some(match self.is_optimal() {
                true => [all.checked_next_multiple_of(OPTIMAL_ALIGN)?; 2],
                false => [first + line, all],
            })
        });
        let all = all.filter(|a| a[1] <= isize::MAX as u64);
        Ok((self, all.ok_or_else(|| format!("the {which} matrix is larger than any memory"))?))
    }
    /// Where the element in a row and a column is.
    fn at(&self, row: u64, column: u64) -> u64 {
        let (line, k) = if self.layout == layout::COLUMN_MAJOR { (column, row) } else { (row, column) };
        line * self.stride + k * self.bytes()
    }
}

/// A conversion that can be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    /// Rows and columns.
    size: [u32; 2],
    from: Side,
    to: Side,
    /// Bytes that the source has.
    pub reads: u64,
    /// Bytes that the destination needs.
    pub writes: u64,
    /// Bytes of the destination with what follows its last line.
    pub room: u64,
}

impl Conversion {
    /// Bytes that a destination has, which only the destination decides. Errors: why there is none.
    pub fn room(size: [u32; 2], to: Side) -> Result<u64, String> {
        Ok(to.settled(size, "destination")?.1[1])
    }

    /// Errors: why there is no such conversion.
    pub fn new(size: [u32; 2], from: Side, to: Side) -> Result<Conversion, String> {
        let (from, [reads, _]) = from.settled(size, "source")?;
        let (to, [writes, room]) = to.settled(size, "destination")?;
        let wide = |c: u32| matches!(c, component::F32 | component::F16);
        let small = |c: u32| matches!(c, component::E4M3 | component::E5M2);
        let (a, b) = (from.component, to.component);
        if a != b && !(wide(a) && (wide(b) || small(b)) || small(a) && wide(b)) {
            return Err(format!("elements of type {a} are not converted to type {b}"));
        }
        if small(b) && !to.is_optimal() {
            return Err(format!("elements of type {b} are written in optimal layouts only"));
        }
        Ok(Conversion { size, from, to, reads, writes, room })
    }

    /// Converts. What lies between and after the lines of a matrix of an optimal layout becomes 0.
    ///
    /// # Safety
    /// `reads` bytes are readable at `src` and `writes` are writable at `dst`, and they do not overlap.
    pub unsafe fn run(&self, src: *const u8, dst: *mut u8) {
        let (from, to) = (&self.from, &self.to);
        let [lines, n] = to.lines(self.size);
        let bytes = to.bytes() as usize;
        let end = if to.is_optimal() { to.stride / to.bytes() } else { n };
        let mut part = [0u8; 1024];
        let most = (part.len() / bytes) as u64;
        for line in 0..lines {
            for first in (0..end).step_by(most as usize) {
                let some = most.min(end - first);
                part.fill(0);
                for (k, out) in (first..(first + some).min(n)).zip(part.chunks_exact_mut(bytes)) {
                    let [row, column] = if to.layout == layout::COLUMN_MAJOR { [k, line] } else { [line, k] };
                    // SAFETY: an element of the source.
                    let p = unsafe { src.add(from.at(row, column) as usize) };
                    let mut element = [0u8; 4];
                    // SAFETY: that many bytes of it.
                    unsafe { p.copy_to_nonoverlapping(element.as_mut_ptr(), from.bytes() as usize) };
                    let mut element = u32::from_le_bytes(element);
                    if from.component != to.component {
                        element = encoded(to.component, decoded(from.component, element));
                    }
                    out.copy_from_slice(&element.to_le_bytes()[..bytes]);
                }
                // SAFETY: within the destination's line.
                unsafe {
                    let at = dst.add((line * to.stride) as usize + first as usize * bytes);
                    sparse::copy(part.as_ptr(), at, some as usize * bytes);
                }
            }
        }
        let rest = self.writes - (lines - 1) * to.stride - end * to.bytes();
        // SAFETY: the destination's last bytes, fewer than `OPTIMAL_ALIGN`.
        unsafe {
            sparse::copy(
                [0; OPTIMAL_ALIGN as usize].as_ptr(),
                dst.add((self.writes - rest) as usize),
                rest as usize,
            )
        }
    }
}

/// Mantissa's bits, exponent of the least normal number, and the greatest number's bits.
fn format(component: u32) -> (u32, i32, u32) {
    match component {
        component::F16 => (10, -14, 0x7BFF),
        component::E5M2 => (2, -14, 0x7B),
        _ => (3, -6, 0x7E),
    }
}

/// The number that bits stand for, positive ones, of a format that is narrower than 32 bits.
fn magnitude((mantissa, least, _): (u32, i32, u32), bits: u32) -> f64 {
    let (e, m) = ((bits >> mantissa) as i32, bits & ((1 << mantissa) - 1));
    let whole = if e == 0 { m } else { m | 1 << mantissa };
    whole as f64 * ((least + e.max(1) - 1 - mantissa as i32) as f64).exp2()
}

fn decoded(component: u32, bits: u32) -> f32 {
    if component == component::F32 {
        return f32::from_bits(bits);
    }
    let (f, sign) = (format(component), if component == component::F16 { 0x8000 } else { 0x80 });
    let size = bits & (sign - 1);
    let v = match size {
        _ if size <= f.2 => magnitude(f, size) as f32,
        // The next after the greatest, where there is one.
        _ if size == f.2 + 1 && component != component::E4M3 => f32::INFINITY,
        _ => f32::NAN,
    };
    if bits & sign != 0 { -v } else { v }
}

/// The nearest number of the format, of two the even one.
fn encoded(component: u32, v: f32) -> u32 {
    if component == component::F32 {
        return v.to_bits();
    }
    let f = format(component);
    let (mantissa, least, greatest) = f;
    let sign = if component == component::F16 { 0x8000 } else { 0x80 };
    let size = v.abs() as f64;
    let bits = if v.is_nan() {
        sign - 1
    } else if size > 2.0 * magnitude(f, greatest) {
        greatest + 1
    } else {
        let exponent = ((v.abs().to_bits() >> 23) as i32 - 127).max(least);
        let steps = (size / ((exponent - mantissa as i32) as f64).exp2()).round_ties_even() as u32;
        // Steps that reach the next power of two carry into the exponent.
        (((exponent - least) as u32) << mantissa) + steps
    };
    // What is beyond the greatest is infinite, or no number.
    let bits = if bits > greatest && !v.is_nan() { greatest + 1 } else { bits };
    if v.is_sign_negative() { bits | sign } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u32 = layout::ROW_MAJOR;
    const OPTIMAL: u32 = layout::TRAINING_OPTIMAL;

    fn side(component: u32, layout: u32, stride: u64) -> Side {
        Side { component, layout, stride }
    }

    #[test]
    fn numbers_of_small_formats() {
        // By hand from the formats' definitions.
        for (c, v, bits) in [
            (component::E4M3, 1.0, 0x38),
            (component::E4M3, -448.0, 0xFE),
            (component::E4M3, 464.0, 0x7E),
            (component::E4M3, 465.0, 0x7F),
            (component::E4M3, f32::INFINITY, 0x7F),
            (component::E4M3, 0.001953125, 0x01),
            // Half of the least: to even, which is 0.
            (component::E4M3, 0.0009765625, 0x00),
            (component::E4M3, f32::from_bits(0x3A80_0001), 0x01),
            // Between 1.875 and 2.
            (component::E4M3, 1.94, 0x40),
            (component::E5M2, 57344.0, 0x7B),
            (component::E5M2, 61440.0, 0x7C),
            (component::E5M2, f32::NEG_INFINITY, 0xFC),
            (component::E5M2, 1.125, 0x3C),
            (component::E5M2, 1.375, 0x3E),
            (component::F16, 65504.0, 0x7BFF),
            (component::F16, 65520.0, 0x7C00),
            (component::F16, 1e30, 0x7C00),
            (component::F16, 5.9604645e-8, 0x0001),
            (component::F16, 1e-40, 0),
            (component::F16, -0.0, 0x8000),
        ] {
            assert_eq!(encoded(c, v), bits, "{c}: {v}");
        }
        for (c, width) in [(component::F16, 16u32), (component::E4M3, 8), (component::E5M2, 8)] {
            for bits in 0..1u32 << width {
                let v = decoded(c, bits);
                assert!(v.is_nan() || encoded(c, v) == bits, "{c}: {bits:#x} is {v}");
            }
        }
        assert!(decoded(component::E4M3, 0x7F).is_nan() && decoded(component::E5M2, 0x7D).is_nan());
        assert_eq!(decoded(component::E5M2, 0xFC), f32::NEG_INFINITY);
    }

    #[test]
    fn layouts() {
        // 2 × 3 bytes by columns, four from one to the next; an optimal row has 16.
        let from = side(component::S8, layout::COLUMN_MAJOR, 4);
        let c = Conversion::new([2, 3], from, side(component::S8, OPTIMAL, 0)).unwrap();
        assert_eq!((c.reads, c.writes, c.room), (10, 64, 64));
        let src = [1u8, 2, 0, 0, 3, 4, 0, 0, 5, 6];
        let mut dst = [0xEEu8; 65];
        // SAFETY: as many bytes as it says.
        unsafe { c.run(src.as_ptr(), dst.as_mut_ptr()) };
        let mut want = [0u8; 65];
        want[..3].copy_from_slice(&[1, 3, 5]);
        want[16..19].copy_from_slice(&[2, 4, 6]);
        want[64] = 0xEE;
        assert_eq!(dst, want);
        // Back by rows of five bytes: what is between them stays.
        let c =
            Conversion::new([2, 3], side(component::S8, OPTIMAL, 0), side(component::S8, ROWS, 5)).unwrap();
        assert_eq!((c.reads, c.writes, c.room), (64, 8, 10));
        let mut rows = [9u8; 10];
        // SAFETY: as above.
        unsafe { c.run(dst.as_ptr(), rows.as_mut_ptr()) };
        assert_eq!(rows, [1, 3, 5, 9, 9, 2, 4, 6, 9, 9]);
    }

    #[test]
    fn what_is_refused() {
        let good = side(component::F16, ROWS, 64);
        for (size, from, to) in [
            ([0, 4], good, good),
            ([4, 33], good, good),
            ([4, 4], side(component::F16, ROWS, 63), good),
            ([4, 4], side(2, ROWS, 64), good),
            ([4, 4], side(component::F16, 4, 64), good),
            ([4, 4], good, side(component::S8, ROWS, 64)),
            ([4, 4], side(component::E4M3, OPTIMAL, 0), side(component::E5M2, OPTIMAL, 0)),
            ([4, 4], good, side(component::E4M3, ROWS, 64)),
            ([u32::MAX, 4], side(component::F16, ROWS, u64::MAX - 1), good),
            ([u32::MAX, u32::MAX], side(component::F32, OPTIMAL, 0), side(component::F32, OPTIMAL, 0)),
        ] {
            assert!(Conversion::new(size, from, to).is_err(), "{size:?} {from:?} {to:?}");
        }
    }
}
