//! Lowering: SSA over blocks → [`Program`].
//!
//! 1. [`uniform`]: which values and branches are the same for all lanes; [`park`]: where lanes wait.
//! 2. [`address`]: memory operands are taken apart into register + uniform register + constant.
//! 3. [`edges`]: copies for phis and for values that leave loops, placed in blocks or on split edges.
//! 4. [`pair`]: which ops are done by the op that reads their result; [`twin`]: which two are done at once; [`merge`]: which loads are one.
//! 5. [`ops`] and [`control`]: ops in their final order over virtual registers ([`lir`]).
//! 6. [`live`] and [`alloc`]: intervals over that order, coalescing, registers.
//! 7. Bytes: [`encode`].
//!
//! Registers are counted in slots that do not depend on the wave's width, so the width is chosen last, unless packing
//! several workgroups into a wave (which makes the workgroup's number a varying value) depends on it.

mod address;
mod alloc;
mod control;
mod count;
mod edges;
mod encode;
mod halves;
mod interface;
mod lir;
mod live;
mod masks;
mod merge;
mod moves;
mod narrow;
mod ops;
mod pair;
pub mod park;
mod products;
mod shape;
mod twin;
pub mod uniform;
mod ways;
mod web;

use crate::build::handles;
use crate::bytecode::Program;
use crate::cfg::{Cfg, NONE};
use crate::ir::{Inst, Shader, Term, Ty, Value};
use crate::isa;
use crate::options::{Budget, Error, Options, Result, WaveWidth};
use lir::{Lir, V};
use std::borrow::Cow;
use uniform::Uniformity;

/// Everything the stages share.
struct Lowering<'a> {
    shader: &'a Shader,
    options: &'a Options<'a>,
    cfg: &'a Cfg,
    u: Uniformity,
    /// Address operands by memory instruction.
    folds: Vec<address::Fold>,
    fold_of: Vec<u32>,
    /// Values that something reads or that have an effect, and how many read them.
    needed: Vec<bool>,
    uses: Vec<u32>,
    /// Register of each value: its own number but for parts of tuples.
    alias: Vec<V>,
    /// First of the registers of each tuple.
    tuple: Vec<V>,
    /// Whether something reads it, of each register of a tuple's part.
    read: Vec<bool>,
    /// Loop at whose exits the value is copied for readers outside, and the register of the copy.
    escape_loop: Vec<u32>,
    escape: Vec<V>,
    /// Operand of each value's op that is computed by the same op, and the values so computed.
    pair: Vec<Option<u8>>,
    absorbed: Vec<bool>,
    /// Absorbed by the comparison of the branch that ends its block.
    by_branch: Vec<bool>,
    /// Ops done at once with an earlier one, which is absorbed: by the later one's number.
    twin_of: Vec<(Value, twin::Twin)>,
    /// Whether it has one.
    is_twin: Vec<bool>,
    /// Loads that are one op, in the order of their offsets, by the one where it stands; the others are absorbed.
    merged: Vec<(Value, Vec<Value>)>,
    /// Where in [`Shader::origins`] the last value was.
    stretch: usize,
    lir: Lir,
}

