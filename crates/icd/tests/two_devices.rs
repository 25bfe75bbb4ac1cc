//! Two devices of a process: an address of one is no memory of the other's, whichever way it is used and whatever kind of memory it is.
//! What names such an address loses its own device (§ Fault Handling), and what lies there stays as it is.

use crate::conditional::range;
use crate::generated::{address, command};
use crate::gpu::{Gpu, Mapped};
use ::vk as new;
use ash::vk;

const N: usize = 64;
const THEIRS: u32 = 0x5EC8_E700;
const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

// SAFETY (all blocks): handles are alive, structures outlive the calls.

fn device() -> Gpu {
    let core = vk::PhysicalDeviceFeatures::default().sparse_binding(true).sparse_residency_buffer(true);
    let names = [
        c"VK_KHR_device_address_commands",
        c"VK_KHR_copy_memory_indirect",
        c"VK_EXT_device_generated_commands",
        ash::ext::external_memory_host::NAME,
        ash::khr::external_memory_fd::NAME,
        ash::ext::conditional_rendering::NAME,
        ash::ext::transform_feedback::NAME,
    ];
    Gpu::with(&names, &mut vk::PhysicalDeviceFeatures2::default().features(core))
}

/// A device that is to be lost, and memory of its own.
struct Victim {
    g: Gpu,
    own: Mapped,
    module: vk::ShaderModule,
    layout: vk::PipelineLayout,
}

impl Victim {
    fn new() -> Victim {
        let g = device();
        let own = g.buffer(N);
        own.words.fill(0);
        let code = shader::words(include_bytes!("shaders/two_devices.comp.spv"));
        let push = [vk::PushConstantRange { stage_flags: COMPUTE, offset: 0, size: 16 }];
        unsafe {
            let info = vk::ShaderModuleCreateInfo::default().code(&code);
            let module = g.device.create_shader_module(&info, None).expect("a module");
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
            let layout = g.device.create_pipeline_layout(&info, None).expect("a layout");
            Victim { g, own, module, layout }
        }
    }

    /// The shader's way of so many, given that address.
    fn pipeline(&self, way: u32) -> vk::Pipeline {
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
        let value = way.to_le_bytes();
        let spec = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(COMPUTE)
            .module(self.module)
            .name(c"main")
            .specialization_info(&spec);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        let made = unsafe { self.g.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
        made.expect("a pipeline")[0]
    }

    /// Runs what is recorded.
    fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
        let c = self.g.record(record);
        self.g.submit(c, vk::Fence::null());
        unsafe { self.g.device.device_wait_idle() }
    }

    fn dispatch(&self, way: u32, theirs: u64) -> Result<(), vk::Result> {
        let pipeline = self.pipeline(way);
        let ran = self.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
            let addresses = [theirs, address(&self.g, &self.own)].map(u64::to_le_bytes);
            d.cmd_push_constants(c, self.layout, COMPUTE, 0, addresses.as_flattened());
            d.cmd_dispatch(c, 1, 1, 1);
        });
        unsafe { self.g.device.destroy_pipeline(pipeline, None) };
        ran
    }

    fn end(self) {
        unsafe {
            self.g.device.destroy_shader_module(self.module, None);
            self.g.device.destroy_pipeline_layout(self.layout, None);
        }
        self.g.free(self.own);
    }
}

/// A way to use an address: records it for memory of `theirs`, and of the victim's `own`.
type Way = fn(&Victim, vk::CommandBuffer, u64, u64);

/// Calls a command of one structure.
unsafe fn call<T>(v: &Victim, name: &std::ffi::CStr, c: vk::CommandBuffer, info: &T) {
    unsafe {
        let f: unsafe extern "system" fn(vk::CommandBuffer, *const T) = command(&v.g, name);
        f(c, info)
    }
}

fn copy(v: &Victim, c: vk::CommandBuffer, from: u64, to: u64) {
    let region = new::DeviceMemoryCopyKHR {
        src_range: range(from, 64),
        dst_range: range(to, 64),
        ..Default::default()
    };
    let info = new::CopyDeviceMemoryInfoKHR { region_count: 1, p_regions: &region, ..Default::default() };
    unsafe { call(v, c"vkCmdCopyMemoryKHR", c, &info) }
}

