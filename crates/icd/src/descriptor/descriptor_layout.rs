//! VkDescriptorSetLayout: where each binding's descriptors lie in a set's memory.
//!
//! Every descriptor takes [`DESCRIPTOR_BYTES`], a tensor's two of them, and so does one of several types if it may be a tensor; an inline uniform block lies there as its plain bytes. Dynamic buffers
//! keep their undisplaced descriptor in the set and get a number in the order of bindings; dispatches read them, with
//! their offsets added, from the dynamic table.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::memory::sampler::Sampler;
use machine::descriptor::{DESCRIPTOR_BYTES, Descriptor, SetMemory};
use small_sort::SmallSort;
use std::sync::Arc;

/// `maxInlineUniformBlockSize` and the like are far below; this bounds the arithmetic.
const MAX_SET_BYTES: u64 = 1 << 30;

pub(crate) struct Binding {
    pub number: u32,
    pub ty: vk::DescriptorType,
    /// Array elements; bytes of an inline uniform block.
    pub count: u32,
    /// Byte offset of element 0 in the set.
    pub offset: u32,
    /// Number of element 0 among the set's dynamic buffers.
    pub dynamic: u32,
    /// One per element, or empty.
    pub immutable: Vec<Arc<texel::sample::Sampler>>,
    pub flags: vk::DescriptorBindingFlags,
    /// Descriptors of which an element consists.
    pub each: u32,
}

impl Binding {
    pub fn is_inline(&self) -> bool {
        self.ty == vk::DescriptorType::INLINE_UNIFORM_BLOCK
    }
    pub fn is_dynamic(&self) -> bool {
        matches!(
            self.ty,
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
        )
    }
    pub fn is_variable(&self) -> bool {
        self.flags.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT)
    }
    /// Byte offset of an element in the set.
    pub fn place(&self, element: u32) -> u32 {
        self.offset + element * self.each * DESCRIPTOR_BYTES
    }
    /// Bytes that `count` elements take.
    fn bytes(&self, count: u32) -> u64 {
        if self.is_inline() {
            (count as u64).next_multiple_of(DESCRIPTOR_BYTES as u64)
        } else {
            count as u64 * self.each as u64 * DESCRIPTOR_BYTES as u64
        }
    }
}

/// Descriptors of which an element of binding `i` of the structure consists, which has this type.
fn descriptors(info: In<vk::DescriptorSetLayoutCreateInfo>, i: usize, ty: vk::DescriptorType) -> u32 {
    const TENSOR: vk::DescriptorType = vk::DESCRIPTOR_TYPE_TENSOR_ARM;
    let may_be_tensor = || {
        let lists = info.find::<vk::MutableDescriptorTypeCreateInfoEXT>()?;
        let types = lists.mutable_descriptor_type_lists().iter().nth(i)?;
        Some(types.descriptor_types().contains(&TENSOR))
    };
    let is = ty == TENSOR || ty == vk::DescriptorType::MUTABLE_EXT && may_be_tensor() == Some(true);
    1 + is as u32
}

/// What sets and pipeline layouts share of a layout.
pub(crate) struct SetLayout {
    /// By rising number; bindings without descriptors are kept.
    pub bindings: Vec<Binding>,
    pub dynamic_count: u32,
    /// Sets lie in descriptor buffers; those of push descriptors and of embedded samplers do not.
    pub in_memory: bool,
    size: u32,
}

pub struct DescriptorSetLayout {
    pub(crate) shared: Arc<SetLayout>,
}

impl Object for DescriptorSetLayout {
    type Handle = vk::DescriptorSetLayout;
}

impl SetLayout {
    pub fn index(&self, number: u32) -> Option<usize> {
        self.bindings.binary_search_by_key(&number, |b| b.number).ok()
    }

    /// Shaders compiled for the one find the same in sets of the other (§ Pipeline Layout Compatibility).
    pub fn is_like(&self, other: &SetLayout) -> bool {
        let same = |a: &Binding, b: &Binding| {
            (a.number, a.ty, a.count, a.offset, a.each) == (b.number, b.ty, b.count, b.offset, b.each)
        };
        self.in_memory == other.in_memory
            && self.bindings.len() == other.bindings.len()
            && self.bindings.iter().zip(&other.bindings).all(|(a, b)| same(a, b))
    }

    /// Bytes of a set with as many elements in a variable-sized binding as there may be.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Memory for a set, immutable samplers in place; `variable` elements in a variable-sized last binding.
    /// `None`: there is no memory.
    pub fn allocate(&self, variable: u32) -> Option<SetMemory> {
        let size = match self.bindings.last() {
            Some(last) if last.is_variable() => last.offset as u64 + last.bytes(variable.min(last.count)),
            _ => self.size as u64,
        };
        let memory = SetMemory::new(size as usize)?;
        for b in &self.bindings {
            for (i, s) in b.immutable.iter().enumerate() {
                let at = b.place(i as u32);
                memory.write(at, Descriptor::image(None, Some(s.clone())));
            }
        }
        Some(memory)
    }

