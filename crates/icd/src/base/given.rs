//! What an application passes by pointer, as types that safe code can use.
//!
//! Vulkan's valid usage promises that each pointer of a call, of the structures that it leads to and of their `pNext` chains
//! is null or leads to what vk.xml says, for as long as the call lasts. The generated code in `legacy/generated/imp.rs` relies on that promise once per parameter:
//! it alone makes these types, with the lifetime of the call. Everything that a structure leads to is then read through the
//! methods that `base/generated/given.rs` has for its members, which follow from vk.xml's `len`.
//!
//! | vk.xml | here |
//! |---|---|
//! | `const T*` | [`In<T>`](In), or `&T` where `T` has no pointers |
//! | `const T*` with a length | [`In<[T]>`](In), or `&[T]` |
//! | a pointer that may be null | an `Option` of these; an array is empty |
//! | `T*` that the command writes | [`Out<T>`](Out) |
//! | `T*` with a length | [`OutSlice<T>`](OutSlice) |
//! | `T*` to a structure with a chain | [`Fill<T>`](Fill) |
//! | `uint32_t* pCount, T*` | [`List<T>`](List) |
//! | the object of vkDestroy* | [`Doomed<T>`](Doomed) |

use crate::base::chain;
use crate::base::object::{self, Object};
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use vk::TaggedStructure;

/// A structure, or an array of them, with pointers that lead to what vk.xml says for as long as `'a`.
pub(crate) struct In<'a, T: ?Sized>(&'a T);

impl<T: ?Sized> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for In<'_, T> {}

impl<T: ?Sized> Deref for In<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<'a, T: ?Sized> In<'a, T> {
    /// # Safety
    /// The pointers in `value`, and all that can be reached from them, lead to what vk.xml says, for as long as `'a`. Members
    /// that vk.xml does not promise anything about are an exception: their methods are unsafe.
    pub unsafe fn new(value: &'a T) -> Self {
        In(value)
    }

    /// The same for as long as the call.
    pub fn plain(self) -> &'a T {
        self.0
    }
}

impl<'a, T: TaggedStructure> In<'a, T> {
    fn next(self) -> *const std::ffi::c_void {
        // SAFETY: a tagged structure begins like this one.
        unsafe { (*(&raw const *self.0).cast::<vk::BaseInStructure<'_>>()).p_next.cast() }
    }

    /// The structure of type `X` in the chain.
    pub fn find<X: TaggedStructure>(self) -> Option<In<'a, X>> {
        // SAFETY: the chain is valid (`new`).
        unsafe { chain::find::<X>(self.next()).map(In) }
    }

    /// The beginnings of the structures of the chain, for code that knows them by tables.
    pub fn chain(self) -> impl Iterator<Item = &'a vk::BaseInStructure<'a>> {
        // SAFETY: the chain is valid (`new`).
        unsafe { chain::iter(self.next()).map(|s| &*s.cast()) }
    }

    /// All structures of type `X` in the chain.
    pub fn all<X: TaggedStructure + 'a>(self) -> impl Iterator<Item = In<'a, X>> {
        // SAFETY: the chain is valid (`new`), and `sType` says what a structure is.
        unsafe {
            let same = chain::iter(self.next()).filter(|s| (**s).s_type == X::STRUCTURE_TYPE);
            same.map(|s| In(&*s.cast::<X>()))
        }
    }
}

impl<'a, T> In<'a, [T]> {
    /// # Safety
    /// As [`In::new`]; `p` is null or leads to `count` elements.
    pub unsafe fn array(p: *const T, count: usize) -> Self {
        // SAFETY: the caller's.
        In(unsafe { array(p, count) })
    }

    pub fn iter(self) -> <Self as IntoIterator>::IntoIter {
        self.into_iter()
    }
}

impl<'a, T> IntoIterator for In<'a, [T]> {
    type Item = In<'a, T>;
    type IntoIter = std::iter::Map<std::slice::Iter<'a, T>, fn(&'a T) -> In<'a, T>>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(In)
    }
}

impl<'a> In<'a, [*const c_char]> {
    pub fn strings(self) -> impl Iterator<Item = &'a CStr> {
        // SAFETY: each leads to a string (`new`).
        self.0.iter().map(|&s| unsafe { chain::str(s) })
    }
}

/// `count` elements at `p`; empty if `p` is null.
///
/// # Safety
/// `p` is null or leads to `count` elements, for as long as `'a`.
pub(crate) unsafe fn array<'a, T>(p: *const T, count: usize) -> &'a [T] {
    // No array is larger than half of the address space; such a count is an error of the application.
    if p.is_null() || count > isize::MAX as usize / size_of::<T>().max(1) {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(p, count) }
}

