//! Inputs of fragment waves: interpolation (§ Interpolation) and built-ins, a warp at a time.

use crate::graphics::prim::{Plane, Prim};
use shader::bytecode::Program;
use shader::interface::At;
use shader::ir::Input;

/// What one input of a fragment program is filled with.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    Varying {
        plane: u32,
        perspective: bool,
        at: At,
    },
    Flat(u32),
    /// Component 0 to 3.
    FragCoord(u8),
    FrontFacing,
    PointCoord(u8),
    SampleId,
    SamplePosition(u8),
    SampleMask,
    Helper,
    PrimitiveId,
    Layer,
    Viewport,
    View,
    Lane,
    /// `k`: 0 the value, 1 and 2 its changes.
    Coefficient {
        plane: u32,
        k: u8,
    },
    InvW(u8),
    Centroid(u8),
    SampleOffset(u8),
    Zero,
}

impl Fill {
    /// One per input of the program.
    pub fn plan(p: &Program) -> Vec<Fill> {
        let find = |slot: u16| p.interface.varyings.iter().position(|v| v.slot == slot);
        p.inputs
            .iter()
            .map(|(input, _)| match *input {
                Input::Varying(slot) => match find(slot) {
                    Some(i) => {
                        let v = &p.interface.varyings[i];
                        let plane = i as u32;
                        if v.flat {
                            Fill::Flat(plane)
                        } else {
                            Fill::Varying { plane, perspective: !v.no_perspective, at: v.at }
                        }
                    }
                    None => Fill::Zero,
                },
                Input::PlaneAt(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 0 })
                }
                Input::PlaneDx(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 1 })
                }
                Input::PlaneDy(slot) => {
                    find(slot).map_or(Fill::Zero, |i| Fill::Coefficient { plane: i as u32, k: 2 })
                }
                Input::InvW(k) => Fill::InvW(k),
                Input::CentroidOffset(a) => Fill::Centroid(a),
                Input::SampleOffset(i) => Fill::SampleOffset(i),
                Input::SamplePosition(a) => Fill::SamplePosition(a),
                Input::FragCoord(c) => Fill::FragCoord(c),
                Input::FrontFacing => Fill::FrontFacing,
                Input::PointCoord(c) => Fill::PointCoord(c),
                Input::SampleId => Fill::SampleId,
                Input::SampleMask => Fill::SampleMask,
                Input::HelperInvocation => Fill::Helper,
                Input::PrimitiveId => Fill::PrimitiveId,
                Input::Layer => Fill::Layer,
                Input::ViewportIndex => Fill::Viewport,
                Input::ViewIndex => Fill::View,
                Input::SubgroupLane => Fill::Lane,
                _ => Fill::Zero,
            })
            .collect()
    }
}

/// One warp of fragments: four quads, each of a primitive of its own.
pub struct Warp<'a> {
    pub prims: [&'a Prim; 4],
    /// All four quads are of one primitive.
    pub same: bool,
    /// Pixels' corners.
    pub x: [f32; 16],
    pub y: [f32; 16],
    /// Covered lanes by sample.
    pub masks: [u16; super::cover::MAX_SAMPLES],
    /// Any sample covered.
    pub covered: u16,
    pub samples: usize,
    pub locations: &'static [[u8; 2]],
    /// The sample that is shaded, when shading is by sample.
    pub sample: Option<u8>,
    pub planes: &'a [Plane],
    pub view: u32,
}

/// Places relative to the primitives' origins.
#[derive(Clone, Copy)]
pub struct Places {
    x: [f32; 16],
    y: [f32; 16],
}

impl Warp<'_> {
    /// Where the fragment is evaluated: the pixel's centre, or the sample that is shaded.
    #[inline(always)]
    pub fn center(&self) -> [f32; 2] {
        match self.sample {
            Some(s) => self.locations[s as usize].map(|v| v as f32 / 16.0),
            None => [0.5, 0.5],
        }
    }
    /// The same offset from the pixels' corners for all lanes.
    #[inline(always)]
    pub fn places(&self, o: [f32; 2]) -> Places {
        Places {
            x: std::array::from_fn(|l| self.x[l] + o[0] - self.prims[l / 4].origin[0]),
            y: std::array::from_fn(|l| self.y[l] + o[1] - self.prims[l / 4].origin[1]),
        }
    }
    /// Offsets from the pixels' corners to where centroid inputs are evaluated: the centre when all samples are
    /// covered (or none: a helper), else the first covered sample.
    fn centroid(&self) -> [[f32; 16]; 2] {
        let center = self.center();
        let mut o = [[center[0]; 16], [center[1]; 16]];
        if self.sample.is_some() || self.samples == 1 {
            return o;
        }
        for l in 0..16 {
            let covered = (0..self.samples).filter(|s| self.masks[*s] >> l & 1 != 0).count();
            if covered > 0 && covered < self.samples {
                let first = (0..self.samples).find(|s| self.masks[*s] >> l & 1 != 0).unwrap_or(0);
                (0..2).for_each(|a| o[a][l] = self.locations[first][a] as f32 / 16.0);
            }
        }
        o
    }
    fn centroid_places(&self) -> Places {
        let o = self.centroid();
        Places {
            x: std::array::from_fn(|l| self.x[l] + o[0][l] - self.prims[l / 4].origin[0]),
            y: std::array::from_fn(|l| self.y[l] + o[1][l] - self.prims[l / 4].origin[1]),
        }
    }

    #[inline(always)]
    pub fn eval(&self, p: &Places, plane: impl Fn(&Prim) -> Plane) -> [f32; 16] {
        if self.same {
            let k = plane(self.prims[0]);
            return std::array::from_fn(|l| k.at + (k.dx * p.x[l] + k.dy * p.y[l]));
        }
        let k: [Plane; 4] = std::array::from_fn(|q| plane(self.prims[q]));
        std::array::from_fn(|l| k[l / 4].at + (k[l / 4].dx * p.x[l] + k[l / 4].dy * p.y[l]))
    }

    fn each(&self, f: impl Fn(&Prim) -> u32) -> [u32; 16] {
        let q = self.prims.map(f);
        std::array::from_fn(|l| q[l / 4])
    }
}

