//! The IR as text, for people and snapshot tests.

use crate::ir::*;
use std::fmt::Write;

/// One line an instruction; constants and inputs are shown where they are read.
pub fn print(s: &Shader) -> String {
    let mut o = String::new();
    let _ = writeln!(o, "{:?} {:?}", s.stage, s.workgroup);
    if s.shared_bytes != 0 || s.scratch_words != 0 {
        let _ = writeln!(o, "shared {} bytes, scratch {} words", s.shared_bytes, s.scratch_words);
    }
    for (k, b) in s.blocks.iter().enumerate() {
        let _ = write!(o, "b{k}:");
        match b.merge {
            Merge::None => {}
            Merge::Selection(m) => {
                let _ = write!(o, " selection, merge {m:?}");
            }
            Merge::Loop { merge, cont } => {
                let _ = write!(o, " loop, merge {merge:?} continue {cont:?}");
            }
        }
        if b.origin.line != 0 {
            let _ = write!(o, " ; {}:{}", s.files[b.origin.file as usize], b.origin.line);
        }
        o.push('\n');
        for &v in &b.insts {
            let d = s.data(v);
            if matches!(d.inst, Inst::Const(_) | Inst::Input(_)) {
                continue;
            }
            let exact = if d.flags.exact { " exact" } else { "" };
            if d.ty == Ty::Void {
                let _ = writeln!(o, "    {}{exact}", inst(s, &d.inst));
            } else {
                let _ = writeln!(o, "    {v:?}: {:?} = {}{exact}", d.ty, inst(s, &d.inst));
            }
        }
        let _ = match b.term {
            Term::Jump(t) => writeln!(o, "    jump {t:?}"),
            Term::Branch { cond, yes, no } => writeln!(o, "    if {} {yes:?} else {no:?}", val(s, cond)),
            Term::Return => writeln!(o, "    return"),
        };
    }
    o
}

/// An operand: a constant's value, an input's name, or the value's number.
fn val(s: &Shader, v: Value) -> String {
    match s.values.get(v.0 as usize).map(|d| (&d.inst, d.ty)) {
        Some((Inst::Const(c), Ty::Bool)) => format!("{}", *c != 0),
        Some((Inst::Const(c), Ty::B64)) => format!("{c:#x}l"),
        Some((Inst::Const(c), _)) if *c < 0x1_0000 => format!("{c}"),
        Some((Inst::Const(c), _)) => {
            let f = f32::from_bits(*c as u32);
            if f.is_normal() && (1e-6..1e9).contains(&f.abs()) {
                format!("{f:?}f")
            } else {
                format!("{c:#x}")
            }
        }
        Some((Inst::Input(i), _)) => format!("{i:?}"),
        _ => format!("{v:?}"),
    }
}

fn list(s: &Shader, l: &[Value]) -> String {
    l.iter().map(|&v| val(s, v)).collect::<Vec<_>>().join(", ")
}

fn place(s: &Shader, p: &Place, offset: u32) -> String {
    match *p {
        Place::Buffer { desc, addr } => format!("buffer {}[{} + {offset}]", val(s, desc), val(s, addr)),
        Place::Global { addr } => format!("global[{} + {offset}]", val(s, addr)),
        Place::Shared { addr } => format!("shared[{} + {offset}]", val(s, addr)),
        Place::Scratch { addr } => format!("scratch[{} + {offset}]", val(s, addr)),
        Place::Push { addr } => format!("push[{} + {offset}]", val(s, addr)),
    }
}

fn flags(f: &MemFlags) -> &'static str {
    match (f.read_only, f.volatile) {
        (true, false) => " read_only",
        (false, true) => " volatile",
        (true, true) => " read_only volatile",
        _ => "",
    }
}

fn inst(s: &Shader, i: &Inst) -> String {
    match i {
        Inst::Un(op, a) => format!("{op:?} {}", val(s, *a)),
        Inst::Bin(op, a, b) => format!("{op:?} {}", list(s, &[*a, *b])),
        Inst::Tri(op, a, b, c) => format!("{op:?} {}", list(s, &[*a, *b, *c])),
        Inst::Phi(args) => {
            let each: Vec<String> = args.iter().map(|(b, v)| format!("{b:?} {}", val(s, *v))).collect();
            format!("phi {}", each.join(", "))
        }
        Inst::Part(t, k) => format!("part {t:?}.{k}"),
        Inst::Descriptor { set, binding, index, texels } => {
            let of = if *texels { " texels" } else { "" };
            format!("descriptor {set}.{binding}[{}]{of}", val(s, *index))
        }
        Inst::Load { place: p, offset, mem, n, flags: f } => {
            format!("load {n}×{mem:?} {}{}", place(s, p, *offset), flags(f))
        }
        Inst::Store { place: p, offset, mem, values, flags: f } => {
            format!("store {mem:?} {}{} = {}", place(s, p, *offset), flags(f), list(s, values))
        }
        Inst::Atomic { place: p, offset, mem, op, a, b } => {
            let b = b.map(|b| format!(" if {}", val(s, b))).unwrap_or_default();
            format!("atomic {op:?} {mem:?} {} {}{b}", place(s, p, *offset), val(s, *a))
        }
        Inst::BufferSize { desc } => format!("size of {desc:?}"),
        Inst::Ballot(a) => format!("ballot {}", val(s, *a)),
        Inst::First(a) => format!("first {}", val(s, *a)),
        Inst::Shuffle(a, b) => format!("shuffle {}", list(s, &[*a, *b])),
        Inst::Reduce { op, scan, cluster, value } => {
            format!("{scan:?} {op:?} of {cluster} {}", val(s, *value))
        }
        Inst::Quad(q, a) => format!("quad {q:?} {}", val(s, *a)),
        Inst::Output { slot, value } => format!("output {slot} = {}", val(s, *value)),
        Inst::Image(i) => image(s, i),
        Inst::Barrier => "barrier".into(),
        Inst::MemoryBarrier => "memory barrier".into(),
        Inst::Clock => "clock".into(),
        Inst::Demote => "demote".into(),
        Inst::Mark(n) => format!("mark {n}"),
        Inst::IsHelper => "is-helper".into(),
        Inst::Const(_) | Inst::Input(_) => format!("{i:?}"),
    }
}

fn image(s: &Shader, i: &ImageInst) -> String {
    let mut o = format!("image {:?} {:?} {:?} {:?}", i.op, i.dim, i.texel, i.image);
    if i.arrayed {
        o.push_str(" array");
    }
    if i.multisampled {
        o.push_str(" multisampled");
    }
    for (name, l) in [("at", &i.coords), ("grad", &i.grad), ("offsets", &i.offsets), ("data", &i.data)] {
        if !l.is_empty() {
            let _ = write!(o, " {name} ({})", list(s, l));
        }
    }
    let single = [
        ("sampler", i.sampler),
        ("dref", i.dref),
        ("lod", i.lod),
        ("bias", i.bias),
        ("sample", i.sample),
        ("min lod", i.min_lod),
    ];
    for (name, v) in single {
        if let Some(v) = v {
            let _ = write!(o, " {name} {}", val(s, v));
        }
    }
    o
}
