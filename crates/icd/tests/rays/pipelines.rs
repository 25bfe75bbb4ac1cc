//! Ray tracing pipelines.

use super::scene::*;
use ash::vk;
use vk::ShaderStageFlags as Stages;

/// The ray generation shader.
pub const FIRST: &[u8] = include_bytes!("../shaders/rays.rgen.spv");

const SHADERS: [(&[u8], Stages); 6] = [
    (FIRST, Stages::RAYGEN_KHR),
    (include_bytes!("../shaders/rays.rmiss.spv"), Stages::MISS_KHR),
    (include_bytes!("../shaders/rays.rchit.spv"), Stages::CLOSEST_HIT_KHR),
    (include_bytes!("../shaders/rays.rahit.spv"), Stages::ANY_HIT_KHR),
    (include_bytes!("../shaders/rays.rint.spv"), Stages::INTERSECTION_KHR),
    (include_bytes!("../shaders/rays.rcall.spv"), Stages::CALLABLE_KHR),
];

const UNUSED: u32 = vk::SHADER_UNUSED_KHR;

/// Groups: their type and their general, closest-hit, any-hit and intersection shaders.
const GROUPS: [(vk::RayTracingShaderGroupTypeKHR, [u32; 4]); 7] = {
    use vk::RayTracingShaderGroupTypeKHR as T;
    [
        (T::GENERAL, [0, UNUSED, UNUSED, UNUSED]),
        (T::GENERAL, [1, UNUSED, UNUSED, UNUSED]),
        (T::TRIANGLES_HIT_GROUP, [UNUSED, 2, UNUSED, UNUSED]),
        (T::TRIANGLES_HIT_GROUP, [UNUSED, 2, 3, UNUSED]),
        (T::PROCEDURAL_HIT_GROUP, [UNUSED, 2, UNUSED, 4]),
        (T::GENERAL, [5, UNUSED, UNUSED, UNUSED]),
        (T::PROCEDURAL_HIT_GROUP, [UNUSED, 2, 3, 4]),
    ]
};

/// Bytes of a record: a handle and eight words of the shader's.
pub const RECORD: u64 = 64;

/// The records of all tables: which group's, and their words. The first is the ray generation shader's, two are of misses, eight of hits
/// and two of callable shaders.
pub const RECORDS: [(usize, [u32; 6]); 13] = [
    (0, [500, 0, 0, 0, 0, 0]),
    (1, [200, 0, 0, 0, 0, 0]),
    (1, [201, 0, 0, 0, 0, 0]),
    (2, [100, 0, 0, 0, 0, 0]),
    // Ignores primitive 1.
    (3, [101, 0, 2, 0, 0, 0]),
    // Traces on, with records from 5 on.
    (2, [102, 6, 0, 0, 0, 0]),
    // Ends rays at their first candidate.
    (3, [103, 0, 0, 1, 0, 0]),
    (4, [104, 0, 0, 0, 9.5f32.to_bits(), 0x2A]),
    (2, [105, 0, 0, 0, 0, 0]),
    (2, [106, 0, 0, 0, 0, 0]),
    (2, [107, 0, 0, 0, 0, 0]),
    (5, [7, 0, 0, 0, 0, 0]),
    (5, [11, 0, 0, 0, 0, 0]),
];

/// A pipeline and its tables.
pub struct Tracer {
    pub pipeline: vk::Pipeline,
    /// Ray generation, miss, hit, callable.
    pub regions: [vk::StridedDeviceAddressRegionKHR; 4],
    pub table: Memory,
}

/// How a trace is launched.
#[derive(Clone, Copy, Debug)]
pub enum Launch {
    Direct,
    Indirect,
    /// With the tables in memory, too.
    Indirect2,
}

impl Rig {
    pub fn tracer(&self, recursion: u32, records: &[(usize, [u32; 6])]) -> Tracer {
        self.tracer_from(SHADERS[0].0, recursion, records)
    }

    /// With another ray generation shader.
    pub fn tracer_from(&self, first: &[u8], recursion: u32, records: &[(usize, [u32; 6])]) -> Tracer {
        self.tracer_with(0, first, recursion, records)
    }

    /// With flags of the pipeline.
    pub fn tracer_with(
        &self,
        flags: u64,
        first: &[u8],
        recursion: u32,
        records: &[(usize, [u32; 6])],
    ) -> Tracer {
        let mut spirv = SHADERS.map(|s| s.0);
        spirv[0] = first;
        self.tracer_of(flags, spirv, recursion, records)
    }

