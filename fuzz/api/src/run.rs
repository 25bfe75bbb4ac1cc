//! One run: the fixture, then calls, then an end that is seldom an orderly one.

use crate::host::FAULTS;
use crate::record::{self, Driver, world};
use crate::shared::{self, RING, Shared};
use crate::table::Ty;
use crate::tree::Tree;
use crate::world::handle;
use crate::{COMMANDS, HANDLES, fixture};
use random::Random;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

/// What a run is to do.
pub struct Plan {
    /// 2: another thread calls too, with objects of its own on the same device.
    pub threads: u32,
    pub seed: u64,
    pub iteration: u64,
    pub calls: u64,
    /// Keys of the calls to make; the others are left out.
    pub keep: Option<HashSet<u64>>,
    /// Where each call is written before it is made.
    pub trace: Option<File>,
    pub shared: &'static Shared,
}

struct Run {
    plan: Plan,
    /// Calls of the fixture by command.
    by_command: HashMap<u16, Vec<usize>>,
    commands: Vec<u16>,
    /// Those that record, and the others that have a template.
    recording: Vec<u16>,
    /// Whole command buffers: templates from begin to end.
    buffers: Vec<Vec<usize>>,
    made: u64,
    /// Something was submitted, so that waiting for all might have no end.
    submitted: bool,
    step: u64,
    part: u64,
}

/// Calls after the device was lost: there is less to be seen then.
const LOST: u64 = 60;
/// Handles of one kind that may live, about: beyond it what is there is unmade more often.
const CROWD: usize = 400;

pub fn run(plan: Plan) {
    plan.shared.phase.store(shared::FIXTURE, Relaxed);
    let base = fixture::build(plan.seed ^ plan.iteration);
    if plan.threads < 2 {
        plan.shared.phase.store(shared::CALLS, Relaxed);
        return calls(plan);
    }
    let other = Plan { seed: !plan.seed, keep: None, trace: None, ..plan };
    let driver = record::driver(|d| d.shared());
    // What one calls may keep the other's queue busy, so both are ready before either begins.
    let ready = std::sync::Barrier::new(2);
    std::thread::scope(|s| {
        let ready = &ready;
        s.spawn(move || {
            Driver::join(driver, &base);
            fixture::build_on(base, other.seed ^ other.iteration);
            other.shared.phase.store(shared::CALLS, Relaxed);
            ready.wait();
            calls(other);
        });
        ready.wait();
        calls(plan);
    });
}

fn calls(plan: Plan) {
    let mut by_command: HashMap<u16, Vec<usize>> = HashMap::new();
    let mut buffers: Vec<Vec<usize>> = vec![];
    let mut open: HashMap<u64, Vec<usize>> = HashMap::new();
    world(|w| {
        for (i, t) in w.templates.iter().enumerate() {
            by_command.entry(t.command).or_default().push(i);
            let first = t.get(0, 0, 8);
            match t.name() {
                "vkBeginCommandBuffer" => {
                    open.insert(first, vec![i]);
                }
                "vkEndCommandBuffer" => buffers.extend(open.remove(&first).map(|mut all| {
                    all.push(i);
                    all
                })),
                name if name.starts_with("vkCmd") => {
                    open.entry(first).and_modify(|all| all.push(i));
                }
                _ => {}
            }
        }
    });
    let mut commands: Vec<u16> = by_command.keys().copied().collect();
    commands.sort_unstable();
    let recording =
        (0..COMMANDS.len() as u16).filter(|c| COMMANDS[*c as usize].name.starts_with("vkCmd")).collect();
    let mut r =
        Run { plan, by_command, commands, recording, buffers, made: 0, submitted: false, step: 0, part: 0 };
    r.calls();
    // What two threads have is left to the process's end.
    if r.plan.threads < 2 {
        r.plan.shared.phase.store(shared::END, Relaxed);
        r.end();
    }
}

impl Run {
    fn rng(&self) -> Random {
        crate::arguments::seeded(self.plan.seed.rotate_left(32) ^ self.plan.iteration, self.step)
    }

    fn calls(&mut self) {
        let mut left = self.plan.calls;
        while self.made < left {
            self.step += 1;
            self.part = 0;
            let mut rng = self.rng();
            match rng.index(40) {
                0..=21 => self.known_call(&mut rng),
                22..=26 => self.command_buffer(&mut rng),
                27..=36 => self.made_up_call(&mut rng),
                37 => self.unmake(&mut rng),
                _ => scribble(&mut rng),
            }
            if world(|w| std::mem::take(&mut w.lost)) {
                left = left.min(self.made + LOST);
            }
            // With most calls left out nothing may be made at all.
            if self.step > 40 * self.plan.calls {
                break;
            }
        }
    }

