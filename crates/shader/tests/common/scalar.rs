//! Runs IR one invocation at a time: what the wave must agree with.

use super::{LANE_BYTES, TABLE_BINDING, TABLE_WORDS, table_word};
use shader::eval;
use shader::ir::*;

pub struct Invocation {
    pub local: [u32; 3],
    pub local_index: u32,
    pub group: u32,
}

/// Memory of the invocation itself: its bytes of the output buffer, starting at `base`.
/// `marks`: the marks passed are counted there, by index.
pub fn run(shader: &Shader, at: &Invocation, base: u32, memory: &mut [u8], marks: &mut [u64]) {
    assert_eq!(memory.len(), LANE_BYTES as usize);
    let mut values = vec![0u64; shader.values.len()];
    for (i, v) in shader.values.iter().enumerate() {
        match v.inst {
            Inst::Const(c) => values[i] = c,
            Inst::Input(input) => {
                values[i] = match input {
                    Input::LocalIndex => at.local_index as u64,
                    Input::LocalId(c) => at.local[c as usize] as u64,
                    Input::WorkgroupId(0) => at.group as u64,
                    Input::WorkgroupId(_) => 0,
                    Input::NumWorkgroups(_) => 7,
                    other => panic!("input {other:?}"),
                }
            }
            _ => {}
        }
    }
    let (mut block, mut from) = (0u32, u32::MAX);
    for _ in 0..200_000 {
        let data = &shader.blocks[block as usize];
        // Phis read the values before any of them is written.
        let mut phis = vec![];
        for &v in &data.insts {
            let Inst::Phi(sources) = &shader.data(v).inst else { continue };
            let s = sources.iter().find(|s| s.0.0 == from).expect("phi has an entry for its predecessor");
            phis.push((v, values[s.1.0 as usize]));
        }
        phis.into_iter().for_each(|(v, x)| values[v.0 as usize] = x);
        for &v in &data.insts {
            let d = shader.data(v);
            let get = |o: Value| values[o.0 as usize];
            let result = match &d.inst {
                Inst::Const(_) | Inst::Input(_) | Inst::Phi(_) => continue,
                Inst::Mark(m) => {
                    marks[*m as usize] += 1;
                    continue;
                }
                Inst::Un(op, a) => eval::un(*op, shader.ty(*a), get(*a)).unwrap(),
                Inst::Bin(op, a, b) => eval::bin(*op, shader.ty(*a), get(*a), get(*b)).unwrap(),
                Inst::Tri(op, a, b, c) => {
                    let ty = if *op == Tri::Select { d.ty } else { shader.ty(*a) };
                    eval::tri(*op, ty, get(*a), get(*b), get(*c)).unwrap()
                }
                Inst::Descriptor { source: DescriptorSource::Binding { binding, .. }, .. } => {
                    0x1000 + *binding as u64
                }
                Inst::Part(t, k) => values[t.0 as usize] >> (32 * k) & 0xFFFF_FFFF,
                Inst::Load { place: Place::Buffer { desc, addr }, offset, n, .. } => {
                    let address = (get(*addr) as u32).wrapping_add(*offset);
                    let mut out = 0;
                    for k in 0..*n as u32 {
                        let a = address.wrapping_add(4 * k);
                        let word = if get(*desc) == 0x1000 + TABLE_BINDING as u64 {
                            if a / 4 < TABLE_WORDS { table_word(a / 4) } else { 0 }
                        } else {
                            let i = a.wrapping_sub(base) as usize;
                            u32::from_le_bytes(memory[i..i + 4].try_into().unwrap())
                        };
                        out |= (word as u64) << (32 * k);
                    }
                    out
                }
                Inst::Store { place: Place::Buffer { addr, .. }, offset, values: list, .. } => {
                    for (k, o) in list.iter().enumerate() {
                        let a = (get(*addr) as u32).wrapping_add(*offset + 4 * k as u32).wrapping_sub(base)
                            as usize;
                        memory[a..a + 4].copy_from_slice(&(get(*o) as u32).to_le_bytes());
                    }
                    0
                }
                other => panic!("{other:?}"),
            };
            values[v.0 as usize] = result;
        }
        from = block;
        block = match data.term {
            Term::Jump(t) => t.0,
            Term::Branch { cond, yes, no } => {
                if values[cond.0 as usize] & 1 == 1 {
                    yes.0
                } else {
                    no.0
                }
            }
            Term::Return => return,
        };
    }
    panic!("the program does not end");
}
