//! Live intervals over the final order, and coalescing of copies.
//!
//! The arms of a divergent branch run one after the other, so liveness is taken over the order of ops, not over the
//! graph: a register is held from its first to its last occurrence, and through every loop that an occurrence lies
//! in but its home does not. That covers lanes that wait: whatever they will read lies within the interval.
//! Only header phis have two ranges, before their last use and after the copy on the back edge, so that the next
//! iteration's value may be computed in place.
//!
//! Coalescing has two rounds. First a copy goes away when its registers are never live together, or only while both
//! hold the same value. Then a copy at the end of an arm, of a value into a register in which other lanes already
//! wait for the merge block, is moved up to where the value is computed: from there on the executing lanes have no
//! use for the register's old value, so the write need only be masked. That keeps an arm from holding two registers
//! for each variable it changes. Nobody may leave by a uniform jump in between.
//! Last, a value with which lanes leave a loop stays where the loop has it, if all that write there may do so under the mask.

use super::lir::{COPIES, Inst, Lir, NONE, V, flag::*};
use super::web::{LiveRange, LiveRanges, Occurrence, Occurrences, Ring, Set, reads_first};
use crate::bytecode::Code;
use crate::options::Result;
use crate::trees::MaxTree;
use crate::work::Work;
use rustc_hash::FxHashSet;
use smallvec::smallvec;
use std::cell::Cell;

/// Sets of virtual registers that share a register.
pub struct Webs {
    parent: Vec<V>,
    /// First to last occurrence of each register; `lo` is `u32::MAX` for what never occurs.
    hull: Vec<LiveRange>,
    /// What is known of sets with copies, and which set each register is in (root registers only).
    sets: Vec<Set>,
    index: Vec<u32>,
    /// Registers whose op must write a temporary that is then moved under the mask: (instruction, register).
    pub masked_defs: FxHashSet<(u32, V)>,
    /// Copies that must be masked now: their flags' places in [`Lir::ext`].
    pub masked_copies: Vec<u32>,
}

/// Calls `f(register, written)` for each field of an op but copies.
pub fn fields(lir: &Lir, op: &Inst, mut f: impl FnMut(V, bool)) {
    let mut field = |v: V, def: bool| {
        if v != NONE {
            f(v, def);
        }
    };
    field(op.a, false);
    field(op.c, false);
    field(op.b, op.flags & B_DEF != 0);
    field(op.d, op.flags & D_DEF != 0);
    if op.flags & (EXT_DEF | EXT_USE) != 0 {
        for i in 0..op.ext_len {
            field(lir.ext[(op.ext + i) as usize], op.writes_extension(i));
        }
    }
    if op.code == Code::IMAGE {
        let image = &lir.images[op.imm as usize];
        image.uses.iter().for_each(|v| field(*v, false));
        image.results.iter().for_each(|v| field(*v, true));
        field(image.residency, true);
    }
}

const EMPTY: LiveRange = LiveRange { lo: u32::MAX, hi: 0 };

struct Intervals<'a> {
    lir: &'a Lir,
    whole: Vec<LiveRange>,
    /// Header phis: last use within the loop, and the copy on the back edge.
    last_use: Vec<u32>,
    back: Vec<u32>,
    /// Registers of copies, whose occurrences are kept.
    kept: Vec<bool>,
    occurrences: Vec<Occurrence>,
}

