//! Vertex and fragment programs, compiled from GLSL (`crates/shader/tests/spirv`, by `glslangValidator -V --target-env vulkan1.1`), on every
//! level and width, against values worked out by hand.

use crate::common::{TestHost, levels, to_words, words};
use shader::bytecode::Program;
use shader::interface::*;
use shader::ir::{Input, Stage};
use shader::options::{Binding, Options, WaveWidth};
use simd::Level;
use wave::{Job, Stop, Table, Worker};

fn compile(spirv: &[u8], stage: Stage, lanes: u32, optimise: bool) -> Program {
    let binding = |_, b| Some(Binding::new(0, 32 * b, 1));
    let options =
        Options { width: WaveWidth::Lanes(lanes), optimise, ..Options::new(stage, "main", &binding) };
    shader::compile(&shader::Module::parse(to_words(spirv)).unwrap(), &options).unwrap()
}

/// What came out of a wave: outputs by slot, and who is left.
struct Out {
    slots: Vec<(u16, Vec<u32>)>,
    alive: Vec<bool>,
    buffer: Vec<u32>,
}

impl Out {
    #[track_caller]
    fn bits(&self, slot: u16, lane: usize) -> u32 {
        self.slots.iter().find(|s| s.0 == slot).unwrap_or_else(|| panic!("no slot {slot:#x}")).1[lane]
    }
    #[track_caller]
    fn float(&self, slot: u16, lane: usize) -> f32 {
        f32::from_bits(self.bits(slot, lane))
    }
    fn has(&self, slot: u16) -> bool {
        self.slots.iter().any(|s| s.0 == slot)
    }
}

fn mask(p: &Program, f: impl Fn(usize) -> bool) -> [u16; 32] {
    let mut m = [0; 32];
    for lane in (0..p.lanes as usize).filter(|&l| f(l)) {
        m[lane / 16] |= 1 << (lane % 16);
    }
    m
}

/// Runs one wave; `lane(input, l)` fills it. Lanes for which `runs` holds run, those with `lives` are no helpers.
fn wave(
    worker: &mut Worker,
    serial: u64,
    p: &Program,
    buffer: &[u32],
    lane: &dyn Fn(Input, usize) -> u32,
    runs: &dyn Fn(usize) -> bool,
    lives: &dyn Fn(usize) -> bool,
) -> Result<Out, Stop> {
    let mut bytes = words(buffer);
    let table = [[bytes.as_mut_ptr() as u64, bytes.len() as u64, 0, 0]];
    again(worker, serial, p, &mut bytes, &table, lane, runs, lives)
}

/// As [`wave`], with a table that may be an earlier wave's: waves of one serial have one table.
fn again(
    worker: &mut Worker,
    serial: u64,
    p: &Program,
    bytes: &mut [u8],
    table: &[[u64; 4]; 1],
    lane: &dyn Fn(Input, usize) -> u32,
    runs: &dyn Fn(usize) -> bool,
    lives: &dyn Fn(usize) -> bool,
) -> Result<Out, Stop> {
    let tables = [Table { ptr: table.as_ptr() as *const u8, size: 32 }];
    let host = TestHost::default();
    let job = Job { serial, program: p, tables: &tables, push: &[], host: &host, arena: wave::Arena::NONE };
    let mut lanes = worker.open(&job)?;
    for (i, &(input, reg)) in p.inputs.iter().enumerate() {
        match input {
            Input::SubgroupLane => {}
            Input::FrontFacing | Input::HelperInvocation | Input::FullyCovered => {
                *lanes.input_mask(i) = mask(p, |l| lane(input, l) != 0);
            }
            _ => {
                let rows = lanes.input(i);
                assert_eq!(rows.len(), if reg.is_uniform() { 1 } else { p.lanes as usize / 16 });
                for (w, row) in rows.iter_mut().enumerate() {
                    *row = std::array::from_fn(|k| lane(input, 16 * w + k));
                }
            }
        }
    }
    *lanes.exec() = mask(p, runs);
    *lanes.alive() = mask(p, lives);
    lanes.run()?;
    let n = lanes.count();
    let slots = p.outputs.iter().enumerate().map(|(i, &(slot, _))| {
        let rows = lanes.output(i);
        (slot, (0..n).map(|l| rows[if rows.len() == 1 { 0 } else { l / 16 }][l % 16]).collect())
    });
    let slots = slots.collect();
    let alive = *lanes.alive();
    let alive = (0..n).map(|l| alive[l / 16] >> (l % 16) & 1 != 0).collect();
    Ok(Out { slots, alive, buffer: to_words(bytes) })
}

