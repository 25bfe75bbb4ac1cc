//! VkTensorARM and VkTensorViewARM. A tensor's memory is that of a buffer; its shape is what descriptors tell shaders besides.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::device::addresses::Binding;
use crate::instance::physical_device::{PhysicalDevice, external_memory};
use crate::memory::{Memory, buffer, capture};
use machine::descriptor::{Descriptor, TensorShape};
use machine::descriptor_memory::{self, Name, Named};
use machine::tensor::Shape;
use std::sync::Arc;
use vk::Handle;

/// What a tensor's memory is used for, as that of a buffer.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw(),
);

pub struct Tensor {
    pub(crate) gpu: Arc<texel::buffer::Buffer>,
    pub(crate) shape: Arc<Shape>,
    /// In heaps.
    pub(crate) shown: Shown,
}

impl Object for Tensor {
    type Handle = vk::TensorARM;
}

/// What descriptors lead to.
pub(crate) struct Shown {
    gpu: Arc<texel::buffer::Buffer>,
    /// Shaders read it where it is.
    shape: Arc<TensorShape>,
    /// In the application's memory.
    pub(crate) name: Name,
}

impl Shown {
    /// `is_kept`, `captured`: as [`capture::name`] has them.
    fn new(
        device: &Device,
        gpu: &Arc<texel::buffer::Buffer>,
        shape: &Shape,
        is_kept: bool,
        captured: Option<u64>,
    ) -> Answer<Shown> {
        let shape = Arc::new(TensorShape(shape.words()));
        let mut shown = Shown { gpu: gpu.clone(), shape, name: Name::default() };
        shown.name = capture::name(device, is_kept, captured, &|| shown.named())?;
        Ok(shown)
    }
    /// A tensor's descriptors in the application's memory.
    fn words(&self, device: &Device) -> [[u64; 4]; 2] {
        descriptor_memory::tensor(self.name.get(device.names(), || self.named()))
    }
    fn named(&self) -> Named {
        Named::Tensor { elements: self.gpu.clone(), shape: self.shape.clone() }
    }
    /// Work that has begun may still read the shape.
    fn end(self, device: &Device) {
        self.name.end(device.names());
        device.quarantine.keep(Box::new(self.shape), &device.gpu);
    }
}

pub struct TensorView(pub(crate) Shown);

impl Object for TensorView {
    type Handle = vk::TensorViewARM;
}

impl TensorView {
    /// Of the elements and of the shape, as they follow each other in a set.
    pub(crate) fn descriptors(&self) -> [Descriptor; 2] {
        [Descriptor::buffer(&self.0.gpu, 0, vk::WHOLE_SIZE), Descriptor::shape(self.0.shape.clone())]
    }
    /// The same in a descriptor buffer.
    pub(crate) fn words(&self, device: &Device) -> [[u64; 4]; 2] {
        self.0.words(device)
    }
}

/// The descriptors in a heap of a view of a tensor that has memory.
pub(crate) fn in_heap(device: &Device, view: In<vk::TensorViewCreateInfoARM>) -> Answer<[[u64; 4]; 2]> {
    const CALL: &str = "vkWriteResourceDescriptorsEXT";
    let tensor = device.object::<Tensor>(view.tensor).ok_or(vk::Result::ERROR_UNKNOWN)?;
    check_view(CALL, view.format, &tensor.shape)?;
    if tensor.gpu.bound.get().is_none() {
        return Err(invalid(&format!("{CALL}: a tensor without memory")));
    }
    Ok(tensor.shown.words(device))
}

fn check_view(call: &str, format: vk::Format, shape: &Shape) -> Answer<()> {
    match machine::tensor::element_bytes(format) == Some(shape.element) {
        true => Ok(()),
        false => Err(invalid(&format!("{call}: elements of another size than the tensor's"))),
    }
}

/// A tensor's memory and shape.
pub(crate) fn get<'a>(
    call: impl Call<'a>,
    tensor: vk::TensorARM,
) -> Option<(Arc<texel::buffer::Buffer>, Arc<Shape>)> {
    let t = call.object::<Tensor>(tensor)?;
    Some((t.gpu.clone(), t.shape.clone()))
}

/// What a format can be with either tiling.
pub(crate) fn features(format: vk::Format) -> vk::FormatFeatureFlags2 {
    use vk::FormatFeatureFlags2 as F;
    let of_graphs = match machine::tensor::graph_type(format) {
        Some(_) => vk::FORMAT_FEATURE_2_TENSOR_DATA_GRAPH_BIT_ARM,
        None => F::empty(),
    };
    match machine::tensor::element_bytes(format) {
        Some(_) => F::TRANSFER_SRC | F::TRANSFER_DST | vk::FORMAT_FEATURE_2_TENSOR_SHADER_BIT_ARM | of_graphs,
        None => F::empty(),
    }
}

