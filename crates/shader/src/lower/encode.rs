//! Virtual registers and labels → bytes.

use super::alloc::{Allocation, Pools, RegisterSlot};
use super::lir::{COPIES, Inst, Lir, NONE, V, flag::*};
use super::products;
use crate::bytecode::{BlockRange, Code, DESC_DATA, ImageCode, MAX_UNITS, Op, Program, Reg};
use crate::cost;
use crate::data::Data;
use crate::interface::{SECOND_SOURCE, USER_SLOTS};
use crate::ir::{self, Bin, Shader, Ty, Un};
use crate::isa::code::{extension_words, layout};
use crate::isa::image_operands;
use crate::options::{Error, Result};
use std::collections::BTreeSet;

struct Encoder<'a> {
    shader: &'a Shader,
    lir: &'a Lir,
    allocation: &'a Allocation,
    /// Units of one varying slot.
    unit: u32,
    code: Vec<Op>,
    images: Vec<ImageCode>,
}

pub fn encode(
    shader: &Shader,
    lir: &Lir,
    allocation: &Allocation,
    lanes: u32,
    packed: bool,
    multi_wave: bool,
) -> Result<Program> {
    // Rows of a warp's matrices would lie in every fourth line, so in a fourth of a cache's sets: a unit apart, they lie in all.
    let matrices = lir.insts.iter().any(|op| op.code == Code::PRODUCT);
    let unit = lanes / 16 + matrices as u32;
    let units = allocation.end(Pools::Small, unit);
    if units as usize > MAX_UNITS {
        return Err(Error::TooLarge(format!("{units} units of registers, {MAX_UNITS} there are")));
    }
    let mut it = Encoder { shader, lir, allocation, unit, code: vec![], images: vec![] };
    it.code.reserve(lir.insts.len() + lir.insts.len() / 8);
    // Where each LIR instruction starts, for labels, and which ops jump.
    let mut start = Vec::with_capacity(lir.insts.len() + 1);
    let mut jumps = vec![];
    let mut group = 0;
    for op in &lir.insts {
        start.push(it.code.len() as u32);
        if op.code == COPIES {
            it.copies(group);
            group += 1;
            continue;
        }
        if op.flags & LABEL != 0 {
            jumps.push(it.code.len());
        }
        it.op(op);
    }
    start.push(it.code.len() as u32);
    for j in jumps {
        let label = it.code[j].imm as usize;
        it.code[j].imm = start[lir.labels[label] as usize];
    }
    join_loop_ends(&mut it.code);
    products::mark(&mut it.code);
    let mut blocks =
        vec![BlockRange { first_op: 0, origin: lir.origins.first().map_or_else(Default::default, |o| o.1) }];
    for (at, origin) in &lir.origins {
        let first_op = start[*at as usize];
        let last = blocks.last_mut().unwrap();
        if last.first_op == first_op {
            last.origin = *origin;
        } else if last.origin != *origin {
            blocks.push(BlockRange { first_op, origin: *origin });
        }
    }
    let mut profile = lir.profile.clone();
    // Without the registers that hold the same for all lanes, which a machine keeps apart.
    profile.registers = allocation.varying_slots();
    let prologue = start[lir.prologue as usize];
    // The program's own words have no descriptor in memory: the form is the third word after the op.
    let own = |form: &Op| form.regs()[4].0 as u32 & DESC_DATA != 0;
    let named = it.code[..prologue as usize].windows(2).filter(|o| o[0].code == Code::DESC && !own(&o[1]));
    profile.descriptors = named.count() as u32;
    if shader.stage == ir::Stage::Fragment {
        // Both sources of a colour go with one instruction.
        let user = lir.outputs.iter().filter(|(slot, _)| *slot < USER_SLOTS + SECOND_SOURCE);
        let colors: BTreeSet<u16> = user.map(|(slot, _)| slot % SECOND_SOURCE / 4).collect();
        let ways = &mut profile.ways;
        for way in [&mut ways.total, &mut ways.shortest].into_iter().chain(&mut ways.longest) {
            way.add(&cost::ends(colors.len() as u32));
        }
    }
    let consts = allocation.consts.iter().map(|(v, ty, bits)| (it.reg(*v), *ty, *bits)).collect();
    let inputs: Vec<(ir::Input, Reg)> = lir
        .inputs
        .iter()
        .filter(|(_, v)| allocation.slot[*v as usize] != NONE)
        .map(|(input, v)| (*input, it.reg(*v)))
        .collect();
    Ok(Program {
        stage: shader.stage,
        interface: super::interface::interface(shader, &inputs),
        outputs: lir.outputs.iter().map(|(slot, v)| (*slot, it.reg(*v))).collect(),
        lanes,
        workgroup: shader.workgroup,
        code: it.code,
        images: it.images,
        embedded: shader.embedded.clone(),
        sites: shader.sites.clone(),
        notes: shader.notes.clone(),
        data: shader.data.iter().map(|d| Data::new(d)).collect(),
        units,
        handles: allocation.end(Pools::SmallHandles, unit),
        consts,
        inputs,
        prologue,
        shared_bytes: shader.shared_bytes,
        scratch_words: shader.scratch_words,
        zeroed: shader.zeroed,
        queries: shader.queries,
        packed,
        multi_wave,
        keeps_denormals: shader.keeps_denormals,
        quad_derivatives: shader.quad_derivatives,
        blocks,
        files: shader.files.clone(),
        profile,
        compiled: Default::default(),
    })
}

