//! Readable bytecode: one op a line, for blame and for tests. [`crate::bytecode_read`] reads it back, images excepted.

use crate::bytecode::{
    BEFORE_LEFT, Before, Code, Program, Reg, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE, mem_of, n_of, parts_of,
};
use crate::ir::{AtomicOp, Bin, Mem, Tri, Ty, Un};
use crate::isa::code::{CODES, Words, extension_words, layout, more_registers};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::OnceLock;

pub(crate) fn names() -> &'static HashMap<u16, String> {
    static NAMES: OnceLock<HashMap<u16, String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut map = HashMap::new();
        for (code, name, _) in CODES {
            map.insert(code.0, name.to_ascii_lowercase());
        }
        let mut add = |code: Code, name: String| {
            map.entry(code.0).or_insert(name);
        };
        for (ty, suffix) in [(Ty::B32, ""), (Ty::B64, "64"), (Ty::Bool, "b")] {
            Un::ALL.iter().for_each(|op| add(Code::un(*op, ty), format!("{op:?}{suffix}")));
            Bin::ALL.iter().for_each(|op| add(Code::bin(*op, ty), format!("{op:?}{suffix}")));
            Tri::ALL.iter().for_each(|op| add(Code::tri(*op, ty), format!("{op:?}{suffix}")));
        }
        crate::pairs::PAIRS.iter().enumerate().for_each(|(i, p)| add(Code::pair(i), p.name.to_string()));
        for (i, t) in crate::twins::TWINS.iter().enumerate() {
            let [a, b] = t.codes().map(|c| map.get(&c.0).cloned().unwrap_or_default());
            // Several twins are of the same ops, and differ in what each of these reads.
            let [x, y] = t.reads.map(|list| list.iter().map(u8::to_string).collect::<String>());
            map.insert(Code::twin(i).0, format!("{a}.{x}&{b}.{y}"));
        }
        map
    })
}

fn reg(r: Reg) -> String {
    match r {
        Reg::NONE => "-".to_string(),
        r if r.is_uniform() => format!("u{}", r.unit()),
        r => format!("v{}", r.unit()),
    }
}

fn line(program: &Program, pc: usize, out: &mut String) -> fmt::Result {
    let op = &program.code[pc];
    let unknown = format!("op{}", op.code.0);
    write!(out, "{pc:5}  {:<14}", names().get(&op.code.unfused().0).unwrap_or(&unknown))?;
    let layout = layout(op.code);
    // A twin's two results come first.
    let [second, third] = if layout.lanes && layout.b.writes() { [op.b, op.a] } else { [op.a, op.b] };
    let fields: Vec<Reg> = [op.d, second, third, op.c].into_iter().chain(more_registers(op)).collect();
    let last = fields.iter().rposition(|r| !r.is_none()).map_or(0, |i| i + 1);
    let list: Vec<String> = fields[..last].iter().map(|r| reg(*r)).collect();
    write!(out, " {}", list.join(" "))?;
    let words = extension_words(op);
    match op.code.unfused() {
        Code::CMP_SPLIT | Code::CMP_PARK | Code::CMP_JMP | Code::CMP_SPLIT_RARE => {
            let not = if op.e & 0x100 != 0 { "!" } else { "" };
            let name = Bin::from_number(op.e & 0xFF);
            write!(out, " {not}{:?}", name.unwrap_or(Bin::IEq))?;
            if Before::of(op.e) != Before::Nothing {
                let side = if op.e & BEFORE_LEFT != 0 { "left" } else { "right" };
                write!(out, " {side} {:?}", Before::of(op.e))?;
            }
        }
        Code::DESC => {
            write!(out, " table {} +{}", op.e, op.imm)?;
            let raw = program.code.get(pc + 1).map_or([Reg(0); 8], |w| w.regs());
            let [stride, count, bits] = [0, 2, 4].map(|i| raw[i].0 as u32 | (raw[i + 1].0 as u32) << 16);
            write!(out, " stride {stride} count {count} bits {bits}")?;
        }
        Code::TALLY => write!(out, " {}{}", op.imm, if op.e == 0 { "" } else { " lanes" })?,
        Code::RAY_BEGIN
        | Code::RAY_STEP
        | Code::RAY_GET
        | Code::TRACE
        | Code::PROBE
        | Code::PROBE_BUF
        | Code::PRODUCT
        | Code::NOTE => {
            write!(out, " +{} e={:#x}", op.imm, op.e)?;
        }
        Code::IMAGE => write!(out, " {:?}", program.images.get(op.imm as usize))?,
        c if c.is_memory() => {
            let mem: Mem = mem_of(op.e);
            write!(out, " +{} {mem:?}", op.imm as i32)?;
            if !c.is_atomic() && n_of(op.e) > 1 {
                write!(out, "x{}", n_of(op.e))?;
            }
            if c.is_plain_load() && parts_of(op.e) > 1 {
                write!(out, "/{}", parts_of(op.e))?;
            }
            if !c.is_atomic() && op.e & SHAPE_SAME != 0 {
                out.push_str(" same");
            }
            if !c.is_atomic() && op.e & SHAPE_RUN != 0 {
                out.push_str(" run");
            }
            if !c.is_atomic() && op.e & SHAPE_SINGLE != 0 {
                out.push_str(" single");
            }
            if c.is_atomic() {
                write!(out, " {:?}", AtomicOp::from_number(op.e >> 8).unwrap_or(AtomicOp::Load))?;
            }
        }
        _ if op.e != 0 && layout.more == 0 => write!(out, " e={:#x}", op.e)?,
        _ => {}
    }
    if words > 0 && layout.words != Words::Data {
        let regs: Vec<Reg> = program.code[pc + 1..].iter().take(words).flat_map(|w| w.regs()).collect();
        let last = regs.iter().rposition(|r| !r.is_none()).map_or(0, |i| i + 1);
        let list: Vec<String> = regs[..last].iter().map(|r| reg(*r)).collect();
        write!(out, " [{}]", list.join(" "))?;
    }
    if layout.label {
        write!(out, " → {}", op.imm)?;
    }
    out.push('\n');
    Ok(())
}

/// The whole program with its registers, constants and inputs.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    let packed = if program.packed { ", packed" } else { "" };
    let _ = writeln!(
        out,
        "{} lanes, workgroup {:?}{packed}, {} units",
        program.lanes, program.workgroup, program.units
    );
    for (r, ty, bits) in &program.consts {
        let _ = writeln!(out, "       const {} {ty:?} {bits:#x}", reg(*r));
    }
    for (input, r) in &program.inputs {
        let _ = writeln!(out, "       input {} {input:?}", reg(*r));
    }
    for (slot, r) in &program.outputs {
        let _ = writeln!(out, "       output {} {slot:#x}", reg(*r));
    }
    let mut pc = 0;
    while pc < program.code.len() {
        if pc == program.prologue as usize && pc != 0 {
            out.push_str("       -- per wave --\n");
        }
        let _ = line(program, pc, &mut out);
        pc += 1 + extension_words(&program.code[pc]);
    }
    out
}
