//! Assembly and fetch.

use super::*;
use crate::geometry::assembly::{Assembled, Assembly};
use vk::PrimitiveTopology as T;

/// A primitive's id, before its planes.
fn id(b: &Batch, p: &Prim) -> u32 {
    b.planes[p.planes as usize - 1].at.to_bits()
}

/// Flat values (the provoking vertices') and ids of a scene's primitives.
fn provoked(s: &mut Scene) -> Vec<(f32, u32)> {
    s.ids = true;
    let b = s.run();
    b.prims.iter().map(|p| (b.planes[p.planes as usize].at, id(&b, p))).collect()
}

/// Zigzag of `n` vertices with values 0, 1, 2 …
fn zigzag(n: usize) -> Vec<[f32; 5]> {
    (0..n).map(|i| at(i as f32 * 10.0 + 0.5, (i % 2) as f32 * 20.0 + 0.5, 0.0, i as f32)).collect()
}

#[test]
fn strips_keep_their_winding_and_provoking_vertices() {
    let mut s = Scene::new(T::TRIANGLE_STRIP, &zigzag(6));
    s.varyings = vec![flat(0)];
    let b = s.run();
    assert!(b.prims.windows(2).all(|w| w[0].side == w[1].side));
    assert_eq!(provoked(&mut s), [(0.0, 0), (1.0, 1), (2.0, 2), (3.0, 3)]);
    s.state.raster.provoking_last = true;
    assert_eq!(provoked(&mut s), [(2.0, 0), (3.0, 1), (4.0, 2), (5.0, 3)]);
    let b = s.run();
    assert!(b.prims.windows(2).all(|w| w[0].side == w[1].side));
    s.state.topology = T::TRIANGLE_LIST;
    assert_eq!(provoked(&mut s), [(2.0, 0), (5.0, 1)]);
    s.state.raster.provoking_last = false;
    assert_eq!(provoked(&mut s), [(0.0, 0), (3.0, 1)]);
    s.state.topology = T::LINE_STRIP;
    assert_eq!(provoked(&mut s), [(0.0, 0), (1.0, 1), (2.0, 2), (3.0, 3), (4.0, 4)]);
    s.state.raster.provoking_last = true;
    s.state.topology = T::LINE_LIST;
    assert_eq!(provoked(&mut s), [(1.0, 0), (3.0, 1), (5.0, 2)]);
}

#[test]
fn fans() {
    let v = [(50.0, 50.0), (90.0, 50.0), (90.0, 90.0), (50.0, 90.0), (10.0, 90.0)];
    let v: Vec<[f32; 5]> = v.iter().enumerate().map(|(i, p)| at(p.0, p.1, 0.0, i as f32)).collect();
    let mut s = Scene::new(T::TRIANGLE_FAN, &v);
    s.varyings = vec![flat(0)];
    assert_eq!(provoked(&mut s), [(1.0, 0), (2.0, 1), (3.0, 2)]);
    s.state.raster.provoking_last = true;
    assert_eq!(provoked(&mut s), [(2.0, 0), (3.0, 1), (4.0, 2)]);
    assert!(s.run().prims.iter().all(|p| p.side.front()));
}

#[test]
fn restart_begins_anew() {
    let stop = 0xFFFF;
    let mut s = Scene::new(T::TRIANGLE_STRIP, &zigzag(8));
    s = s.indices(&[0, 1, 2, 3, stop, stop, 4, 5, stop, 4, 5, 6, 7]);
    s.varyings = vec![flat(0)];
    s.state.primitive_restart = true;
    assert_eq!(provoked(&mut s), [(0.0, 0), (1.0, 1), (4.0, 2), (5.0, 3)]);
    let b = s.run();
    assert!(b.prims.iter().all(|p| p.side == b.prims[0].side), "each strip starts even");
    // Every distinct index once.
    assert_eq!(b.counts.events[Event::VertexInvocations], 8);
    assert_eq!(b.counts.events[Event::InputPrimitives], 4);
    // Ids start again with each instance.
    s.call.instances = 2;
    let b = s.run();
    let ids: Vec<u32> = b.prims.iter().map(|p| id(&b, p)).collect();
    assert_eq!(ids, [0, 1, 2, 3, 0, 1, 2, 3]);
}

