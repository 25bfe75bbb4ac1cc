//! Notes of a debugged shader ([`crate::notes`]): which warps they tell of, and the words that they tell.
//!
//! [`aim`] comes first. [`settle`] comes after FMA fusion, which takes no notice of notes, so that a debugged shader computes the bits
//! that it computes undebugged.

use crate::ir::*;
use crate::notes::{Note, Scalar, Target, What, begin};

/// Tells each note in which warps it tells: where the shader begins, a warp with the target says so.
pub fn aim(shader: &mut Shader, target: Target) {
    if shader.blocks.is_empty() || shader.notes.frames.is_empty() || !target.is_of(shader.stage) {
        return;
    }
    let mut new = New { first: shader.values.len(), shader };
    let (hit, words) = new.hit(target);
    let hit = new.push(Inst::Ballot(hit), Ty::B32);
    let note = new.shader.notes.all.len() as u32;
    let scalars = vec![Scalar::Int; words.len()];
    new.shader.notes.all.push(Note { at: 0, frame: 0, what: What::Begin, first: 0, scalars });
    let args = [vec![hit], words].concat();
    new.push(Inst::Note { note, args }, Ty::Void);
    let first = new.first;
    let entry: Vec<Value> = (first..shader.values.len()).map(|v| Value(v as u32)).collect();
    let insts = &mut shader.blocks[0].insts;
    // What the prelude gives stands before it (constants and inputs of the translation are there).
    insts.splice(0..0, entry);
    for v in &mut shader.values[..first] {
        if let Inst::Note { args, .. } = &mut v.inst {
            args.insert(0, hit);
        }
    }
}

/// Instructions under construction.
struct New<'a> {
    first: usize,
    shader: &'a mut Shader,
}

impl New<'_> {
    fn push(&mut self, inst: Inst, ty: Ty) -> Value {
        self.shader.values.push(ValueData { inst, ty, flags: ValueFlags::default() });
        Value(self.shader.values.len() as u32 - 1)
    }
    fn input(&mut self, input: Input) -> Value {
        self.push(Inst::Input(input), input.ty())
    }
    /// Whether all of these are what is asked for.
    fn all(&mut self, pairs: &[(Value, u32)]) -> Value {
        let mut all = None;
        for (v, is) in pairs {
            let is = self.push(Inst::Const(*is as u64), Ty::B32);
            let same = self.push(Inst::Bin(Bin::IEq, *v, is), Ty::Bool);
            all = Some(match all {
                Some(all) => self.push(Inst::Bin(Bin::BAnd, all, same), Ty::Bool),
                None => same,
            });
        }
        all.expect("a pair at least")
    }

    /// Whether a lane is the target (Bool), and the words that say which invocation a lane is ([`begin`]).
    fn hit(&mut self, target: Target) -> (Value, Vec<Value>) {
        match target {
            Target::Pixel([x, y]) => {
                let at = [0, 1].map(|k| {
                    let at = self.input(Input::FragCoord(k));
                    self.push(Inst::Un(Un::F32ToU32, at), Ty::B32)
                });
                let here = self.all(&[(at[0], x), (at[1], y)]);
                let helper = self.push(Inst::IsHelper, Ty::Bool);
                let own = self.push(Inst::Un(Un::BNot, helper), Ty::Bool);
                let hit = self.push(Inst::Bin(Bin::BAnd, here, own), Ty::Bool);
                let helper = self.push(Inst::Un(Un::BoolToInt, helper), Ty::B32);
                let words = [at[0], at[1], helper];
                debug_assert_eq!(words.len(), begin::PIXEL);
                (hit, words.to_vec())
            }
            Target::Vertex { vertex, instance } => {
                let [v, i] = [Input::VertexIndex, Input::InstanceIndex].map(|i| self.input(i));
                debug_assert_eq!(begin::VERTEX, 2);
                (self.all(&[(v, vertex), (i, instance)]), vec![v, i])
            }
            Target::Thread(id) => {
                let size = self.shader.workgroup.map(|n| n.max(1));
                let mut pairs = vec![];
                for k in 0..3 {
                    pairs.push((self.input(Input::WorkgroupId(k)), id[k as usize] / size[k as usize]));
                }
                for k in 0..3 {
                    pairs.push((self.input(Input::LocalId(k)), id[k as usize] % size[k as usize]));
                }
                debug_assert_eq!(pairs.len(), begin::THREAD);
                (self.all(&pairs), pairs.iter().map(|p| p.0).collect())
            }
        }
    }
}

/// Makes words of what the notes tell.
pub fn settle(shader: &mut Shader) {
    if shader.notes.all.is_empty() {
        return;
    }
    for b in 0..shader.blocks.len() {
        let old = std::mem::take(&mut shader.blocks[b].insts);
        let mut insts = Vec::with_capacity(old.len() * 2);
        for v in old {
            if let Inst::Note { note, args } = &shader.data(v).inst {
                let (note, args) = (*note, args.clone());
                if shader.notes.all[note as usize].what != What::Begin {
                    let from = shader.values.len();
                    let args = words(shader, note, &args);
                    insts.extend((from..shader.values.len()).map(|v| Value(v as u32)));
                    shader.values[v.0 as usize].inst = Inst::Note { note, args };
                }
            }
            insts.push(v);
        }
        shader.blocks[b].insts = insts;
    }
}

fn words(shader: &mut Shader, note: u32, args: &[Value]) -> Vec<Value> {
    let scalars = shader.notes.all[note as usize].scalars.clone();
    let mut new = New { first: 0, shader };
    let mut words: Vec<Value> = args[..1].to_vec();
    for (&v, scalar) in args[1..].iter().zip(&scalars) {
        let ty = new.shader.data(v).ty;
        let seen = match scalar {
            Scalar::F16 | Scalar::F32 | Scalar::F64 => new.push(Inst::Un(Un::FCanon, v), ty),
            _ => v,
        };
        match scalar {
            Scalar::Bool => words.push(new.push(Inst::Un(Un::BoolToInt, v), Ty::B32)),
            Scalar::Int | Scalar::F32 => words.push(seen),
            Scalar::F16 => words.push(new.push(Inst::Un(Un::F16ToBits, seen), Ty::B32)),
            Scalar::I64 | Scalar::F64 => {
                let low = new.push(Inst::Un(Un::Lo32, seen), Ty::B32);
                words.extend([low, new.push(Inst::Un(Un::Hi32, seen), Ty::B32)]);
            }
        }
    }
    words
}
