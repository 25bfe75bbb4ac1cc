//! Follows undefined values through a shader: each value that may be undefined gets a shadow, which says in each lane where the
//! undefined value was born (0: it is defined; else a site's number plus [`FIRST`]). Where such a value decides something, a probe tells the
//! machine its shadow.
//!
//! Words of the workgroup's memory and private words have shadows too, in as many words more. Copying is not deciding: a shadow goes with
//! the value through memory of these two kinds. Other memory has none: undefined words of it are told by what they hold ([`super::memory`]).
//!
//! Where it is not known whether an undefined bit matters, the result counts as defined (`x & mask`): nothing is reported that is right.

use crate::interface::POSITION;
use crate::ir::*;
use crate::isa::operands;
use std::collections::HashMap;

/// Numbers of memory's shadows below this: 0 is a word that nothing has written, 1 a defined one.
const FIRST: u32 = 2;
/// Private words that a shader may have for shadows to be added.
const MAX_WORDS: u32 = 1 << 14;

pub(super) struct Shadows<'a> {
    pub(super) shader: &'a mut Shader,
    invocation: [Value; 2],
    /// The checks of image operations, which tell where texels are undefined.
    checks: HashMap<Value, Value>,
    /// What undefined memory holds, if that is known.
    pub(super) pattern: Option<u32>,
    /// Blocks that end loops, with these loops' headers.
    turns: Vec<(usize, usize)>,
    /// Values that may be undefined.
    may: Vec<bool>,
    /// Their shadows; of a tuple those of its parts.
    of: Vec<Option<Value>>,
    parts: Vec<Vec<Value>>,
    /// What the block holds so far.
    out: Vec<Value>,
    pub(super) origin: Origin,
    stretch: usize,
    /// Bytes of the workgroup's memory and private words before shadows were added; 0: these have none.
    shared: u32,
    scratch: u32,
}

/// Adds shadows, and probes where values decide something.
pub(super) fn add(
    shader: &mut Shader,
    invocation: [Value; 2],
    checks: HashMap<Value, Value>,
    pattern: Option<u32>,
) {
    let compute = shader.stage == Stage::Compute;
    // Other stages have memory that the machine writes, and outputs that are memory: what they hand to each other.
    let followed = matches!(shader.stage, Stage::Compute | Stage::Vertex | Stage::Fragment);
    let shared =
        if compute && !shader.shared_is_initialized { shader.shared_bytes.next_multiple_of(16) } else { 0 };
    let private = followed && shader.scratch_words <= MAX_WORDS;
    let scratch = if private { shader.scratch_words } else { 0 };
    let n = shader.values.len();
    let mut all = Shadows {
        shader,
        invocation,
        checks,
        pattern,
        turns: vec![],
        may: vec![false; n],
        of: vec![None; n],
        parts: vec![vec![]; n],
        out: vec![],
        origin: Origin::default(),
        stretch: 0,
        shared,
        scratch,
    };
    if followed {
        all.turns = all.closed_loops();
        all.find();
        all.phis();
        for b in 0..all.shader.blocks.len() {
            all.block(b);
        }
        all.sources();
    }
    let s = all.shader;
    if shared != 0 {
        s.shared_bytes = 2 * shared;
    }
    if scratch != 0 {
        let [from, to] = s.zeroed;
        s.zeroed = [if from == to { scratch } else { from.min(scratch) }, 2 * scratch];
        s.scratch_words = 2 * scratch;
    }
    for v in &mut s.values {
        if v.inst == Inst::Input(Input::Undefined) {
            v.inst = Inst::Const(0);
        }
    }
}