/// VK_EXT_primitive_restart_index: another index ends a strip, and that of all ones is a vertex's.
#[test]
fn restarts_are_where_the_program_says() {
    let mut s = Scene::new(T::TRIANGLE_STRIP, &zigzag(8)).indices(&[0, 1, 2, 7, 3, 4, 5, 6]);
    s.varyings = vec![flat(0)];
    s.state.primitive_restart = true;
    s.index_buffer.as_mut().unwrap().restart = 7;
    assert_eq!(provoked(&mut s), [(0.0, 0), (3.0, 1), (4.0, 2)]);
}

/// Vertices of the primitives of a segment, by their places in it (§ Primitive Topologies); those of triangles with adjacency are the
/// triangle's, then the adjacent ones.
fn primitives_of(topology: T, n: usize, patch: usize) -> Vec<Vec<usize>> {
    let each = |count: usize, of: &dyn Fn(usize) -> Vec<usize>| (0..count).map(of).collect();
    let run = |from: usize, n: usize| (from..from + n).collect::<Vec<_>>();
    match topology {
        T::POINT_LIST => each(n, &|i| vec![i]),
        T::LINE_LIST => each(n / 2, &|i| run(2 * i, 2)),
        T::LINE_STRIP => each(n.saturating_sub(1), &|i| run(i, 2)),
        T::TRIANGLE_LIST => each(n / 3, &|i| run(3 * i, 3)),
        T::TRIANGLE_STRIP => each(n.saturating_sub(2), &|i| vec![i, i + 1 + i % 2, i + 2 - i % 2]),
        T::TRIANGLE_FAN => each(n.saturating_sub(2), &|i| vec![i + 1, i + 2, 0]),
        T::LINE_LIST_WITH_ADJACENCY => each(n / 4, &|i| run(4 * i, 4)),
        T::LINE_STRIP_WITH_ADJACENCY => each(n.saturating_sub(3), &|i| run(i, 4)),
        T::TRIANGLE_LIST_WITH_ADJACENCY => each(n / 6, &|i| [0, 2, 4, 1, 3, 5].map(|k| 6 * i + k).to_vec()),
        T::TRIANGLE_STRIP_WITH_ADJACENCY => {
            // The table of § Triangle Strips With Adjacency, where the first vertex provokes.
            let count = n.saturating_sub(4) / 2;
            each(count, &|i| {
                let before = if i == 0 { 1 } else { 2 * i - 2 };
                let after = if i + 1 == count { 2 * i + 5 } else { 2 * i + 6 };
                match i % 2 {
                    0 => vec![2 * i, 2 * i + 2, 2 * i + 4, before, after, 2 * i + 3],
                    _ => vec![2 * i, 2 * i + 4, 2 * i + 2, 2 * i + 3, after, before],
                }
            })
        }
        T::PATCH_LIST => each(n / patch, &|i| run(i * patch, patch)),
        _ => vec![],
    }
}

