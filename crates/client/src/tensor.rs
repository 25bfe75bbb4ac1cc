//! Tensors (VK_ARM_tensors) for tests and examples: objects, and SPIR-V that shifts one tensor's elements into another. It is made here
//! because the compilers of Debian 12 do not know the extension.

use crate::context::Context;
use crate::cooperative::{Entry, Module, op, text};
use crate::graphics::Image;
use crate::{Error, Result};
use std::rc::Rc;

/// What the elements are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
}

impl Element {
    pub fn bytes(self) -> usize {
        match self {
            Element::U8 => 1,
            Element::U16 | Element::F16 | Element::Bf16 => 2,
            Element::U32 | Element::F32 => 4,
            Element::U64 => 8,
        }
    }
    pub fn format(self) -> vk::Format {
        match self {
            Element::U8 => vk::Format::R8_UINT,
            Element::U16 => vk::Format::R16_UINT,
            Element::F16 => vk::Format::R16_SFLOAT,
            Element::Bf16 => vk::FORMAT_R16_SFLOAT_FPENCODING_BFLOAT16_ARM,
            Element::U32 => vk::Format::R32_UINT,
            Element::F32 => vk::Format::R32_SFLOAT,
            Element::U64 => vk::Format::R64_UINT,
        }
    }
    /// The type, unless it is the 32-bit integer that the module has.
    pub(crate) fn declare(self, m: &mut Module) -> u32 {
        let (code, operands): (u32, &[u32]) = match self {
            Element::U32 => return m.uint,
            Element::U8 => (21, &[8, 0]),
            Element::U16 => (21, &[16, 0]),
            Element::U64 => (21, &[64, 0]),
            Element::F16 => (22, &[16]),
            Element::F32 => (22, &[32]),
            Element::Bf16 => (22, &[16, 0]),
        };
        m.global(|id| op(code, &[&[id], operands].concat()))
    }
    fn capabilities(self) -> &'static [u32] {
        match self {
            Element::U8 => &[39],
            Element::U16 => &[22],
            Element::U64 => &[11],
            Element::F16 => &[9],
            Element::Bf16 => &[5116],
            Element::U32 | Element::F32 => &[],
        }
    }
    /// Words of a constant with these bits.
    fn constant(self, bits: u64) -> Vec<u32> {
        if self == Element::U64 { vec![bits as u32, (bits >> 32) as u32] } else { vec![bits as u32] }
    }
}

/// Element by element of the second tensor: what the first one has `shift` elements on along the last dimension, `outside` beyond its
/// end. `at_once` elements go in one instruction; the last dimension is a multiple of them. An invocation each, 64 to a workgroup. The
/// first one stores the first tensor's sizes in a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    pub element: Element,
    pub rank: u32,
    pub shift: u32,
    pub at_once: u32,
    /// Bits of an element.
    pub outside: u64,
    /// Binding 0 is an array of two tensors: invocations of even number read the first one, others the second one.
    pub in_turn: bool,
}

impl Shift {
    /// The module; the tensors are bindings 0 and 1 of set 0, the buffer of sizes is binding 2.
    pub fn spirv(&self) -> Vec<u32> {
        self.module(false)
    }

    /// The tensors are the first ones of the resource heap, as an array (SPV_EXT_descriptor_heap).
    pub fn of_heap(&self) -> Vec<u32> {
        self.module(true)
    }