impl Shadows<'_> {
    /// Finds the values that may be undefined: those that are born so, and those made of them.
    fn find(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for v in 0..self.may.len() {
                if !self.may[v] && self.may_be(Value(v as u32)) {
                    self.may[v] = true;
                    changed = true;
                }
            }
        }
    }

    fn may_be(&self, v: Value) -> bool {
        let s = &*self.shader;
        let is = |v: &Value| self.may[v.0 as usize];
        match &s.data(v).inst {
            Inst::Input(Input::Undefined) => true,
            Inst::Input(Input::Varying(_)) => self.pattern.is_some() && s.stage == Stage::Vertex,
            Inst::Load { place: Place::Shared { .. }, .. } => self.shared != 0,
            Inst::Load { place: Place::Scratch { .. }, .. } => self.scratch != 0,
            Inst::Load { place, .. } => self.has_pattern(place),
            Inst::Atomic { place: Place::Shared { .. }, .. } => self.shared != 0,
            Inst::Atomic { place, mem: Mem::B32, .. } => self.has_pattern(place),
            Inst::Image(i) => self.pattern.is_some() && i.parts() != 0 && self.checks.contains_key(&v),
            Inst::Bin(Bin::And, a, b) | Inst::Bin(Bin::BAnd | Bin::BOr, a, b) => {
                let masks = s.as_const(*a).or(s.as_const(*b)).is_some();
                !masks && (is(a) || is(b))
            }
            Inst::Tri(Tri::BitSelect, _, a, b) => is(a) && is(b),
            inst @ (Inst::Un(..) | Inst::Bin(..) | Inst::Tri(..)) => {
                let mut any = self.born(v).is_some();
                operands(inst, |o| any |= is(&o));
                any
            }
            Inst::Phi(sources) => sources.iter().any(|(_, o)| is(o)),
            Inst::Part(tuple, _) => is(tuple),
            Inst::First(a) | Inst::Quad(_, a) | Inst::Shuffle(a, _) => is(a),
            _ => false,
        }
    }

    /// How an arithmetic result may be undefined though its operands are defined.
    fn born(&self, v: Value) -> Option<Undefined> {
        let s = &*self.shader;
        if s.ty(v) != Ty::B32 {
            return None;
        }
        let constant = |v: &Value| s.as_const(*v);
        match &s.data(v).inst {
            Inst::Bin(Bin::UDiv | Bin::URem | Bin::SDiv | Bin::SRem | Bin::SMod, _, by) => {
                constant(by).is_none_or(|c| c == 0).then_some(Undefined::DivisionByZero)
            }
            Inst::Bin(Bin::Shl | Bin::LShr | Bin::AShr, _, by) => {
                constant(by).is_none_or(|c| c > 31).then_some(Undefined::Shift)
            }
            Inst::Un(Un::F32ToS32 | Un::F32ToU32, _) => Some(Undefined::Conversion),
            Inst::Un(Un::FSqrt | Un::FRsqrt | Un::FRcp | Un::FLog | Un::FLog2 | Un::FAsin | Un::FAcos, _)
            | Inst::Bin(Bin::FDiv | Bin::FPow | Bin::FMod | Bin::FRem, ..) => Some(Undefined::NotFinite),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, inst: Inst, ty: Ty) -> Value {
        self.shader.values.push(ValueData { inst, ty, flags: ValueFlags::default() });
        let v = Value(self.shader.values.len() as u32 - 1);
        self.out.push(v);
        v
    }
    pub(super) fn word(&mut self, bits: u32) -> Value {
        self.push(Inst::Const(bits as u64), Ty::B32)
    }
    pub(super) fn bin(&mut self, op: Bin, a: Value, b: Value, ty: Ty) -> Value {
        self.push(Inst::Bin(op, a, b), ty)
    }
    pub(super) fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        self.push(Inst::Tri(Tri::Select, c, a, b), Ty::B32)
    }
    /// The number of a new site where undefined values are born.
    pub(super) fn birth(&mut self, undefined: Undefined) -> Value {
        let site = Site { undefined: Some(undefined), ..Site::new(ProbeOp::Fault, self.origin) };
        self.shader.sites.push(site);
        let number = self.shader.sites.len() as u32 - 1 + FIRST;
        self.word(number)
    }
    fn shadow(&self, v: Value) -> Option<Value> {
        self.of.get(v.0 as usize).copied().flatten()
    }
    /// The larger of shadows: defined only where all are.
    fn join(&mut self, of: impl IntoIterator<Item = Value>) -> Option<Value> {
        of.into_iter()
            .filter_map(|v| self.shadow(v))
            .collect::<Vec<_>>()
            .into_iter()
            .fold(None, |all, s| Some(all.map_or(s, |all| self.bin(Bin::UMax, all, s, Ty::B32))))
    }

    /// Phis' shadows are there before the values of their sources have any.
    fn phis(&mut self) {
        for v in 0..self.may.len() {
            if self.may[v] && matches!(self.shader.values[v].inst, Inst::Phi(_)) {
                let shadow = self.push(Inst::Phi(vec![]), Ty::B32);
                self.of[v] = Some(shadow);
            }
        }
        self.out.clear();
    }

    /// Fills in the sources of phis' shadows; a defined one's is the 0 at the end of the way's block.
    fn sources(&mut self) {
        for v in 0..self.may.len() {
            let Inst::Phi(sources) = &self.shader.values[v].inst else { continue };
            let Some(shadow) = self.of[v] else { continue };
            let sources = sources.clone();
            let sources = sources.into_iter().map(|(b, o)| {
                let s = self.shadow(o).unwrap_or_else(|| {
                    self.out.clear();
                    let zero = self.word(0);
                    self.shader.blocks[b.0 as usize].insts.push(zero);
                    zero
                });
                (b, s)
            });
            let sources = sources.collect();
            self.shader.values[shadow.0 as usize].inst = Inst::Phi(sources);
        }
    }

    fn block(&mut self, b: usize) {
        let old = std::mem::take(&mut self.shader.blocks[b].insts);
        let is_phi = |v: &&Value| matches!(self.shader.data(**v).inst, Inst::Phi(_));
        let phis = old.iter().take_while(is_phi).count();
        // Phis first, their shadows with them.
        for &v in &old[..phis] {
            self.out.push(v);
            self.out.extend(self.shadow(v));
        }
        for &v in &old[phis..] {
            let told = self.shader.origin(v, &mut self.stretch);
            self.origin = if told == Origin::default() { self.shader.blocks[b].origin } else { told };
            self.sinks(v);
            self.added_to(v);
            self.memory_before(v);
            self.out.push(v);
            if (v.0 as usize) < self.may.len() && self.may[v.0 as usize] {
                self.value(v);
            }
        }
        if let Some(header) = self.turns.iter().find(|t| t.0 == b).map(|t| t.1) {
            self.turn(header);
        }
        if let Term::Branch { cond, .. } = self.shader.blocks[b].term {
            self.decides(Decides::Branch, cond);
        }
        self.shader.blocks[b].insts = std::mem::take(&mut self.out);
    }

    /// Values before shadows were added.
    pub(super) fn may_len(&self) -> usize {
        self.may.len()
    }

    /// The probe of a value that decides something.
    fn decides(&mut self, what: Decides, v: Value) {
        self.decides_as(what, v, 4);
    }

    /// `bytes`: what memory gets of it.
    fn decides_as(&mut self, what: Decides, v: Value, bytes: u32) {
        let Some(shadow) = self.shadow(v) else { return };
        // Where a copy ends up a NaN keeps its bits.
        let copied = self.copied(v);
        let value = match self.shader.ty(v) {
            Ty::B32 => Some(copied),
            Ty::B64 => Some(self.push(Inst::Un(Un::Lo32, copied), Ty::B32)),
            _ => None,
        };
        self.fault(what, shadow, value, bytes);
    }

    /// The probe of a shadow.
    pub(super) fn fault(&mut self, what: Decides, shadow: Value, value: Option<Value>, bytes: u32) {
        let value = value.unwrap_or_else(|| self.word(0));
        let site = Site { decides: Some(what), bytes, ..Site::new(ProbeOp::Fault, self.origin) };
        self.shader.sites.push(site);
        let site = self.shader.sites.len() as u32 - 1;
        let [group, local] = self.invocation;
        self.push(
            Inst::Probe { op: ProbeOp::Fault, site, args: vec![shadow, value, group, local] },
            Ty::Void,
        );
    }

    /// A component of an output that nothing writes: no decision of the shader's, for blocks have members that are not used, and colours
    /// are often written without alpha.
    fn is_unwritten(&self, v: Value) -> bool {
        self.shader.data(self.copied(v)).inst == Inst::Input(Input::Undefined)
    }

    /// What a value is a copy of.
    fn copied(&self, mut v: Value) -> Value {
        while let Inst::Un(Un::FCanon | Un::Mov | Un::F16Round, of) = self.shader.data(v).inst {
            v = of;
        }
        v
    }

    /// A texel as an image operation gave it, or a choice that it takes part in: what is stored of it is a copy.
    fn is_texel(&self, v: Value) -> bool {
        self.is_texel_after(v, 4)
    }

    /// `ways`: choices that are followed.
    fn is_texel_after(&self, v: Value, ways: u32) -> bool {
        match &self.shader.data(self.copied(v)).inst {
            Inst::Part(tuple, _) => matches!(self.shader.data(*tuple).inst, Inst::Image(_)),
            Inst::Tri(Tri::Select, _, a, b) if ways > 0 => {
                [a, b].into_iter().any(|v| self.is_texel_after(*v, ways - 1))
            }
            Inst::Phi(sources) if ways > 0 => sources.iter().any(|(_, v)| self.is_texel_after(*v, ways - 1)),
            _ => false,
        }
    }

    /// Probes before an instruction: addresses, and values that others see.
    fn sinks(&mut self, v: Value) {
        let seen = |place: &Place| matches!(place, Place::Buffer { .. } | Place::Global { .. });
        let (place, stored, bytes): (Option<Place>, Vec<Value>, u32) = match &self.shader.data(v).inst {
            Inst::Load { place, .. } => (Some(*place), vec![], 0),
            Inst::Store { place, values, mem, .. } => {
                let stored = values.iter().copied().filter(|v| seen(place) && !self.is_texel(*v));
                (Some(*place), stored.collect(), mem.bytes())
            }
            Inst::Atomic { place, a, b, mem, .. } => {
                let stored = [Some(*a), *b].into_iter().flatten().filter(|_| seen(place));
                (Some(*place), stored.collect(), mem.bytes())
            }
            Inst::Image(i) if matches!(i.op, ImageOp::Write | ImageOp::Atomic(_)) => {
                (None, i.data.iter().copied().filter(|v| !self.is_texel(*v)).collect(), 4)
            }
            Inst::Output { slot, value } if !self.is_unwritten(*value) => {
                let handed = self.shader.stage == Stage::Vertex && !(POSITION..POSITION + 4).contains(slot);
                let (value, what) = (*value, if handed { Decides::Handed } else { Decides::Shown });
                return self.decides(what, value);
            }
            _ => return,
        };
        if let Some(
            Place::Buffer { addr, .. }
            | Place::Global { addr }
            | Place::Shared { addr }
            | Place::Scratch { addr },
        ) = place
        {
            self.decides(Decides::Address, addr);
        }
        stored.into_iter().for_each(|v| self.decides_as(Decides::Stored, v, bytes));
    }

    /// Where a scalar's shadow lies; `k`: which of the access's scalars, or of a double's words.
    fn cell(&mut self, place: Place, offset: u32, k: u32, bytes: u32) -> Option<(Place, u32)> {
        match place {
            Place::Shared { addr } if self.shared != 0 => {
                let more = self.word(offset.wrapping_add(k * bytes));
                let at = self.bin(Bin::IAdd, addr, more, Ty::B32);
                let mask = self.word(!3);
                let addr = self.bin(Bin::And, at, mask, Ty::B32);
                Some((Place::Shared { addr }, self.shared))
            }
            // Scalars of up to 32 bits take a word each, doubles two.
            Place::Scratch { .. } if self.scratch != 0 => {
                Some((place, offset + k * (bytes / 4).max(1) + self.scratch))
            }
            _ => None,
        }
    }

    /// The shadow of a scalar that is loaded.
    fn load(&mut self, place: Place, offset: u32, k: u32, mem: Mem) -> Option<Value> {
        let (cell, at) = self.cell(place, offset, k, mem.bytes())?;
        let flags = MemFlags::default();
        let word = self.push(Inst::Load { place: cell, offset: at, mem: Mem::B32, n: 1, flags }, Ty::B32);
        let what =
            if matches!(place, Place::Shared { .. }) { Undefined::Shared } else { Undefined::Variable };
        let [born, zero, one] = [self.birth(what), self.word(0), self.word(1)];
        let written = self.bin(Bin::INe, word, zero, Ty::Bool);
        let defined = self.bin(Bin::IEq, word, one, Ty::Bool);
        let kept = self.select(defined, zero, word);
        Some(self.select(written, kept, born))
    }

    /// An atomic adds to a word that nothing has written.
    fn added_to(&mut self, v: Value) {
        let Inst::Atomic { place, offset, mem: Mem::B32, op, .. } = self.shader.data(v).inst else { return };
        if !self.has_pattern(&place) || op == AtomicOp::Store {
            return;
        }
        let shadow = self.word_at(place, offset);
        self.of[v.0 as usize] = Some(shadow);
        if op != AtomicOp::Exchange {
            self.fault(Decides::Stored, shadow, None, 4);
        }
    }

    /// Notes what a store writes: shadows go to memory with their values.
    fn memory_before(&mut self, v: Value) {
        let (place, offset, mem, values) = match &self.shader.data(v).inst {
            Inst::Store { place, offset, mem, values, .. } => {
                (*place, *offset, *mem, values.iter().copied().collect::<Vec<_>>())
            }
            Inst::Atomic { place, offset, mem, op: AtomicOp::Exchange | AtomicOp::Store, a, .. } => {
                (*place, *offset, *mem, vec![*a])
            }
            _ => return,
        };
        let words = mem.bytes().div_ceil(4);
        for (k, value) in values.into_iter().enumerate() {
            for word in 0..words {
                let (step, bytes) = (k as u32 * words + word, mem.bytes() / words);
                let Some((cell, at)) = self.cell(place, offset, step, bytes) else { return };
                let one = self.word(1);
                let shadow = match self.shadow(value) {
                    Some(s) => self.bin(Bin::UMax, s, one, Ty::B32),
                    None => one,
                };
                let store = Inst::Store {
                    place: cell,
                    offset: at,
                    mem: Mem::B32,
                    values: Stored::from(vec![shadow]),
                    flags: MemFlags::default(),
                };
                self.push(store, Ty::Void);
            }
        }
    }

    /// The shadow of a value that may be undefined.
    fn value(&mut self, v: Value) {
        let at = v.0 as usize;
        let shadow = match self.shader.data(v).inst.clone() {
            Inst::Input(Input::Varying(_)) => self.attribute(v),
            Inst::Input(_) => Some(self.birth(Undefined::Variable)),
            Inst::Load { place, offset, mem, n, .. } if self.has_pattern(&place) => {
                let parts = self.fresh(v, place, offset, mem, n as u32);
                let first = parts.first().copied();
                self.parts[at] = parts;
                first.filter(|_| n == 1)
            }
            Inst::Image(i) => {
                let check = self.checks.get(&v).copied();
                if let Some(shadow) = check.map(|c| self.texel(c)) {
                    self.parts[at] = vec![shadow; i.parts() as usize];
                }
                None
            }
            // Its shadow was made before it.
            Inst::Atomic { place, .. } if self.has_pattern(&place) => self.shadow(v),
            Inst::Load { place, offset, mem, n, .. } => {
                let parts: Vec<Value> =
                    (0..n as u32).filter_map(|k| self.load(place, offset, k, mem)).collect();
                let first = parts.first().copied();
                self.parts[at] = parts;
                first.filter(|_| n == 1)
            }
            Inst::Atomic { place, offset, mem, op, .. } if !matches!(op, AtomicOp::Store) => {
                // It adds to what nothing has written: so is the sum.
                self.load(place, offset, 0, mem)
            }
            Inst::Part(tuple, k) => self.parts[tuple.0 as usize].get(k as usize).copied(),
            Inst::Tri(Tri::Select, c, a, b) => {
                let zero = self.word(0);
                let [sa, sb] = [a, b].map(|v| self.shadow(v).unwrap_or(zero));
                let chosen = self.select(c, sa, sb);
                Some(match self.shadow(c) {
                    Some(sc) => self.bin(Bin::UMax, sc, chosen, Ty::B32),
                    None => chosen,
                })
            }
            Inst::Bin(op @ (Bin::BAnd | Bin::BOr), a, b) => self.logic(op, a, b),
            Inst::Tri(Tri::BitSelect, _, a, b) => {
                let (a, b) = (self.shadow(a), self.shadow(b));
                a.zip(b).map(|(a, b)| self.bin(Bin::UMin, a, b, Ty::B32))
            }
            inst @ (Inst::Un(..) | Inst::Bin(..) | Inst::Tri(..)) => {
                let mut all = vec![];
                operands(&inst, |o| all.push(o));
                let joined = self.join(all);
                match self.born(v) {
                    Some(how) => Some(self.made(v, &inst, how, joined)),
                    None => joined,
                }
            }
            Inst::First(a) => self.shadow(a).map(|s| self.push(Inst::First(s), Ty::B32)),
            Inst::Quad(q, a) => self.shadow(a).map(|s| self.push(Inst::Quad(q, s), Ty::B32)),
            Inst::Shuffle(a, lane) => self.shadow(a).map(|s| self.push(Inst::Shuffle(s, lane), Ty::B32)),
            _ => None,
        };
        self.of[at] = shadow;
    }

    /// `a && b` is defined where a defined operand decides it.
    fn logic(&mut self, op: Bin, a: Value, b: Value) -> Option<Value> {
        let zero = self.word(0);
        let counts = |this: &mut Self, v: Value, other: Value| {
            let shadow = this.shadow(v)?;
            // The other decides where it is defined, and false of an `&&` or true of an `||`.
            let decides = match op {
                Bin::BAnd => this.push(Inst::Un(Un::BNot, other), Ty::Bool),
                _ => other,
            };
            let decides = match this.shadow(other) {
                Some(s) => {
                    let defined = this.bin(Bin::IEq, s, zero, Ty::Bool);
                    this.bin(Bin::BAnd, decides, defined, Ty::Bool)
                }
                None => decides,
            };
            Some(this.select(decides, zero, shadow))
        };
        let (a, b) = (counts(self, a, b), counts(self, b, a));
        match (a, b) {
            (Some(a), Some(b)) => Some(self.bin(Bin::UMax, a, b, Ty::B32)),
            (one, other) => one.or(other),
        }
    }

    /// The shadow of a result that is undefined, or not finite, in some lanes.
    fn made(&mut self, v: Value, inst: &Inst, how: Undefined, joined: Option<Value>) -> Value {
        let float = |x: f32| x.to_bits();
        let good = match (how, inst) {
            (Undefined::DivisionByZero, Inst::Bin(_, _, by)) => {
                let zero = self.word(0);
                self.bin(Bin::INe, *by, zero, Ty::Bool)
            }
            (Undefined::Shift, Inst::Bin(_, _, by)) => {
                let width = self.word(32);
                self.bin(Bin::ULt, *by, width, Ty::Bool)
            }
            (Undefined::Conversion, Inst::Un(op, x)) => {
                // Truncation towards zero takes more than the type's range.
                let (low, high) = match op {
                    Un::F32ToS32 => (float(-2147483904.0), float(2147483648.0)),
                    _ => (float(-1.0), float(4294967296.0)),
                };
                let [low, high] = [low, high].map(|w| self.word(w));
                let above = self.bin(Bin::FLt, low, *x, Ty::Bool);
                let below = self.bin(Bin::FLt, *x, high, Ty::Bool);
                self.bin(Bin::BAnd, above, below, Ty::Bool)
            }
            _ => {
                let [mask, infinity] = [0x7FFF_FFFF, 0x7F80_0000].map(|w| self.word(w));
                let size = self.bin(Bin::And, v, mask, Ty::B32);
                self.bin(Bin::ULt, size, infinity, Ty::Bool)
            }
        };
        let born = self.birth(how);
        let zero = self.word(0);
        let own = self.select(good, zero, born);
        let Some(joined) = joined else { return own };
        // Where an operand was undefined already, that is what there is to say.
        let defined = self.bin(Bin::IEq, joined, zero, Ty::Bool);
        self.select(defined, own, joined)
    }
}
