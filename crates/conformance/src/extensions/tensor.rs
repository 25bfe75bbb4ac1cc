//! VK_ARM_tensors: elements read and written by shaders, one or several at once, in and out of bounds; sizes; copies. All expected values
//! follow from the extension: an element lies at the sum of its indices times strides, and what is out of bounds reads as the value that
//! the instruction gives.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::Buffer;
use client::tensor::{Element, Functions, Shift, Tensor};
use random::Random;

const NAME: &std::ffi::CStr = c"VK_ARM_tensors";

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "tensors_are_read_and_written", of: NAME, run: shaders },
        Check { name: "tensors_are_copied", of: NAME, run: copies },
        Check { name: "tensors_that_are_none_are_refused", of: NAME, run: refused },
    ]
}

/// A tensor's dimensions, and how many elements more than it has each lies from its neighbour.
struct Layout {
    dimensions: Vec<i64>,
    gaps: i64,
}

impl Layout {
    fn count(&self) -> usize {
        self.dimensions.iter().product::<i64>() as usize
    }
    /// Bytes from index to index.
    fn strides(&self, element: usize) -> Vec<i64> {
        let mut strides = vec![element as i64; self.dimensions.len()];
        for d in (0..self.dimensions.len() - 1).rev() {
            strides[d] = strides[d + 1] * self.dimensions[d + 1] + self.gaps * element as i64;
        }
        strides
    }
    /// Where element `i`, counted with the last dimension innermost, lies.
    fn place(&self, mut i: usize, element: usize) -> usize {
        let mut at = 0;
        for (n, stride) in self.dimensions.iter().zip(self.strides(element)).rev() {
            at += i % *n as usize * stride as usize;
            i /= *n as usize;
        }
        at
    }
}

const ELEMENTS: [Element; 7] =
    [Element::U8, Element::U16, Element::U32, Element::U64, Element::F16, Element::Bf16, Element::F32];

fn shapes() -> Vec<Layout> {
    let of = |dimensions: &[i64], gaps| Layout { dimensions: dimensions.to_vec(), gaps };
    vec![of(&[900], 0), of(&[13, 36], 0), of(&[13, 36], 5), of(&[3, 4, 5, 12], 3), of(&[2, 3, 2, 1, 5, 4], 0)]
}

/// Bytes that are numbers in every format, so that nothing rounds.
fn fill(random: &mut Random, to: &mut [u8]) {
    to.iter_mut().for_each(|b| *b = random.u32() as u8 & 0x3F);
}

fn shaders(rig: &Rig) -> Found {
    let (context, mut random) = (&rig.context, Random::default());
    let functions = Functions::of(context).map_err(text)?;
    let sizes = Buffer::new(context, 64).map_err(text)?;
    let mut all = vec![];
    for (element, shape) in ELEMENTS.iter().flat_map(|e| shapes().into_iter().map(move |s| (*e, s))) {
        let bytes = element.bytes();
        let strides = (shape.gaps > 0).then(|| shape.strides(bytes));
        let new = |strides: Option<&[i64]>, optimal| {
            Tensor::new(context, &functions, element, &shape.dimensions, strides, optimal).map_err(text)
        };
        let mut from = new(strides.as_deref(), false)?;
        let mut to = new(None, true)?;
        fill(&mut random, from.bytes_mut());
        for (shift, at_once) in [(0, 1), (1, 1), (3, 4), (0, 4)] {
            to.bytes_mut().fill(0xEE);
            let outside = 0x3C;
            let rank = shape.dimensions.len() as u32;
            let program = Shift { element, rank, shift, at_once, outside, in_turn: false };
            program.run(context, &from, &to, &sizes, shape.count() as u32).map_err(text)?;
            let last = *shape.dimensions.last().unwrap_or(&1) as usize;
            let packed = Layout { dimensions: shape.dimensions.clone(), gaps: 0 };
            for i in 0..shape.count() {
                let at = packed.place(i, bytes);
                let got = &to.bytes()[at..at + bytes];
                let want = if i % last + (shift as usize) < last {
                    let at = shape.place(i + shift as usize, bytes);
                    from.bytes()[at..at + bytes].to_vec()
                } else {
                    outside.to_le_bytes()[..bytes].to_vec()
                };
                if got != want {
                    return Err(format!(
                        "{element:?} of {:?}, {program:?}: element {i} is {got:?}, not {want:?}",
                        shape.dimensions
                    ));
                }
            }
            let told = &sizes.words()[..shape.dimensions.len()];
            if !told.iter().zip(&shape.dimensions).all(|(a, b)| *a as i64 == *b) {
                return Err(format!("sizes {told:?}, not {:?}", shape.dimensions));
            }
        }
        all.extend_from_slice(&to.bytes()[..shape.count() * bytes]);
    }
    found(&all)
}

fn copies(rig: &Rig) -> Found {
    let (context, mut random) = (&rig.context, Random::default());
    let functions = Functions::of(context).map_err(text)?;
    let mut all = vec![];
    for (element, shape) in ELEMENTS.iter().flat_map(|e| shapes().into_iter().map(move |s| (*e, s))) {
        let bytes = element.bytes();
        let strides = shape.strides(bytes);
        let mut from = Tensor::new(context, &functions, element, &shape.dimensions, Some(&strides), false)
            .map_err(text)?;
        let mut to =
            Tensor::new(context, &functions, element, &shape.dimensions, None, false).map_err(text)?;
        fill(&mut random, from.bytes_mut());
        to.bytes_mut().fill(0xEE);
        rig.run(|_, c| from.copy_to(c, &to))?;
        let packed = Layout { dimensions: shape.dimensions.clone(), gaps: 0 };
        for i in 0..shape.count() {
            let (a, b) = (shape.place(i, bytes), packed.place(i, bytes));
            if from.bytes()[a..a + bytes] != to.bytes()[b..b + bytes] {
                return Err(format!("{element:?} of {:?}: element {i} differs", shape.dimensions));
            }
        }
        all.extend_from_slice(&to.bytes()[..shape.count() * bytes]);
    }
    found(&all)
}

/// Shapes that overflow or overlap, of no dimensions or too many.
fn refused(rig: &Rig) -> Found {
    let functions = Functions::of(&rig.context).map_err(text)?;
    let cases: [(&[i64], Option<&[i64]>); 8] = [
        (&[0, 4], None),
        (&[-3], None),
        (&[i64::MAX, i64::MAX], None),
        (&[1 << 20, 1 << 20], None),
        (&[1; 7], None),
        (&[4, 4], Some(&[4, 4])),
        (&[4, 4], Some(&[-16, 4])),
        (&[4, 4], Some(&[i64::MAX, 4])),
    ];
    for (dimensions, strides) in cases {
        let made = Tensor::new(&rig.context, &functions, Element::U32, dimensions, strides, false);
        if made.is_ok() {
            return Err(format!("a tensor of {dimensions:?} with strides {strides:?} was made"));
        }
    }
    found(&[])
}
