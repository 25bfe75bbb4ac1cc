//! The kernels of each kind of texels, for each machine.

use super::super::args::{SampleArgs, Warp4};
use super::super::sampler::Sampler;
use super::super::view::ImageView;
use super::Fast;
use super::any::Any;
use super::texels::{Bytes, Depth24, Float, Half, Texels, Unorm16};
use super::touch::{self, Reads};
use super::warp::body;
use super::waves::warps;
use crate::format::plan::Plan;
use crate::format::{FormatInfo, TexelKind};
use simd::Level as Machine;
use simd::rows::ImageRows;

pub(super) type Run = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Warp4);
pub(super) type RunWave = unsafe fn(&Fast, &ImageView, &Sampler, bool, &ImageRows);
pub(super) type Count = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16) -> u32;

pub(super) type Read = unsafe fn(&Fast, &ImageView, &Sampler, &SampleArgs, u16, &mut Reads);
pub(super) type Missing = unsafe fn(&Reads, *const u8) -> u16;
/// Lines of the columns and rows of the 2×2 texels of each lane, where they are few.
pub(super) type Near = unsafe fn(&Fast, &[[[u32; 16]; 2]; 2], u16) -> Option<u32>;

/// The kernels of a format for a machine: one warp, and a wave of them; one that counts the lines that a warp touches, one
/// that says which texels it reads, and one that says which lanes' texels have no memory.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    pub(super) warp: Run,
    pub(super) wave: RunWave,
    pub(super) lines: Count,
    pub(super) near: Near,
    pub(super) reads: Read,
    pub(super) missing: Missing,
}

/// Which texels kernels are for: those of one kind, or of any format by its plan.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Family {
    Own(TexelKind),
    /// Texels are words, or what blocks are decoded to is such.
    Any {
        words: bool,
    },
}

impl Family {
    pub(super) fn of(format: &FormatInfo) -> Option<Family> {
        use TexelKind as K;
        match format.kind {
            K::R8Unorm
            | K::Rg8Unorm
            | K::Rgba8Unorm
            | K::Bgra8Unorm
            | K::R16Unorm
            | K::D24
            | K::Rgba16Sfloat
            | K::R32Sfloat
            | K::Rgba32Sfloat => Some(Family::Own(format.kind)),
            _ => Family::any(format),
        }
    }

    pub(super) fn any(format: &FormatInfo) -> Option<Family> {
        let bytes = match format.kind {
            TexelKind::Block(_) => crate::format::block::packing(format)?.bytes(),
            _ => Plan::of(format)?.bytes,
        };
        Some(Family::Any { words: bytes == 4 })
    }
}

/// The kernels of texels for a machine, if it has any.
pub(super) fn pick(family: Family, machine: Machine) -> Option<Runs> {
    use TexelKind as K;
    let kind = match family {
        Family::Own(kind) => kind,
        Family::Any { words } => {
            // Warps of their own go one way, whatever a texel's size.
            let wave = if words { wave::<Any<true>>(machine)? } else { wave::<Any<false>>(machine)? };
            return form::<Any<false>>(machine, wave);
        }
    };
    match kind {
        K::R8Unorm => whole::<Bytes<1>>(machine),
        K::Rg8Unorm => whole::<Bytes<2>>(machine),
        K::Rgba8Unorm | K::Bgra8Unorm => whole::<Bytes<4>>(machine),
        K::R16Unorm => form::<Unorm16>(machine, narrow::<Unorm16>(machine)?),
        K::D24 => form::<Depth24>(machine, narrow::<Depth24>(machine)?),
        K::Rgba16Sfloat => whole::<Half<4>>(machine),
        K::R32Sfloat => whole::<Float<1>>(machine),
        K::Rgba32Sfloat => whole::<Float<4>>(machine),
        _ => None,
    }
}

/// An x86-64 CPU without AVX2 is rare, and the path lane by lane gives the same bits: a third of all kernels' code.
pub(in crate::sample) const PORTABLE: bool = Machine::COUNT == 1;

/// The kernel for waves.
pub(super) fn wave<T: Texels>(machine: Machine) -> Option<RunWave> {
    simd::form!(
        machine,
        <T: Texels> unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, w: &ImageRows)
            = warps::<_, T>;
        portable if PORTABLE
    )
}

/// The same without a widest form, of formats that few textures have.
fn narrow<T: Texels>(machine: Machine) -> Option<RunWave> {
    simd::form!(
        machine,
        <T: Texels> unsafe fn(f: &Fast, view: &ImageView, sampler: &Sampler, arrayed: bool, w: &ImageRows)
            = warps::<_, T>;
        cold, portable if PORTABLE
    )
}

/// All kernels of texels whose waves have a widest form.
fn whole<T: Texels>(machine: Machine) -> Option<Runs> {
    form::<T>(machine, wave::<T>(machine)?)
}

/// The kernels of texels for a machine, if it has any. Those of single warps, those that count all lines, and those that say which
/// texels are read have no widest form: few warps come alone or are counted so, and all these forms would be a fiftieth of the library.
pub(super) fn form<T: Texels>(machine: Machine, wave: RunWave) -> Option<Runs> {
    Some(Runs {
        warp: simd::form!(
            machine,
            <T: Texels> unsafe fn(
                f: &Fast,
                view: &ImageView,
                sampler: &Sampler,
                args: &SampleArgs,
                mask: u16,
                out: &mut Warp4,
            ) = body::<_, T>;
            cold, portable if PORTABLE
        )?,
        wave,
        lines: simd::form!(
            machine,
            fn(f: &Fast, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> u32 = touch::lines;
            cold, portable if PORTABLE
        )?,
        near: simd::form!(
            machine,
            fn(f: &Fast, i: &[[[u32; 16]; 2]; 2], mask: u16) -> Option<u32> = touch::near_stored;
            portable if PORTABLE
        )?,
        reads: simd::form!(
            machine,
            fn(
                f: &Fast,
                view: &ImageView,
                sampler: &Sampler,
                args: &SampleArgs,
                mask: u16,
                out: &mut Reads,
            ) = touch::read;
            cold, portable if PORTABLE
        )?,
        missing: simd::form!(
            machine,
            fn(reads: &Reads, base: *const u8) -> u16 = touch::missing;
            portable if PORTABLE
        )?,
    })
}

#[cfg(test)]
impl Fast {
    /// The same kernels for another machine, if it has them.
    pub(in crate::sample) fn on(&self, machine: Machine) -> Option<Box<Fast>> {
        let (runs, any) = (pick(self.family, machine)?, super::any::Functions::of(machine)?);
        Some(Box::new(Fast { runs, any, ..self.clone() }))
    }
}
