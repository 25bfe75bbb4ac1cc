//! Arguments from nothing, by the tables.

use crate::table::{Len, Ty};
use crate::tree::{BLOB, Node, Tree};
use crate::world::World;
use crate::{COMMANDS, ENUMS, FLAGS, STRUCTS};
use random::Random;

/// Names that the driver looks for.
const NAMES: [&str; 8] = [
    "main",
    "VK_KHR_swapchain",
    "VK_KHR_performance_query",
    "VK_EXT_debug_utils",
    "vkCreateBuffer",
    "vkCmdDraw",
    "",
    "VK_LAYER_KHRONOS_validation",
];

/// How deep structures go.
const DEEP: usize = 4;

/// Values of plain kinds.
pub fn value(ty: Ty, world: &World, rng: &mut Random) -> u64 {
    match ty {
        Ty::Handle(t) => match rng.index(12) {
            0 => 0,
            1 => rng.of(&world.pools[t as usize].stale).copied().unwrap_or(0),
            _ => world.any(t, rng),
        },
        Ty::Enum(e) => rng.of(ENUMS[e as usize].values).map_or_else(|| rng.u64(), |v| *v as i64 as u64),
        Ty::Flags(f) | Ty::Flags64(f) => {
            let mask = FLAGS[f as usize].mask;
            match rng.index(5) {
                0 => 0,
                1 => crate::arguments::number(rng),
                2 => mask,
                3 => mask & rng.u64() & rng.u64(),
                // One bit of those that there are.
                _ => {
                    let skip = rng.index(mask.count_ones() as usize);
                    let rest = (0..skip).fold(mask, |m, _| m & m.wrapping_sub(1));
                    rest & rest.wrapping_neg()
                }
            }
        }
        Ty::Bool => rng.index(2) as u64,
        Ty::F32 => crate::arguments::float(rng).to_bits() as u64,
        Ty::F64 => (crate::arguments::float(rng) as f64).to_bits(),
        Ty::Address => match rng.of(&world.addresses) {
            Some(a) if !rng.once_in(4) => a + 4 * rng.index(64) as u64,
            _ => crate::arguments::number(rng),
        },
        _ => crate::arguments::number(rng),
    }
}

impl Tree {
    /// A call of a command.
    pub fn from_nothing(command: u16, world: &World, rng: &mut Random) -> Tree {
        let mut t = Tree { command, nodes: vec![] };
        t.generate(Ty::Args(command), 1, false, 0, world, rng);
        t
    }

    /// `count` elements of random content; returns the block.
    pub fn generate(
        &mut self,
        ty: Ty,
        count: usize,
        out: bool,
        deep: usize,
        world: &World,
        rng: &mut Random,
    ) -> usize {
        let node = self.nodes.len();
        let len = if ty == Ty::Blob { BLOB } else { ty.size() * count };
        self.nodes.push(Node { ty, pointer: false, out, count, bytes: vec![0; len], links: vec![] });
        let plain = ty.members().is_empty();
        match ty {
            Ty::Byte => self.nodes[node].bytes.iter_mut().for_each(|b| *b = rng.u64() as u8),
            // Handles of all kinds, for an update template may say that they are any.
            Ty::Blob if !out => {
                for at in (0..512).step_by(8) {
                    let pool = rng.index(world.pools.len());
                    let v = if rng.once_in(3) && !world.is_shared {
                        crate::arguments::number(rng)
                    } else {
                        world.any(pool as u16, rng)
                    };
                    self.put(node, at, 8, v);
                }
            }
            Ty::Blob => {}
            _ if plain => {
                // What is to be written counts only where it says how much may be.
                for i in 0..count.min(64) {
                    let v = if out { rng.index(4) as u64 } else { value(ty, world, rng) };
                    self.put(
                        node,
                        i * ty.size(),
                        ty.size(),
                        if matches!(ty, Ty::Handle(_)) && out { 0 } else { v },
                    );
                }
            }
            _ => (0..count).for_each(|i| self.fill(node, ty, i * ty.size(), out, deep, world, rng)),
        }
        node
    }

