//! Tensors (VK_ARM_tensors): how their elements lie in memory. Linear and optimal tiling are the same here: row by row, the last
//! dimension innermost. Only those that share memory with an image have their rows as images have them.

use ash::vk;
use shader::options::tensor::{MAX_RANK, STRIDES, WORDS};
use std::fmt;
use texel::image::layout::ROW_ALIGN;

/// Bytes, and elements, that a tensor may have: offsets are of 32 bits.
pub const MAX_BYTES: u64 = 1 << 31;

/// Bytes of an element; `None`: no tensor has this format.
pub fn element_bytes(format: vk::Format) -> Option<u32> {
    use vk::Format as F;
    Some(match format {
        F::R8_SINT | F::R8_UINT => 1,
        F::R16_SINT | F::R16_UINT | F::R16_SFLOAT => 2,
        F::R32_SINT | F::R32_UINT | F::R32_SFLOAT => 4,
        F::R64_SINT | F::R64_UINT | F::R64_SFLOAT => 8,
        BOOL | FLOAT8_E4M3 | FLOAT8_E5M2 => 1,
        BFLOAT16 => 2,
        _ => return None,
    })
}

/// The type of a format's elements in data graphs; `None`: they have none. Integers are of no sign there.
pub fn graph_type(format: vk::Format) -> Option<graph::Type> {
    use graph::Type as T;
    use vk::Format as F;
    Some(match format {
        F::R8_SINT | F::R8_UINT => T::I8,
        F::R16_SINT | F::R16_UINT => T::I16,
        F::R32_SINT | F::R32_UINT => T::I32,
        F::R64_SINT => T::I48,
        F::R16_SFLOAT => T::F16,
        F::R32_SFLOAT => T::F32,
        BOOL => T::Bool,
        BFLOAT16 => T::BF16,
        FLOAT8_E4M3 => T::F8E4M3,
        FLOAT8_E5M2 => T::F8E5M2,
        _ => return None,
    })
}

/// VK_FORMAT_R8_BOOL_ARM: 0 is false, 1 true.
const BOOL: vk::Format = vk::Format::from_raw(1000460000);
/// VK_FORMAT_R16_SFLOAT_FPENCODING_BFLOAT16_ARM.
const BFLOAT16: vk::Format = vk::Format::from_raw(1000460001);
/// VK_FORMAT_R8_SFLOAT_FPENCODING_FLOAT8E4M3_ARM.
const FLOAT8_E4M3: vk::Format = vk::Format::from_raw(1000460002);
/// VK_FORMAT_R8_SFLOAT_FPENCODING_FLOAT8E5M2_ARM.
const FLOAT8_E5M2: vk::Format = vk::Format::from_raw(1000460003);

/// Dimensions and strides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes of an element.
    pub element: u32,
    /// Elements of each dimension, the outermost first, none 0.
    pub dimensions: Vec<u32>,
    /// Bytes from one index to the next of each.
    pub strides: Vec<u32>,
}

/// Why there is no such tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    Format(vk::Format),
    Rank(usize),
    Dimension(i64),
    Stride(i64),
    Size,
    /// No image has texels of so many elements, or so many dimensions.
    NoImage,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Wrong::Format(format) => write!(f, "{format:?} is not a format of tensors"),
            Wrong::Rank(n) => write!(f, "{n} dimensions; a tensor has 1 to {MAX_RANK}"),
            Wrong::Dimension(n) => write!(f, "a dimension of {n} elements"),
            Wrong::Stride(n) => write!(
                f,
                "a stride of {n} bytes; strides are multiples of the element's size, the last is that size, and each is at least \
                 what the dimension within takes"
            ),
            Wrong::NoImage => f.write_str(
                "a tensor that aliases an image has at most four dimensions, and at most four elements in the last",
            ),
            Wrong::Size => write!(f, "more than {MAX_BYTES} bytes"),
        }
    }
}

