//! Descriptors in memory that the application writes (VK_EXT_descriptor_buffer, VK_EXT_descriptor_heap).
//!
//! Whatever lies there may be anything, so that such a descriptor has no address of ours in it. Its four words:
//!
//! | | buffer | texel buffer | image, sampler, both |
//! |---|---|---|---|
//! | 0 | tag | tag, format in the upper half | tag |
//! | 1 | device address | device address | the view's name, or 0 |
//! | 2 | bytes | bytes | the sampler's name, or 0 |
//! | 3 | 0 | 0 | 0 |
//!
//! A tensor's descriptor is two of these, of its elements and of its shape: a tag, and the name of the view, or in heaps of the tensor.
//!
//! In heaps, where there are no objects for views and samplers, an image's descriptor has the image's name and a hash of what the
//! view was written with, and a sampler's all of its state:
//!
//! | | image | sampler |
//! |---|---|---|
//! | 0 | tag, for storage in the upper half | tag, [`State`] in the upper half |
//! | 1 | the image's name | bias and least level (f32) |
//! | 2, 3 | hash | greatest level and anisotropy (f32), index of the custom border colour |
//!
//! It is read when a shader takes it ([`wave::Host::descriptor`]). An address that is not this device's memory, a name that
//! nothing has and a tag that is none make it the null descriptor.

use crate::descriptor::TensorShape;
use ash::vk;
use parking_lot::RwLock;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use texel::buffer::Buffer;
use texel::memory::AddressSpace;
use texel::sample::{BufferView, ImageView, Sampler};
use wave::Meaning;

/// How far from a set's address its descriptors may lie, in bytes.
pub const MAX_DESCRIPTOR_BUFFER_RANGE: u64 = 1 << 32;

/// The lower half of word 0.
const BUFFER: u32 = 0x7475_6601;
const TEXELS: u32 = 0x7475_6602;
const SAMPLED: u32 = 0x7475_6603;
const STORAGE: u32 = 0x7475_6604;
const IMAGE: u32 = 0x7475_6605;
const SAMPLER: u32 = 0x7475_6606;
const STRUCTURE: u32 = 0x7475_6607;
const SHAPE: u32 = 0x7475_6608;
const ELEMENTS: u32 = 0x7475_6609;

/// A uniform or storage buffer; `address` 0: null.
pub fn buffer(address: u64, bytes: u64) -> [u64; 4] {
    if address == 0 { [0; 4] } else { [BUFFER as u64, address, bytes, 0] }
}

/// An acceleration structure; `address` 0: null.
pub fn structure(address: u64) -> [u64; 4] {
    if address == 0 { [0; 4] } else { [STRUCTURE as u64, address, 0, 0] }
}

/// A tensor's elements and its shape, by its [name](Names).
pub fn tensor(name: u64) -> [[u64; 4]; 2] {
    [ELEMENTS, SHAPE].map(|tag| [tag as u64, name, 0, 0])
}

/// A uniform or storage texel buffer; `address` 0: null.
pub fn texels(address: u64, bytes: u64, format: vk::Format) -> [u64; 4] {
    if address == 0 {
        return [0; 4];
    }
    [TEXELS as u64 | (format.as_raw() as u32 as u64) << 32, address, bytes, 0]
}

/// A sampled image or input attachment, a sampler, or both, by their [names](Names).
pub fn sampled(view: u64, sampler: u64) -> [u64; 4] {
    if view | sampler == 0 { [0; 4] } else { [SAMPLED as u64, view, sampler, 0] }
}

/// A storage image by its view's [name](Names).
pub fn storage(view: u64) -> [u64; 4] {
    if view == 0 { [0; 4] } else { [STORAGE as u64, view, 0, 0] }
}

/// An image in a heap: its [name](Names), and the hash of its view's description.
pub fn image(name: u64, view: u128, for_storage: bool) -> [u64; 4] {
    [IMAGE as u64 | (for_storage as u64) << 32, name, view as u64, (view >> 64) as u64]
}

/// Bits of a sampler's state by their places.
struct State;

