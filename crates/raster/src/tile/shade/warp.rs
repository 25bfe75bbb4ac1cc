//! Inputs of a fragment warp: interpolation (§ Interpolation) and built-ins. This is the general path, one warp at a time.

use crate::prim::{Edge, Plane, Prim};
use crate::tile::cover::MAX_MASKS;
use crate::tile::item::fill::Fill;
use shader::interface::At;
use simd::Simd;
use simd::ops;

/// One warp of fragments: four quads, each of a primitive of its own.
pub struct Warp<'a, S: Simd> {
    pub machine: S,
    pub prims: [&'a Prim; 4],
    /// All four quads are of one primitive.
    pub same: bool,
    /// Pixels' corners.
    pub x: S::F,
    pub y: S::F,
    /// Covered lanes by sample; the program's SampleMask shows those from `shown` on.
    pub masks: &'a [u16; MAX_MASKS],
    pub shown: usize,
    /// Any sample covered.
    pub covered: u16,
    pub samples: usize,
    pub locations: &'a [[u8; 2]],
    /// The sample that is shaded, when shading is by sample.
    pub sample: Option<u8>,
    pub planes: &'a [Plane],
    /// The batch's list of them, and by how many sub-pixels those were moved outward.
    pub edges: &'a [Edge],
    pub grown: i64,
    pub view: u32,
    /// Of fragments of several pixels.
    pub coarse: Option<&'a Sizes>,
}

/// What differs from fragments of one pixel. Their x and y are such that half a pixel further is the middle.
pub struct Sizes {
    /// The shading rate of each quad.
    pub rates: [u32; 4],
    /// Where centroid inputs are evaluated, from x and y.
    pub centroids: [[f32; 16]; 2],
}

/// Places relative to the primitives' origins.
#[derive(Clone, Copy)]
pub struct Places<S: Simd> {
    x: S::F,
    y: S::F,
}

impl<'a, S: Simd> Warp<'a, S> {
    /// Where the fragment is evaluated: the pixel's centre, or the sample that is shaded.
    #[inline(always)]
    fn center(&self) -> [f32; 2] {
        match self.sample {
            Some(s) => self.locations[s as usize].map(|v| v as f32 / 16.0),
            None => [0.5, 0.5],
        }
    }

    /// A value of each quad's primitive.
    #[inline(always)]
    fn each(&self, f: impl Fn(&Prim) -> f32) -> S::F {
        let s = self.machine;
        if self.same {
            return s.fsplat(f(self.prims[0]));
        }
        s.fquads([f(self.prims[0]), f(self.prims[1]), f(self.prims[2]), f(self.prims[3])])
    }
    #[inline(always)]
    fn each_bits(&self, f: impl Fn(&Prim) -> u32) -> S::I {
        self.machine.bits(self.each(|p| f32::from_bits(f(p))))
    }

    /// The same offset from the pixels' corners for all lanes.
    #[inline(always)]
    pub fn places(&self, o: [f32; 2]) -> Places<S> {
        let s = self.machine;
        let (ox, oy) = (self.each(|p| p.origin()[0]), self.each(|p| p.origin()[1]));
        Places {
            x: s.fsub(s.fadd(self.x, s.fsplat(o[0])), ox),
            y: s.fsub(s.fadd(self.y, s.fsplat(o[1])), oy),
        }
    }

    /// Offsets from the pixels' corners to where centroid inputs are evaluated: the centre when all samples are
    /// covered (or none: a helper), else the first covered sample.
    #[inline(never)]
    fn centroid(&self) -> [[f32; 16]; 2] {
        if let Some(c) = self.coarse {
            return c.centroids;
        }
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
    #[inline(always)]
    fn centroid_places(&self) -> Places<S> {
        let o = self.centroid();
        let s = self.machine;
        let (ox, oy) = (self.each(|p| p.origin()[0]), self.each(|p| p.origin()[1]));
        Places {
            x: s.fsub(s.fadd(self.x, ops::f_from(s, o[0])), ox),
            y: s.fsub(s.fadd(self.y, ops::f_from(s, o[1])), oy),
        }
    }

    /// A plane of each quad's primitive at the places.
    #[inline(always)]
    pub fn eval<'p>(&self, p: &Places<S>, plane: impl Fn(&'a Prim) -> &'p Plane) -> S::F {
        let s = self.machine;
        let (at, dx, dy);
        if self.same {
            let k = plane(self.prims[0]);
            (at, dx, dy) = (s.fsplat(k.at), s.fsplat(k.dx), s.fsplat(k.dy));
        } else {
            let [a, b, c, d] = self.prims;
            let [a, b, c, d] = [plane(a), plane(b), plane(c), plane(d)];
            let first = |p: &Plane| std::ptr::from_ref(p).cast();
            // SAFETY: a plane is its three numbers in order.
            [at, dx, dy] = unsafe { s.fquads3([first(a), first(b), first(c), first(d)]) };
        }
        // No fused operations: `cover` and early tests evaluate depth in the same way.
        s.fadd(at, s.fadd(s.fmul(dx, p.x), s.fmul(dy, p.y)))
    }
}

/// What several inputs of one warp share.
pub struct Shared<S: Simd> {
    places: [Option<Places<S>>; 2],
    /// w, by where.
    w: [Option<S::F>; 2],
}

impl<S: Simd> Default for Shared<S> {
    fn default() -> Self {
        Shared { places: [None; 2], w: [None; 2] }
    }
}

