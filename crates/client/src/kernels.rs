//! The benchmark kernels: their SPIR-V, the buffers they want and how their output is compared.
//! Sources and sizes: `benches/kernels/README.md`.

use crate::compute::KernelInfo;
use crate::{Buffer, Context, Kernel, Result};
use random::Random;
use std::rc::Rc;

/// What the words of a kernel's output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Integers that must be equal.
    Exact,
    /// Counts from chaotic arithmetic: a few may differ between correct engines.
    Counts,
    /// Four 8-bit channels a word.
    Rgba8,
    Float,
    /// Floats up to infinity and NaN, from arithmetic in which a rounding grows without bound.
    Wild,
}

/// A kernel and its workload.
#[derive(Clone, Copy)]
pub struct Spec {
    pub name: &'static str,
    pub spirv: &'static [u8],
    /// Bytes of each buffer; the first is the output.
    pub buffers: &'static [usize],
    /// Buffers hold raw pseudo-random words rather than floats in [0, 1).
    pub raw: bool,
    pub groups: [u32; 3],
    pub n: Option<u32>,
    pub output: Output,
}

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../../benches/kernels/", $name, ".spv"))
    };
}

const KI: usize = 1 << 10;
const MI: usize = 1 << 20;

macro_rules! kernel {
    ($name:literal, $buffers:expr, $raw:expr, $groups:expr, $n:expr, $output:expr) => {
        Spec {
            name: $name,
            spirv: spirv!($name),
            buffers: &$buffers,
            raw: $raw,
            groups: $groups,
            n: $n,
            output: $output,
        }
    };
}

/// Every kernel with a workload, in the order of the tables.
#[rustfmt::skip]
pub const KERNELS: [Spec; 10] = [
    kernel!("mandel", [4 * MI], false, [64, 64, 1], None, Output::Counts),
    kernel!("saxpy", [64 * MI, 64 * MI], false, [65536, 1, 1], None, Output::Float),
    kernel!("sgemm", [MI, MI, MI], false, [32, 32, 1], Some(512), Output::Float),
    kernel!("sgemmt", [MI, MI, MI], false, [32, 32, 1], Some(512), Output::Float),
    kernel!("nbody", [64 * KI, 64 * KI], false, [16, 1, 1], Some(4096), Output::Float),
    kernel!("trans", [4 * MI, 4 * MI], false, [4096, 1, 1], None, Output::Float),
    kernel!("lut", [4 * MI, 4 * KI], true, [4096, 1, 1], None, Output::Exact),
    kernel!("march", [MI], false, [32, 32, 1], None, Output::Rgba8),
    kernel!("med", [4 * KI, 4 * KI], false, [256, 1, 1], None, Output::Wild),
    kernel!("large", [4 * KI, 4 * KI], false, [256, 1, 1], None, Output::Float),
];

/// A dispatch of one invocation that does nothing.
pub const EMPTY: Spec = kernel!("empty", [], false, [1, 1, 1], None, Output::Exact);

/// The kernel called `name`.
pub fn find(name: &str) -> Option<&'static Spec> {
    KERNELS.iter().find(|k| k.name == name)
}

/// The picture that `march` draws: side in pixels.
pub const MARCH_SIDE: u32 = 512;

impl Spec {
    pub fn info(&self) -> KernelInfo<'static> {
        KernelInfo {
            spirv: self.spirv,
            bindings: self.buffers.len() as u32,
            push_size: if self.n.is_some() { 4 } else { 0 },
        }
    }

    pub fn push(&self) -> Vec<u8> {
        self.n.map(|n| n.to_le_bytes().to_vec()).unwrap_or_default()
    }

    /// The dispatches: split where a dimension passes the guaranteed limit of 65 535 workgroups.
    pub fn dispatches(&self) -> Vec<([u32; 3], [u32; 3])> {
        let [x, y, z] = self.groups;
        let mut list = Vec::new();
        let mut base = 0;
        while base < x {
            let size = (x - base).min(32768);
            list.push(([base, 0, 0], [size, y, z]));
            base += size;
        }
        list
    }

    /// New buffers, filled from the fixed sequence.
    pub fn make_buffers(&self, context: &Rc<Context>) -> Result<Vec<Buffer>> {
        let mut random = Random::default();
        self.buffers
            .iter()
            .map(|&size| {
                let mut buffer = Buffer::new(context, size)?;
                for w in buffer.words_mut() {
                    *w = if self.raw { random.u32() } else { random.unit().to_bits() };
                }
                Ok(buffer)
            })
            .collect()
    }

    pub fn make_kernel(&self, context: &Rc<Context>) -> Result<Kernel> {
        Kernel::new(context, &self.info())
    }
}