/// Lowers a shader. Fails when it needs more registers than there are, or does what the engine cannot.
pub fn lower(shader: &Shader, options: &Options) -> Result<Program> {
    let (pruned, cfg) = prune_if_needed(shader)?;
    let shader: &Shader = &pruned;
    let invocations = shader.workgroup.iter().product::<u32>().max(1);
    let warps = invocations.div_ceil(16);
    let matrices = shader
        .blocks
        .iter()
        .flat_map(|b| &b.insts)
        .any(|v| matches!(shader.data(*v).inst, Inst::Product { .. }));
    let (widths, budget): (&[u32], _) = match &options.width {
        WaveWidth::Lanes(lanes @ (64 | 128 | 256)) => (std::slice::from_ref(lanes), None),
        WaveWidth::ByRegisters(_) if matrices => (&[256, 128, 64], Some(&Budget::MATRICES)),
        WaveWidth::Lanes(lanes) => return Err(Error::Unsupported(format!("waves of {lanes} lanes"))),
        WaveWidth::ByRegisters(budget) => (&[256, 128, 64], Some(budget)),
    };
    let mut ready: Option<(bool, Lir, alloc::Allocation)> = None;
    let packs = |lanes: u32| shader.stage.has_workgroups() && warps * 2 <= lanes / 16;
    for (i, &lanes) in widths.iter().enumerate() {
        let packed = packs(lanes);
        if ready.as_ref().is_none_or(|r| r.0 != packed) {
            let mut lir = Lowering::run(shader, options, &cfg, packed)?;
            let allocation = alloc::allocate(&mut lir, &shader.work)?;
            ready = Some((packed, lir, allocation));
        }
        let (_, lir, allocation) = ready.as_ref().unwrap();
        if let (Some(&next), Some(budget)) = (widths.get(i + 1), budget) {
            let bytes = if packs(next) == packed { budget.bytes } else { budget.relowered };
            if allocation.varying_slots() * 4 * lanes > bytes {
                continue;
            }
        }
        return encode::encode(shader, lir, allocation, lanes, packed, warps * 16 > lanes);
    }
    unreachable!("the last width is always taken")
}

fn prune_if_needed(shader: &Shader) -> Result<(Cow<'_, Shader>, Cfg)> {
    let cfg = Cfg::of(shader)?;
    if (0..shader.blocks.len() as u32).all(|b| cfg.reachable(b)) {
        return Ok((Cow::Borrowed(shader), cfg));
    }
    let mut copy = shader.clone();
    crate::pass::prune::prune(&mut copy)?;
    let cfg = Cfg::of(&copy)?;
    Ok((Cow::Owned(copy), cfg))
}

impl<'a> Lowering<'a> {
    fn run(shader: &'a Shader, options: &'a Options<'a>, cfg: &'a Cfg, packed: bool) -> Result<Lir> {
        let n = shader.values.len();
        let u = Uniformity::new(shader, cfg, packed, true)?;
        let mut lower = Lowering {
            shader,
            options,
            cfg,
            u,
            folds: vec![],
            fold_of: vec![NONE; n],
            needed: vec![false; n],
            uses: vec![0; n],
            alias: (0..n as u32).collect(),
            tuple: vec![NONE; n],
            read: vec![],
            escape_loop: vec![NONE; n],
            escape: vec![NONE; n],
            pair: vec![None; n],
            absorbed: vec![false; n],
            by_branch: vec![false; n],
            twin_of: vec![],
            is_twin: vec![false; n],
            merged: vec![],
            stretch: 0,
            lir: Lir::default(),
        };
        lower.fold_addresses();
        lower.find_needed();
        lower.make_registers()?;
        lower.find_escapes();
        lower.find_pairs();
        lower.find_twins();
        lower.find_merged();
        let blocks = lower.split_edges()?;
        lower.emit(&blocks)?;
        Ok(lower.lir)
    }

    /// Operands after address folding.
    fn operands(&self, v: Value, mut f: impl FnMut(Value)) {
        let inst = &self.shader.data(v).inst;
        let fold = self.fold_of[v.0 as usize];
        if fold == NONE {
            return isa::operands(inst, f);
        }
        let fold = &self.folds[fold as usize];
        let mut skip = fold.address;
        isa::operands(inst, |o| {
            // The address is the first operand equal to it: places come before values.
            if skip == Some(o) {
                skip = None;
            } else {
                f(o);
            }
        });
        fold.a.iter().chain(fold.c.iter()).for_each(|o| f(*o));
    }

