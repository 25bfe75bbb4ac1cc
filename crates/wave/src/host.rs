//! What a wave asks of the machine around it.

use crate::made::Meaning;
use crate::note::NoteWave;
use crate::probe::{ImageProbe, ProbeWave};
use crate::rays::{RayWave, TraceWave};
use crate::state::Fault;
use shader::bytecode::ImageCode;
use simd::rows::ImageRows;
use std::time::Duration;

/// One table of descriptors (a bound set, or the dynamic buffers). `ptr` null: nothing bound.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Table {
    pub ptr: *const u8,
    /// Bytes.
    pub size: u64,
}

// SAFETY: an address and a size; who may read the bytes when is the dispatch's matter.
unsafe impl Send for Table {}
unsafe impl Sync for Table {}

impl Table {
    pub const NONE: Table = Table { ptr: std::ptr::null(), size: 0 };
}

/// Operands and results of an image operation for one warp of 16 lanes, raw bits, lane-indexed.
/// Only the entries that the op has are filled; the rest is stale.
#[repr(C, align(64))]
pub struct ImageWarp {
    pub coords: [[u32; 16]; 4],
    pub dref: [u32; 16],
    pub lod: [u32; 16],
    pub bias: [u32; 16],
    /// d/dx in 0..3, d/dy in 3..6.
    pub grad: [[u32; 16]; 6],
    pub offsets: [[u32; 16]; 8],
    pub sample: [u32; 16],
    pub min_lod: [u32; 16],
    /// Texel to write, or the atomic's value and comparator: low words, then high words for 64-bit types.
    pub data: [[u32; 16]; 4],
    pub data_hi: [[u32; 16]; 4],
    pub out: [[u32; 16]; 4],
    pub out_hi: [[u32; 16]; 4],
    /// Residency codes, of an operation that has one: 0 where all texels that it touched have memory.
    pub residency: [u32; 16],
    /// Active lanes (never 0). Results of other lanes stay as they are, but implicit derivatives read all lanes of a quad.
    pub mask: u16,
    /// Words 2 and 3 of the image descriptor and word 3 of the sampler's descriptor (0: null descriptor).
    pub view: u64,
    pub sampler: u64,
}

/// A view and a sampler of each lane, as in [`ImageWarp`]; those of inactive lanes are anything.
pub struct Own {
    pub views: [u64; 16],
    pub samplers: [u64; 16],
}

/// Lanes with the same view and sampler.
#[derive(Clone, Copy)]
pub struct Group {
    pub view: u64,
    pub sampler: u64,
    pub mask: u16,
}

impl Own {
    /// The groups of the lanes of `left`, by their first lanes.
    #[inline(always)]
    pub fn groups(&self, mut left: u16) -> impl Iterator<Item = Group> {
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let first = left.trailing_zeros() as usize;
            let (view, sampler) = (self.views[first], self.samplers[first]);
            let mut mask = 0;
            for l in 0..16 {
                mask |= ((self.views[l] == view && self.samplers[l] == sampler) as u16) << l;
            }
            mask &= left;
            left &= !mask;
            Some(Group { view, sampler, mask })
        })
    }
}

/// An operation of all warps of a wave on one image, with one sampler: a sample by coordinates and level, a read, a write
/// or an atomic of 32 bits.
pub struct ImageWave<'a> {
    /// As in [`ImageWarp`].
    pub view: u64,
    pub sampler: u64,
    pub rows: ImageRows<'a>,
    /// Where the first warp's residency codes go, as results do; null if the operation has none.
    pub residency: *mut u8,
}

/// How texels are filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Filter {
    #[default]
    Nearest,
    Bilinear,
    Trilinear,
    Volume,
    Aniso,
}

/// What one sample of a lane costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Filtering {
    pub filter: Filter,
    /// Bilinear operations, of each tap; 0 for what the texture unit has no part in.
    pub operations: u32,
    /// Taps along axes of anisotropy beyond one a lane, of all lanes together.
    pub taps: u32,
    /// Of the operations of a tap, those that texels of 32 bits would take.
    pub footprints: u32,
    /// Beats of a message.
    pub beats: u32,
    /// The image is block-compressed.
    pub complex: bool,
    /// The answer has 16 bits a component: two of them are a beat.
    pub half: bool,
}

/// A host whose lifetime nobody tracks, for a wave's state.
#[derive(Clone, Copy)]
pub struct HostRef(*const dyn Host);

