//! VK_ARM_data_graph: graphs of one and of several operators, on tensors with and without gaps, with constants; modules that are broken.
//! All expected values were worked out by hand, or follow from TOSA's pseudocode by a few lines here.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::data_graph::{Code, Described, Functions, run};
use client::tensor::{self, Element, Tensor};
use random::Random;

const NAME: &std::ffi::CStr = c"VK_ARM_data_graph";

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "data_graphs_compute", of: NAME, run: networks },
        Check { name: "data_graphs_that_are_none_are_refused", of: NAME, run: refused },
    ]
}

/// TOSA's operators by their numbers.
const CONV2D: u32 = 2;
const MAX_POOL2D: u32 = 7;
const ADD: u32 = 14;
const RESCALE: u32 = 65;
const INT32: u32 = 1;
const PROPAGATE: u32 = 1;
const SINGLE_ROUND: u32 = 1;

const IMAGE: [u32; 4] = [1, 6, 8, 3];
const MADE: [u32; 4] = [1, 6, 8, 5];
const POOLED: [u32; 4] = [1, 3, 4, 5];
const KERNEL: [u32; 4] = [5, 3, 3, 3];

/// Bytes through a convolution, a rescaling to bytes and a pooling: what quantised networks consist of.
fn quantised() -> Vec<u32> {
    let mut g = Code::new();
    let image = g.input(Element::U8, &IMAGE);
    let kernel = g.given(7, Element::U8, &KERNEL);
    let bias = g.given(8, Element::U32, &[5]);
    let (pad, one, two) =
        (g.list(Element::U32, &[1; 4]), g.list(Element::U32, &[1; 2]), g.list(Element::U32, &[2; 2]));
    let (acc, no) = (g.integer(INT32), g.no());
    let (zero, wide_zero, none) =
        (g.list(Element::U8, &[3]), g.list(Element::U32, &[0]), g.list(Element::U8, &[0]));
    let sums =
        g.operator(CONV2D, Element::U32, &MADE, &[pad, one, one, acc, no, image, kernel, bias, zero, none]);
    let yes = g.yes();
    let (round, multiplier, shift) =
        (g.integer(SINGLE_ROUND), g.list(Element::U32, &[1 << 30]), g.list(Element::U8, &[38]));
    let operands = [yes, round, no, no, no, sums, multiplier, shift, wide_zero, none];
    let small = g.operator(RESCALE, Element::U8, &MADE, &operands);
    let (still, mode) = (g.list(Element::U32, &[0; 4]), g.integer(PROPAGATE));
    let pooled = g.operator(MAX_POOL2D, Element::U8, &POOLED, &[two, two, still, mode, small]);
    g.output(pooled, Element::U8, &POOLED);
    g.spirv()
}

/// The same by TOSA's pseudocode.
fn expected(image: &[i8], kernel: &[i8], bias: &[i32]) -> Vec<i8> {
    let mut small = vec![];
    for place in 0..48 * 5 {
        let (y, x, o) = (place / 40, place / 5 % 8, place % 5);
        let mut sum = bias[o] as i64;
        for tap in 0..27 {
            let (ky, kx, c) = (tap / 9, tap / 3 % 3, tap % 3);
            if (1..=6).contains(&(y + ky)) && (1..=8).contains(&(x + kx)) {
                let value = image[((y + ky - 1) * 8 + x + kx - 1) * 3 + c] as i64 - 3;
                sum += value * kernel[o * 27 + tap] as i64;
            }
        }
        small.push((((sum << 30) + (1 << 37)) >> 38).clamp(-128, 127) as i8);
    }
    let window = |place: usize| {
        let (y, x, c) = (place / 20 * 2, place / 5 % 4 * 2, place % 5);
        let at = |dy: usize, dx: usize| small[((y + dy) * 8 + x + dx) * 5 + c];
        at(0, 0).max(at(0, 1)).max(at(1, 0)).max(at(1, 1))
    };
    (0..60).map(window).collect()
}

fn bytes(random: &mut Random, n: usize) -> Vec<u8> {
    (0..n).map(|_| random.u32() as u8).collect()
}

