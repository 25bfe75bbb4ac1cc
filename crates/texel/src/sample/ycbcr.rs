//! Views that are seen through a sampler's Y′CbCr conversion: one warp at a time, each tap of each plane gathered for all lanes by the format's
//! kernel, the rest in plain loops that are compiled once, so that the bits are the same everywhere.
//!
//! Reconstruction of chroma is implicit: where blue and red have fewer texels, they are filtered at their own places ("Implicit Reconstruction"),
//! by the conversion's filter; everything else is filtered as the sampler says. Then come the conversion's swizzle, range expansion and matrix.
//!
//! Source: Vulkan specification, "Chroma Reconstruction", "Sampler Y′CBCR Conversion", "Sampler Y′CBCR Range Expansion", "Sampler Y′CBCR Model
//! Conversion".

use super::args::{SampleArgs, Warp4, lanes};
use super::blend::mix;
use super::coords::{floor, layer, limit, wrap};
use super::lines::Touched;
use super::lod;
use super::sampler::{Sampler, Wrap};
use super::texel::TexelData;
use super::view::{ImageView, Level, outside};
use crate::format::kernels::GatherFn;
use crate::format::{FormatInfo, Packed422, Planar, packed422, planar};
use ash::vk;
use vk::SamplerYcbcrModelConversion as Model;

/// Where a channel of the colour comes from: a channel of the texel, or these.
const ZERO: u8 = 4;
const ONE: u8 = 5;

/// What a VkSamplerYcbcrConversion says.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Conversion {
    pub format: vk::Format,
    pub model: Model,
    pub narrow: bool,
    swizzle: [u8; 4],
    /// Blue and red lie on every second texel of luma, along x and y; else between two.
    cosited: [bool; 2],
    /// Blue and red are filtered.
    linear: bool,
}

impl Conversion {
    pub fn new(info: &vk::SamplerYcbcrConversionCreateInfo) -> Conversion {
        let pick = |c: vk::ComponentSwizzle, own: u8| match c {
            vk::ComponentSwizzle::ZERO => ZERO,
            vk::ComponentSwizzle::ONE => ONE,
            vk::ComponentSwizzle::R => 0,
            vk::ComponentSwizzle::G => 1,
            vk::ComponentSwizzle::B => 2,
            vk::ComponentSwizzle::A => 3,
            _ => own,
        };
        let c = info.components;
        let even = |l: vk::ChromaLocation| l == vk::ChromaLocation::COSITED_EVEN;
        Conversion {
            format: info.format,
            model: info.ycbcr_model,
            narrow: info.ycbcr_range == vk::SamplerYcbcrRange::ITU_NARROW,
            swizzle: [pick(c.r, 0), pick(c.g, 1), pick(c.b, 2), pick(c.a, 3)],
            cosited: [even(info.x_chroma_offset), even(info.y_chroma_offset)],
            linear: info.chroma_filter != vk::Filter::NEAREST,
        }
    }

    /// None: texels as they are, of the nearest places.
    pub fn none(format: vk::Format) -> Conversion {
        Conversion::new(&vk::SamplerYcbcrConversionCreateInfo::default().format(format))
    }
}