impl Intervals<'_> {
    fn holds(&self, l: u32, home: u32) -> bool {
        if l == NONE {
            return true;
        }
        if home == NONE {
            return false;
        }
        let (a, b) = (self.lir.loops[l as usize], self.lir.loops[home as usize]);
        a.0 <= b.0 && b.1 <= a.1
    }

    /// What an occurrence at `p` in loop `l` needs of a register that lives in `home`.
    fn extent(&self, p: u32, mut l: u32, home: u32) -> LiveRange {
        let mut outermost = NONE;
        while l != home && !self.holds(l, home) {
            outermost = l;
            l = self.lir.loop_parent[l as usize];
        }
        if outermost == NONE {
            return LiveRange { lo: p, hi: p };
        }
        let (lo, hi) = self.lir.loops[outermost as usize];
        LiveRange { lo: lo.min(p), hi: hi.max(p) }
    }

    /// `flag`: of a copy, where its masked flag is. Returns what the occurrence holds the register for.
    fn touch(&mut self, v: V, p: u32, def: bool, flag: Option<u32>) -> LiveRange {
        let copy = flag.is_some();
        let flag = flag.unwrap_or(NONE);
        let reads = copy && !def;
        let l = if reads { self.lir.insts[p as usize].imm } else { self.lir.loop_at[p as usize] };
        let vreg = self.lir.vregs[v as usize];
        let mut extent = self.extent(p, l, vreg.home);
        if vreg.header_of != NONE {
            let (first, last) = self.lir.loops[vreg.header_of as usize];
            let inside = (first..=last).contains(&p);
            if inside && copy && def {
                self.back[v as usize] = p;
                let extent = LiveRange { lo: p, hi: p };
                self.occurrences.push(Occurrence { extent, at: p, v, def, flag });
                return extent;
            }
            if inside {
                let used = self.extent(p, l, vreg.header_of).hi;
                self.last_use[v as usize] = self.last_use[v as usize].max(used);
                extent = LiveRange { lo: p, hi: used };
            }
        }
        if self.kept[v as usize] {
            self.occurrences.push(Occurrence { extent, at: p, v, def, flag });
        }
        let whole = &mut self.whole[v as usize];
        whole.lo = whole.lo.min(extent.lo);
        whole.hi = whole.hi.max(extent.hi);
        extent
    }
}

pub fn webs(lir: &Lir, work: &Work) -> Result<Webs> {
    let n = lir.vregs.len();
    let mut it = Intervals {
        lir,
        whole: vec![EMPTY; n],
        last_use: vec![0; n],
        back: vec![NONE; n],
        kept: vec![false; n],
        occurrences: vec![],
    };
    let mut count = 0;
    for op in lir.insts.iter().filter(|op| op.code == COPIES) {
        let group = &lir.ext[op.ext as usize..(op.ext + op.ext_len) as usize];
        count += group.len() / 3;
        for c in group.chunks_exact(3) {
            it.kept[c[0] as usize] = true;
            it.kept[c[1] as usize] = true;
        }
    }
    lir.consts.iter().for_each(|c| it.kept[c.0 as usize] = false);
    let mut copies = Vec::with_capacity(count);
    it.occurrences.reserve(count * 9 / 2);
    for (p, op) in lir.insts.iter().enumerate() {
        let p = p as u32;
        if op.code == COPIES {
            let group = &lir.ext[op.ext as usize..(op.ext + op.ext_len) as usize];
            for (i, c) in group.chunks_exact(3).enumerate() {
                let flag = op.ext + 3 * i as u32 + 2;
                it.touch(c[1], p, false, Some(flag));
                let own = it.touch(c[0], p, true, Some(flag));
                copies.push(Copy { p, dst: c[0], src: c[1], flag, own });
            }
        } else {
            fields(lir, op, |v, def| {
                it.touch(v, p, def, None);
            });
        }
    }
    for (_, v) in &lir.inputs {
        if it.whole[*v as usize] != EMPTY {
            it.whole[*v as usize].lo = 0;
        }
    }
    let (mut hull, back) = (it.whole, it.back);
    let mut second = vec![];
    for (v, vreg) in lir.vregs.iter().enumerate() {
        if vreg.pinned && hull[v] != EMPTY {
            hull[v] = LiveRange { lo: 0, hi: u32::MAX };
        } else if vreg.header_of != NONE && hull[v] != EMPTY {
            let (_, end) = lir.loops[vreg.header_of as usize];
            let (back, whole) = (back[v], hull[v]);
            hull[v].hi = whole.hi.max(end);
            if back != NONE && whole.hi <= back {
                second.push((v as V, whole, LiveRange { lo: back, hi: end }));
            }
        }
    }
    let mut webs = Webs {
        parent: (0..n as V).collect(),
        hull,
        sets: vec![],
        index: vec![],
        masked_defs: Default::default(),
        masked_copies: vec![],
    };
    coalesce(lir, &mut webs, copies, &second, it.occurrences, work)?;
    Ok(webs)
}

/// One copy of a group: its instruction, registers, and where its masked flag is.
#[derive(Clone, Copy)]
struct Copy {
    p: u32,
    dst: V,
    src: V,
    flag: u32,
    /// What its definition holds the register for.
    own: LiveRange,
}