fn shape(call: &str, d: Option<In<vk::TensorDescriptionARM>>) -> Answer<Shape> {
    let d = d.ok_or_else(|| invalid(&format!("{call}: no description")))?;
    use vk::TensorTilingARM as Tiling;
    if d.usage.contains(vk::TensorUsageFlagsARM::IMAGE_ALIASING) {
        if d.tiling != Tiling::OPTIMAL {
            return Err(invalid(&format!("{call}: only tensors of optimal tiling alias images")));
        }
        return Shape::of_image(d.format, d.dimensions()).map_err(|why| invalid(&format!("{call}: {why}")));
    }
    let blocks = [Tiling::BLOCK_U_INTERLEAVED, Tiling::BLOCK_U_INTERLEAVED_64K].contains(&d.tiling);
    let bricks = [Tiling::BRICK_16_WIDE, Tiling::BRICK_8_WIDE, Tiling::BRICK_4_WIDE].contains(&d.tiling);
    if !blocks && !bricks && ![Tiling::OPTIMAL, Tiling::LINEAR].contains(&d.tiling) {
        return Err(invalid(&format!("{call}: there is no tiling {}", d.tiling.as_raw())));
    }
    if (blocks || bricks) && !d.p_strides.is_null() {
        return Err(invalid(&format!("{call}: a tensor of explicit tiling has no strides")));
    }
    if blocks && d.dimensions().last().is_some_and(|n| *n > 4) {
        return Err(invalid(&format!(
            "{call}: blocks have at most four elements of the innermost dimension"
        )));
    }
    let strides = (!d.p_strides.is_null() && d.tiling == Tiling::LINEAR).then(|| d.strides());
    Shape::new(d.format, d.dimensions(), strides).map_err(|why| invalid(&format!("{call}: {why}")))
}

/// Whether a rolling window follows the rules. All of the tensor has memory nevertheless, so that elements a window apart do not share it.
fn check_rolling(info: In<vk::TensorCreateInfoARM>, shape: &Shape) -> Answer<()> {
    use vk::TensorTilingARM as Tiling;
    let Some(rolling) = info.find::<vk::TensorRollingBackingCreateInfoARM>() else { return Ok(()) };
    let wrong = |why: &str| Err(invalid(&format!("vkCreateTensorARM: a rolling backing {why}")));
    let tiling = info.description().map_or(Tiling::OPTIMAL, |d| d.tiling);
    let brick = match tiling {
        Tiling::LINEAR => 1,
        Tiling::BRICK_16_WIDE => 16,
        Tiling::BRICK_8_WIDE => 8,
        Tiling::BRICK_4_WIDE => 4,
        _ => return wrong("is of linear tensors and of bricks"),
    };
    let (dimensions, rank) = (&shape.dimensions, shape.dimensions.len());
    let Some(wraps) = rolling.wraps.get(..rank) else { return wrong("has at most four dimensions") };
    let mut uneven = false;
    for (d, (wrap, n)) in wraps.iter().zip(dimensions).enumerate() {
        let whole = wrap == n;
        if *wrap == 0 || wrap > n || !whole && *wrap >= 1 << 16 {
            return wrong(&format!("of {wrap} of {n} elements"));
        }
        if !whole && uneven && !wrap.is_power_of_two() {
            return wrong("has a window that is no power of two within one that is none");
        }
        uneven |= !wrap.is_power_of_two();
        // Bricks are not cut.
        let unit = match rank - d {
            1 if brick > 1 => (64 / brick / shape.element).max(1),
            2 => brick,
            _ => 1,
        };
        if !whole && !wrap.is_multiple_of(unit) {
            return wrong(&format!("of {wrap} elements is no multiple of {unit}, of bricks"));
        }
    }
    Ok(())
}

/// What a tensor's memory is to be, as that of a buffer.
fn memory_flags(flags: vk::TensorCreateFlagsARM) -> vk::BufferCreateFlags {
    match flags.contains(vk::TensorCreateFlagsARM::PROTECTED) {
        true => vk::BufferCreateFlags::PROTECTED,
        false => Default::default(),
    }
}

fn new(device: &Device, info: In<vk::TensorCreateInfoARM>) -> Answer<Tensor> {
    use vk::TensorCreateFlagsARM as Flags;
    let known = Flags::MUTABLE_FORMAT
        | Flags::PROTECTED
        | Flags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY
        | Flags::DESCRIPTOR_HEAP_CAPTURE_REPLAY;
    if !known.contains(info.flags) {
        return Err(invalid("vkCreateTensorARM: tensors of these flags are not supported"));
    }
    if info.flags.contains(Flags::PROTECTED) {
        device.protect("vkCreateTensorARM", false)?;
    }
    let shape = shape("vkCreateTensorARM", info.description())?;
    check_rolling(info, &shape)?;
    let gpu = Arc::new(texel::buffer::Buffer::new(shape.bytes(), USAGE, memory_flags(info.flags)));
    let is_kept = info.flags.contains(Flags::DESCRIPTOR_HEAP_CAPTURE_REPLAY);
    let shown = Shown::new(device, &gpu, &shape, is_kept, capture::in_heaps(info.find()))?;
    Ok(Tensor { gpu, shape: Arc::new(shape), shown })
}

