//! VK_ARM_tensors: the ways in which tensors get to shaders, arrays of tensors with an index for each invocation among them. Expected values
//! as in `tensor`.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::tensor::{Element, Functions, Shift, Tensor};
use client::tensor_sets::WAYS;
use client::{Buffer, Context, Library};
use std::rc::Rc;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "tensors_come_to_shaders_in_every_way", of: c"VK_ARM_tensors", run: ways }]
}

const EXTENSIONS: [&std::ffi::CStr; 7] = [
    c"VK_ARM_tensors",
    c"VK_KHR_push_descriptor",
    c"VK_EXT_descriptor_buffer",
    c"VK_EXT_descriptor_heap",
    c"VK_EXT_mutable_descriptor_type",
    c"VK_KHR_shader_untyped_pointers",
    c"VK_KHR_maintenance5",
];

pub(super) fn context() -> Result<Rc<Context>, String> {
    let mut in_memory = vk::PhysicalDeviceDescriptorBufferTensorFeaturesARM {
        descriptor_buffer_tensor_descriptors: vk::TRUE,
        ..Default::default()
    };
    let mut heaps = vk::PhysicalDeviceDescriptorHeapFeaturesEXT {
        descriptor_heap: vk::TRUE,
        descriptor_heap_capture_replay: vk::TRUE,
        p_next: (&raw mut in_memory).cast(),
        ..Default::default()
    };
    let mut untyped = vk::PhysicalDeviceShaderUntypedPointersFeaturesKHR {
        shader_untyped_pointers: vk::TRUE,
        p_next: (&raw mut heaps).cast(),
        ..Default::default()
    };
    let mut mutable =
        vk::PhysicalDeviceMutableDescriptorTypeFeaturesEXT::default().mutable_descriptor_type(true);
    mutable.p_next = (&raw mut untyped).cast();
    let mut buffers = vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default()
        .descriptor_buffer(true)
        .descriptor_buffer_capture_replay(true);
    buffers.p_next = (&raw mut mutable).cast();
    let mut tensors = vk::PhysicalDeviceTensorFeaturesARM {
        p_next: (&raw mut buffers).cast(),
        tensors: vk::TRUE,
        tensor_non_packed: vk::TRUE,
        shader_tensor_access: vk::TRUE,
        shader_storage_tensor_array_dynamic_indexing: vk::TRUE,
        shader_storage_tensor_array_non_uniform_indexing: vk::TRUE,
        ..Default::default()
    };
    let library = Library::any().map_err(text)?;
    Context::extended(library, &EXTENSIONS, (&raw mut tensors).cast()).map_err(text)
}

/// Two tensors of 3 × 40 numbers whose rows lie 48 apart; what is read of them in turn, or of the first, lies 1 on, and beyond a row's end
/// is 7.
fn ways(_: &Rig) -> Found {
    let context = context()?;
    let functions = Functions::of(&context).map_err(text)?;
    let sizes = Buffer::addressed(&context, 64, vk::BufferUsageFlags::empty()).map_err(text)?;
    let dimensions = [3i64, 40];
    let new = |strides: Option<&[i64]>, dimensions: &[i64]| {
        Tensor::new(&context, &functions, Element::U32, dimensions, strides, false).map_err(text)
    };
    let [mut first, mut second] = [new(Some(&[192, 4]), &dimensions)?, new(Some(&[192, 4]), &dimensions)?];
    for (t, n) in [(&mut first, 1000u32), (&mut second, 2000)] {
        t.bytes_mut().as_chunks_mut::<4>().0.iter_mut().zip(n..).for_each(|(b, n)| *b = n.to_le_bytes());
    }
    let mut to = new(None, &dimensions)?;
    let mut all = vec![];
    for (way, in_turn) in WAYS.into_iter().flat_map(|w| [(w, false), (w, true)]) {
        to.bytes_mut().fill(0xEE);
        let program = Shift { element: Element::U32, rank: 2, shift: 1, at_once: 1, outside: 7, in_turn };
        program.run_by(way, &context, [&first, &second], &to, &sizes, 120).map_err(text)?;
        for i in 0..120u32 {
            let (row, column) = (i / 40, i % 40);
            let base = if in_turn && i % 2 == 1 { 2000 } else { 1000 };
            let want = if column == 39 { 7 } else { base + 48 * row + column + 1 };
            let got = &to.bytes()[4 * i as usize..][..4];
            if *got != want.to_le_bytes() {
                return Err(format!("{way:?}, in turn {in_turn}: element {i} is {got:?}, not {want}"));
            }
        }
        if sizes.words()[..2] != [3, 40] {
            return Err(format!("{way:?}, in turn {in_turn}: sizes {:?}", &sizes.words()[..2]));
        }
        all.extend_from_slice(&to.bytes()[..480]);
    }
    found(&all)
}