/// Counting loops: the addition, the jump back and the comparison there become one op. The jump stays where it is, for
/// who comes to it from elsewhere.
fn join_loop_ends(code: &mut [Op]) {
    let mut i = 0;
    while i + 1 < code.len() {
        let (add, jump) = (code[i], code[i + 1]);
        if add.code == Code::bin(Bin::IAdd, Ty::B32)
            && add.d.is_uniform()
            && jump.code == Code::LOOP
            && jump.a.is_none()
            && code[jump.imm as usize].code == Code::CMP_JMP
        {
            code[i] = Op { code: Code::LOOP_NEXT, imm: jump.imm, e: jump.e, ..add };
        }
        i += 1 + extension_words(&add);
    }
}

impl Encoder<'_> {
    fn place(&self, p: RegisterSlot) -> Reg {
        let unit = self.allocation.unit(p, self.unit) as u16;
        if p.uniform { Reg::uniform(unit) } else { Reg::varying(unit) }
    }

    fn reg(&self, v: V) -> Reg {
        if v == NONE {
            return Reg::NONE;
        }
        let vreg = &self.lir.vregs[v as usize];
        self.place(RegisterSlot {
            pool: Pools::of(vreg),
            uniform: vreg.uniform,
            slot: self.allocation.slot[v as usize],
        })
    }

    fn op(&mut self, op: &Inst) {
        if op.code == Code::IMAGE {
            return self.image(op);
        }
        let mut out = Op::new(op.code.fused(op.e));
        let masks = layout(op.code).masks;
        let fix = |r: Reg| if masks && !r.is_none() { Reg::varying(r.unit() as u16) } else { r };
        out.d = if op.flags & D_DEF != 0 { fix(self.target(op.d)) } else { fix(self.reg(op.d)) };
        out.a = fix(self.reg(op.a));
        out.b = if op.flags & B_DEF != 0 { fix(self.target(op.b)) } else { fix(self.reg(op.b)) };
        out.c = fix(self.reg(op.c));
        out.e = op.e;
        out.imm = op.imm;
        self.code.push(out);
        if op.code == Code::END {
            // The registers it names are the outputs: read after the end.
            return;
        }
        if crate::twins::of(op.code).is_some() {
            let more: [u16; 3] = std::array::from_fn(|i| match i < op.ext_len as usize {
                true => self.reg(self.lir.ext[op.ext as usize + i]).0,
                false => Reg::NONE.0,
            });
            let out = self.code.last_mut().unwrap();
            (out.e, out.imm) = (more[0], more[1] as u32 | (more[2] as u32) << 16);
        } else if let Some(pair) = crate::pairs::of(op.code) {
            let more = |i: u32| {
                let at = (op.ext + i) as usize;
                if i < op.ext_len { self.reg(self.lir.ext[at]) } else { Reg::NONE }
            };
            debug_assert_eq!(op.ext_len, (pair.operands as u32).saturating_sub(3));
            let (e, imm) = (more(0).0, more(1).0);
            let out = self.code.last_mut().unwrap();
            (out.e, out.imm) = (e, imm as u32);
        } else if op.code == Code::DESC {
            let raw = self.lir.raw[op.ext as usize];
            let half = |i: usize| Reg((raw[i / 2] >> (16 * (i % 2))) as u16);
            self.code.push(Op::ext(std::array::from_fn(half)));
        } else {
            let ext = &self.lir.ext[op.ext as usize..(op.ext + op.ext_len) as usize];
            for (k, chunk) in ext.chunks(8).enumerate() {
                let name = |i: usize, v: V| match op.writes_extension((8 * k + i) as u32) {
                    true => self.target(v),
                    false => self.reg(v),
                };
                let regs = std::array::from_fn(|i| chunk.get(i).map_or(Reg::NONE, |v| name(i, *v)));
                self.code.push(Op::ext(regs));
            }
        }
        if self.allocation.temporary.is_empty() {
            return;
        }
        if op.flags & D_DEF != 0 {
            self.move_temporary(op.d);
        }
        if op.flags & B_DEF != 0 {
            self.move_temporary(op.b);
        }
        for i in (0..op.ext_len).take_while(|i| op.writes_extension(*i)) {
            self.move_temporary(self.lir.ext[(op.ext + i) as usize]);
        }
    }

    /// The register that the op defining `v` writes: its own, or a temporary.
    fn target(&self, v: V) -> Reg {
        match self.allocation.temporary.get(v as usize) {
            Some(&slot) if slot != NONE => {
                let vreg = &self.lir.vregs[v as usize];
                self.place(RegisterSlot { pool: Pools::of(vreg), uniform: vreg.uniform, slot })
            }
            _ => self.reg(v),
        }
    }

    fn move_temporary(&mut self, v: V) {
        if v == NONE || self.allocation.temporary[v as usize] == NONE {
            return;
        }
        let code = match self.lir.vregs[v as usize].ty {
            Ty::Bool => Code::MOVMB,
            Ty::B64 => Code::MOVM64,
            _ => Code::MOVM32,
        };
        self.code.push(Op { d: self.reg(v), a: self.target(v), ..Op::new(code) });
    }

    fn copies(&mut self, group: usize) {
        for m in &self.allocation.moves[group] {
            let (d, a) = (self.place(m.dst), self.place(m.src));
            let mut op = match (m.masked, m.ty) {
                (true, Ty::Bool) => Op::new(Code::MOVMB),
                (true, Ty::B64) => Op::new(Code::MOVM64),
                (true, _) => Op::new(Code::MOVM32),
                // No plain move of masks exists: a | a.
                (false, Ty::Bool) => Op { b: a, ..Op::new(Code::bin(Bin::BOr, Ty::Bool)) },
                (false, ty) => Op::new(Code::un(Un::Mov, ty)),
            };
            op.d = d;
            op.a = if op.code == Code::MOVMB { Reg::varying(a.unit() as u16) } else { a };
            self.code.push(op);
        }
    }

    fn image(&mut self, op: &Inst) {
        let lowered = &self.lir.images[op.imm as usize];
        let ir::Inst::Image(image) = &self.shader.values[lowered.value as usize].inst else { return };
        let mut regs = lowered.uses.iter().map(|v| self.reg(*v));
        let mut next = || regs.next().unwrap_or(Reg::NONE);
        macro_rules! code {
            ($($operand:ident)*) => {
                ImageCode {
                    $($operand: image.$operand.registers(&mut next),)*
                    op: image.op,
                    dim: image.dim,
                    arrayed: image.arrayed,
                    multisampled: image.multisampled,
                    texel: image.texel,
                    format: image.format,
                    component: image.component,
                    half: image.half,
                    results: lowered.results.iter().map(|v| self.reg(*v)).collect(),
                    residency: self.reg(lowered.residency),
                }
            };
        }
        let code = image_operands!(code);
        let mut out = Op::new(Code::IMAGE);
        out.imm = self.images.len() as u32;
        self.images.push(code);
        self.code.push(out);
    }
}

/// An image operation's operand as registers, of which `next` gives one by one.
trait Registers {
    type Out;
    fn registers(&self, next: &mut impl FnMut() -> Reg) -> Self::Out;
}

impl Registers for ir::Value {
    type Out = Reg;
    fn registers(&self, next: &mut impl FnMut() -> Reg) -> Reg {
        next()
    }
}

impl Registers for Option<ir::Value> {
    type Out = Reg;
    fn registers(&self, next: &mut impl FnMut() -> Reg) -> Reg {
        self.map_or(Reg::NONE, |_| next())
    }
}

impl Registers for Vec<ir::Value> {
    type Out = Vec<Reg>;
    fn registers(&self, next: &mut impl FnMut() -> Reg) -> Vec<Reg> {
        self.iter().map(|_| next()).collect()
    }
}