    fn find_needed(&mut self) {
        let (mut needed, mut uses) = (std::mem::take(&mut self.needed), std::mem::take(&mut self.uses));
        let mut passed = vec![false; needed.len()];
        // From the end to the beginning readers come before what they read, but for phis of loops.
        let mut late: Vec<Value> = vec![];
        let mut read = |o: Value, needed: &mut [bool], passed: &[bool], late: &mut Vec<Value>| {
            let i = o.0 as usize;
            uses[i] += 1;
            if !std::mem::replace(&mut needed[i], true) && passed[i] {
                late.push(o);
            }
        };
        for block in self.shader.blocks.iter().rev() {
            if let Term::Branch { cond, yes, no } = block.term
                && yes != no
            {
                read(cond, &mut needed, &passed, &mut late);
            }
            for &v in block.insts.iter().rev() {
                let i = v.0 as usize;
                passed[i] = true;
                if needed[i] || isa::has_effect(&self.shader.data(v).inst) {
                    needed[i] = true;
                    self.operands(v, |o| read(o, &mut needed, &passed, &mut late));
                }
            }
        }
        while let Some(v) = late.pop() {
            self.operands(v, |o| read(o, &mut needed, &passed, &mut late));
        }
        (self.needed, self.uses) = (needed, uses);
    }

    fn make_registers(&mut self) -> Result<()> {
        let handles = handles::known(self.shader)?;
        let n = self.shader.values.len();
        self.lir.vregs.reserve(n + n / 8);
        for (i, v) in self.shader.values.iter().enumerate() {
            let block = self.u.def_block[i];
            let loop_of =
                if block == NONE || self.u.fixed[i] { NONE } else { self.cfg.loop_of[block as usize] };
            let mut header_of = NONE;
            let mut home = loop_of;
            if let Inst::Phi(_) = v.inst
                && block != NONE
                && self.cfg.heads(block) == Some(loop_of)
                && loop_of != NONE
            {
                home = self.cfg.parent(loop_of);
                header_of = loop_of;
            }
            let uniform = !self.u.varying[i];
            let (pinned, handle) = (self.u.prologue[i], handles[i]);
            self.lir.vregs.push(lir::VReg { ty: v.ty, uniform, home, header_of, pinned, handle });
            match v.inst {
                Inst::Const(bits) if self.needed[i] => self.lir.consts.push((i as V, v.ty, bits)),
                Inst::Input(input) if self.needed[i] => self.lir.inputs.push((input, i as V)),
                _ => {}
            }
        }
        for block in &self.shader.blocks {
            for &v in &block.insts {
                let i = v.0 as usize;
                let data = self.shader.data(v);
                if data.ty == Ty::Tuple && self.needed[i] {
                    self.tuple[i] = self.lir.vregs.len() as V;
                    let proto = self.lir.vregs[i];
                    for k in 0..tuple_len(&data.inst) {
                        let ty = tuple_ty(&data.inst, k);
                        self.lir.vregs.push(lir::VReg { ty, ..proto });
                    }
                }
                if let Inst::Part(t, k) = data.inst
                    && self.needed[i]
                {
                    self.alias[i] = self.tuple[t.0 as usize] + k;
                    let part = self.alias[i] as usize;
                    self.read.resize(self.read.len().max(part + 1), false);
                    self.read[part] = true;
                }
            }
        }
        Ok(())
    }

    /// Register that holds `v` for readers in block `b`.
    fn at(&self, v: Value, b: u32) -> V {
        let i = v.0 as usize;
        let l = self.escape_loop[i];
        if l != NONE && !self.cfg.in_loop(b, l) { self.escape[i] } else { self.alias[i] }
    }

    fn uniform_at(&self, v: Value, b: u32) -> bool {
        !self.u.varies_at(self.cfg, v, b)
    }
}

/// Components of a tuple.
pub(crate) fn tuple_len(inst: &Inst) -> u32 {
    match inst {
        Inst::Load { n, .. } => *n as u32,
        Inst::Image(image) => image.parts(),
        Inst::Ray { op, .. } => op.results(),
        Inst::Product { .. } | Inst::LoadRows { .. } => crate::isa::code::ROWS as u32,
        _ => 1,
    }
}

fn tuple_ty(inst: &Inst, k: u32) -> Ty {
    match inst {
        Inst::Load { mem, .. } | Inst::LoadRows { mem, .. } => mem.ty(),
        Inst::Image(image) => image.part_ty(k),
        _ => Ty::B32,
    }
}