fn networks(rig: &Rig) -> Found {
    let (context, mut random) = (&rig.context, Random::default());
    let tensors = tensor::Functions::of(context).map_err(text)?;
    let functions = Functions::of(context).map_err(text)?;
    let code = quantised();
    let dimensions = [IMAGE, POOLED].map(|s| s.map(i64::from));
    let apart = [[400, 60, 5, 1], [200, 40, 7, 1]];
    let mut all = vec![];
    for gaps in [false, true] {
        let strides = apart.each_ref().map(|s| gaps.then_some(&s[..]));
        let new = |i: usize| {
            Tensor::new(context, &tensors, Element::U8, &dimensions[i], strides[i], false).map_err(text)
        };
        let (mut from, mut to) = (new(0)?, new(1)?);
        let (image, kernel, bias) =
            (bytes(&mut random, 144), bytes(&mut random, 135), bytes(&mut random, 20));
        let steps = |i: usize| {
            if gaps {
                [apart[i][1], apart[i][2]]
            } else {
                [dimensions[i][2] * dimensions[i][3], dimensions[i][3]]
            }
        };
        let place = |i: usize, n: usize| {
            let [_, _, w, c] = dimensions[i].map(|n| n as usize);
            let [row, pixel] = steps(i).map(|n| n as usize);
            n / (w * c) * row + n / c % w * pixel + n % c
        };
        to.bytes_mut().fill(0xEE);
        image.iter().enumerate().for_each(|(n, b)| from.bytes_mut()[place(0, n)] = *b);
        let described =
            |i: usize| Described { element: Element::U8, dimensions: &dimensions[i], strides: strides[i] };
        let of_kernel = Described { element: Element::U8, dimensions: &KERNEL.map(i64::from), strides: None };
        let of_bias = Described { element: Element::U32, dimensions: &[5], strides: None };
        run(
            context,
            &functions,
            &code,
            &[(&from, described(0)), (&to, described(1))],
            &[(7, of_kernel, &kernel), (8, of_bias, &bias)],
        )
        .map_err(text)?;
        let signed = |b: &[u8]| b.iter().map(|b| *b as i8).collect::<Vec<_>>();
        let words: Vec<i32> = bias.as_chunks::<4>().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
        let want = expected(&signed(&image), &signed(&kernel), &words);
        let got: Vec<i8> = (0..60).map(|n| to.bytes()[place(1, n)] as i8).collect();
        if got != want {
            return Err(format!("with gaps {gaps}: {got:?}, not {want:?}"));
        }
        all.extend(to.bytes());
    }
    found(&all)
}

/// A graph that breaks a rule, and modules with each word changed: an error, or a graph that runs.
fn refused(rig: &Rig) -> Found {
    let context = &rig.context;
    let tensors = tensor::Functions::of(context).map_err(text)?;
    let functions = Functions::of(context).map_err(text)?;
    let sum = |other: &[u32]| {
        let mut g = Code::new();
        let (a, b) = (g.input(Element::U32, &[2, 3]), g.input(Element::U32, other));
        let sum = g.operator(ADD, Element::U32, &[2, 3], &[a, b]);
        g.output(sum, Element::U32, &[2, 3]);
        g.spirv()
    };
    let new = |dimensions: &[i64]| {
        Tensor::new(context, &tensors, Element::U32, dimensions, None, false).map_err(text)
    };
    let ran = |code: &[u32], other: &[i64]| -> Result<bool, String> {
        let all = [new(&[2, 3])?, new(other)?, new(&[2, 3])?];
        let described = |dimensions| Described { element: Element::U32, dimensions, strides: None };
        let bound =
            [(&all[0], described(&[2, 3][..])), (&all[1], described(other)), (&all[2], described(&[2, 3]))];
        Ok(run(context, &functions, code, &bound, &[]).is_ok())
    };
    if !ran(&sum(&[1, 3]), &[1, 3])? {
        return Err("a sum of two tensors is refused".into());
    }
    if ran(&sum(&[2, 2]), &[2, 2])? {
        return Err("tensors that cannot be broadcast are added".into());
    }
    if ran(&sum(&[1, 3]), &[3, 1])? {
        return Err("a resource of another shape than the graph's is taken".into());
    }
    let good = sum(&[1, 3]);
    let mut accepted = 0;
    for at in 5..good.len() {
        for change in [0, 1, u32::MAX, good[at] ^ 1, good[at] + 1] {
            let mut code = good.clone();
            code[at] = change;
            accepted += ran(&code, &[1, 3])? as u32;
        }
    }
    found(&accepted.to_le_bytes())
}