/// One copy of 64 bytes, which the victim's own memory describes from its word 40 on.
fn copy_indirect(v: &Victim, c: vk::CommandBuffer, from: u64, to: u64, own: u64) {
    let words = [from, to, 64].map(|a| [a as u32, (a >> 32) as u32]);
    // SAFETY: mapped memory that nobody reads yet.
    unsafe {
        let at = v.own.words.as_ptr().cast_mut().add(40);
        std::ptr::copy_nonoverlapping(words.as_flattened().as_ptr(), at, 6);
        let info = new::CopyMemoryIndirectInfoKHR {
            copy_count: 1,
            copy_address_range: strided(own + 160, 24),
            ..Default::default()
        };
        call(v, c"vkCmdCopyMemoryIndirectKHR", c, &info)
    }
}

fn strided(address: u64, bytes: u64) -> new::StridedDeviceAddressRangeKHR {
    new::StridedDeviceAddressRangeKHR { address, size: bytes, stride: bytes }
}

const COMMANDS: &[(&str, Way)] = &[
    ("fill", |v, c, theirs, _| unsafe {
        type Fill = unsafe extern "system" fn(vk::CommandBuffer, *const new::DeviceAddressRangeKHR, u32, u32);
        let fill: Fill = command(&v.g, c"vkCmdFillMemoryKHR");
        fill(c, &range(theirs, 64), 0, 7);
    }),
    ("update", |v, c, theirs, _| unsafe {
        type Update = unsafe extern "system" fn(
            vk::CommandBuffer,
            *const new::DeviceAddressRangeKHR,
            u32,
            u64,
            *const std::ffi::c_void,
        );
        let update: Update = command(&v.g, c"vkCmdUpdateMemoryKHR");
        update(c, &range(theirs, 8), 0, 8, [7u32; 2].as_ptr().cast());
    }),
    ("copy to", |v, c, theirs, own| copy(v, c, own, theirs)),
    ("copy from", |v, c, theirs, own| copy(v, c, theirs, own)),
    ("copy to, indirectly", |v, c, theirs, own| copy_indirect(v, c, own, theirs, own)),
    ("copy from, indirectly", |v, c, theirs, own| copy_indirect(v, c, theirs, own, own)),
    ("the copies themselves", |v, c, theirs, _| unsafe {
        let info = new::CopyMemoryIndirectInfoKHR {
            copy_count: 1,
            copy_address_range: strided(theirs, 24),
            ..Default::default()
        };
        call(v, c"vkCmdCopyMemoryIndirectKHR", c, &info);
    }),
    ("indices", |v, c, theirs, _| unsafe {
        let info = new::BindIndexBuffer3InfoKHR { address_range: range(theirs, 64), ..Default::default() };
        call(v, c"vkCmdBindIndexBuffer3KHR", c, &info);
    }),
    ("vertices", |v, c, theirs, _| unsafe {
        type Bind =
            unsafe extern "system" fn(vk::CommandBuffer, u32, u32, *const new::BindVertexBuffer3InfoKHR);
        let bind: Bind = command(&v.g, c"vkCmdBindVertexBuffers3KHR");
        let info = new::BindVertexBuffer3InfoKHR { address_range: strided(theirs, 16), ..Default::default() };
        bind(c, 0, 1, &info);
    }),
    ("captured vertices", |v, c, theirs, _| unsafe {
        type Bind = unsafe extern "system" fn(
            vk::CommandBuffer,
            u32,
            u32,
            *const new::BindTransformFeedbackBuffer2InfoEXT,
        );
        let bind: Bind = command(&v.g, c"vkCmdBindTransformFeedbackBuffers2EXT");
        let info = new::BindTransformFeedbackBuffer2InfoEXT {
            address_range: range(theirs, 64),
            ..Default::default()
        };
        bind(c, 0, 1, &info);
    }),
    ("a draw", |v, c, theirs, _| unsafe {
        let address_range = strided(theirs, 16);
        let info = new::DrawIndirect2InfoKHR { address_range, draw_count: 1, ..Default::default() };
        call(v, c"vkCmdDrawIndirect2KHR", c, &info);
    }),
    ("a dispatch", |v, c, theirs, _| unsafe {
        let info = new::DispatchIndirect2InfoKHR { address_range: range(theirs, 12), ..Default::default() };
        call(v, c"vkCmdDispatchIndirect2KHR", c, &info);
    }),
    ("a predicate", |v, c, theirs, _| unsafe {
        let address_range = range(theirs, 4);
        let info = new::ConditionalRenderingBeginInfo2EXT { address_range, ..Default::default() };
        call(v, c"vkCmdBeginConditionalRendering2EXT", c, &info);
    }),
];