/// How two outputs of one kernel differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Largest difference: relative for floats (against max(|a|, |b|, 1)), absolute for integers and channels.
    pub largest: f64,
    /// Share of words whose difference is more than the tolerance.
    pub share: f64,
    /// Words that are NaN on one side only.
    pub nan_mismatch: usize,
    pub equal: bool,
}

impl Output {
    /// Compares two outputs of one size. Words beyond the tolerance are allowed up to a few in a hundred for
    /// chaotic kernels, never for exact ones.
    pub fn compare(self, a: &[u32], b: &[u32]) -> Difference {
        assert_eq!(a.len(), b.len(), "outputs of one kernel have one size");
        let mut d = Difference { largest: 0.0, share: 0.0, nan_mismatch: 0, equal: true };
        let mut beyond = 0usize;
        for (&a, &b) in a.iter().zip(b) {
            let (difference, tolerance) = match self {
                Output::Exact => (f64::from(a.abs_diff(b)), 0.0),
                Output::Counts => (f64::from(a.abs_diff(b)), 0.0),
                Output::Rgba8 => {
                    let channels = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
                    (f64::from(channels.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)), 2.0)
                }
                Output::Float | Output::Wild => {
                    let (a, b) = (f64::from(f32::from_bits(a)), f64::from(f32::from_bits(b)));
                    if a.is_nan() || b.is_nan() {
                        d.nan_mismatch += usize::from(a.is_nan() != b.is_nan());
                        continue;
                    }
                    let scale = a.abs().max(b.abs()).max(1.0);
                    let apart = if scale.is_finite() { (a - b).abs() / scale } else { f64::INFINITY };
                    (if a == b { 0.0 } else { apart }, 1e-3)
                }
            };
            d.largest = d.largest.max(difference);
            beyond += usize::from(difference > tolerance);
        }
        d.share = beyond as f64 / a.len().max(1) as f64;
        if self == Output::Wild {
            d.share += d.nan_mismatch as f64 / a.len().max(1) as f64;
            d.nan_mismatch = 0;
        }
        let allowed = match self {
            Output::Exact | Output::Float => 0.0,
            // What fused operations change, and nothing else does: with NoContraction on every addition and
            // multiplication, Tuff, lavapipe and SwiftShader agree on every count of mandel and (within 1) on every
            // pixel of march (conformance's `mandel_precise` and `march_precise`). Fused: 0.17 % and 1.8 %.
            Output::Counts => 0.0025,
            Output::Rgba8 => 0.02,
            // The precision of sin, exp and pow, blown up: lavapipe and SwiftShader, which fuse nothing, differ from
            // one another in 3.6 % of med's words; Tuff from either in 3.8 % at most, with fusion or without.
            Output::Wild => 0.04,
        };
        d.equal = d.share <= allowed && d.nan_mismatch == 0;
        d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_dispatches_are_split_and_cover_all() {
        let k = find("saxpy").unwrap();
        let d = k.dispatches();
        assert_eq!(d, [([0; 3], [32768, 1, 1]), ([32768, 0, 0], [32768, 1, 1])]);
        assert_eq!(find("march").unwrap().dispatches(), [([0; 3], [32, 32, 1])]);
    }

    #[test]
    fn the_sequence_is_fixed_and_in_range() {
        let mut a = Random::default();
        let mut b = Random::default();
        for _ in 0..1000 {
            let x = a.unit();
            assert!((0.0..1.0).contains(&x));
            assert_eq!(x, b.unit());
        }
    }

    #[test]
    fn comparisons_see_differences() {
        let f = |x: f32| x.to_bits();
        assert!(Output::Float.compare(&[f(1.0)], &[f(1.0001)]).equal);
        assert!(!Output::Float.compare(&[f(1.0)], &[f(1.1)]).equal);
        assert!(!Output::Float.compare(&[f(f32::NAN)], &[f(1.0)]).equal);
        assert!(Output::Float.compare(&[f(f32::NAN)], &[f(f32::NAN)]).equal);
        assert!(!Output::Float.compare(&[f(f32::INFINITY)], &[f(1.0)]).equal);
        assert!(!Output::Wild.compare(&[f(f32::NAN)], &[f(1.0)]).equal);
        let many = |first: f32| [&[f(first)][..], &[f(1e30); 99]].concat();
        assert!(Output::Wild.compare(&many(f32::NAN), &many(1.0)).equal);
        assert!(!Output::Exact.compare(&[1], &[2]).equal);
        assert!(Output::Rgba8.compare(&[0x0102_0304], &[0x0203_0405]).equal);
        assert!(!Output::Rgba8.compare(&[0x0102_0304], &[0x4102_0304]).equal);
        assert!(!Output::Counts.compare(&[1, 2], &[1, 3]).equal);
    }
}
