//! Descriptor sets as the shader engine reads them: tables of 32-byte descriptors.

use parking_lot::Mutex;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use texel::buffer::Buffer;
use texel::sample::{BufferView, ImageView, Sampler};

use shader::options::tensor;
pub use shader::options::{DESCRIPTOR_BYTES, DYNAMIC_TABLE, TEXELS};

/// A descriptor's words; layout as told at [`shader::options::DESCRIPTOR_BYTES`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Words {
    /// Host address of a buffer's first byte, and its bytes.
    pub address: u64,
    pub size: u64,
    /// `*const ImageView`, or [`texels`] of a `*const BufferView`: code that confuses the two finds nothing.
    pub view: u64,
    /// `*const Sampler`.
    pub sampler: u64,
}

impl Words {
    pub const NULL: Words = Words { address: 0, size: 0, view: 0, sampler: 0 };
}

/// A view of a texel buffer as a descriptor has it.
pub fn texels(view: *const BufferView) -> u64 {
    const { assert!(align_of::<BufferView>() > 1 && align_of::<ImageView>() > 1) };
    view as u64 | TEXELS
}

/// What a tensor's second descriptor is a buffer of ([`shader::options::tensor`]). Shaders read it where it is.
pub struct TensorShape(pub [u32; tensor::WORDS]);

#[derive(Clone)]
enum View {
    Image(Arc<ImageView>),
    Texels(Arc<BufferView>),
    Shape(Arc<TensorShape>),
}

/// A descriptor, and what it points to, which lives for as long as it does.
#[derive(Clone, Default)]
pub struct Descriptor {
    words: Words,
    view: Option<View>,
    sampler: Option<Arc<Sampler>>,
}

impl Descriptor {
    pub fn buffer(b: &Buffer, offset: u64, range: u64) -> Descriptor {
        let (p, n) = b.range(offset, range);
        Descriptor { words: Words { address: p as u64, size: n, ..Words::NULL }, ..Default::default() }
    }
    /// A buffer to which dispatches add an offset: the view's word is where the buffer ends.
    pub fn dynamic(b: &Buffer, offset: u64, range: u64) -> Descriptor {
        let mut d = Self::buffer(b, offset, range);
        if d.words.address != 0 {
            let (all, n) = b.range(0, ash::vk::WHOLE_SIZE);
            d.words.view = all as u64 + n;
        }
        d
    }
    pub fn image(view: Option<Arc<ImageView>>, sampler: Option<Arc<Sampler>>) -> Descriptor {
        let words = Words {
            view: view.as_ref().map_or(0, |v| Arc::as_ptr(v) as u64),
            sampler: sampler.as_ref().map_or(0, |s| Arc::as_ptr(s) as u64),
            ..Words::NULL
        };
        Descriptor { words, view: view.map(View::Image), sampler }
    }
    pub fn texels(view: Arc<BufferView>) -> Descriptor {
        let words = Words { view: texels(Arc::as_ptr(&view)), ..Words::NULL };
        Descriptor { words, view: Some(View::Texels(view)), sampler: None }
    }
    /// An acceleration structure at a device address. What lies there is looked at when a ray begins.
    pub fn structure(address: u64) -> Descriptor {
        Descriptor { words: Words { address, ..Words::NULL }, ..Default::default() }
    }
    /// Of a tensor, its shape: a buffer of the words.
    pub fn shape(shape: Arc<TensorShape>) -> Descriptor {
        let (address, size) = (shape.0.as_ptr() as u64, size_of_val(&shape.0) as u64);
        Descriptor {
            words: Words { address, size, ..Words::NULL },
            view: Some(View::Shape(shape)),
            sampler: None,
        }
    }
    pub fn words(&self) -> Words {
        self.words
    }
    /// The view of an image that it is.
    pub fn image_view(&self) -> Option<&Arc<ImageView>> {
        match &self.view {
            Some(View::Image(view)) => Some(view),
            _ => None,
        }
    }
    pub fn is_texels(&self) -> bool {
        matches!(self.view, Some(View::Texels(_)))
    }
    pub fn sampler(&self) -> Option<&Arc<Sampler>> {
        self.sampler.as_ref()
    }
    /// The same with another sampler.
    pub fn with_sampler(mut self, sampler: Arc<Sampler>) -> Descriptor {
        self.words.sampler = Arc::as_ptr(&sampler) as u64;
        self.sampler = Some(sampler);
        self
    }
    /// Nobody else has what it points to: it goes with the descriptor, and work that has begun may still look at it.
    pub fn is_last(&self) -> bool {
        let view = match &self.view {
            Some(View::Image(v)) => Arc::strong_count(v) == 1,
            Some(View::Texels(v)) => Arc::strong_count(v) == 1,
            Some(View::Shape(v)) => Arc::strong_count(v) == 1,
            None => false,
        };
        view || self.sampler.as_ref().is_some_and(|s| Arc::strong_count(s) == 1)
    }
}