/// How channels lie in an image.
#[derive(Clone, Copy)]
enum Split {
    /// All in one texel.
    Whole,
    Planes(&'static Planar),
    Pairs(&'static Packed422),
}

/// One plane, as its format sees it.
pub(super) struct PlaneTexels {
    pub format: &'static FormatInfo,
    pub gather: GatherFn,
    pub levels: Vec<Level>,
}

/// A conversion made ready for a view.
pub struct Ycbcr {
    planes: Vec<PlaneTexels>,
    split: Split,
    conversion: Conversion,
    /// Range expansion of red, green and blue: factor and summand.
    expand: [[f32; 2]; 3],
    /// Red, green and blue of (Cr, Y′, Cb).
    matrix: [[f32; 3]; 3],
}

/// Factor and summand of range expansion for components of `n` bits: (luma, chroma).
fn expansion(narrow: bool, n: u8) -> ([f32; 2], [f32; 2]) {
    let most = (1u64 << n) as f64 - 1.0;
    let unit = (n as f64 - 8.0).exp2();
    let pair = |scale: f64, offset: f64| [scale as f32, offset as f32];
    if narrow {
        (pair(most / (219.0 * unit), -16.0 / 219.0), pair(most / (224.0 * unit), -128.0 / 224.0))
    } else {
        (pair(1.0, 0.0), pair(1.0, -((n as f64 - 1.0).exp2()) / most))
    }
}

/// The matrix of a standard with the weights `kr` and `kb` of red and blue in luma.
fn matrix(kr: f64, kb: f64) -> [[f32; 3]; 3] {
    let kg = 1.0 - kr - kb;
    let (r, b) = (2.0 * (1.0 - kr), 2.0 * (1.0 - kb));
    [[r, 1.0, 0.0], [-r * kr / kg, 1.0, -b * kb / kg], [0.0, 1.0, b]].map(|row| row.map(|v| v as f32))
}

const IDENTITY: [[f32; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Texel coordinates of a warp on one level: the first of two along x and y, and the weight of the second.
struct Taps {
    first: [[i32; 16]; 2],
    weight: [[f32; 16]; 2],
    /// Some lane has a second one.
    two: bool,
}

impl Taps {
    /// `linear`: lanes that are filtered.
    fn new(uv: &[[f32; 16]; 2], linear: u16) -> Taps {
        let mut t = Taps { first: [[0; 16]; 2], weight: [[0.0; 16]; 2], two: linear != 0 };
        for k in 0..2 {
            for lane in 0..16 {
                let u = uv[k][lane];
                if linear >> lane & 1 == 0 {
                    t.first[k][lane] = floor(u);
                    continue;
                }
                let base = (u - 0.5).floor();
                let w = u - 0.5 - base;
                // Just below a texel's centre a weight rounds to 1.
                let up = w == 1.0;
                t.first[k][lane] = base as i32 + up as i32;
                t.weight[k][lane] = if up { 0.0 } else { w };
            }
        }
        t
    }
}

/// Where the lanes of a warp are: levels and layers.
struct At<'a> {
    level: [usize; 16],
    layer: [u32; 16],
    wrap: &'a [Wrap; 3],
}

impl Ycbcr {
    /// `planes`: of the view's format, which is that of its image if it has several, or pairs.
    pub(super) fn new(
        format: &'static FormatInfo,
        planes: Vec<PlaneTexels>,
        conversion: &Conversion,
    ) -> Ycbcr {
        let split = match (planar(format.format), packed422(format.format)) {
            (Some(p), _) => Split::Planes(p),
            (_, Some(p)) => Split::Pairs(p),
            _ => Split::Whole,
        };
        // Formats of several planes have as many bits in all.
        let bits = |name: u8| {
            let own = format.components().iter().find(|c| c.name == name);
            own.or(format.components().first()).map_or(8, |c| c.bits)
        };
        let (luma, chroma) = (0, 1);
        let expanded = |name: u8, kind: usize| {
            let (l, c) = expansion(conversion.narrow, bits(name));
            if kind == luma { l } else { c }
        };
        let mut expand = [expanded(b'r', chroma), expanded(b'g', luma), expanded(b'b', chroma)];
        let matrix = match conversion.model {
            Model::YCBCR_709 => matrix(0.2126, 0.0722),
            Model::YCBCR_601 => matrix(0.299, 0.114),
            Model::YCBCR_2020 => matrix(0.2627, 0.0593),
            _ => IDENTITY,
        };
        if conversion.model == Model::RGB_IDENTITY {
            expand = [[1.0, 0.0]; 3];
        }
        Ycbcr { planes, split, conversion: conversion.clone(), expand, matrix }
    }

    /// Operations of the texture unit for one tap, as the model has it: one a plane.
    pub fn operations(&self) -> u32 {
        self.planes.len() as u32
    }

    /// log2 of luma's texels for one of chroma's.
    fn shift(&self) -> [u32; 2] {
        match self.split {
            Split::Whole => [0; 2],
            Split::Planes(p) => p.shift,
            Split::Pairs(_) => [1, 0],
        }
    }

    /// Gathers one texel a lane; `at`: coordinates in the plane's texels, `half`: in pairs that begin with an even one, and which of them.
    fn texel(
        &self,
        plane: usize,
        at: &At,
        xy: [&[i32; 16]; 2],
        half: Option<u32>,
        read: &mut impl FnMut(&PlaneTexels, &[u64; 16]) -> Warp4,
    ) -> [[f32; 16]; 4] {
        let p = &self.planes[plane];
        let base = p.levels[0].base as u64;
        let mut places = [0u64; 16];
        for lane in 0..16 {
            let l = &p.levels[at.level[lane].min(p.levels.len() - 1)];
            let inside = |k: usize, n: u32| {
                let mode = if at.wrap[k] == Wrap::Border { Wrap::Edge } else { at.wrap[k] };
                wrap(mode, xy[k][lane], n).unwrap_or(0)
            };
            let x = match half {
                None => inside(0, l.size[0]),
                Some(second) => 2 * inside(0, l.size[0] / 2) + second,
            };
            let y = inside(1, l.size[1]);
            places[lane] = (l.base as u64 - base)
                + x as u64 * p.format.block_bytes as u64
                + y as u64 * l.row_pitch
                + l.split.offset(x, y)
                + at.layer[lane] as u64 * l.layer_pitch;
        }
        read(p, &places).map(|c| c.map(f32::from_bits))
    }

    /// The same, filtered.
    fn filtered(
        &self,
        plane: usize,
        at: &At,
        t: &Taps,
        half: Option<u32>,
        read: &mut impl FnMut(&PlaneTexels, &[u64; 16]) -> Warp4,
    ) -> [[f32; 16]; 4] {
        let [x, y] = &t.first;
        let mut out = self.texel(plane, at, [x, y], half, read);
        if !t.two {
            return out;
        }
        let (x1, y1) = (x.map(|x| x.saturating_add(1)), y.map(|y| y.saturating_add(1)));
        let right = self.texel(plane, at, [&x1, y], half, read);
        let below = self.texel(plane, at, [x, &y1], half, read);
        let beyond = self.texel(plane, at, [&x1, &y1], half, read);
        for k in 0..4 {
            for lane in 0..16 {
                let [a, b] = [t.weight[0][lane], t.weight[1][lane]];
                let top = mix(out[k][lane], right[k][lane], a);
                out[k][lane] = mix(top, mix(below[k][lane], beyond[k][lane], a), b);
            }
        }
        out
    }

    /// Red, green, blue and alpha on one level; `uv`: places in luma's texels, `linear`: lanes whose luma is filtered.
    fn level(
        &self,
        at: &At,
        uv: &[[f32; 16]; 2],
        linear: u16,
        read: &mut impl FnMut(&PlaneTexels, &[u64; 16]) -> Warp4,
    ) -> [[f32; 16]; 4] {
        let luma = Taps::new(uv, linear);
        let one = [1.0; 16];
        let first = self.filtered(0, at, &luma, None, read);
        if let Split::Whole = self.split {
            return first;
        }
        let shift = self.shift();
        let own;
        let chroma = if shift == [0; 2] {
            &luma
        } else {
            let mut at = *uv;
            for k in 0..2 {
                for lane in 0..16 {
                    let even = if self.conversion.cosited[k] { 0.5 } else { 0.0 };
                    at[k][lane] = if shift[k] > 0 { (uv[k][lane] + even) * 0.5 } else { uv[k][lane] };
                }
            }
            own = Taps::new(&at, if self.conversion.linear { 0xffff } else { 0 });
            &own
        };
        match self.split {
            Split::Pairs(p) => {
                let other = 1 - p.luma;
                let blue = self.filtered(0, at, chroma, Some(0), read)[other];
                let red = self.filtered(0, at, chroma, Some(1), read)[other];
                [red, first[p.luma], blue, one]
            }
            _ if self.planes.len() == 2 => {
                let [blue, red, ..] = self.filtered(1, at, chroma, None, read);
                [red, first[0], blue, one]
            }
            _ => {
                let blue = self.filtered(1, at, chroma, None, read)[0];
                let red = self.filtered(2, at, chroma, None, read)[0];
                [red, first[0], blue, one]
            }
        }
    }

    /// Swizzle, range expansion and matrix.
    fn convert(&self, texel: &[[f32; 16]; 4]) -> [[f32; 16]; 4] {
        let c = &self.conversion;
        let mut out: [[f32; 16]; 4] = std::array::from_fn(|k| match c.swizzle[k] {
            ZERO => [0.0; 16],
            ONE => [1.0; 16],
            s => texel[s as usize],
        });
        if c.model == Model::RGB_IDENTITY {
            return out;
        }
        for k in 0..3 {
            let [scale, offset] = self.expand[k];
            out[k] = out[k].map(|v| v * scale + offset);
        }
        if self.matrix != IDENTITY {
            let [cr, y, cb] = [out[0], out[1], out[2]];
            for k in 0..3 {
                let [a, _, b] = self.matrix[k];
                for lane in 0..16 {
                    out[k][lane] = y[lane] + a * cr[lane] + b * cb[lane];
                }
            }
        }
        out
    }

    /// The texels that a sample reads, filtered, level by level.
    fn filter(
        &self,
        view: &ImageView,
        sampler: &Sampler,
        args: &SampleArgs,
        read: &mut impl FnMut(&PlaneTexels, &[u64; 16]) -> Warp4,
    ) -> [[f32; 16]; 4] {
        let c = |k: usize, lane: usize| args.coords.get(k).map_or(0.0, |c| f32::from_bits(c[lane]));
        let lods = lod::lods(view, sampler, args);
        let (mut fine, mut coarse, mut weight) = ([0; 16], [0; 16], [0.0; 16]);
        let (mut linear, mut second) = (0u16, false);
        for lane in 0..16 {
            let lambda = lods.lambda[lane];
            let filters = if lambda <= 0.0 { sampler.mag_linear } else { sampler.min_linear };
            linear |= (filters as u16) << lane;
            (fine[lane], coarse[lane], weight[lane]) = lod::levels(view, sampler, lambda);
            second |= weight[lane] != 0.0 && fine[lane] != coarse[lane];
        }
        let a = if args.arrayed { args.dims } else { usize::MAX };
        let layers =
            std::array::from_fn(|lane| layer(if args.arrayed { c(a, lane) } else { 0.0 }, view.layers));
        let mut on = |levels: [usize; 16]| {
            let uv = std::array::from_fn(|k| {
                std::array::from_fn(|lane| {
                    let s = if k < args.dims { c(k, lane) } else { 0.5 };
                    let size =
                        if sampler.unnormalized { 1.0 } else { view.levels[levels[lane]].size[k] as f32 };
                    let offset = args.offsets.filter(|o| o.len() <= 4).and_then(|o| o.get(k));
                    limit(s * size + offset.map_or(0, |o| o[lane] as i32) as f32)
                })
            });
            self.level(&At { level: levels, layer: layers, wrap: &sampler.wrap }, &uv, linear, read)
        };
        let mut out = on(fine);
        if second {
            let next = on(coarse);
            for k in 0..4 {
                for lane in 0..16 {
                    out[k][lane] = mix(out[k][lane], next[k][lane], weight[lane]);
                }
            }
        }
        out
    }

    /// Samples a view that has levels for the lanes of `mask`.
    pub(super) fn sample(
        &self,
        view: &ImageView,
        sampler: &Sampler,
        args: &SampleArgs,
        mask: u16,
        out: &mut Warp4,
    ) {
        let texel = self.filter(view, sampler, args, &mut gather);
        put(&self.convert(&texel), mask, out);
    }

    /// Texels by integer coordinates, converted; what does not exist is as [`outside`] says.
    pub(super) fn fetch(
        &self,
        view: &ImageView,
        coords: &[[u32; 16]],
        lod: Option<&[u32; 16]>,
        mask: u16,
        out: &mut TexelData,
    ) {
        let c = |k: usize, lane: usize| coords.get(k).map_or(0, |c| c[lane]);
        let mut at = At { level: [0; 16], layer: [0; 16], wrap: &[Wrap::Edge; 3] };
        let (mut uv, mut there) = ([[0.5; 16]; 2], 0);
        for lane in lanes(mask) {
            let (level, a) = (lod.map_or(0, |l| l[lane]) as usize, if view.arrayed { c(2, lane) } else { 0 });
            let Some(l) = view.levels.get(level) else { continue };
            if c(0, lane) < l.size[0] && c(1, lane) < l.size[1] && a < view.layers {
                (at.level[lane], at.layer[lane]) = (level, a);
                (0..2).for_each(|k| uv[k][lane] = c(k, lane) as f32 + 0.5);
                there |= 1 << lane;
            }
        }
        if there != 0 {
            let texel = self.level(&at, &uv, 0, &mut gather);
            put(&self.convert(&texel), there, out.lo);
        }
        let none = outside(view.format);
        for lane in lanes(mask & !there) {
            (0..4).for_each(|k| out.lo[k][lane] = none[k]);
        }
    }

    /// Bytes of each plane that a sample reads.
    pub(super) fn touch(
        &self,
        view: &ImageView,
        sampler: &Sampler,
        args: &SampleArgs,
        mask: u16,
        touched: &Touched,
    ) {
        self.filter(view, sampler, args, &mut |p, at| {
            for lane in lanes(mask) {
                touched.bytes(p.levels[0].base as u64 + at[lane], p.format.block_bytes as u64);
            }
            [[0; 16]; 4]
        });
    }
}

fn gather(p: &PlaneTexels, at: &[u64; 16]) -> Warp4 {
    let mut t = [[0; 16]; 4];
    // SAFETY: `Ycbcr::texel` wraps places into levels of the plane, and layers were clamped.
    unsafe { (p.gather)(p.format, p.levels[0].base, at, &mut t) };
    t
}

fn put(color: &[[f32; 16]; 4], mask: u16, out: &mut Warp4) {
    for lane in lanes(mask) {
        (0..4).for_each(|k| out[k][lane] = color[k][lane].to_bits());
    }
}