/// The words of a colour, whatever its type.
pub(crate) fn words(colour: &vk::ClearColorValue) -> [u32; 4] {
    // SAFETY: each member of the union has these bits.
    unsafe { colour.uint32 }
}

/// An array whose elements are a number of bytes apart that the application chooses.
pub(crate) struct Strided<'a, T> {
    first: *const T,
    count: usize,
    stride: usize,
    of: PhantomData<&'a T>,
}

impl<T: Copy> Strided<'_, T> {
    /// # Safety
    /// `first` is null or leads to `count` elements that are `stride` bytes apart, for as long as this lives.
    pub unsafe fn new(first: *const T, count: usize, stride: usize) -> Self {
        Strided { first, count: if first.is_null() { 0 } else { count }, stride, of: PhantomData }
    }

    pub fn iter(&self) -> impl Iterator<Item = T> {
        // SAFETY: one of the elements (`new`), which no rule aligns.
        (0..self.count).map(|i| unsafe { self.first.byte_add(i * self.stride).read_unaligned() })
    }
}

/// Evidence that a call is under way, and so that the objects of its handles stay: the application does not destroy what a
/// call uses, and a command destroys only what is [`Doomed`].
///
/// # Safety
/// A value exists only during a call, and `'a` ends with that call.
pub(crate) unsafe trait Call<'a>: Copy {
    /// The object of a handle; `None` for the null handle and, with a line in the log, for a handle that is not a live
    /// object of this type.
    fn object<T: Object + 'a>(self, handle: T::Handle) -> Option<&'a T> {
        // SAFETY: as the trait says.
        unsafe { object::get::<T>(handle) }
    }
}

// SAFETY: made for a call only (`In::new`).
unsafe impl<'a, T: ?Sized> Call<'a> for In<'a, T> {}

/// An object that a command is about to destroy, and that is no longer used otherwise.
pub(crate) struct Doomed<T: Object>(T::Handle);

impl<T: Object> Doomed<T> {
    /// # Safety
    /// Nobody else uses the object of the handle, if it has one.
    pub unsafe fn new(handle: T::Handle) -> Self {
        Doomed(handle)
    }

    pub fn handle(&self) -> T::Handle {
        self.0
    }

    /// The object while it lives; `None` without a line in the log if it is none.
    pub fn object(&self) -> Option<&T> {
        // SAFETY: `destroy` consumes this, and nobody else destroys the object (`new`).
        unsafe { object::find::<T>(self.0) }
    }

    /// Ends the handle. `None` for the null handle and, with a line in the log, for a bad one.
    pub fn destroy(self) -> Option<T> {
        // SAFETY: nobody else uses it (`new`).
        unsafe { object::destroy::<T>(self.0) }
    }
}

/// A place of the application's memory that the command writes a value to. Its bytes may be undefined before.
pub(crate) struct Out<'a, T>(NonNull<T>, PhantomData<&'a mut T>);

impl<T: Copy> Out<'_, T> {
    /// # Safety
    /// `p` is not null, and may be written to for as long as this lives.
    pub unsafe fn new(p: *mut T) -> Self {
        debug_assert!(!p.is_null());
        // SAFETY: the caller's.
        Out(unsafe { NonNull::new_unchecked(p) }, PhantomData)
    }

    /// # Safety
    /// As [`Out::new`], but `p` may be null.
    pub unsafe fn optional(p: *mut T) -> Option<Self> {
        Some(Out(NonNull::new(p)?, PhantomData))
    }

    pub fn set(&self, value: T) {
        // SAFETY: it may be written to (`new`).
        unsafe { self.0.write(value) }
    }
}

/// `len` places of the application's memory that the command writes values to.
pub(crate) struct OutSlice<'a, T> {
    first: *mut T,
    len: usize,
    of: PhantomData<&'a mut T>,
}

impl<T: Copy> OutSlice<'_, T> {
    /// # Safety
    /// `p` is null or leads to `len` elements that may be written to, for as long as this lives.
    pub unsafe fn new(p: *mut T, len: usize) -> Self {
        OutSlice { first: p, len: if p.is_null() { 0 } else { len }, of: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The first element.
    pub fn start(&self) -> *mut T {
        self.first
    }

    /// Writes element `i`; nothing happens beyond the end.
    pub fn set(&self, i: usize, value: T) {
        if i < self.len {
            // SAFETY: one of the elements (`new`).
            unsafe { self.first.add(i).write(value) }
        }
    }

    pub fn fill(&self, value: T) {
        (0..self.len).for_each(|i| self.set(i, value));
    }

    /// Writes elements from `at` on, if all of them fit.
    #[must_use]
    pub fn put(&self, at: usize, values: &[T]) -> bool {
        let fits = at.checked_add(values.len()).is_some_and(|end| end <= self.len);
        if fits {
            values.iter().enumerate().for_each(|(i, &v)| self.set(at + i, v));
        }
        fits
    }

    /// Writes as many of `values` as there is room for.
    pub fn copy(&self, values: &[T]) {
        let n = self.len.min(values.len());
        if n > 0 {
            // SAFETY: so many elements (`new`) of the application, which are not the driver's.
            unsafe { self.first.copy_from_nonoverlapping(values.as_ptr(), n) }
        }
    }
}

/// A structure that the application has prepared (its type and its chain) and the command fills.
pub(crate) struct Fill<'a, T>(&'a mut T);