fn coalesce(
    lir: &Lir,
    webs: &mut Webs,
    mut copies: Vec<Copy>,
    second: &[(V, LiveRange, LiveRange)],
    occurrences: Vec<Occurrence>,
    work: &Work,
) -> Result<()> {
    let mut depth = vec![0u32; lir.loops.len()];
    for l in 0..lir.loops.len() {
        let parent = lir.loop_parent[l];
        depth[l] = if parent == NONE { 1 } else { depth[parent as usize] + 1 };
    }
    let mut is_const = vec![false; lir.vregs.len()];
    lir.consts.iter().for_each(|c| is_const[c.0 as usize] = true);
    // Sets of those that take part.
    let mut index = vec![NONE; lir.vregs.len()];
    let mut sets: Vec<Set> = Vec::with_capacity(copies.len() * 9 / 8);
    for &Copy { p, dst, src, .. } in &copies {
        for v in [dst, src] {
            if index[v as usize] == NONE {
                index[v as usize] = sets.len() as u32;
                sets.push(Set::of(v, webs.hull[v as usize]));
            }
        }
        sets[index[dst as usize] as usize].defs.add(p, [1]);
    }
    for &(v, a, b) in second {
        if index[v as usize] != NONE {
            sets[index[v as usize] as usize].ranges = smallvec![a, b];
        }
    }
    for &Copy { src, .. } in &copies {
        let set = &mut sets[index[src as usize] as usize];
        if set.defs.len() == 0 {
            // Written by one op, where it begins (or by the engine).
            set.defs.add(set.ranges[0].lo, [1]);
        }
    }
    let alike = |c: &Copy| {
        let (d, s) = (&lir.vregs[c.dst as usize], &lir.vregs[c.src as usize]);
        !is_const[c.src as usize]
            && !d.pinned
            && !s.pinned
            && d.ty == s.ty
            && d.uniform == s.uniform
            && d.handle == s.handle
    };
    copies.retain(alike);
    let ring: Vec<Cell<V>> = (0..lir.vregs.len() as V).map(Cell::new).collect();
    // Those of inner loops first, each depth's in their order.
    let depth_of = |c: &Copy| match lir.loop_at[c.p as usize] {
        NONE => 0,
        l => depth[l as usize] as usize,
    };
    let mut by_depth: Vec<Vec<u32>> = vec![vec![]; 1 + depth.iter().max().copied().unwrap_or(0) as usize];
    copies.iter().enumerate().for_each(|(i, c)| by_depth[depth_of(c)].push(i as u32));
    let mut stays = vec![false; copies.len()];
    for i in by_depth.into_iter().rev().flatten() {
        let c = copies[i as usize];
        let (x, y) = (webs.find(c.dst), webs.find(c.src));
        if x == y {
            continue;
        }
        let (a, b) = (index[x as usize] as usize, index[y as usize] as usize);
        work.spend(sets[a].ranges.len() + sets[b].ranges.len())?;
        match join(lir, &sets[a], &sets[b], c.p) {
            Some(ranges) => webs.unite(&mut sets, [x, y], [a, b], c.p, ranges, &ring, None, work)?,
            None => stays[i as usize] = true,
        }
    }
    // Outer arms first: their copies' sources are often merged in inner ones.
    let mut at = copies.len();
    let mut left = Vec::with_capacity(copies.len());
    for together in copies.chunk_by(|a, b| a.p == b.p).rev() {
        at -= together.len();
        left.extend(together.iter().zip(&stays[at..]).filter(|c| *c.1).map(|c| *c.0));
    }
    // Flags that are set meanwhile: few.
    let mut flags = FxHashSet::<u32>::default();
    let mut leaves = Leaves { lir, tree: None };
    let (mut occurrences, mut all) = (Some(occurrences), None);
    for c in &left {
        let (x, y) = (webs.find(c.dst), webs.find(c.src));
        if x == y {
            continue;
        }
        let (a, b) = (index[x as usize] as usize, index[y as usize] as usize);
        work.spend(sets[a].ranges.len() + sets[b].ranges.len())?;
        let Some(lo) = before_copy(&sets[a], &sets[b], c) else { continue };
        let all =
            all.get_or_insert_with(|| Occurrences::new(lir, &ring, occurrences.take().unwrap_or_default()));
        sets[a].expect_places(all, work)?;
        sets[b].expect_places(all, work)?;
        let masked = lir.ext[c.flag as usize] != 0 || flags.contains(&c.flag);
        let Some(op) = move_up(masked, lo, [&sets[a], &sets[b]], c, all, &mut leaves, work)? else {
            continue;
        };
        if masked {
            let copies = sets[b].take_flags(all);
            flags.extend(&copies);
            webs.masked_copies.extend(copies);
            webs.masked_defs.extend(op);
        }
        let mut ranges = sets[a].ranges.clone();
        ranges.extend_from_slice(&sets[b].ranges);
        webs.unite(&mut sets, [x, y], [a, b], c.p, merged(ranges), &ring, Some(all), work)?;
    }
    for c in left.iter().filter(|c| c.own.lo < c.own.hi) {
        let (x, y) = (webs.find(c.dst), webs.find(c.src));
        if x == y || lir.vregs[c.dst as usize].uniform {
            continue;
        }
        let (a, b) = (index[x as usize] as usize, index[y as usize] as usize);
        work.spend(sets[a].ranges.len() + sets[b].ranges.len())?;
        let all =
            all.get_or_insert_with(|| Occurrences::new(lir, &ring, occurrences.take().unwrap_or_default()));
        let Some((copies, ops)) = leave(lir, [&sets[a], &sets[b]], c, all, &webs.masked_defs, work)? else {
            continue;
        };
        webs.masked_copies.extend(copies);
        webs.masked_defs.extend(ops);
        let mut ranges = sets[a].ranges.clone();
        ranges.extend_from_slice(&sets[b].ranges);
        webs.unite(&mut sets, [x, y], [a, b], c.p, merged(ranges), &ring, Some(all), work)?;
    }
    webs.sets = sets;
    webs.index = index;
    Ok(())
}

