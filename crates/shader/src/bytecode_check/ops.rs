//! Op by op: codes, registers, and what they index.

use super::{bad, wrong};
use crate::bytecode::{
    Before, Code, DESC_ADDRESS, DESC_DATA, DESC_EMBEDDED, DESC_IN_MEMORY, DESC_INLINE, DESC_TEXELS,
    ImageCode, Op, PRODUCT_AT_ONCE, ProductGroup, Program, Reg, n_of, parts_of, ray_attribute,
};
use crate::ir::{Bin, ImageOp, Input, Product, Quad, RayOp, TraceOp, Tri, Ty, Un};
use crate::isa::code::{CODES, Field, FieldKind, ROWS, Words, extension_words, layout};
use crate::options::{Heap, Result, TABLES};
use crate::{pairs, twins};

/// Registers of an op with what it does with them.
pub type Visit<'a> = dyn FnMut(Reg, Field, FieldKind) + 'a;

/// Where ops begin.
pub fn check(p: &Program) -> Result<Vec<bool>> {
    let n = p.code.len();
    let fits = |r: Reg| r.unit() < p.units as usize;
    let mut starts = vec![false; n + 1];
    let mut pc = 0;
    while pc < n {
        starts[pc] = true;
        let op = &p.code[pc];
        if !is_known(op) {
            return Err(bad(pc, "no such op"));
        }
        let words = extension_words(op);
        if pc + words >= n {
            return Err(bad(pc, "extension words or end missing"));
        }
        let mut good = true;
        registers(&p.code[pc..=pc + words], &mut |r, _, kind| {
            // Behind the last unit lie as many as the widest register has, so the first unit tells.
            good &= if r.is_none() { kind == FieldKind::Optional } else { fits(r) };
        });
        if !good {
            return Err(bad(pc, "register"));
        }
        match op.code {
            Code::IMAGE if op.imm as usize >= p.images.len() => return Err(bad(pc, "image")),
            Code::DESC => descriptor(p, pc)?,
            Code::PRODUCT
                if Product::from_number(op.e & !PRODUCT_AT_ONCE).is_none()
                    || ProductGroup::of(op.imm).imm() != op.imm =>
            {
                return Err(bad(pc, "a product"));
            }
            // Their kernels take so many registers, whatever `e` says.
            c if c.one_row().is_some() && n_of(op.e) != ROWS => return Err(bad(pc, "rows")),
            c if c.is_plain_load() && !n_of(op.e).is_multiple_of(parts_of(op.e)) => {
                return Err(bad(pc, "loads in one"));
            }
            Code::TRACE => {
                let known = TraceOp::ALL.get(op.imm as usize);
                if known.is_none_or(|t| t.operands() + 2 != n_of(op.e) || t.has_structure() == op.c.is_none())
                {
                    return Err(bad(pc, "what is asked of a ray tracing pipeline"));
                }
            }
            Code::PROBE | Code::PROBE_BUF => {
                let site = p.sites.get(op.imm as usize);
                if site.is_none_or(|s| {
                    s.op.operands() != n_of(op.e)
                        || s.is_buffer() != (op.code == Code::PROBE_BUF)
                        || s.is_global() == op.c.is_none()
                }) {
                    return Err(bad(pc, "a probe"));
                }
            }
            Code::NOTE
                if p.notes.all.get(op.imm as usize).is_none_or(|n| (n.words() + 1).max(2) != n_of(op.e)) =>
            {
                return Err(bad(pc, "a note"));
            }
            Code::RAY_BEGIN if n_of(op.e) + 1 != RayOp::BEGIN_OPERANDS => return Err(bad(pc, "a ray")),
            Code::RAY_STEP => {
                let step = RayOp::STEPS.get(op.imm as usize).filter(|s| **s != RayOp::Begin);
                if step.is_none_or(|s| (s.operands() == 0) != op.b.is_none()) {
                    return Err(bad(pc, "a ray query's step"));
                }
            }
            Code::RAY_GET
                if ray_attribute(op.imm).is_none_or(|(a, _)| a.components() as usize != n_of(op.e)) =>
            {
                return Err(bad(pc, "a ray query's attribute"));
            }
            _ => {}
        }
        let counter = match op.code {
            Code::TALLY => op.imm,
            Code::LOOP | Code::LOOP_NEXT => op.e.into(),
            _ => 0,
        };
        // There is a row 0 always.
        if counter as usize >= p.profile.counters.len().max(1) {
            return Err(bad(pc, "counter"));
        }
        pc += 1 + words;
        if pc == n && op.code != Code::END && op.code != Code::JMP {
            return Err(bad(pc, "the code runs on past its end"));
        }
    }
    if n == 0 {
        return Err(wrong("no code"));
    }
    // Of inputs and outputs all units are looked at from outside.
    let whole = |r: Reg| {
        let units = if r.is_uniform() { 1 } else { p.lanes / 16 };
        !r.is_none() && r.unit() + units as usize <= p.units as usize
    };
    let wide = |ty: Ty| if ty == Ty::B64 { 2 } else { 1 };
    if !p.consts.iter().all(|c| !c.0.is_none() && c.0.unit() + wide(c.1) <= p.units as usize) {
        return Err(wrong("register of a constant"));
    }
    // Truths are a mask a warp, in one unit.
    let input = |(input, r): &(Input, Reg)| {
        whole(if input.ty() == Ty::Bool { Reg::uniform(r.unit() as u16) } else { *r })
    };
    if !p.inputs.iter().all(input) || !p.outputs.iter().all(|o| whole(o.1)) {
        return Err(wrong("register of an input or output"));
    }
    p.images.iter().try_for_each(|i| image(i, &fits, p.sites.len()))?;
    Ok(starts)
}

