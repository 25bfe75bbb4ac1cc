//! Capture and replay of tensors (VK_ARM_tensors): a tensor that is made with what was captured of another has the other's descriptors, bit
//! by bit, and those that were written for the other lead to it.

use super::rig::Rig;
use super::{Check, Found, found, tensor_ways, text};
use client::tensor::{Element, Functions, Shift, Tensor};
use client::tensor_heaps::InHeap;
use client::{Buffer, Context};

pub fn checks() -> Vec<Check> {
    vec![Check { name: "tensors_are_captured_and_replayed", of: c"VK_ARM_tensors", run }]
}

const COUNT: u32 = 64;
const ELEMENT: Element = Element::U32;

type OfTensors = unsafe extern "system" fn(
    vk::Device,
    u32,
    *const vk::TensorARM,
    *mut vk::HostAddressRangeEXT<'_>,
) -> vk::Result;
type OfView = unsafe extern "system" fn(
    vk::Device,
    *const vk::TensorViewCaptureDescriptorDataInfoARM<'_>,
    *mut std::ffi::c_void,
) -> vk::Result;

/// What is kept of a tensor and of its view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Captured {
    tensor: [u8; 8],
    view: [u8; 8],
}

/// A device with both commands.
struct Rigged<'a> {
    context: &'a Context,
    of_tensors: OfTensors,
    of_view: OfView,
}

// SAFETY (all blocks): structures outlive the calls, objects are alive.
impl Rigged<'_> {
    fn new(context: &Context) -> Result<Rigged<'_>, String> {
        let device = context.device.handle();
        let find = |name: &std::ffi::CStr| unsafe {
            let found = context.instance.get_device_proc_addr(device, name.as_ptr());
            found.ok_or_else(|| format!("no {name:?}"))
        };
        let tensors = find(c"vkGetTensorOpaqueCaptureDataARM")?;
        let view = find(c"vkGetTensorViewOpaqueCaptureDescriptorDataARM")?;
        unsafe {
            Ok(Rigged {
                context,
                of_tensors: std::mem::transmute::<unsafe extern "system" fn(), OfTensors>(tensors),
                of_view: std::mem::transmute::<unsafe extern "system" fn(), OfView>(view),
            })
        }
    }

    fn captured(&self, t: &Tensor) -> Result<Captured, String> {
        let mut all = Captured { tensor: [0; 8], view: [0; 8] };
        let address = all.tensor.as_mut_ptr().cast();
        let mut range = vk::HostAddressRangeEXT { address, size: 8, ..Default::default() };
        let info = vk::TensorViewCaptureDescriptorDataInfoARM { tensor_view: t.view, ..Default::default() };
        let device = self.context.device.handle();
        unsafe {
            (self.of_tensors)(device, 1, &t.handle, &mut range).result().map_err(text)?;
            (self.of_view)(device, &info, all.view.as_mut_ptr().cast()).result().map_err(text)?;
        }
        Ok(all)
    }

    /// The descriptor of a view in a descriptor buffer.
    fn in_buffer(&self, t: &Tensor) -> Vec<u8> {
        let api = ash::ext::descriptor_buffer::Device::new(&self.context.instance, &self.context.device);
        let tensor = vk::DescriptorGetTensorInfoARM { tensor_view: t.view, ..Default::default() };
        let mut info = vk::DescriptorGetInfoEXT::default().ty(vk::DESCRIPTOR_TYPE_TENSOR_ARM);
        info.p_next = (&raw const tensor).cast();
        let mut bytes = vec![0; 64];
        unsafe { api.get_descriptor(&info, &mut bytes) };
        bytes
    }
}

fn run(_: &Rig) -> Found {
    let context = tensor_ways::context()?;
    let functions = Functions::of(&context).map_err(text)?;
    let rigged = Rigged::new(&context)?;
    let sizes = Buffer::addressed(&context, 64, vk::BufferUsageFlags::empty()).map_err(text)?;
    let new = |captured: Option<Captured>| {
        let bytes = captured.map(|c| [c.tensor, c.view]);
        Tensor::captured(&context, &functions, ELEMENT, &[COUNT as i64], bytes.as_ref()).map_err(text)
    };
    let mut to = Tensor::new(&context, &functions, ELEMENT, &[COUNT as i64], None, false).map_err(text)?;
    if rigged.captured(&to).is_ok() {
        return Err("a tensor that is not made for captures is captured".into());
    }
    let first = new(None)?;
    let other = new(None)?;
    let kept = rigged.captured(&first)?;
    if rigged.captured(&other)? == kept {
        return Err("two tensors are captured as one".into());
    }
    let shift = Shift { element: ELEMENT, rank: 1, shift: 0, at_once: 1, outside: 0, in_turn: false };
    let mut heap = InHeap::new(&context, shift, true).map_err(text)?;
    for (k, tensor) in [(0, &first), (1, &to)] {
        heap.write(k, tensor.handle, ELEMENT.format()).result().map_err(text)?;
    }
    let (in_heap, in_buffer) = (heap.heap.bytes().to_vec(), rigged.in_buffer(&first));
    if new(Some(kept)).is_ok() {
        return Err("a captured tensor is made again though it is there".into());
    }
    drop(first);
    // Words that nothing was captured as.
    for wrong in [[0; 8], [0xFF; 8], [1, 0, 0, 0, 0, 0, 0, 0]] {
        for c in [Captured { tensor: wrong, ..kept }, Captured { view: wrong, ..kept }] {
            if new(Some(c)).is_ok() {
                return Err(format!("a tensor is made from {c:?}"));
            }
        }
    }
    // Others take no captured names.
    let between = new(None)?;
    let mut again = new(Some(kept))?;
    if rigged.captured(&again)? != kept || rigged.in_buffer(&again) != in_buffer {
        return Err("the view's descriptor differs from the captured one".into());
    }
    again.bytes_mut().as_chunks_mut::<4>().0.iter_mut().zip(500u32..).for_each(|(b, n)| *b = n.to_le_bytes());
    for rewrite in [false, true] {
        if rewrite {
            heap.write(0, again.handle, ELEMENT.format()).result().map_err(text)?;
            if heap.heap.bytes() != in_heap {
                return Err("the tensor's descriptor in a heap differs from the captured one".into());
            }
        }
        to.bytes_mut().fill(0);
        heap.run(&sizes, 1, in_heap.len() as u64, COUNT).map_err(text)?;
        let words = to.bytes().as_chunks::<4>().0;
        if let Some(i) = (0..COUNT).find(|i| words[*i as usize] != (500 + i).to_le_bytes()) {
            return Err(format!("written again {rewrite}: element {i} is {:?}", words[i as usize]));
        }
    }
    drop(between);
    found(&to.bytes()[..4 * COUNT as usize])
}
