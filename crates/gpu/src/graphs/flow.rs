//! Nodes of optical flow (VK_ARM_data_graph_optical_flow): images of descriptors, and what is written to them.

use super::{GraphDispatch, Slot, Threads, find};
use ash::vk;
use graph::Stop;
use graph::flow::{Flow, Plane, Vector, luma, whole};
use machine::shared::Shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use texel::buffer::Buffer;
use texel::format::num::{f16_to_f32, f32_to_f16};
use texel::image::Surface;
use texel::sample::ImageView;

/// Formats of images whose flow is computed, of vectors, and of costs.
pub const IMAGES: [vk::Format; 4] = [
    vk::Format::R8_UNORM,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::B10G11R11_UFLOAT_PACK32,
];
pub const VECTORS: vk::Format = vk::Format::R16G16_SFLOAT;
pub const COSTS: vk::Format = vk::Format::R16_UINT;

/// What a node is connected to, as VkDataGraphPipelineNodeConnectionTypeARM numbers it.
pub const INPUT: usize = 0;
pub const REFERENCE: usize = 1;
pub const HINT: usize = 2;
pub const VECTOR: usize = 3;
pub const COST: usize = 4;

/// A pipeline of one node.
pub struct Node {
    pub flow: Flow,
    /// Of the two images.
    pub format: vk::Format,
    /// What is connected, by the numbers above.
    pub slots: [Option<Slot>; 5],
}

/// The vectors of a session's last dispatch, in its memory.
pub struct Past {
    pub memory: Arc<Buffer>,
    pub is_there: AtomicBool,
}

/// What a dispatch says besides.
#[derive(Clone, Default)]
pub struct Said {
    /// How long vectors are expected to be, or 0.
    pub mean: u32,
    /// The last dispatch says nothing about this one.
    pub fresh: bool,
    pub past: Option<Arc<Past>>,
}

/// An image that a node reads or writes.
struct Target {
    view: Arc<ImageView>,
    surface: Surface,
    layer: u32,
}

impl Target {
    fn of(
        d: &GraphDispatch,
        shared: &Shared,
        slot: Slot,
        format: vk::Format,
        size: [usize; 2],
    ) -> Result<Target, String> {
        let place = || format!("set {} offset {}", slot.set, slot.offset);
        let view = find(shared, d, slot, 0)
            .and_then(|f| f.view)
            .ok_or_else(|| format!("{} has no image", place()))?;
        let surface = view.image.surface(vk::ImageAspectFlags::COLOR, view.range.base_mip_level);
        let surface = surface.ok_or_else(|| format!("the image of {} has no memory", place()))?;
        let fits = (0..2).all(|i| surface.extent[i] as usize >= size[i]);
        if view.view_format != format || !fits || surface.samples != 1 {
            let [w, h, _] = surface.extent;
            return Err(format!(
                "{} has an image of {w} × {h} in {:?}, not {size:?} in {format:?}",
                place(),
                view.view_format
            ));
        }
        let layer = view.range.base_array_layer.min(surface.layers - 1);
        Ok(Target { view, surface, layer })
    }

    /// A texel's address.
    fn at(&self, x: usize, y: usize) -> *mut u8 {
        let at = self.surface.try_block(x as u32, y as u32, 0, 0, self.layer);
        at.unwrap_or(std::ptr::null_mut())
    }

    fn read<const N: usize>(&self, x: usize, y: usize) -> [u8; N] {
        match self.at(x, y) {
            p if p.is_null() => [0; N],
            // SAFETY: a texel of so many bytes, which the view's image keeps.
            p => unsafe { p.cast::<[u8; N]>().read_unaligned() },
        }
    }

    fn write<const N: usize>(&self, x: usize, y: usize, of: [u8; N]) {
        match self.at(x, y) {
            p if p.is_null() => {}
            // SAFETY: as above.
            p => unsafe { p.cast::<[u8; N]>().write_unaligned(of) },
        }
    }