    fn module(&self, of_heap: bool) -> Vec<u32> {
        let (mut m, Entry { main, void, function, uint3 }) = Module::of_entry();
        let uint = m.uint;
        let boolean = m.global(|id| op(20, &[id]));
        let element = self.element.declare(&mut m);
        let rank = m.constant(self.rank);
        let tensor = m.global(|id| op(4163, &[id, element, rank]));
        let pointer = m.global(|id| op(32, &[id, 0, tensor]));
        let two = m.constant(2);
        let array = m.global(|id| op(28, &[id, tensor, two]));
        let to_array = m.global(|id| op(32, &[id, 0, array]));
        let tensors = if of_heap { vec![] } else { vec![0, 1] };
        let tensors = tensors.into_iter().map(|binding| {
            let ty = if self.in_turn && binding == 0 { to_array } else { pointer };
            let variable = m.global(|id| op(59, &[ty, id, 0]));
            m.decorations.extend([op(71, &[variable, 34, 0]), op(71, &[variable, 33, binding])].concat());
            variable
        });
        let tensors: Vec<u32> = tensors.collect();
        let heap = of_heap.then(|| Heap::declare(&mut m, tensor));
        // uint sizes[].
        let array = m.global(|id| op(29, &[id, uint]));
        let block = m.global(|id| op(30, &[id, array]));
        let decorations = [op(71, &[array, 6, 4]), op(71, &[block, 2]), op(72, &[block, 0, 35, 0])].concat();
        m.decorations.extend(decorations);
        let to_block = m.global(|id| op(32, &[id, 12, block]));
        let to_uint = m.global(|id| op(32, &[id, 12, uint]));
        let sizes = m.global(|id| op(59, &[to_block, id, 12]));
        m.decorations.extend([op(71, &[sizes, 34, 0]), op(71, &[sizes, 33, 2])].concat());
        let input = m.global(|id| op(32, &[id, 1, uint3]));
        let invocation = m.global(|id| op(59, &[input, id, 1]));
        m.decorations.extend(op(71, &[invocation, 11, 28]));
        let coordinates = m.global(|id| op(28, &[id, uint, rank]));
        let outside = self.element.constant(self.outside);
        let outside = m.global(|id| op(43, &[&[element, id], &outside[..]].concat()));
        let values = match self.at_once {
            1 => element,
            n => {
                let n = m.constant(n);
                m.global(|id| op(28, &[id, element, n]))
            }
        };

        let first = m.id();
        m.body.extend([op(54, &[void, main, 0, function]), op(248, &[first])].concat());
        let invocation_id = m.value(61, uint3, &[invocation]);
        let number = m.value(81, uint, &[invocation_id, 0]);
        let zero = m.constant(0);
        let odd = match self.in_turn {
            false => zero,
            true => {
                let odd = m.value(137, uint, &[number, two]);
                m.decorations.extend(op(71, &[odd, 5300]));
                odd
            }
        };
        let (source, target) = match heap {
            Some(heap) => {
                let last = m.constant(1 + self.in_turn as u32);
                (heap.place(&mut m, odd), heap.place(&mut m, last))
            }
            None if self.in_turn => (m.value(65, pointer, &[tensors[0], odd]), tensors[1]),
            None => (tensors[0], tensors[1]),
        };
        if self.in_turn {
            m.decorations.extend(op(71, &[source, 5300]));
        }
        let [from, to] = [source, target].map(|t| m.value(61, tensor, &[t]));
        if self.in_turn {
            m.decorations.extend(op(71, &[from, 5300]));
        }
        // An invocation's elements, from the innermost dimension outwards.
        let at_once = m.constant(self.at_once);
        let mut rest = m.value(132, uint, &[number, at_once]);
        let lengths: Vec<u32> = (0..self.rank)
            .map(|d| {
                let d = m.constant(d);
                m.value(4166, uint, &[from, d])
            })
            .collect();
        let mut at = vec![0; self.rank as usize];
        for d in (0..self.rank as usize).rev() {
            at[d] = m.value(137, uint, &[rest, lengths[d]]);
            rest = m.value(134, uint, &[rest, lengths[d]]);
        }
        let is_there = m.value(170, boolean, &[rest, zero]);
        let (work, after) = (m.id(), m.id());
        m.body.extend([op(247, &[after, 0]), op(250, &[is_there, work, after]), op(248, &[work])].concat());
        let place = m.value(80, coordinates, &at);
        let shift = m.constant(self.shift);
        if let Some(last) = at.last_mut() {
            *last = m.add(*last, shift);
        }
        let shifted = m.value(80, coordinates, &at);
        let value = m.value(4164, values, &[from, shifted, 2, outside]);
        m.body.extend(op(4165, &[to, place, value]));
        m.body.extend([op(249, &[after]), op(248, &[after])].concat());
        let is_first = m.value(170, boolean, &[number, zero]);
        let (tell, end) = (m.id(), m.id());
        m.body.extend([op(247, &[end, 0]), op(250, &[is_first, tell, end]), op(248, &[tell])].concat());
        for (d, length) in lengths.iter().enumerate() {
            let d = m.constant(d as u32);
            let word = m.value(65, to_uint, &[sizes, zero, d]);
            m.body.extend(op(62, &[word, *length]));
        }
        m.body.extend([op(249, &[end]), op(248, &[end]), op(253, &[]), op(56, &[])].concat());

        // Shaders' non-uniform values, and tensors chosen by them.
        let in_turn: &[u32] = if self.in_turn { &[5301, 4175, 4176] } else { &[] };
        let of_heaps: &[u32] = if of_heap { &[4473, 5128] } else { &[] };
        let mut head: Vec<u32> = [&[1, 4174], in_turn, of_heaps, self.element.capabilities()]
            .concat()
            .iter()
            .flat_map(|c| op(17, &[*c]))
            .collect();
        head.extend(op(10, &text("SPV_ARM_tensors")));
        if self.element == Element::Bf16 {
            head.extend(op(10, &text("SPV_KHR_bfloat16")));
        }
        if of_heap {
            head.extend(op(10, &text("SPV_KHR_untyped_pointers")));
            head.extend(op(10, &text("SPV_EXT_descriptor_heap")));
        }
        head.extend(op(14, &[0, 1]));
        let variables = match heap {
            Some(heap) => vec![heap.variable],
            None => tensors,
        };
        let entry = [&[5, main], &text("main")[..], &[invocation, sizes], &variables].concat();
        head.extend([op(15, &entry), op(16, &[main, 17, 64, 1, 1])].concat());
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, m.ids + 1, 0];
        words.extend(head);
        words.extend(&m.decorations);
        words.extend(&m.globals);
        words.extend(&m.body);
        words
    }
}