impl<T> Deref for Fill<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> DerefMut for Fill<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<'a, T: TaggedStructure> Fill<'a, T> {
    /// # Safety
    /// The pointers in `value`, and all that can be reached from them, lead to what vk.xml says, for as long as `'a`, and may be
    /// written to.
    pub unsafe fn new(value: &'a mut T) -> Self {
        Fill(value)
    }

    /// The structure of type `X` in the chain.
    pub fn find<X: TaggedStructure>(&mut self) -> Option<Fill<'_, X>> {
        // SAFETY: a tagged structure begins like this one; its chain is valid (`new`). One structure at a time is borrowed.
        unsafe { chain::find_mut::<X>(self.next()).map(Fill) }
    }

    fn next(&mut self) -> *mut std::ffi::c_void {
        // SAFETY: a tagged structure begins like this one.
        unsafe { (*(&raw mut *self.0).cast::<vk::BaseOutStructure<'_>>()).p_next.cast() }
    }

    /// The structures of the chain, for code that knows them by tables.
    pub fn chain(&mut self) -> impl Iterator<Item = *mut vk::BaseOutStructure<'static>> {
        // SAFETY: the chain is valid (`new`).
        unsafe { chain::iter_mut(self.next()) }
    }
}

/// The type of a count: `uint32_t` or `size_t`.
pub(crate) trait Count: Copy {
    fn read(self) -> usize;
    fn of(n: usize) -> Self;
}

impl Count for u32 {
    fn read(self) -> usize {
        self as usize
    }
    fn of(n: usize) -> u32 {
        n as u32
    }
}

impl Count for usize {
    fn read(self) -> usize {
        self
    }
    fn of(n: usize) -> usize {
        n
    }
}

/// An array that is returned in two calls: the first asks for the number of elements, the second for the elements.
pub(crate) struct List<'a, T, N = u32> {
    count: &'a mut N,
    first: *mut T,
}

impl<'a, T, N: Count> List<'a, T, N> {
    /// # Safety
    /// `first` is null or has room for `*count` elements, for as long as `'a`. Elements that are structures with chains are
    /// prepared as for [`Fill`].
    pub unsafe fn new(count: &'a mut N, first: *mut T) -> Self {
        List { count, first }
    }

    /// The number of elements that there is room for; `None` if only their number is asked for.
    pub fn room(&self) -> Option<usize> {
        (!self.first.is_null()).then(|| self.count.read())
    }

