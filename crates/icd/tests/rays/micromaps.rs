//! Opacity micromaps: the device's and the host's commands, and what rays meet.

use super::hostile::lost;
use super::scene::*;
use ash::vk;
use vk::QueryType as Query;

type Sizes = vk::MicromapBuildSizesInfoEXT<'static>;

/// Two triangles, half of a unit square each: at x = 0 and at x = 2.
const VERTICES: [[f32; 3]; 6] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0]];
/// The middles of the parts of level 1, in their order (specification, "Example ordering for micromap data").
const MIDDLES: [[f32; 2]; 4] =
    [[1.0 / 6.0, 1.0 / 6.0], [1.0 / 3.0, 1.0 / 3.0], [2.0 / 3.0, 1.0 / 6.0], [1.0 / 6.0, 2.0 / 3.0]];
const FORCE_2_STATE: u32 = 0x400;
const USAGES: [vk::MicromapUsageEXT; 2] = [
    vk::MicromapUsageEXT { count: 1, subdivision_level: 1, format: 2 },
    vk::MicromapUsageEXT { count: 1, subdivision_level: 1, format: 1 },
];

/// A device with micromaps.
struct Maps<'r> {
    rig: &'r Rig,
    f: ash::ext::opacity_micromap::DeviceFn,
    made: std::cell::RefCell<Vec<vk::MicromapEXT>>,
}

impl Drop for Maps<'_> {
    fn drop(&mut self) {
        // SAFETY: they are the device's, which is idle.
        self.made.take().into_iter().for_each(|m| unsafe {
            (self.f.destroy_micromap_ext)(self.device(), m, std::ptr::null());
        });
    }
}

struct Map {
    handle: vk::MicromapEXT,
    memory: Memory,
}