/// The resource heap as an array of tensors.
#[derive(Clone, Copy)]
struct Heap {
    variable: u32,
    /// An untyped pointer into it.
    pointer: u32,
    array: u32,
}

impl Heap {
    fn declare(m: &mut Module, tensor: u32) -> Heap {
        let uint = m.uint;
        // OpTypeUntypedPointerKHR, OpConstantSizeOfEXT, OpUntypedVariableKHR; ArrayStrideIdEXT, ResourceHeapEXT.
        let pointer = m.global(|id| op(4417, &[id, 0]));
        let size = m.global(|id| op(5129, &[uint, id, tensor]));
        let array = m.global(|id| op(29, &[id, tensor]));
        m.decorations.extend(op(332, &[array, 5124, size]));
        let variable = m.global(|id| op(4418, &[pointer, id, 0]));
        m.decorations.extend(op(71, &[variable, 11, 5123]));
        Heap { variable, pointer, array }
    }
    /// A pointer to a tensor by its number.
    fn place(self, m: &mut Module, index: u32) -> u32 {
        m.value(4419, self.pointer, &[self.array, self.variable, index])
    }
}

/// The commands of an extension that ash lacks.
macro_rules! functions {
    ($kind:ident: $($field:ident = $name:literal: fn($($arg:ty),*) $(-> $result:ty)?,)*) => {
        /// The device's commands of the extension.
        pub struct $kind {
            $(pub $field: unsafe extern "system" fn($($arg),*) $(-> $result)?,)*
        }
        impl $kind {
            pub(crate) fn load(context: &Context) -> Result<$kind> {
                Ok($kind { $($field: {
                    // SAFETY: the device is alive.
                    let found = unsafe { context.instance.get_device_proc_addr(context.device.handle(), $name.as_ptr()) };
                    let found = found.ok_or_else(|| Error(format!("the device lacks {:?}", $name)))?;
                    // SAFETY: a command's function has the command's type.
                    unsafe { std::mem::transmute::<unsafe extern "system" fn(), unsafe extern "system" fn($($arg),*) $(-> $result)?>(found) }
                },)* })
            }
        }
    };
}

pub(crate) use functions;

pub(crate) type Allocator = *const vk::AllocationCallbacks<'static>;