/// Every level, width and with and without optimisation.
fn everywhere(spirv: &[u8], stage: Stage, f: impl Fn(&Program, &mut Worker)) {
    for lanes in [64, 256] {
        for optimise in [true, false] {
            let p = compile(spirv, stage, lanes, optimise);
            for level in levels() {
                f(&p, &mut Worker::new(level));
            }
        }
    }
}

#[test]
fn vertex_outputs() {
    everywhere(include_bytes!("../../shader/tests/spirv/plain.vert.spv"), Stage::Vertex, |p, worker| {
        let number = |l: usize| l as i32 % 5 - 1;
        let position = |c: usize, l: usize| (l + c) as f32;
        let matrix: Vec<u32> = (0..16).map(|k| if k % 5 == 0 { 2.0f32 } else { 0.0 }.to_bits()).collect();
        let lane = |i: Input, l: usize| match i {
            Input::Varying(s @ 0..=2) => position(s as usize, l).to_bits(),
            Input::Varying(4) => number(l) as u32,
            Input::Varying(s @ 8..=11) => {
                let v = if s < 10 { l as f64 } else { 0.5 };
                (v.to_bits() >> (32 * (s & 1))) as u32
            }
            Input::VertexIndex => l as u32,
            Input::InstanceIndex => 3,
            i => panic!("{i:?}"),
        };
        assert!(p.interface.varyings.is_empty() && !p.interface.writes_memory);
        let out = wave(worker, 1, p, &matrix, &lane, &|l| l != 9, &|_| true).unwrap();
        assert!(!out.has(POINT_SIZE), "never written");
        for l in (0..p.lanes as usize).filter(|&l| l != 9) {
            for c in 0..3 {
                assert_eq!(out.float(POSITION + c as u16, l), 2.0 * position(c, l));
            }
            assert_eq!(out.float(POSITION + 3, l), 2.0);
            let odd = number(l) & 1 == 1;
            let clip = |k: u16| out.float(CLIP_DISTANCE + k, l);
            assert_eq!(clip(1), if odd { 5.0 } else { l as f32 - 1.0 });
            if !odd {
                assert_eq!(clip(0), 5.0);
            }
            let x = position(0, l) * 2.0;
            assert_eq!((out.float(0, l), out.float(1, l)), (x, position(1, l) * 2.0 + x));
            assert_eq!(out.bits(4, l) as i32, number(l) + l as i32 * 100 + 30000);
            assert_eq!(out.float(22, l), 7.0);
            let big = |k: u16| {
                f64::from_bits(out.bits(24 + 2 * k, l) as u64 | (out.bits(25 + 2 * k, l) as u64) << 32)
            };
            assert_eq!([big(0), big(1), big(2)], [l as f64, 0.5, l as f64 + 0.5]);
            let mat = [32, 33, 36, 37].map(|s| out.float(s, l));
            assert_eq!(mat, [1.0, 2.0, 3.0, position(2, l)]);
            if number(l) < 0 {
                assert_eq!([8, 9, 10, 11].map(|s| out.float(s, l)), [1.0, 2.0, 3.0, 4.0]);
            } else {
                // Locations 3 and 4 hold the array.
                assert_eq!(out.float(if odd { 17 } else { 13 }, l), position(1, l));
            }
        }
        assert!(!out.has(21), "shifted.x is never written");
        assert!(!out.has(12), "b[].x is never written");
    });
}

