//! One IR instruction → ops over virtual registers.

use super::Lowering;
use super::edges::LBlocks;
use super::interface::writes_memory;
use super::lir::{self, Inst as Op, NONE, V};
use crate::bytecode::{self as bc, Code};
use crate::ir::{Bin, DescriptorSource, Inst, Mem, Origin, Place, RayOp, Shader, Stage, TraceOp, Ty, Value};
use crate::isa::code::ROWS;
use crate::options::{Binding, Error, Heap, Result};

/// Loads by place, as [`Lowering::place`] takes them.
pub(super) const LOADS: [Code; 5] =
    [Code::LD_BUF, Code::LD_GLOBAL, Code::LD_SHARED, Code::LD_SCRATCH, Code::LD_PUSH];

impl Lowering<'_> {
    pub(super) fn push(&mut self, op: Op, live_loop: u32) {
        self.lir.insts.push(op);
        self.lir.loop_at.push(live_loop);
    }

    pub(super) fn push_ext(&mut self, mut op: Op, ext: impl IntoIterator<Item = V>, live_loop: u32) {
        op.ext = self.lir.ext.len() as u32;
        self.lir.ext.extend(ext);
        op.ext_len = self.lir.ext.len() as u32 - op.ext;
        self.push(op, live_loop);
    }

    /// The branch condition of `block` can be computed by the branch itself: a 32-bit compare of its own.
    pub(super) fn fused_compare(&self, block: usize, cond: Value) -> Option<(Bin, Value, Value)> {
        let i = cond.0 as usize;
        if self.uses[i] != 1 || self.u.prologue[i] || self.u.def_block[i] != block as u32 {
            return None;
        }
        match self.shader.data(cond).inst {
            Inst::Bin(op, a, b) if Code::COMPARES.contains(&op) && self.shader.ty(a) == Ty::B32 => {
                Some((op, a, b))
            }
            _ => None,
        }
    }

    /// All blocks' ops in order.
    pub(super) fn emit(&mut self, blocks: &LBlocks) -> Result<()> {
        let own = |v: &&Value| self.needed[v.0 as usize] && !self.absorbed[v.0 as usize];
        let count = self.shader.blocks.iter().map(|b| b.insts.iter().filter(own).count()).sum();
        self.lir.insts.reserve(count);
        self.lir.loop_at.reserve(count);
        for block in &self.shader.blocks {
            for &v in &block.insts {
                if self.needed[v.0 as usize] && self.u.prologue[v.0 as usize] {
                    self.op_from(v, 0, NONE, block.origin)?;
                }
            }
        }
        self.lir.prologue = self.lir.insts.len() as u32;
        let mut control = super::control::Control::new(self, blocks)?;
        for p in 0..blocks.blocks.len() {
            let lb = blocks.blocks[p];
            control.enter(self, blocks, p);
            if lb.source != NONE {
                let origin = self.shader.blocks[lb.source as usize].origin;
                self.lir.from(self.lir.insts.len(), origin);
                let fused = blocks.cond[p].filter(|c| self.fused_compare(lb.source as usize, *c).is_some());
                if control.counts.block[lb.source as usize] != 0 {
                    self.tally(control.counts.block[lb.source as usize], false, lb.live_loop);
                }
                for &v in &self.shader.blocks[lb.source as usize].insts {
                    if let Inst::Mark(_) | Inst::Resume(_) = self.shader.data(v).inst {
                        if control.counts.at_mark(v) != 0 {
                            self.tally(control.counts.at_mark(v), true, lb.live_loop);
                        }
                        continue;
                    }
                    let i = v.0 as usize;
                    if self.needed[i] && !self.u.prologue[i] && Some(v) != fused && !self.absorbed[i] {
                        self.op_from(v, lb.source, lb.live_loop, origin)?;
                    }
                }
            }
            let (from, to) = lb.copies;
            if from != to {
                let group = &blocks.copies[from as usize..to as usize];
                let ext: Vec<V> = group.iter().flat_map(|c| [c.dst, c.src, c.masked as V]).collect();
                let op = Op::new(lir::COPIES).imm(lb.copy_loop).b(lb.next_loop);
                self.push_ext(op, ext, lb.live_loop);
            }
            control.leave(self, blocks, p);
        }
        control.finish(self, blocks);
        Ok(())
    }

    /// A value's ops, with where they come from; its block is from `block`.
    fn op_from(&mut self, v: Value, b: u32, live_loop: u32, block: Origin) -> Result<()> {
        let at = self.lir.insts.len();
        self.op(v, b, live_loop)?;
        if self.lir.insts.len() > at {
            let own = self.shader.origin(v, &mut self.stretch);
            let same = (own.function, own.label) == (block.function, block.label);
            self.lir.from(at, if own.label == 0 || own.line == 0 && same { block } else { own });
        }
        Ok(())
    }

    fn tally(&mut self, counter: u32, lanes: bool, live_loop: u32) {
        self.push(Op::new(Code::TALLY).imm(counter).e(lanes as u16), live_loop);
    }

    pub(super) fn place(&self, v: Value, place: &Place, b: u32, codes: [Code; 5]) -> Result<(Op, V)> {
        let fold = &self.folds[self.fold_of[v.0 as usize] as usize];
        let reg = |o: Option<Value>| o.map_or(NONE, |o| self.at(o, b));
        let (code, desc) = match place {
            Place::Buffer { desc, .. } => (codes[0], self.at(*desc, b)),
            Place::Global { .. } => (codes[1], NONE),
            Place::Shared { .. } => (codes[2], NONE),
            Place::Scratch { .. } => (codes[3], NONE),
            Place::Push { .. } => (codes[4], NONE),
        };
        if code == Code::END {
            return Err(Error::Unsupported("a write to push constants".to_string()));
        }
        Ok((Op::new(code).a(reg(fold.a)).c(reg(fold.c)).imm(fold.imm), desc))
    }

    /// Whether `v` loads an aligned word of one buffer, not all of the wave's lanes the same. If then the lanes of a
    /// warp do ([`bc::SHAPE_SAME`]), the warp touches one line.
    fn loads_single(&self, v: Value, b: u32) -> bool {
        let Inst::Load { place: Place::Buffer { desc, .. }, mem: Mem::B32, n: 1, .. } =
            self.shader.data(v).inst
        else {
            return false;
        };
        let fold = &self.folds[self.fold_of[v.0 as usize] as usize];
        self.uniform_at(desc, b) && fold.a.is_some_and(|a| !self.uniform_at(a, b))
    }

    /// Whether `v` loads of the shader's own words: each warp's load is taken for one line.
    fn loads_data(&self, v: Value) -> bool {
        let Inst::Load { place: Place::Buffer { desc, .. }, .. } = self.shader.data(v).inst else {
            return false;
        };
        matches!(self.shader.data(desc).inst, Inst::Descriptor { source: DescriptorSource::Data(_), .. })
    }

    /// Whether a warp that executes `v` touches one line: its count is its block's.
    pub(super) fn is_single(&self, v: Value, b: u32) -> bool {
        self.loads_data(v) || self.loads_single(v, b) && self.address_step(v, b) == Some(0)
    }

    /// From one lane's address of memory instruction `v` to the next one's, if that is known.
    fn address_step(&self, v: Value, b: u32) -> Option<u32> {
        self.folds[self.fold_of[v.0 as usize] as usize].a.and_then(|a| self.step(a, b))
    }

    /// What is known of the lanes' addresses of memory instruction `v`; a lane takes `bytes`.
    pub(super) fn shape(&self, v: Value, b: u32, bytes: u32) -> u16 {
        match self.address_step(v, b) {
            Some(0) if self.loads_data(v) => bc::SHAPE_SAME | bc::SHAPE_SINGLE,
            _ if self.loads_data(v) => bc::SHAPE_SINGLE,
            Some(0) if self.loads_single(v, b) => bc::SHAPE_SAME | bc::SHAPE_SINGLE,
            Some(0) => bc::SHAPE_SAME,
            Some(s) if s == bytes => bc::SHAPE_RUN,
            _ => 0,
        }
    }

    /// Emits the ops of `v`, which block `b` holds.
    fn op(&mut self, v: Value, b: u32, live_loop: u32) -> Result<()> {
        if self.shader.stage != Stage::Fragment || !writes_memory(&self.shader.data(v).inst) {
            return self.plain_op(v, b, live_loop);
        }
        // Helper lanes have no side effects.
        let home = self.lir.vregs[v.0 as usize].home;
        let exec = self.lir.new_vreg(Ty::Bool, false, home);
        let widen = self.lir.labels.len() as u32;
        self.lir.labels.extend([0, 0]);
        self.push(Op::new(Code::NARROW).d(exec).imm(widen), live_loop);
        self.plain_op(v, b, live_loop)?;
        self.lir.labels[widen as usize] = self.lir.insts.len() as u32;
        self.push(Op::new(Code::SETEXEC).a(exec).imm(widen + 1), live_loop);
        self.lir.labels[widen as usize + 1] = self.lir.insts.len() as u32;
        Ok(())
    }

    fn plain_op(&mut self, v: Value, b: u32, live_loop: u32) -> Result<()> {
        if self.twin_op(v, b, live_loop) || self.merged_op(v, b, live_loop)? {
            return Ok(());
        }
        let shader: &Shader = self.shader;
        let data = shader.data(v);
        let d = self.alias[v.0 as usize];
        let at = |o: Value| self.at(o, b);
        let ty = |o: Value| shader.ty(o);
        if self.pair[v.0 as usize].is_some() {
            self.pair_op(v, b, live_loop);
            return Ok(());
        }
        let op = match &data.inst {
            Inst::Const(_)
            | Inst::Input(_)
            | Inst::Phi(_)
            | Inst::Part(..)
            | Inst::Mark(_)
            | Inst::Resume(_) => return Ok(()),
            Inst::Un(op, a) => Op::new(Code::un(*op, ty(*a))).d(d).a(at(*a)),
            Inst::Bin(op, a, c) => Op::new(Code::bin(*op, ty(*a))).d(d).a(at(*a)).b(at(*c)),
            Inst::Tri(op, x, y, z) => {
                let of = if *op == crate::ir::Tri::Select { data.ty } else { ty(*x) };
                Op::new(Code::tri(*op, of)).d(d).a(at(*x)).b(at(*y)).c(at(*z))
            }
            Inst::Descriptor { source, index, texels } => {
                let whole = |table| Binding { stride: 1, ..Binding::new(table, 0, u32::MAX) };
                let in_heap =
                    |heap: Heap| Binding { in_memory: true, ..whole(Heap::FIRST_TABLE + heap as u32) };
                // No table has this number.
                let no_table = u32::from(u16::MAX);
                let (place, mut form) = match *source {
                    DescriptorSource::Binding { set, binding } => {
                        let place = (self.options.binding)(set, binding).ok_or_else(|| {
                            Error::Unsupported(format!(
                                "set {set} binding {binding} is not in the pipeline layout"
                            ))
                        })?;
                        (place, 0)
                    }
                    DescriptorSource::Null => (Binding::new(no_table, 0, 0), 0),
                    DescriptorSource::Heap(heap) => (in_heap(heap), 0),
                    DescriptorSource::HeapBytes(heap) => (Binding { inline_data: true, ..in_heap(heap) }, 0),
                    DescriptorSource::Address => (whole(no_table), bc::DESC_ADDRESS),
                    DescriptorSource::Embedded(n) => {
                        (Binding { offset: n, ..whole(no_table) }, bc::DESC_EMBEDDED)
                    }
                    DescriptorSource::Data(n) => (Binding { offset: n, ..whole(no_table) }, bc::DESC_DATA),
                };
                let mut op = Op::new(Code::DESC).d(d).a(at(*index)).e(place.table as u16).imm(place.offset);
                op.ext = self.lir.raw.len() as u32;
                form |= place.inline_data as u32 * bc::DESC_INLINE;
                if place.in_memory {
                    form |= bc::DESC_IN_MEMORY | if *texels { bc::DESC_TEXELS } else { 0 };
                }
                self.lir.raw.push([place.stride, place.count, form, 0]);
                op
            }
            Inst::Load { place, mem, n, .. } => {
                let (op, desc) = self.place(v, place, b, LOADS)?;
                let op = op.b(desc).e(bc::mem_bits(*mem, *n) | self.shape(v, b, *n as u32 * mem.bytes()));
                if data.ty != Ty::Tuple {
                    op.d(d)
                } else if *n == 1 {
                    op.d(self.tuple[v.0 as usize])
                } else {
                    let first = self.tuple[v.0 as usize];
                    self.push_ext(op, first..first + *n as u32, live_loop);
                    return Ok(());
                }
            }
            Inst::Store { place, mem, values, .. } => {
                let codes = [Code::ST_BUF, Code::ST_GLOBAL, Code::ST_SHARED, Code::ST_SCRATCH, Code::END];
                let (op, desc) = self.place(v, place, b, codes)?;
                let n = values.len() as u8;
                let op = op.b(desc).e(bc::mem_bits(*mem, n) | self.shape(v, b, n as u32 * mem.bytes()));
                if let [one] = values[..] {
                    op.d(at(one))
                } else {
                    let ext: Vec<V> = values.iter().map(|o| at(*o)).collect();
                    self.push_ext(op, ext, live_loop);
                    return Ok(());
                }
            }
            Inst::LoadRows { place, mem, stride, .. } => {
                let none = Code::END;
                let codes = [Code::LD_ROWS_BUF, Code::LD_ROWS_GLOBAL, Code::LD_ROWS_SHARED, none, none];
                let (op, desc) = self.place(v, place, b, codes)?;
                let e = bc::mem_bits(*mem, ROWS as u8) | self.shape(v, b, mem.bytes());
                let first = self.tuple[v.0 as usize];
                self.push_ext(op.b(desc).d(at(*stride)).e(e), first..first + ROWS as u32, live_loop);
                return Ok(());
            }
            Inst::StoreRows { place, mem, stride, values, .. } => {
                let none = Code::END;
                let codes = [Code::ST_ROWS_BUF, Code::ST_ROWS_GLOBAL, Code::ST_ROWS_SHARED, none, none];
                let (op, desc) = self.place(v, place, b, codes)?;
                let e = bc::mem_bits(*mem, ROWS as u8) | self.shape(v, b, mem.bytes());
                let all: Vec<V> = values.iter().map(|o| at(*o)).collect();
                self.push_ext(op.b(desc).d(at(*stride)).e(e), all, live_loop);
                return Ok(());
            }
            Inst::Atomic { place, mem, op: atomic, a, b: comparator, .. } => {
                let codes = [Code::AT_BUF, Code::AT_GLOBAL, Code::AT_SHARED, Code::AT_SCRATCH, Code::END];
                let (op, desc) = self.place(v, place, b, codes)?;
                let ext = [at(*a), comparator.map_or(NONE, at)];
                let mut op = op.b(desc).e(bc::atomic_bits(*mem, *atomic));
                op.d = if self.uses[v.0 as usize] > 0 { d } else { NONE };
                self.push_ext(op, ext, live_loop);
                return Ok(());
            }
            Inst::BufferSize { desc } => Op::new(Code::BUF_SIZE).d(d).b(at(*desc)),
            Inst::BufferAddress { desc } => Op::new(Code::BUF_ADDR).d(d).b(at(*desc)),
            Inst::Structure { desc } => Op::new(Code::STRUCTURE).d(d).b(at(*desc)),
            Inst::Ray { op, query, args } => {
                let query = at(*query);
                match op {
                    RayOp::Begin => {
                        let rest: Vec<V> = args[1..].iter().map(|o| at(*o)).collect();
                        let e = bc::mem_bits(Mem::B32, rest.len() as u8);
                        let op = Op::new(Code::RAY_BEGIN).a(query).c(at(args[0])).e(e);
                        self.push_ext(op, rest, live_loop);
                        return Ok(());
                    }
                    RayOp::Get(attribute, which) => {
                        let n = attribute.components();
                        let op = Op::new(Code::RAY_GET)
                            .a(query)
                            .e(bc::mem_bits(Mem::B32, n as u8))
                            .imm(bc::ray_bits(*attribute, *which));
                        if n > 1 {
                            let first = self.tuple[v.0 as usize];
                            self.push_ext(op, first..first + n, live_loop);
                            return Ok(());
                        }
                        op.d(d)
                    }
                    step => {
                        let number = RayOp::STEPS.iter().position(|s| s == step).unwrap_or(0);
                        let mut op = Op::new(Code::RAY_STEP).a(query).imm(number as u32);
                        op.b = args.first().map_or(NONE, |o| at(*o));
                        op.d = if self.uses[v.0 as usize] > 0 { d } else { NONE };
                        op
                    }
                }
            }
            Inst::Trace { op, args } => {
                let (structure, rest) = match op.has_structure() {
                    true => (at(args[0]), &args[1..]),
                    false => (NONE, &args[..]),
                };
                let number = TraceOp::ALL.iter().position(|o| o == op).unwrap_or(0);
                let rest: Vec<V> = rest.iter().map(|o| at(*o)).collect();
                let e = bc::mem_bits(Mem::B32, rest.len() as u8);
                let mut op = Op::new(Code::TRACE).c(structure).e(e).imm(number as u32);
                op.d = if self.uses[v.0 as usize] > 0 { d } else { NONE };
                self.push_ext(op, rest, live_loop);
                return Ok(());
            }
            Inst::Probe { op, site, args } => {
                let (wide, rest) = args.split_at(args.len() - op.operands());
                let wide = wide.first().map_or(NONE, |o| at(*o));
                let buffer = self.shader.sites[*site as usize].is_buffer();
                let rest: Vec<V> = rest.iter().map(|o| at(*o)).collect();
                let e = bc::mem_bits(Mem::B32, rest.len() as u8);
                let op = if buffer { Op::new(Code::PROBE_BUF).b(wide) } else { Op::new(Code::PROBE).c(wide) };
                let op = op.e(e).imm(*site);
                self.push_ext(op, rest, live_loop);
                return Ok(());
            }
            Inst::Note { note, args } => {
                let mut all: Vec<V> = args.iter().map(|o| at(*o)).collect();
                // A list of one has no word of its own.
                if let [aim] = all[..] {
                    all.push(aim);
                }
                let e = bc::mem_bits(Mem::B32, all.len() as u8);
                self.push_ext(Op::new(Code::NOTE).e(e).imm(*note), all, live_loop);
                return Ok(());
            }
            Inst::Image(_) => {
                self.image(v, b, live_loop);
                return Ok(());
            }
            Inst::Ballot(a) => Op::new(Code::BALLOT).d(d).a(at(*a)),
            Inst::First(a) => {
                return self.across(v, *a, NONE, [Code::FIRST32, Code::FIRST64], 0, b, live_loop);
            }
            Inst::Shuffle(a, lane) => {
                let lane = at(*lane);
                return self.across(v, *a, lane, [Code::SHUFFLE32, Code::SHUFFLE64], 0, b, live_loop);
            }
            Inst::Product { kind, rows } => {
                let first = self.tuple[v.0 as usize];
                let results = first..first + ROWS as u32;
                let all: Vec<V> = results.chain(rows.iter().map(|o| at(*o))).collect();
                self.push_ext(Op::new(Code::PRODUCT).e(*kind as u16), all, live_loop);
                return Ok(());
            }
            Inst::Quad(quad, a) => {
                let e = bc::quad_bits(*quad);
                return self.across(v, *a, NONE, [Code::QUAD32, Code::QUAD64], e, b, live_loop);
            }
            Inst::Reduce { op, scan, cluster, value } => {
                let e = bc::reduce_bits(*op, *scan, *cluster);
                return self.across(v, *value, NONE, [Code::REDUCE32, Code::REDUCE64], e, b, live_loop);
            }
            Inst::Barrier => Op::new(Code::BARRIER),
            Inst::MemoryBarrier => Op::new(Code::FENCE),
            Inst::Clock => Op::new(Code::CLOCK).d(d),
            Inst::Demote => Op::new(Code::DEMOTE),
            Inst::IsHelper => Op::new(Code::HELPER).d(d),
            Inst::Output { slot, value } => {
                let value = at(*value);
                self.lir.outputs.push((*slot, value));
                return Ok(());
            }
        };
        self.push(op, live_loop);
        Ok(())
    }

    /// A subgroup op; Bools travel as integers.
    fn across(
        &mut self,
        v: Value,
        a: Value,
        lane: V,
        codes: [Code; 2],
        e: u16,
        b: u32,
        live_loop: u32,
    ) -> Result<()> {
        let (d, src) = (self.alias[v.0 as usize], self.at(a, b));
        let ty = self.shader.ty(a);
        let code = codes[(ty == Ty::B64) as usize];
        if ty != Ty::Bool {
            self.push(Op::new(code).d(d).a(src).b(lane).e(e), live_loop);
            return Ok(());
        }
        use crate::ir::Un;
        let home = self.lir.vregs[d as usize].home;
        let from = self.lir.new_vreg(Ty::B32, false, home);
        let to = self.lir.new_vreg(Ty::B32, false, home);
        self.push(Op::new(Code::un(Un::BoolToInt, Ty::Bool)).d(from).a(src), live_loop);
        self.push(Op::new(code).d(to).a(from).b(lane).e(e), live_loop);
        self.push(Op::new(Code::un(Un::IntToBool, Ty::B32)).d(d).a(to), live_loop);
        Ok(())
    }

    fn image(&mut self, v: Value, b: u32, live_loop: u32) {
        let i = v.0 as usize;
        let data = self.shader.data(v);
        let Inst::Image(image) = &data.inst else { return };
        let mut uses = vec![];
        crate::isa::operands(&data.inst, |o| uses.push(self.at(o, b)));
        let (mut results, mut residency) = (vec![], NONE);
        if data.ty == Ty::Tuple {
            let first = self.tuple[i];
            let n = image.results();
            let part =
                |k: V| if self.read.get((first + k) as usize) == Some(&true) { first + k } else { NONE };
            results = (0..n).map(part).collect();
            if image.sparse {
                residency = part(n);
            }
        } else if data.ty != Ty::Void && self.uses[i] > 0 {
            results = vec![v.0];
        }
        let op = Op::new(Code::IMAGE).imm(self.lir.images.len() as u32);
        self.lir.images.push(lir::Image { value: v.0, results, residency, uses });
        self.push(op, live_loop);
    }
}