    /// With these shaders, of the stages of [`SHADERS`].
    fn tracer_of(
        &self,
        flags: u64,
        spirv: [&[u8]; 6],
        recursion: u32,
        records: &[(usize, [u32; 6])],
    ) -> Tracer {
        let modules = spirv.map(|spirv| module(&self.gpu, spirv));
        let stages: Vec<_> = modules
            .iter()
            .zip(SHADERS)
            .map(|(m, (_, stage))| {
                vk::PipelineShaderStageCreateInfo::default().stage(stage).module(*m).name(c"main")
            })
            .collect();
        let groups = GROUPS.map(|(ty, [general, closest, any, intersection])| {
            vk::RayTracingShaderGroupCreateInfoKHR::default()
                .ty(ty)
                .general_shader(general)
                .closest_hit_shader(closest)
                .any_hit_shader(any)
                .intersection_shader(intersection)
        });
        let flags = ::vk::PipelineCreateFlags2CreateInfoKHR {
            flags: ::vk::PipelineCreateFlags2KHR::from_raw(flags),
            ..Default::default()
        };
        let info = vk::RayTracingPipelineCreateInfoKHR {
            p_next: (&raw const flags).cast(),
            ..vk::RayTracingPipelineCreateInfoKHR::default()
                .stages(&stages)
                .groups(&groups)
                .max_pipeline_ray_recursion_depth(recursion)
                .layout(self.trace_layout)
        };
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        let (pipeline, handles) = unsafe {
            let (none, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
            let made = self.pipelines.create_ray_tracing_pipelines(none, cache, &[info], None);
            let pipeline = made.expect("a pipeline")[0];
            let n = GROUPS.len();
            let handles = self.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, n as u32, 32 * n);
            modules.into_iter().for_each(|m| self.gpu.device.destroy_shader_module(m, None));
            (pipeline, handles.expect("handles"))
        };
        self.ends.borrow_mut().push(pipeline);
        let mut words = vec![];
        for (group, own) in records {
            let handle = &handles[32 * group..32 * group + 32];
            words.extend(handle.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)));
            words.extend(own);
            words.extend([0; 2]);
        }
        let table = self.with(&words);
        let mut at = table.address;
        let regions = [1, 2, 8, 2].map(|n| {
            let device_address = at;
            at += n * RECORD;
            vk::StridedDeviceAddressRegionKHR { device_address, stride: RECORD, size: n * RECORD }
        });
        Tracer { pipeline, regions, table }
    }

    /// What shaders say of rays, launched in rows of `width`.
    pub fn trace(
        &self,
        t: &Tracer,
        how: Launch,
        scene: u64,
        rays: &[Ray],
        width: usize,
    ) -> Result<Vec<Vec<u32>>, vk::Result> {
        self.trace_within(t, how, scene, rays, width, |_, _| {})
    }

    /// With commands before (true) and after the trace.
    pub fn trace_within(
        &self,
        t: &Tracer,
        how: Launch,
        scene: u64,
        rays: &[Ray],
        width: usize,
        around: impl Fn(vk::CommandBuffer, bool),
    ) -> Result<Vec<Vec<u32>>, vk::Result> {
        let list: Vec<[u32; 12]> = rays.iter().map(Ray::words).collect();
        let (from, to) = (self.with(list.as_flattened()), self.memory(rays.len() * TRACED));
        let push: Vec<u8> = [scene, from.address, to.address].iter().flat_map(|a| a.to_le_bytes()).collect();
        let size = [width as u32, (rays.len() / width) as u32, 1];
        let [g, m, h, k] = t.regions;
        // VkTraceRaysIndirectCommand2KHR: tables, then the size.
        let all = [[g.device_address, g.size].as_slice(), &of(m), &of(h), &of(k)].concat();
        let all: Vec<u32> = all.iter().flat_map(|v| [*v as u32, (*v >> 32) as u32]).chain(size).collect();
        let indirect = self.with(&all);
        self.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::RAY_TRACING_KHR, t.pipeline);
            let stages = Stages::RAYGEN_KHR | Stages::CLOSEST_HIT_KHR;
            d.cmd_push_constants(c, self.trace_layout, stages, 0, &push);
            around(c, true);
            match how {
                Launch::Direct => self.pipelines.cmd_trace_rays(c, &g, &m, &h, &k, size[0], size[1], size[2]),
                Launch::Indirect => {
                    self.pipelines.cmd_trace_rays_indirect(c, &g, &m, &h, &k, indirect.address + 88);
                }
                Launch::Indirect2 => self.maintenance.cmd_trace_rays_indirect2(c, indirect.address),
            }
            around(c, false);
        })?;
        Ok(to.read().chunks(TRACED).map(<[u32]>::to_vec).collect())
    }
}