#[test]
fn fragment_facts() {
    everywhere(include_bytes!("../../shader/tests/spirv/facts.frag.spv"), Stage::Fragment, |p, worker| {
        let i = &p.interface;
        assert!(i.early_tests && i.writes_stencil && i.writes_sample_mask && i.per_sample);
        assert!(!i.writes_memory && !i.discards && !i.reads_tile && !i.needs_quads && !i.post_depth_coverage);
        assert_eq!(i.depth, DepthMode::Greater);
        let v = |slot, flat, no_perspective, at| Varying { slot, flat, no_perspective, at, half: false };
        // smooth_.y, flat_, linear, at_centroid, x.y (location 5), y[1].z (location 7), a clip distance.
        let want = [
            v(1, false, false, At::Center),
            v(4, true, false, At::Center),
            v(5, true, false, At::Center),
            v(8, false, true, At::Center),
            v(12, false, false, At::Centroid),
            v(21, false, false, At::Sample),
            v(30, false, true, At::Centroid),
            v(CLIP_DISTANCE + 1, false, false, At::Center),
        ];
        assert_eq!(i.varyings, want);
        let lane = |i: Input, l: usize| {
            let l = l as f32;
            let v: f32 = match i {
                Input::Varying(4) => return l as u32,
                Input::Varying(5) => return 3,
                Input::Varying(21) => 100.0,
                Input::Varying(30) => 4.5,
                Input::Varying(s) if s == CLIP_DISTANCE + 1 => l,
                Input::PlaneAt(1) => 10.0,
                Input::PlaneDx(1) => 2.0,
                Input::PlaneDy(1) => 4.0,
                Input::PlaneAt(8) => l,
                Input::PlaneDx(8) => 8.0,
                Input::PlaneDy(8) => 2.0,
                Input::PlaneAt(12) => 3.0,
                Input::PlaneDx(12) => 16.0,
                Input::PlaneDy(12) => 32.0,
                Input::InvW(0) => 1.0,
                Input::InvW(1) => 2.0,
                Input::InvW(2) => 0.0,
                Input::CentroidOffset(0) => 0.5,
                Input::CentroidOffset(1) => -0.25,
                Input::SampleOffset(6) => 0.125,
                Input::SampleOffset(7) => 0.0625,
                Input::FragCoord(0) => l + 0.5,
                Input::FragCoord(2) => 0.25,
                Input::SampleMask => return l as u32,
                i => panic!("{i:?}"),
            };
            v.to_bits()
        };
        let out = wave(worker, 1, p, &[0; 4], &lane, &|_| true, &|_| true).unwrap();
        for l in 0..p.lanes as usize {
            // (10 + 0.5·2 − 0.25·4) / (1 + 0.5·2) + 100
            assert_eq!(out.float(0, l), 105.0);
            assert_eq!(out.float(2, l), l as f32 + 2.0 - 1.0);
            // (3 + 2 + 2) / (1 + 0.25)
            assert_eq!(out.float(3, l), 7.0 / 1.25);
            assert_eq!(out.float(SECOND_SOURCE, l), 4.5);
            assert_eq!(out.float(SECOND_SOURCE + 1, l), l as f32);
            assert_eq!(out.float(SECOND_SOURCE + 2, l), 3.0);
            assert_eq!(out.float(SECOND_SOURCE + 3, l), l as f32 + 0.5);
            assert_eq!(out.float(FRAG_DEPTH, l), 1.25);
            assert_eq!(out.bits(STENCIL_REF, l), l as u32 + 3);
            assert_eq!(out.bits(SAMPLE_MASK, l), l as u32 & 5);
        }
        assert!(!out.has(1), "color.y is never written");
    });
}

