//! VkTensorARM and VkTensorViewARM. A tensor's memory is that of a buffer; its shape is what descriptors tell shaders besides.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::physical_device::{PhysicalDevice, external_memory};
use crate::memory::{Memory, buffer};
use machine::descriptor::{Descriptor, TensorShape};
use machine::descriptor_memory::{self, Named};
use machine::tensor::Shape;
use std::sync::{Arc, OnceLock};

/// What a tensor's memory is used for, as that of a buffer.
const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw(),
);

pub struct Tensor {
    pub(crate) gpu: Arc<texel::buffer::Buffer>,
    pub(crate) shape: Arc<Shape>,
}

impl Object for Tensor {
    type Handle = vk::TensorARM;
}

pub struct TensorView {
    gpu: Arc<texel::buffer::Buffer>,
    shape: Arc<TensorShape>,
    /// Its name in descriptor buffers, once it was wanted there.
    name: OnceLock<u64>,
}

impl Object for TensorView {
    type Handle = vk::TensorViewARM;
}

impl TensorView {
    /// Of the elements and of the shape, as they follow each other in a set.
    pub(crate) fn descriptors(&self) -> [Descriptor; 2] {
        [Descriptor::buffer(&self.gpu, 0, vk::WHOLE_SIZE), Descriptor::shape(self.shape.clone())]
    }
    /// The same in a descriptor buffer.
    pub(crate) fn words(&self, device: &Device) -> [[u64; 4]; 2] {
        let (address, bytes) = self.gpu.range(0, vk::WHOLE_SIZE);
        let name = *self.name.get_or_init(|| device.names().add(Named::Shape(self.shape.clone())));
        descriptor_memory::tensor(address as u64, bytes, name)
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

fn new(info: In<vk::TensorCreateInfoARM>) -> Answer<Tensor> {
    if info.flags != vk::TensorCreateFlagsARM::empty() {
        return Err(invalid("vkCreateTensorARM: tensors of these flags are not supported"));
    }
    let shape = shape("vkCreateTensorARM", info.description())?;
    check_rolling(info, &shape)?;
    let gpu = texel::buffer::Buffer::new(shape.bytes(), USAGE, Default::default());
    Ok(Tensor { gpu: Arc::new(gpu), shape: Arc::new(shape) })
}

pub(crate) fn create_tensor_arm(
    _: &Device,
    info: In<vk::TensorCreateInfoARM>,
    out: Out<vk::TensorARM>,
) -> vk::Result {
    created(out, new(info))
}

pub(crate) fn destroy_tensor_arm(_: &Device, tensor: Doomed<Tensor>) {
    if let Some(t) = tensor.destroy()
        && let Some(bound) = t.gpu.bound.get()
    {
        bound.memory.released();
    }
}

pub(crate) fn create_tensor_view_arm(
    _: &Device,
    info: In<vk::TensorViewCreateInfoARM>,
    out: Out<vk::TensorViewARM>,
) -> vk::Result {
    let made = match get(info, info.tensor) {
        None => Err(vk::Result::ERROR_UNKNOWN),
        Some((_, shape)) if machine::tensor::element_bytes(info.format) != Some(shape.element) => {
            Err(invalid("vkCreateTensorViewARM: elements of another size than the tensor's"))
        }
        Some((gpu, shape)) => {
            Ok(TensorView { gpu, shape: Arc::new(TensorShape(shape.words())), name: OnceLock::new() })
        }
    };
    created(out, made)
}

pub(crate) fn destroy_tensor_view_arm(device: &Device, view: Doomed<TensorView>) {
    if let Some(v) = view.destroy() {
        if let Some(&name) = v.name.get() {
            device.names().remove(name);
        }
        device.quarantine.keep(Box::new(v.shape), &device.gpu);
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
    let description = info.create_info().and_then(|i| i.description());
    if let Ok(shape) = shape("vkGetDeviceTensorMemoryRequirementsARM", description) {
        buffer::require(shape.bytes(), USAGE, Default::default(), out);
    }
}

pub(crate) fn bind_tensor_memory_arm(_: &Device, infos: In<[vk::BindTensorMemoryInfoARM]>) -> vk::Result {
    infos.iter().map(bind).find(|r| *r != vk::Result::SUCCESS).unwrap_or(vk::Result::SUCCESS)
}

fn bind(i: In<vk::BindTensorMemoryInfoARM>) -> vk::Result {
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
    buffer::place("vkBindTensorMemoryARM", &t.gpu, m, i.memory_offset)
}

pub(crate) fn get_physical_device_external_tensor_properties_arm(
    _: &PhysicalDevice,
    info: In<vk::PhysicalDeviceExternalTensorInfoARM>,
    mut out: Fill<vk::ExternalTensorPropertiesARM>,
) {
    out.external_memory_properties = external_memory(info.handle_type);
}