impl State {
    const MAG: u32 = 0;
    const MIN: u32 = 1;
    const MIP: u32 = 2;
    /// Three of three bits.
    const WRAP: u32 = 3;
    const COMPARE: u32 = 12;
    /// Three bits.
    const COMPARE_OP: u32 = 13;
    /// Three bits; the custom ones come last.
    const BORDER: u32 = 16;
    const UNNORMALIZED: u32 = 19;
    /// Two bits.
    const REDUCTION: u32 = 20;
    const NON_SEAMLESS: u32 = 22;
    const ANISOTROPIC: u32 = 23;
    const CUSTOM: u32 = 6;
}

fn pair(low: f32, high: f32) -> u64 {
    low.to_bits() as u64 | (high.to_bits() as u64) << 32
}

/// A sampler in a heap. `border`: the index of a custom border colour.
pub fn sampler(i: &vk::SamplerCreateInfo, reduction: vk::SamplerReductionMode, border: u32) -> [u64; 4] {
    let custom =
        matches!(i.border_color, vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT);
    let bit = |on: bool, at: u32| (on as u32) << at;
    let wrap = |m: vk::SamplerAddressMode| m.as_raw() as u32 & 7;
    let state = bit(i.mag_filter != vk::Filter::NEAREST, State::MAG)
        | bit(i.min_filter != vk::Filter::NEAREST, State::MIN)
        | bit(i.mipmap_mode == vk::SamplerMipmapMode::LINEAR, State::MIP)
        | (wrap(i.address_mode_u) | wrap(i.address_mode_v) << 3 | wrap(i.address_mode_w) << 6) << State::WRAP
        | bit(i.compare_enable != 0, State::COMPARE)
        | (i.compare_op.as_raw() as u32 & 7) << State::COMPARE_OP
        | (if custom { State::CUSTOM } else { (i.border_color.as_raw() as u32).min(5) }) << State::BORDER
        | bit(i.unnormalized_coordinates != 0, State::UNNORMALIZED)
        | (reduction.as_raw() as u32 & 3) << State::REDUCTION
        | bit(i.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT), State::NON_SEAMLESS)
        | bit(i.anisotropy_enable != 0, State::ANISOTROPIC);
    let border = if custom { border } else { 0 };
    [
        SAMPLER as u64 | (state as u64) << 32,
        pair(i.mip_lod_bias, i.min_lod),
        pair(i.max_lod, i.max_anisotropy),
        border.into(),
    ]
}

/// The sampler that such words say.
fn sampler_of(names: &Names, raw: &[u64; 4]) -> Sampler {
    let state = (raw[0] >> 32) as u32;
    let bits = |at: u32, n: u32| state >> at & ((1 << n) - 1);
    let on = |at: u32| bits(at, 1) as vk::Bool32;
    let filter = |at: u32| vk::Filter::from_raw(bits(at, 1) as i32);
    let wrap = |k: u32| vk::SamplerAddressMode::from_raw(bits(State::WRAP + 3 * k, 3) as i32);
    let number = |w: u64| match f32::from_bits(w as u32) {
        x if x.is_nan() => 0.0,
        x => x,
    };
    let custom = bits(State::BORDER, 3) >= State::CUSTOM;
    let info = vk::SamplerCreateInfo {
        flags: match on(State::NON_SEAMLESS) {
            0 => vk::SamplerCreateFlags::empty(),
            _ => vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
        },
        mag_filter: filter(State::MAG),
        min_filter: filter(State::MIN),
        mipmap_mode: vk::SamplerMipmapMode::from_raw(bits(State::MIP, 1) as i32),
        address_mode_u: wrap(0),
        address_mode_v: wrap(1),
        address_mode_w: wrap(2),
        mip_lod_bias: number(raw[1]),
        anisotropy_enable: on(State::ANISOTROPIC),
        max_anisotropy: number(raw[2] >> 32),
        compare_enable: on(State::COMPARE),
        compare_op: vk::CompareOp::from_raw(bits(State::COMPARE_OP, 3) as i32),
        min_lod: number(raw[1] >> 32),
        max_lod: number(raw[2]),
        border_color: match custom {
            true => vk::BorderColor::INT_CUSTOM_EXT,
            false => vk::BorderColor::from_raw(bits(State::BORDER, 3) as i32),
        },
        unnormalized_coordinates: on(State::UNNORMALIZED),
        ..Default::default()
    };
    let border = if custom { names.borders.get(raw[3] as u32) } else { None };
    Sampler::new(&info, border, vk::SamplerReductionMode::from_raw(bits(State::REDUCTION, 2) as i32))
}