functions! {
    Functions:
    create = c"vkCreateTensorARM": fn(vk::Device, *const vk::TensorCreateInfoARM<'_>, Allocator, *mut vk::TensorARM) -> vk::Result,
    destroy = c"vkDestroyTensorARM": fn(vk::Device, vk::TensorARM, Allocator),
    create_view = c"vkCreateTensorViewARM": fn(vk::Device, *const vk::TensorViewCreateInfoARM<'_>, Allocator, *mut vk::TensorViewARM) -> vk::Result,
    destroy_view = c"vkDestroyTensorViewARM": fn(vk::Device, vk::TensorViewARM, Allocator),
    requirements = c"vkGetTensorMemoryRequirementsARM": fn(vk::Device, *const vk::TensorMemoryRequirementsInfoARM<'_>, *mut vk::MemoryRequirements2<'_>),
    bind = c"vkBindTensorMemoryARM": fn(vk::Device, u32, *const vk::BindTensorMemoryInfoARM<'_>) -> vk::Result,
    copy = c"vkCmdCopyTensorARM": fn(vk::CommandBuffer, *const vk::CopyTensorInfoARM<'_>),
}

impl Functions {
    /// Of a device with the extension.
    pub fn of(context: &Context) -> Result<Rc<Functions>> {
        Self::load(context).map(Rc::new)
    }
}

fn described(element: Element, dimensions: &[i64]) -> vk::TensorDescriptionARM<'_> {
    vk::TensorDescriptionARM {
        format: element.format(),
        dimension_count: dimensions.len() as u32,
        p_dimensions: dimensions.as_ptr(),
        usage: vk::TensorUsageFlagsARM::SHADER
            | vk::TensorUsageFlagsARM::DATA_GRAPH
            | vk::TensorUsageFlagsARM::TRANSFER_SRC
            | vk::TensorUsageFlagsARM::TRANSFER_DST,
        ..Default::default()
    }
}

/// What is captured of a tensor for heaps, and of its view for descriptor buffers, if it is made again.
#[derive(Clone, Copy)]
enum Capture<'a> {
    No,
    First,
    Again(&'a [[u8; 8]; 2]),
}

/// A tensor without memory, and what it needs of it.
unsafe fn create(
    context: &Context,
    f: &Functions,
    description: &vk::TensorDescriptionARM,
    capture: Capture,
) -> Result<(vk::TensorARM, vk::MemoryRequirements)> {
    let device = context.device.handle();
    let mut info = vk::TensorCreateInfoARM { p_description: description, ..Default::default() };
    let mut data = vk::HostAddressRangeConstEXT { size: 8, ..Default::default() };
    let mut captured = vk::OpaqueCaptureDataCreateInfoEXT::default();
    if !matches!(capture, Capture::No) {
        info.flags = vk::TensorCreateFlagsARM::DESCRIPTOR_HEAP_CAPTURE_REPLAY;
    }
    if let Capture::Again([tensor, _]) = capture {
        data.address = tensor.as_ptr().cast();
        captured.p_data = &data;
        info.p_next = (&raw const captured).cast();
    }
    let mut handle = vk::TensorARM::null();
    // SAFETY: structures outlive the calls.
    unsafe {
        let made = (f.create)(device, &info, std::ptr::null(), &mut handle);
        made.result().map_err(Error::vk("vkCreateTensorARM"))?;
        let of = vk::TensorMemoryRequirementsInfoARM { tensor: handle, ..Default::default() };
        let mut needs = vk::MemoryRequirements2::default();
        (f.requirements)(device, &of, &mut needs);
        Ok((handle, needs.memory_requirements))
    }
}

/// Binds it to the beginning of memory, and makes a view of it.
unsafe fn bind(
    context: &Context,
    f: &Functions,
    tensor: vk::TensorARM,
    memory: vk::DeviceMemory,
    element: Element,
    capture: Capture,
) -> Result<vk::TensorViewARM> {
    let device = context.device.handle();
    let mut view = vk::TensorViewARM::null();
    // SAFETY: structures outlive the calls.
    unsafe {
        let info = vk::BindTensorMemoryInfoARM { tensor, memory, ..Default::default() };
        let bound = (f.bind)(device, 1, &info);
        bound.result().map_err(Error::vk("vkBindTensorMemoryARM"))?;
        let mut of = vk::TensorViewCreateInfoARM { tensor, format: element.format(), ..Default::default() };
        let mut captured = vk::OpaqueCaptureDescriptorDataCreateInfoEXT::default();
        if !matches!(capture, Capture::No) {
            of.flags = vk::TensorViewCreateFlagsARM::DESCRIPTOR_BUFFER_CAPTURE_REPLAY;
        }
        if let Capture::Again([_, view]) = capture {
            captured.opaque_capture_descriptor_data = view.as_ptr().cast();
            of.p_next = (&raw const captured).cast();
        }
        let made = (f.create_view)(device, &of, std::ptr::null(), &mut view);
        made.result().map_err(Error::vk("vkCreateTensorViewARM"))?;
    }
    Ok(view)
}

/// A tensor with a view of its format: in memory of its own that the host sees, or in an image's.
pub struct Tensor {
    context: Rc<Context>,
    functions: Rc<Functions>,
    pub handle: vk::TensorARM,
    pub view: vk::TensorViewARM,
    memory: vk::DeviceMemory,
    pointer: *mut u8,
    size: usize,
}

impl Tensor {
    /// Without strides: without gaps, with the optimal tiling if `optimal`.
    pub fn new(
        context: &Rc<Context>,
        functions: &Rc<Functions>,
        element: Element,
        dimensions: &[i64],
        strides: Option<&[i64]>,
        optimal: bool,
    ) -> Result<Tensor> {
        let f = functions;
        let tiling = if optimal { vk::TensorTilingARM::OPTIMAL } else { vk::TensorTilingARM::LINEAR };
        let description = vk::TensorDescriptionARM {
            tiling,
            p_strides: strides.map_or(std::ptr::null(), |s| s.as_ptr()),
            ..described(element, dimensions)
        };
        Self::described_so(context, f, element, &description, Capture::No)
    }

    /// Linear, for captures; `captured`: with what was captured of another, for heaps and of its view for descriptor buffers.
    pub fn captured(
        context: &Rc<Context>,
        functions: &Rc<Functions>,
        element: Element,
        dimensions: &[i64],
        captured: Option<&[[u8; 8]; 2]>,
    ) -> Result<Tensor> {
        let mut description = described(element, dimensions);
        description.tiling = vk::TensorTilingARM::LINEAR;
        let capture = captured.map_or(Capture::First, Capture::Again);
        Self::described_so(context, functions, element, &description, capture)
    }

    fn described_so(
        context: &Rc<Context>,
        functions: &Rc<Functions>,
        element: Element,
        description: &vk::TensorDescriptionARM,
        capture: Capture,
    ) -> Result<Tensor> {
        let (device, f) = (&context.device, functions);
        // SAFETY: structures outlive the calls; the memory is mapped whole and stays mapped.
        unsafe {
            let (handle, needs) = create(context, f, description, capture)?;
            let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(context.memory_type(needs.memory_type_bits, flags)?);
            let memory = device.allocate_memory(&allocate, None).map_err(Error::vk("vkAllocateMemory"))?;
            let view = bind(context, f, handle, memory, element, capture).inspect_err(|_| {
                (f.destroy)(device.handle(), handle, std::ptr::null());
                device.free_memory(memory, None);
            })?;
            let pointer = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(Error::vk("vkMapMemory"))?
                .cast::<u8>();
            let size = needs.size as usize;
            Ok(Tensor {
                context: context.clone(),
                functions: functions.clone(),
                handle,
                view,
                memory,
                pointer,
                size,
            })
        }
    }

    /// In the memory of an image, whose texels are the last dimension. The host does not see it.
    pub fn of_image(
        context: &Rc<Context>,
        functions: &Rc<Functions>,
        element: Element,
        dimensions: &[i64],
        image: &Image,
    ) -> Result<Tensor> {
        let mut description = described(element, dimensions);
        description.tiling = vk::TensorTilingARM::OPTIMAL;
        description.usage |= vk::TensorUsageFlagsARM::IMAGE_ALIASING;
        // SAFETY: structures outlive the calls; the image has memory.
        unsafe {
            let (handle, _) = create(context, functions, &description, Capture::No)?;
            let view = bind(context, functions, handle, image.memory(), element, Capture::No)?;
            Ok(Tensor {
                context: context.clone(),
                functions: functions.clone(),
                handle,
                view,
                memory: vk::DeviceMemory::null(),
                pointer: std::ptr::dangling_mut(),
                size: 0,
            })
        }
    }

    /// All of the memory. No command that uses it is under way.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped for as long as the tensor lives.
        unsafe { std::slice::from_raw_parts(self.pointer, self.size) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.size) }
    }

    /// Records a copy of all of it.
    pub fn copy_to(&self, commands: vk::CommandBuffer, to: &Tensor) {
        let region = vk::TensorCopyARM::default();
        let info = vk::CopyTensorInfoARM {
            src_tensor: self.handle,
            dst_tensor: to.handle,
            region_count: 1,
            p_regions: &region,
            ..Default::default()
        };
        // SAFETY: recording; both tensors are bound.
        unsafe { (self.functions.copy)(commands, &info) }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        let device = &self.context.device;
        // SAFETY: nothing uses them any more.
        unsafe {
            (self.functions.destroy_view)(device.handle(), self.view, std::ptr::null());
            (self.functions.destroy)(device.handle(), self.handle, std::ptr::null());
            device.free_memory(self.memory, None);
        }
    }
}