#[test]
fn helpers_have_no_side_effects() {
    everywhere(include_bytes!("../../shader/tests/spirv/demote.frag.spv"), Stage::Fragment, |p, worker| {
        let n = p.lanes as usize;
        let i = &p.interface;
        assert!(i.writes_memory && i.discards && i.needs_quads && !i.per_sample);
        // Every fourth lane starts as a helper; x is 0 .. 7 by lane.
        let lives = |l: usize| l % 4 != 3;
        let runs = |l: usize| l < n - 4;
        let x = |l: usize| (l % 8) as f32;
        let lane = |i: Input, l: usize| match i {
            Input::Varying(0) => x(l).to_bits(),
            Input::Varying(4) => l as u32,
            Input::HelperInvocation => !lives(l) as u32,
            i => panic!("{i:?}"),
        };
        // A second wave of the same serial sees the same.
        let mut bytes = vec![0; 4 * (n + 1)];
        let table = [[bytes.as_mut_ptr() as u64, bytes.len() as u64, 0, 0]];
        for _ in 0..2 {
            bytes.fill(0);
            let out = again(worker, 7, p, &mut bytes, &table, &lane, &runs, &lives).unwrap();
            let mut count = 0;
            for l in 0..n {
                let stays = runs(l) && lives(l) && x(l) <= 5.0;
                count += stays as u32;
                assert_eq!(out.alive[l], stays, "lane {l}");
                assert_eq!(out.buffer[1 + l], stays as u32, "lane {l}");
                if !runs(l) {
                    continue;
                }
                assert_eq!([4, 5, 6].map(|s| out.bits(s, l) != 0), [!lives(l), !lives(l), !stays]);
                let y = |l: usize| x(l) * x(l);
                let row = l & !1;
                assert_eq!(out.float(0, l), y(row + 1) - y(row));
                let column = l & !2;
                assert_eq!(out.float(1, l), y(column + 2) - y(column));
                let first = l & !3;
                let coarse = [y(first + 1) - y(first), y(first + 2) - y(first)];
                assert_eq!(out.float(2, l), coarse[0].abs() + coarse[1].abs());
                assert_eq!(out.float(3, l), coarse[1]);
            }
            assert_eq!(out.buffer[0], count);
        }
    });
}

#[test]
fn killed_lanes_end() {
    everywhere(include_bytes!("../../shader/tests/spirv/kill.frag.spv"), Stage::Fragment, |p, worker| {
        let n = p.lanes as usize;
        let number = |l: usize| (l * 7 % 23) as i32;
        let lane = |_: Input, l: usize| number(l) as u32;
        let out = wave(worker, 7, p, &[0; 32], &lane, &|_| true, &|l| l != 5).unwrap();
        // As the shader says, lane by lane.
        let run = |v: i32| -> Option<([f32; 2], i32, bool)> {
            let mut color = [0.5, 0.0];
            if v == 0 {
                return None;
            }
            for i in 0..v {
                if i == 7 && v & 1 == 1 {
                    return None;
                }
                if v == 20 && i == 2 {
                    return Some((color, 99, false));
                }
                if i >= 3 {
                    color[0] += 1.0;
                    continue;
                }
                if i + (v == 6) as i32 == 3 {
                    return None;
                }
                color[1] += 1.0;
            }
            Some((color, v, true))
        };
        let mut hits = [0; 32];
        for l in 0..n {
            let want = run(number(l));
            assert_eq!(out.alive[l], want.is_some() && l != 5, "lane {l}");
            let Some((color, steps, end)) = want else { continue };
            hits[number(l) as usize] |= if end && l != 5 { 5 } else { 0 };
            assert_eq!([out.float(0, l), out.float(1, l)], color, "lane {l}");
            assert_eq!([out.bits(4, l) as i32, out.bits(5, l) as i32], [number(l), steps]);
        }
        assert_eq!(out.buffer, hits);
        // Nobody is left: the wave ends early and says so.
        let out = wave(worker, 8, p, &[0; 32], &|_, _| 0, &|_| true, &|_| true).unwrap();
        assert!(out.alive.iter().all(|a| !a));
        assert_eq!(out.buffer, [0; 32]);
    });
}

#[test]
fn a_value_outlives_a_loop_that_does_not_read_it() {
    everywhere(include_bytes!("../../shader/tests/spirv/leave.frag.spv"), Stage::Fragment, |p, worker| {
        for (serial, [n, m]) in [[4u32, 90], [9, 2], [0, 0], [5, 20]].into_iter().enumerate() {
            let lane = |_: Input, l: usize| l as u32;
            let out = wave(worker, 1 + serial as u64, p, &[n, m], &lane, &|_| true, &|_| true).unwrap();
            for l in 0..p.lanes as usize {
                let (mut sum, mut all) = (0i32, 0i32);
                for j in 0..3 {
                    let mut i = 0;
                    let result = loop {
                        if i >= n as i32 {
                            break j * 3 + 1;
                        }
                        let k = i * 7 + j;
                        let h = k * k + i;
                        sum += if l as i32 > h { k } else { -h };
                        if k > m as i32 {
                            break sum;
                        }
                        i += 1;
                    };
                    all = all * 5 + result;
                }
                assert_eq!([out.bits(0, l) as i32, out.bits(1, l) as i32], [all, sum], "lane {l}, {n} {m}");
            }
        }
    });
}

