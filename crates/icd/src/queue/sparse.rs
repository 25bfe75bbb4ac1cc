//! vkQueueBindSparse: what memory is bound to sparse resources.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In};
use crate::device::Queue;
use crate::memory::Memory;
use crate::memory::buffer::Buffer;
use crate::memory::image::Image;
use crate::sync::fence::Fence;
use crate::sync::semaphore::Semaphore;
use gpu::command::{Bind, Binds, SemaphoreOp, Submission};
use std::sync::Arc;
use texel::format::FormatInfo;
use texel::image::Parts;
use texel::memory::DeviceMemory;
use texel::memory::sparse::{BLOCK, Room};

/// What is bound in one batch, and how many parts of each resource.
#[derive(Default)]
struct Batch {
    binds: Vec<Bind>,
    parts: Vec<(Arc<DeviceMemory>, usize)>,
}

impl Batch {
    fn add(&mut self, bind: Bind) -> Answer {
        if self.binds.last_mut().is_some_and(|last| goes_on(last, &bind)) {
            return Ok(());
        }
        self.binds.try_reserve(1).map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        // A resource's parts come one after the other; one that comes again is counted twice.
        match self.parts.last_mut().filter(|(r, _)| Arc::ptr_eq(r, &bind.resource)) {
            Some((_, n)) => *n += 1,
            None => {
                self.parts.try_reserve(1).map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
                self.parts.push((bind.resource.clone(), 1));
            }
        }
        self.binds.push(bind);
        Ok(())
    }

    /// The mappings that it may take.
    fn mappings(&self) -> usize {
        self.parts.iter().map(|(r, n)| r.mappings_of(*n)).fold(0, usize::saturating_add)
    }
}

/// Whether `next` binds what follows `last` to what follows its memory; then `last` has both.
fn goes_on(last: &mut Bind, next: &Bind) -> bool {
    let memory = match (&last.to, &next.to) {
        (None, None) => true,
        (Some((m, at)), Some((n, next))) => Arc::ptr_eq(m, n) && at + last.bytes == *next,
        _ => false,
    };
    let both = memory && Arc::ptr_eq(&last.resource, &next.resource) && last.at + last.bytes == next.at;
    if both {
        last.bytes += next.bytes;
    }
    both
}

/// The memory that a bind names, which must be of the kind that sparse resources ask for; `None` for none.
fn memory<'a>(
    call: impl Call<'a>,
    m: vk::DeviceMemory,
    offset: u64,
    bytes: u64,
) -> Answer<Option<(Arc<DeviceMemory>, u64)>> {
    if m == vk::DeviceMemory::null() {
        return Ok(None);
    }
    let m = call.object::<Memory>(m).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let room = match m.gpu.bindable() {
        0 => return Err(invalid("vkQueueBindSparse: memory of a type that sparse resources do not ask for")),
        // The last block may be short, as the resource's is.
        n => n.min(m.gpu.size().checked_next_multiple_of(BLOCK).unwrap_or(0)),
    };
    if !offset.is_multiple_of(BLOCK) || offset.checked_add(bytes).is_none_or(|end| end > room) {
        return Err(invalid(&format!(
            "vkQueueBindSparse: {bytes} bytes of memory at {offset} are no multiple of {BLOCK}, or not within the {} that there are",
            m.gpu.size()
        )));
    }
    Ok(Some((m.gpu.clone(), offset)))
}

