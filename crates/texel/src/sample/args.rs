//! What operations of a warp are asked with.

/// Raw bits of up to four channels for 16 lanes.
pub type Warp4 = [[u32; 16]; 4];

/// Operands of a sampling operation. Coordinates: `dims` of them (a cube's direction has three), then the layer if
/// `arrayed`. Projection is done by the caller.
#[derive(Clone, Copy, Default)]
pub struct SampleArgs<'a> {
    pub dims: usize,
    pub arrayed: bool,
    /// `f32` bits, `dims + arrayed` arrays.
    pub coords: &'a [[u32; 16]],
    /// Depth reference, `f32` bits.
    pub dref: Option<&'a [u32; 16]>,
    /// Explicit level of detail, `f32` bits. Without it and without `grad` the level is implicit.
    pub lod: Option<&'a [u32; 16]>,
    pub bias: Option<&'a [u32; 16]>,
    /// d/dx in 0..3, d/dy in 3..6, `f32` bits.
    pub grad: Option<&'a [[u32; 16]; 6]>,
    /// One array a dimension, `i32` bits; for gathers with four offsets x0 y0 x1 y1 … (eight arrays).
    pub offsets: Option<&'a [[u32; 16]]>,
    pub min_lod: Option<&'a [u32; 16]>,
    /// Bytes from the view's texels to each lane's own: views that are alike ([`super::Alike`]).
    pub shift: Option<Shift<'a>>,
    /// Component that a gather takes.
    pub component: u32,
}

/// [`SampleArgs::shift`]: made by [`super::Alike`] alone, which has looked at the views.
#[derive(Clone, Copy)]
pub struct Shift<'a>(pub(super) &'a [u32; 16]);

/// Whether so few lanes are active (those of a descriptor of their own, mostly) that they cost less one by one than by
/// kernels for a warp.
#[inline]
pub fn few(mask: u16) -> bool {
    mask.count_ones() <= 2
}

/// Active lanes of a mask, in order.
#[inline]
pub fn lanes(mask: u16) -> impl Iterator<Item = usize> {
    let mut m = mask;
    std::iter::from_fn(move || {
        (m != 0).then(|| {
            let l = m.trailing_zeros() as usize;
            m &= m - 1;
            l
        })
    })
}