/// Calls for each register of an op, of which these are the words.
pub fn registers(words: &[Op], visit: &mut Visit) {
    let op = &words[0];
    let it = layout(op.code);
    let [d, a, b, c, more] = it.kinds;
    if it.lanes {
        return arithmetic(op, visit);
    }
    // What lies in the extension words is not in `d`; of rows, their stride is.
    let listed = it.words == Words::List && words.len() > 1 && op.code.one_row().is_none();
    let d_kind = if listed { FieldKind::Optional } else { d };
    let fields = [(op.d, it.d, d_kind), (op.a, it.a, a), (op.b, it.b, b), (op.c, it.c, c)];
    let branch = matches!(op.code.unfused(), Code::CMP_SPLIT | Code::CMP_SPLIT_RARE | Code::CMP_PARK);
    let computed = if branch && op.code != op.code.unfused() { before_operands(op.e) } else { 0 };
    for (i, (r, field, kind)) in fields.into_iter().enumerate() {
        // What the fused op reads first: b and c, and d.
        let kind = match i {
            3 if computed >= 2 => FieldKind::Value,
            0 if computed >= 3 => FieldKind::Value,
            _ => kind,
        };
        if field != Field::None {
            visit(r, field, kind);
        }
    }
    if matches!(it.words, Words::List | Words::One | Words::Matrices) {
        let named = if it.words == Words::List { n_of(op.e) } else { 8 * (words.len() - 1) };
        for (i, r) in words[1..].iter().flat_map(Op::regs).enumerate() {
            visit(r, it.extension(i), if i < named { more } else { FieldKind::Optional });
        }
    }
}

/// Operands of what a fused comparison computes first.
fn before_operands(e: u16) -> usize {
    match Before::of(e) {
        Before::Nothing => 0,
        Before::FAdd | Before::FSub | Before::FMul | Before::FSumSquares => 2,
        Before::Fma => 3,
    }
}

/// Lane-wise ops: results and as many operands as the op has.
fn arithmetic(op: &Op, visit: &mut Visit) {
    let Reg(e) = Reg(op.e);
    let (low, high) = (Reg(op.imm as u16), Reg((op.imm >> 16) as u16));
    visit(op.d, Field::Def, FieldKind::Value);
    let operands = if let Some(twin) = twins::of(op.code) {
        visit(op.b, Field::Def, FieldKind::Value);
        let n = twin.reads.iter().flat_map(|r| r.iter()).map(|i| *i as usize + 1).max().unwrap_or(0);
        return [op.a, op.c, Reg(e), low, high]
            .into_iter()
            .take(n)
            .for_each(|r| visit(r, Field::Use, FieldKind::Value));
    } else if let Some(pair) = pairs::of(op.code) {
        pair.operands as usize
    } else {
        operands(op.code)
    };
    let all = [op.a, op.b, op.c, Reg(e), low];
    all.into_iter().take(operands).for_each(|r| visit(r, Field::Use, FieldKind::Value));
}