/// Kinds of memory that device A has, each with its address and words.
struct Kinds {
    a: Gpu,
    plain: Mapped,
    exported: (vk::Buffer, vk::DeviceMemory, &'static mut [u32]),
    host: Box<Page>,
    imported: (vk::Buffer, vk::DeviceMemory),
    sparse: (vk::Buffer, crate::sparse::Store),
}

#[repr(align(4096))]
struct Page([u32; 1024]);

const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw() | vk::BufferUsageFlags::TRANSFER_SRC.as_raw(),
);

/// A buffer on memory that is allocated as `info` says.
fn external(
    g: &Gpu,
    handle: vk::ExternalMemoryHandleTypeFlags,
    bytes: u64,
    memory: &mut dyn FnMut(vk::MemoryAllocateInfo) -> vk::DeviceMemory,
) -> (vk::Buffer, vk::DeviceMemory) {
    let mut handles = vk::ExternalMemoryBufferCreateInfo::default().handle_types(handle);
    let info = vk::BufferCreateInfo::default().size(bytes).usage(USAGE).push_next(&mut handles);
    unsafe {
        let buffer = g.device.create_buffer(&info, None).expect("a buffer");
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let memory = memory(vk::MemoryAllocateInfo::default().allocation_size(bytes).push_next(&mut flags));
        g.device.bind_buffer_memory(buffer, memory, 0).expect("it is bound");
        (buffer, memory)
    }
}

const FD: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;

fn mapped(g: &Gpu, memory: vk::DeviceMemory) -> &'static mut [u32] {
    unsafe {
        let at = g.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("it is mapped");
        std::slice::from_raw_parts_mut(at.cast(), N)
    }
}

impl Kinds {
    fn new() -> Kinds {
        let a = device();
        let plain = a.buffer(N);
        let mut host = Box::new(Page([0; 1024]));
        let (buffer, memory) = external(&a, FD, 4096, &mut |info| {
            let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(FD);
            unsafe { a.device.allocate_memory(&info.push_next(&mut export), None) }.expect("memory")
        });
        let exported = (buffer, memory, mapped(&a, memory));
        let handle = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let at: *mut Page = &mut *host;
        let imported = external(&a, handle, 4096, &mut |info| {
            let mut import = vk::ImportMemoryHostPointerInfoEXT::default().handle_type(handle);
            import.p_host_pointer = at.cast();
            unsafe { a.device.allocate_memory(&info.push_next(&mut import), None) }.expect("memory")
        });
        let sparse = crate::sparse::bound_buffer(&a);
        Kinds { a, plain, exported, host, imported, sparse }
    }

    fn of(&self, buffer: vk::Buffer) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        unsafe { self.a.device.get_buffer_device_address(&info) }
    }

    fn addresses(&self) -> [(&'static str, u64); 4] {
        let host = self.of(self.imported.0);
        assert_eq!(host, &raw const *self.host as u64, "imported memory is where it is");
        let plain = address(&self.a, &self.plain);
        let [exported, sparse] = [self.exported.0, self.sparse.0].map(|b| self.of(b));
        [("plain", plain), ("exported", exported), ("imported", host), ("sparse", sparse)]
    }

    fn each(&mut self) -> [&mut [u32]; 4] {
        [&mut *self.plain.words, &mut *self.exported.2, &mut self.host.0[..N], &mut self.sparse.1.words[..N]]
    }

    fn are_untouched(&mut self, after: &str) {
        for words in self.each() {
            assert!(words[..N].iter().all(|w| *w == THEIRS), "{after}: {words:x?}");
        }
    }

    fn end(self) {
        let d = &self.a.device;
        unsafe {
            for (b, m) in [
                (self.exported.0, self.exported.1),
                (self.imported.0, self.imported.1),
                (self.sparse.0, self.sparse.1.memory),
            ] {
                d.destroy_buffer(b, None);
                d.free_memory(m, None);
            }
        }
        self.a.free(self.plain);
    }
}