impl Words {
    /// A [dynamic](Descriptor::dynamic) buffer `offset` bytes on, cut where the buffer ends.
    pub fn displaced(self, offset: u64) -> Words {
        let end = self.view;
        match self.address.checked_add(offset) {
            Some(address) if self.address != 0 && address < end => {
                Words { address, size: self.size.min(end - address), ..Words::NULL }
            }
            _ => Words::NULL,
        }
    }
}

/// The memory of one descriptor set: zeroed (null descriptors), 64-byte aligned, committed on first touch.
pub struct SetMemory {
    ptr: *mut u8,
    size: usize,
    /// What the descriptors point to, by their number; none beyond its end.
    kept: Mutex<Vec<Descriptor>>,
    /// There may be such: a set of buffers alone never takes the lock. (Of a descriptor that is replaced the application makes sure that
    /// its writes came before.)
    keeps: AtomicBool,
}

// SAFETY: plain bytes; the specification makes the application synchronise updates with use.
unsafe impl Send for SetMemory {}
unsafe impl Sync for SetMemory {}

impl SetMemory {
    /// `None`: there is no memory.
    pub fn new(size: usize) -> Option<SetMemory> {
        // SAFETY: the layout's size is not zero.
        let ptr = unsafe { alloc_zeroed(Self::layout(size)) };
        (!ptr.is_null()).then_some(SetMemory {
            ptr,
            size,
            kept: Mutex::default(),
            keeps: AtomicBool::new(false),
        })
    }
    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size.max(64), 64).expect("set sizes are checked at layout creation")
    }
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn write_words(&self, offset: u32, d: Words) {
        if offset as usize + size_of::<Words>() <= self.size {
            // SAFETY: in bounds.
            unsafe { self.ptr.add(offset as usize).cast::<Words>().write_unaligned(d) }
        }
    }
    /// Writes a descriptor; what was there before is returned.
    pub fn write(&self, offset: u32, d: Descriptor) -> Option<Descriptor> {
        if offset as usize + size_of::<Words>() > self.size {
            return None;
        }
        let i = offset as usize / size_of::<Words>();
        let points = d.view.is_some() || d.sampler.is_some();
        let words = d.words;
        if !points && !self.keeps.load(Ordering::Relaxed) {
            self.write_words(offset, words);
            return None;
        }
        self.keeps.store(true, Ordering::Relaxed);
        let mut kept = self.kept.lock();
        if points && kept.len() <= i {
            kept.resize_with(i + 1, Descriptor::default);
        }
        let old =
            kept.get_mut(i).map(|k| std::mem::replace(k, if points { d } else { Descriptor::default() }));
        self.write_words(offset, words);
        old
    }
    pub fn words(&self, offset: u32) -> Words {
        if offset as usize + size_of::<Words>() > self.size {
            return Words::NULL;
        }
        // SAFETY: in bounds.
        unsafe { self.ptr.add(offset as usize).cast::<Words>().read_unaligned() }
    }
    pub fn read(&self, offset: u32) -> Descriptor {
        let kept = self.kept.lock().get(offset as usize / size_of::<Words>()).cloned();
        Descriptor { words: self.words(offset), ..kept.unwrap_or_default() }
    }
    /// Writes part of an inline uniform block; what lies outside the set is dropped.
    pub fn write_bytes(&self, offset: u32, bytes: &[u8]) {
        if let Some(room) = self.size.checked_sub(offset as usize) {
            // SAFETY: in bounds.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    self.ptr.add(offset as usize),
                    bytes.len().min(room),
                )
            }
        }
    }
}

impl Drop for SetMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.ptr, Self::layout(self.size)) }
    }
}

impl SetMemory {
    /// The same again; `None`: there is no memory.
    pub fn copied(&self) -> Option<SetMemory> {
        let new = SetMemory::new(self.size)?;
        // SAFETY: both are `size` bytes.
        unsafe { std::ptr::copy_nonoverlapping(self.ptr, new.ptr, self.size) };
        *new.kept.lock() = self.kept.lock().clone();
        new.keeps.store(self.keeps.load(Ordering::Relaxed), Ordering::Relaxed);
        Some(new)
    }
}
