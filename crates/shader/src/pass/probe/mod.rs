//! Adds probes, which tell the machine of each access to memory that others see ([`ProbeOp`]). It runs before all other passes, so that
//! no access is merged, moved or removed before its probe is there.

mod loops;
mod memory;
mod shadow;

use crate::ir::*;
use crate::options::Options;
use std::collections::HashMap;

/// Adds the probes of a shader that is to be sanitised.
pub fn add(shader: &mut Shader, options: &Options) {
    let mut probes = Probes { invocation: vec![], stretch: 0, checks: HashMap::new() };
    if shader.blocks.is_empty() {
        return;
    }
    let entry = probes.invocation(shader);
    for b in 0..shader.blocks.len() {
        let old = std::mem::take(&mut shader.blocks[b].insts);
        let mut new = Vec::with_capacity(old.len() * 2);
        if b == 0 {
            // The entry has no phis.
            new.extend(entry.iter().copied());
        }
        for v in old {
            new.extend(probes.before(shader, options, Block(b as u32), v));
            new.push(v);
        }
        shader.blocks[b].insts = new;
    }
    let invocation = [probes.invocation[0], probes.invocation[1]];
    shadow::add(shader, invocation, probes.checks, options.undefined);
}

struct Probes {
    /// The number of the workgroup in the dispatch, and of the invocation in it.
    invocation: Vec<Value>,
    /// As [`Shader::origin`] wants it.
    stretch: usize,
    /// The checks of image operations.
    checks: HashMap<Value, Value>,
}

fn push(shader: &mut Shader, inst: Inst, ty: Ty) -> Value {
    shader.values.push(ValueData { inst, ty, flags: ValueFlags::default() });
    Value(shader.values.len() as u32 - 1)
}

impl Probes {
    /// What says which invocation a lane is; returns its instructions. Stages without workgroups have none: their accesses are not
    /// compared with each other's.
    fn invocation(&mut self, shader: &mut Shader) -> Vec<Value> {
        let first = shader.values.len();
        let groups = shader.stage.has_workgroups();
        self.invocation = if groups {
            let mut input = |i| push(shader, Inst::Input(i), Ty::B32);
            let [x, y, z] = [0, 1, 2].map(|k| input(Input::WorkgroupId(k)));
            let [columns, rows] = [0, 1].map(|k| input(Input::NumWorkgroups(k)));
            let local = input(Input::LocalIndex);
            let subgroup = input(Input::SubgroupId);
            let half = push(shader, Inst::Const(16), Ty::B32);
            let mut bin = |op, a, b| push(shader, Inst::Bin(op, a, b), Ty::B32);
            let upper = bin(Bin::Shl, subgroup, half);
            let local = bin(Bin::Or, local, upper);
            let planes = bin(Bin::IMul, z, rows);
            let row = bin(Bin::IAdd, planes, y);
            let before = bin(Bin::IMul, row, columns);
            vec![bin(Bin::IAdd, before, x), local]
        } else if shader.stage == Stage::Fragment && writes_memory(shader) {
            self.fragment(shader)
        } else {
            vec![push(shader, Inst::Const(0), Ty::B32); 2]
        };
        (first..shader.values.len()).map(|v| Value(v as u32)).collect()
    }

    /// What says which fragment a lane is. If an interlock orders the fragments of a pixel, these count as one: the number is the pixel's, in
    /// 16 bits. (Pixels that share one by chance count as one too.) Else the machine counts fragments as they begin.
    fn fragment(&mut self, shader: &mut Shader) -> Vec<Value> {
        let zeros = vec![push(shader, Inst::Const(0), Ty::B32); 2];
        shader.sites.push(Site::new(ProbeOp::Begin, Origin::default()));
        let site = shader.sites.len() as u32 - 1;
        push(shader, Inst::Probe { op: ProbeOp::Begin, site, args: zeros.clone() }, Ty::Void);
        if !shader.interface.pixel_interlock && !shader.interface.sample_interlock {
            return zeros;
        }
        let [x, y] = [0, 1].map(|k| {
            let at = push(shader, Inst::Input(Input::FragCoord(k)), Ty::B32);
            push(shader, Inst::Un(Un::F32ToU32, at), Ty::B32)
        });
        let times = push(shader, Inst::Const(251), Ty::B32);
        let rows = push(shader, Inst::Bin(Bin::IMul, y, times), Ty::B32);
        let number = push(shader, Inst::Bin(Bin::IAdd, x, rows), Ty::B32);
        let mask = push(shader, Inst::Const(0xFFFF), Ty::B32);
        let pixel = push(shader, Inst::Bin(Bin::And, number, mask), Ty::B32);
        vec![push(shader, Inst::Const(1), Ty::B32), pixel]
    }

