//! At which rate a draw's fragments are shaded (§ Primitive Fragment Shading Rate, § Attachment Fragment Shading Rate).

use super::fill::Fill;
use crate::geometry::has_rate;
use crate::geometry::viewport::Map;
use crate::pass::Subpass;
use crate::prim::Prim;
use crate::state::{FragmentSize, GraphicsPipeline, Rect, ShadingRate, State};
use crate::tile::memory::density::{Density, TEXEL};
use crate::tile::memory::target::Targets;
use ash::vk;
use shader::interface::{DepthMode, Interface};
use std::sync::Arc;
use texel::image::Surface;
use texel::sample::ImageView;

/// Pixels along x and y within which a primitive's fragments have one size: a texel of the attachment covers this or a multiple.
pub const AREA: usize = TEXEL[0] as usize;

/// Of draws whose fragments may have several pixels.
pub struct Coarse {
    rate: ShadingRate,
    /// Where the primitive's rate is among its planes.
    plane: Option<u32>,
    image: Option<Image>,
    /// What says the size instead of the rate.
    density: Option<Arc<Density>>,
    /// Then pixels that may be drawn, by viewport.
    clips: Vec<Rect>,
}

/// The attachment's texels.
struct Image {
    /// Keeps the texels.
    view: Arc<ImageView>,
    texels: Surface,
    /// First layer, and how many there are.
    layers: [u32; 2],
    /// Pixels of a texel.
    size: [u32; 2],
}

/// Whether fragments of the pipeline have one pixel whatever the rates are: what the limits fragmentShadingRateWith… exclude.
fn excluded(s: &State, f: &Interface, fills: &[Fill]) -> bool {
    // Sample shading counts with one sample, too.
    f.per_sample
        || s.samples.min_shading.is_some()
        || f.depth != DepthMode::Unwritten
        || f.writes_stencil
        || f.writes_sample_mask
        || f.sample_interlock
        || f.pixel_interlock
        || s.samples.locations.is_some()
        || s.raster.conservative.is_some()
        || fills.iter().any(|f| matches!(f, Fill::SampleMask | Fill::FullyCovered))
}

impl Coarse {
    /// `None`: all fragments have one pixel.
    pub fn new(
        p: &GraphicsPipeline,
        s: &State,
        sub: &Subpass,
        targets: &Targets,
        fills: &[Fill],
    ) -> Option<Coarse> {
        let f = p.fragment.as_ref()?;
        let [of_primitive, of_attachment] = s.rate.combiners;
        let keep = vk::FragmentShadingRateCombinerOpKHR::KEEP;
        let written = has_rate(p.last(), s.raster.stream as u8);
        let plane = (written && of_primitive != keep).then_some(f.interface.varyings.len() as u32);
        let image = sub.rate.filter(|_| of_attachment != keep);
        let density = targets.density.clone();
        let rated = s.rate.size != FragmentSize::ONE || plane.is_some() || image.is_some();
        if !rated && density.is_none() || excluded(s, &f.interface, fills) {
            return None;
        }
        let image = image.and_then(|(a, size)| {
            let view = targets.rates.get(a as usize)?.clone()?;
            let texels = view.image.surface(vk::ImageAspectFlags::COLOR, view.range.base_mip_level)?;
            let layers = [view.range.base_array_layer, view.layers];
            Some(Image { view, texels, layers, size })
                .filter(|i| i.texels.split.is_none() && i.view.samples == 1)
        });
        let maps = if density.is_some() { Map::all(s, targets.area) } else { vec![] };
        Some(Coarse { rate: s.rate, plane, image, density, clips: maps.iter().map(|m| m.inside).collect() })
    }

    /// Whether a map of densities says how large fragments are.
    pub fn is_mapped(&self) -> bool {
        self.density.is_some()
    }

    /// That map, and pixels in which a primitive may be drawn.
    pub fn density(&self, prim: &Prim) -> Option<(&Density, Rect)> {
        Some((self.density.as_deref()?, *self.clips.get(prim.side.viewport())?))
    }

    /// Size of a primitive's fragments in the area that begins at a pixel. `planes`: its batch's.
    pub fn size(
        &self,
        prim: &Prim,
        planes: &[crate::prim::Plane],
        pixel: [i32; 2],
        layer: u32,
    ) -> FragmentSize {
        if let Some(d) = &self.density {
            return d.at(pixel, layer);
        }
        let primitive = self.plane.and_then(|i| planes.get((prim.planes + i) as usize));
        let primitive = primitive.map_or(FragmentSize::ONE, |p| FragmentSize::decode(p.at.to_bits()));
        let attachment = self.image.as_ref().map_or(FragmentSize::ONE, |i| i.at(pixel, layer));
        let [first, second] = self.rate.combiners;
        self.rate.size.combine(primitive, first).combine(attachment, second).clamped()
    }
}

impl Image {
    /// The rate that a pixel's texel says.
    fn at(&self, pixel: [i32; 2], layer: u32) -> FragmentSize {
        let [first, layers] = self.layers;
        let layer = (first + layer.min(layers.saturating_sub(1))).min(self.texels.layers.saturating_sub(1));
        let at = |k: usize| {
            let texel = pixel[k].max(0) as u64 / u64::from(self.size[k].max(1));
            texel.min(u64::from(self.texels.blocks[k]).saturating_sub(1))
        };
        let offset = u64::from(layer) * self.texels.layer_pitch + at(1) * self.texels.row_pitch + at(0);
        // SAFETY: a texel of one byte within the image, which the pass keeps.
        FragmentSize::decode(u32::from(unsafe { self.texels.base.add(offset as usize).read_volatile() }))
    }
}