    /// Answers with `len` elements: their number, or as many as there is room for, and `INCOMPLETE` if that is not all.
    /// `write` gets the place of each element and its index.
    fn answer(self, len: usize, mut write: impl FnMut(*mut T, usize)) -> vk::Result {
        let Some(room) = self.room() else {
            *self.count = N::of(len);
            return vk::Result::SUCCESS;
        };
        let n = len.min(room);
        // SAFETY: within the room (`new`).
        (0..n).for_each(|i| write(unsafe { self.first.add(i) }, i));
        *self.count = N::of(n);
        if n < len { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }

    /// Answers with a number alone.
    pub fn count(self, n: usize) {
        *self.count = N::of(n);
    }

    pub fn fill(self, items: &[T]) -> vk::Result
    where
        T: Copy,
    {
        // SAFETY: a place of the array (`answer`).
        self.answer(items.len(), |at, i| unsafe { at.write(items[i]) })
    }

    /// Answers with what a newer command answers, of whose elements `part` makes those of this list.
    pub fn fill_from<M: Copy + Default>(
        self,
        newer: impl FnOnce(List<'_, M>) -> vk::Result,
        part: impl Fn(&M) -> T,
    ) -> vk::Result
    where
        T: Copy,
    {
        // More than any list of the driver has: a count of the application's is no reason for an allocation.
        const MOST: usize = 64;
        let (mut all, mut n) = (vec![M::default(); MOST], MOST as u32);
        let result = newer(List { count: &mut n, first: all.as_mut_ptr() });
        let parts: Vec<T> = all.iter().take(n as usize).map(part).collect();
        let filled = self.fill(&parts);
        if result == vk::Result::SUCCESS { filled } else { result }
    }

    /// As [`List::fill`], of elements that are changed in place because they have a type and a chain.
    pub fn fill_with(self, len: usize, mut write: impl FnMut(Fill<'_, T>, usize)) -> vk::Result
    where
        T: TaggedStructure,
    {
        // SAFETY: a place of the array (`answer`), prepared by the application.
        self.answer(len, |at, i| write(Fill(unsafe { &mut *at }), i))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_answer_in_two_calls() {
        // What is asked for; the count before, the count after, the result, and the elements.
        let rows: [(Option<u32>, u32, vk::Result, &[u8]); 4] = [
            (None, 3, vk::Result::SUCCESS, &[9, 9, 9, 9]),
            (Some(2), 2, vk::Result::INCOMPLETE, &[1, 2, 9, 9]),
            (Some(3), 3, vk::Result::SUCCESS, &[1, 2, 3, 9]),
            (Some(4), 3, vk::Result::SUCCESS, &[1, 2, 3, 9]),
        ];
        for (room, after, result, elements) in rows {
            let (mut count, mut out) = (room.unwrap_or(77), [9; 4]);
            let first = if room.is_some() { out.as_mut_ptr() } else { std::ptr::null_mut() };
            // SAFETY: room for four elements.
            let list = unsafe { List::new(&mut count, first) };
            assert_eq!(list.room(), room.map(|r| r as usize));
            assert_eq!((list.fill(&[1, 2, 3]), count, &out[..]), (result, after, elements), "{room:?}");
            // The same from a newer command whose elements have more.
            let (mut count, mut out) = (room.unwrap_or(77), [9; 4]);
            let first = if room.is_some() { out.as_mut_ptr() } else { std::ptr::null_mut() };
            // SAFETY: as above.
            let list = unsafe { List::new(&mut count, first) };
            let newer = |l: List<(u8, u8)>| l.fill(&[(1, 5), (2, 6), (3, 7)]);
            assert_eq!((list.fill_from(newer, |p| p.0), count, &out[..]), (result, after, elements));
        }
    }

    #[test]
    fn arrays_are_empty_without_a_pointer_or_with_an_absurd_count() {
        let three = [1u64, 2, 3];
        // SAFETY: null, or so many elements; of no absurd count is anything read.
        unsafe {
            assert_eq!(array(std::ptr::null::<u64>(), 3), &[0u64; 0]);
            assert_eq!(array(three.as_ptr(), 3), &three);
            assert_eq!(array(three.as_ptr(), usize::MAX), &[0u64; 0]);
            assert_eq!(OutSlice::<u8>::new(std::ptr::null_mut(), 3).len(), 0);
        }
    }

    #[test]
    fn elements_lie_as_far_apart_as_the_application_says() {
        let bytes = [1u8, 0, 0, 0, 0xFF, 2, 0, 0, 0, 0xFF, 3, 0, 0, 0];
        // SAFETY: three elements, five bytes apart.
        let all = unsafe { Strided::<u32>::new(bytes.as_ptr().cast(), 3, 5) };
        assert_eq!(all.iter().collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn chains_are_read_and_filled_by_type() {
        let mut usage = vk::ImageViewUsageCreateInfo::default().usage(vk::ImageUsageFlags::STORAGE);
        let mut lod = vk::ImageViewMinLodCreateInfoEXT::default().min_lod(2.0);
        let info = vk::ImageViewCreateInfo::default().push_next(&mut usage).push_next(&mut lod);
        // SAFETY: a valid chain.
        let info = unsafe { In::new(&info) };
        assert_eq!(info.find::<vk::ImageViewMinLodCreateInfoEXT>().map(|m| m.min_lod), Some(2.0));
        assert_eq!(info.all::<vk::ImageViewUsageCreateInfo>().count(), 1);
        assert!(info.find::<vk::ImageViewSlicedCreateInfoEXT>().is_none());
        assert_eq!(info.chain().count(), 2);
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut out = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        // SAFETY: a valid chain.
        let mut fill = unsafe { Fill::new(&mut out) };
        if let Some(mut d) = fill.find::<vk::MemoryDedicatedRequirements>() {
            d.prefers_dedicated_allocation = vk::TRUE;
        }
        fill.memory_requirements.size = 7;
        assert_eq!((out.memory_requirements.size, dedicated.prefers_dedicated_allocation), (7, vk::TRUE));
    }

    #[test]
    fn an_object_that_is_to_end_is_still_there_once() {
        struct Thing;
        impl Object for Thing {
            type Handle = vk::Event;
        }
        let handle = object::create(Thing);
        // SAFETY: nobody else has the handle.
        let doomed = || unsafe { Doomed::<Thing>::new(handle) };
        assert!(doomed().object().is_some() && doomed().destroy().is_some());
        assert!(doomed().object().is_none() && doomed().destroy().is_none());
    }
}
