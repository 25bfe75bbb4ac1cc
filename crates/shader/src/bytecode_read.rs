//! Reads the text that [`crate::bytecode_print`] writes back into a program: for tests of compiled code, which can say their input in a
//! few lines. Images are not read.

use crate::bytecode::{BEFORE_LEFT, Before, Code, Op, Program, Reg, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE};
use crate::bytecode::{mem_bits, n_of, parts_bits};
use crate::bytecode_print::names;
use crate::ir::{AtomicOp, Bin, Input, Mem, Ty};
use crate::isa::code::{Words, extension_words, layout};
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::OnceLock;

/// A program's text → the program, of a compute shader. Errors name the line.
pub fn read(text: &str) -> Result<Program, String> {
    let mut p = Program::empty();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(';') {
            read_line(&mut p, line).ok_or_else(|| format!("line {}: {line}", n + 1))?;
        }
    }
    if p.lanes == 0 { Err("no first line with lanes and units".into()) } else { Ok(p) }
}

fn codes() -> &'static HashMap<&'static str, Code> {
    static CODES: OnceLock<HashMap<&'static str, Code>> = OnceLock::new();
    CODES.get_or_init(|| names().iter().map(|(code, name)| (&**name, Code(*code))).collect())
}

/// The value whose name is the word.
fn named<T: Debug + Copy>(all: impl IntoIterator<Item = T>, word: &str) -> Option<T> {
    all.into_iter().find(|x| format!("{x:?}") == word)
}

fn reg(word: &str) -> Option<Reg> {
    match word.split_at_checked(1)? {
        ("-", "") => Some(Reg::NONE),
        ("u", n) => Some(Reg::uniform(n.parse().ok()?)),
        ("v", n) => Some(Reg::varying(n.parse().ok()?)),
        _ => None,
    }
}

fn read_line(p: &mut Program, line: &str) -> Option<()> {
    let mut words = line.split_whitespace().peekable();
    match words.next()? {
        "const" => {
            let (r, ty, bits) = (reg(words.next()?)?, words.next()?, words.next()?);
            let ty = named([Ty::Bool, Ty::B32, Ty::B64], ty)?;
            p.consts.push((r, ty, u64::from_str_radix(bits.strip_prefix("0x")?, 16).ok()?));
        }
        "input" => {
            let (r, name) = (reg(words.next()?)?, words.next()?);
            let input = match name.strip_suffix(')').and_then(|name| name.split_once('(')) {
                Some((name, part)) => Input::named(name, Some(part.parse().ok()?))?,
                None => Input::named(name, None)?,
            };
            p.inputs.push((input, r));
        }
        "output" => {
            let (r, slot) = (reg(words.next()?)?, words.next()?);
            p.outputs.push((u16::from_str_radix(slot.strip_prefix("0x")?, 16).ok()?, r));
        }
        "--" => p.prologue = p.code.len() as u32,
        first if line.contains(" lanes, workgroup [") => {
            let (_, rest) = line.split_once('[')?;
            let (sizes, rest) = rest.split_once(']')?;
            let sizes: Vec<u32> = sizes.split(", ").map(|n| n.parse().ok()).collect::<Option<_>>()?;
            (p.lanes, p.workgroup) = (first.parse().ok()?, sizes.try_into().ok()?);
            p.packed = rest.contains("packed");
            p.units = rest.split_whitespace().rev().nth(1)?.parse().ok()?;
        }
        pc => {
            // Labels are numbers of ops, so these must be right.
            if pc.parse() != Ok(p.code.len()) {
                return None;
            }
            read_op(p, words)?;
        }
    }
    Some(())
}

