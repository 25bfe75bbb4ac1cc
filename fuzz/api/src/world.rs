//! What the fuzzer knows of the driver's objects: those that live, those that did, and what belongs to them.

use crate::table::Ty;
use crate::tree::{Tree, length, peek};
use crate::{COMMANDS, HANDLES};
use random::Random;
use std::collections::{BTreeMap, HashMap};

#[derive(Default, Clone)]
pub struct Pool {
    pub live: Vec<u64>,
    pub stale: Vec<u64>,
}

/// Stale handles of a type that are remembered.
const STALE: usize = 64;

#[derive(Default)]
pub struct World {
    /// By type of handle.
    pub pools: Vec<Pool>,
    /// Live handles and what they were made of.
    parents: HashMap<(u16, u64), u64>,
    /// Bytes of live memory.
    pub sizes: HashMap<u64, u64>,
    /// Memory that is mapped: where, and how many bytes of it.
    pub mapped: BTreeMap<u64, (u64, u64)>,
    pub addresses: Vec<u64>,
    /// Exported memory and the like.
    pub fds: Vec<i32>,
    /// Calls of the fixture, in their order.
    pub templates: Vec<Tree>,
    /// Another thread has objects of its own on the same device: none is to be named by chance, nor the device destroyed.
    pub is_shared: bool,
    /// VK_ERROR_DEVICE_LOST was returned.
    pub lost: bool,
    /// Bytes of live memory, all in all.
    pub allocated: u64,
}

pub fn handle(name: &str) -> u16 {
    HANDLES.iter().position(|h| *h == name).map_or(u16::MAX, |i| i as u16)
}

/// The kind of handle that a command unmakes, and the parameter that has it.
fn unmade(command: u16) -> Option<(usize, u16)> {
    let c = &COMMANDS[command as usize];
    if !c.name.starts_with("vkDestroy") && !c.name.starts_with("vkFree") {
        return None;
    }
    let handles = c.params.iter().enumerate().rev();
    handles.filter_map(|(i, p)| if let Ty::Handle(t) = p.ty { Some((i, t)) } else { None }).next()
}

impl World {
    pub fn new() -> World {
        World { pools: vec![Pool::default(); HANDLES.len()], ..Default::default() }
    }

    pub fn is_live(&self, ty: u16, h: u64) -> bool {
        self.parents.contains_key(&(ty, h))
    }

    pub fn live(&self, name: &str) -> &[u64] {
        self.pools.get(handle(name) as usize).map_or(&[], |p| &p.live)
    }

    pub fn any(&self, ty: u16, rng: &mut Random) -> u64 {
        rng.of(&self.pools[ty as usize].live).copied().unwrap_or(0)
    }

    /// Something that another thread has made.
    pub fn share(&mut self, name: &str, h: u64) {
        self.made(handle(name), h, 0);
    }

    fn made(&mut self, ty: u16, h: u64, parent: u64) {
        if h != 0 && self.parents.insert((ty, h), parent).is_none() {
            self.pools[ty as usize].live.push(h);
        }
    }

    fn gone(&mut self, ty: u16, h: u64) {
        if self.parents.remove(&(ty, h)).is_none() {
            return;
        }
        let pool = &mut self.pools[ty as usize];
        pool.live.retain(|l| *l != h);
        if pool.stale.len() == STALE {
            pool.stale.remove(0);
        }
        pool.stale.push(h);
        self.mapped.remove(&h);
        if HANDLES[ty as usize] == "VkDeviceMemory" {
            self.allocated -= self.sizes.remove(&h).unwrap_or(0);
        }
        self.orphans(h, None);
    }

    /// What was made of something goes with it.
    fn orphans(&mut self, parent: u64, only: Option<u16>) {
        let mut all: Vec<(u16, u64)> = self
            .parents
            .iter()
            .filter(|((t, _), p)| **p == parent && only.is_none_or(|o| o == *t))
            .map(|(k, _)| *k)
            .collect();
        // The same order on every run.
        all.sort_unstable();
        all.into_iter().for_each(|(t, h)| self.gone(t, h));
    }

    /// What the objects of a call are made of: a pool if it names one, else its first parameter.
    ///
    /// # Safety
    /// Parameters of this command, as words.
    unsafe fn parent(command: u16, words: &[u64]) -> u64 {
        let c = &COMMANDS[command as usize];
        let inner = match c.name {
            "vkAllocateDescriptorSets" => "descriptorPool",
            "vkAllocateCommandBuffers" => "commandPool",
            "vkGetSwapchainImagesKHR" => return words[1],
            _ => return words[0],
        };
        let members = c.params[1].ty.members();
        let Some(m) = members.iter().find(|m| m.name == inner).filter(|_| words[1] != 0) else {
            return words[0];
        };
        // SAFETY: a member of the structure that the second parameter leads to.
        unsafe { peek((words[1] as *const u8).add(m.at as usize), 8) }
    }