#[test]
fn kinds_and_built_ins() {
    everywhere(include_bytes!("../../shader/tests/spirv/kinds.frag.spv"), Stage::Fragment, |p, worker| {
        let i = &p.interface;
        assert!(i.reads_tile && i.per_sample && !i.needs_quads && !i.writes_memory);
        assert!([4, 5, 8, 9, 12].iter().all(|s| i.varyings.iter().any(|v| v.slot == *s && v.flat)));
        assert!([0, 16, 25].iter().all(|s| i.varyings.iter().any(|v| v.slot == *s && !v.flat)));
        let lane = |i: Input, l: usize| {
            let v: f32 = match i {
                // 1 + 2⁻¹³ and so on round to f16.
                Input::Varying(s @ 0..=2) => 1.0 + s as f32 + 1.0 / 8192.0,
                Input::Varying(4) => return 0xFFFF_FFFF,
                Input::Varying(5) => return 0xFFF0,
                Input::Varying(s @ 8..=9) => return (2.5f64.to_bits() >> (32 * (s & 1))) as u32,
                Input::Varying(12) => return l as u32 % 3,
                Input::Varying(s) => s as f32,
                Input::PlaneAt(s) => s as f32,
                Input::PlaneDx(_) => 4.0,
                Input::PlaneDy(_) => 8.0,
                Input::InvW(0) => 2.0,
                Input::InvW(_) => 0.0,
                Input::SampleId => return 1,
                Input::SamplePosition(k) => 0.25 + k as f32 * 0.5,
                Input::PointCoord(k) => 0.5 + k as f32,
                Input::FragCoord(k) => (10 * (k as u32 + 1) + l as u32) as f32 + 0.5,
                Input::PrimitiveId => return 70000,
                Input::Layer => return 9,
                Input::ViewportIndex => return 6,
                Input::ViewIndex => return 4,
                Input::FrontFacing => return (l % 2) as u32,
                Input::SampleOffset(_) => panic!("SampleId says which"),
                i => panic!("{i:?}"),
            };
            v.to_bits()
        };
        let out = wave(worker, 1, p, &[0; 64], &lane, &|_| true, &|_| true).unwrap();
        for l in 0..p.lanes as usize {
            assert_eq!([0, 1, 2, 3].map(|s| out.float(s, l)), [1.0, 4.0, 9.0, 2.5]);
            assert_eq!([4, 5, 6, 7].map(|s| out.bits(s, l) as i32), [-3, -8, 70000 - 65536, 9]);
            assert_eq!([8, 9].map(|s| out.bits(s, l)), [0, 0xFFF1]);
            let which = l % 3;
            let x = 16.0 + 4.0 * which as f32;
            if which != 0 {
                // mat[1].x is of location 8.
                assert_eq!([12, 13].map(|s| out.float(s, l)), [x, x + 1.0]);
                assert_eq!([14, 15].map(|s| out.float(s, l)), [(x + 1.0 - 1.0 + 2.0) / 2.0, 32.0]);
            }
            let written = [0, 1, 2, 3].map(|k| out.float(12 + 4 * which as u16 + k, l));
            assert_eq!(written, [0.5, 1.5, 0.25, 0.75]);
            assert_eq!([24, 25].map(|s| out.bits(s, l)), [1, 6]);
            assert_eq!(out.bits(26, l) as i32, if l % 2 == 1 { 4 } else { -1 });
            // The test host answers with the coordinate, here the fragment's y, and how many lanes it saw.
            assert_eq!(out.bits(27, l), 20 + l as u32 + (16 << 24));
        }
    });
}

