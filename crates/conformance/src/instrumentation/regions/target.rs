//! Where values by region go, what a pass asks for, and what draws.

use super::super::graphics::push;
use super::super::{Rig, holds, same, text};
use super::{FORMAT, FREE};
use client::Buffer;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};

/// A buffer with a device address, of words that are none of the values.
pub struct Target {
    buffer: Buffer,
    pub address: u64,
}

impl Target {
    pub fn new(rig: &Rig, words: usize) -> Result<Target, String> {
        let mut buffer = Buffer::addressed(&rig.context, words * 4, Default::default()).map_err(text)?;
        buffer.words_mut().fill(FREE);
        Ok(Target { address: buffer.address(), buffer })
    }

    /// An error unless these words lie at the start, and nothing was written after them.
    pub fn is(&self, what: &str, want: &[u32]) -> Result<(), String> {
        for (i, &got) in self.buffer.words().iter().enumerate() {
            let want = want.get(i).copied().unwrap_or(FREE);
            same(&format!("{what}, word {i}"), got, want)?;
        }
        Ok(())
    }

    /// Words from a byte on, whatever its alignment.
    pub fn at(&self, byte: usize, words: usize) -> Vec<u32> {
        let bytes = &self.buffer.bytes()[byte..][..4 * words];
        bytes.as_chunks::<4>().0.iter().map(|b| u32::from_ne_bytes(*b)).collect()
    }

    /// All words, for comparison between runs.
    pub fn found(&self) -> Vec<u64> {
        self.buffer.words().iter().map(|&w| w.into()).collect()
    }
}

/// Where regions lie by the specification (VUID 11817), in words.
pub struct Grid {
    pub across: usize,
    pub down: usize,
    pub stride: usize,
    pub pitch: usize,
}

impl Grid {
    /// Of a render area of this size.
    pub fn new(rig: &Rig, size: [u32; 2], counters: usize) -> Result<Grid, String> {
        let mut p = vk::PhysicalDevicePerformanceCountersByRegionPropertiesARM::default();
        let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut p).cast(), ..Default::default() };
        // SAFETY: a valid chain.
        unsafe { rig.context.instance.get_physical_device_properties2(rig.context.physical, &mut all) };
        let side = p.performance_counter_region_size;
        same("regions", (side.width, side.height), (64, 64))?;
        same("counters at once", p.max_per_region_performance_counters, 8)?;
        same("alignment", (p.region_alignment, p.identity_transform_order), (32, vk::TRUE))?;
        holds("rows are aligned to words", p.row_stride_alignment > 0 && p.row_stride_alignment % 4 == 0)?;
        let [across, down] = size.map(|s| s.div_ceil(64) as usize);
        let stride = (counters * 4).next_multiple_of(32);
        let pitch = (across * stride).next_multiple_of(p.row_stride_alignment as usize);
        Ok(Grid { across, down, stride: stride / 4, pitch: pitch / 4 })
    }

    /// Words after an address: N of the formula.
    pub fn words(&self) -> usize {
        self.pitch * self.down
    }

    /// They with these values, region after region and row after row; nothing between them is written.
    pub fn filled<const N: usize>(&self, values: &[[u32; N]]) -> Vec<u32> {
        assert_eq!(values.len(), self.across * self.down);
        let mut all = vec![FREE; self.words()];
        for (i, v) in values.iter().enumerate() {
            all[i / self.across * self.pitch + i % self.across * self.stride..][..N].copy_from_slice(v);
        }
        all
    }
}

/// What a pass asks for, one region after the other.
pub fn ask<'a>(
    addresses: &'a [u64],
    ids: &'a mut [u32],
) -> vk::RenderPassPerformanceCountersByRegionBeginInfoARM<'a> {
    vk::RenderPassPerformanceCountersByRegionBeginInfoARM {
        counter_address_count: addresses.len() as u32,
        p_counter_addresses: addresses.as_ptr(),
        serialize_regions: vk::TRUE,
        counter_index_count: ids.len() as u32,
        p_counter_indices: ids.as_mut_ptr(),
        ..Default::default()
    }
}

pub fn rect(x: i32, y: i32, width: u32, height: u32) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

/// A colour target.
pub fn image(rig: &Rig, size: [u32; 2], layers: u32) -> Result<Image, String> {
    rig.image(ImageInfo { layers, ..ImageInfo::colour(FORMAT, size) })
}

/// `fill.vert` in one colour, not instrumented.
pub fn pipeline(rig: &Rig, change: impl FnOnce(&mut PipelineInfo)) -> Result<Pipeline, String> {
    rig.pipeline(|i| {
        i.flags2 = Default::default();
        change(i);
    })
}

/// Records a triangle that covers everything, cut to `part`.
pub fn cover(d: &ash::Device, c: vk::CommandBuffer, p: &Pipeline, part: vk::Rect2D) {
    p.bind(c, None, &push(0.5, 1.0));
    // SAFETY: recording within a pass, with everything bound.
    unsafe {
        d.cmd_set_scissor(c, 0, &[part]);
        d.cmd_draw(c, 3, 1, 0, 0);
    }
}

/// A pass of dynamic rendering that clears a whole target.
pub fn pass<'a>(
    target: &'a Image,
    asked: &'a vk::RenderPassPerformanceCountersByRegionBeginInfoARM,
) -> Pass<'a> {
    let colours = vec![Attachment::new(target, Load::colour([0.0; 4]))];
    Pass { colours, size: target.info.size, chain: (&raw const *asked).cast(), ..Default::default() }
}