pub(crate) fn create_tensor_arm(
    device: &Device,
    info: In<vk::TensorCreateInfoARM>,
    out: Out<vk::TensorARM>,
) -> vk::Result {
    created(out, new(device, info))
}

pub(crate) fn destroy_tensor_arm(device: &Device, tensor: Doomed<Tensor>) {
    let handle = tensor.handle();
    let Some(t) = tensor.destroy() else { return };
    tell(device, handle, &t.gpu, Binding::UNBIND);
    if let Some(bound) = t.gpu.bound.get() {
        bound.memory.released();
    }
    t.shown.end(device);
}

pub(crate) fn create_tensor_view_arm(
    device: &Device,
    info: In<vk::TensorViewCreateInfoARM>,
    out: Out<vk::TensorViewARM>,
) -> vk::Result {
    let made = get(info, info.tensor).ok_or(vk::Result::ERROR_UNKNOWN).and_then(|(gpu, shape)| {
        check_view("vkCreateTensorViewARM", info.format, &shape)?;
        let is_kept = info.flags.contains(vk::TensorViewCreateFlagsARM::DESCRIPTOR_BUFFER_CAPTURE_REPLAY);
        let captured = capture::in_buffers(info.find());
        Ok(TensorView(Shown::new(device, &gpu, &shape, is_kept, captured)?))
    });
    created(out, made)
}

pub(crate) fn destroy_tensor_view_arm(device: &Device, view: Doomed<TensorView>) {
    if let Some(v) = view.destroy() {
        v.0.end(device);
    }
}

pub(crate) fn get_tensor_memory_requirements_arm(
    _: &Device,
    info: In<vk::TensorMemoryRequirementsInfoARM>,
    out: Fill<vk::MemoryRequirements2>,
) {
    if let Some((gpu, _)) = get(info, info.tensor) {
        buffer::require(gpu.size, gpu.usage, gpu.flags, out);
    }
}

pub(crate) fn get_device_tensor_memory_requirements_arm(
    _: &Device,
    info: In<vk::DeviceTensorMemoryRequirementsARM>,
    out: Fill<vk::MemoryRequirements2>,
) {
    let flags = info.create_info().map_or(Default::default(), |i| memory_flags(i.flags));
    let description = info.create_info().and_then(|i| i.description());
    if let Ok(shape) = shape("vkGetDeviceTensorMemoryRequirementsARM", description) {
        buffer::require(shape.bytes(), USAGE, flags, out);
    }
}

pub(crate) fn bind_tensor_memory_arm(
    device: &Device,
    infos: In<[vk::BindTensorMemoryInfoARM]>,
) -> vk::Result {
    infos.iter().map(|i| bind(device, i)).find(|r| *r != vk::Result::SUCCESS).unwrap_or(vk::Result::SUCCESS)
}

/// Findings name it.
fn tell(device: &Device, tensor: vk::TensorARM, gpu: &texel::buffer::Buffer, binding: Binding) {
    let at = gpu.ptr() as u64;
    device.resource("tensor", tensor.as_raw(), at..at + gpu.size, None, binding);
}

fn bind(device: &Device, i: In<vk::BindTensorMemoryInfoARM>) -> vk::Result {
    let (Some(t), Some(m)) = (i.object::<Tensor>(i.tensor), i.object::<Memory>(i.memory)) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    if !i.memory_offset.is_multiple_of(buffer::ALIGN) {
        return invalid(&format!(
            "vkBindTensorMemoryARM: offset {} is no multiple of {}",
            i.memory_offset,
            buffer::ALIGN
        ));
    }
    let placed = buffer::place("vkBindTensorMemoryARM", &t.gpu, m, i.memory_offset);
    if placed == vk::Result::SUCCESS {
        tell(device, i.tensor, &t.gpu, Binding::BIND);
    }
    placed
}

pub(crate) fn get_physical_device_external_tensor_properties_arm(
    _: &PhysicalDevice,
    info: In<vk::PhysicalDeviceExternalTensorInfoARM>,
    mut out: Fill<vk::ExternalTensorPropertiesARM>,
) {
    // Protected memory is not shared.
    if !info.flags.contains(vk::TensorCreateFlagsARM::PROTECTED) {
        out.external_memory_properties = external_memory(info.handle_type);
    }
}
