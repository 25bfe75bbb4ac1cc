//! A call's arguments with all that they lead to, as a tree of blocks that belong to nobody: copied from a call, changed,
//! and laid out in memory for another call.

use crate::table::{Len, Member, Ty};
use crate::{COMMANDS, STRUCTS};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Bytes of what has no length of its own. Programs of the fixture that pass such a thing have as many.
pub const BLOB: usize = 16 << 10;

/// One block of memory: `count` elements, one after the other.
#[derive(Clone)]
pub struct Node {
    pub ty: Ty,
    /// The elements are addresses of such things.
    pub pointer: bool,
    pub out: bool,
    pub count: usize,
    pub bytes: Vec<u8>,
    /// Where in it the addresses of which other blocks stand.
    pub links: Vec<(usize, usize)>,
}

/// Block 0 is the parameters.
#[derive(Clone)]
pub struct Tree {
    pub command: u16,
    pub nodes: Vec<Node>,
}

/// A value in a tree.
#[derive(Clone, Copy)]
pub struct Place {
    pub node: usize,
    pub at: usize,
    pub ty: Ty,
    /// `None`: an element of an array of plain values.
    pub member: Option<&'static Member>,
    /// The structure around it: its kind, and where in the block it begins.
    pub owner: (Ty, usize),
}

/// Structures by what they have as sType.
pub fn by_s_type(s_type: i32) -> Option<u16> {
    static ALL: LazyLock<HashMap<i32, u16>> = LazyLock::new(|| {
        let with = STRUCTS.iter().enumerate().filter(|(_, s)| s.s_type >= 0);
        with.map(|(i, s)| (s.s_type, i as u16)).collect()
    });
    ALL.get(&s_type).copied()
}

/// What the union of addresses of a structure holds.
pub enum Led {
    /// A structure, or a handle.
    To(Ty),
    /// An address of the device's.
    Device,
    /// Nothing that is known.
    Nowhere,
}

/// By what stands before it: the type of descriptors, of tokens, of sets.
pub fn led(owner: Ty, kind: i32) -> Led {
    let Ty::Struct(s) = owner else { return Led::Nowhere };
    let name = match (STRUCTS[s as usize].name, kind) {
        ("VkDescriptorGetInfoEXT", 0) => "VkSampler",
        ("VkDescriptorGetInfoEXT", 1..=3 | 10) => "VkDescriptorImageInfo",
        ("VkDescriptorGetInfoEXT", 4..=7) => "VkDescriptorAddressInfoEXT",
        ("VkDescriptorGetInfoEXT", _) => return Led::Device,
        ("VkResourceDescriptorInfoEXT", 1..=3 | 10) => "VkImageDescriptorInfoEXT",
        ("VkResourceDescriptorInfoEXT", 4 | 5) => "VkTexelBufferDescriptorInfoEXT",
        ("VkResourceDescriptorInfoEXT", _) => "VkDeviceAddressRangeKHR",
        ("VkIndirectExecutionSetCreateInfoEXT", 0) => "VkIndirectExecutionSetPipelineInfoEXT",
        ("VkIndirectExecutionSetCreateInfoEXT", 1) => "VkIndirectExecutionSetShaderInfoEXT",
        ("VkIndirectCommandsLayoutTokenEXT", 0) => "VkIndirectCommandsExecutionSetTokenEXT",
        ("VkIndirectCommandsLayoutTokenEXT", 1 | 2) => "VkIndirectCommandsPushConstantTokenEXT",
        ("VkIndirectCommandsLayoutTokenEXT", 3) => "VkIndirectCommandsIndexBufferTokenEXT",
        ("VkIndirectCommandsLayoutTokenEXT", 4) => "VkIndirectCommandsVertexBufferTokenEXT",
        _ => return Led::Nowhere,
    };
    named(name).map_or(Led::Nowhere, Led::To)
}

pub fn named(name: &str) -> Option<Ty> {
    let found = STRUCTS.iter().position(|s| s.name == name).map(|i| Ty::Struct(i as u16));
    found.or_else(|| crate::HANDLES.iter().position(|h| *h == name).map(|i| Ty::Handle(i as u16)))
}

/// The number of `size` bytes at the beginning of some.
pub fn number(bytes: &[u8], size: usize) -> u64 {
    let mut all = [0; 8];
    let n = size.min(8).min(bytes.len());
    all[..n].copy_from_slice(&bytes[..n]);
    u64::from_le_bytes(all)
}

/// As [`number`], of memory.
///
/// # Safety
/// So many bytes can be read there.
pub unsafe fn peek(p: *const u8, size: usize) -> u64 {
    // SAFETY: the caller's word for it.
    number(unsafe { std::slice::from_raw_parts(p, size) }, size)
}