#[test]
fn vertex_built_ins_and_stores() {
    everywhere(include_bytes!("../../shader/tests/spirv/draw.vert.spv"), Stage::Vertex, |p, worker| {
        assert!(p.interface.writes_memory);
        let n = p.lanes as usize;
        let lane = |i: Input, l: usize| match i {
            Input::Varying(0) => l as u32 % 5,
            Input::Varying(1) => 10 + l as u32,
            Input::VertexIndex => l as u32,
            Input::ViewIndex => 2,
            Input::BaseVertex => 5,
            Input::BaseInstance => 6,
            Input::DrawIndex => 7,
            i => panic!("{i:?}"),
        };
        let runs = |l: usize| l % 7 != 6;
        let out = wave(worker, 1, p, &vec![0; n + 1], &lane, &runs, &|_| false).unwrap();
        assert_eq!(out.buffer[0] as usize, (0..n).filter(|&l| runs(l)).count());
        for l in 0..n {
            assert_eq!(out.buffer[1 + l], if runs(l) { 10 + l as u32 } else { 0 });
            if !runs(l) {
                continue;
            }
            assert_eq!([out.bits(LAYER, l), out.bits(VIEWPORT_INDEX, l)], [(l as u32 % 5) & 3, 3]);
            assert_eq!([out.float(POINT_SIZE, l), out.float(CULL_DISTANCE + 1, l)], [4.0, -1.0]);
            let warp = || (l & !15..l | 15).chain([l | 15]).filter(|&k| runs(k));
            let ballot = warp().filter(|k| k % 5 > 2).fold(0, |m, k| m | 1 << (k % 16));
            let sum: u32 = warp().map(|k| 10 + k as u32).sum();
            assert_eq!([0, 1, 2, 3].map(|s| out.bits(s, l)), [ballot, sum, l as u32 % 16, 16]);
            assert_eq!([4, 5, 6, 7].map(|s| out.bits(s, l)), [5, 6, 7, 0]);
            assert_eq!([0, 1, 2, 3].map(|k| out.float(POSITION + k, l)), [0.5, 0.25, 0.0, 1.0]);
        }
        assert!(!out.has(CULL_DISTANCE));
    });
}

/// Many programs in turn on one worker, more than it keeps, each with constants of its own.
#[test]
fn programs_alternate() {
    let vertex = compile(include_bytes!("../../shader/tests/spirv/plain.vert.spv"), Stage::Vertex, 64, true);
    let fragment =
        compile(include_bytes!("../../shader/tests/spirv/demote.frag.spv"), Stage::Fragment, 64, true);
    let mut worker = Worker::new(Level::PORTABLE);
    // The matrix is read in the prologue: kept, as its table is, for as long as the serial is.
    let matrix = |scale: u32| {
        let values = (0..16).map(|k| if k % 5 == 0 { scale as f32 } else { 0.0 }.to_bits());
        words(&values.collect::<Vec<_>>())
    };
    let mut matrices: Vec<Vec<u8>> = (1..=12).map(matrix).collect();
    let tables: Vec<_> =
        matrices.iter_mut().map(|m| [[m.as_mut_ptr() as u64, m.len() as u64, 0, 0]]).collect();
    let mut counts = vec![0; 4 * 65];
    let counted = [[counts.as_mut_ptr() as u64, counts.len() as u64, 0, 0]];
    for round in 0..40u32 {
        let k = round as usize % 12;
        let (scale, serial) = ((k + 1) as f32, 1 + k as u64);
        let lane = |i: Input, l: usize| match i {
            Input::Varying(0) => (l as f32).to_bits(),
            _ => 0,
        };
        let (bytes, table) = (&mut matrices[k], &tables[k]);
        let out = again(&mut worker, serial, &vertex, bytes, table, &lane, &|_| true, &|_| true).unwrap();
        assert_eq!(out.float(POSITION, 5), 5.0 * scale);
        let lane = |_: Input, l: usize| l as u32;
        counts.fill(0);
        let out =
            again(&mut worker, 100, &fragment, &mut counts, &counted, &lane, &|_| true, &|_| true).unwrap();
        assert_eq!(out.buffer[1 + 63], 1);
    }
}
