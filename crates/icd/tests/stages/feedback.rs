//! What transform feedback captures (§ Transform Feedback).

use super::{Make, Rig, S, T, spirv};
use crate::gpu::Mapped;
use ash::vk;

const WHOLE: u64 = vk::WHOLE_SIZE;
/// What was there before.
const OLD: u32 = 0xDEAD_BEEF;

fn room(rig: &Rig, words: usize) -> Mapped {
    let m = rig.g.buffer(words);
    m.words.fill(OLD);
    m
}

fn capturing(rig: &Rig, vertex: &[u8], topology: T) -> vk::Pipeline {
    rig.pipeline(Make { stages: &[(S::VERTEX, vertex)], topology, discard: true, stream: 0 })
}

/// Words of vertex `i` of `stages_capture.vert` in its first buffer, and in the other.
fn vertex(i: u32, instance: u32) -> ([u32; 6], [u32; 2]) {
    let f = |v: f32| v.to_bits();
    ([f(i as f32), f(i as f32 / 2.0), f(-1.0), OLD, i + 100, 7], [i * i, instance])
}

#[test]
fn values_lie_at_their_offsets_and_strides() {
    let rig = Rig::new();
    let p = capturing(&rig, spirv!("capture.vert"), T::POINT_LIST);
    let (a, b) = (room(&rig, 128), room(&rig, 64));
    rig.g.run(|_, c| {
        rig.pass(c, p, |d| {
            rig.bind(c, &[(&a, 16, WHOLE), (&b, 8, WHOLE)]);
            rig.begin(c, &[]);
            unsafe { d.cmd_draw(c, 5, 2, 3, 0) };
            rig.end(c, &[]);
        });
    });
    let (mut first, mut second) = (vec![OLD; 128], vec![OLD; 64]);
    for k in 0..10 {
        let (x, y) = vertex(3 + k as u32 % 5, k as u32 / 5);
        first[4 + 6 * k..][..6].copy_from_slice(&x);
        second[2 + 2 * k..][..2].copy_from_slice(&y);
    }
    // Nothing is captured between the third component and the next output: what a gap holds is ours to leave.
    assert_eq!(a.words, first);
    assert_eq!(b.words, second);
    rig.destroy(&[p]);
    [a, b].into_iter().for_each(|m| rig.g.free(m));
}

/// Strips and fans as lists, in the specification's order of each triangle's vertices.
#[test]
fn strips_are_captured_as_lists() {
    let rig = Rig::new();
    let m = room(&rig, 64);
    for (topology, want) in [
        (T::TRIANGLE_STRIP, &[0, 1, 2, 1, 3, 2, 2, 3, 4][..]),
        (T::TRIANGLE_FAN, &[1, 2, 0, 2, 3, 0, 3, 4, 0]),
        (T::LINE_STRIP, &[0, 1, 1, 2, 2, 3, 3, 4]),
        (T::LINE_LIST, &[0, 1, 2, 3]),
        (T::TRIANGLE_LIST, &[0, 1, 2]),
    ] {
        m.words.fill(OLD);
        let p = capturing(&rig, spirv!("number.vert"), topology);
        rig.g.run(|_, c| {
            rig.pass(c, p, |d| {
                rig.bind(c, &[(&m, 0, WHOLE)]);
                rig.begin(c, &[]);
                unsafe { d.cmd_draw(c, 5, 1, 0, 0) };
                rig.end(c, &[]);
            });
        });
        assert_eq!(m.words[..want.len()], *want, "{topology:?}");
        assert!(m.words[want.len()..].iter().all(|w| *w == OLD), "{topology:?}");
        rig.destroy(&[p]);
    }
    rig.g.free(m);
}