/// Binds by bytes, of a resource of `size` bytes.
fn bytes<'a>(
    call: impl Call<'a>,
    batch: &mut Batch,
    resource: Option<&Arc<DeviceMemory>>,
    size: u64,
    binds: &[vk::SparseMemoryBind],
) -> Answer {
    let Some(resource) = resource else {
        return Err(invalid("vkQueueBindSparse: a buffer or image that is not sparse"));
    };
    for b in binds {
        let end = b.resource_offset.checked_add(b.size).filter(|&end| b.size > 0 && end <= size);
        // Only the end of a resource is no multiple of a block.
        let whole = |at: u64| at.is_multiple_of(BLOCK);
        let Some(end) = end.filter(|&end| whole(b.resource_offset) && (whole(end) || end == size)) else {
            return Err(invalid(&format!(
                "vkQueueBindSparse: {} bytes at {} are no multiple of {BLOCK}, or not within a resource of {size}",
                b.size, b.resource_offset
            )));
        };
        let bytes = end.next_multiple_of(BLOCK) - b.resource_offset;
        let to = memory(call, b.memory, b.memory_offset, bytes)?;
        batch.add(Bind { resource: resource.clone(), at: b.resource_offset, bytes, to })?;
    }
    Ok(())
}

/// Where a box of sparse image blocks begins, and how many it has along each axis.
fn blocks(
    b: &vk::SparseImageMemoryBind,
    f: &FormatInfo,
    p: &Parts,
    level: [u32; 3],
) -> Option<[[u32; 3]; 2]> {
    let at = [b.offset.x, b.offset.y, b.offset.z];
    let size = [b.extent.width, b.extent.height, b.extent.depth];
    let mut out = [[0; 3]; 2];
    for k in 0..3 {
        let side = p.shape[k] * f.block_extent[k];
        let at = u32::try_from(at[k]).ok().filter(|a| a.is_multiple_of(side))?;
        let end =
            at.checked_add(size[k]).filter(|&end| size[k] > 0 && end <= level[k].next_multiple_of(side))?;
        if !end.is_multiple_of(side) && end != level[k] {
            return None;
        }
        (out[0][k], out[1][k]) = (at / side, end.div_ceil(side) - at / side);
    }
    Some(out)
}

/// Binds by texels. Memory holds the blocks of a box along z, then y, then x: the order is the implementation's.
fn texels<'a>(
    call: impl Call<'a>,
    batch: &mut Batch,
    image: &texel::image::Image,
    binds: &[vk::SparseImageMemoryBind],
) -> Answer {
    for b in binds {
        let s = b.subresource;
        let found = image.layout.parts().find(|(p, _)| p.aspect == s.aspect_mask);
        let (Some((plane, parts)), Some(resource)) = (found, image.sparse()) else {
            return Err(invalid("vkQueueBindSparse: an image, or an aspect, that is not bound by blocks"));
        };
        let level = plane.mips.get(s.mip_level as usize).filter(|_| s.mip_level < parts.tail_level);
        let place = level
            .filter(|_| s.array_layer < image.layers)
            .and_then(|m| Some((m, blocks(b, plane.format, parts, m.extent)?)));
        let Some((level, [first, n])) = place else {
            return Err(invalid(&format!(
                "vkQueueBindSparse: {:?} at {:?} of level {} and layer {} are no blocks of the image",
                b.extent, b.offset, s.mip_level, s.array_layer
            )));
        };
        // All within one image: no overflow.
        let all = n.iter().map(|&n| n as u64).product::<u64>() * BLOCK;
        let to = memory(call, b.memory, b.memory_offset, all)?;
        let count = parts.count(level);
        // Blocks that follow one another in the image go together.
        let along_z = n[2] == count[2];
        let along_y = along_z && n[1] == count[1];
        let (columns, rows) = (if along_y { 1 } else { n[0] }, if along_z { 1 } else { n[1] });
        let bytes = all / columns as u64 / rows as u64;
        let mut from = 0;
        for x in 0..columns {
            for y in 0..rows {
                let at = plane.offset
                    + plane.layer_pitch * s.array_layer as u64
                    + parts.place(level, [first[0] + x, first[1] + y, first[2]]);
                let to = to.as_ref().map(|(m, offset)| (m.clone(), offset + from));
                batch.add(Bind { resource: resource.clone(), at, bytes, to })?;
                from += bytes;
            }
        }
    }
    Ok(())
}