impl<S: Simd> Shared<S> {
    #[inline(always)]
    fn place(&mut self, warp: &Warp<S>, which: usize) -> Places<S> {
        match self.places[which] {
            Some(p) => p,
            None => {
                let p = if which == 1 { warp.centroid_places() } else { warp.places(warp.center()) };
                self.places[which] = Some(p);
                p
            }
        }
    }
    #[inline(always)]
    fn w(&mut self, warp: &Warp<S>, which: usize) -> S::F {
        match self.w[which] {
            Some(w) => w,
            None => {
                let places = self.place(warp, which);
                let s = warp.machine;
                let w = s.fdiv(s.fsplat(1.0), warp.eval(&places, |p| &p.w));
                self.w[which] = Some(w);
                w
            }
        }
    }
}

/// The values of one input for one warp. Not for Bool inputs: see [`mask`].
#[inline(always)]
pub fn value<S: Simd>(fill: Fill, warp: &Warp<S>, shared: &mut Shared<S>) -> S::I {
    let s = warp.machine;
    match fill {
        Fill::Varying { plane: i, perspective, at } => {
            let k = (at == At::Centroid) as usize;
            let places = shared.place(warp, k);
            let v = warp.eval(&places, |p| &warp.planes[(p.planes + i) as usize]);
            s.bits(if perspective { s.fmul(v, shared.w(warp, k)) } else { v })
        }
        Fill::Flat(i) => warp.each_bits(|p| warp.planes[(p.planes + i) as usize].at.to_bits()),
        Fill::FragCoord(c) => {
            let o = warp.center();
            s.bits(match c {
                0 => s.fadd(warp.x, s.fsplat(o[0])),
                1 => s.fadd(warp.y, s.fsplat(o[1])),
                _ => {
                    let places = shared.place(warp, 0);
                    warp.eval(&places, |p| if c == 2 { &p.z } else { &p.w })
                }
            })
        }
        _ => rare(fill, warp, shared),
    }
}

/// Inputs that few shaders have.
#[inline(always)]
fn rare<S: Simd>(fill: Fill, warp: &Warp<S>, shared: &mut Shared<S>) -> S::I {
    let s = warp.machine;
    match fill {
        Fill::PointCoord(i) => {
            let places = shared.place(warp, 0);
            let none = Plane::default();
            let of = |p: &Prim| if p.side.point() { &warp.planes[(p.planes + i) as usize] } else { &none };
            s.bits(warp.eval(&places, of))
        }
        Fill::SampleId => s.isplat(warp.sample.unwrap_or(0) as u32),
        Fill::SamplePosition(a) => s.isplat(warp.center()[a as usize & 1].to_bits()),
        Fill::SampleMask => {
            let mut m = [0u32; 16];
            for (l, m) in m.iter_mut().enumerate() {
                for k in 0..warp.samples {
                    *m |= (warp.masks[warp.shown + k] as u32 >> l & 1) << k;
                }
            }
            ops::i_from(s, m)
        }
        Fill::PrimitiveId => {
            warp.each_bits(|p| warp.planes[(p.planes as usize).wrapping_sub(1)].at.to_bits())
        }
        Fill::Layer => warp.each_bits(|p| p.layer as u32),
        Fill::Viewport => warp.each_bits(|p| p.side.viewport() as u32),
        Fill::View => s.isplat(warp.view),
        Fill::ShadingRate => {
            let rates = warp.coarse.map_or([0; 4], |c| c.rates);
            let invocations = if warp.sample.is_some() { warp.samples as u32 } else { 1 };
            ops::i_from(s, std::array::from_fn(|l| rates[l / 4] | invocations << 4))
        }
        Fill::Lane => ops::i_from(s, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        Fill::Coefficient { plane: i, k } => {
            if k == 0 {
                let places = warp.places([0.5, 0.5]);
                return s.bits(warp.eval(&places, |p| &warp.planes[(p.planes + i) as usize]));
            }
            s.bits(warp.each(|p| {
                let c = warp.planes[(p.planes + i) as usize];
                if k == 1 { c.dx } else { c.dy }
            }))
        }
        Fill::InvW(k) => {
            if k == 0 {
                let places = warp.places([0.5, 0.5]);
                return s.bits(warp.eval(&places, |p| &p.w));
            }
            s.bits(warp.each(|p| if k == 1 { p.w.dx } else { p.w.dy }))
        }
        Fill::Centroid(a) => {
            let o = warp.centroid();
            s.bits(s.fsub(ops::f_from(s, o[a as usize & 1]), s.fsplat(0.5)))
        }
        Fill::SampleOffset(i) => {
            let l = warp.locations.get(i as usize / 2).copied().unwrap_or([8, 8]);
            s.isplat((l[i as usize & 1] as f32 / 16.0 - 0.5).to_bits())
        }
        _ => s.isplat(0),
    }
}

/// A Bool input's lanes; `None` for the others.
#[inline(always)]
pub fn mask<S: Simd>(fill: Fill, warp: &Warp<S>) -> Option<u16> {
    match fill {
        Fill::FrontFacing => Some(front(&warp.prims)),
        Fill::Helper => Some(!warp.covered),
        Fill::FullyCovered => Some(fully_covered(warp)),
        _ => None,
    }
}

/// Lanes whose pixels lie in their primitives wholly.
#[inline(never)]
fn fully_covered<S: Simd>(warp: &Warp<S>) -> u16 {
    let (x, y) = (ops::f_lanes(warp.machine, warp.x), ops::f_lanes(warp.machine, warp.y));
    (0..16).fold(0, |m, l| {
        m | (warp.prims[l / 4].contains(warp.edges, warp.grown, [x[l] as i32, y[l] as i32]) as u16) << l
    })
}

/// Lanes of front-facing primitives.
pub fn front(prims: &[&Prim; 4]) -> u16 {
    let mut m = 0;
    for (q, p) in prims.iter().enumerate() {
        m |= if p.side.front() { 0xF << (q * 4) } else { 0 };
    }
    m
}