    /// Whether a command is to be called now.
    fn is_time(&self, command: u16, rng: &mut Random) -> bool {
        let name = COMMANDS[command as usize].name;
        match name {
            "vkDestroyDevice" | "vkDestroyInstance" | "vkDeviceWaitIdle" if self.plan.threads > 1 => false,
            "vkDestroyDevice" | "vkDestroyInstance" => rng.once_in(150),
            "vkCreateDevice" => rng.once_in(4) && world(|w| w.live("VkDevice").len()) < 4,
            "vkCreateInstance" => rng.once_in(4) && world(|w| w.live("VkInstance").len()) < 4,
            "vkDeviceWaitIdle" | "vkQueueWaitIdle" => !self.submitted,
            _ if name.starts_with("vkDestroy") || name.starts_with("vkFree") => rng.once_in(6),
            _ => true,
        }
    }

    fn known_call(&mut self, rng: &mut Random) {
        // Where nothing is recorded little comes of a command.
        let pick = |rng: &mut Random| rng.of(&self.commands).copied();
        let is_recorded = |c: &u16| COMMANDS[*c as usize].name.starts_with("vkCmd");
        let mut chosen = pick(rng);
        while chosen.as_ref().is_some_and(is_recorded) && !rng.once_in(12) {
            chosen = pick(rng);
        }
        let Some(command) = chosen.filter(|c| self.is_time(*c, rng)) else { return };
        let Some(&t) = rng.of(&self.by_command[&command]) else { return };
        let mut tree = world(|w| w.templates[t].clone());
        let times = times(rng);
        world(|w| {
            if rng.once_in(3) {
                tree.reseat(w, rng);
            }
            tree.heal(w, rng);
            tree.mutate(times, w, rng);
        });
        self.make(tree, rng);
    }

    fn made_up_call(&mut self, rng: &mut Random) {
        let command = rng.index(COMMANDS.len()) as u16;
        if self.is_time(command, rng) {
            let tree = world(|w| Tree::from_nothing(command, w, rng));
            self.make(tree, rng);
        }
    }

    /// Something goes, whatever still uses it.
    fn unmake(&mut self, rng: &mut Random) {
        let unmakes = |c: &u16| {
            let name = COMMANDS[*c as usize].name;
            name.starts_with("vkDestroy") || name.starts_with("vkFree")
        };
        let all: Vec<u16> = (0..COMMANDS.len() as u16).filter(unmakes).collect();
        let Some(&command) = rng.of(&all) else { return };
        let whole = matches!(COMMANDS[command as usize].name, "vkDestroyDevice" | "vkDestroyInstance");
        if !whole || self.is_time(command, rng) {
            let tree = world(|w| Tree::from_nothing(command, w, rng));
            self.make(tree, rng);
        }
    }

    /// A command buffer of the fixture's once more, with changes; most are submitted.
    fn command_buffer(&mut self, rng: &mut Random) {
        let Some(all) = rng.of(&self.buffers).cloned() else { return };
        let target = world(|w| w.any(handle("VkCommandBuffer"), rng));
        // Every other run hurts its command buffers more.
        let wild = if self.plan.iteration % 2 == 1 { rng.index(12) } else { rng.index(4) };
        for t in all {
            let mut tree = world(|w| w.templates[t].clone());
            let times = if rng.index(12) < wild { times(rng) } else { 0 };
            world(|w| {
                if rng.index(24) < wild {
                    tree.reseat(w, rng);
                }
                tree.heal(w, rng);
            });
            tree.put(0, 0, 8, target);
            world(|w| tree.mutate(times, w, rng));
            if rng.index(40) >= wild {
                self.make(tree, rng);
            }
            if rng.index(60) < wild {
                self.stray(target, rng);
            }
        }
        if !rng.once_in(5) {
            self.submit(target, rng);
        }
    }