fn batch(info: In<vk::BindSparseInfo>) -> Answer<Batch> {
    let mut all = Batch::default();
    // The group has this device alone.
    if let Some(g) = info.find::<vk::DeviceGroupBindSparseInfo>()
        && (g.resource_device_index != 0 || g.memory_device_index != 0)
    {
        return Err(invalid("vkQueueBindSparse: a device of the group that there is not"));
    }
    for b in info.buffer_binds() {
        let buffer = info.object::<Buffer>(b.buffer).ok_or(vk::Result::ERROR_UNKNOWN)?;
        let (gpu, binds) = (&buffer.gpu, b.binds());
        bytes(b, &mut all, gpu.sparse(), gpu.size.next_multiple_of(BLOCK), binds)?;
    }
    for b in info.image_opaque_binds() {
        let image = info.object::<Image>(b.image).ok_or(vk::Result::ERROR_UNKNOWN)?;
        let (gpu, binds) = (&image.gpu, b.binds());
        bytes(b, &mut all, gpu.sparse(), gpu.size(), binds)?;
    }
    for b in info.image_binds() {
        let image = info.object::<Image>(b.image).ok_or(vk::Result::ERROR_UNKNOWN)?;
        texels(b, &mut all, &image.gpu, b.binds())?;
    }
    Ok(all)
}

/// Semaphores with the values of those that are timelines.
fn operations<'a>(
    call: impl Call<'a>,
    semaphores: &[vk::Semaphore],
    values: &[u64],
    payload: fn(&Semaphore) -> Arc<machine::sync::Semaphore>,
) -> Vec<SemaphoreOp> {
    let stages = vk::PipelineStageFlags2::ALL_COMMANDS;
    let values = values.iter().copied().chain(std::iter::repeat(0));
    let of =
        |(s, value)| Some(SemaphoreOp { semaphore: payload(call.object::<Semaphore>(s)?), value, stages });
    semaphores.iter().copied().zip(values).filter_map(of).collect()
}

/// Everything is looked at before anything is done: what is refused leaves all as it was.
pub(crate) fn queue_bind_sparse(
    queue: &Queue,
    infos: In<[vk::BindSparseInfo]>,
    fence: vk::Fence,
) -> vk::Result {
    if queue.device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let fence = match fence {
        f if f == vk::Fence::null() => None,
        f => match queue.object::<Fence>(f) {
            Some(f) => Some(f.gpu()),
            None => return vk::Result::ERROR_UNKNOWN,
        },
    };
    let batches = match infos.iter().map(batch).collect::<Answer<Vec<_>>>() {
        Ok(b) => b,
        Err(e) => return e,
    };
    let mut submissions = vec![];
    for (i, b) in infos.iter().zip(batches) {
        let n = b.mappings();
        let Some(room) = Room::new(n) else {
            crate::base::debug::log_error(&format!(
                "vkQueueBindSparse: the system gives the process no {n} mappings more (vm.max_map_count)"
            ));
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        };
        submissions.push((i, Binds { list: b.binds, room }));
    }
    let mut submissions: Vec<Submission> = submissions
        .into_iter()
        .map(|(i, binds)| {
            let values = i.find::<vk::TimelineSemaphoreSubmitInfo>();
            let waits = values.map_or(&[][..], |v| v.wait_semaphore_values());
            let signals = values.map_or(&[][..], |v| v.signal_semaphore_values());
            Submission {
                waits: operations(i, i.wait_semaphores(), waits, Semaphore::waited),
                binds: Some(binds),
                signals: operations(i, i.signal_semaphores(), signals, Semaphore::gpu),
                frame: crate::queue::frame(i.find()),
                ..Default::default()
            }
        })
        .collect();
    if let Some(fence) = fence {
        match submissions.last_mut() {
            Some(last) => last.fence = Some(fence),
            None => submissions.push(Submission { fence: Some(fence), ..Default::default() }),
        }
    }
    if !submissions.is_empty() {
        queue.device.gpu.queue(queue.index).submit(submissions);
        gpu::hazards::host::settle(&queue.device.gpu.shared);
    }
    vk::Result::SUCCESS
}