    pub fn new(info: In<vk::DescriptorSetLayoutCreateInfo>) -> Answer<SetLayout> {
        let flags = info
            .find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo>()
            .map_or(&[][..], |f| f.binding_flags());
        let given = info.bindings();
        let mut bindings = Vec::with_capacity(given.len());
        for (i, b) in given.iter().enumerate() {
            let sampled = matches!(
                b.descriptor_type,
                vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            );
            let immutable = if sampled {
                // SAFETY: valid, or null, for descriptors of these types.
                unsafe { b.immutable_samplers() }
                    .iter()
                    .map(|&s| Some(info.object::<Sampler>(s)?.gpu.clone()))
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(|| {
                        invalid("vkCreateDescriptorSetLayout: an immutable sampler is no sampler")
                    })?
            } else {
                Vec::new()
            };
            bindings.push(Binding {
                number: b.binding,
                ty: b.descriptor_type,
                count: b.descriptor_count,
                offset: 0,
                dynamic: 0,
                immutable,
                flags: flags.get(i).copied().unwrap_or_default(),
                each: descriptors(info, i, b.descriptor_type),
            });
        }
        bindings.small_sort_by_key(|b| b.number);
        if bindings.windows(2).any(|w| w[0].number == w[1].number) {
            return Err(invalid("vkCreateDescriptorSetLayout: a binding number twice"));
        }
        let (mut at, mut dynamic) = (0u64, 0);
        for b in &mut bindings {
            b.offset = at as u32;
            at += b.bytes(b.count);
            if at > MAX_SET_BYTES {
                return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
            }
            if b.is_dynamic() {
                b.dynamic = dynamic;
                dynamic += b.count;
            }
        }
        let in_memory = info.flags.contains(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT)
            && !info.flags.intersects(
                vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR
                    | vk::DescriptorSetLayoutCreateFlags::EMBEDDED_IMMUTABLE_SAMPLERS_EXT,
            );
        Ok(SetLayout { bindings, dynamic_count: dynamic, in_memory, size: at as u32 })
    }
}

pub(crate) fn get<'a>(call: impl Call<'a>, layout: vk::DescriptorSetLayout) -> Option<Arc<SetLayout>> {
    Some(call.object::<DescriptorSetLayout>(layout)?.shared.clone())
}

pub(crate) fn create_descriptor_set_layout(
    _: &Device,
    info: In<vk::DescriptorSetLayoutCreateInfo>,
    out: Out<vk::DescriptorSetLayout>,
) -> vk::Result {
    created(out, SetLayout::new(info).map(|l| DescriptorSetLayout { shared: Arc::new(l) }))
}

pub(crate) fn destroy_descriptor_set_layout(_: &Device, layout: Doomed<DescriptorSetLayout>) {
    layout.destroy();
}

/// Bytes of a set up to which a layout is said to be supported.
const SUPPORTED_BYTES: u64 = 1 << 28;

pub(crate) fn get_descriptor_set_layout_support(
    _: &Device,
    info: In<vk::DescriptorSetLayoutCreateInfo>,
    mut out: Fill<vk::DescriptorSetLayoutSupport>,
) {
    let i = info;
    let flags =
        i.find::<vk::DescriptorSetLayoutBindingFlagsCreateInfo>().map_or(&[][..], |f| f.binding_flags());
    let (mut bytes, mut variable) = (0u64, None);
    for (n, b) in i.bindings().iter().enumerate() {
        let inline = b.descriptor_type == vk::DescriptorType::INLINE_UNIFORM_BLOCK;
        let unit = if inline { 1 } else { (descriptors(i, n, b.descriptor_type) * DESCRIPTOR_BYTES) as u64 };
        bytes += b.descriptor_count as u64 * unit;
        if flags.get(n).is_some_and(|f| f.contains(vk::DescriptorBindingFlags::VARIABLE_DESCRIPTOR_COUNT)) {
            variable = Some((unit, b.descriptor_count as u64 * unit));
        }
    }
    out.supported = (bytes <= SUPPORTED_BYTES) as u32;
    if let Some(mut v) = out.find::<vk::DescriptorSetVariableDescriptorCountLayoutSupport>() {
        v.max_variable_descriptor_count = match variable {
            Some((1, _)) => crate::instance::limits::MAX_INLINE_UNIFORM_BLOCK,
            Some((unit, own)) => ((SUPPORTED_BYTES.saturating_sub(bytes - own)) / unit) as u32,
            None => 0,
        };
    }
}