    /// Some other command in the midst of a command buffer.
    fn stray(&mut self, target: u64, rng: &mut Random) {
        let Some(&command) = rng.of(&self.recording) else { return };
        let known = self.by_command.get(&command).and_then(|all| rng.of(all)).copied();
        let mut tree = world(|w| match known.filter(|_| !rng.once_in(4)) {
            Some(t) => w.templates[t].clone(),
            None => Tree::from_nothing(command, w, rng),
        });
        world(|w| tree.heal(w, rng));
        tree.put(0, 0, 8, target);
        self.make(tree, rng);
    }

    fn submit(&mut self, target: u64, rng: &mut Random) {
        let names = ["vkQueueSubmit2", "vkQueueSubmit"];
        let known = record::id(names[rng.index(2)]).and_then(|c| self.by_command.get(&c));
        let Some(&t) = known.and_then(|all| rng.of(all)) else { return };
        let mut tree = world(|w| w.templates[t].clone());
        for p in tree.places() {
            if matches!(p.ty, Ty::Handle(t) if HANDLES[t as usize] == "VkCommandBuffer")
                && p.member.is_none_or(|m| m.pointers == 0)
            {
                tree.put(p.node, p.at, 8, target);
            }
        }
        let times = if rng.once_in(4) { 1 } else { 0 };
        world(|w| {
            tree.heal(w, rng);
            tree.mutate(times, w, rng);
        });
        let last = COMMANDS[tree.command as usize].params.len() - 1;
        let (device, fence) = world(|w| (w.any(handle("VkDevice"), rng), w.any(handle("VkFence"), rng)));
        tree.put(0, last * 8, 8, fence);
        let made = self.make(tree, rng);
        // Most work is done before it goes on.
        let fences = [fence];
        let wait = [device, 1, fences.as_ptr() as u64, 1, 50_000_000];
        let reset = [device, 1, fences.as_ptr() as u64];
        if made && !rng.once_in(4) {
            for (name, words) in [("vkWaitForFences", &wait[..]), ("vkResetFences", &reset)] {
                // SAFETY: an array of one handle.
                record::id(name).and_then(|c| unsafe { record::call(c, words) });
            }
        }
    }

    /// Makes a call; false where it is left out.
    fn make(&mut self, mut tree: Tree, rng: &mut Random) -> bool {
        self.part += 1;
        let key = self.step << 16 | self.part;
        let name = tree.name();
        let mut rng = crate::arguments::seeded(rng.u64(), key);
        if self.plan.keep.as_ref().is_some_and(|k| !k.contains(&key)) {
            return false;
        }
        let fds = world(|w| tree.settle(w, &mut rng));
        // A wait without end, where a queue may wait for what nobody signals.
        if name == "vkGetQueryPoolResults" && self.submitted {
            let flags = tree.get(0, 7 * 8, 4);
            tree.put(0, 7 * 8, 4, flags & !2);
        }
        let s = self.plan.shared;
        if let Some(file) = &mut self.plan.trace {
            let _ = writeln!(file, "{key:#x} {}", tree.text());
        }
        let n = s.calls.fetch_add(1, Relaxed);
        self.made += 1;
        let slot = &s.ring[n as usize % RING];
        slot.0.store(key, Relaxed);
        slot.1.store(tree.command as u64, Relaxed);
        self.submitted |= name.starts_with("vkQueue");
        let laid = tree.lay_out();
        // SAFETY: as the tables say, `settle` has seen to it.
        let ret = unsafe { record::call(tree.command, laid.words()) };
        let ok = ret.is_some_and(|r| !COMMANDS[tree.command as usize].fails || r as i32 >= 0);
        if !(ok && (name == "vkAllocateMemory" || name.starts_with("vkImport"))) {
            // SAFETY: the driver has not taken them, and nobody else has them.
            fds.iter().filter(|f| (0..1 << 19).contains(*f)).for_each(|f| unsafe {
                libc::close(*f);
            });
        }
        let count = &s.by_command[tree.command as usize];
        let outcome = match ret {
            None => return false,
            Some(_) if !COMMANDS[tree.command as usize].fails => &s.silent,
            Some(_) if ok => &s.succeeded,
            Some(_) => &s.failed,
        };
        outcome.fetch_add(1, Relaxed);
        count.0.fetch_add(1, Relaxed);
        count.1.fetch_add(ok as u32, Relaxed);
        s.faults.store(FAULTS.load(Relaxed), Relaxed);
        if let Some(file) = self.plan.trace.as_mut().filter(|_| COMMANDS[tree.command as usize].fails) {
            let _ = writeln!(file, "    = {}", ret.unwrap_or(0) as i32);
        }
        if ok {
            furnish(name, laid.words(), &mut rng);
        }
        self.thin_out(&mut rng);
        true
    }