impl Maps<'_> {
    fn of(rig: &Rig) -> Maps<'_> {
        let f = ash::ext::opacity_micromap::Device::new(&rig.gpu.instance, &rig.gpu.device).fp().clone();
        Maps { f, rig, made: Default::default() }
    }

    fn device(&self) -> vk::Device {
        self.rig.gpu.device.handle()
    }

    fn sizes(&self) -> Sizes {
        let info = vk::MicromapBuildInfoEXT::default().usage_counts(&USAGES);
        let mut sizes = Sizes::default();
        let by = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe { (self.f.get_micromap_build_sizes_ext)(self.device(), by, &info, &mut sizes) };
        sizes
    }

    fn create(&self, size: u64) -> Map {
        let memory = self.rig.memory(size.div_ceil(4) as usize);
        let info = vk::MicromapCreateInfoEXT::default().buffer(memory.buffer).size(size);
        let mut handle = vk::MicromapEXT::null();
        unsafe { (self.f.create_micromap_ext)(self.device(), &info, std::ptr::null(), &mut handle) }
            .result()
            .expect("a micromap");
        self.made.borrow_mut().push(handle);
        Map { handle, memory }
    }

    /// Triangle 0: the four values in turn. Triangle 1: two states, the first and the last part opaque.
    fn inputs(shape: u32) -> ([u32; 64], [u32; 4]) {
        let mut values = [0; 64];
        (values[0], values[1]) = (0b1110_0100, 0b1001);
        (values, [0, shape, 4, 1 | 1 << 16])
    }

    fn build(&self, to: &Map, shape: u32, data: Option<u64>) -> Result<(), vk::Result> {
        let (values, triangles) = Self::inputs(shape);
        let (values, triangles) = (self.rig.with(&values), self.rig.with(&triangles));
        let info = vk::MicromapBuildInfoEXT::default()
            .usage_counts(&USAGES)
            .dst_micromap(to.handle)
            .data(vk::DeviceOrHostAddressConstKHR { device_address: data.unwrap_or(values.address) })
            .triangle_array(vk::DeviceOrHostAddressConstKHR { device_address: triangles.address })
            .triangle_array_stride(8);
        self.rig.run(|_, c| unsafe { (self.f.cmd_build_micromaps_ext)(c, 1, &info) })
    }

    fn property(&self, of: &Map, query: Query) -> u64 {
        let mut value = 0u64;
        let (d, n) = (self.device(), size_of::<u64>());
        let data = (&raw mut value).cast();
        unsafe { (self.f.write_micromaps_properties_ext)(d, 1, &of.handle, query, n, data, n) }
            .result()
            .expect("a value");
        let pool = vk::QueryPoolCreateInfo::default().query_type(query).query_count(1);
        let d = &self.rig.gpu.device;
        let mut again = [0u64];
        unsafe {
            let pool = d.create_query_pool(&pool, None).expect("a pool");
            self.rig
                .run(|d, c| {
                    d.cmd_reset_query_pool(c, pool, 0, 1);
                    (self.f.cmd_write_micromaps_properties_ext)(c, 1, &of.handle, query, pool, 0);
                })
                .expect("it runs");
            d.get_query_pool_results(pool, 0, &mut again, vk::QueryResultFlags::TYPE_64).expect("a value");
            d.destroy_query_pool(pool, None);
        }
        assert_eq!(again, [value], "the device's value is the host's: {query:?}");
        value
    }

    /// A geometry of both triangles with indices into a micromap.
    fn geometry(
        &self,
        map: vk::MicromapEXT,
        indices: &[u32],
        ty: vk::IndexType,
        base: u32,
    ) -> (Geometry, Box<Own>) {
        let stride = if ty == vk::IndexType::UINT16 { 2 } else { 4 };
        let at = match ty {
            vk::IndexType::NONE_KHR => 0,
            _ => self.rig.with(indices).address,
        };
        let own = Own::default()
            .index_type(ty)
            .index_buffer(vk::DeviceOrHostAddressConstKHR { device_address: at })
            .index_stride(stride)
            .base_triangle(base)
            .micromap(map);
        let own = Box::new(own);
        let vertices =
            self.rig.with(&VERTICES.as_flattened().iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        let mut g = triangles(vertices.address, 6, vk::GeometryFlagsKHR::empty());
        g.geometry.triangles.p_next = (&raw const *own).cast();
        (g, own)
    }

    /// What rays through the parts of both triangles meet: nothing, an opaque triangle, or one that is confirmed as 1.
    fn meets(&self, bottom: &Structure, ray: u32, instance: u32) -> String {
        let mut one = of(IDENTITY, 0, 0xFF, 0, self.rig.address(bottom));
        one[13] |= instance << 24;
        let top = self.rig.top(Flags::empty(), &[one]);
        let rays: Vec<Ray> = [0.0, 2.0]
            .iter()
            .flat_map(|x| MIDDLES.map(|[u, v]| Ray::new([x + u, v, 1.0], [0.0, 0.0, -1.0])))
            .map(|r| Ray { flags: ray, own: [0, 0], ..r })
            .collect();
        let got = self.rig.query(self.rig.address(&top), &rays).expect("it runs");
        got.iter()
            .map(|g| {
                if g[1] > 0 {
                    '?'
                } else if g[0] == 1 {
                    'o'
                } else {
                    '-'
                }
            })
            .collect()
    }

    fn built(&self, map: vk::MicromapEXT, indices: &[u32], ty: vk::IndexType, base: u32) -> Structure {
        let (g, _own) = self.geometry(map, indices, ty, base);
        self.rig.build(Type::BOTTOM_LEVEL, Flags::ALLOW_UPDATE, &[g], &[2])
    }
}

type Own = vk::AccelerationStructureTrianglesOpacityMicromapEXT<'static>;

const NONE: vk::IndexType = vk::IndexType::NONE_KHR;
/// Level 1, four states.
const SHAPE: u32 = 1 | 2 << 16;
/// What the micromap says, by the specification's table of results.
const SAYS: &str = "-o??o--o";