    /// The probe of an instruction, with what it needs.
    fn before(&mut self, shader: &mut Shader, options: &Options, block: Block, v: Value) -> Vec<Value> {
        let (op, access) = match &shader.data(v).inst {
            // Push constants and private words are no region's ([`Region::of`]); others' memory may change though this shader does not.
            Inst::Load { place, offset, mem, n, .. } => {
                (ProbeOp::Read, Some((*place, *offset, *mem, *n as u32, vec![])))
            }
            Inst::Store { place, offset, mem, values, .. } => {
                (ProbeOp::Write, Some((*place, *offset, *mem, values.len() as u32, values.to_vec())))
            }
            Inst::Atomic { place, offset, mem, .. } => {
                (ProbeOp::Atomic, Some((*place, *offset, *mem, 1, vec![])))
            }
            Inst::Barrier => (ProbeOp::Barrier, None),
            Inst::MemoryBarrier
            | Inst::Ballot(_)
            | Inst::First(_)
            | Inst::Shuffle(..)
            | Inst::Reduce { .. }
            | Inst::Product { .. } => (ProbeOp::Fence, None),
            // Lanes without a neighbour take their own value in derivatives alone.
            Inst::Quad(op, _) if op.is_derivative() => (ProbeOp::Quad, None),
            Inst::Quad(..) => (ProbeOp::Fence, None),
            Inst::Image(_) => return self.image(shader, options, block, v),
            _ => return vec![],
        };
        let origin = self.origin(shader, block, v);
        let mut site = Site::new(op, origin);
        let (mut new, mut args) = (vec![], vec![]);
        if let Some((place, offset, mem, n, stored)) = access {
            let Some((region, wide, narrow)) = Region::of(&place) else { return vec![] };
            // In other stages, what they hand to each other lies there too.
            let foreign = region == Region::Shared && shader.stage != Stage::Compute;
            if foreign || is_own(shader, &place) {
                return vec![];
            }
            site = Site::access(op, origin, region, offset, mem, n);
            if let Place::Buffer { desc, .. } = place {
                (site.binding, site.descriptors) = descriptors(shader, options, desc);
            }
            site.shared_bytes = shader.shared_bytes;
            if let Inst::Atomic { op, .. } = shader.data(v).inst {
                site.atomic = reads_and_writes(op);
            }
            let mut zero = |shader: &mut Shader| {
                let zero = push(shader, Inst::Const(0), Ty::B32);
                new.push(zero);
                zero
            };
            let at = narrow.unwrap_or_else(|| zero(shader));
            let mut stored = if site.tells { stored.into_iter() } else { vec![].into_iter() };
            let bits = stored.next().unwrap_or_else(|| zero(shader));
            let bits = hash(shader, &mut new, bits, stored);
            args.extend(wide);
            args.extend([at, bits]);
        }
        args.extend(&self.invocation);
        site.order = shader.data(v).flags.order;
        shader.sites.push(site);
        let site = shader.sites.len() as u32 - 1;
        new.push(push(shader, Inst::Probe { op, site, args }, Ty::Void));
        new
    }
}

