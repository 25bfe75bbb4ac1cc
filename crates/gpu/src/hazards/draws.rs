//! What draws read of vertex, index and indirect buffers.

use super::{Use, ranges};
use machine::footprint::Bytes;
use raster::draw::{Call, Draw, What};
use sanitize::hazards::{access, stage};
use shader::ir::Input;
use std::ops::Range;

/// Vertices of a draw beyond which no attributes are followed.
const MOST: u64 = 1 << 24;

/// All that a draw reads before its shaders run.
pub fn inputs(d: &Draw) -> Vec<(Use, Vec<Range<u64>>)> {
    let mut all = vec![];
    let (indirect, index, attribute) = (
        Use::read(stage::INDIRECT, access::INDIRECT),
        Use::read(stage::INDEX_INPUT, access::INDEX),
        Use::read(stage::ATTRIBUTE_INPUT, access::ATTRIBUTE),
    );
    match &d.what {
        What::Indirect { indexed, buffer, offset, stride, count, .. } => {
            let bytes = if *indexed { 20 } else { 16 };
            all.push((indirect, arguments(d, buffer, *offset, *stride, bytes)));
            all.extend(count.iter().map(|(b, at)| (indirect, ranges::buffer(b, *at, 4))));
        }
        What::MeshIndirect { buffer, offset, stride, count, .. } => {
            all.push((indirect, arguments(d, buffer, *offset, *stride, 12)));
            all.extend(count.iter().map(|(b, at)| (indirect, ranges::buffer(b, *at, 4))));
        }
        What::ByteCount { buffer, offset, .. } => all.push((
            Use::read(stage::INDIRECT, access::COUNTER_READ | access::INDIRECT),
            ranges::buffer(buffer, *offset, 4),
        )),
        What::Direct(_) | What::Mesh(_) => {}
    }
    if matches!(d.what, What::Mesh(_) | What::MeshIndirect { .. }) {
        return all;
    }
    let (mut indices, mut attributes) = (Bytes::default(), Bytes::default());
    let mut left = MOST;
    for i in 0..d.what.count() {
        let Some(call) = d.what.nth(i) else { break };
        left = left.saturating_sub(call.count as u64 * call.instances.max(1) as u64);
        if left == 0 {
            break;
        }
        let vertices = vertices(d, &call, &mut indices);
        read_attributes(d, &call, &vertices, &mut attributes);
    }
    all.push((index, indices.ranges()));
    all.push((attribute, attributes.ranges()));
    all.retain(|(_, bytes)| !bytes.is_empty());
    all
}

fn arguments(
    d: &Draw,
    buffer: &texel::buffer::Buffer,
    offset: u64,
    stride: u32,
    bytes: u64,
) -> Vec<Range<u64>> {
    let each = |i: u32| ranges::buffer(buffer, offset + i as u64 * stride as u64, bytes);
    (0..d.what.count()).flat_map(each).collect()
}

/// Vertices of a call, each once, in order.
fn vertices(d: &Draw, call: &Call, indices: &mut Bytes) -> Vec<Range<u64>> {
    if !call.indexed {
        let first = call.first as u64;
        return std::iter::once(first..first + call.count as u64).collect();
    }
    let Some((b, ib)) = d.index_buffer.as_ref().and_then(|ib| Some((ib.buffer.as_ref()?, ib))) else {
        return vec![];
    };
    let bytes = match ib.ty {
        ash::vk::IndexType::UINT8_EXT => 1,
        ash::vk::IndexType::UINT16 => 2,
        _ => 4,
    };
    let (p, room) = b.range(ib.offset, ib.size);
    let first = call.first as u64;
    let last = (first + call.count as u64).min(room / bytes);
    if first >= last {
        return vec![];
    }
    indices.add(p as u64 + first * bytes..p as u64 + last * bytes);
    // One byte stands for each vertex.
    let mut used = Bytes::default();
    for i in first..last {
        let at = p.wrapping_add((i * bytes) as usize);
        // SAFETY: within the buffer: `last`.
        let index = unsafe {
            match bytes {
                1 => at.read() as u32,
                2 => at.cast::<u16>().read_unaligned() as u32,
                _ => at.cast::<u32>().read_unaligned(),
            }
        };
        if d.state.primitive_restart && index == ib.restart {
            continue;
        }
        let vertex = index.wrapping_add_signed(call.vertex_offset) as u64;
        used.add(vertex..vertex + 1);
    }
    used.ranges()
}

fn read_attributes(d: &Draw, call: &Call, vertices: &[Range<u64>], all: &mut Bytes) {
    let program = &d.pipeline.vertex;
    let input = &d.state.input;
    for a in &input.attributes {
        let slots =
            a.location as usize * 4..a.location as usize * 4 + if a.format.is_64bit() { 8 } else { 4 };
        let reads =
            |(what, _): &(Input, _)| matches!(what, Input::Varying(s) if slots.contains(&(*s as usize)));
        if !program.inputs.iter().any(reads) {
            continue;
        }
        let Some(binding) = input.bindings.iter().find(|b| b.binding == a.binding) else { continue };
        let Some(v) = d.vertex_buffers.get(a.binding as usize) else { continue };
        let Some(buffer) = &v.buffer else { continue };
        let (p, room) = buffer.range(v.offset, v.size);
        let (bytes, stride) = (a.format.block_bytes as u64, binding.stride as u64);
        let mut element = |i: u64| {
            let at = i.saturating_mul(stride).saturating_add(a.offset as u64);
            if at.saturating_add(bytes) <= room {
                all.add(p as u64 + at..p as u64 + at + bytes);
            }
            at < room
        };
        match binding.divisor {
            None if stride == 0 => _ = element(0),
            None => vertices.iter().for_each(|r| _ = r.clone().all(&mut element)),
            Some(0) => _ = element(call.first_instance as u64),
            Some(n) => {
                let elements = call.instances.div_ceil(n) as u64;
                let first = call.first_instance as u64;
                (first..first + elements).all(element);
            }
        }
    }
}