/// How many elements a member of a structure in memory leads to.
///
/// # Safety
/// A structure whose members these are, whose pointers lead to what they are said to.
pub unsafe fn length(owner: *const u8, all: &[Member], m: &Member) -> usize {
    // SAFETY: in the structure, and what its members lead to.
    unsafe {
        let at = |p: *const u8, f: &Member| p.add(f.at as usize);
        let value = |f: &Member| {
            if f.pointers == 0 {
                return peek(at(owner, f), f.ty.size());
            }
            let p = peek(at(owner, f), 8) as *const u8;
            if p.is_null() { 0 } else { peek(p, f.ty.size()) }
        };
        match m.len {
            Len::One => 1,
            Len::Two => 2,
            Len::Fixed(n) => n as usize,
            Len::Of(j) => value(&all[j as usize]) as usize,
            Len::Words(j) => value(&all[j as usize]) as usize / 4,
            Len::In(i, j) => {
                let through = &all[i as usize];
                let p = peek(at(owner, through), 8) as *const u8;
                let inner = &through.ty.members()[j as usize];
                if p.is_null() { 0 } else { peek(at(p, inner), inner.ty.size()) as usize }
            }
            Len::Nul => {
                let p = peek(at(owner, m), 8) as *const libc::c_char;
                if p.is_null() { 0 } else { libc::strlen(p) + 1 }
            }
        }
    }
}

impl Tree {
    /// # Safety
    /// A program's call of this command.
    pub unsafe fn of_call(command: u16, words: &[u64]) -> Tree {
        let mut t = Tree { command, nodes: vec![] };
        // SAFETY: parameters, as words.
        unsafe { t.copy(Ty::Args(command), false, words.as_ptr().cast(), 1, false) };
        t
    }