/// A counter buffer says how many bytes there are; feedback goes on from it, and a draw has as many vertices as they make.
#[test]
fn feedback_is_paused_resumed_and_drawn_from() {
    let rig = Rig::new();
    let p = capturing(&rig, spirv!("capture.vert"), T::POINT_LIST);
    let (a, b, counters, n) = (room(&rig, 128), room(&rig, 64), room(&rig, 8), room(&rig, 64));
    let number = capturing(&rig, spirv!("number.vert"), T::POINT_LIST);
    let places = [(&counters, 8), (&counters, 20)];
    rig.g.run(|_, c| {
        rig.pass(c, p, |d| {
            rig.bind(c, &[(&a, 0, WHOLE), (&b, 0, WHOLE)]);
            rig.begin(c, &[]);
            unsafe { d.cmd_draw(c, 3, 1, 0, 0) };
            rig.end(c, &places);
            // Not captured.
            unsafe { d.cmd_draw(c, 9, 1, 50, 0) };
            rig.begin(c, &places);
            unsafe { d.cmd_draw(c, 2, 1, 10, 0) };
            rig.end(c, &places);
        });
        rig.pass(c, number, |_| {
            rig.bind(c, &[(&n, 0, WHOLE)]);
            rig.begin(c, &[]);
            // Five vertices of 24 bytes: without the first 24, and by 32 bytes, which is a vertex less of what is left.
            let draw = rig.feedback.fp().cmd_draw_indirect_byte_count_ext;
            unsafe {
                draw(c, 1, 0, counters.buffer, 8, 0, 24);
                draw(c, 2, 0, counters.buffer, 8, 24, 32);
            }
            rig.end(c, &[]);
        });
    });
    assert_eq!(counters.words, [OLD, OLD, 5 * 24, OLD, OLD, 5 * 8, OLD, OLD]);
    for (k, i) in [0, 1, 2, 10, 11].into_iter().enumerate() {
        let (x, y) = vertex(i, 0);
        assert_eq!(a.words[6 * k..][..6], x);
        assert_eq!(b.words[2 * k..][..2], y);
    }
    assert!(a.words[30..].iter().chain(&b.words[10..]).all(|w| *w == OLD));
    assert_eq!(n.words[..12], [0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, OLD]);
    rig.destroy(&[p, number]);
    [a, b, counters, n].into_iter().for_each(|m| rig.g.free(m));
}

/// Where one buffer is full, nothing more goes to either; a primitive is captured whole or not at all.
#[test]
fn nothing_is_written_beyond_a_buffer() {
    let rig = Rig::new();
    let p = capturing(&rig, spirv!("capture.vert"), T::TRIANGLE_LIST);
    let (a, b, counters) = (room(&rig, 256), room(&rig, 64), room(&rig, 2));
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT)
        .query_count(1);
    let got = rig.queries(&info, 2, |d, c, pool| {
        rig.pass(c, p, |_| {
            // Room for eight vertices in the other one: two triangles.
            rig.bind(c, &[(&a, 0, WHOLE), (&b, 16, 8 * 8 + 4)]);
            rig.begin(c, &[]);
            unsafe {
                d.cmd_begin_query(c, pool, 0, Default::default());
                d.cmd_draw(c, 3, 1, 0, 0);
                d.cmd_draw(c, 9, 1, 3, 0);
                d.cmd_draw(c, 30, 1, 20, 0);
                d.cmd_end_query(c, pool, 0);
            }
            rig.end(c, &[(&counters, 0), (&counters, 4)]);
        });
    });
    assert_eq!(got, [[2, 14]]);
    assert_eq!(counters.words, [6 * 24, 6 * 8]);
    for k in 0..6 {
        let (x, y) = vertex(k as u32, 0);
        assert_eq!((&a.words[6 * k..][..6], &b.words[4 + 2 * k..][..2]), (&x[..], &y[..]));
    }
    assert!(a.words[36..].iter().chain(&b.words[16..]).chain(&b.words[..4]).all(|w| *w == OLD));
    // A draw in pieces, of which the buffer ends within one; an offset at the buffer's end.
    let number = capturing(&rig, spirv!("number.vert"), T::POINT_LIST);
    let m = room(&rig, 10_000);
    rig.g.run(|_, c| {
        rig.pass(c, number, |d| {
            rig.bind(c, &[(&m, 40, 5001 * 4 + 2)]);
            rig.begin(c, &[]);
            unsafe { d.cmd_draw(c, 100_000, 1, 0, 0) };
            rig.end(c, &[]);
            rig.bind(c, &[(&m, 40_000, WHOLE)]);
            rig.begin(c, &[]);
            unsafe { d.cmd_draw(c, 10, 1, 0, 0) };
            rig.end(c, &[]);
        });
    });
    assert!(m.words[10..5011].iter().enumerate().all(|(i, w)| *w == i as u32));
    assert!(m.words[..10].iter().chain(&m.words[5011..]).all(|w| *w == OLD));
    rig.destroy(&[p, number]);
    [a, b, counters, m].into_iter().for_each(|m| rig.g.free(m));
}

