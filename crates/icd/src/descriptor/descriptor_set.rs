//! VkDescriptorSet: writing and copying descriptors.

use crate::base::given::{In, array};
use crate::base::object::{self, Object};
use crate::descriptor::descriptor_layout::{Binding, SetLayout};
use crate::device::Device;
use crate::memory::acceleration_structure::AccelerationStructure;
use crate::memory::buffer_view::BufferView;
use crate::memory::image_view::ImageView;
use crate::memory::sampler::Sampler;
use crate::memory::tensor::TensorView;
use machine::descriptor::{DESCRIPTOR_BYTES, Descriptor, SetMemory};
use std::sync::Arc;
use vk::DescriptorType as Type;

pub struct DescriptorSet {
    pub(crate) layout: Arc<SetLayout>,
    pub(crate) memory: Arc<SetMemory>,
    /// Elements of a variable-sized last binding.
    pub(crate) variable: u32,
}

impl Object for DescriptorSet {
    type Handle = vk::DescriptorSet;
}

impl DescriptorSet {
    /// `None`: there is no memory.
    pub(crate) fn new(layout: Arc<SetLayout>, variable: u32) -> Option<DescriptorSet> {
        let memory = Arc::new(layout.allocate(variable)?);
        Some(DescriptorSet { layout, memory, variable })
    }
}

/// Where the application keeps what is written: element `i` at `base + i · stride`.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Images(*const vk::DescriptorImageInfo),
    Buffers(*const vk::DescriptorBufferInfo),
    Texels(*const vk::BufferView),
    Structures(*const vk::AccelerationStructureKHR),
    Tensors(*const vk::TensorViewARM),
    Bytes(*const u8),
}

/// Walks the elements of a binding and on into the following ones (§ Descriptor Set Updates, consecutive bindings).
struct Cursor<'a> {
    layout: &'a SetLayout,
    index: usize,
    element: u32,
}