    /// Before a call that unmakes something: the driver may make another of the same handle any time after it.
    ///
    /// # Safety
    /// Parameters of this command, as words.
    pub unsafe fn before(&mut self, command: u16, words: &[u64]) {
        let c = &COMMANDS[command as usize];
        match c.name {
            "vkUnmapMemory" => {
                self.mapped.remove(&words[1]);
            }
            "vkUnmapMemory2" | "vkUnmapMemory2KHR" if words[1] != 0 => {
                let m = c.params[1].ty.members().iter().find(|m| m.name == "memory");
                let at = m.map_or(0, |m| m.at as usize);
                // SAFETY: a member of the structure.
                self.mapped.remove(&unsafe { peek((words[1] as *const u8).add(at), 8) });
            }
            "vkResetDescriptorPool" => self.orphans(words[1], Some(handle("VkDescriptorSet"))),
            _ => {}
        }
        if let Some((at, ty)) = unmade(command) {
            let p = &c.params[at];
            if p.pointers == 0 {
                self.gone(ty, words[at]);
            } else if words[at] != 0 {
                // SAFETY: an array of handles, as the command says.
                unsafe {
                    let n = length(words.as_ptr().cast(), c.params, p);
                    (0..n).for_each(|i| self.gone(ty, peek((words[at] as *const u8).add(i * 8), 8)));
                }
            }
        }
    }

    /// After a call: what it has returned.
    ///
    /// # Safety
    /// Parameters of this command, as words, whose pointers still lead where they led.
    pub unsafe fn after(&mut self, command: u16, words: &[u64], ret: u64) {
        let c = &COMMANDS[command as usize];
        let result = if c.fails { ret as i32 } else { 0 };
        // For what is no queue or device the answer is the same.
        self.lost |= result == -4 && matches!(c.params[0].ty, Ty::Handle(t) if self.is_live(t, words[0]));
        if c.name.starts_with("vkGetBufferDeviceAddress") && ret != 0 && self.addresses.len() < 64 {
            self.addresses.push(ret);
        }
        // Of many pipelines some may have been made.
        if result < 0 && !c.name.ends_with("Pipelines") {
            return;
        }
        for (p, word) in c.params.iter().zip(words).filter(|(p, w)| p.out && p.pointers > 0 && **w != 0) {
            let to = *word as *const u8;
            match (p.ty, p.pointers) {
                (Ty::Handle(ty), 1) => {
                    // SAFETY: an array of handles, as the command says.
                    unsafe {
                        let parent = World::parent(command, words);
                        let n = length(words.as_ptr().cast(), c.params, p);
                        (0..n).for_each(|i| self.made(ty, peek(to.add(i * 8), 8), parent));
                    }
                }
                (Ty::Fd, 1) => {
                    // SAFETY: a file descriptor, which is ours.
                    let fd = unsafe { peek(to, 4) } as i32;
                    if self.fds.len() < 16 {
                        self.fds.push(fd);
                    } else {
                        // SAFETY: nobody else has it.
                        unsafe { libc::close(fd) };
                    }
                }
                _ => {}
            }
        }
        // SAFETY: members of the structures that this command was given.
        unsafe { self.memory(c.name, c.params, words) };
    }

    unsafe fn memory(&mut self, name: &str, params: &[crate::table::Member], words: &[u64]) {
        let read = |p: u64, ty: Ty, name: &str| {
            let m = ty.members().iter().find(|m| m.name == name);
            // SAFETY: a member of the structure there.
            m.map_or(0, |m| unsafe { peek((p as *const u8).add(m.at as usize), m.size()) })
        };
        match name {
            "vkAllocateMemory" => {
                let size = read(words[1], params[1].ty, "allocationSize");
                // SAFETY: a handle was written.
                let memory = unsafe { peek(words[3] as *const u8, 8) };
                self.sizes.insert(memory, size);
                self.allocated += size;
            }
            "vkMapMemory" | "vkMapMemory2" => {
                let (memory, offset, size, out) = if name == "vkMapMemory" {
                    (words[1], words[2], words[3], words[5])
                } else {
                    let get = |m| read(words[1], params[1].ty, m);
                    (get("memory"), get("offset"), get("size"), words[2])
                };
                let all = self.sizes.get(&memory).copied().unwrap_or(0).saturating_sub(offset);
                // SAFETY: an address was written.
                let at = unsafe { peek(out as *const u8, 8) };
                if at != 0 {
                    self.mapped.insert(memory, (at, size.min(all)));
                }
            }
            _ => {}
        }
    }

    /// Handles and how many of them live, for the end of a run.
    pub fn population(&self) -> Vec<(&'static str, usize)> {
        HANDLES.iter().copied().zip(self.pools.iter().map(|p| p.live.len())).filter(|p| p.1 > 0).collect()
    }
}