fn of(r: vk::StridedDeviceAddressRegionKHR) -> [u64; 3] {
    [r.device_address, r.size, r.stride]
}

const DOWN: [f32; 3] = [0.0, 0.0, -1.0];

/// A ray that takes record `offset + geometry + the instance's own`, and miss and callable shaders of these numbers.
pub const fn ray(origin: [f32; 3], direction: [f32; 3], flags: u32, miss: u32, call: u32) -> Ray {
    Ray { flags, own: [1 << 4 | miss << 8 | call << 16, 0], ..Ray::new(origin, direction) }
}

/// A ray that hits nothing.
pub const MISSING: Ray = ray([100.0, 0.0, 5.0], DOWN, 0, 0, 0);
/// One whose closest-hit shader traces another.
pub const DEEPER: Ray = ray([10.5, 1.0, 3.0], [0.0, 0.0, -2.0], 0, 0, 0);

#[test]
fn payloads_are_those_worked_out_by_hand() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let tracer = rig.tracer(2, &RECORDS);
    let above = [0.25, 0.25, 5.0];
    let (far, twice) = ([10.5, 1.0, 20.0], [0.0, 0.0, -2.0]);
    let bits = f32::to_bits;
    let [quarter, half] = [0.25f32, 0.5].map(bits);
    // Payload: 1 a hit or 2 a miss, the record's name, t, kind of the hit, primitive | geometry << 8 | instance << 16, custom index, runs
    // of any-hit shaders, the name of the hit of the ray that the closest-hit shader traced, attributes, x and z of the origin in the
    // instance's space. And what the callable shader makes of the name: three times it, and its own.
    let custom = 0x12_3456;
    let rows: [(&str, Ray, [u32; 12], u32); 8] = [
        (
            "one candidate ignored",
            ray(above, DOWN, 0, 0, 0),
            [1, 101, bits(3.0), 0xFE, 1 << 8, custom, 2, 0, quarter, quarter, quarter, bits(5.0)],
            310,
        ),
        (
            "no candidates",
            ray(above, DOWN, OPAQUE, 0, 1),
            [1, 101, bits(2.0), 0xFE, 1 | 1 << 8, custom, 0, 0, quarter, quarter, quarter, bits(5.0)],
            314,
        ),
        (
            "a back face",
            ray([0.25, 0.25, -1.0], [0.0, 0.0, 1.0], 0, 0, 0),
            [1, 100, bits(1.0), 0xFF, 0, custom, 0, 0, quarter, quarter, quarter, bits(-1.0)],
            307,
        ),
        (
            "a miss",
            Ray { t_max: 50.0, ..ray([100.0, 0.0, 5.0], DOWN, 0, 1, 1) },
            [2, 201, bits(50.0), 0, 0, 0, 0, 0, 0, 0, 0, 0],
            614,
        ),
        (
            "an opaque hit of another instance",
            ray(far, twice, OPAQUE, 0, 0),
            [1, 103, bits(7.0), 0xFE, 1 | 1 << 8 | 1 << 16, 7, 0, 0, quarter, half, quarter, bits(10.0)],
            316,
        ),
        (
            "a ray within a ray",
            DEEPER,
            [1, 102, half, 0xFE, 1 | 1 << 16, 7, 0, 107, quarter, half, quarter, bits(1.5)],
            313,
        ),
        (
            "an intersection shader",
            ray([0.0, 20.0, 10.0], DOWN, 0, 0, 1),
            [1, 104, bits(9.5), 0x2A, 2 << 16, 9, 0, 0, half, bits(0.75), 0, bits(10.0)],
            323,
        ),
        ("no closest-hit shader", ray(above, DOWN, OPAQUE | SKIP_CLOSEST_HIT, 0, 0), [0; 12], 7),
    ];
    let rays = rows.map(|r| r.1);
    for (how, width) in
        [(Launch::Direct, 8), (Launch::Direct, 2), (Launch::Indirect, 8), (Launch::Indirect2, 4)]
    {
        let got = rig.trace(&tracer, how, scene, &rays, width).expect("they run");
        for (i, ((name, _, payload, called), got)) in rows.iter().zip(&got).enumerate() {
            assert_eq!(got[..12], *payload, "{name}, {how:?} in rows of {width}: {got:x?}");
            assert_eq!(got[12], *called, "{name}: the callable shader");
            assert_eq!(got[13], 500, "{name}: the ray generation shader's record");
            assert_eq!(got[14], (width << 16 | (8 / width) << 8 | 1) as u32, "{name}: the launch's size");
            assert_eq!(
                got[15],
                ((i % width) << 16 | (i / width) << 8) as u32,
                "{name}: its place in the launch"
            );
        }
    }
}