/// What several inputs of one warp share.
#[derive(Default)]
pub struct Shared {
    places: [Option<Places>; 2],
    /// w, by where.
    w: [Option<[f32; 16]>; 2],
}

/// The values of one input for one warp; masks for Bool inputs are in the low 16 bits of element 0.
#[inline(always)]
pub fn value(fill: Fill, warp: &Warp, shared: &mut Shared) -> [u32; 16] {
    let bits = |v: [f32; 16]| v.map(f32::to_bits);
    let plane = |i: u32| move |p: &Prim| warp.planes[(p.planes + i) as usize];
    match fill {
        Fill::Varying { plane: i, perspective, at } => {
            let k = (at == At::Centroid) as usize;
            let places = *shared.places[k].get_or_insert_with(|| place(warp, k));
            let v = warp.eval(&places, plane(i));
            if !perspective {
                return bits(v);
            }
            let w = *shared.w[k].get_or_insert_with(|| warp.eval(&places, |p| p.w).map(|w| 1.0 / w));
            bits(std::array::from_fn(|l| v[l] * w[l]))
        }
        Fill::Flat(i) => warp.each(|p| warp.planes[(p.planes + i) as usize].at.to_bits()),
        Fill::FragCoord(c) => {
            let o = warp.center();
            match c {
                0 => bits(warp.x.map(|x| x + o[0])),
                1 => bits(warp.y.map(|y| y + o[1])),
                _ => {
                    let places = *shared.places[0].get_or_insert_with(|| place(warp, 0));
                    bits(warp.eval(&places, |p| if c == 2 { p.z } else { p.w }))
                }
            }
        }
        Fill::FrontFacing => {
            let mut m = 0;
            (0..4).for_each(|q| m |= if warp.prims[q].front { 0xF << (q * 4) } else { 0 });
            [m; 16]
        }
        Fill::PointCoord(c) => {
            let places = *shared.places[0].get_or_insert_with(|| place(warp, 0));
            bits(warp.eval(&places, |p| p.point[c as usize & 1]))
        }
        Fill::SampleId => [warp.sample.unwrap_or(0) as u32; 16],
        Fill::SamplePosition(a) => [warp.center()[a as usize & 1].to_bits(); 16],
        Fill::SampleMask => std::array::from_fn(|l| match warp.sample {
            Some(s) => (warp.masks[s as usize] as u32 >> l & 1) << s,
            None => (0..warp.samples).fold(0, |m, s| m | (warp.masks[s] as u32 >> l & 1) << s),
        }),
        Fill::Helper => [!warp.covered as u32 & 0xFFFF; 16],
        Fill::PrimitiveId => warp.each(|p| p.id),
        Fill::Layer => warp.each(|p| p.layer),
        Fill::Viewport => warp.each(|p| p.viewport as u32),
        Fill::View => [warp.view; 16],
        Fill::Lane => std::array::from_fn(|l| l as u32),
        Fill::Coefficient { plane: i, k } => {
            if k == 0 {
                let places = warp.places([0.5, 0.5]);
                return bits(warp.eval(&places, plane(i)));
            }
            warp.each(|p| {
                let c = warp.planes[(p.planes + i) as usize];
                if k == 1 { c.dx } else { c.dy }.to_bits()
            })
        }
        Fill::InvW(k) => {
            if k == 0 {
                let places = warp.places([0.5, 0.5]);
                return bits(warp.eval(&places, |p| p.w));
            }
            warp.each(|p| if k == 1 { p.w.dx } else { p.w.dy }.to_bits())
        }
        Fill::Centroid(a) => bits(warp.centroid()[a as usize & 1].map(|v| v - 0.5)),
        Fill::SampleOffset(i) => {
            let l = warp.locations.get(i as usize / 2).copied().unwrap_or([8, 8]);
            [(l[i as usize & 1] as f32 / 16.0 - 0.5).to_bits(); 16]
        }
        Fill::Zero => [0; 16],
    }
}

fn place(warp: &Warp, which: usize) -> Places {
    if which == 1 { warp.centroid_places() } else { warp.places(warp.center()) }
}