impl Probes {
    /// The check of an operation on texels.
    fn image(&mut self, shader: &mut Shader, options: &Options, block: Block, v: Value) -> Vec<Value> {
        let Inst::Image(i) = &shader.data(v).inst else { return vec![] };
        // Input attachments lie in the tile.
        let Some(checked) = Checked::of(i.op).filter(|_| i.dim != Dim::SubpassData) else { return vec![] };
        let mut check = (**i).clone();
        let op = match checked {
            Checked::Write => ProbeOp::Write,
            Checked::Atomic => ProbeOp::Atomic,
            _ => ProbeOp::Read,
        };
        let mut site = Site::new(op, self.origin(shader, block, v));
        site.region = Region::Image;
        (site.binding, site.descriptors) = descriptors(shader, options, check.image);
        site.order = shader.data(v).flags.order;
        if let ImageOp::Atomic(op) = check.op {
            site.atomic = reads_and_writes(op);
        }
        site.tells = op == ProbeOp::Write && check.texel.ty() == Ty::B32;
        let mut new = vec![];
        let mut texel = if site.tells { check.data.into_iter() } else { vec![].into_iter() };
        let first = texel.next().unwrap_or_else(|| {
            new.push(push(shader, Inst::Const(0), Ty::B32));
            new[0]
        });
        let bits = hash(shader, &mut new, first, texel);
        shader.sites.push(site);
        (check.op, check.component) = (ImageOp::Check(checked), shader.sites.len() as u32 - 1);
        (check.texel, check.sparse, check.half) = (TexelType::U32, false, false);
        check.data = vec![self.invocation[0], self.invocation[1], bits];
        let check = push(shader, Inst::Image(Box::new(check)), Ty::B32);
        self.checks.insert(v, check);
        new.push(check);
        new
    }

    /// Where an instruction stands in the application's module.
    fn origin(&mut self, shader: &Shader, block: Block, v: Value) -> Origin {
        let origin = shader.origin(v, &mut self.stretch);
        if origin == Origin::default() { shader.block(block).origin } else { origin }
    }
}

fn reads_and_writes(op: AtomicOp) -> [bool; 2] {
    [op != AtomicOp::Store, op != AtomicOp::Load]
}

/// The shader's own words: constant arrays.
fn is_own(shader: &Shader, place: &Place) -> bool {
    let Place::Buffer { desc, .. } = *place else { return false };
    matches!(shader.data(desc).inst, Inst::Descriptor { source: DescriptorSource::Data(_), .. })
}

/// Set and binding of a descriptor, and where that binding's descriptors lie ([`Site::descriptors`]).
fn descriptors(shader: &Shader, options: &Options, desc: Value) -> (Option<(u32, u32)>, Option<[u32; 4]>) {
    let Inst::Descriptor { source: DescriptorSource::Binding { set, binding }, .. } = shader.data(desc).inst
    else {
        return (None, None);
    };
    let place = (options.binding)(set, binding)
        .filter(|b| !b.in_memory && !b.inline_data && options.mapping.is_none())
        .map(|b| [b.table, b.offset, b.stride, b.count]);
    (Some((set, binding)), place)
}

/// A hash of words (the step of FNV-1a, by words); the word itself if there is one.
fn hash(shader: &mut Shader, new: &mut Vec<Value>, first: Value, more: impl Iterator<Item = Value>) -> Value {
    let mut step = |inst| {
        new.push(push(shader, inst, Ty::B32));
        new[new.len() - 1]
    };
    more.fold(first, |bits, next| {
        let prime = step(Inst::Const(0x0100_0193));
        let product = step(Inst::Bin(Bin::IMul, bits, prime));
        step(Inst::Bin(Bin::Xor, product, next))
    })
}

/// Whether invocations write memory that others see.
fn writes_memory(shader: &Shader) -> bool {
    shader.blocks.iter().flat_map(|b| &b.insts).any(|v| match &shader.data(*v).inst {
        Inst::Store { place, .. } | Inst::Atomic { place, .. } => {
            matches!(place, Place::Buffer { .. } | Place::Global { .. })
        }
        Inst::Image(i) => matches!(i.op, ImageOp::Write | ImageOp::Atomic(_)),
        _ => false,
    })
}