/// Finds jumps that leave loops.
struct Leaves<'a> {
    lir: &'a Lir,
    /// Where each instruction jumps, if it is such a jump; for long ways.
    tree: Option<MaxTree>,
}

impl Leaves<'_> {
    fn target(lir: &Lir, op: &Inst) -> u32 {
        let jumps = matches!(op.code, Code::JMP | Code::JMP_UNLESS | Code::CMP_JMP);
        if jumps { lir.labels[op.imm as usize] } else { 0 }
    }
    /// An instruction from `lo` up to `p` jumps beyond it.
    fn any(&mut self, lo: u32, p: u32) -> bool {
        let lir = self.lir;
        if p - lo < 32 {
            return lir.insts[lo as usize..p as usize].iter().any(|op| Self::target(lir, op) > p);
        }
        let all = || MaxTree::new(lir.insts.iter().map(|op| Self::target(lir, op)));
        self.tree.get_or_insert_with(all).max(lo as usize, p as usize) > p
    }
}

fn merged(mut ranges: LiveRanges) -> LiveRanges {
    ranges.sort_unstable();
    let mut out = LiveRanges::new();
    for s in ranges {
        match out.last_mut() {
            Some(last) if s.lo <= last.hi => last.hi = last.hi.max(s.hi),
            _ => out.push(s),
        }
    }
    out
}

/// Where `b` begins, if it lives before the copy alone and `a` before it.
fn before_copy(a: &Set, b: &Set, c: &Copy) -> Option<u32> {
    let (lo, hi) = (b.ranges.first()?.lo, b.ranges.last()?.hi);
    let first = a.defs.first().is_none_or(|d| d >= c.p);
    (hi <= c.p && !first && a.ranges.first()?.lo < lo).then_some(lo)
}

/// Whether `b` may live in `a`'s register from its definition at `lo` up to the copy; and the op that must write under
/// the mask for that, if there is one.
fn move_up(
    masked: bool,
    lo: u32,
    [a, b]: [&Set; 2],
    c: &Copy,
    all: &Occurrences,
    leaves: &mut Leaves,
    work: &Work,
) -> Result<Option<Option<(u32, V)>>> {
    // Who leaves a loop before the copy may still read the register's old value.
    if a.busy(all, lo, c.p, c.own, work)? || leaves.any(lo, c.p) {
        return Ok(None);
    }
    if !masked {
        return Ok(Some(None));
    }
    let lir = leaves.lir;
    let op = b.masks(all, lir.loop_at[c.p as usize]);
    Ok(op.filter(|_| lo >= lir.prologue && b.defs.len() != 0))
}

/// Flags of copies and ops that must write under the mask for it.
type Masked = (Vec<u32>, Vec<(u32, V)>);