    fn luma(&self, x: usize, y: usize, format: vk::Format) -> u8 {
        let byte = |v: f32| (v.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8;
        match format {
            vk::Format::R8_UNORM => self.read::<1>(x, y)[0],
            vk::Format::B10G11R11_UFLOAT_PACK32 => {
                let v = u32::from_le_bytes(self.read(x, y));
                // Floats without a sign: six bits of a mantissa, or five.
                let parts = [(v & 0x7ff) << 4, (v >> 11 & 0x7ff) << 4, (v >> 22) << 5];
                luma(parts.map(|p| byte(f16_to_f32(p as u16))))
            }
            _ => {
                let [a, g, b, _] = self.read(x, y);
                luma(if format == vk::Format::B8G8R8A8_UNORM { [b, g, a] } else { [a, g, b] })
            }
        }
    }
}

fn memory(_: Stop) -> String {
    "the host has no memory".into()
}

/// The past's vectors, if there are as many.
fn remembered(past: &Past, cells: usize) -> Option<Vec<Vector>> {
    let (p, n) = past.memory.range(0, u64::MAX);
    if !past.is_there.load(Relaxed) || n < (cells * size_of::<Vector>()) as u64 {
        return None;
    }
    // SAFETY: so many bytes of the session's memory.
    Some((0..cells).map(|i| unsafe { p.cast::<Vector>().add(i).read_unaligned() }).collect())
}

fn remember(past: &Past, vectors: &[Vector]) {
    let (p, n) = past.memory.range(0, u64::MAX);
    if n < size_of_val(vectors) as u64 {
        return;
    }
    // SAFETY: as above.
    vectors.iter().enumerate().for_each(|(i, v)| unsafe { p.cast::<Vector>().add(i).write_unaligned(*v) });
    past.is_there.store(true, Relaxed);
}

/// Computes a dispatch. The views that were read, and those that were written; an error: why there is nothing.
pub(super) fn run(
    node: &Node,
    d: &GraphDispatch,
    shared: &Shared,
) -> Result<[Vec<Arc<ImageView>>; 2], String> {
    let (size, cells) = (node.flow.size.map(|n| n as usize), node.flow.cells());
    let target = |i: usize, format, size| {
        node.slots[i].map(|slot| Target::of(d, shared, slot, format, size)).transpose()
    };
    let image = |i| target(i, node.format, size);
    let (Some(input), Some(reference), Some(vectors)) =
        (image(INPUT)?, image(REFERENCE)?, target(VECTOR, VECTORS, cells)?)
    else {
        return Err("the node lacks a connection".into());
    };
    let (hint, cost) = (target(HINT, VECTORS, cells)?, target(COST, COSTS, cells)?);
    let mut planes = vec![];
    for image in [&input, &reference] {
        let mut plane = Plane::new(size[0], size[1]).map_err(memory)?;
        for y in 0..size[1] {
            for (x, to) in plane.row(y).iter_mut().enumerate() {
                *to = image.luma(x, y, node.format);
            }
        }
        planes.push(plane);
    }
    let planes: [Plane; 2] = planes.try_into().map_err(|_| String::new())?;
    let count = cells[0] * cells[1];
    let hinted: Option<Vec<Vector>> = hint.as_ref().map(|hint| {
        let one = |i: usize| {
            let [a, b, c, e] = hint.read(i % cells[0], i / cells[0]);
            [[a, b], [c, e]].map(|v| whole(f16_to_f32(u16::from_le_bytes(v))))
        };
        (0..count).map(one).collect()
    });
    let past = d.said.past.as_deref();
    let remembered = past.filter(|_| !d.said.fresh).and_then(|p| remembered(p, count));
    let put = |cell: usize, vector: [f32; 2], left: u16| {
        let (x, y) = (cell % cells[0], cell / cells[0]);
        let [[a, b], [c, e]] = vector.map(|v| f32_to_f16(v).to_le_bytes());
        vectors.write(x, y, [a, b, c, e]);
        if let Some(cost) = &cost {
            cost.write(x, y, left.to_le_bytes());
        }
    };
    let hints = [hinted.as_deref(), remembered.as_deref()];
    let made = node.flow.run(planes, hints, d.said.mean, &Threads(shared), &put).map_err(memory)?;
    if let Some(past) = past {
        remember(past, &made);
    }
    let views = |all: Vec<Option<Target>>| -> Vec<_> { all.into_iter().flatten().map(|t| t.view).collect() };
    let written = views(vec![Some(vectors), cost]);
    written.iter().for_each(|v| v.image.written());
    Ok([views(vec![Some(input), Some(reference), hint]), written])
}