/// Operands of an op of the IR; 0: there is none of the code.
fn operands(code: Code) -> usize {
    let n = code.0;
    let facts = match n {
        256..512 => Un::from_number((n - 256) / 2).map(|op| op.facts()),
        512..768 => Bin::from_number((n - 512) / 2).map(|op| op.facts()),
        768..1024 => Tri::from_number((n - 768) / 4).filter(|_| n % 4 != 3).map(|op| op.facts()),
        _ => None,
    };
    facts.map_or(0, |f| f.operands.len())
}

/// There is such an op, for a program to have.
fn is_known(op: &Op) -> bool {
    let code = op.code;
    if matches!(code, Code::SEGMENT | Code::QUAD_SEGMENT | Code::REGION) {
        return false;
    }
    let plain = code.unfused();
    let compares = matches!(plain, Code::CMP_SPLIT | Code::CMP_SPLIT_RARE | Code::CMP_PARK | Code::CMP_JMP);
    let bare = plain == code && op.e >> 9 != 0;
    if compares && (bare || !Code::COMPARES.iter().any(|b| *b as u16 == op.e & 0xFF)) {
        return false;
    }
    if plain != code {
        // The condition stands in both places.
        return plain.fused(op.e) == code;
    }
    let own = || operands(code) > 0 || CODES.iter().any(|c| c.0 == code);
    let quad = || !matches!(code, Code::QUAD32 | Code::QUAD64) || Quad::from_number(op.e).is_some();
    (pairs::of(code).is_some() || twins::of(code).is_some() || own()) && quad()
}

/// The forms that a descriptor may have; which of a set's there are is the layout's to say.
fn descriptor(p: &Program, pc: usize) -> Result<()> {
    let (op, raw) = (&p.code[pc], p.code[pc + 1].regs());
    let word = |i: usize| raw[2 * i].0 as u32 | (raw[2 * i + 1].0 as u32) << 16;
    let form = word(2);
    // Of the program's own, by number.
    let own = match form & (DESC_EMBEDDED | DESC_DATA) {
        0 => None,
        DESC_EMBEDDED => Some(p.embedded.len()),
        _ => Some(p.data.len()),
    };
    if form & !(DESC_INLINE | DESC_IN_MEMORY | DESC_TEXELS | DESC_ADDRESS | DESC_EMBEDDED | DESC_DATA) != 0
        || own.is_some_and(|n| !form.is_power_of_two() || op.imm as usize >= n)
        || form & DESC_ADDRESS != 0 && form != DESC_ADDRESS
    {
        return Err(bad(pc, "form of a descriptor"));
    }
    let heaps = Heap::FIRST_TABLE..TABLES as u32;
    let table = op.e as u32;
    if heaps.contains(&table) && form & DESC_IN_MEMORY == 0
        || table >= TABLES as u32 && own.is_none() && form != DESC_ADDRESS && word(1) != 0
    {
        return Err(bad(pc, "table of a descriptor"));
    }
    Ok(())
}

fn image(c: &ImageCode, fits: &impl Fn(Reg) -> bool, sites: usize) -> Result<()> {
    let rooms = [
        (c.coords.len(), 4),
        (c.grad.len(), 6),
        (c.offsets.len(), 8),
        (c.data.len(), 4),
        (c.results.len(), 5),
    ];
    let check = matches!(c.op, ImageOp::Check(_));
    let good = (!check || (c.component as usize) < sites && c.data.len() >= 2)
        && rooms.into_iter().all(|(n, most)| n <= most)
        && c.grad.len().is_multiple_of(2)
        && c.registers().all(|r| r.is_none() || fits(r))
        // What an operand of several components has, it has all of.
        && [&c.coords, &c.grad, &c.offsets, &c.data].iter().all(|l| l.iter().all(|r| !r.is_none()));
    if good { Ok(()) } else { Err(wrong("an image operation")) }
}