#[test]
fn rays_meet_what_micromaps_say() {
    let rig = Rig::new();
    let maps = Maps::of(&rig);
    let size = maps.sizes().micromap_size;
    let map = maps.create(size);
    maps.build(&map, SHAPE, None).expect("a build");
    let bottom = maps.built(map.handle, &[], NONE, 0);
    for (ray, instance, want) in [
        (0, 0, SAYS),
        (FORCE_2_STATE, 0, "-o-oo--o"),
        (0, 0x10, "-o-oo--o"),
        (0, 0x20, "????????"),
        (OPAQUE, 0, "-oooo--o"),
    ] {
        assert_eq!(maps.meets(&bottom, ray, instance), want, "ray {ray:#x}, instance {instance:#x}");
    }
    // Index buffers: other triangles, a base, and special indices of both types.
    let (u32s, u16s) = (vk::IndexType::UINT32, vk::IndexType::UINT16);
    for (indices, ty, base, want) in [
        (&[1u32, 0][..], u32s, 0, "o--o-o??"),
        (&[0, 0], u32s, 1, "o--oo--o"),
        (&[1 | 0xFFFE << 16], u16s, 0, "o--ooooo"),
        (&[-1i32 as u32, -3i32 as u32], u32s, 1, "----????"),
    ] {
        let bottom = maps.built(map.handle, indices, ty, base);
        assert_eq!(maps.meets(&bottom, 0, 0), want, "{indices:x?} + {base}");
    }
    let special = maps.built(vk::MicromapEXT::null(), &[-2i32 as u32, -4i32 as u32], u32s, 0);
    assert_eq!(maps.meets(&special, 0, 0), "oooo????", "no micromap");
    // An update refers to other values.
    let (g, _own) = maps.geometry(map.handle, &[1, 0], u32s, 0);
    let update =
        |to| maps.rig.build_into(Type::BOTTOM_LEVEL, Flags::ALLOW_UPDATE, &[g], &[2], Some(&bottom), to);
    update(&bottom).expect("an update");
    assert_eq!(maps.meets(&bottom, 0, 0), "o--o-o??", "updated");
}