/// The closest-hit shader with its outgoing payload declared as a second incoming one, which follows the first: the Vulkan specification
/// forbids it, but SAPIEN's renderer does so. Both have the place of the incoming payload, as in Mesa.
fn with_two_incoming(spirv: &[u8]) -> Vec<u8> {
    // OpTypePointer, OpVariable, RayPayloadKHR, IncomingRayPayloadKHR.
    const POINTER: u32 = 32;
    const VARIABLE: u32 = 59;
    const OUTGOING: u32 = 5338;
    const INCOMING: u32 = 5342;
    let mut words = shader::words(spirv);
    let (mut at, mut changed) = (5, 0);
    while at < words.len() {
        let (op, n) = (words[at] & 0xFFFF, (words[at] >> 16) as usize);
        let class = match op {
            POINTER => at + 2,
            VARIABLE => at + 3,
            _ => 0,
        };
        if class > 0 && words[class] == OUTGOING {
            words[class] = INCOMING;
            changed += 1;
        }
        at += n;
    }
    assert_eq!(changed, 3, "two types and a variable");
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn a_second_incoming_payload_takes_nothing_from_the_first() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let rays = [ray([0.25, 0.25, 5.0], DOWN, OPAQUE, 0, 0), ray([0.0, 20.0, 10.0], DOWN, 0, 0, 1)];
    let second = with_two_incoming(SHADERS[2].0);
    let mut spirv = SHADERS.map(|s| s.0);
    spirv[2] = &second;
    let tracers = [rig.tracer(2, &RECORDS), rig.tracer_of(0, spirv, 2, &RECORDS)];
    let [one, two] = tracers.map(|t| rig.trace(&t, Launch::Direct, scene, &rays, 1).expect("they run"));
    assert!(one.iter().all(|r| r[0] == 1), "they hit");
    assert_eq!(one, two);
}

#[test]
fn an_any_hit_shader_ends_a_ray() {
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    let tracer = rig.tracer(2, &RECORDS);
    let far = ray([10.5, 1.0, 20.0], [0.0, 0.0, -2.0], 0, 0, 0);
    let got = rig.trace(&tracer, Launch::Direct, scene, &[far], 1).expect("it runs");
    // Which of the two candidates comes first is the traversal's choice; the hit is one of them.
    assert_eq!((got[0][0], got[0][1], got[0][6]), (1, 103, 1));
    assert!([7.0, 8.0].contains(&f32::from_bits(got[0][2])));
}

/// An intersection shader reports hits at 9.75, 9.5 and 9.625, each one's kind one higher, and one before the ray's beginning. It ends with
/// its ray.
#[test]
fn an_intersection_shader_ends_with_its_ray() {
    const FIRST_HIT: u32 = 4;
    let rig = Rig::new();
    let scene = rig.address(&rig.scene());
    // (group, ignored primitives, whether the any-hit shader ends the ray), ray flags, t and kind of the hit, runs of the any-hit shader.
    let rows = [
        ((6, 0, 0), 0, Some((9.5, 0x2A)), 2),
        ((6, 0, 1), 0, Some((9.75, 0x2B)), 1),
        ((6, 1, 1), 0, None, 3),
        ((6, 0, 0), FIRST_HIT, Some((9.75, 0x2B)), 1),
        ((4, 0, 0), FIRST_HIT, Some((9.75, 0x2B)), 0),
    ];
    for ((group, ignored, last), flags, hit, runs) in rows {
        let mut records = RECORDS;
        records[7] = (group, [104, 0, ignored, last, 9.5f32.to_bits(), 0x2A]);
        let tracer = rig.tracer(2, &records);
        let ray = ray([0.0, 20.0, 10.0], DOWN, flags, 0, 0);
        let got = &rig.trace(&tracer, Launch::Direct, scene, &[ray], 1).expect("it runs")[0];
        let found = (got[0] == 1).then(|| (f32::from_bits(got[2]), got[3]));
        assert_eq!(
            (found, got[6]),
            (hit, runs),
            "group {group}, {ignored} ignored, {last} last, flags {flags}"
        );
    }
}