/// Restarts at the edges of chunks and of the stream's blocks, many and none for long: every primitive of every topology is what its
/// segment says, in all instances.
#[test]
fn restarts_in_all_topologies() {
    const STOP: u16 = 0xFFFF;
    const N: u16 = 9000;
    let at = |is: &dyn Fn(u16) -> bool| (0..N).map(|i| if is(i) { STOP } else { i }).collect::<Vec<_>>();
    let edges = [0, 1, 767, 768, 1021, 1022, 1023, 1024, 1025, 1027, 2047, 2048, 3072, 4096, N - 1];
    let lists = [
        at(&|i| edges.contains(&i)),
        at(&|i| i % 3 == 0 && i % 1000 < 200 || i == 5000),
        at(&|i| i % 13 == 12),
        at(&|i| i > 100 && i < 7000),
        at(&|_| false),
        at(&|_| true),
    ];
    let shared = Shared::new(Arc::new(|m: &str| panic!("{m}")), true).unwrap();
    for topology in (0..11).map(T::from_raw) {
        for (k, list) in lists.iter().enumerate() {
            let mut s = Scene::new(topology, &zigzag(8)).indices(list);
            s.state.primitive_restart = true;
            s.state.patch_vertices = 5;
            s.call.instances = 2;
            s.call.first_instance = 3;
            let mut want = vec![];
            for part in list.split(|i| *i == STOP) {
                let of = |v: Vec<usize>| v.iter().map(|i| part[*i] as u32).collect::<Vec<_>>();
                want.extend(primitives_of(topology, part.len(), 5).into_iter().map(of));
            }
            let draw = s.draw();
            let mut a = Assembly::new(&shared.hub, &draw, &s.call).expect("it is assembled");
            a.each = want.first().map_or(0, Vec::len) as u32;
            assert_eq!(a.total, 2 * want.len() as u64, "{topology:?}, list {k}");
            assert_eq!(a.vertices, list.iter().filter(|i| **i != STOP).count() as u64);
            let (mut got, mut chunk) = (vec![], Assembled::default());
            for c in 0..a.chunks() {
                a.assemble(&shared.hub, c, &mut chunk);
                for (n, vertices) in chunk.all.chunks(a.each as usize).enumerate() {
                    let mut v: Vec<_> = vertices.iter().map(|v| chunk.index[*v as usize]).collect();
                    if v.len() == 6 {
                        v = [0, 2, 4, 1, 3, 5].map(|k| v[k]).to_vec();
                    }
                    got.push((chunk.instance[vertices[0] as usize], chunk.ids[n], v));
                }
            }
            let of = |instance| want.iter().enumerate().map(move |(id, v)| (instance, id as u32, v.clone()));
            assert!(got == of(3).chain(of(4)).collect::<Vec<_>>(), "{topology:?}, list {k}");
        }
    }
}

#[test]
fn vertex_offsets_and_short_index_buffers() {
    let mut s = Scene::new(T::TRIANGLE_LIST, &zigzag(8)).indices(&[0, 1, 2, 3, 4, 5]);
    s.varyings = vec![flat(0)];
    s.call.vertex_offset = 2;
    assert_eq!(provoked(&mut s), [(2.0, 0), (5.0, 1)]);
    // Past the end: index 0. The second triangle is 3, 4, 0.
    s.call.vertex_offset = 0;
    s.index_buffer.as_mut().unwrap().size = 10;
    s.state.raster.provoking_last = true;
    assert_eq!(provoked(&mut s), [(2.0, 0), (0.0, 1)]);
    s.index_buffer.as_mut().unwrap().buffer = None;
    assert_eq!(provoked(&mut s), []);
}

#[test]
fn built_ins() {
    let mut s = Scene::new(T::TRIANGLE_LIST, &zigzag(9)).indices(&[1, 2, 3]);
    s.slots.extend([
        (Input::VertexIndex, 8),
        (Input::InstanceIndex, 9),
        (Input::BaseVertex, 10),
        (Input::BaseInstance, 11),
        (Input::DrawIndex, 12),
    ]);
    s.varyings = (8..13).map(flat).collect();
    (s.call.vertex_offset, s.call.first_instance, s.call.instances) = (4, 3, 2);
    let bits: Vec<u32> = s.run().planes.iter().map(|p| p.at.to_bits()).collect();
    assert_eq!(bits, [5, 3, 4, 3, 7, 5, 4, 4, 3, 7]);
    s.call.indexed = false;
    (s.call.first, s.call.instances) = (2, 1);
    let bits: Vec<u32> = s.run().planes.iter().map(|p| p.at.to_bits()).collect();
    assert_eq!(bits, [2, 3, 2, 3, 7]);
}

/// What an attribute of this format at location 1 reads as, slots 4 to 11, for vertices 0, 1, 2 (the third one is
/// never in bounds).
fn fetched(format: vk::Format, bytes: &[u8], divisor: Option<u32>, stride: Option<u32>) -> [[u32; 8]; 3] {
    let f = info(format).unwrap();
    let mut s = Scene::new(T::POINT_LIST, &zigzag(3));
    s.state.input.bindings.push(VertexBinding {
        binding: 1,
        stride: stride.unwrap_or(f.block_bytes),
        divisor,
    });
    s.state.input.attributes[1] = VertexAttribute { location: 1, binding: 1, format: f, offset: 0 };
    s.vertex_buffers.push(VertexBuffer { buffer: Some(buffer(bytes)), offset: 0, size: bytes.len() as u64 });
    s.slots = (0..4).map(|i| (Input::Varying(i), interface::POSITION + i)).collect();
    s.slots.extend((4..12).map(|i| (Input::Varying(i), i)));
    s.varyings = (4..12).map(flat).collect();
    if divisor.is_some() {
        (s.call.first, s.call.count, s.call.instances) = (1, 1, 3);
    }
    let b = s.run();
    std::array::from_fn(|v| std::array::from_fn(|k| b.planes[v * 8 + k].at.to_bits()))
}