#[test]
fn copies_of_micromaps_say_the_same() {
    let rig = Rig::new();
    let maps = Maps::of(&rig);
    let size = maps.sizes().micromap_size;
    let map = maps.create(size);
    maps.build(&map, SHAPE, None).expect("a build");
    let says = |m: &Map, what: &str| {
        assert_eq!(maps.meets(&maps.built(m.handle, &[], NONE, 0), 0, 0), SAYS, "{what}");
    };
    // The host's build has the same bytes.
    let host = maps.create(size);
    let (values, triangles) = Maps::inputs(SHAPE);
    let info = vk::MicromapBuildInfoEXT::default()
        .usage_counts(&USAGES)
        .dst_micromap(host.handle)
        .data(vk::DeviceOrHostAddressConstKHR { host_address: values.as_ptr().cast() })
        .triangle_array(vk::DeviceOrHostAddressConstKHR { host_address: triangles.as_ptr().cast() })
        .triangle_array_stride(8);
    let (d, now) = (maps.device(), vk::DeferredOperationKHR::null());
    let done = unsafe { (maps.f.build_micromaps_ext)(d, now, 1, &info) };
    assert_eq!((done, host.memory.read() == map.memory.read()), (vk::Result::SUCCESS, true));
    // Clones and compacted ones, by the device and the host.
    let compacted = maps.property(&map, Query::MICROMAP_COMPACTED_SIZE_EXT);
    assert!(compacted <= size, "{compacted} of {size}");
    for (bytes, mode) in
        [(size, vk::CopyMicromapModeEXT::CLONE), (compacted, vk::CopyMicromapModeEXT::COMPACT)]
    {
        let (first, second) = (maps.create(bytes), maps.create(bytes));
        let info = |to: &Map| vk::CopyMicromapInfoEXT::default().src(map.handle).dst(to.handle).mode(mode);
        maps.rig.run(|_, c| unsafe { (maps.f.cmd_copy_micromap_ext)(c, &info(&first)) }).expect("a copy");
        let done = unsafe { (maps.f.copy_micromap_ext)(d, now, &info(&second)) };
        assert_eq!(done, vk::Result::SUCCESS);
        says(&first, "a copy of the device");
        says(&second, "a copy of the host");
    }
    // Serialised ones.
    let bytes = maps.property(&map, Query::MICROMAP_SERIALIZATION_SIZE_EXT);
    let plain = maps.rig.memory(bytes as usize / 4);
    let out = vk::CopyMicromapToMemoryInfoEXT::default()
        .src(map.handle)
        .dst(vk::DeviceOrHostAddressKHR { device_address: plain.address })
        .mode(vk::CopyMicromapModeEXT::SERIALIZE);
    maps.rig.run(|_, c| unsafe { (maps.f.cmd_copy_micromap_to_memory_ext)(c, &out) }).expect("a copy");
    let mut words = vec![0u32; bytes as usize / 4];
    let out = out.dst(vk::DeviceOrHostAddressKHR { host_address: words.as_mut_ptr().cast() });
    let done = unsafe { (maps.f.copy_micromap_to_memory_ext)(d, now, &out) };
    assert_eq!((done, words == plain.read()), (vk::Result::SUCCESS, true));
    let mut fits = vk::AccelerationStructureCompatibilityKHR::INCOMPATIBLE;
    // SAFETY: the bytes of the head.
    let version: [u8; 32] = unsafe { words.as_ptr().cast::<[u8; 32]>().read() };
    let version = vk::MicromapVersionInfoEXT::default().version_data(&version);
    unsafe { (maps.f.get_device_micromap_compatibility_ext)(d, &version, &mut fits) };
    assert_eq!(fits, vk::AccelerationStructureCompatibilityKHR::COMPATIBLE);
    let (first, second) = (maps.create(size), maps.create(size));
    let back = vk::CopyMemoryToMicromapInfoEXT::default().mode(vk::CopyMicromapModeEXT::DESERIALIZE);
    let info = back.src(vk::DeviceOrHostAddressConstKHR { device_address: plain.address }).dst(first.handle);
    maps.rig.run(|_, c| unsafe { (maps.f.cmd_copy_memory_to_micromap_ext)(c, &info) }).expect("a copy");
    let info =
        back.src(vk::DeviceOrHostAddressConstKHR { host_address: words.as_ptr().cast() }).dst(second.handle);
    let done = unsafe { (maps.f.copy_memory_to_micromap_ext)(d, now, &info) };
    assert_eq!(done, vk::Result::SUCCESS);
    says(&first, "deserialised by the device");
    says(&second, "deserialised by the host");
}

#[test]
fn hostile_micromaps_lose_the_device_or_are_judged_by_shaders() {
    let rig = Rig::new();
    let maps = Maps::of(&rig);
    let map = maps.create(maps.sizes().micromap_size);
    maps.build(&map, SHAPE, None).expect("a build");
    let bottom = maps.built(map.handle, &[0, 7], vk::IndexType::UINT32, 0);
    assert_eq!(maps.meets(&bottom, 0, 0), "-o??????", "an index beyond the micromap");
    maps.rig.free(map.memory);
    assert_eq!(maps.meets(&bottom, 0, 0), "????????", "freed memory");
    for (what, says, shape, data) in [
        ("values that are no memory", "0xdead0000", SHAPE, Some(0xdead_0000)),
        ("a level that there is not", "vkCmdBuildMicromapsEXT", 13 | 2 << 16, None),
        ("a format that there is not", "vkCmdBuildMicromapsEXT", 1 | 3 << 16, None),
    ] {
        lost(what, says, |rig| {
            let maps = Maps::of(rig);
            let map = maps.create(maps.sizes().micromap_size);
            maps.build(&map, shape, data)
        });
    }
}