/// Custom border colours that samplers in heaps name by their indices (raw bits).
#[derive(Default)]
pub struct BorderColors(RwLock<Vec<Option<[u32; 4]>>>);

impl BorderColors {
    /// Registers a colour, at an index that nothing has or at `wanted`. `None`: there is none, or that one is taken.
    pub fn add(&self, colour: [u32; 4], wanted: Option<u32>) -> Option<u32> {
        let mut all = self.0.write();
        let free = || all.iter().position(|c| c.is_none()).unwrap_or(all.len()) as u32;
        let at = wanted.unwrap_or_else(free);
        if at >= MAX_CUSTOM_BORDER_COLORS {
            return None;
        }
        if all.len() <= at as usize {
            all.resize(at as usize + 1, None);
        }
        match &mut all[at as usize] {
            Some(_) => None,
            place => {
                *place = Some(colour);
                Some(at)
            }
        }
    }
    pub fn remove(&self, index: u32) {
        if let Some(c) = self.0.write().get_mut(index as usize) {
            *c = None;
        }
    }
    fn get(&self, index: u32) -> Option<[u32; 4]> {
        self.0.read().get(index as usize).copied().flatten()
    }
}

/// maxCustomBorderColorSamplers
pub const MAX_CUSTOM_BORDER_COLORS: u32 = 32768;

/// The views that an image's descriptors in heaps were written with, by the hashes of their descriptions: as sampled, as stored.
#[derive(Default)]
pub struct HeapViews(RwLock<HashMap<u128, [Arc<ImageView>; 2]>>);

impl HeapViews {
    pub fn has(&self, hash: u128) -> bool {
        self.0.read().contains_key(&hash)
    }
    /// A view that is there already stays: shaders may be reading it.
    pub fn add(&self, hash: u128, sampled: Arc<ImageView>, storage: Arc<ImageView>) {
        self.0.write().entry(hash).or_insert([sampled, storage]);
    }
}

/// What has a name.
pub enum Named {
    Image(Arc<HeapViews>),
    View { sampled: Arc<ImageView>, storage: Arc<ImageView> },
    Sampler(Arc<Sampler>),
    Tensor { elements: Arc<Buffer>, shape: Arc<TensorShape> },
}

/// An object's name, once it is wanted; one that is reserved is the object's from the beginning.
#[derive(Default)]
pub struct Name(OnceLock<u64>);

/// Bytes of a reserved name, as captures keep it.
pub const CAPTURED_BYTES: usize = size_of::<u64>();

impl Name {
    /// One for captures, or (`Some`) one that was captured. `None`: it is taken, or no such name.
    pub fn reserve(names: &Names, captured: Option<u64>, what: Named) -> Option<Name> {
        Some(Name(OnceLock::from(names.reserve(captured, what)?)))
    }
    /// What a capture keeps.
    pub fn reserved(&self) -> Option<u64> {
        self.0.get().copied().filter(|name| name & RESERVED != 0)
    }
    pub fn get(&self, names: &Names, what: impl FnOnce() -> Named) -> u64 {
        *self.0.get_or_init(|| names.add(what()))
    }
    pub fn end(&self, names: &Names) {
        if let Some(&name) = self.0.get() {
            names.remove(name);
        }
    }
}

/// A device's image views and samplers by numbers that descriptors may have: a place in a list, and above it how often
/// the place has been used, so that a name is never given twice. Those that are reserved, to be had again in a replay, are numbers of their
/// own.
#[derive(Default)]
pub struct Names {
    list: RwLock<List>,
    pub borders: BorderColors,
}