    /// Unmakes one of a kind that there are very many of.
    fn thin_out(&mut self, rng: &mut Random) {
        let Some(ty) = world(|w| (0..HANDLES.len()).find(|t| w.pools[*t].live.len() > CROWD)) else { return };
        let last = |c: &crate::table::Command| {
            let handles = c.params.iter().rev().find(|p| matches!(p.ty, Ty::Handle(_)));
            handles.is_some_and(|p| p.ty == Ty::Handle(ty as u16) && p.pointers == 0)
        };
        let unmakes = |c: &&crate::table::Command| {
            (c.name.starts_with("vkDestroy") || c.name.starts_with("vkFree")) && last(c)
        };
        let Some(c) = COMMANDS.iter().find(unmakes) else { return };
        let Some(id) = record::id(c.name) else { return };
        let words = world(|w| [w.any(handle("VkDevice"), rng), w.any(ty as u16, rng), 0]);
        // SAFETY: a device, a handle and no allocator.
        unsafe { record::call(id, &words[..c.params.len()]) };
    }

    /// The devices and instances go, in some order, and are called afterwards.
    fn end(&mut self) {
        self.step += 1;
        let mut rng = self.rng();
        let all = |names: &[&str]| {
            let of = |n: &&str| world(|w| w.live(n).to_vec());
            names.iter().flat_map(|n| of(n).into_iter().map(|h| (n.to_string(), h))).collect::<Vec<_>>()
        };
        let order: &[&str] = match rng.index(4) {
            0 => &["VkInstance", "VkDevice"],
            1 => &[],
            _ => &["VkDevice", "VkInstance"],
        };
        for (name, h) in all(order) {
            let unmake = format!("vkDestroy{}", &name[2..]);
            if let Some(file) = &mut self.plan.trace {
                let _ = writeln!(file, "end {unmake} {h:#x}");
            }
            // SAFETY: a handle and no allocator.
            if let Some(c) = record::id(&unmake) {
                unsafe { record::call(c, &[h, 0]) };
                let s = self.plan.shared;
                s.calls.fetch_add(1, Relaxed);
                s.silent.fetch_add(1, Relaxed);
                s.by_command[c as usize].0.fetch_add(1, Relaxed);
                s.by_command[c as usize].1.fetch_add(1, Relaxed);
            }
            for _ in 0..20 {
                self.step += 1;
                self.part = 0;
                let mut rng = self.rng();
                self.known_call(&mut rng);
            }
        }
    }
}

/// Gives most of what was just made its memory.
fn furnish(name: &str, words: &[u64], rng: &mut Random) {
    let bind = match name {
        "vkCreateBuffer" => "vkBindBufferMemory",
        "vkCreateImage" => "vkBindImageMemory",
        _ => return,
    };
    if !rng.once_in(4) {
        let memory = world(|w| w.any(handle("VkDeviceMemory"), rng));
        let offset = 256 * rng.index(4) as u64 * rng.index(2) as u64;
        // SAFETY: a handle was written; handles and a number.
        let call = |c| unsafe { record::call(c, &[words[0], *(words[3] as *const u64), memory, offset]) };
        record::id(bind).and_then(call);
    }
}

/// How many values of a call are changed.
fn times(rng: &mut Random) -> usize {
    match rng.index(8) {
        0 | 1 => 0,
        2..=4 => 1,
        5 | 6 => 2,
        _ => 3 + rng.index(4),
    }
}

/// Writes anything into memory that the driver has mapped.
fn scribble(rng: &mut Random) {
    let all: Vec<(u64, u64)> = world(|w| w.mapped.values().copied().collect());
    let Some(&(at, len)) = rng.of(&all) else { return };
    // A mapping begins where the program's offset says.
    let to = at.next_multiple_of(4) as *mut u32;
    let words = (len.saturating_sub(3).min(1 << 20) / 4) as usize;
    for _ in 0..rng.index(24) {
        if words > 0 {
            // As counts of work most are small: what never ends loses the device, and little is seen after that.
            let v = if rng.once_in(8) { crate::arguments::number(rng) } else { rng.index(12) as u64 };
            // SAFETY: in the mapping, which is there until it is unmapped or freed; the device may read it meanwhile.
            unsafe { to.add(rng.index(words)).write_volatile(v as u32) };
        }
    }
}
