//! Changes to a call: what a program does wrong, or differently.

use crate::generate::value;
use crate::host;
use crate::table::{Len, Member, Ty};
use crate::tree::{Led, Place, Tree, led, named};
use crate::world::World;
use crate::{HANDLES, STRUCTS};
use random::Random;

/// Memory of the driver that may be live at a time, about.
const MEMORY: u64 = 384 << 20;

impl Tree {
    /// Puts handles that live in the place of those that do not any more, most of the time.
    pub fn heal(&mut self, world: &World, rng: &mut Random) {
        for p in self.places() {
            let Ty::Handle(t) = p.ty else { continue };
            let h = self.get(p.node, p.at, 8);
            if p.member.is_none_or(|m| m.pointers == 0)
                && !self.nodes[p.node].out
                && h != 0
                && !world.is_live(t, h)
                && !rng.once_in(8)
            {
                self.put(p.node, p.at, 8, world.any(t, rng));
            }
        }
    }

    /// The same call for other objects: those made last, or any.
    pub fn reseat(&mut self, world: &World, rng: &mut Random) {
        for p in self.places() {
            let Ty::Handle(t) = p.ty else { continue };
            let live = &world.pools[t as usize].live;
            if p.member.is_none_or(|m| m.pointers == 0)
                && !self.nodes[p.node].out
                && self.get(p.node, p.at, 8) != 0
                && let Some(newest) = live.get(live.len().saturating_sub(4)..)
                && let Some(&h) = if rng.once_in(2) { rng.of(newest) } else { rng.of(live) }
            {
                self.put(p.node, p.at, 8, h);
            }
        }
    }

    /// Changes some of the values.
    pub fn mutate(&mut self, times: usize, world: &World, rng: &mut Random) {
        for _ in 0..times {
            let places = self.places();
            let Some(p) = rng.of(&places) else { return };
            self.change(p, world, rng);
        }
    }

    fn change(&mut self, p: &Place, world: &World, rng: &mut Random) {
        if let Some(m) = p.member.filter(|m| m.leads()) {
            return self.change_lead(p, m, world, rng);
        }
        let size = p.ty.size();
        let now = self.get(p.node, p.at, size);
        let new = match p.ty {
            Ty::Handle(t) => match rng.index(10) {
                0 => 0,
                1 | 2 => rng.of(&world.pools[t as usize].stale).copied().unwrap_or(0),
                3 => {
                    let other = rng.index(HANDLES.len());
                    world.any(other as u16, rng)
                }
                4 if !world.is_shared => match rng.index(3) {
                    0 => now.wrapping_add(8 << rng.index(4)),
                    1 => now.wrapping_add(32 * rng.index(1 << 16) as u64),
                    _ => crate::arguments::number(rng),
                },
                _ => world.any(t, rng),
            },
            // Another structure's number would say that there is more memory than there is.
            Ty::SType => *rng.of(&[u64::MAX, 0x7fff_ffff, 999_999_999]).unwrap_or(&0),
            Ty::Flags(f) | Ty::Flags64(f) if !rng.once_in(3) => {
                let bit = 1u64 << rng.index(64);
                now ^ if rng.once_in(4) { bit } else { bit & crate::FLAGS[f as usize].mask | 1 }
            }
            Ty::Enum(_) if rng.once_in(4) => crate::arguments::number(rng),
            Ty::Bool if rng.once_in(3) => crate::arguments::number(rng),
            Ty::Byte | Ty::Char => rng.u64(),
            Ty::U16 | Ty::U32 | Ty::I32 | Ty::U64 | Ty::I64 | Ty::Usize | Ty::Address => match rng.index(8) {
                0 => now.wrapping_add(1),
                1 => now.wrapping_sub(1),
                2 => now.wrapping_mul(2),
                3 => now ^ (1u64 << rng.index(size * 8)),
                4 => now / 2,
                _ => value(p.ty, world, rng),
            },
            ty => value(ty, world, rng),
        };
        self.put(p.node, p.at, size, new);
    }