#[derive(Default)]
struct List {
    places: Vec<(u32, Option<Named>)>,
    free: VecDeque<u32>,
    /// By rising name.
    reserved: Vec<(u64, Named)>,
    /// Reserved names that were told are less.
    next: u64,
}

/// The bit of reserved names, and how many there are. (A place has not been used so often.)
const RESERVED: u64 = 1 << 63;
const MOST_RESERVED: u64 = 1 << 32;

impl List {
    fn reserved(&self, name: u64) -> Result<usize, usize> {
        self.reserved.binary_search_by_key(&name, |r| r.0)
    }
    fn named(&self, name: u64) -> Option<&Named> {
        if name & RESERVED != 0 {
            return Some(&self.reserved[self.reserved(name).ok()?].1);
        }
        let place = self.places.get(name as u32 as usize).filter(|p| p.0 as u64 == name >> 32)?;
        place.1.as_ref()
    }
}

impl Names {
    /// Names something; never 0.
    pub fn add(&self, what: Named) -> u64 {
        let mut l = self.list.write();
        // A place that was used as often as can be told is used no more.
        let i = loop {
            match l.free.pop_front() {
                Some(i) if l.places[i as usize].0 == u32::MAX >> 1 => continue,
                Some(i) => break i as usize,
                None => {
                    l.places.push((0, None));
                    break l.places.len() - 1;
                }
            }
        };
        let place = &mut l.places[i];
        *place = (place.0 + 1, Some(what));
        (place.0 as u64) << 32 | i as u64
    }

    fn reserve(&self, captured: Option<u64>, what: Named) -> Option<u64> {
        let mut l = self.list.write();
        let name = captured.unwrap_or(RESERVED | l.next);
        let number = name ^ RESERVED;
        let at = l.reserved(name).err().filter(|_| number < MOST_RESERVED)?;
        l.next = l.next.max(number + 1);
        l.reserved.insert(at, (name, what));
        Some(name)
    }

    /// The view of the words of an image's descriptor.
    pub fn image_view(&self, [tag, name, ..]: &[u64; 4]) -> Option<Arc<ImageView>> {
        match self.list.read().named(*name)? {
            Named::View { sampled, .. } if matches!(*tag as u32, SAMPLED | STORAGE) => Some(sampled.clone()),
            _ => None,
        }
    }

    /// Takes a name away from what had it.
    pub fn remove(&self, name: u64) -> Option<Named> {
        let mut l = self.list.write();
        if name & RESERVED != 0 {
            let at = l.reserved(name).ok()?;
            return Some(l.reserved.remove(at).1);
        }
        let place = l.places.get_mut(name as u32 as usize).filter(|p| p.0 as u64 == name >> 32)?;
        let what = place.1.take()?;
        l.free.push_back(name as u32);
        Some(what)
    }

    fn find<T>(&self, name: u64, f: impl FnOnce(&Named) -> Option<*const T>) -> u64 {
        self.list.read().named(name).and_then(f).map_or(0, |p| p as u64)
    }

    fn view(&self, name: u64, for_storage: bool) -> u64 {
        self.find(name, |n| match n {
            Named::View { sampled, storage } => {
                Some(Arc::as_ptr(if for_storage { storage } else { sampled }))
            }
            _ => None,
        })
    }

    /// A view of an image in a heap.
    fn heap_view(&self, name: u64, hash: u128, for_storage: bool) -> u64 {
        self.find(name, |n| match n {
            Named::Image(views) => Some(Arc::as_ptr(&views.0.read().get(&hash)?[for_storage as usize])),
            _ => None,
        })
    }

    fn sampler(&self, name: u64) -> u64 {
        self.find(name, |n| match n {
            Named::Sampler(s) => Some(Arc::as_ptr(s)),
            _ => None,
        })
    }

    fn shape(&self, name: u64) -> u64 {
        self.find(name, |n| match n {
            Named::Tensor { shape, .. } => Some(Arc::as_ptr(shape)),
            _ => None,
        })
    }