/// Pieces of draws that several threads run, and what comes after them: as one after the other.
#[test]
fn pieces_are_captured_in_their_order() {
    let rig = Rig::new();
    let p = capturing(&rig, spirv!("number.vert"), T::TRIANGLE_STRIP);
    let (m, counters) = (room(&rig, 40_000), room(&rig, 1));
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT)
        .query_count(1);
    // Two draws fit, the third in part: to within a piece of it, and not to a triangle's end.
    let strips = [(5002, 0), (3002, 7000), (9002, 20_000)];
    let fit = 8000 + 4321;
    let got = rig.queries(&info, 2, |d, c, pool| {
        rig.pass(c, p, |_| {
            rig.bind(c, &[(&m, 0, fit * 12 + 8)]);
            rig.begin(c, &[]);
            unsafe {
                d.cmd_begin_query(c, pool, 0, Default::default());
                strips.iter().for_each(|(n, first)| d.cmd_draw(c, *n, 1, *first, 0));
                d.cmd_end_query(c, pool, 0);
            }
            rig.end(c, &[(&counters, 0)]);
        });
    });
    assert_eq!(got, [[fit, 17_000]]);
    assert_eq!(counters.words[0] as u64, fit * 12);
    let triangles = strips
        .iter()
        .flat_map(|(n, first)| (0..n - 2).map(move |i| [0, 1 + i % 2, 2 - i % 2].map(|k| first + i + k)));
    let want: Vec<u32> = triangles.take(fit as usize).flatten().collect();
    assert!(m.words[..want.len()] == want, "captured out of order");
    assert!(m.words[want.len()..].iter().all(|w| *w == OLD));
    rig.destroy(&[p]);
    [m, counters].into_iter().for_each(|m| rig.g.free(m));
}

/// Two streams of points; the other stream's buffer is full after three of its points, which does not touch the first.
#[test]
fn streams_go_to_buffers_of_their_own() {
    let rig = Rig::new();
    let stages = [(S::VERTEX, spirv!("number.vert")), (S::GEOMETRY, spirv!("streams.geom"))];
    let p = rig.pipeline(Make { stages: &stages, topology: T::POINT_LIST, discard: true, stream: 0 });
    let (a, b) = (room(&rig, 32), room(&rig, 32));
    let fp = |rig: &Rig| {
        let f = rig.feedback.fp();
        (f.cmd_begin_query_indexed_ext, f.cmd_end_query_indexed_ext)
    };
    for kind in [vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT, vk::QueryType::PRIMITIVES_GENERATED_EXT] {
        [&a, &b].into_iter().for_each(|m| {
            let words = m.words.as_ptr().cast_mut();
            // SAFETY: nothing else reads them now.
            (0..32).for_each(|i| unsafe { words.add(i).write(OLD) });
        });
        let info = vk::QueryPoolCreateInfo::default().query_type(kind).query_count(2);
        let feedback = kind == vk::QueryType::TRANSFORM_FEEDBACK_STREAM_EXT;
        let got = rig.queries(&info, if feedback { 2 } else { 1 }, |d, c, pool| {
            rig.pass(c, p, |_| unsafe {
                let (begin, end) = fp(&rig);
                rig.bind(c, &[(&a, 0, WHOLE), (&b, 0, 3 * 8)]);
                begin(c, pool, 0, Default::default(), 0);
                begin(c, pool, 1, Default::default(), 1);
                rig.begin(c, &[]);
                d.cmd_draw(c, 6, 1, 0, 0);
                rig.end(c, &[]);
                end(c, pool, 0, 0);
                end(c, pool, 1, 1);
            });
        });
        match feedback {
            true => assert_eq!(got, [[6, 6], [3, 12]]),
            false => assert_eq!(got, [[6], [12]]),
        }
        assert_eq!(a.words[..7], [10, 11, 12, 13, 14, 15, OLD]);
        assert_eq!(b.words[..7], [0, 0, 0, 1, 1, 0, OLD]);
    }
    rig.destroy(&[p]);
    [a, b].into_iter().for_each(|m| rig.g.free(m));
}