impl HostRef {
    /// # Safety
    /// The host lives as long as this is used.
    pub unsafe fn new(host: &dyn Host) -> HostRef {
        // SAFETY: lifetimes are all that differs.
        HostRef(unsafe { std::mem::transmute::<*const (dyn Host + '_), *const dyn Host>(host) })
    }
}

impl std::ops::Deref for HostRef {
    type Target = dyn Host + 'static;
    #[inline(always)]
    fn deref(&self) -> &(dyn Host + 'static) {
        // SAFETY: it lives, as who made this keeps.
        unsafe { &*self.0 }
    }
}

/// The machine around a wave.
pub trait Host: Sync {
    /// Runs one image operation for one warp; `warp.view` and `warp.sampler` are the same for its lanes.
    ///
    /// # Safety
    /// `warp.view` and `warp.sampler` are null or what the descriptor's writer put there.
    unsafe fn image(&self, code: &ImageCode, warp: &mut ImageWarp);

    /// Runs one image operation for a warp whose lanes name views and samplers of their own, in place of the warp's;
    /// `each` hears what the texture unit does ([`Self::texture`]) for the lanes of one view and sampler.
    ///
    /// # Safety
    /// As [`Self::image`], of the active lanes' views and samplers.
    unsafe fn image_each(
        &self,
        code: &ImageCode,
        warp: &mut ImageWarp,
        own: &Own,
        each: &mut dyn FnMut(Filtering, u16),
    ) {
        for group in own.groups(warp.mask) {
            (warp.view, warp.sampler, warp.mask) = (group.view, group.sampler, group.mask);
            // SAFETY: the caller's.
            each(unsafe { self.texture(code, group.view, group.sampler) }, group.mask);
            // SAFETY: the caller's.
            unsafe { self.image(code, warp) };
        }
    }

    /// Runs one image operation for all warps at once, if it has a way to; false: nothing was done.
    ///
    /// # Safety
    /// As [`Self::image`]; rows and results are those of a wave.
    unsafe fn image_wave(&self, _code: &ImageCode, _wave: &ImageWave) -> bool {
        false
    }

    /// What the modelled texture unit does for one lane of an operation on these descriptors.
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn texture(&self, _code: &ImageCode, _view: u64, _sampler: u64) -> Filtering {
        Filtering::default()
    }

    /// [`Filtering::taps`] of the lanes in `warp.mask`, of an operation with [`Filter::Aniso`].
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn taps(&self, _code: &ImageCode, _warp: &ImageWarp) -> u32 {
        0
    }

    /// [`Self::taps`] of each warp of a wave, of a sample by coordinates alone; false if the host has no way to.
    ///
    /// # Safety
    /// As [`Self::image_wave`].
    unsafe fn taps_wave(&self, _code: &ImageCode, _wave: &ImageWave, _taps: &mut [u32; 32]) -> bool {
        false
    }

    /// Adds the cache lines (address / 64) of the texels that an operation of the lanes in `warp.mask` touches, those
    /// of a texel for each time it is touched.
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn texel_lines(&self, _code: &ImageCode, _warp: &ImageWarp, _lines: &mut Vec<u64>) {}

    /// The memory of the image that an operation of the warp reads: where it begins, and its bytes.
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn texel_memory(&self, _code: &ImageCode, _warp: &ImageWarp) -> (u64, u64) {
        (0, 0)
    }

    /// How many different ones [`Self::texel_lines`] gives.
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn texel_line_count(&self, _code: &ImageCode, _warp: &ImageWarp) -> u64 {
        0
    }

    /// Hears what a sanitised shader tells ([`shader::ir::ProbeOp`]), before the lanes do it.
    fn probe(&self, _wave: &ProbeWave) {}

    /// Hears what a debugged shader tells ([`shader::notes`]).
    fn note(&self, _wave: &NoteWave) {}

    /// Hears what lanes of a sanitised shader are about to do to texels ([`shader::ir::ImageOp::Check`]), and says in the first result where
    /// these are undefined.
    ///
    /// # Safety
    /// As [`Self::image`].
    unsafe fn image_probe(&self, _code: &ImageCode, warp: &mut ImageWarp, _probe: &ImageProbe) {
        warp.out[0] = [0; 16];
    }

    /// Runs one op of ray queries for all active lanes of a wave.
    fn rays(&self, _wave: &mut RayWave) {}

    /// Does what a wave of a ray tracing pipeline asks for: other shaders run before this returns.
    ///
    /// # Errors
    /// The fault of one of these, which ends the wave too.
    fn trace(&self, _wave: &mut TraceWave) -> Result<(), Fault> {
        Ok(())
    }

    /// What a descriptor in memory that the application writes means: any bytes may come. `texels`: the shader takes
    /// it for a texel buffer's, else for any other.
    fn descriptor(&self, _raw: &[u64; 4], _texels: bool) -> Meaning {
        Meaning::default()
    }

    /// True when `addr .. addr + bytes` lies in live memory of the device outside its [arena](crate::Arena): imported host memory, sparse
    /// buffers, addresses that it was given after the arena was asked for.
    fn foreign(&self, addr: u64, bytes: u64) -> bool {
        self.foreign_from(addr).is_some_and(|live| bytes <= live)
    }

    /// Bytes from `addr` to the end of such memory, if it lies there.
    fn foreign_from(&self, addr: u64) -> Option<u64>;

    /// False in a hole of a sparse resource, where loads find zeros and nothing may be stored.
    fn resident(&self, _addr: u64) -> bool {
        true
    }

    /// Device clock at which the workload begins (ns ticks).
    fn clock(&self) -> u64;

    /// Ticks that a warp takes for instructions of arithmetic, of load and store, and of the texture unit.
    fn ticks(&self, passed: [u64; 3]) -> u64 {
        passed.iter().sum()
    }

    /// True when the device is lost, or is about to be: the wave stops. Asked every some thousand loop iterations.
    fn expired(&self) -> bool;

    /// Host time that a wave may take, with those that it meets at barriers, from the first time that it asks [`Self::expired`].
    fn wave_time(&self) -> Duration {
        Duration::MAX
    }
}