impl<'a> Cursor<'a> {
    fn new(layout: &'a SetLayout, binding: u32, element: u32) -> Option<Cursor<'a>> {
        match layout.index(binding) {
            Some(index) => Some(Cursor { layout, index, element }),
            None => {
                crate::base::debug::log_error(&format!(
                    "descriptors are written to binding {binding}, which the layout lacks"
                ));
                None
            }
        }
    }

    fn next(&mut self) -> Option<(&'a Binding, u32)> {
        loop {
            let b = self.layout.bindings.get(self.index)?;
            if self.element < b.count {
                self.element += 1;
                return Some((b, self.element - 1));
            }
            self.element = 0;
            self.index += 1;
        }
    }
}

/// So many bytes of an inline uniform block lie within it.
fn fits(b: &Binding, from: u32, count: u32) -> bool {
    from.checked_add(count).is_some_and(|end| end <= b.count)
}

fn view(v: vk::ImageView, storage: bool) -> Option<Arc<texel::sample::ImageView>> {
    let v = object::hold::<ImageView>(v)?;
    Some(if storage { v.storage() } else { v.sampled() })
}

fn sampler(s: vk::Sampler) -> Option<Arc<texel::sample::Sampler>> {
    Some(object::hold::<Sampler>(s)?.gpu.clone())
}

fn texels(v: vk::BufferView) -> Descriptor {
    object::hold::<BufferView>(v).map_or_else(Descriptor::default, |v| Descriptor::texels(v.gpu.clone()))
}

fn structure(s: vk::AccelerationStructureKHR) -> Descriptor {
    let found = object::hold::<AccelerationStructure>(s);
    found.map_or_else(Descriptor::default, |s| Descriptor::structure(s.gpu.address()))
}

fn buffer(i: &vk::DescriptorBufferInfo, dynamic: bool) -> Descriptor {
    match object::hold::<crate::memory::buffer::Buffer>(i.buffer) {
        Some(b) if dynamic => Descriptor::dynamic(&b.gpu, i.offset, i.range),
        Some(b) => Descriptor::buffer(&b.gpu, i.offset, i.range),
        None => Descriptor::default(),
    }
}

/// Descriptors that were written over and are the last to keep something.
pub(crate) type Replaced = Vec<Descriptor>;

/// Writes the descriptors (the bytes of an inline uniform block) of a template's entry. Its offset is in `source`.
///
/// # Safety
/// The source has the entry's number of elements, `stride` bytes apart. No rule aligns them.
pub(crate) unsafe fn put(
    layout: &SetLayout,
    memory: &SetMemory,
    entry: &vk::DescriptorUpdateTemplateEntry,
    source: Source,
    replaced: &mut Replaced,
) {
    let (element, count, stride) = (entry.dst_array_element, entry.descriptor_count, entry.stride);
    let ty = entry.descriptor_type;
    let Some(mut at) = Cursor::new(layout, entry.dst_binding, element) else { return };
    if let Source::Bytes(p) = source {
        let b = &layout.bindings[at.index];
        if b.is_inline() && fits(b, element, count) {
            // SAFETY: the caller's: so many bytes.
            memory.write_bytes(b.offset + element, unsafe { array(p, count as usize) });
        }
        return;
    }
    for i in 0..count as usize {
        let Some((b, e)) = at.next() else { return };
        if !is_of(b, ty) {
            return;
        }
        let place = b.place(e);
        let d = match source {
            Source::Images(p) => {
                // SAFETY: the caller's: one of the elements.
                let info = unsafe { p.byte_add(i * stride).read_unaligned() };
                let sampled = || match b.immutable.get(e as usize) {
                    Some(s) => Some(s.clone()),
                    None => sampler(info.sampler),
                };
                match ty {
                    Type::SAMPLER => Descriptor::image(None, sampled()),
                    Type::COMBINED_IMAGE_SAMPLER => {
                        Descriptor::image(view(info.image_view, false), sampled())
                    }
                    _ => Descriptor::image(view(info.image_view, ty == Type::STORAGE_IMAGE), None),
                }
            }
            // SAFETY: the caller's: one of the elements.
            Source::Buffers(p) => unsafe { buffer(&p.byte_add(i * stride).read_unaligned(), b.is_dynamic()) },
            // SAFETY: likewise.
            Source::Texels(p) => texels(unsafe { p.byte_add(i * stride).read_unaligned() }),
            Source::Tensors(p) => {
                // SAFETY: likewise.
                let view = object::hold::<TensorView>(unsafe { p.byte_add(i * stride).read_unaligned() });
                let [elements, shape] = view.map_or_else(Default::default, |v| v.descriptors());
                replaced.extend(memory.write(place + DESCRIPTOR_BYTES, shape).filter(Descriptor::is_last));
                elements
            }
            // SAFETY: likewise.
            Source::Structures(p) => structure(unsafe { p.byte_add(i * stride).read_unaligned() }),
            Source::Bytes(_) => return,
        };
        replaced.extend(memory.write(place, d).filter(Descriptor::is_last));
    }
}

/// Whether a binding holds descriptors of the type; logs an error if it does not.
fn is_of(b: &Binding, ty: Type) -> bool {
    // Only where it is said does a binding of several types have room for a tensor's.
    let mutable = b.ty == Type::MUTABLE_EXT && (ty != vk::DESCRIPTOR_TYPE_TENSOR_ARM || b.each == 2);
    let good = !b.is_inline() && (b.ty == ty || mutable);
    if !good {
        crate::base::debug::log_error(&format!(
            "descriptors of type {ty:?} are written to binding {}, which has {:?}",
            b.number, b.ty
        ));
    }
    good
}

/// Which array of a write holds the elements of type `ty`.
pub(crate) fn kind(ty: Type) -> Option<fn(*const u8) -> Source> {
    Some(match ty {
        Type::SAMPLER
        | Type::COMBINED_IMAGE_SAMPLER
        | Type::SAMPLED_IMAGE
        | Type::STORAGE_IMAGE
        | Type::INPUT_ATTACHMENT => |p| Source::Images(p.cast()),
        Type::UNIFORM_BUFFER
        | Type::STORAGE_BUFFER
        | Type::UNIFORM_BUFFER_DYNAMIC
        | Type::STORAGE_BUFFER_DYNAMIC => |p| Source::Buffers(p.cast()),
        Type::UNIFORM_TEXEL_BUFFER | Type::STORAGE_TEXEL_BUFFER => |p| Source::Texels(p.cast()),
        Type::ACCELERATION_STRUCTURE_KHR => |p| Source::Structures(p.cast()),
        vk::DESCRIPTOR_TYPE_TENSOR_ARM => |p| Source::Tensors(p.cast()),
        Type::INLINE_UNIFORM_BLOCK => Source::Bytes,
        _ => return None,
    })
}

/// One VkWriteDescriptorSet into a set's memory.
pub(crate) fn write(
    layout: &SetLayout,
    memory: &SetMemory,
    w: In<vk::WriteDescriptorSet>,
    replaced: &mut Replaced,
) {
    let Some(make) = kind(w.descriptor_type) else {
        crate::base::debug::log_error(&format!(
            "descriptors of type {:?} are not supported",
            w.descriptor_type
        ));
        return;
    };
    let mut count = w.descriptor_count;
    let (p, stride): (*const u8, usize) = match make(std::ptr::null()) {
        Source::Images(_) => (w.p_image_info.cast(), size_of::<vk::DescriptorImageInfo>()),
        Source::Buffers(_) => (w.p_buffer_info.cast(), size_of::<vk::DescriptorBufferInfo>()),
        Source::Texels(_) => (w.p_texel_buffer_view.cast(), size_of::<vk::BufferView>()),
        Source::Structures(_) => {
            let Some(s) = w.find::<vk::WriteDescriptorSetAccelerationStructureKHR>() else { return };
            count = count.min(s.acceleration_structure_count);
            (s.p_acceleration_structures.cast(), size_of::<vk::AccelerationStructureKHR>())
        }
        Source::Tensors(_) => {
            let Some(t) = w.find::<vk::WriteDescriptorSetTensorARM>() else { return };
            count = count.min(t.tensor_view_count);
            (t.p_tensor_views.cast(), size_of::<vk::TensorViewARM>())
        }
        Source::Bytes(_) => match w.find::<vk::WriteDescriptorSetInlineUniformBlock>() {
            Some(b) => {
                count = count.min(b.data_size);
                (b.p_data.cast(), 1)
            }
            None => return,
        },
    };
    if p.is_null() {
        return;
    }
    let entry = vk::DescriptorUpdateTemplateEntry {
        dst_binding: w.dst_binding,
        dst_array_element: w.dst_array_element,
        descriptor_count: count,
        descriptor_type: w.descriptor_type,
        offset: 0,
        stride,
    };
    // SAFETY: valid usage: the array that descriptors of this type are in has so many elements.
    unsafe { put(layout, memory, &entry, make(p), replaced) };
}

fn copy(c: In<vk::CopyDescriptorSet>, replaced: &mut Replaced) {
    let (Some(src), Some(dst)) =
        (object::hold::<DescriptorSet>(c.src_set), object::hold::<DescriptorSet>(c.dst_set))
    else {
        return;
    };
    let (Some(mut from), Some(mut to)) = (
        Cursor::new(&src.layout, c.src_binding, c.src_array_element),
        Cursor::new(&dst.layout, c.dst_binding, c.dst_array_element),
    ) else {
        return;
    };
    let (fb, tb) = (&src.layout.bindings[from.index], &dst.layout.bindings[to.index]);
    if fb.is_inline() && tb.is_inline() {
        let n = c.descriptor_count;
        let start = fb.offset as usize + c.src_array_element as usize;
        if fits(fb, c.src_array_element, n)
            && fits(tb, c.dst_array_element, n)
            && start + n as usize <= src.memory.size()
        {
            // A copy of its own: source and destination may be the same set.
            // SAFETY: within the set's memory, just compared.
            let bytes = unsafe { array(src.memory.ptr().add(start), n as usize) }.to_vec();
            dst.memory.write_bytes(tb.offset + c.dst_array_element, &bytes);
        }
        return;
    }
    for _ in 0..c.descriptor_count {
        let (Some((fb, fe)), Some((tb, te))) = (from.next(), to.next()) else { return };
        // Of types that may be several, the bytes say what they are.
        if fb.is_inline() || fb.ty != Type::MUTABLE_EXT && !is_of(tb, fb.ty) || tb.is_inline() {
            return;
        }
        if fb.is_dynamic() != tb.is_dynamic() {
            return;
        }
        for k in 0..fb.each.min(tb.each) {
            let mut d = src.memory.read(fb.place(fe) + k * DESCRIPTOR_BYTES);
            if let Some(s) = tb.immutable.get(te as usize) {
                d = d.with_sampler(s.clone());
            }
            replaced
                .extend(dst.memory.write(tb.place(te) + k * DESCRIPTOR_BYTES, d).filter(Descriptor::is_last));
        }
    }
}

pub(crate) fn update_descriptor_sets(
    device: &Device,
    writes: In<[vk::WriteDescriptorSet]>,
    copies: In<[vk::CopyDescriptorSet]>,
) {
    let mut replaced = Replaced::new();
    for w in writes {
        if let Some(set) = object::hold::<DescriptorSet>(w.dst_set) {
            write(&set.layout, &set.memory, w, &mut replaced);
        }
    }
    for c in copies {
        copy(c, &mut replaced);
    }
    device.retire(replaced);
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::descriptor::Words;
    use texel::memory::{Bound, DeviceMemory};

    fn layout(bindings: &[(u32, Type, u32)]) -> Arc<SetLayout> {
        let bindings: Vec<_> = bindings
            .iter()
            .map(|&(n, ty, count)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(n)
                    .descriptor_type(ty)
                    .descriptor_count(count)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the structures are valid.
        Arc::new(unsafe { SetLayout::new(In::new(&info)) }.expect("the layout is valid"))
    }

    fn buffer(size: u64) -> (vk::Buffer, u64) {
        let gpu = Arc::new(texel::buffer::Buffer::new(size, Default::default(), Default::default()));
        let memory = DeviceMemory::allocate(texel::for_tests::space(), size, 0, false).expect("memory");
        assert!(gpu.bound.set(Bound { memory, offset: 0 }).is_ok());
        let at = gpu.ptr() as u64;
        (object::create(crate::memory::buffer::Buffer { gpu }), at)
    }

    #[test]
    fn writes_run_over_into_the_next_bindings() {
        // Given out of order, with an empty binding between.
        let l = layout(&[
            (5, Type::STORAGE_BUFFER, 3),
            (2, Type::STORAGE_BUFFER, 2),
            (3, Type::STORAGE_BUFFER, 0),
        ]);
        let set = DescriptorSet::new(l, 0).unwrap();
        let (b, at) = buffer(4096);
        let infos: Vec<_> =
            (0..3).map(|i| vk::DescriptorBufferInfo { buffer: b, offset: i * 256, range: 100 }).collect();
        let w = vk::WriteDescriptorSet::default()
            .dst_binding(2)
            .dst_array_element(1)
            .descriptor_type(Type::STORAGE_BUFFER)
            .buffer_info(&infos);
        unsafe { write(&set.layout, &set.memory, In::new(&w), &mut vec![]) };
        let got: Vec<_> =
            (0..5).map(|i| set.memory.words(i * DESCRIPTOR_BYTES)).map(|d| (d.address, d.size)).collect();
        assert_eq!(got, [(0, 0), (at, 100), (at + 256, 100), (at + 512, 100), (0, 0)]);
        // More than there is: the rest is dropped. WHOLE_SIZE: to the buffer's end. The null handle: null.
        let infos = [
            vk::DescriptorBufferInfo { buffer: b, offset: 1024, range: vk::WHOLE_SIZE },
            vk::DescriptorBufferInfo::default(),
            vk::DescriptorBufferInfo { buffer: b, offset: 0, range: 8 },
        ];
        let w = vk::WriteDescriptorSet::default()
            .dst_binding(5)
            .dst_array_element(1)
            .descriptor_type(Type::STORAGE_BUFFER)
            .buffer_info(&infos);
        unsafe { write(&set.layout, &set.memory, In::new(&w), &mut vec![]) };
        let d = set.memory.words(3 * DESCRIPTOR_BYTES);
        assert_eq!((d.address, d.size), (at + 1024, 3072));
        assert_eq!(set.memory.words(4 * DESCRIPTOR_BYTES), Words::NULL);
        // Of another type than the binding: none is written.
        let w = w.descriptor_type(Type::UNIFORM_BUFFER).dst_array_element(0);
        unsafe { write(&set.layout, &set.memory, In::new(&w), &mut vec![]) };
        assert_eq!(set.memory.words(2 * DESCRIPTOR_BYTES).address, at + 256);
        unsafe { object::destroy::<crate::memory::buffer::Buffer>(b) };
    }

    #[test]
    fn inline_blocks_are_written_and_copied_by_bytes() {
        let block = Type::INLINE_UNIFORM_BLOCK;
        let l = layout(&[(0, Type::UNIFORM_BUFFER, 1), (1, block, 20), (2, Type::UNIFORM_BUFFER_DYNAMIC, 2)]);
        assert_eq!(l.bindings[2].offset, DESCRIPTOR_BYTES * 2, "a block of 20 bytes takes 32");
        assert_eq!(l.dynamic_count, 2);
        let (a, b) = [0, 1].map(|_| object::create(DescriptorSet::new(l.clone(), 0).unwrap())).into();
        let bytes: Vec<u8> = (1..=12).collect();
        let mut data = vk::WriteDescriptorSetInlineUniformBlock::default().data(&bytes);
        let mut w = vk::WriteDescriptorSet::default()
            .dst_binding(1)
            .dst_array_element(8)
            .descriptor_type(block)
            .push_next(&mut data);
        w.descriptor_count = 12;
        unsafe {
            let (sa, sb) =
                (object::get::<DescriptorSet>(a).unwrap(), object::get::<DescriptorSet>(b).unwrap());
            write(&sa.layout, &sa.memory, In::new(&w), &mut vec![]);
            let mut c = vk::CopyDescriptorSet::default().src_set(a).src_binding(1).src_array_element(8);
            c = c.dst_set(b).dst_binding(1).dst_array_element(4).descriptor_count(8);
            copy(In::new(&c), &mut vec![]);
            let at = |s: &DescriptorSet, i| *s.memory.ptr().add(DESCRIPTOR_BYTES as usize + i);
            assert_eq!([7, 8, 19, 20].map(|i| at(sa, i)), [0, 1, 12, 0]);
            assert_eq!([3, 4, 11, 12].map(|i| at(sb, i)), [0, 1, 8, 0]);
            // Past the block's end: refused as a whole.
            w.dst_array_element = 12;
            write(&sb.layout, &sb.memory, In::new(&w), &mut vec![]);
            assert_eq!(at(sb, 12), 0);
            let beyond = c.dst_array_element(13);
            copy(In::new(&beyond), &mut vec![]);
            assert_eq!([13, 20].map(|i| at(sb, i)), [0, 0], "and so are copies");
            object::destroy::<DescriptorSet>(a);
            object::destroy::<DescriptorSet>(b);
        }
    }
}