#[test]
fn another_devices_address_is_a_fault() {
    let mut kinds = Kinds::new();
    kinds.each().into_iter().for_each(|words| words[..N].fill(THEIRS));
    for (kind, theirs) in kinds.addresses() {
        for way in 0..8 {
            let v = Victim::new();
            let what = format!("way {way} of the shader, {kind} memory");
            // That it is the address: its own it may use.
            let own = address(&v.g, &v.own);
            assert_eq!(v.dispatch(way, own), Ok(()), "{what}: its own");
            v.own.words.iter().for_each(|w| assert_ne!(*w, THEIRS));
            assert_eq!(v.dispatch(way, theirs), Err(vk::Result::ERROR_DEVICE_LOST), "{what}");
            assert!(!v.own.words.contains(&THEIRS), "{what}: read");
            v.end();
            kinds.are_untouched(&what);
        }
        for (name, way) in COMMANDS {
            let v = Victim::new();
            let what = format!("{name}, {kind} memory");
            let own = address(&v.g, &v.own);
            let ran = v.run(|_, c| way(&v, c, theirs, own));
            assert_eq!(ran, Err(vk::Result::ERROR_DEVICE_LOST), "{what}");
            assert!(!v.own.words[..32].contains(&THEIRS), "{what}: read");
            v.end();
            kinds.are_untouched(&what);
        }
    }
    // The first device has noticed nothing.
    kinds.a.run(|d, c| unsafe { d.cmd_fill_buffer(c, kinds.plain.buffer, 0, 16, 9) });
    assert_eq!(kinds.plain.words[..5], [9, 9, 9, 9, THEIRS]);
    kinds.end();
}

/// What is imported is each device's at its own address.
#[test]
fn shared_memory_is_each_devices_own() {
    let kinds = Kinds::new();
    let v = Victim::new();
    let fds = ash::khr::external_memory_fd::Device::new(&kinds.a.instance, &kinds.a.device);
    let info = vk::MemoryGetFdInfoKHR::default().memory(kinds.exported.1).handle_type(FD);
    let fd = unsafe { fds.get_memory_fd(&info) }.expect("a descriptor");
    let (buffer, memory) = external(&v.g, FD, 4096, &mut |info| {
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(FD).fd(fd);
        unsafe { v.g.device.allocate_memory(&info.push_next(&mut import), None) }.expect("memory")
    });
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
    let at = unsafe { v.g.device.get_buffer_device_address(&info) };
    assert_ne!(at, kinds.of(kinds.exported.0));
    assert_eq!(v.dispatch(1, at), Ok(()));
    assert_eq!(kinds.exported.2[..33], [[7u32; 32].as_slice(), &[0]].concat());
    unsafe {
        v.g.device.destroy_buffer(buffer, None);
        v.g.device.free_memory(memory, None);
    }
    v.end();
    kinds.end();
}

/// Many devices at once each have memory, and what one had the next may have.
#[test]
fn many_devices_have_addresses() {
    for _ in 0..2 {
        let many: Vec<_> = (0..24).map(|_| Gpu::new()).collect();
        let memory: Vec<_> = many.iter().map(|g| g.buffer(N)).collect();
        let mut all: Vec<_> = many.iter().zip(&memory).map(|(g, m)| address(g, m)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), many.len());
        for (k, (g, m)) in many.iter().zip(memory).enumerate() {
            g.run(|d, c| unsafe { d.cmd_fill_buffer(c, m.buffer, 0, vk::WHOLE_SIZE, k as u32) });
            assert!(m.words.iter().all(|w| *w == k as u32));
            g.free(m);
        }
    }
}

/// A range that goes on past its allocation is cut there, as a buffer's is at the buffer's end (the CTS's
/// `device_address.image_to_buffer.1d_images.larger_buffer` gives such a one).
#[test]
fn a_range_past_its_allocation_is_cut() {
    let v = Victim::new();
    let own = address(&v.g, &v.own);
    let ran = v.run(|_, c| unsafe {
        type Fill = unsafe extern "system" fn(vk::CommandBuffer, *const new::DeviceAddressRangeKHR, u32, u32);
        let fill: Fill = command(&v.g, c"vkCmdFillMemoryKHR");
        fill(c, &range(own + 8, 1 << 20), 0, 7);
    });
    assert_eq!(ran, Ok(()));
    assert_eq!(v.own.words[..2], [0; 2]);
    assert!(v.own.words[2..].iter().all(|&w| w == 7));
    v.end();
}