impl Shape {
    /// Without strides, elements lie without gaps.
    pub fn new(format: vk::Format, dimensions: &[i64], strides: Option<&[i64]>) -> Result<Shape, Wrong> {
        let element = element_bytes(format).ok_or(Wrong::Format(format))?;
        let rank = dimensions.len();
        if rank == 0 || rank > MAX_RANK as usize {
            return Err(Wrong::Rank(rank));
        }
        let mut shape = Shape { element, dimensions: vec![0; rank], strides: vec![0; rank] };
        // Bytes that the dimensions within take.
        let mut within = element as u64;
        for d in (0..rank).rev() {
            let n = dimensions[d];
            let count =
                u64::try_from(n).ok().filter(|n| (1..=MAX_BYTES).contains(n)).ok_or(Wrong::Dimension(n))?;
            let stride = match strides {
                None => within,
                Some(s) => {
                    let given = u64::try_from(s[d]).map_err(|_| Wrong::Stride(s[d]))?;
                    let is_last = d + 1 == rank;
                    let fits = given >= within && (!is_last || given == within);
                    if !fits || !given.is_multiple_of(element as u64) {
                        return Err(Wrong::Stride(s[d]));
                    }
                    given
                }
            };
            within = stride.checked_mul(count).filter(|n| *n <= MAX_BYTES).ok_or(Wrong::Size)?;
            shape.dimensions[d] = count as u32;
            shape.strides[d] = stride as u32;
        }
        Ok(shape)
    }

    /// In the memory of an image: depth, height, width and the components of a texel, or the last of these. Rows lie as
    /// [`texel::image::layout`] has them.
    pub fn of_image(format: vk::Format, dimensions: &[i64]) -> Result<Shape, Wrong> {
        let rank = dimensions.len();
        if rank > 4 || dimensions.last().is_some_and(|n| *n > 4) {
            return Err(Wrong::NoImage);
        }
        let packed = Shape::new(format, dimensions, None)?;
        let mut strides: Vec<i64> = packed.strides.iter().map(|s| *s as i64).collect();
        if rank >= 3 {
            // At most 2^31 by 2^31.
            let row = (strides[rank - 3] as u64).next_multiple_of(ROW_ALIGN) as i64;
            strides[rank - 3] = row;
            if rank == 4 {
                strides[0] = row * dimensions[1];
            }
        }
        Shape::new(format, dimensions, Some(&strides))
    }

    pub fn bytes(&self) -> u64 {
        self.dimensions[0] as u64 * self.strides[0] as u64
    }

    /// As shaders read it ([`shader::options::tensor`]).
    pub fn words(&self) -> [u32; WORDS] {
        let mut words = [0; WORDS];
        words[..self.dimensions.len()].copy_from_slice(&self.dimensions);
        words[STRIDES as usize..][..self.strides.len()].copy_from_slice(&self.strides);
        words
    }

    /// Byte offset of an element.
    pub fn offset(&self, at: &[u64]) -> u64 {
        self.strides.iter().zip(at).map(|(s, i)| *s as u64 * i).sum()
    }
}

/// A part of two tensors of the same rank and element size, to be copied.
#[derive(Clone, Debug)]
pub struct Part {
    pub from: Vec<u64>,
    pub to: Vec<u64>,
    pub extent: Vec<u64>,
}

impl Part {
    /// All of a tensor.
    pub fn whole(shape: &Shape) -> Part {
        let zeros = vec![0; shape.dimensions.len()];
        let extent = shape.dimensions.iter().map(|n| *n as u64).collect();
        Part { from: zeros.clone(), to: zeros, extent }
    }

    /// Whether it lies within both, whose elements are of one size.
    pub fn fits(&self, src: &Shape, dst: &Shape) -> bool {
        let rank = src.dimensions.len();
        let within = |shape: &Shape, at: &[u64]| {
            let ends = at.iter().zip(&self.extent).map(|(a, n)| a.checked_add(*n));
            ends.zip(&shape.dimensions).all(|(end, n)| end.is_some_and(|end| end <= *n as u64))
        };
        dst.dimensions.len() == rank
            && [&self.from, &self.to, &self.extent].iter().all(|v| v.len() == rank)
            && src.element == dst.element
            && within(src, &self.from)
            && within(dst, &self.to)
    }