    fn change_lead(&mut self, p: &Place, m: &'static Member, world: &World, rng: &mut Random) {
        let out = self.nodes[p.node].out || m.out;
        let now = self.link(p.node, p.at);
        if m.ty == Ty::Next {
            let new = match rng.index(4) {
                0 => None,
                // The same once more.
                1 if now.is_some() => {
                    let copy = now.map(|n| self.nodes[n].clone());
                    self.nodes.extend(copy);
                    let new = self.nodes.len() - 1;
                    self.set_link(new, 8, now);
                    Some(new)
                }
                _ => {
                    let new = self.extension(p.owner.0, out, 2, world, rng);
                    if let Some(n) = new {
                        self.set_link(n, 8, now.filter(|_| !rng.once_in(4)));
                    }
                    new
                }
            };
            // Nothing that leads to itself.
            return self.set_link(p.node, p.at, new);
        }
        match (rng.index(3), now) {
            (0, _) | (_, None) if m.pointers == 2 => self.set_link(p.node, p.at, None),
            (0, _) => self.set_link(p.node, p.at, None),
            (1, Some(n)) if m.pointers == 1 => {
                let (count, ty) = (self.nodes[n].count, self.nodes[n].ty);
                if ty != Ty::Char {
                    let new = self.generate(ty, count.min(64), out, 2, world, rng);
                    self.set_link(p.node, p.at, Some(new));
                }
            }
            (_, None) => {
                let count = match m.len {
                    Len::One => 1,
                    Len::Two => 2,
                    Len::Fixed(n) => n as usize,
                    _ => 1 + rng.index(3),
                };
                let new = self.generate(m.ty, count, out, 2, world, rng);
                self.set_link(p.node, p.at, Some(new));
            }
            _ => {}
        }
    }

    /// Brings back what no driver can check: arrays that are as long as said, addresses that are the program's own, times
    /// to wait that end.
    ///
    /// Returns the file descriptors that were made for it.
    pub fn settle(&mut self, world: &World, rng: &mut Random) -> Vec<i32> {
        let mut fds = vec![];
        for p in self.places() {
            let Some(m) = p.member else { continue };
            if m.pointers > 0 {
                self.settle_count(&p, rng);
            } else {
                self.settle_value(&p, m, world, rng, &mut fds);
            }
        }
        let strings = self.nodes.iter_mut().filter(|n| n.ty == Ty::Char && !n.pointer && !n.out);
        strings.filter_map(|n| n.bytes.last_mut()).for_each(|b| *b = 0);
        self.settle_descriptor_data(world, rng);
        self.settle_mappings();
        fds
    }

    /// No more elements are told of than there are; where there are none, any number.
    fn settle_count(&mut self, p: &Place, rng: &mut Random) {
        let Some(to) = self.link(p.node, p.at) else { return };
        let Some((node, at, size, scale)) = self.counted_by(p) else { return };
        let room = (self.nodes[to].count * scale) as u64;
        if self.get(node, at, size) <= room {
            return;
        }
        if rng.once_in(4) {
            self.set_link(p.node, p.at, None);
        } else {
            self.put(node, at, size, room);
        }
    }

