//! Adds probes, which tell the machine of each access to memory that others see ([`ProbeOp`]). It runs before all other passes, so that
//! no access is merged, moved or removed before its probe is there.

mod shadow;

use crate::ir::*;
use crate::options::Options;

/// Adds the probes of a shader that is to be sanitised.
pub fn add(shader: &mut Shader, options: &Options) {
    let mut probes = Probes { invocation: vec![], stretch: 0 };
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
    shadow::add(shader, invocation);
}

struct Probes {
    /// The number of the workgroup in the dispatch, and of the invocation in it.
    invocation: Vec<Value>,
    /// As [`Shader::origin`] wants it.
    stretch: usize,
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
        } else {
            vec![push(shader, Inst::Const(0), Ty::B32); 2]
        };
        (first..shader.values.len()).map(|v| Value(v as u32)).collect()
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
            | Inst::Quad(..) => (ProbeOp::Fence, None),
            _ => return vec![],
        };
        let mut origin = shader.origin(v, &mut self.stretch);
        if origin == Origin::default() {
            origin = shader.block(block).origin;
        }
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
            site.binding = binding(shader, &place);
            site.descriptors = site.binding.and_then(|(set, binding)| {
                let b = (options.binding)(set, binding).filter(|b| !b.in_memory && !b.inline_data)?;
                options.mapping.is_none().then_some([b.table, b.offset, b.stride, b.count])
            });
            site.shared_bytes = shader.shared_bytes;
            let mut zero = |shader: &mut Shader| {
                let zero = push(shader, Inst::Const(0), Ty::B32);
                new.push(zero);
                zero
            };
            let at = narrow.unwrap_or_else(|| zero(shader));
            let mut stored = if site.tells { stored.into_iter() } else { vec![].into_iter() };
            let mut bits = stored.next().unwrap_or_else(|| zero(shader));
            for next in stored {
                // A hash of them all (the step of FNV-1a, by words).
                let step = |shader: &mut Shader, new: &mut Vec<Value>, inst| {
                    new.push(push(shader, inst, Ty::B32));
                    new[new.len() - 1]
                };
                let prime = step(shader, &mut new, Inst::Const(0x0100_0193));
                let product = step(shader, &mut new, Inst::Bin(Bin::IMul, bits, prime));
                bits = step(shader, &mut new, Inst::Bin(Bin::Xor, product, next));
            }
            args.extend(wide);
            args.extend([at, bits]);
        }
        args.extend(&self.invocation);
        shader.sites.push(site);
        let site = shader.sites.len() as u32 - 1;
        new.push(push(shader, Inst::Probe { op, site, args }, Ty::Void));
        new
    }
}

/// The shader's own words: constant arrays.
fn is_own(shader: &Shader, place: &Place) -> bool {
    let Place::Buffer { desc, .. } = *place else { return false };
    matches!(shader.data(desc).inst, Inst::Descriptor { source: DescriptorSource::Data(_), .. })
}

/// Set and binding of a buffer's descriptor.
fn binding(shader: &Shader, place: &Place) -> Option<(u32, u32)> {
    let Place::Buffer { desc, .. } = *place else { return None };
    match shader.data(desc).inst {
        Inst::Descriptor { source: DescriptorSource::Binding { set, binding }, .. } => Some((set, binding)),
        _ => None,
    }
}