    fn fill(
        &mut self,
        node: usize,
        ty: Ty,
        base: usize,
        out: bool,
        deep: usize,
        world: &World,
        rng: &mut Random,
    ) {
        if let Ty::Struct(s) = ty
            && STRUCTS[s as usize].s_type >= 0
        {
            self.put(node, base, 4, STRUCTS[s as usize].s_type as u64);
        }
        if ty.is_union_of_addresses() {
            return;
        }
        for (i, m) in ty.members().iter().enumerate() {
            let at = base + m.at as usize;
            if m.ty == Ty::Next {
                if rng.once_in(4) && deep < DEEP {
                    let next = self.extension(ty, out, deep + 1, world, rng);
                    self.set_link(node, at, next);
                }
            } else if m.pointers > 0 {
                if deep < DEEP && !rng.once_in(8) {
                    self.lead(node, ty, base, i, deep, world, rng);
                }
            } else if m.ty != Ty::SType {
                for k in 0..m.count as usize {
                    let at = at + k * m.size();
                    if m.ty.members().is_empty() {
                        let v = value(m.ty, world, rng);
                        // Most numbers are small ones, so that something comes of it.
                        let v = if m.ty == Ty::U32 && !rng.once_in(6) { v % 5 } else { v };
                        self.put(node, at, m.size(), v);
                    } else {
                        self.fill(node, m.ty, at, out, deep, world, rng);
                    }
                }
            }
        }
    }

    /// What a pointer leads to, and the number that says how many.
    fn lead(
        &mut self,
        node: usize,
        owner: Ty,
        base: usize,
        i: usize,
        deep: usize,
        world: &World,
        rng: &mut Random,
    ) {
        let m = &owner.members()[i];
        let at = base + m.at as usize;
        let place = crate::tree::Place { node, at, ty: m.ty, member: Some(m), owner: (owner, base) };
        let mut count = match m.len {
            Len::One => 1,
            Len::Two => 2,
            Len::Fixed(n) => n as usize,
            _ => 1 + rng.index(3),
        };
        if let Some((n, at, size, scale)) = self.counted_by(&place) {
            let said = self.get(n, at, size) as usize / scale;
            if (1..64).contains(&said) {
                count = said;
            } else {
                self.put(n, at, size, (count * scale) as u64);
            }
        }
        let to = match (m.ty, m.pointers) {
            (Ty::Char, 1) => self.name_of(rng),
            (ty, 2) => {
                let outer = self.nodes.len();
                let bytes = vec![0; count * 8];
                self.nodes.push(Node { ty, pointer: true, out: m.out, count, bytes, links: vec![] });
                for k in (0..count).filter(|_| !m.out) {
                    let inner = if ty == Ty::Char {
                        self.name_of(rng)
                    } else {
                        self.generate(ty, 1, false, deep + 1, world, rng)
                    };
                    self.set_link(outer, k * 8, Some(inner));
                }
                outer
            }
            (ty, _) => self.generate(ty, count, m.out, deep + 1, world, rng),
        };
        self.set_link(node, at, Some(to));
    }

    fn name_of(&mut self, rng: &mut Random) -> usize {
        let name = NAMES[rng.index(NAMES.len())];
        let name = if rng.once_in(3) { COMMANDS[rng.index(COMMANDS.len())].name } else { name };
        let bytes: Vec<u8> = name.bytes().chain([0]).collect();
        let count = bytes.len();
        self.nodes.push(Node { ty: Ty::Char, pointer: false, out: false, count, bytes, links: vec![] });
        self.nodes.len() - 1
    }

    /// A structure that may stand in the chain of another, or of what that one extends.
    pub fn extension(
        &mut self,
        of: Ty,
        out: bool,
        deep: usize,
        world: &World,
        rng: &mut Random,
    ) -> Option<usize> {
        let Ty::Struct(s) = of else { return None };
        let root = STRUCTS[s as usize].extends.first().copied().unwrap_or(s);
        let fit: Vec<usize> = (0..STRUCTS.len()).filter(|i| STRUCTS[*i].extends.contains(&root)).collect();
        // Now and then one that has nothing to do with it.
        let chosen = if rng.once_in(10) { rng.index(STRUCTS.len()) } else { *rng.of(&fit)? };
        let has_chain =
            STRUCTS[chosen].s_type >= 0 && STRUCTS[chosen].members.get(1).is_some_and(|m| m.ty == Ty::Next);
        has_chain.then(|| self.generate(Ty::Struct(chosen as u16), 1, out, deep, world, rng))
    }
}