    fn settle_value(&mut self, p: &Place, m: &Member, world: &World, rng: &mut Random, fds: &mut Vec<i32>) {
        let owner = match p.owner.0 {
            Ty::Struct(s) => STRUCTS[s as usize].name,
            _ => self.name(),
        };
        let v = self.get(p.node, p.at, p.ty.size());
        let often = !rng.once_in(8);
        let nearly_always = !rng.once_in(40);
        let new = match (owner, m.name, m.ty) {
            (.., Ty::Callbacks) => 0,
            (.., Ty::Timeout) => v % 2_000_000,
            (.., Ty::Host) => host::region() + 4096 * rng.index(4) as u64 + if often { 0 } else { 16 },
            ("VkDebugUtilsMessengerCreateInfoEXT", _, Ty::Function) => host::messenger as *const () as u64,
            ("VkDebugReportCallbackCreateInfoEXT", _, Ty::Function) => host::report as *const () as u64,
            (.., Ty::Function) => 0,
            (.., Ty::Fd) => {
                let fd = match rng.of(&world.fds) {
                    _ if rng.once_in(6) => {
                        if rng.once_in(2) {
                            -1
                        } else {
                            1 << 20
                        }
                    }
                    // SAFETY: a descriptor of ours, which stays open.
                    Some(fd) if rng.once_in(2) => unsafe { libc::dup(*fd) },
                    _ => host::memfd(4096 << rng.index(3)),
                };
                fds.push(fd);
                fd as u32 as u64
            }
            ("VkMemoryAllocateInfo", "allocationSize", _) => {
                let room = if world.allocated > MEMORY { 64 << 10 } else { 16 << 20 };
                if (room..1 << 42).contains(&v) { v % room } else { v }
            }
            ("VkMemoryToImageCopy" | "VkImageToMemoryCopy", "memoryRowLength" | "memoryImageHeight", _) => {
                v % 1024
            }
            ("VkDescriptorUpdateTemplateEntry", "offset", _) => v % 4096,
            ("VkDescriptorUpdateTemplateEntry", "stride", _) => v % 256,
            ("VkDescriptorUpdateTemplateEntry", "descriptorCount", _) => v % 17,
            ("VkSwapchainCreateInfoKHR", "minImageCount", _) => v % 9,
            // No further than the structures lie.
            ("vkCmdDrawMultiEXT", "stride", _) => v % 9,
            ("vkCmdDrawMultiIndexedEXT", "stride", _) => v % 13,
            (_, "groupCountX" | "groupCountY" | "groupCountZ", _) if nearly_always => v % 9,
            (_, "vertexCount" | "instanceCount" | "indexCount" | "drawCount" | "maxDrawCount", _)
                if nearly_always =>
            {
                v % 65
            }
            _ => return,
        };
        self.put(p.node, p.at, p.ty.size(), new);
    }

    /// A sampler within a mapping, which lies elsewhere in each member of its union, is one of the tree's or none.
    fn settle_mappings(&mut self) {
        let Some(mapping @ Ty::Struct(_)) = named("VkDescriptorSetAndBindingMappingEXT") else { return };
        let [.., source, data] = mapping.members() else { return };
        for node in 0..self.nodes.len() {
            if self.nodes[node].ty != mapping || self.nodes[node].pointer {
                continue;
            }
            for base in (0..self.nodes[node].count).map(|i| i * mapping.size()) {
                // Members stand in the order of the sources.
                let kind = self.get(node, base + source.at as usize, 4) as usize;
                let inner = data.ty.members().get(kind).map_or(&[][..], |m| m.ty.members());
                for m in inner.iter().filter(|m| m.pointers > 0) {
                    let at = base + (data.at + m.at) as usize;
                    if self.link(node, at).is_none() {
                        self.put(node, at, 8, 0);
                    }
                }
            }
        }
    }

    /// What a union of addresses leads to is what the type beside it says.
    fn settle_descriptor_data(&mut self, world: &World, rng: &mut Random) {
        for node in 0..self.nodes.len() {
            let n = &self.nodes[node];
            let (owner, members) = (n.ty, n.ty.members());
            if n.pointer || !members.get(3).is_some_and(|m| m.ty.is_union_of_addresses()) {
                continue;
            }
            let (kind, at) = (self.get(node, members[2].at as usize, 4) as i32, members[3].at as usize);
            match led(owner, kind) {
                Led::To(inner) if self.link(node, at).is_none_or(|l| self.nodes[l].ty != inner) => {
                    let null = rng.once_in(4);
                    self.put(node, at, 8, 0);
                    let to = (!null).then(|| self.generate(inner, 1, false, 3, world, rng));
                    self.set_link(node, at, to);
                }
                Led::To(_) => {}
                to => {
                    self.set_link(node, at, None);
                    let address = if matches!(to, Led::Device) { value(Ty::Address, world, rng) } else { 0 };
                    self.put(node, at, 8, address);
                }
            }
        }
    }
}