#[test]
fn formats() {
    let one = 1f32.to_bits();
    let f = f32::to_bits;
    let v = fetched(vk::Format::R8G8B8A8_UNORM, &[0, 255, 51, 255, 255, 0, 0, 0], None, None);
    assert_eq!(v[0][..4], [0, one, f(0.2), one]);
    assert_eq!(v[1][..4], [one, 0, 0, 0]);
    assert_eq!(v[2][..4], [0, 0, 0, 0], "out of bounds: every component there is reads 0");
    let v = fetched(vk::Format::B8G8R8A8_UNORM, &[0, 51, 255, 255, 0, 0, 0, 0], None, None);
    assert_eq!(v[0][..4], [one, f(0.2), 0, one]);
    let v = fetched(vk::Format::R32G32_SFLOAT, bytemuck::cast_slice(&[1.5f32, -2.0, 3.0, 4.0]), None, None);
    assert_eq!(v[0][..4], [f(1.5), f(-2.0), 0, one]);
    assert_eq!(v[1][..4], [f(3.0), f(4.0), 0, one]);
    assert_eq!(v[2][..4], [0, 0, 0, one], "missing components as ever");
    let v = fetched(vk::Format::R16_SINT, &[0xFE, 0xFF, 5, 0], None, None);
    assert_eq!((v[0][..4].to_vec(), v[1][0]), (vec![-2i32 as u32, 0, 0, 1], 5));
    let v = fetched(vk::Format::R8G8_USCALED, &[7, 200, 0, 1], None, None);
    assert_eq!(v[0][..4], [f(7.0), f(200.0), 0, one]);
    let v = fetched(vk::Format::A2B10G10R10_SNORM_PACK32, &[0xFF, 1, 0, 0x40, 0, 0, 0, 0], None, None);
    assert_eq!(v[0][..4], [one, 0, 0, one]);
    let v = fetched(vk::Format::R16G16_SFLOAT, &[0, 0x3C, 0, 0xC0, 0, 0, 0, 0], None, None);
    assert_eq!(v[0][..4], [one, f(-2.0), 0, one]);
}

#[test]
fn wide_formats_take_two_slots() {
    let v = fetched(vk::Format::R64G64B64_SFLOAT, bytemuck::cast_slice(&[1.5f64, -2.0, 1e300]), None, None);
    let words: Vec<u32> =
        [1.5f64, -2.0, 1e300].iter().flat_map(|d| [d.to_bits() as u32, (d.to_bits() >> 32) as u32]).collect();
    assert_eq!(v[0][..6], words);
    assert_eq!(v[1][..6], [0; 6]);
}

#[test]
fn strides_and_divisors() {
    let bytes: Vec<u8> = (0..16).collect();
    let x = |v: [[u32; 8]; 3]| v.map(|v| v[0]);
    let r8 = vk::Format::R8_UINT;
    assert_eq!(x(fetched(r8, &bytes, None, Some(0))), [0, 0, 0]);
    assert_eq!(x(fetched(r8, &bytes, None, Some(5))), [0, 5, 10]);
    // Unaligned words.
    assert_eq!(x(fetched(vk::Format::R32_UINT, &bytes, None, Some(3)))[1], 0x06050403);
    assert_eq!(x(fetched(r8, &bytes, Some(1), Some(2))), [0, 2, 4]);
    assert_eq!(x(fetched(r8, &bytes, Some(2), Some(2))), [0, 0, 2]);
    assert_eq!(x(fetched(r8, &bytes, Some(0), Some(2))), [0, 0, 0]);
}