    /// Address and bytes of a tensor's elements.
    fn elements(&self, name: u64) -> [u64; 2] {
        match self.list.read().named(name) {
            Some(Named::Tensor { elements, .. }) => {
                let (address, bytes) = elements.range(0, vk::WHOLE_SIZE);
                [address as u64, bytes]
            }
            _ => [0; 2],
        }
    }
}

/// What the words of a descriptor mean to a shader that takes it for a texel buffer's (`as_texels`) or for any other.
pub fn meaning(names: &Names, memory: &AddressSpace, raw: &[u64; 4], as_texels: bool) -> Meaning {
    let [tag, a, b, _] = *raw;
    let words = match tag as u32 {
        BUFFER if !as_texels && memory.is_live(a, b) => [a, b, 0, 0],
        TEXELS if as_texels && memory.is_live(a, b) => {
            let format = vk::Format::from_raw((tag >> 32) as i32);
            // SAFETY: where device memory lives, bytes can always be read and written: freed ranges stay mapped. What was imported
            // is the application's to keep for as long as its shaders use it.
            let view = unsafe { BufferView::at(a as *mut u8, b, format) };
            let Some(view) = view else { return Meaning::default() };
            let view = Box::new(view);
            return Meaning { words: [0, 0, crate::descriptor::texels(&*view), 0], keep: Some(view) };
        }
        STRUCTURE if !as_texels => [a, 0, 0, 0],
        ELEMENTS if !as_texels => {
            let [address, bytes] = names.elements(a);
            [address, bytes, 0, 0]
        }
        SHAPE if !as_texels => match names.shape(a) {
            0 => [0; 4],
            shape => [shape, size_of::<TensorShape>() as u64, 0, 0],
        },
        IMAGE if !as_texels => {
            let hash = b as u128 | (raw[3] as u128) << 64;
            [0, 0, names.heap_view(a, hash, tag >> 32 != 0), 0]
        }
        SAMPLER if !as_texels => {
            let made = Box::new(sampler_of(names, raw));
            let words = [0, 0, 0, &raw const *made as u64];
            return Meaning { words, keep: Some(made) };
        }
        SAMPLED if !as_texels => [0, 0, names.view(a, false), names.sampler(b)],
        STORAGE if !as_texels => [0, 0, names.view(a, true), 0],
        _ => [0; 4],
    };
    Meaning { words, keep: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use texel::for_tests::{bound_image, info_2d, space};
    use texel::memory::DeviceMemory;

    fn view() -> Arc<ImageView> {
        let image = bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 4, 4));
        let info = vk::ImageViewCreateInfo::default()
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            });
        Arc::new(ImageView::new(image, &info, 0.0).expect("a valid view"))
    }

    #[test]
    fn names_are_never_given_twice() {
        let (names, v) = (Names::default(), view());
        let named = || Named::View { sampled: v.clone(), storage: v.clone() };
        let a = names.add(named());
        let b = names.add(named());
        assert!(a != 0 && b != 0 && a != b);
        let at = Arc::as_ptr(&v) as u64;
        assert_eq!(meaning(&names, space(), &sampled(a, 0), false).words, [0, 0, at, 0]);
        assert_eq!(meaning(&names, space(), &storage(b), false).words, [0, 0, at, 0]);
        assert!(names.remove(a).is_some() && names.remove(a).is_none());
        assert_eq!(meaning(&names, space(), &sampled(a, 0), false).words, [0; 4], "gone");
        let c = names.add(named());
        assert_ne!(a, c, "the place is used again, the name is not");
        assert_eq!(
            meaning(&names, space(), &sampled(a, 0), false).words,
            [0; 4],
            "not what has its place now"
        );
        assert_eq!(meaning(&names, space(), &sampled(c, 0), false).words, [0, 0, at, 0]);
        assert_eq!(meaning(&names, space(), &sampled(0, c), false).words, [0; 4], "a view is no sampler");
    }

    #[test]
    fn only_device_memory_is_a_buffer() {
        let names = Names::default();
        let m = DeviceMemory::allocate(space(), 1 << 16, 0, false).expect("memory");
        let at = m.ptr() as u64;
        assert_eq!(meaning(&names, space(), &buffer(at + 16, 100), false).words, [at + 16, 100, 0, 0]);
        let local = [0u64; 8];
        let end = space().arena().1;
        let other = AddressSpace::new().expect("address space");
        assert_eq!(meaning(&names, &other, &buffer(at + 16, 100), false).words, [0; 4], "another device's");
        let texel = texels(at, 16, vk::Format::R32_UINT);
        assert_eq!(meaning(&names, &other, &texel, true).words, [0; 4], "another device's");
        for (a, n) in [(local.as_ptr() as u64, 16), (end - 16, 17), (at, u64::MAX), (at, end), (8, 8)] {
            assert_eq!(meaning(&names, space(), &buffer(a, n), false).words, [0; 4], "{a:#x} + {n:#x}");
            let t = texels(a, n, vk::Format::R32_UINT);
            assert_eq!(meaning(&names, space(), &t, true).words, [0; 4], "{a:#x} + {n:#x}");
        }
    }

    #[test]
    fn texel_buffers_are_no_images() {
        let names = Names::default();
        let m = DeviceMemory::allocate(space(), 1 << 16, 0, false).expect("memory");
        let at = m.ptr() as u64;
        let t = texels(at, 64, vk::Format::R32_UINT);
        assert_eq!(meaning(&names, space(), &t, false).words, [0; 4]);
        let made = meaning(&names, space(), &t, true);
        // SAFETY: what a texel buffer's meaning has there.
        let view = unsafe { &*((made.words[2] & !crate::descriptor::TEXELS) as *const BufferView) };
        assert_eq!((view.len, view.address(16)), (16, None));
        let v = view_name(&names);
        assert_eq!(meaning(&names, space(), &sampled(v, 0), true).words, [0; 4]);
        // Formats that are none, that texel buffers have not, and an address that atomics could not take.
        for t in [
            texels(at, 64, vk::Format::from_raw(-1)),
            texels(at, 64, vk::Format::BC1_RGB_UNORM_BLOCK),
            texels(at + 2, 60, vk::Format::R32_UINT),
        ] {
            assert_eq!(meaning(&names, space(), &t, true).words, [0; 4]);
        }
    }

    #[test]
    fn reserved_names_can_be_had_again() {
        let (names, v) = (Names::default(), view());
        let what = || Named::View { sampled: v.clone(), storage: v.clone() };
        let at = Arc::as_ptr(&v) as u64;
        let means = |name: u64| meaning(&names, space(), &sampled(name, 0), false).words[2];
        let first = Name::reserve(&names, None, what()).expect("a name");
        let own = first.reserved().expect("it is reserved");
        assert_eq!((first.get(&names, what), means(own)), (own, at));
        assert!(Name::reserve(&names, Some(own), what()).is_none(), "it is taken");
        first.end(&names);
        assert_eq!(means(own), 0, "gone");
        let other = Name::reserve(&names, None, what()).expect("a name");
        assert_ne!(other.reserved(), Some(own), "it is not told twice");
        let again = Name::reserve(&names, Some(own), what()).expect("the captured name");
        assert_eq!((again.reserved(), means(own)), (Some(own), at));
        // After one of another capture come those beyond it.
        let later = Name::reserve(&names, Some(own + 100), what()).expect("a captured name");
        let next = Name::reserve(&names, None, what()).and_then(|n| n.reserved());
        assert_eq!((later.reserved(), next), (Some(own + 100), Some(own + 101)));
        for wrong in [0, 1, u64::MAX, own | 1 << 40, names.add(what())] {
            assert!(Name::reserve(&names, Some(wrong), what()).is_none(), "{wrong:#x}");
        }
        assert_eq!(Name::default().reserved(), None);
    }

    fn view_name(names: &Names) -> u64 {
        let v = view();
        names.add(Named::View { sampled: v.clone(), storage: v })
    }
}
