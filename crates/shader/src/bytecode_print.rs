//! Readable bytecode: one op a line, for blame and for tests.

use crate::bytecode::{BEFORE_LEFT, Before, Code, Op, Program, Reg, SHAPE_RUN, SHAPE_SAME, mem_of, n_of};
use crate::ir::{Bin, Mem, Tri, Ty, Un};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::OnceLock;

/// Ops of a code that carry extension words: how many.
pub fn extension_words(op: &Op) -> usize {
    match op.code.unfused() {
        Code::LD_BUF
        | Code::LD_GLOBAL
        | Code::LD_SHARED
        | Code::LD_SCRATCH
        | Code::LD_PUSH
        | Code::ST_BUF
        | Code::ST_GLOBAL
        | Code::ST_SHARED
        | Code::ST_SCRATCH => {
            if n_of(op.e) == 1 {
                0
            } else {
                n_of(op.e).div_ceil(8)
            }
        }
        Code::AT_BUF | Code::AT_GLOBAL | Code::AT_SHARED | Code::AT_SCRATCH | Code::DESC => 1,
        Code::CMP_SPLIT | Code::CMP_PARK | Code::CMP_SPLIT_RARE => 1,
        _ => 0,
    }
}

/// The op jumps to `imm`.
pub fn jumps(code: Code) -> bool {
    matches!(
        code.unfused(),
        Code::JMP
            | Code::JMP_UNLESS
            | Code::JMP_IF
            | Code::SPLIT
            | Code::SPLIT_RARE
            | Code::SETEXEC
            | Code::JOIN
            | Code::PARK
            | Code::PARK_IF
            | Code::LOOP
            | Code::LOOP_NEXT
            | Code::CMP_SPLIT
            | Code::CMP_SPLIT_RARE
            | Code::CMP_PARK
            | Code::CMP_JMP
            | Code::NARROW
    )
}

macro_rules! names {
    ($map:ident, $($code:ident)*) => { $( $map.insert(Code::$code.0, stringify!($code).to_ascii_lowercase()); )* };
}

fn names() -> &'static HashMap<u16, String> {
    static NAMES: OnceLock<HashMap<u16, String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let mut map = HashMap::new();
        names!(map, END JMP JMP_UNLESS SPLIT SETEXEC GETEXEC OREXEC PARK PARK_IF LOOP MASK_ANDN MASK_CLEAR BARRIER
            MOVM32 MOVM64 MOVMB MOVIF32 MOVIF64 MOVIFB FENCE JOIN JMP_IF SPLIT_RARE NARROW DEMOTE HELPER TALLY LD_BUF LD_GLOBAL LD_SHARED
            LD_SCRATCH LD_PUSH ST_BUF ST_GLOBAL ST_SHARED ST_SCRATCH AT_BUF AT_GLOBAL AT_SHARED AT_SCRATCH DESC
            BUF_SIZE IMAGE CLOCK BALLOT FIRST32 FIRST64 SHUFFLE32 SHUFFLE64 QUAD32 QUAD64 REDUCE32 REDUCE64
            LOOP_NEXT CMP_SPLIT CMP_PARK CMP_JMP CMP_SPLIT_RARE);
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
            map.insert(Code::twin(i).0, format!("{a}&{b}"));
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
    let pair = crate::pairs::of(op.code).is_some();
    let twin = crate::twins::of(op.code).is_some();
    let more = [Reg(op.e), Reg(op.imm as u16), Reg((op.imm >> 16) as u16)];
    let fields = match (pair, twin) {
        (true, _) => [op.d, op.a, op.b, op.c, more[0], more[1], Reg::NONE],
        (_, true) => [op.d, op.b, op.a, op.c, more[0], more[1], more[2]],
        _ => [op.d, op.a, op.b, op.c, Reg::NONE, Reg::NONE, Reg::NONE],
    };
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
        Code::DESC => write!(out, " table {} +{}", op.e, op.imm)?,
        Code::IMAGE => write!(out, " {:?}", program.images.get(op.imm as usize))?,
        c if (Code::LD_BUF..=Code::AT_SCRATCH).contains(&c) => {
            let mem: Mem = mem_of(op.e);
            write!(out, " +{} {mem:?}", op.imm as i32)?;
            if c < Code::AT_BUF && n_of(op.e) > 1 {
                write!(out, "x{}", n_of(op.e))?;
            }
            if c < Code::AT_BUF && op.e & SHAPE_SAME != 0 {
                out.push_str(" same");
            }
            if c < Code::AT_BUF && op.e & SHAPE_RUN != 0 {
                out.push_str(" run");
            }
        }
        _ if op.e != 0 && !pair && !twin => write!(out, " e={:#x}", op.e)?,
        _ => {}
    }
    if words > 0 && op.code != Code::DESC {
        let regs = program.code[pc + 1..].iter().take(words).flat_map(|w| w.regs());
        let list: Vec<String> = regs.filter(|r| !r.is_none()).map(reg).collect();
        write!(out, " [{}]", list.join(" "))?;
    }
    if jumps(op.code) {
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