    /// Runs of consecutive bytes that it consists of: where one begins in both, and its bytes; `None` if there are more than `most`. It
    /// [fits](Part::fits).
    pub fn runs(&self, src: &Shape, dst: &Shape, most: usize) -> Option<Vec<[u64; 3]>> {
        let rank = self.extent.len();
        if self.extent.contains(&0) {
            return Some(vec![]);
        }
        // Dimensions from `inner` on are one run.
        let (mut inner, mut bytes) = (rank - 1, self.extent[rank - 1] * src.element as u64);
        while inner > 0 && src.strides[inner - 1] as u64 == bytes && dst.strides[inner - 1] as u64 == bytes {
            inner -= 1;
            bytes *= self.extent[inner];
        }
        let count = self.extent[..inner].iter().try_fold(1u64, |n, e| n.checked_mul(*e))?;
        if count > most as u64 {
            return None;
        }
        let mut runs = Vec::with_capacity(count as usize);
        let mut at = vec![0u64; inner];
        let begin = [src.offset(&self.from), dst.offset(&self.to)];
        for _ in 0..count {
            runs.push([begin[0] + src.offset(&at), begin[1] + dst.offset(&at), bytes]);
            for d in (0..inner).rev() {
                at[d] += 1;
                if at[d] < self.extent[d] {
                    break;
                }
                at[d] = 0;
            }
        }
        Some(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: vk::Format = vk::Format::R16_SINT;

    #[test]
    fn shapes() {
        let packed = Shape::new(F, &[3, 5, 7], None).unwrap();
        assert_eq!(packed.strides, [70, 14, 2]);
        assert_eq!(packed.bytes(), 210);
        assert_eq!(packed.words(), [3, 5, 7, 0, 0, 0, 70, 14, 2, 0, 0, 0]);
        let apart = Shape::new(F, &[3, 5, 7], Some(&[100, 20, 2])).unwrap();
        assert_eq!(apart.bytes(), 300);
        assert_eq!(apart.offset(&[2, 1, 6]), 232);
        for (dimensions, strides, why) in [
            (vec![], None, Wrong::Rank(0)),
            (vec![1; 7], None, Wrong::Rank(7)),
            (vec![2, 0], None, Wrong::Dimension(0)),
            (vec![-1, 2], None, Wrong::Dimension(-1)),
            (vec![i64::MAX, 2], None, Wrong::Dimension(i64::MAX)),
            (vec![1 << 16, 1 << 16], None, Wrong::Size),
            (vec![1 << 31, 1 << 31, 1 << 31], None, Wrong::Size),
            (vec![2, 3], Some(vec![5, 2]), Wrong::Stride(5)),
            (vec![2, 3], Some(vec![7, 2]), Wrong::Stride(7)),
            (vec![2, 3], Some(vec![16, 4]), Wrong::Stride(4)),
            (vec![2, 3], Some(vec![-6, 2]), Wrong::Stride(-6)),
            (vec![2, 3], Some(vec![i64::MAX - 1, 2]), Wrong::Size),
        ] {
            assert_eq!(
                Shape::new(F, &dimensions, strides.as_deref()).unwrap_err(),
                why,
                "{dimensions:?} {strides:?}"
            );
        }
        assert_eq!(
            Shape::new(vk::Format::R8G8_UINT, &[1], None).unwrap_err(),
            Wrong::Format(vk::Format::R8G8_UINT)
        );
    }

    #[test]
    fn parts_are_copied_by_runs() {
        let (a, b) = (
            Shape::new(F, &[3, 5, 7], None).unwrap(),
            Shape::new(F, &[3, 5, 7], Some(&[100, 20, 2])).unwrap(),
        );
        let whole = Part::whole(&a);
        assert!(whole.fits(&a, &b));
        assert_eq!(whole.runs(&a, &a, 1).unwrap(), [[0, 0, 210]]);
        let runs = whole.runs(&a, &b, 15).unwrap();
        assert_eq!(runs.len(), 15);
        assert_eq!(runs[..2], [[0, 0, 14], [14, 20, 14]]);
        assert_eq!(runs[14], [196, 280, 14]);
        assert_eq!(whole.runs(&a, &b, 14), None);
        let part = Part { from: vec![1, 2, 3], to: vec![0, 0, 1], extent: vec![2, 1, 4] };
        assert!(part.fits(&a, &b));
        assert_eq!(part.runs(&a, &b, 9).unwrap(), [[70 + 28 + 6, 2, 8], [140 + 28 + 6, 102, 8]]);
        assert!(!Part { from: vec![1, 2, 4], ..part.clone() }.fits(&a, &b));
        assert!(!Part { to: vec![u64::MAX, 0, 0], ..part.clone() }.fits(&a, &b));
        assert!(!Part { extent: vec![2, 1], ..part }.fits(&a, &b));
    }
}
