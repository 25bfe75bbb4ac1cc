//! Readable IR: blocks, values, terminators.

use shader::ir::{Inst, Shader};
use std::fmt::Write;

pub fn print(shader: &Shader) -> String {
    let mut out = String::new();
    for (b, block) in shader.blocks.iter().enumerate() {
        let _ = writeln!(out, "b{b}: {:?}", block.merge);
        for v in &block.insts {
            let d = shader.data(*v);
            let exact = if d.flags.exact { " exact" } else { "" };
            let _ = match &d.inst {
                Inst::Const(c) => writeln!(out, "  {v:?} = {:?} {c:#x}", d.ty),
                inst => writeln!(out, "  {v:?} = {:?} {inst:?}{exact}", d.ty),
            };
        }
        let _ = writeln!(out, "  {:?}", block.term);
    }
    out
}