fn read_op<'a>(p: &mut Program, words: impl Iterator<Item = &'a str>) -> Option<()> {
    let mut words = words.peekable();
    let code = *codes().get(words.next()?)?;
    let layout = layout(code);
    let mut op = Op::new(code);
    let mut regs = vec![];
    while let Some(r) = words.peek().and_then(|w| reg(w)) {
        regs.push(r);
        words.next();
    }
    let at = |i: usize| regs.get(i).copied().unwrap_or(Reg::NONE);
    (op.d, op.a, op.b, op.c) = (at(0), at(1), at(2), at(3));
    if layout.lanes && layout.b.writes() {
        (op.b, op.a) = (op.a, op.b);
    }
    if layout.more > 0 {
        op.e = at(4).0;
        op.imm = at(5).0 as u32 | (at(6).0 as u32) << 16;
        if layout.more == 2 {
            op.imm = at(5).0 as u32;
        }
    }
    if regs.len() > 4 + layout.more {
        return None;
    }
    let mut raw = [Reg::NONE; 8];
    match code {
        Code::CMP_SPLIT | Code::CMP_PARK | Code::CMP_JMP | Code::CMP_SPLIT_RARE => {
            let name = words.next()?;
            let not = name.starts_with('!');
            op.e = named(Bin::ALL.iter().copied(), name.trim_start_matches('!'))? as u16 | (not as u16) << 8;
            if let Some(side) = words.next_if(|w| ["left", "right"].contains(w)) {
                use Before::*;
                let before = named([FAdd, FSub, FMul, Fma, FSumSquares], words.next()?)?;
                op.e |= before.bits(false) | if side == "left" { BEFORE_LEFT } else { 0 };
            }
            op.code = code.fused(op.e);
        }
        Code::DESC => {
            let mut number =
                |word: &str| (words.next()? == word).then(|| words.next()?.parse::<u32>().ok())?;
            op.e = number("table")? as u16;
            op.imm = words.next()?.strip_prefix('+')?.parse().ok()?;
            let mut number =
                |word: &str| (words.next()? == word).then(|| words.next()?.parse::<u32>().ok())?;
            let all = [number("stride")?, number("count")?, number("bits")?, 0];
            raw = std::array::from_fn(|i| Reg((all[i / 2] >> (16 * (i % 2))) as u16));
        }
        Code::TALLY => {
            op.imm = words.next()?.parse().ok()?;
            op.e = words.next_if_eq(&"lanes").is_some() as u16;
        }
        Code::IMAGE => return None,
        Code::RAY_BEGIN
        | Code::RAY_STEP
        | Code::RAY_GET
        | Code::TRACE
        | Code::PROBE
        | Code::PROBE_BUF
        | Code::PRODUCT
        | Code::NOTE => {
            op.imm = words.next()?.strip_prefix('+')?.parse().ok()?;
            op.e = u16::from_str_radix(words.next()?.strip_prefix("e=0x")?, 16).ok()?;
        }
        c if c.is_memory() => {
            op.imm = words.next()?.strip_prefix('+')?.parse::<i32>().ok()? as u32;
            let (mem, n) = match words.next()? {
                word if word.contains('x') => word.split_once('x')?,
                word => (word, "1"),
            };
            let mem = named([Mem::U8, Mem::U16, Mem::F16, Mem::B32, Mem::B64], mem)?;
            let (n, parts) = n.split_once('/').unwrap_or((n, "1"));
            let small = |n: &str| n.parse().ok().filter(|n| (1..=16).contains(n));
            op.e = mem_bits(mem, small(n)?) | parts_bits(small(parts)?);
            for (word, bit) in [("same", SHAPE_SAME), ("run", SHAPE_RUN), ("single", SHAPE_SINGLE)] {
                op.e |= if words.next_if_eq(&word).is_some() { bit } else { 0 };
            }
            if c.is_atomic() {
                op.e |= (named(AtomicOp::ALL.iter().copied(), words.next()?)? as u16) << 8;
            }
        }
        _ => {
            if let Some(e) = words.peek().and_then(|w| w.strip_prefix("e=0x")) {
                op.e = u16::from_str_radix(e, 16).ok()?;
                words.next();
            }
        }
    }
    let more = extension_words(&op);
    let mut ext = vec![];
    if more > 0 && layout.words != Words::Data {
        let mut list = vec![];
        let mut word = words.next()?.strip_prefix('[')?;
        loop {
            let last = word.strip_suffix(']');
            match last.unwrap_or(word) {
                "" => (),
                word => list.push(reg(word)?),
            }
            if last.is_some() {
                break;
            }
            word = words.next()?;
        }
        if list.len() > 8 * more || layout.words == Words::List && list.len() > n_of(op.e) {
            return None;
        }
        list.resize(8 * more, Reg::NONE);
        ext.extend(list.as_chunks::<8>().0.iter().map(|r| Op::ext(*r)));
    } else if more > 0 {
        ext.push(Op::ext(raw));
    }
    if layout.label {
        words.next_if_eq(&"→")?;
        op.imm = words.next()?.parse().ok()?;
    }
    if words.next().is_some() {
        return None;
    }
    p.code.push(op);
    p.code.extend(ext);
    Some(())
}