    pub fn name(&self) -> &'static str {
        COMMANDS[self.command as usize].name
    }

    /// # Safety
    /// So many such elements are at `from`.
    unsafe fn copy(&mut self, ty: Ty, pointer: bool, from: *const u8, count: usize, out: bool) -> usize {
        let stride = if pointer { 8 } else { ty.size() };
        let len = if ty == Ty::Blob { BLOB } else { stride * count };
        let node = self.nodes.len();
        let opaque = out && (pointer || ty == Ty::Blob);
        let bytes = if opaque || len == 0 {
            vec![0; len]
        } else {
            // SAFETY: the caller's word for it.
            unsafe { std::slice::from_raw_parts(from, len) }.to_vec()
        };
        self.nodes.push(Node { ty, pointer, out, count, bytes, links: vec![] });
        if opaque {
            return node;
        }
        for i in 0..count {
            // SAFETY: an element.
            unsafe {
                if pointer {
                    let p = peek(from.add(i * 8), 8) as *const u8;
                    let n = if ty == Ty::Char && !p.is_null() { libc::strlen(p.cast()) + 1 } else { 1 };
                    self.follow(node, i * 8, p, |t| t.copy(ty, false, p, n, out));
                } else if !ty.members().is_empty() {
                    self.copy_members(node, ty, i * stride, from.add(i * stride), out);
                }
            }
        }
        node
    }

    fn follow(&mut self, node: usize, at: usize, p: *const u8, copy: impl FnOnce(&mut Tree) -> usize) {
        self.put(node, at, 8, 0);
        if !p.is_null() && self.nodes.len() < 4096 {
            let to = copy(self);
            self.nodes[node].links.push((at, to));
        }
    }

    unsafe fn copy_members(&mut self, node: usize, ty: Ty, at: usize, from: *const u8, out: bool) {
        // What is to be written may hold anything yet.
        let s_type = if let Ty::Struct(s) = ty { STRUCTS[s as usize].s_type } else { -1 };
        // SAFETY: in the structure.
        let begun = s_type >= 0 && unsafe { peek(from, 4) } as i32 == s_type;
        if out && !begun {
            let size = ty.size();
            self.nodes[node].bytes[at..at + size].fill(0);
            if s_type >= 0 {
                self.put(node, at, 4, s_type as u64);
            }
            return;
        }
        let all = ty.members();
        for m in all {
            let here = at + m.at as usize;
            // SAFETY: a structure's members, and what they lead to.
            unsafe {
                let p = from.add(m.at as usize);
                if m.ty == Ty::Next {
                    let chain = peek(p, 8) as *const u8;
                    let known = (!chain.is_null()).then(|| by_s_type(peek(chain, 4) as i32)).flatten();
                    match known {
                        Some(s) => {
                            self.follow(node, here, chain, |t| t.copy(Ty::Struct(s), false, chain, 1, out));
                        }
                        None => self.put(node, here, 8, 0),
                    }
                } else if m.pointers > 0 {
                    let to = peek(p, 8) as *const u8;
                    let n = if to.is_null() { 0 } else { length(from, all, m) };
                    self.follow(node, here, to, |t| t.copy(m.ty, m.pointers == 2, to, n, m.out));
                } else if m.ty.is_union_of_addresses() {
                    // Behind its type.
                    let to = peek(p, 8) as *const u8;
                    let kind = peek(from.add(all[2].at as usize), 4) as i32;
                    match led(ty, kind) {
                        Led::To(inner) => self.follow(node, here, to, |t| t.copy(inner, false, to, 1, false)),
                        Led::Device => {}
                        Led::Nowhere => self.put(node, here, 8, 0),
                    }
                } else if !m.ty.members().is_empty() && !m.ty.is_union() {
                    for k in 0..m.count as usize {
                        let k = k * m.ty.size();
                        self.copy_members(node, m.ty, here + k, p.add(k), false);
                    }
                }
            }
        }
    }

    pub fn get(&self, node: usize, at: usize, size: usize) -> u64 {
        number(&self.nodes[node].bytes[at..], size)
    }

    pub fn put(&mut self, node: usize, at: usize, size: usize, value: u64) {
        let size = size.min(8);
        self.nodes[node].bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    pub fn link(&self, node: usize, at: usize) -> Option<usize> {
        self.nodes[node].links.iter().find(|l| l.0 == at).map(|l| l.1)
    }

    /// Makes the address at a place that of a block, or null.
    pub fn set_link(&mut self, node: usize, at: usize, to: Option<usize>) {
        self.nodes[node].links.retain(|l| l.0 != at);
        self.nodes[node].links.extend(to.map(|to| (at, to)));
    }

    fn members_of(&self, node: usize, ty: Ty, base: usize, out: &mut Vec<Place>) {
        if ty.is_union_of_addresses() {
            return;
        }
        for m in ty.members() {
            for k in 0..m.count as usize {
                let at = base + m.at as usize + k * m.size();
                if m.pointers == 0 && !m.ty.members().is_empty() {
                    self.members_of(node, m.ty, at, out);
                } else {
                    out.push(Place { node, at, ty: m.ty, member: Some(m), owner: (ty, base) });
                }
                // Of long arrays the beginning, and strings as one.
                if k >= 15 || m.ty == Ty::Char {
                    break;
                }
            }
        }
    }

    /// All values that a call of this reads.
    pub fn places(&self) -> Vec<Place> {
        let mut all = vec![];
        for (node, n) in self.nodes.iter().enumerate() {
            if n.pointer || n.ty == Ty::Blob || n.count == 0 {
                continue;
            }
            let stride = n.ty.size();
            // Of long arrays some, all over them.
            for i in (0..n.count).step_by(n.count.div_ceil(64)) {
                if n.ty.members().is_empty() {
                    let owner = (n.ty, 0);
                    all.push(Place { node, at: i * stride, ty: n.ty, member: None, owner });
                } else {
                    self.members_of(node, n.ty, i * stride, &mut all);
                }
            }
        }
        all
    }

    /// The value that says how many elements a pointer leads to: block, offset, bytes; and how much of it an element is.
    pub fn counted_by(&self, place: &Place) -> Option<(usize, usize, usize, usize)> {
        let m = place.member?;
        let (owner, base) = place.owner;
        let all = owner.members();
        let value = |j: u8, scale| {
            let f = &all[j as usize];
            let at = base + f.at as usize;
            if f.pointers == 0 {
                return Some((place.node, at, f.ty.size(), scale));
            }
            self.link(place.node, at).map(|to| (to, 0, f.ty.size(), scale))
        };
        match m.len {
            Len::Of(j) => value(j, 1),
            Len::Words(j) => value(j, 4),
            Len::In(i, j) => {
                let through = &all[i as usize];
                let to = self.link(place.node, base + through.at as usize)?;
                let f = &through.ty.members()[j as usize];
                Some((to, f.at as usize, f.ty.size(), 1))
            }
            _ => None,
        }
    }

    /// The tree in memory, each block by itself, so that a step beyond one is noticed.
    pub fn lay_out(&self) -> Laid {
        let block = |n: &Node| {
            let layout = Layout::from_size_align(n.bytes.len().max(1), 16).expect("a size");
            // SAFETY: not of no bytes; as many are copied as there are.
            unsafe {
                let p = alloc_zeroed(layout);
                assert!(!p.is_null(), "memory for arguments");
                std::ptr::copy_nonoverlapping(n.bytes.as_ptr(), p, n.bytes.len());
                (p, layout)
            }
        };
        let blocks: Vec<_> = self.nodes.iter().map(block).collect();
        for (n, (p, _)) in self.nodes.iter().zip(&blocks) {
            for (at, to) in &n.links {
                // SAFETY: links are in their blocks.
                unsafe { p.add(*at).cast::<u64>().write_unaligned(blocks[*to].0 as u64) };
            }
        }
        Laid(blocks)
    }
}

/// A call's arguments in memory.
pub struct Laid(Vec<(*mut u8, Layout)>);

impl Laid {
    pub fn words(&self) -> &[u64] {
        let (p, layout) = self.0[0];
        // SAFETY: the first block is words.
        unsafe { std::slice::from_raw_parts(p.cast(), layout.size() / 8) }
    }
}

impl Drop for Laid {
    fn drop(&mut self) {
        for (p, layout) in &self.0 {
            // SAFETY: made with this layout, once.
            unsafe { dealloc(*p, *layout) };
        }
    }
}