/// Whether a value with which lanes leave a loop may stay where the loop has it: `a`, what the copy at `c.p` writes, is needed behind
/// the loop alone, and `b`, what it reads, before that. Who is still in the loop then writes under the mask. One op may be moved from
/// a temporary for it that was not before.
fn leave(
    lir: &Lir,
    [a, b]: [&Set; 2],
    c: &Copy,
    all: &Occurrences,
    masked: &FxHashSet<(u32, V)>,
    work: &Work,
) -> Result<Option<Masked>> {
    let range = c.own;
    let (Some(first), Some(last)) = (a.ranges.first(), b.ranges.last()) else { return Ok(None) };
    let apart = range.lo >= lir.prologue && first.lo >= range.lo && last.hi <= range.hi;
    // Lanes that leave an inner loop alone still write there.
    let stay =
        lir.loops.get(lir.insts[c.p as usize].b as usize).is_some_and(|l| l.0 >= range.lo && l.1 <= range.hi);
    if !apart || stay || b.defs.len() == 0 || !(range.lo..=range.hi).contains(&c.p) {
        return Ok(None);
    }
    let (Some(exits), Some(writes)) = (a.exits(all, range, work)?, b.within(all, range, work)?) else {
        return Ok(None);
    };
    let mut ops = writes.ops;
    ops.retain(|op| !masked.contains(op));
    let flags = exits.flags.into_iter().chain(writes.flags).filter(|f| *f != NONE);
    Ok((ops.len() <= 1).then(|| (flags.collect(), ops)))
}

/// The union of where two sets are live, unless they interfere. They may meet in hand-over points, and overlap from
/// the copy at `p` of `b` into `a` on, while neither is written: both hold the same value there.
fn join(lir: &Lir, a: &Set, b: &Set, p: u32) -> Option<LiveRanges> {
    let mut out = LiveRanges::with_capacity(a.ranges.len() + b.ranges.len());
    let (mut i, mut j) = (0, 0);
    while i < a.ranges.len() || j < b.ranges.len() {
        let from_a = j == b.ranges.len() || (i < a.ranges.len() && a.ranges[i] < b.ranges[j]);
        let next = if from_a {
            i += 1;
            a.ranges[i - 1]
        } else {
            j += 1;
            b.ranges[j - 1]
        };
        match out.last_mut() {
            Some(last) if next.lo < last.hi => {
                let same =
                    from_a && next.lo == p && last.lo < p && !written(lir, a, b, p, next.hi.min(last.hi));
                if !same {
                    return None;
                }
                last.hi = last.hi.max(next.hi);
            }
            Some(last) if next.lo == last.hi => {
                if !hand_over(lir, last, next.lo) {
                    return None;
                }
                last.hi = next.hi;
            }
            _ => out.push(next),
        }
    }
    Some(out)
}

/// Either set is written after `p` and before `end`, or at `end` while the other may still be read there.
fn written(lir: &Lir, a: &Set, b: &Set, p: u32, end: u32) -> bool {
    let late = |q: u32| q < end || (q == end && !reads_first(lir, q));
    a.next_def(p).is_some_and(late) || b.next_def(p).is_some_and(late)
}

/// At `p` one value may end and the next begin in the same register.
fn hand_over(lir: &Lir, before: &LiveRange, p: u32) -> bool {
    before.lo < p && reads_first(lir, p)
}

impl Webs {
    /// Puts the set of `y` into that of `x`; the copy at `p` between them is gone.
    fn unite(
        &mut self,
        sets: &mut [Set],
        [x, y]: [V; 2],
        [a, b]: [usize; 2],
        p: u32,
        ranges: LiveRanges,
        ring: &Ring,
        all: Option<&Occurrences>,
        work: &Work,
    ) -> Result<()> {
        let other = std::mem::take(&mut sets[b]);
        sets[a].unite(other, p, ranges, ring, all, work)?;
        self.parent[y as usize] = x;
        Ok(())
    }

    /// The register stands for a set that occurs somewhere.
    pub fn is_root(&self, v: V) -> bool {
        self.parent[v as usize] == v && self.occurs(v)
    }

    pub fn occurs(&self, v: V) -> bool {
        self.hull[v as usize] != EMPTY
    }

    /// Where the set of root `v` is live: sorted, disjoint.
    pub fn ranges(&self, v: V) -> &[LiveRange] {
        match self.index.get(v as usize) {
            Some(&i) if i != NONE => &self.sets[i as usize].ranges,
            _ => std::slice::from_ref(&self.hull[v as usize]),
        }
    }

    pub fn find(&mut self, v: V) -> V {
        let mut root = v;
        while self.parent[root as usize] != root {
            root = self.parent[root as usize];
        }
        let mut v = v;
        while self.parent[v as usize] != root {
            v = std::mem::replace(&mut self.parent[v as usize], root);
        }
        root
    }
}
